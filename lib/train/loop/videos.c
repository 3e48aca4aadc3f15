/* Videos that are not packed, as a dataset of all ranks. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/progress.h"
#include "base/text.h"
#include "ingest/unpacked.h"
#include "train/loop/inputs.h"
#include "train/loop/videos.h"

#define BATCH 4		/* videos per thread between exchanges of the ranks */

int
videos_are(struct comm *c, const char *path)
{
	int are = c->rank == 0 && unpacked_is(path);

	return comm_broadcast(c, &are, sizeof(are), 0) == 0 && are;
}

/* Use the table of an earlier start, if rank 0 has one. */
static int
videos_remember(struct videos *v, struct comm *c, struct unpacked *u)
{
	struct { int there, accept; } first = { c->rank == 0 &&
		v->table != NULL && file_size(v->table) >= 0, v->accept };
	char *text;
	int bad;

	if (comm_broadcast(c, &first, sizeof(first), 0) != 0)
		return EXIT_RANKS;
	if (!first.there)
		return 0;
	if ((text = inputs_text(c, v->table)) == NULL)
		return EXIT_FAILED;
	bad = unpacked_remember(u, v->table != NULL ? v->table : "its table",
	    text, first.accept);
	free(text);
	return comm_agree(c, bad ? EXIT_FAILED : 0);
}

/*
 * Verify this rank's share of the videos.  The ranks exchange their states
 * after some videos, so that none waits for longer than the watchdog allows,
 * and all end soon after one fails.
 */
static int
videos_verify(const struct videos *v, struct comm *c, struct unpacked *u,
    size_t at, size_t end)
{
	int64_t state = 1;		/* 0: done, 1: busy, 2: one failed */
	size_t first = at, batch = BATCH * (size_t)v->threads;
	int status = 0;

	while (state == 1) {
		size_t to = end - at < batch ? end : at + batch;

		if (at < to)
			status = unpacked_verify(u, at, to, v->threads);
		at = to;
		progress_line("verifying videos: %zu of %zu", at - first,
		    end - first);
		state = status != 0 ? 2 : at < end;
		if (comm_max(c, &state) != 0)
			return EXIT_RANKS;
	}
	return comm_agree(c, status);
}

/* Give all ranks the facts of all videos. */
static int
videos_exchange(struct comm *c, struct unpacked *u, const size_t *start)
{
	size_t *bytes = xcalloc((size_t)c->size + 1, sizeof(*bytes));
	int bad;

	for (int r = 0; r <= c->size; r++)
		bytes[r] = start[r] * sizeof(struct unpacked_fact);
	bad = comm_allgatherv(c, unpacked_facts(u), bytes);
	free(bytes);
	return bad ? EXIT_RANKS : 0;
}

/* Say what packing would save: a clip decodes its whole video. */
static void
videos_say_cost(struct videos *v, struct unpacked *u)
{
	const struct unpacked_fact *f = unpacked_facts(u);
	size_t n = unpacked_videos(u), kept = 0;
	char text[32];

	for (size_t i = 0; i < n; i++)
		if (f[i].state == UNPACKED_KEPT) {
			kept++;
			v->seconds += f[i].seconds;
		}
	v->skipped = n - kept;
	if (v->skipped > 0)
		warning("%s: %zu of %zu videos are left out",
		    text_quote(v->path), v->skipped, n);
	note("%s: %zu video%s, decoded for each clip: %.1f ms each, %s of one "
	    "core in each epoch; packing them (vt-extract, vt-pack) saves that",
	    text_quote(v->path), kept, kept == 1 ? "" : "s",
	    kept > 0 ? 1e3 * v->seconds / (double)kept : 0,
	    clock_text(text, v->seconds));
}

int
videos_open(struct videos *v, struct comm *c)
{
	const struct unpacked_options o = { .path = v->path,
		.root = v->set->root, .fps = v->set->fps,
		.short_side = v->set->short_side, .skip = v->set->skip,
		.classes = v->classes, .whose = v->whose };
	size_t *start = xcalloc((size_t)c->size + 1, sizeof(*start));
	struct unpacked *u;
	int status;

	u = unpacked_new(&o, &status);
	if ((status = comm_agree(c, status)) == 0) {
		for (int r = 0; r <= c->size; r++)
			start[r] = unpacked_videos(u) * (size_t)r /
			    (size_t)c->size;
		status = videos_remember(v, c, u);
	}
	if (status == 0)
		status = videos_verify(v, c, u, start[c->rank],
		    start[c->rank + 1]);
	if (status == 0)
		status = videos_exchange(c, u, start);
	free(start);
	if (status != 0) {
		unpacked_free(u);
		return status;
	}
	v->facts = unpacked_table(u);
	videos_say_cost(v, u);
	v->data = unpacked_dataset(u);
	return comm_agree(c, v->data == NULL ? EXIT_FAILED : 0);
}
