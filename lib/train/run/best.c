/* Keep best.safetensors equal to the checkpoint that the state names. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "train/run/best.h"
#include "train/run/checkpoint.h"

#define HEADER_MAX 100000000	/* the format's own limit */

/*
 * Return the JSON header of a safetensors file, which the caller frees, and set
 * ${*bytes} to the length of the file up to its values.  Return NULL without a
 * message if the file has no such header.  Do not read the values: the
 * checkpoint may not fit in the available memory.
 */
static struct json *
best_read_header(const char *path, int64_t *bytes)
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
best_is_of(const char *path, uint64_t step)
{
	const struct json *offsets, *text;
	struct json *v;
	int64_t bytes = 0, data = -1;
	int is = 0;

	v = best_read_header(path, &bytes);
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
best_repair(struct rundir *r, uint64_t step)
{
	char *best = rundir_path(r, "best.safetensors");
	char *path = rundir_checkpoint(r, step);
	int bad = 0;

	if (!best_is_of(best, step)) {
		if (!best_is_of(path, step))
			bad = fail("%s: missing, or not of step %" PRIu64
			    ", the best so far, and so is %s (unless a later "
			    "step is better, the run will end with 1: "
			    "--keep-best=none avoids it)", text_quote(best),
			    step, path_base(path));
		else if ((bad = rundir_link(r, path, "best.safetensors")) == 0)
			note("%s: repaired: now of step %" PRIu64,
			    text_quote(best), step);
	}
	free(path);
	free(best);
	return bad;
}

uint64_t
best_step_of(const char *dir, double best)
{
	char *path = path_join(dir, "best.safetensors");
	struct error unused = { "" }, *before = fail_into(&unused);
	struct safetensors f;
	struct state s;
	uint64_t step = 0;

	if (best > BEST_WORST && checkpoint_read(path, &f, &s) == 0) {
		step = s.best == best ? s.step : 0;
		safetensors_free(&f);
	}
	fail_into(before);
	free(path);
	return step;
}
