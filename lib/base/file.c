/* Files: whole reads and writes, and the one way a file is committed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"

#define Q text_quote

/*
 * A signal may interrupt any call that waits, on network file systems even
 * one on a regular file.  Nothing has happened then, and it is made again;
 * only close has done its work, whatever it says.
 */
#define AGAIN(call) TEMP_FAILURE_RETRY(call)

struct commit {
	char *path, *temp;	/* temp NULL: a device or pipe, written straight */
	int fd;
};

int
file_open(const char *path, int flags)
{
	return AGAIN(open(path, flags | O_CLOEXEC, 0666));
}

int
file_close(int fd)
{
	return close(fd) == 0 || errno == EINTR ? 0 : -1;
}

int
file_sync(int fd)
{
	return AGAIN(fsync(fd));
}

int
file_read(const char *path, struct buffer *b)
{
	int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) :
	    file_open(path, O_RDONLY);
	char block[65536];
	ssize_t n;

	if (fd < 0)
		return fail_errno("%s: cannot open", Q(path));
	while ((n = read(fd, block, sizeof(block))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			fail_errno("%s: cannot read", Q(path));
			close(fd);
			return -1;
		}
		buffer_add(b, block, (size_t)n);
	}
	close(fd);
	buffer_add(b, "", 0);	/* an empty file gives "" too */
	return 0;
}

int
file_read_text(const char *path, struct buffer *b)
{
	if (file_read(path, b) != 0)
		return -1;
	if (strlen(b->data) != b->n)
		return fail("%s: offset %zu: a zero byte (wanted text)",
		    strcmp(path, "-") == 0 ? "standard input" : Q(path),
		    strlen(b->data));
	return 0;
}

int
file_pread(int fd, const char *path, void *to, size_t n, uint64_t at)
{
	char *p = to;
	size_t left = n;

	while (left > 0) {
		ssize_t k = pread(fd, p, left, (off_t)(at + (n - left)));

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return fail_errno("%s: offset %llu: cannot read",
			    Q(path), (unsigned long long)at);
		if (k == 0)
			return fail("%s: offset %llu: file ends after %zu bytes "
			    "(wanted %zu)", Q(path), (unsigned long long)at,
			    n - left, n);
		p += k;
		left -= (size_t)k;
	}
	return 0;
}

size_t
file_write_some(int fd, const void *from, size_t n)
{
	const char *p = from;
	size_t left = n;

	while (left > 0) {
		ssize_t k = AGAIN(write(fd, p, left));

		if (k == 0)
			errno = EIO;
		if (k <= 0)
			break;
		p += k;
		left -= (size_t)k;
	}
	return n - left;
}

int
file_write(int fd, const char *path, const void *from, size_t n)
{
	if (file_write_some(fd, from, n) == n)
		return 0;
	return fail_errno("%s: cannot write", Q(path));
}

int64_t
file_size(const char *path)
{
	struct stat s;

	if (stat(path, &s) != 0 || !S_ISREG(s.st_mode))
		return -1;
	return s.st_size;
}

