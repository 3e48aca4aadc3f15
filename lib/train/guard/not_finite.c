/*
 * Steps that are not finite: the list of their clips, and the decision to skip
 * them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "data/order.h"
#include "train/guard/corrupt.h"
#include "train/guard/not_finite.h"

int
not_finite_parse(const char *text, int64_t *largest)
{
	*largest = 0;
	if (strcmp(text, "fail") == 0)
		return 0;
	if (!text_starts(text, "skip:") ||
	    text_int(text + 5, 1, INT32_MAX, largest) != 0)
		return -1;
	return 0;
}

/* Return the rank that has microbatch ${i} of ${n}. */
static int
not_finite_rank_of(const struct trainer *t, int n, int i)
{
	int r = 0, first, count = split(n, 0, t->comm->size, &first);

	while (i >= first + count)
		count = split(n, ++r, t->comm->size, &first);
	return r;
}

/* Append a row for each clip of the step, with its microbatch's loss. */
static void
not_finite_list_clips(const struct trainer *t, struct buffer *b)
{
	const struct trainer_work *w = t->work;
	const struct cell *c = w->at.cell;
	struct step_split p = work_parts(t, c);
	uint64_t repeat = (uint64_t)transforms_repeats(&t->loading.transforms);
	struct order *order = order_new(t->loading.seed,
	    dataset_samples(t->train), t->loading.balance);

	buffer_text(b, "#step\trank\tmicrobatch\tloss\tclip\tkey\n");
	for (int i = 0; i < p.n; i++)
		for (int k = 0; k < p.clips; k++) {
			uint64_t clip = w->at.clip +
			    (uint64_t)step_split_clip(&p, c, i, k);
			uint32_t past = 0, of = order_sample(order,
			    clip / repeat);
			struct sample s;

			/* The loader has replaced damaged samples by these. */
			order_next_intact(order, clip / repeat,
			    corrupt_known(w->corrupt), &past, &of);
			s = dataset_sample(t->train, of);

			buffer_printf(b, "%" PRIu64 "\t%d\t%d\t%.9g\t%" PRIu64
			    "\t%s\n", t->state.step + 1,
			    not_finite_rank_of(t, p.n, i), i,
			    w->buffers.report[i].loss, clip, s.key);
		}
	order_free(order);
}

static void
not_finite_dump(const struct trainer *t)
{
	struct buffer b = { 0 };
	char *path = xprintf("%s/nan-%010" PRIu64 ".tsv", t->run->path,
	    t->state.step + 1);

	not_finite_list_clips(t, &b);
	if (commit_bytes(path, b.data, b.n) == 0)
		note("%s: its clips, with the loss of each microbatch",
		    text_quote(path));
	buffer_free(&b);
	free(path);
}

static void
not_finite_log_skip(struct trainer *t, const char *what, double value)
{
	char text[32];
	const struct json_member m[] = {
		JSON_MEMBER("skipped", t->state.skipped),
		JSON_MEMBER_TEXT("value", text),
		JSON_MEMBER_TEXT("what", what) };

	snprintf(text, sizeof(text), "%g", value);
	runlog_event(&t->run->log, "skip", t->state.step + 1, m,
	    sizeof(m) / sizeof(m[0]));
}

int
not_finite_step(struct trainer *t, struct step_report *s, const char *what,
    double value)
{
	if (t->run != NULL)
		not_finite_dump(t);
	if (t->state.skipped >= (uint64_t)t->o.skips) {
		if (t->o.skips > 0 && t->comm->rank == 0)
			fail("%" PRIu64 " steps were skipped already, as "
			    "--on-nan=skip:%" PRId64 " allows",
			    t->state.skipped, t->o.skips);
		return work_diverged(t, what, value);
	}
	t->state.skipped++;
	if (t->comm->rank == 0)
		warning("step %" PRIu64 ": %s %g: it is skipped (%" PRIu64
		    " of %" PRId64 ")", t->state.step + 1, what, value,
		    t->state.skipped, t->o.skips);
	if (t->run != NULL)
		not_finite_log_skip(t, what, value);
	s->loss = t->state.loss;
	s->norm = 0;
	return 0;
}
