/* A growing file that survives a full disk.  It writes through, without a
 * buffer, so that readers see whole lines early. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/append.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"

int
append_open(struct append *a, const char *path, int flags)
{
	*a = (struct append){ .path = xstrdup(path) };
	a->fd = file_open_own(path, O_WRONLY | O_APPEND | flags);
	return a->fd >= 0 ? 0 : -1;
}

/* Old bytes go first: the file never has a gap.  Only the first failure of a
 * series is reported. */
void
append_add(struct append *a, const void *data, size_t n)
{
	size_t done;
	int why;

	if (a->path == NULL || a->fd < 0)
		return;
	buffer_add(&a->left, data, n);
	done = file_write_some(a->fd, a->left.data, a->left.n);
	why = errno;
	memmove(a->left.data, a->left.data + done, a->left.n - done);
	a->left.n -= done;
	if (a->left.n > 0 && !a->failing)
		warning("%s: cannot write: %s; keeping new data in memory",
		    text_quote(a->path), strerror(why));
	a->failing = a->left.n > 0;
}

/* Bytes that still cannot be written are an error now: there is no later
 * retry. */
int
append_close(struct append *a)
{
	int bad = 0;

	if (a->path == NULL)
		return 0;
	if (a->left.n > 0)
		bad = fail("%s: its last %zu bytes could not be written",
		    text_quote(a->path), a->left.n);
	if (a->fd >= 0 && close(a->fd) != 0 && errno != EINTR && !bad)
		bad = fail_errno("%s: cannot close", text_quote(a->path));
	buffer_free(&a->left);
	free(a->path);
	*a = (struct append){ .fd = -1 };
	return bad;
}