int
file_is_dir(const char *path)
{
	struct stat s;

	return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/*
 * Network file systems refuse fsync on a directory with EINVAL or ENOTSUP and
 * commit names by themselves; every other error counts.
 */
int
file_sync_dir(const char *path)
{
	int fd = file_open(path, O_RDONLY | O_DIRECTORY), result = 0;

	if (fd < 0)
		return fail_errno("%s: cannot open", Q(path));
	if (file_sync(fd) != 0 && errno != EINVAL && errno != ENOTSUP)
		result = fail_errno("%s: cannot sync", Q(path));
	close(fd);
	return result;
}

char *
path_join(const char *dir, const char *name)
{
	return xprintf("%s%s%s", dir, text_ends(dir, "/") ? "" : "/", name);
}

const char *
path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* The directory part of ${path}, "." if it has none; the caller's to free. */
static char *
directory(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		return xstrdup(".");
	return slash == path ? xstrdup("/") :
	    xstrndup(path, (size_t)(slash - path));
}

/* What is made is made durable, or a power cut could take all that is in it. */
int
file_make_dir(const char *path)
{
	char *p = xstrdup(path), *above;
	int result = 0;

	for (char *s = p + (*p != '\0'); result == 0; s++) {
		char c = *s;

		if (c != '/' && c != '\0')
			continue;
		*s = '\0';
		if (AGAIN(mkdir(p, 0777)) == 0) {
			above = directory(p);
			result = file_sync_dir(above);
			free(above);
		} else if (!(errno == EEXIST && file_is_dir(p))) {
			result = fail_errno("%s: cannot make the directory",
			    Q(p));
		}
		*s = c;
		if (c == '\0')
			break;
	}
	free(p);
	return result;
}

/* What ${path} names once symbolic links are followed, existing or not. */
static char *
resolve(const char *path)
{
	char *dir, *real, *whole = realpath(path, NULL);
	char link[PATH_MAX];
	ssize_t n;

	if (whole != NULL)
		return whole;
	/* A link whose target does not exist yet: follow it by hand, once. */
	n = readlink(path, link, sizeof(link) - 1);
	if (n > 0) {
		link[n] = '\0';
		if (link[0] == '/')
			return xstrdup(link);
		dir = directory(path);
		real = path_join(dir, link);
		free(dir);
		return real;
	}
	return xstrdup(path);
}

struct commit *
commit_open(const char *path)
{
	struct commit *c = xcalloc(1, sizeof(*c));
	struct stat s;
	char *dir;
	/* /dev/fd/3 may resolve to a pipe's name, which cannot be opened. */
	int special = stat(path, &s) == 0 && !S_ISREG(s.st_mode);

	c->path = special ? xstrdup(path) : resolve(path);
	c->fd = -1;
	if (special) {
		if (S_ISDIR(s.st_mode)) {
			fail("%s: is a directory (wanted a file name)", Q(path));
			goto err;
		}
		c->fd = file_open(c->path, O_WRONLY);
		if (c->fd < 0) {
			fail_errno("%s: cannot open", Q(path));
			goto err;
		}
		return c;
	}
	dir = directory(c->path);
	for (unsigned attempt = 0; c->fd < 0 && attempt < 100; attempt++) {
		free(c->temp);
		c->temp = xprintf("%s/.%s.tmp.%x%02x", dir, path_base(c->path),
		    (unsigned)getpid(), attempt);
		c->fd = file_open(c->temp, O_WRONLY | O_CREAT | O_EXCL);
		if (c->fd < 0 && errno != EEXIST)
			break;
	}
	free(dir);
	if (c->fd < 0) {
		fail_errno("%s: cannot create", Q(path));
		free(c->temp);
		c->temp = NULL;
		goto err;
	}
	return c;
err:
	free(c->path);
	free(c);
	return NULL;
}

int
commit_write(struct commit *c, const void *data, size_t n)
{
	return file_write(c->fd, c->path, data, n);
}

int
commit_fd(const struct commit *c)
{
	return c->fd;
}

void
commit_drop(struct commit *c)
{
	int saved = errno;		/* of what made it be dropped */

	if (c == NULL)
		return;
	if (c->fd >= 0)
		close(c->fd);
	if (c->temp != NULL)
		unlink(c->temp);
	free(c->temp);
	free(c->path);
	free(c);
	errno = saved;
}

/*
 * An error of fsync is final: the kernel may have dropped the pages, and a
 * second fsync would then succeed without them.
 */
int
commit_done(struct commit *c)
{
	char *dir = NULL;
	int fd = c->fd, result = -1;

	c->fd = -1;
	if (c->temp == NULL) {
		result = file_close(fd) == 0 ? 0 : fail_errno("%s: cannot close",
		    Q(c->path));
		goto out;
	}
	if (file_sync(fd) != 0) {
		fail_errno("%s: cannot sync", Q(c->path));
		close(fd);
		goto out;
	}
	if (file_close(fd) != 0) {
		fail_errno("%s: cannot close", Q(c->path));
		goto out;
	}
	if (AGAIN(rename(c->temp, c->path)) != 0) {
		fail_errno("%s: cannot rename to this name", Q(c->path));
		goto out;
	}
	free(c->temp);
	c->temp = NULL;
	dir = directory(c->path);
	result = file_sync_dir(dir);
	free(dir);
out:
	commit_drop(c);
	return result;
}

int
commit_possible(const char *path)
{
	struct commit *c;
	struct stat s;

	/* Who reads from a pipe would take a try for the whole. */
	if (stat(path, &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode))
		return 0;
	if ((c = commit_open(path)) == NULL)
		return -1;
	commit_drop(c);
	return 0;
}

int
commit_bytes(const char *path, const void *data, size_t n)
{
	struct commit *c = commit_open(path);

	if (c == NULL)
		return -1;
	if (commit_write(c, data, n) != 0) {
		commit_drop(c);
		return -1;
	}
	return commit_done(c);
}

int
commit_text(const char *path, const char *text)
{
	return commit_bytes(path, text, strlen(text));
}

/* ".NAME.tmp.HEX", as commit_open makes them. */
static int
is_temporary(const char *name)
{
	const char *tail = NULL;

	if (name[0] != '.')
		return 0;
	for (const char *s = name; (s = strstr(s, ".tmp.")) != NULL; s++)
		tail = s + 5;
	return tail != NULL && *tail != '\0' &&
	    strspn(tail, "0123456789abcdef") == strlen(tail);
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
		if (is_temporary(e->d_name))
			unlinkat(dirfd(d), e->d_name, 0);
	if (errno != 0)
		bad = fail_errno("%s: cannot read", Q(dir));
	closedir(d);
	return bad;
}

int
stdout_done(void)
{
	/*
	 * A closed standard output matters only if something was to go there.
	 */
	if (ferror(stdout))
		return fail("standard output: cannot write");
	if (fflush(stdout) != 0 || (fclose(stdout) != 0 && errno != EBADF))
		return fail_errno("standard output: cannot write");
	return 0;
}
