#ifndef BASE_SHARE_H
#define BASE_SHARE_H

#include "base/mem.h"
#include "base/names.h"

/*
 * share_find(folder, name, suffix):
 * Return the path of a file that is installed with vt, such as
 * models/tsm_r50.net.  If ${name} contains a '/' or ends with a ${suffix} that
 * is not "", return a copy of it.  Otherwise return ${folder}/${name}${suffix}
 * in the first of these directories that has it:
 * - VT_SHARE_DIR;
 * - ../share/vt relative to the program;
 * - the data directory that vt was built for, if it is another one;
 * - ../share relative to the program, for an uninstalled build.
 *
 * The caller frees the path.  Return NULL after a message that suggests similar
 * names or lists all of them.
 */
char *share_find(const char *folder, const char *name, const char *suffix);

/*
 * share_list(folder, suffix, n):
 * Return the paths of all files in ${folder} with ${suffix}, in the first of
 * these directories that has any, sorted, and set ${*n} to their number.  The
 * caller frees the array and each path.
 */
char **share_list(const char *folder, const char *suffix, size_t *n);

/*
 * share_has(folder, name, suffix):
 * Return 1 if ${name}, which contains no '/', is a file that is installed with
 * vt, 0 otherwise.  It prints no message.
 */
int share_has(const char *folder, const char *name, const char *suffix);

/*
 * share_similar(names, typed, to):
 * Append "a, b or c" to ${to}: the names with the least distance from ${typed},
 * and those one edit further, at most four.  Append nothing if they differ in
 * more than half of its characters.
 */
void share_similar(const struct names *names, const char *typed,
    struct buffer *to);

/*
 * share_program_dir():
 * Return the directory of the program file with a '/' at its end, "" if it is
 * unknown.  The caller frees it.
 */
char *share_program_dir(void);

#endif
