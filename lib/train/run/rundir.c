/*
 * The directory of a run: name, link and remove checkpoints.  A checkpoint is
 * removed only when a newer one is durable and named in "latest".  Keep
 * best.safetensors equal to the checkpoint that the state names.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/json.h"
#include "base/lock.h"
#include "base/text.h"
#include "train/run/checkpoint.h"
#include "train/run/rundir.h"

#define NAME "ckpt-%010" PRIu64 ".safetensors"

int
rundir_open(struct rundir *r, const char *path)
{
	r->path = path;
	if (file_make_dir(path, NULL) != 0)
		return -1;
	if ((r->lock = dir_lock(path, RUNDIR_LOCK)) < 0)
		return -1;
	return commit_sweep(path);
}

void
rundir_close(struct rundir *r)
{
	events_close(&r->events);
	dir_unlock(r->lock);
}

char *
rundir_checkpoint(const char *path, uint64_t step)
{
	char name[64];

	snprintf(name, sizeof(name), NAME, step);
	return path_join(path, name);
}

static int
rundir_newest_first(const void *a, const void *b)
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
	while (errno = 0, (e = readdir(d)) != NULL) {
		uint64_t step;
		struct stat s;
		char name[64];

		if (sscanf(e->d_name, "ckpt-%" SCNu64, &step) != 1)
			continue;
		/* Print the name again, and compare: this excludes other
		 * spellings and suffixes, such as temporary files. */
		snprintf(name, sizeof(name), NAME "%s", step, suffix);
		if (strcmp(name, e->d_name) != 0)
			continue;
		/* Reading a pipe of this name would wait. */
		if (fstatat(dirfd(d), name, &s, 0) == 0 && !S_ISREG(s.st_mode))
			continue;
		*steps = array_reserve(*steps, n, &cap, sizeof(**steps));
		(*steps)[n++] = step;
	}
	if (errno != 0) {
		/* With a partial list a run would start again from step 0, or
		 * remove the wrong checkpoints. */
		fail_errno("%s: cannot read", text_quote(path));
		free(*steps);
		*steps = NULL;
		closedir(d);
		return -1;
	}
	closedir(d);
	if (n > 0)
		qsort(*steps, n, sizeof(**steps), rundir_newest_first);
	return (int)n;
}

/* Link under a temporary name and rename, so that ${name} is always a complete
 * file.  Copy if the file system has no hard links. */
int
rundir_link(const struct rundir *r, uint64_t step, const char *name,
    struct error *e)
{
	char *from = rundir_checkpoint(r->path, step);
	char *to = path_join(r->path, name);
	char *temp = xprintf("%s/.%s.tmp.%x", r->path, name,
	    (unsigned)getpid());
	struct buffer b = { 0 };
	int bad = 0;

	unlink(temp);
	if (TEMP_FAILURE_RETRY(link(from, temp)) == 0) {
		bad = TEMP_FAILURE_RETRY(rename(temp, to)) != 0 ?
		    error_errno(e, "%s: cannot rename to this name",
		    text_quote(to)) : file_sync_dir(r->path, e);
		/* rename(2) does nothing if both are links to one file. */
		unlink(temp);
	} else {
		bad = file_try(from, &b, e) != 0 || commit_try(to, b.data, b.n,
		    e) != 0;
	}
	buffer_free(&b);
	free(temp);
	free(to);
	free(from);
	return bad ? -1 : 0;
}

void
rundir_prune(const struct rundir *r, uint64_t step)
{
	uint64_t *steps;
	int n = rundir_checkpoints(r->path, "", &steps);

	for (int i = n - 1; i >= r->keep && i >= 0; i--) {
		char *old = rundir_checkpoint(r->path, steps[i]);

		if (steps[i] < step && unlink(old) != 0)
			warning("%s: cannot remove: %s", text_quote(old),
			    strerror(errno));
		free(old);
	}
	free(steps);
}

int
rundir_latest(struct rundir *r, uint64_t step, struct hash128 hash,
    struct error *e)
{
	char *path = rundir_checkpoint(r->path, step), text[33], *line;
	char *latest = path_join(r->path, "latest");
	struct buffer old = { 0 };
	int bad = 0;

	line = xprintf("%s %s\n", path_base(path), hash128_text(hash, text));
	if (file_size(latest) < 0 || file_try(latest, &old, e) != 0 ||
	    strcmp(old.data, line) != 0)
		bad = commit_try(latest, line, strlen(line), e);
	buffer_free(&old);
	free(line);
	free(latest);
	free(path);
	return bad;
}

