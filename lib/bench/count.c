/*
 * Count the messages of a training step with many ranks on the lists that the
 * trainer would execute.  No message is sent.
 */
#include <stdlib.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "bench/allreduce.h"
#include "bench/cases.h"
#include "bench/step_lists.h"
#include "comm/walk.h"
#include "train/reduce/bucket.h"

/* Walk one ${part} of a step. */
static int
count_part(const struct step_lists *s, enum step_part part, struct walk *w)
{
	struct collective *list = xcalloc((size_t)s->ranks, sizeof(*list));
	int bad = step_lists_make(s, part, list);

	bad = bad || walk_lists(list, s->ranks, &walk_chain, NULL, w) != 0;
	for (int r = 0; r < s->ranks; r++)
		collective_free(&list[r]);
	free(list);
	return bad;
}

/* Print the rows of ${name} with s->ranks ranks. */
static int
count_step(struct bench *b, const char *name, const struct step_lists *s)
{
	double messages = 0, bytes = 0, chain = 0, per_bucket = 0;
	double least = allreduce_traffic((double)s->elements * sizeof(float),
	    s->ranks), buckets;

	buckets = (double)step_lists_times(s, STEP_SUM) + 1;
	for (int p = 0; p < STEP_PARTS; p++) {
		double times = (double)step_lists_times(s, (enum step_part)p);
		struct walk w;

		if (times == 0)
			continue;
		if (count_part(s, (enum step_part)p, &w) != 0)
			return EXIT_USAGE;
		messages += times * (double)w.messages;
		bytes += times * (double)w.bytes;
		chain += times * w.end;
		if (p == STEP_LAST_SUM)
			per_bucket += (double)w.messages;
		if (p == STEP_WEIGHTS)
			per_bucket += (double)w.messages / buckets;
		if (b->verbose)
			bench_remark(b, "%s, %d ranks, %s: %g times %zu "
			    "messages, %zu bytes, chain %g", name, s->ranks,
			    step_lists_name((enum step_part)p), times,
			    w.messages, w.bytes, w.end);
	}
	bench_value(b, per_bucket, "messages", "largest of a rank",
	    "count/%s/%d/bucket", name, s->ranks);
	bench_value(b, messages, "messages", NULL, "count/%s/%d/step", name,
	    s->ranks);
	bench_value(b, bytes / least, "ratio", "to reduce-scatter and "
	    "all-gather", "count/%s/%d/bytes", name, s->ranks);
	bench_value(b, chain, "messages", "one after another",
	    "count/%s/%d/chain", name, s->ranks);
	return 0;
}

int
bench_count(struct bench *b, const struct count_options *o)
{
	static const char *const all[] = { "exact", "ring", "torus",
		"halving" };
	const char *const *name = o->names > 0 ? o->name : all;
	size_t names = o->names > 0 ? o->names : sizeof(all) / sizeof(all[0]);
	struct step_lists s = { .wire = o->wire,
		.elements = o->graph->elements,
		.ranks_per_host = o->ranks_per_host };
	struct comm *self = comm_self();
	struct segments share;
	int status = 0;

	/* Buckets as the trainer makes them. */
	segments_open(&share, self, s.elements, bucket_elements(4 << 20,
	    sizeof(float)));
	s.bucket = share.bucket;
	segments_close(&share);
	comm_free(self);
	bench_remark(b, "%zu gradients and running statistics in buckets of "
	    "%zu, %d ranks a host", s.elements, s.bucket, s.ranks_per_host);
	for (size_t i = 0; i < names && status == 0; i++)
		for (int k = 0; k < o->counts && status == 0; k++) {
			s.kind = algorithm_find(name[i]);
			s.ranks = s.microbatches = o->ranks[k];
			status = count_step(b, name[i], &s);
		}
	return status;
}
