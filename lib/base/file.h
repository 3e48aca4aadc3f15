#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/mem.h"

/*
 * Files.  Functions report what went wrong, naming the file, and return -1 or
 * NULL.
 */

/* file_read(path, b): all of ${path}, or of standard input for "-". */
int file_read(const char *path, struct buffer *b);

/* file_try(path, b, e): the same with the message in ${e}. */
int file_try(const char *path, struct buffer *b, struct error *e);

/* file_read_text(path, b): the same, refusing what holds a zero byte. */
int file_read_text(const char *path, struct buffer *b);

/* file_pread(fd, path, to, n, at, e): read exactly ${n} bytes; a shorter file is an
 * error.  The message goes into ${e}; NULL: print it. */
int file_pread(int fd, const char *path, void *to, size_t n, uint64_t at,
    struct error *e);

/* file_write(fd, path, from, n): all of it, through EINTR and short writes. */
int file_write(int fd, const char *path, const void *from, size_t n);

/* file_write_some(fd, from, n): the same without a message: how many bytes
 * were written, and errno if fewer than ${n}. */
size_t file_write_some(int fd, const void *from, size_t n);

/*
 * file_open, file_close, file_sync: open (0666, O_CLOEXEC), close and fsync,
 * made again where a signal interrupts them; errno and no message.
 */
int file_open(const char *path, int flags);
int file_close(int fd);
int file_sync(int fd);

/* file_size(path): bytes of a regular file, -1 without a message if none. */
int64_t file_size(const char *path);

int file_is_dir(const char *path);	/* 1 or 0, without a message */
int file_make_dir(const char *path);	/* with parents, durably; existing is fine */
int file_sync_dir(const char *path);	/* make the names in it durable */

/* path_join(dir, name): "dir/name", the caller's to free. */
char *path_join(const char *dir, const char *name);
/* path_absolute(path): as seen from any directory, the caller's to free. */
char *path_absolute(const char *path);
/* path_base(path): what follows the last '/'; a pointer into ${path}. */
const char *path_base(const char *path);
/* path_dir(path): what precedes it, "." if nothing does; the caller's. */
char *path_dir(const char *path);

/*
 * A commit writes a file so that its name holds either the old complete file
 * or the new complete one, through a crash and a power cut: a hidden
 * temporary file beside it, fsync, rename, fsync of the directory.  Where the
 * name is a device or a pipe it is written straight, and never replaced; a
 * symbolic link's target is what gets replaced.  A writer that is killed
 * leaves its temporary file, .NAME.tmp.HEX; the next commit of this name
 * removes it, but never that of a writer that lives.
 */
struct commit;

struct commit *commit_open(const char *path);
/* commit_write: a failure is reported once; nothing more is written then. */
int commit_write(struct commit *c, const void *data, size_t n);
int commit_fd(const struct commit *c);

/* commit_sync(c): make it durable, under no name yet. */
int commit_sync(struct commit *c);

/* commit_done(c): make it durable under its name; frees ${c} in any case. */
int commit_done(struct commit *c);

/* commit_drop(c): remove what was written; NULL is fine. */
void commit_drop(struct commit *c);

/*
 * commit_possible(path): 0 if a commit could begin now, -1 after a message; it
 * leaves nothing behind.  For work of hours whose result goes there.
 */
int commit_possible(const char *path);

/* commit_bytes(path, data, n), commit_text(path, text): the whole at once. */
int commit_bytes(const char *path, const void *data, size_t n);
int commit_text(const char *path, const char *text);

/*
 * commit_sweep(dir): remove temporary files that killed runs left in ${dir}.
 * Only the holder of the directory's lock may call it.
 */
int commit_sweep(const char *dir);

/*
 * stdout_done(): flush and close standard output, so that a full disk is an
 * error even when it shows at the very end.
 */
int stdout_done(void);

#endif
