/*
 * Atomic, durable replacement of a file: write a temporary file, sync it,
 * rename it, sync the directory.  Files that grow while others read them are
 * written by append.c instead.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/options.h"
#include "base/text.h"

#define Q text_quote
#define STEM_MAX 220		/* of 255, before ".tmp.", a pid and a number */
#define AGAIN TEMP_FAILURE_RETRY	/* an interrupted call had no effect */

struct commit {
	char *path, *temp;	/* temp NULL: a device or pipe */
	int fd;
	int lock;		/* a duplicate of fd; its flock says that the
				 * writer runs */
	int mode;		/* of the file that is replaced; -1: none */
	int failed;		/* a write or sync failed and was reported */
	struct error *why;	/* takes the messages; NULL: print them */
	struct commit *next;	/* in the list begun */
};

/*
 * The unfinished commits of this process.  exit(3) removes their temporary
 * files.  That covers die, for example after memory is exhausted in code that
 * knows nothing of the files being written.
 */
static struct { pthread_mutex_t lock; struct commit *first; pid_t owner; }
begun = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Only the process that began a commit may remove its file, not a fork of
 * it. */
static void
commit_remove_begun(void)
{
	pthread_mutex_lock(&begun.lock);
	for (struct commit *c = begun.first; c != NULL; c = c->next)
		if (begun.owner == getpid() && c->temp != NULL)
			unlink(c->temp);
	pthread_mutex_unlock(&begun.lock);
}

static void
commit_begin(struct commit *c)
{
	static int registered;

	pthread_mutex_lock(&begun.lock);
	if (!registered++)
		atexit(commit_remove_begun);
	if (begun.owner != getpid())	/* a fork leaves them to its parent */
		begun.first = NULL;
	begun.owner = getpid();
	c->next = begun.first;
	begun.first = c;
	pthread_mutex_unlock(&begun.lock);
}

/* Unlist ${c}, and forget the name of its temporary file, which no longer
 * exists. */
static void
commit_end(struct commit *c)
{
	struct commit **at = &begun.first;

	pthread_mutex_lock(&begun.lock);
	while (*at != NULL && *at != c)
		at = &(*at)->next;
	if (*at != NULL)
		*at = c->next;
	free(c->temp);
	c->temp = NULL;
	pthread_mutex_unlock(&begun.lock);
}

/*
 * Return the part of the temporary name that stands for ${path}.  The whole
 * name must fit in the 255 bytes of a file system, so a long one is cut and its
 * hash added.  The caller frees it.
 */
static char *
commit_stem(const char *path)
{
	const char *name = path_base(path);
	size_t n = strlen(name);
	char hash[33];

	return n <= STEM_MAX ? xstrdup(name) : xprintf("%.*s~%.8s",
	    STEM_MAX - 9, name, hash128_text(hash128(name, n), hash));
}

/* Return 1 if ${name} has the form ".NAME.tmp.HEX" of commit_open_temporary. */
static int
commit_is_temporary(const char *name)
{
	const char *tail = NULL;

	if (name[0] != '.')
		return 0;
	for (const char *s = name; (s = strstr(s, ".tmp.")) != NULL; s++)
		tail = s + 5;
	return tail != NULL && *tail != '\0' &&
	    strspn(tail, "0123456789abcdef") == strlen(tail);
}

/*
 * Remove the temporary files in ${dir} of killed writers of ${path}.  A running
 * writer holds a flock on its file.  On a file system without locks, flock
 * fails and nothing is removed.
 * Return the number of running writers.
 */
