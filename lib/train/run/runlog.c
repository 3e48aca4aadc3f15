/* The log of a run: truncate it, append lines, and read how the run ended. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/ram.h"
#include "base/text.h"
#include "train/run/runlog.h"

#define NAME "log.jsonl"

/* Return the step of a line, 0 if it has none. */
static uint64_t
runlog_step_of(const char *line)
{
	const char *at = strstr(line, "\"step\":");

	return at != NULL ? strtoull(at + 7, NULL, 10) : 0;
}

/* Append to ${kept} the lines of log ${path} of steps up to ${step}.  Return 0,
 * or -1 after a message. */
static int
runlog_keep_lines(const char *path, uint64_t step, struct buffer *kept)
{
	struct buffer old = { 0 };
	char *line, *next;

	if (file_size(path) < 0)
		return 0;
	if (file_read(path, &old) != 0) {
		buffer_free(&old);
		return -1;
	}
	for (line = old.data; *line != '\0'; line = next) {
		next = strchr(line, '\n');
		if (next == NULL)
			break;		/* a truncated last line */
		*next++ = '\0';
		if (runlog_step_of(line) <= step)
			buffer_printf(kept, "%s\n", line);
	}
	buffer_free(&old);
	return 0;
}

int
runlog_open(struct runlog *l, const char *dir, uint64_t step)
{
	char *path = path_join(dir, NAME);
	struct buffer kept = { 0 };
	int bad;

	*l = (struct runlog){ .file.fd = -1 };
	pthread_mutex_init(&l->lock, NULL);
	buffer_add(&kept, "", 0);
	bad = (step > 0 && runlog_keep_lines(path, step, &kept) != 0) ||
	    commit_bytes(path, kept.data, kept.n) != 0 ||
	    append_open(&l->file, path, 0) != 0;
	buffer_free(&kept);
	free(path);
	return bad ? -1 : 0;
}

void
runlog_event(struct runlog *l, const char *type, uint64_t step,
    const struct json_member *m, size_t n)
{
	struct json_member *all = xcalloc(n + 3, sizeof(*all));
	struct json_writer w = { 0 };
	char now[32];

	memcpy(all, m, n * sizeof(*m));
	all[n] = (struct json_member)JSON_MEMBER("step", step);
	all[n + 1] = (struct json_member)JSON_MEMBER_TEXT("time",
	    clock_utc(now));
	all[n + 2] = (struct json_member)JSON_MEMBER_TEXT("type", type);
	json_open(&w, NULL, '{');
	json_put_members(&w, all, n + 3);
	json_close(&w);
	free(all);
	buffer_text(&w.out, "\n");
	pthread_mutex_lock(&l->lock);
	append_add(&l->file, w.out.data, w.out.n);
	pthread_mutex_unlock(&l->lock);
	buffer_free(&w.out);
}

void
runlog_end(struct runlog *l, int status, uint64_t step)
{
	const struct json_member end[] = {
		JSON_MEMBER("peak_memory", ram_peak()),
		JSON_MEMBER("status", status) };

	if (l->file.path == NULL || l->file.fd < 0 || l->ended)
		return;
	l->ended = 1;
	/* Another thread may hold the lock while this one calls exit(3).  Drop
	 * the line then: waiting could deadlock. */
	if (pthread_mutex_trylock(&l->lock) == 0) {
		pthread_mutex_unlock(&l->lock);
		runlog_event(l, "end", step, end, 2);
	}
	if (l->file.fd >= 0)
		fdatasync(l->file.fd);
}

int
runlog_close(struct runlog *l)
{
	int bad;

	if (l->file.path == NULL)
		return 0;
	bad = append_close(&l->file);
	pthread_mutex_destroy(&l->lock);
	*l = (struct runlog){ .file.fd = -1 };
	return bad;
}

/* ---- how the run ended ---- */

/* Return the exit status in an "end" line, -1 if the line is damaged. */
static int
runlog_end_status(const char *line, size_t n)
{
	struct json *v = json_parse(NAME, line, n);
	int64_t status = -1;

	json_to_int(json_get(v, "status"), 0, 255, &status);
	json_free(v);
	return (int)status;
}

enum runlog_last
runlog_last(const char *dir, int *status)
{
	char *path = path_join(dir, NAME), *line, *next;
	enum runlog_last last = RUNLOG_NONE;
	struct buffer b = { 0 };

	if (file_size(path) < 0 || file_read(path, &b) != 0)
		goto out;
	/* Quotes inside values are escaped, so these strings match only keys
	 * and whole values. */
	for (line = b.data; (next = strchr(line, '\n')) != NULL; line = next) {
		*next++ = '\0';
		if (strstr(line, "\"type\":\"start\"") != NULL)
			last = RUNLOG_OPEN;
		else if (strstr(line, "\"type\":\"end\"") != NULL &&
		    (*status = runlog_end_status(line, strlen(line))) >= 0)
			last = RUNLOG_ENDED;
	}
out:
	buffer_free(&b);
	free(path);
	return last;
}
