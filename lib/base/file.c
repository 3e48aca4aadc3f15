/* Whole reads and writes of files, directories, and operations on path
 * names. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/stop.h"
#include "base/text.h"

#define Q text_quote
#define LINKS 40		/* that Linux follows in one path */

/*
 * A signal can interrupt any call that waits, on network file systems even one
 * on a regular file.  The interrupted call had no effect, so repeat it.  close
 * is the exception: it closes the descriptor even if it returns EINTR.
 */
#define AGAIN(call) TEMP_FAILURE_RETRY(call)

int
file_open(const char *path, int flags)
{
	return AGAIN(open(path, flags | O_CLOEXEC, 0666));
}

int
file_open_own(const char *path, int flags)
{
	int fd = file_open(path, flags | O_NOFOLLOW | O_NONBLOCK);
	struct stat s;

	/* ENXIO: a pipe without a reader */
	if (fd < 0 && errno != ELOOP && errno != ENXIO)
		return fail_errno("%s: cannot open", Q(path));
	if (fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode))
		return fd;
	if (fd >= 0)
		close(fd);
	return fail("%s: a link, a pipe or a device (wanted a regular file)",
	    Q(path));
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
	return file_try(path, b, NULL);
}

/* Read some bytes, or fail with EINTR at a signal that stop_signal has.  With
 * SA_RESTART, read(2) and open(2) of a pipe would wait on; poll(2) does not. */
static ssize_t
file_read_some(int fd, void *to, size_t size)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;

	do {
		if (poll(&p, 1, -1) < 0 && errno == EINTR && stop_signal() != 0)
			return -1;
		n = read(fd, to, size);
	} while (n < 0 && (errno == EINTR || errno == EAGAIN));
	return n;
}

/* Read until the end: the size of a pipe or of a file in /proc is unknown. */
int
file_try(const char *path, struct buffer *b, struct error *e)
{
	int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) :
	    file_open(path, O_RDONLY | O_NONBLOCK);
	char block[65536];
	ssize_t n;

	if (fd < 0)
		return error_errno(e, "%s: cannot open", Q(path));
	while ((n = file_read_some(fd, block, sizeof(block))) != 0) {
		if (n < 0) {
			error_errno(e, "%s: cannot read", Q(path));
			close(fd);
			return -1;
		}
		buffer_add(b, block, (size_t)n);
	}
	close(fd);
	buffer_add(b, "", 0);	/* so that an empty file gives "" */
	return 0;
}

int
file_read_text(const char *path, struct buffer *b)
{
	return file_read(path, b) != 0 ? -1 : file_check_text(path, b, "text");
}

/*
 * Windows writes UTF-16 after the mark U+FEFF.  Without a mark, two characters
 * of Latin text show it, with the byte order.
 */
int
file_check_text(const char *path, struct buffer *b, const char *wanted)
{
	const char *name = strcmp(path, "-") == 0 ? "standard input" : Q(path);
	const char *s = b->data, *utf16 = NULL;

	if (text_starts(s, "\377\376") || (b->n > 3 && s[0] != 0 && s[1] == 0 &&
	    s[2] != 0 && s[3] == 0))
		utf16 = "UTF-16LE";
	else if (text_starts(s, "\376\377") || (b->n > 3 && s[0] == 0 &&
	    s[1] != 0 && s[2] == 0 && s[3] != 0))
		utf16 = "UTF-16BE";
	if (utf16 != NULL)
		return fail("%s: %s (wanted UTF-8: iconv -f %s -t UTF-8)", name,
		    utf16, utf16);
	if (strlen(s) != b->n)
		return fail("%s: offset %zu: a zero byte (wanted %s)", name,
		    strlen(s), wanted);
	if (text_starts(s, "\357\273\277"))
		memmove(b->data, s + 3, (b->n -= 3) + 1);
	return 0;
}

/* Unlike read(2), pread(2) may be called by several threads on one
 * descriptor. */
size_t
file_pread_some(int fd, void *to, size_t n, uint64_t at)
{
	size_t done = 0;
	ssize_t k = 1;

	while (done < n && k > 0) {
		k = AGAIN(pread(fd, (char *)to + done, n - done,
		    (off_t)(at + done)));
		done += k > 0 ? (size_t)k : 0;
	}
	if (k == 0)
		errno = 0;
	return done;
}

int
file_pread(int fd, const char *path, void *to, size_t n, uint64_t at,
    struct error *e)
{
	size_t done = file_pread_some(fd, to, n, at);