static int
commit_sweep_dead(const char *dir, const char *path)
{
	char *name = commit_stem(path);
	DIR *d = opendir(dir);
	struct dirent *e;
	size_t n = strlen(name);
	int running = 0;

	while (d != NULL && (e = readdir(d)) != NULL) {
		int fd;

		if (!commit_is_temporary(e->d_name) ||
		    strncmp(e->d_name + 1, name, n) != 0 ||
		    strrchr(e->d_name, '.') != e->d_name + n + 5)
			continue;
		/* O_NONBLOCK: opening a pipe of this name must not wait for
		 * a reader. */
		fd = openat(dirfd(d), e->d_name, O_WRONLY | O_NOFOLLOW |
		    O_NONBLOCK | O_CLOEXEC);
		if (fd >= 0 && AGAIN(flock(fd, LOCK_EX | LOCK_NB)) == 0)
			unlinkat(dirfd(d), e->d_name, 0);
		else if (fd >= 0 && errno == EWOULDBLOCK)
			running++;
		if (fd >= 0)
			close(fd);
	}
	if (d != NULL)
		closedir(d);
	free(name);
	return running;
}

/*
 * Create and lock a temporary file for ${c}.  Return 0, or -1 with errno.
 * commit_sweep_dead of another process may unlink the file before we lock it;
 * then create another.
 */
static int
commit_open_temporary(struct commit *c, const char *dir)
{
	char *stem = commit_stem(c->path);

	for (unsigned attempt = 0; attempt < 100; attempt++) {
		struct stat s;

		free(c->temp);
		c->temp = xprintf("%s/.%s.tmp.%x%02x", dir, stem,
		    (unsigned)getpid(), attempt);
		/* We must be able to open it again, to sweep it. */
		c->fd = AGAIN(open(c->temp, O_WRONLY | O_CREAT | O_EXCL |
		    O_CLOEXEC, c->mode < 0 ? 0666 : c->mode | 0600));
		if (c->fd < 0 && errno == EEXIST)
			continue;
		if (c->fd < 0)
			break;
		/*
		 * EWOULDBLOCK: a sweeper holds the lock.  Other errors: the
		 * file system has no locks.  st_nlink 0: a sweeper has unlinked
		 * the file.
		 */
		if (AGAIN(flock(c->fd, LOCK_EX | LOCK_NB)) == 0 ?
		    fstat(c->fd, &s) != 0 || s.st_nlink > 0 :
		    errno != EWOULDBLOCK) {
			c->lock = fcntl(c->fd, F_DUPFD_CLOEXEC, 0);
			free(stem);
			return 0;
		}
		close(c->fd);
		c->fd = -1;
	}
	free(stem);
	free(c->temp);
	c->temp = NULL;
	return -1;
}

struct commit *
commit_open(const char *path, struct error *why)
{
	struct commit *c = xcalloc(1, sizeof(*c));
	struct stat s;
	char *dir;
	/* Only the user's own names are followed: another user may have put a
	 * link or a pipe in the place of a name that is known in advance. */
	int own = !options_is_output(path), there = (own ? lstat(path, &s) :
	    stat(path, &s)) == 0, special = there && !own &&
	    !S_ISREG(s.st_mode), bad;

	/* Keep a special file's path unresolved: /dev/fd/3 may resolve to
	 * the name of a pipe, which cannot be opened. */
	c->path = special || own ? xstrdup(path) : path_target(path);
	c->fd = c->lock = -1;
	c->why = why;
	if (there && S_ISDIR(s.st_mode)) {
		error_set(why, "%s: is a directory (wanted a file name)",
		    Q(path));
		goto err;
	}
	if (there && own && !S_ISREG(s.st_mode) && !S_ISLNK(s.st_mode)) {
		error_set(why, "%s: a pipe or a device (wanted a regular file)",
		    Q(path));
		goto err;
	}
	if (special) {
		c->fd = file_open(c->path, O_WRONLY);
		if (c->fd < 0) {
			error_errno(why, "%s: cannot open", Q(path));
			goto err;
		}
		return c;
	}
	dir = path_dir(c->path);
	commit_sweep_dead(dir, c->path);
	c->mode = there && S_ISREG(s.st_mode) ? (int)s.st_mode & 0777 : -1;
	bad = commit_open_temporary(c, dir);
	free(dir);
	if (bad) {
		error_errno(why, "%s: cannot create", Q(path));
		goto err;
	}
	commit_begin(c);
	return c;
err:
	free(c->path);
	free(c);
	return NULL;
}

