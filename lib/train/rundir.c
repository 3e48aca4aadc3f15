/* The directory of a run: checkpoints kept and removed, the log. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/json.h"
#include "base/text.h"
#include "train/rundir.h"

#define NAME "ckpt-%010" PRIu64 ".safetensors"

int
rundir_open(struct rundir *r, const char *path)
{
	r->path = path;
	r->log = -1;
	if (file_make_dir(path) != 0)
		return -1;
	if ((r->lock = dir_lock(path, ".vt-train.lock")) < 0)
		return -1;
	return commit_sweep(path);
}

void
rundir_close(struct rundir *r)
{
	if (r->log >= 0)
		close(r->log);
	dir_unlock(r->lock);
}

char *
rundir_path(const struct rundir *r, const char *name)
{
	return path_join(r->path, name);
}

char *
rundir_checkpoint(const struct rundir *r, uint64_t step)
{
	char name[64];

	snprintf(name, sizeof(name), NAME, step);
	return path_join(r->path, name);
}

static int
newest_first(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

int
rundir_checkpoints(const char *path, const char *suffix, uint64_t **steps)
{
	DIR *d = opendir(path);
	struct dirent *e;
	size_t n = 0, cap = 0;

	*steps = NULL;
	if (d == NULL)
		return errno == ENOENT ? 0 : fail_errno("%s: cannot open",
		    text_quote(path));
	while ((e = readdir(d)) != NULL) {
		uint64_t step;
		char name[64];

		if (sscanf(e->d_name, "ckpt-%" SCNu64, &step) != 1)
			continue;
		snprintf(name, sizeof(name), NAME "%s", step, suffix);
		if (strcmp(name, e->d_name) != 0)
			continue;
		*steps = array_room(*steps, n, &cap, sizeof(**steps));
		(*steps)[n++] = step;
	}
	closedir(d);
	if (n > 0)
		qsort(*steps, n, sizeof(**steps), newest_first);
	return (int)n;
}

/* Another name for a file: a hard link, or a copy where links fail. */
static int
copy(const struct rundir *r, const char *from, const char *name)
{
	char *to = path_join(r->path, name);
	char *temp = xprintf("%s/.%s.tmp.%x", r->path, name, (unsigned)getpid());
	struct buffer b = { 0 };
	int bad = 0;

	unlink(temp);
	if (link(from, temp) == 0) {
		bad = rename(temp, to) != 0 ?
		    fail_errno("%s: cannot rename to this name", text_quote(to)) :
		    file_sync_dir(r->path);
		unlink(temp);	/* rename keeps it if both are one file */
	} else {
		bad = file_read(from, &b) != 0 || commit_bytes(to, b.data, b.n);
	}
	buffer_free(&b);
	free(temp);
	free(to);
	return bad ? -1 : 0;
}

int
rundir_saved(struct rundir *r, uint64_t step, struct hash128 hash, int best)
{
	char *path = rundir_checkpoint(r, step), text[33];
	char *latest = rundir_path(r, "latest"), *line;
	uint64_t *steps;
	int n, bad;

	line = xprintf("%s %s\n", path_base(path), hash128_text(hash, text));
	bad = commit_text(latest, line);
	if (!bad && best)
		bad = copy(r, path, "best.safetensors");
	/* Only now may older ones go, the oldest first. */
	n = bad ? 0 : rundir_checkpoints(r->path, "", &steps);
	for (int i = n - 1; i >= r->keep && i >= 0; i--) {
		char *old = rundir_checkpoint(r, steps[i]);

		if (steps[i] < step && unlink(old) != 0)
			warning("%s: cannot remove: %s", text_quote(old),
			    strerror(errno));
		free(old);
	}
	if (!bad && n >= 0)
		free(steps);
	free(line);
	free(latest);
	free(path);
	return bad;
}

int
rundir_finish(struct rundir *r, uint64_t step)
{
	char *path = rundir_checkpoint(r, step);
	int bad = copy(r, path, "final.safetensors");

	free(path);
	return bad;
}

int
rundir_unfinish(struct rundir *r)
{
	char *path = rundir_path(r, "final.safetensors");
	int bad = 0;

	if (unlink(path) == 0)
		bad = file_sync_dir(r->path);
	else if (errno != ENOENT)
		bad = fail_errno("%s: cannot remove", text_quote(path));
	free(path);
	return bad;
}

/* The step a line of the log is about; 0 if it names none. */
static uint64_t
step_of(const char *line)
{
	const char *at = strstr(line, "\"step\":");

	return at != NULL ? strtoull(at + 7, NULL, 10) : 0;
}

int
rundir_log_open(struct rundir *r, uint64_t step)
{
	char *path = rundir_path(r, "log.jsonl");
	struct buffer old = { 0 }, kept = { 0 };
	int bad = 0;

	buffer_add(&kept, "", 0);
	if (step > 0 && file_size(path) > 0) {
		char *line, *next;

		bad = file_read(path, &old);
		for (line = old.data; !bad && line != NULL && *line; line = next) {
			next = strchr(line, '\n');
			if (next == NULL)
				break;		/* a torn last line */
			*next++ = '\0';
			if (step_of(line) <= step)
				buffer_printf(&kept, "%s\n", line);
		}
	}
	if (!bad)
		bad = commit_bytes(path, kept.data, kept.n);
	if (!bad) {
		r->log = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
		if (r->log < 0)
			bad = fail_errno("%s: cannot open", text_quote(path));
	}
	buffer_free(&old);
	buffer_free(&kept);
	free(path);
	return bad;
}

int
rundir_log(struct rundir *r, const char *line)
{
	char *text = xprintf("%s\n", line);
	int bad = file_write(r->log, "log.jsonl", text, strlen(text));

	free(text);
	return bad;
}
