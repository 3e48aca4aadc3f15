/* Locks on directories: flock(2) on a lock file that also names the holder. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/text.h"

#define HOLDER_TRIES 50		/* reads of the holder's name, 20 ms apart */

static const struct timespec moment = { 0, 20000000 };

/*
 * Take the lock.  dir_locked of another process holds it briefly, so retry four
 * times.  Return 0, or -1 with errno.
 */
static int
dir_lock_try(int fd)
{
	int result = TEMP_FAILURE_RETRY(flock(fd, LOCK_EX | LOCK_NB));

	for (int i = 0; i < 4 && result != 0 && errno == EWOULDBLOCK; i++) {
		nanosleep(&moment, NULL);
		result = TEMP_FAILURE_RETRY(flock(fd, LOCK_EX | LOCK_NB));
	}
	return result;
}

/*
 * Read the name that the holder of the lock wrote into the file.  The holder
 * takes the lock, truncates the file and writes one line, so wait up to a
 * second for a whole line.  Set ${who} to "unknown" if none appears.
 */
static void
dir_lock_read_holder(int fd, char *who, size_t size)
{
	for (int i = 0;; i++) {
		ssize_t got = TEMP_FAILURE_RETRY(pread(fd, who, size - 1, 0));
		char *end = memchr(who, '\n', got > 0 ? (size_t)got : 0);

		if (end != NULL) {
			*end = '\0';
			return;
		}
		if (i == HOLDER_TRIES)
			break;
		nanosleep(&moment, NULL);
	}
	snprintf(who, size, "unknown");
}

int
dir_lock(const char *dir, const char *name)
{
	char *path = path_join(dir, name);
	char who[256] = "", host[128] = "?";
	int fd = file_open_own(path, O_RDWR | O_CREAT), n;

	if (fd < 0)
		goto out;
	if (dir_lock_try(fd) != 0) {
		if (errno == EWOULDBLOCK) {
			dir_lock_read_holder(fd, who, sizeof(who));
			fail("%s: in use by another process (host and pid: %s)",
			    text_quote(dir), who);
			close(fd);
			fd = -1;
			goto out;
		}
		/* The file system has no lock server; continue without a
		 * lock. */
		warning("%s: cannot lock (%s); do not start a second writer",
		    text_quote(path), strerror(errno));
	}
	gethostname(host, sizeof(host) - 1);
	n = snprintf(who, sizeof(who), "%s %ld\n", host, (long)getpid());
	if (TEMP_FAILURE_RETRY(ftruncate(fd, 0)) != 0 ||
	    file_write_some(fd, who, (size_t)n) != (size_t)n) {
		fail_errno("%s: cannot write", text_quote(path));
		close(fd);
		fd = -1;
	}
out:
	free(path);
	return fd;
}

int
dir_locked(const char *dir, const char *name, char *who, size_t size)
{
	char *path = path_join(dir, name);
	int fd = file_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	/* A shared lock: several processes that only test do not hinder each
	 * other. */
	int held = fd >= 0 &&
	    TEMP_FAILURE_RETRY(flock(fd, LOCK_SH | LOCK_NB)) != 0 &&
	    errno == EWOULDBLOCK;

	if (held)
		dir_lock_read_holder(fd, who, size);
	if (fd >= 0)
		close(fd);
	free(path);
	return held;
}

void
dir_unlock(int lock)
{
	if (lock >= 0)
		close(lock);
}
