#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/mem.h"

/*
 * Files.  Unless a comment says otherwise, a function that fails prints a
 * message with the name of the file, and returns -1 or NULL.  Any thread may
 * call these functions.
 */

/*
 * file_read(path, b):
 * Append the whole file ${path} to ${b}, or standard input if ${path} is "-".
 * An empty file gives "".  Return 0, or -1 after a message.
 */
int file_read(const char *path, struct buffer *b);

/*
 * file_try(path, b, e):
 * As file_read, but add the message to ${e} (base/fail.h).
 */
int file_try(const char *path, struct buffer *b, struct error *e);

/*
 * file_read_text(path, b):
 * As file_read, but drop a byte order mark.  UTF-16 and a zero byte in the file
 * are errors.
 * file_check_text(path, b, wanted):
 * Check and change the content ${b} of ${path} in this way.  A message about a
 * zero byte ends with ${wanted}.  Return 0, or -1 after a message.
 */
int file_read_text(const char *path, struct buffer *b);
int file_check_text(const char *path, struct buffer *b, const char *wanted);

/*
 * file_pread(fd, path, to, n, at, e):
 * Read exactly ${n} bytes at offset ${at} of ${fd} into ${to}.  A shorter file
 * is an error.  ${path} names the file in messages.  Return 0, or -1 with a
 * message in ${e}, printed if ${e} is NULL.
 */
int file_pread(int fd, const char *path, void *to, size_t n, uint64_t at,
    struct error *e);

/*
 * file_pread_some(fd, to, n, at):
 * As file_pread, but without a message.  Return the number of bytes read.  If
 * it is less than ${n}, errno is set, to 0 at the end of the file.
 */
size_t file_pread_some(int fd, void *to, size_t n, uint64_t at);

/*
 * file_write(fd, path, from, n):
 * Write all ${n} bytes, across EINTR and short writes.  ${path} names the file
 * in messages.  Return 0, or -1 after a message.
 */
int file_write(int fd, const char *path, const void *from, size_t n);

/*
 * file_write_some(fd, from, n):
 * As file_write, but without a message.  Return the number of bytes written.
 * errno is set if it is less than ${n}.
 */
size_t file_write_some(int fd, const void *from, size_t n);

/*
 * file_open(path, flags), file_close(fd), file_sync(fd):
 * As open(2) with mode 0666 and O_CLOEXEC, close(2) and fsync(2), but not
 * interrupted by signals.  Return -1 with errno, and print no message.
 */
int file_open(const char *path, int flags);
int file_close(int fd);
int file_sync(int fd);

/*
 * file_open_own(path, flags):
 * As file_open, for a file whose name the program has chosen: follow no
 * symbolic link, and refuse what is not a regular file.  Never wait.  Return -1
 * after a message.
 */
int file_open_own(const char *path, int flags);

/*
 * file_size(path):
 * Return the size in bytes of a regular file, or -1 without a message if
 * ${path} is not one.
 */
int64_t file_size(const char *path);

/* file_is_dir(path): Return 1 if ${path} is a directory, 0 otherwise. */
int file_is_dir(const char *path);

/*
 * file_is_litter(name, l):
 * Return 1 if files of this name lie in folders of data without being data:
 * hidden files, those that Windows, macOS and file servers leave, and texts.
 * Count them in ${l}, which begins as { 0 }.
 * file_note_litter(dir, l):
 * Print a note of the files skipped in ${dir}, if any, and free ${l}.
 */
struct litter { size_t n; char *first; };
int file_is_litter(const char *name, struct litter *l);
void file_note_litter(const char *dir, struct litter *l);

/*
 * file_make_dir(path, e):
 * Create the directory ${path} and its missing parents, and make their names
 * durable.  A directory that exists is not an error.
 * file_sync_dir(path, e):
 * Make the names in the directory ${path} durable.
 * Return 0, or -1 with a message in ${e}, printed if ${e} is NULL.
 */
int file_make_dir(const char *path, struct error *e);
int file_sync_dir(const char *path, struct error *e);

/* path_join(dir, name): Return "dir/name".  The caller frees it. */
char *path_join(const char *dir, const char *name);

