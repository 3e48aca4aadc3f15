#ifndef BASE_SHARE_H
#define BASE_SHARE_H

/*
 * share_find(folder, name, suffix):
 * The path of a file that comes with vt, such as models/tsm_r50.net: ${name}
 * itself if it has a '/' or ends with ${suffix}; otherwise ${folder}/${name}
 * ${suffix} below VT_SHARE_DIR, or below ../share/vt beside the program, or
 * where vt was configured to have it if that is elsewhere, or, for a program
 * that is not installed, below ../share beside it.  The caller's to free; NULL
 * after a message that says which names are near, or lists what there is.
 */
char *share_find(const char *folder, const char *name, const char *suffix);

/* share_has(folder, name, suffix): 1 if ${name}, without a '/', is among what
 * comes with vt; no message. */
int share_has(const char *folder, const char *name, const char *suffix);

#endif