	if (done < n && errno != 0)
		return error_errno(e, "%s: offset %llu: cannot read", Q(path),
		    (unsigned long long)at);
	if (done < n)
		return error_set(e, "%s: offset %llu: file ends after %zu "
		    "bytes (wanted %zu)", Q(path), (unsigned long long)at, done,
		    n);
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
			/* 0 without an error: report one, or the loop would
			 * never end. */
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

int
file_is_litter(const char *name, struct litter *l)
{
	static const char *const pattern[] = { ".*", "Thumbs.db",
		"ehthumbs*.db", "desktop.ini", "Icon\r", "__MACOSX", "@eaDir",
		"lost+found", "$RECYCLE.BIN", "System Volume Information",
		"README*", "LICENSE*", "*.txt", "*.md", "*.rst",
		"*.pdf", "*.rtf", "*.doc", "*.docx", "*.xls", "*.xlsx",
		"*.csv", "*.tsv", "*.json", "*.xml", "*.yaml", "*.yml",
		"*.html", "*.log", "*.ini", "*.lnk", "*.url", "*.nfo",
		"*.srt", "*.vtt" };
	size_t i = 0, n = sizeof(pattern) / sizeof(*pattern);

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return 1;
	while (i < n && fnmatch(pattern[i], name, FNM_CASEFOLD) != 0)
		i++;
	if (i < n && l->n++ == 0)
		l->first = xstrdup(name);
	return i < n;
}

void
file_note_litter(const char *dir, struct litter *l)
{
	if (l->n > 0)
		note("%s: skipped %zu name%s of no data: %s%s", Q(dir), l->n,
		    l->n == 1 ? "" : "s", Q(l->first), l->n == 1 ? "" :
		    ", ...");
	free(l->first);
	*l = (struct litter){ 0 };
}

/*
 * Network file systems refuse fsync on a directory with EINVAL or ENOTSUP, and
 * make names durable without it.  Every other error counts.
 */
int
file_sync_dir(const char *path, struct error *e)
{
	int fd = file_open(path, O_RDONLY | O_DIRECTORY), result = 0;

	if (fd < 0)
		return error_errno(e, "%s: cannot open", Q(path));
	if (file_sync(fd) != 0 && errno != EINVAL && errno != ENOTSUP)
		result = error_errno(e, "%s: cannot sync", Q(path));
	close(fd);
	return result;
}

char *
path_join(const char *dir, const char *name)
{
	return xprintf("%s%s%s", dir, text_ends(dir, "/") ? "" : "/", name);
}

char *
path_absolute(const char *path)
{
	/* realpath fails if the file does not exist yet. */
	char *whole = realpath(path, NULL), *here;

	if (whole != NULL)
		return whole;
	if (*path == '/' || (here = getcwd(NULL, 0)) == NULL)
		return xstrdup(path);
	whole = path_join(here, strncmp(path, "./", 2) == 0 ? path + 2 : path);
	free(here);
	return whole;
}

/* realpath fails on a link whose target does not exist. */
char *
path_target(const char *path)
{
	char *at = realpath(path, NULL), link[PATH_MAX];
	ssize_t n;

	if (at != NULL)
		return at;
	at = xstrdup(path);
	for (int i = 0; i < LINKS && (n = readlink(at, link,
	    sizeof(link) - 1)) > 0; i++) {
		char *dir = path_dir(at);

		link[n] = '\0';
		free(at);
		at = link[0] == '/' ? xstrdup(link) : path_join(dir, link);
		free(dir);
	}
	return at;
}

const char *
path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

char *
path_dir(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		return xstrdup(".");
	return slash == path ? xstrdup("/") :
	    xstrndup(path, (size_t)(slash - path));
}

/* Sync the parent of each new directory.  Otherwise a power failure could
 * remove the directory with everything in it. */
int
file_make_dir(const char *path, struct error *e)
{
	char *p = xstrdup(path), *above;
	int result = 0;

	for (char *s = p + (*p != '\0'); result == 0; s++) {
		char c = *s;

		if (c != '/' && c != '\0')
			continue;
		*s = '\0';
		if (AGAIN(mkdir(p, 0777)) == 0) {
			above = path_dir(p);
			result = file_sync_dir(above, e);
			free(above);
		} else if (!(errno == EEXIST && file_is_dir(p))) {
			result = error_errno(e, "%s: cannot make the "
			    "directory", Q(p));
		}
		*s = c;
		if (c == '\0')
			break;
	}
	free(p);
	return result;
}

static int stdout_reported;

int
stdout_failed(void)
{
	stdout_reported = 1;
	return fail_errno("standard output: cannot write");
}

int
stdout_done(void)
{
	/*
	 * EBADF means that standard output was closed from the start.  That
	 * matters only if something was printed, and then fflush has failed.
	 */
	if (stdout_reported)
		return -1;
	if (ferror(stdout))
		return fail("standard output: cannot write");
	if (fflush(stdout) != 0 || (fclose(stdout) != 0 && errno != EBADF))
		return stdout_failed();
	return 0;
}