int
commit_write(struct commit *c, const void *data, size_t n)
{
	if (!c->failed && file_write_some(c->fd, data, n) != n) {
		error_errno(c->why, "%s: cannot write", Q(c->path));
		c->failed = 1;
	}
	return c->failed ? -1 : 0;
}

int
commit_fd(const struct commit *c)
{
	return c->fd;
}

void
commit_drop(struct commit *c)
{
	int saved = errno;		/* the reason for this call */

	if (c == NULL)
		return;
	if (c->fd >= 0)
		close(c->fd);
	if (c->temp != NULL)
		unlink(c->temp);
	if (c->lock >= 0)	/* after unlink, or a sweeper would race */
		close(c->lock);
	commit_end(c);
	free(c->path);
	free(c);
	errno = saved;
}

/*
 * A failed fsync is final: the kernel may have dropped the dirty pages, and a
 * second fsync would then succeed without having written them.
 */
int
commit_sync(struct commit *c)
{
	if (!c->failed && c->temp != NULL && file_sync(c->fd) != 0) {
		error_errno(c->why, "%s: cannot sync", Q(c->path));
		c->failed = 1;
	}
	return c->failed ? -1 : 0;
}

int
commit_done(struct commit *c)
{
	char *dir = NULL;
	int fd, result = -1;

	if (c->temp != NULL && c->mode >= 0)	/* some file systems cannot */
		(void)!fchmod(c->fd, (mode_t)c->mode);
	if (commit_sync(c) != 0)
		goto out;
	fd = c->fd;
	c->fd = -1;
	/* After a sync, close has nothing left to write. */
	if (file_close(fd) != 0 && c->temp == NULL) {
		error_errno(c->why, "%s: cannot close", Q(c->path));
		goto out;
	}
	if (c->temp == NULL) {
		result = 0;
		goto out;
	}
	if (AGAIN(rename(c->temp, c->path)) != 0) {
		error_errno(c->why, "%s: cannot rename to this name",
		    Q(c->path));
		goto out;
	}
	commit_end(c);
	dir = path_dir(c->path);
	result = file_sync_dir(dir, c->why);
	free(dir);
out:
	commit_drop(c);
	return result;
}

int
commit_shared(const struct commit *c)
{
	char *dir;
	int running;

	if (c->temp == NULL)
		return 0;
	dir = path_dir(c->path);
	running = commit_sweep_dead(dir, c->path);
	free(dir);
	return running > (c->lock >= 0);
}

int
commit_possible(const char *path)
{
	struct commit *c;
	struct stat s;

	/* A pipe's reader would mistake a probe for the data. */
	if (stat(path, &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode))
		return 0;
	if ((c = commit_open(path, NULL)) == NULL)
		return -1;
	commit_drop(c);
	return 0;
}

int
commit_try(const char *path, const void *data, size_t n, struct error *why)
{
	struct commit *c = commit_open(path, why);

	if (c == NULL)
		return -1;
	if (commit_write(c, data, n) != 0) {
		commit_drop(c);
		return -1;
	}
	return commit_done(c);
}

int
commit_bytes(const char *path, const void *data, size_t n)
{
	return commit_try(path, data, n, NULL);
}

int
commit_text(const char *path, const char *text)
{
	return commit_bytes(path, text, strlen(text));
}

int
commit_sweep(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int bad = 0;

	if (d == NULL)
		return fail_errno("%s: cannot open", Q(dir));
	while (errno = 0, (e = readdir(d)) != NULL)
		if (commit_is_temporary(e->d_name))
			unlinkat(dirfd(d), e->d_name, 0);
	if (errno != 0)
		bad = fail_errno("%s: cannot read", Q(dir));
	closedir(d);
	return bad;
}