/*
 * path_absolute(path):
 * Return the absolute path.  Resolve symbolic links if the file exists.  The
 * caller frees it.  Never fails; an unreadable working directory leaves ${path}
 * relative.
 */
char *path_absolute(const char *path);

/*
 * path_target(path):
 * Return the path that a write to ${path} reaches: after symbolic links, also
 * if the file does not exist yet.  The caller frees it.  Never fails.
 */
char *path_target(const char *path);

/*
 * path_base(path):
 * Return the part after the last '/', a pointer into ${path}.
 */
const char *path_base(const char *path);

/*
 * path_dir(path):
 * Return the part before the last '/', "/" for a file in the root, "." if there
 * is no '/'.  The caller frees it.
 */
char *path_dir(const char *path);

/*
 * A commit replaces a file atomically and durably.  At any time, even after a
 * crash or a power failure, the name refers to the complete old file or the
 * complete new one.  A commit writes a hidden temporary file in the same
 * directory, calls fsync, renames the file, and calls fsync on the directory.
 *
 * If the user has named an output (options_is_output) that is a device or a
 * pipe, data go straight to it; if it is a symbolic link, the target is
 * replaced.  Any other link is replaced, and a device or a pipe refused.  The
 * new file has the mode of the old one.  A killed writer leaves its temporary
 * file, .NAME.tmp.HEX.  The next commit of the same name removes it, unless its
 * writer is still running.
 *
 * One thread at a time may use a struct commit.
 */
struct commit;

/*
 * commit_open(path, e):
 * Begin a commit of ${path}.  Its messages are added to ${e}, or printed if it
 * is NULL.  Return NULL after a message.  End the commit with commit_done or
 * commit_drop.  exit(3) also removes the temporary file.
 */
struct commit *commit_open(const char *path, struct error *e);

/*
 * commit_write(c, data, n):
 * Append ${n} bytes.  Return 0, or -1 after a message.  After a failure,
 * further calls write nothing and return -1 without a message.
 */
int commit_write(struct commit *c, const void *data, size_t n);

/*
 * commit_fd(c):
 * Return the descriptor of the file, for writes that bypass commit_write.
 * Valid until commit_done or commit_drop.
 */
int commit_fd(const struct commit *c);

/*
 * commit_sync(c):
 * Make the data durable, without giving them the final name.  Return 0, or -1
 * after a message.
 */
int commit_sync(struct commit *c);

/*
 * commit_done(c):
 * Make the data durable under the final name.  Free ${c} in any case.  Return
 * 0, or -1 after a message.
 */
int commit_done(struct commit *c);

/*
 * commit_drop(c):
 * Remove the temporary file and free ${c}.  NULL does nothing.  errno is
 * unchanged.
 */
void commit_drop(struct commit *c);

/*
 * commit_shared(c):
 * Return 1 if another running process has an open commit of the same file, on
 * a file system with locks, otherwise 0.
 */
int commit_shared(const struct commit *c);

/*
 * commit_possible(path):
 * Check that a commit of ${path} can begin now, before hours of work whose
 * result goes there.  Leave nothing behind.  Return 0, or -1 after a message.
 */
int commit_possible(const char *path);

/*
 * commit_bytes(path, data, n), commit_text(path, text):
 * Commit a file with this content.  Return 0, or -1 after a message.
 */
int commit_bytes(const char *path, const void *data, size_t n);
int commit_text(const char *path, const char *text);

/* commit_try(path, data, n, e): As commit_bytes, but add the message to
 * ${e}. */
int commit_try(const char *path, const void *data, size_t n, struct error *e);

/*
 * commit_sweep(dir):
 * Remove all temporary files of commits in ${dir}.  The caller must hold the
 * lock of the directory (base/lock.h), because running writers are not spared.
 * Return 0, or -1 after a message.
 */
int commit_sweep(const char *dir);

/*
 * stdout_failed():
 * Report that standard output cannot be written, with the reason in errno.
 * stdout_done does not report it again.  Return -1.
 */
int stdout_failed(void);

/*
 * stdout_done():
 * Flush and close standard output, so that a full disk is reported even if the
 * last write detects it.  Return 0, or -1 after a message.
 */
int stdout_done(void);

#endif
