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
 * dir_locked(dir, name, who, size):
 * Return 1 if a process holds the lock, 0 otherwise.  Set ${who} to the host
 * and pid of the holder, or to "unknown" if the file does not contain them
 * after a second.  The lock file is not changed.
 */
int dir_locked(const char *dir, const char *name, char *who, size_t size);

#endif
