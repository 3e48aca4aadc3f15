#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <stddef.h>

/*
 * dir_lock(dir, name): take the lock file ${name} in ${dir}; fail at once,
 * naming the holder, if another process has it.  Return its descriptor, for
 * dir_unlock; the kernel lets go of the lock when the process dies.
 */
int dir_lock(const char *dir, const char *name);
void dir_unlock(int lock);

/*
 * dir_locked(dir, name, who, size): 1 if a process has that lock, with its host
 * and pid in ${who}, "unknown" if it has not written them after a second.  Nothing
 * is changed.
 */
int dir_locked(const char *dir, const char *name, char *who, size_t size);

#endif