int
rundir_saved(struct rundir *r, uint64_t step, struct hash128 hash, int best,
    int keep_all, struct error *e)
{
	int bad = rundir_latest(r, step, hash, e);

	if (!bad && best)
		bad = rundir_link(r, step, "best.safetensors", e);
	/* The new checkpoint is durable and named: older ones are no longer
	 * needed. */
	if (!bad && !keep_all)
		rundir_prune(r, step);
	return bad;
}

int
rundir_free_space(const struct rundir *r, uint64_t safe)
{
	uint64_t *steps;
	int n = rundir_checkpoints(r->path, "", &steps), made = 0, whole = 0;

	for (int i = 0; i < n; i++)
		whole |= steps[i] == safe;
	if (whole && steps[n - 1] < safe) {
		char *old = rundir_checkpoint(r->path, steps[n - 1]);

		made = unlink(old) == 0;
		if (made)
			warning("%s: removed because the disk is full",
			    text_quote(old));
		free(old);
	}
	free(steps);
	return made;
}

int
rundir_unfinish(struct rundir *r)
{
	char *path = path_join(r->path, "final.safetensors");
	int bad = 0;

	if (unlink(path) == 0)
		bad = file_sync_dir(r->path, NULL);
	else if (errno != ENOENT)
		bad = fail_errno("%s: cannot remove", text_quote(path));
	free(path);
	return bad;
}

char *
rundir_find_checkpoint(const char *path)
{
	static const char *const names[] = { "final.safetensors",
		"best.safetensors" };
	char *found = NULL;
	uint64_t *steps;

	if (!file_is_dir(path))
		return xstrdup(path);
	for (int i = 0; i < 2; i++) {
		found = path_join(path, names[i]);
		if (file_size(found) >= 0)
			return found;
		free(found);
		found = NULL;
	}
	if (rundir_checkpoints(path, "", &steps) > 0)
		found = rundir_checkpoint(path, steps[0]);
	free(steps);
	if (found == NULL)
		fail("%s: a folder without checkpoints (wanted a checkpoint, "
		    "such as RUN/final.safetensors, or the folder of a run)",
		    text_quote(path));
	return found;
}

/* ---- best.safetensors ---- */

#define HEADER_MAX 100000000	/* the format's own limit */

/*
 * Return the JSON header of a safetensors file, which the caller frees, and set
 * ${*bytes} to the length of the file up to its values.  Return NULL without a
 * message if the file has no such header.  Do not read the values: the
 * checkpoint may not fit in the available memory.
 */
static struct json *
rundir_read_header(const char *path, int64_t *bytes)
{
	int fd = file_open(path, O_RDONLY | O_NONBLOCK);
	struct error unused = { "" };
	int64_t size = file_size(path), n = 0;
	unsigned char length[8];
	struct json *v = NULL;
	char *text;

	if (fd < 0 || file_pread(fd, path, length, 8, 0, &unused) != 0)
		goto out;
	n = (int64_t)get64(length);
	if (n < 0 || n > size - 8 || n > HEADER_MAX)
		goto out;
	text = xmalloc((size_t)n + 1);
	if (file_pread(fd, path, text, (size_t)n, 8, &unused) == 0)
		v = json_try(path, text, (size_t)n, &unused);
	free(text);
	*bytes = 8 + n;
out:
	if (fd >= 0)
		close(fd);
	return v;
}

/* Return 1 if ${path} is a checkpoint of ${step} by its header, and as long as
 * the header says; otherwise 0 without a message. */
static int
rundir_best_is_of(const char *path, uint64_t step)
{
	const struct json *offsets, *text;
	struct json *v;
	int64_t bytes = 0, data = -1;
	int is = 0;

	v = rundir_read_header(path, &bytes);
	offsets = json_get(json_get(v, "~vt.footer"), "data_offsets");
	text = json_get(json_get(v, "__metadata__"), "vt.step");
	json_to_int(json_at(offsets, 1), 0, INT64_MAX / 2, &data);
	if (json_to_text(text) != NULL)
		is = strtoull(json_to_text(text), NULL, 10) == step &&
		    file_size(path) == bytes + data;
	json_free(v);
	return is;
}

int
rundir_repair_best(struct rundir *r, uint64_t step)
{
	char *best = path_join(r->path, "best.safetensors");
	char *path = rundir_checkpoint(r->path, step);
	int bad = 0;

	if (!rundir_best_is_of(best, step)) {
		if (!rundir_best_is_of(path, step))
			bad = fail("%s: missing, or not of step %" PRIu64
			    ", the best so far, and so is %s (unless a later "
			    "step is better, the run will end with 1: "
			    "--keep-best=none avoids it)", text_quote(best),
			    step, path_base(path));
		else if ((bad = rundir_link(r, step, "best.safetensors",
		    NULL)) == 0)
			note("%s: repaired: now of step %" PRIu64,
			    text_quote(best), step);
	}
	free(path);
	free(best);
	return bad;
}
