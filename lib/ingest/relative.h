#ifndef INGEST_RELATIVE_H
#define INGEST_RELATIVE_H

/*
 * relative_path(path, root):
 * Return the path of the file ${path} relative to the directory ${root}, such
 * as "class/clip.mp4".  The result is the same for every spelling of the two:
 * absolute or relative, with "." or "..", or through a symbolic link to the
 * root.
 * Return NULL without a message if ${path} is not below ${root}.  The caller
 * frees the result.
 */
char *relative_path(const char *path, const char *root);

#endif
