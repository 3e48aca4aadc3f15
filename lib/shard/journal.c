/* The journal of vt-pack.  It survives a power failure: a line counts only
 * if its checksum is right. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "shard/journal.h"

#define Q text_quote

void
journal_free(struct journal *j)
{
	if (j == NULL)
		return;
	if (j->fd >= 0)
		close(j->fd);
	free(j->path);
	free(j->settings);
	free(j->shard);
	free(j);
}

/* Remove the checksum from the ${line} of ${n} bytes.  Return -1 if it is
 * wrong. */
static int
journal_unseal(char *line, size_t n)
{
	char *space = n > 9 ? line + n - 9 : NULL, want[9];

	if (space == NULL || *space != ' ')
		return -1;
	snprintf(want, sizeof(want), "%08x",
	    crc32c(0, line, (size_t)(space - line)));
	if (memcmp(space + 1, want, 8) != 0)
		return -1;
	*space = '\0';
	return 0;
}

/* Append the checksum and a newline. */
static void
journal_seal(struct buffer *line)
{
	buffer_printf(line, " %08x\n", crc32c(0, line->data, line->n));
}

/* Format the line without its checksum. */
static void
journal_put_shard(struct buffer *b, size_t number,
    const struct journal_shard *s)
{
	char hash[33];

	buffer_printf(b, "C %zu %llu %llu %llu %s %s %s", number,
	    (unsigned long long)s->sum.samples,
	    (unsigned long long)s->sum.frames,
	    (unsigned long long)s->sum.bytes,
	    hash128_text(s->sum.hash, hash), s->first, s->last);
}

/* Parse a line without its checksum.  Return -1 if it is not the next one of
 * the journal. */
static int
journal_parse_line(struct journal *j, const char *line)
{
	unsigned long long n, samples, frames, bytes;
	struct journal_shard s = { 0 };
	struct buffer again = { 0 };
	char hash[33];
	int same;

	if (j->settings == NULL) {
		if (!text_starts(line, "S "))
			return -1;
		j->settings = xstrdup(line + 2);
		return 0;
	}
	if (sscanf(line, "C %llu %llu %llu %llu %32s %80s %80s", &n, &samples,
	    &frames, &bytes, hash, s.first, s.last) != 7 || n != j->shards ||
	    hash128_parse(hash, &s.sum.hash) != 0)
		return -1;
	s.sum.samples = samples;
	s.sum.frames = frames;
	s.sum.bytes = bytes;
	journal_put_shard(&again, j->shards, &s);	/* sscanf is lenient */
	same = strcmp(again.data, line) == 0;
	buffer_free(&again);
	if (!same)
		return -1;
	j->shard = array_reserve(j->shard, j->shards, &j->cap,
	    sizeof(*j->shard));
	j->shard[j->shards++] = s;
	return 0;
}

/* Parse all lines.  Ignore a torn last line.  Return 0, or -1 after a
 * message if a line before it is damaged. */
static int
journal_parse(struct journal *j, struct buffer *b)
{
	char *line = b->data, *end = b->data + b->n, *newline;
	int number = 0;

	for (; line < end; line = newline + 1) {
		newline = memchr(line, '\n', (size_t)(end - line));
		if (newline == NULL)
			break;		/* torn */
		*newline = '\0';
		number++;
		if (journal_unseal(line, (size_t)(newline - line)) != 0) {
			if (newline + 1 == end)
				break;	/* torn, then a newline */
			return fail("%s:%d: the checksum of the line is wrong",
			    Q(j->path), number);
		}
		if (journal_parse_line(j, line) != 0)
			return fail("%s:%d: not a line of this journal",
			    Q(j->path), number);
	}
	return 0;
}

struct journal *
journal_read(const char *dir, int *bad)
{
	struct journal *j = xcalloc(1, sizeof(*j));
	struct buffer b = { 0 };

	*bad = 0;
	j->fd = -1;
	j->path = path_join(dir, JOURNAL_NAME);
	if (file_size(j->path) < 0)
		goto none;
	if (file_read(j->path, &b) != 0 || journal_parse(j, &b) != 0) {
		*bad = 1;
		goto none;
	}
	if (j->settings == NULL)
		goto none;
	buffer_free(&b);
	return j;
none:
	buffer_free(&b);
	journal_free(j);
	return NULL;
}

/* Commit a file with all that is in memory, in the place of the journal. */
static int
journal_rewrite(const struct journal *j)
{
	struct buffer b = { 0 }, line = { 0 };
	int result;

	buffer_printf(&b, "S %s", j->settings);
	journal_seal(&b);
	for (size_t i = 0; i < j->shards; i++) {
		line.n = 0;
		journal_put_shard(&line, i, &j->shard[i]);
		journal_seal(&line);
		buffer_add(&b, line.data, line.n);
	}
	result = commit_bytes(j->path, b.data, b.n);
	buffer_free(&b);
	buffer_free(&line);
	return result;
}

/* Rewrite the file: a torn line must go before another is appended, or both
 * would be unreadable. */
int
journal_continue(struct journal *j)
{
	if (journal_rewrite(j) != 0)
		return -1;
	/* The commit replaced the file, so open the new one. */
	j->fd = file_open_own(j->path, O_WRONLY | O_APPEND);
	return j->fd >= 0 ? 0 : -1;
}

/* Write the first line by a commit, so a journal always has its settings. */
struct journal *
journal_create(const char *dir, const char *settings)
{
	struct journal *j = xcalloc(1, sizeof(*j));

	j->fd = -1;
	j->path = path_join(dir, JOURNAL_NAME);
	j->settings = xstrdup(settings);
	if (journal_continue(j) != 0) {
		journal_free(j);
		return NULL;
	}
	return j;
}

int
journal_add(struct journal *j, const struct journal_shard *s)
{
	struct buffer line = { 0 };
	int result;

	journal_put_shard(&line, j->shards, s);
	journal_seal(&line);
	result = file_write(j->fd, j->path, line.data, line.n);
	/* fdatasync also makes the new size durable. */
	if (result == 0 && fdatasync(j->fd) != 0)
		result = fail_errno("%s: cannot sync", Q(j->path));
	buffer_free(&line);
	if (result != 0)
		return -1;
	j->shard = array_reserve(j->shard, j->shards, &j->cap,
	    sizeof(*j->shard));
	j->shard[j->shards++] = *s;
	return 0;
}
