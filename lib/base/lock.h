#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <stddef.h>

/*
 * dir_lock(dir, name):
 * Lock the directory ${dir} against other processes, by the lock file ${name}
 * in it.  Do not wait for another process that holds the lock: name its host
 * and pid in a message.  If the file system has no locks, warn and continue.
 * Return a descriptor for dir_unlock, or -1 after a message.  The kernel
 * releases the lock when the process ends.
 */
int dir_lock(const char *dir, const char *name);

/* dir_unlock(lock): Release the lock.  A negative ${lock} does nothing. */
void dir_unlock(int lock);

/*
 * dir_locked(dir, name, who, size):
 * Return 1 if a process holds the lock, 0 otherwise, without a message.  If 1,
 * set ${who}[size] to the host and pid of the holder, or to "unknown" if the
 * file does not contain them after a second.  The lock file is not changed.
 */
int dir_locked(const char *dir, const char *name, char *who, size_t size);

#endif
