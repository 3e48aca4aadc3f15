/* The set of damaged samples, the same on all ranks. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/json.h"
#include "base/number.h"
#include "base/text.h"
#include "train/guard/corrupt.h"
#include "train/loop/work.h"

struct corrupt {
	struct bad_set known, found;	/* found: in the current step */
	char *text;			/* ${known}, as checkpoints store it */
};

int
corrupt_parse(const char *text, double *rate)
{
	*rate = -1;
	if (strcmp(text, "fail") == 0)
		return 0;
	return text_starts(text, "skip:") && text_real(text + 5, 0, 1,
	    rate) == 0 ? 0 : -1;
}

struct corrupt *
corrupt_open(const struct trainer *t)
{
	struct corrupt *c = xcalloc(1, sizeof(*c));

	if (t->state.corrupt == NULL || bad_set_parse(&c->known,
	    t->state.corrupt, dataset_samples(t->train)) == 0)
		return c;
	fail("the checkpoint's list of damaged samples belongs to other "
	    "data");
	corrupt_close(c);
	return NULL;
}

void
corrupt_close(struct corrupt *c)
{
	if (c == NULL)
		return;
	bad_set_free(&c->known);
	bad_set_free(&c->found);
	free(c->text);
	free(c);
}

void
corrupt_apply(const struct corrupt *c, struct loader *l)
{
	loader_bad(l, c->known.sample, c->known.n);
}

void
corrupt_found(struct corrupt *c, const struct trainer *t, uint64_t step,
    const struct microbatch *mb)
{
	for (int i = 0; i < mb->bads; i++)
		if (bad_set_add(&c->found, mb->bad[i].sample))
			warning("step %" PRIu64 ": sample %s is damaged and "
			    "skipped from now on: %s", step,
			    dataset_sample(t->train, mb->bad[i].sample).key,
			    mb->bad[i].why);
}

/* Add the findings of all ranks to ${c}->found. */
static int
corrupt_gather(struct corrupt *c, struct comm *comm)
{
	size_t *start = xcalloc((size_t)comm->size + 1, sizeof(*start));
	uint64_t mine = c->found.n, *n;
	uint32_t *all;
	int bad;

	n = xcalloc((size_t)comm->size, sizeof(*n));
	bad = comm_allgather(comm, &mine, sizeof(mine), n);
	for (int r = 0; r < comm->size && !bad; r++)
		start[r + 1] = start[r] + (size_t)n[r] * sizeof(*all);
	all = xcalloc(start[comm->size] / sizeof(*all) + 1, sizeof(*all));
	if (!bad && mine > 0)
		memcpy((char *)all + start[comm->rank], c->found.sample,
		    (size_t)mine * sizeof(*all));
	if (!bad)
		bad = comm_allgatherv(comm, all, start);
	for (size_t i = 0; i < start[comm->size] / sizeof(*all) && !bad; i++)
		bad_set_add(&c->found, all[i]);
	free(all);
	free(n);
	free(start);
	return bad;
}

static void
corrupt_log_found(const struct corrupt *c, const struct trainer *t,
    uint64_t step, uint32_t sample)
{
	const struct json_member m[] = {
		JSON_MEMBER_TEXT("key", dataset_sample(t->train, sample).key),
		JSON_MEMBER("known", c->known.n),
		JSON_MEMBER("sample", sample) };

	runlog_event(&t->run->log, "corrupt", step, m,
	    sizeof(m) / sizeof(m[0]));
}

int
corrupt_share(struct corrupt *c, struct trainer *t, uint64_t step)
{
	uint32_t samples = dataset_samples(t->train);
	size_t n;

	if (corrupt_gather(c, t->comm) != 0)
		return -1;
	if (c->found.n == 0)
		return 0;
	n = c->known.n + c->found.n;
	for (size_t i = 0; i < c->found.n && t->run != NULL; i++)
		corrupt_log_found(c, t, step, c->found.sample[i]);
	/*
	 * With --on-corrupt=fail t->o.corrupt is -1, so any new sample fails.
	 */
	if ((double)n <= t->o.corrupt * samples)
		return 0;
	if (t->comm->rank == 0 && t->o.corrupt < 0)
		fail("step %" PRIu64 ": a sample is damaged that is not one of "
		    "the %zu in the checkpoint (--on-corrupt=skip:RATE skips "
		    "it)", step, c->known.n);
	else if (t->comm->rank == 0)
		fail("step %" PRIu64 ": %zu of %u samples are damaged, and "
		    "--on-corrupt=skip:%g allows %.0f", step, n, samples,
		    t->o.corrupt, t->o.corrupt * samples);
	return EXIT_DAMAGE;
}

void
corrupt_learn(struct corrupt *c, struct trainer *t)
{
	if (c->found.n == 0)
		return;
	for (size_t i = 0; i < c->found.n; i++)
		bad_set_add(&c->known, c->found.sample[i]);
	loader_bad(t->work->feeder.loader, c->found.sample, c->found.n);
	c->found.n = 0;
	free(c->text);
	c->text = bad_set_text(&c->known);
	t->state.corrupt = c->text;
}

const struct bad_set *
corrupt_known(const struct corrupt *c)
{
	return &c->known;
}
