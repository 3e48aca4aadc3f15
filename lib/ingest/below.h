#ifndef INGEST_BELOW_H
#define INGEST_BELOW_H

/*
 * path_below(path, root):
 * Where file ${path} lies below directory ${root}, "class/clip.mp4": the same
 * for every way to write the two, absolute or relative, through "." or ".." or
 * a symbolic link to the root.  NULL without a message if it lies elsewhere;
 * the caller's to free.
 */
char *path_below(const char *path, const char *root);

#endif
