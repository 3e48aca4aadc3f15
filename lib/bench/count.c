/*
 * Count the messages of a training step with many ranks on the lists that the
 * trainer would execute.  No message is sent.
 */
#include "base/exit.h"
#include "bench/cases.h"
#include "graph/graph.h"

/* Print the rows of ${name} with s->ranks ranks. */
static int
count_step(struct bench *b, const char *name, const struct step_lists *s)
{
	double messages = 0, bytes = 0, chain = 0, per_bucket = 0;
	double least = allreduce_traffic((double)s->elements * sizeof(float),
	    s->ranks), buckets;

	buckets = (double)step_lists_times(s, STEP_SUM) + 1;
	for (int p = 0; p < STEP_PARTS; p++) {
		enum step_part part = (enum step_part)p;
		double times = (double)step_lists_times(s, part);
		struct walk w;

		if (times == 0)
			continue;
		if (step_lists_walk(s, part, &walk_chain, NULL, &w) != 0)
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
			    step_part_names[p], times, w.messages, w.bytes,
			    w.end);
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

static int
count_run(struct bench *b, const struct bench_inputs *in)
{
	const struct predict_options *o = &in->predict;
	struct step_lists s = { .wire = &wires[in->sums.comm_dtype],
		.ranks_per_host = (int)o->ranks_per_host };
	int status = 0;

	step_lists_buckets(&s, in->graph->elements, 4 << 20);
	bench_remark(b, "%zu gradients and running statistics in buckets of "
	    "%zu, %d ranks a host", s.elements, s.bucket, s.ranks_per_host);
	for (size_t i = 0; i < o->names && status == 0; i++)
		for (int k = 0; k < o->counts && status == 0; k++) {
			s.kind = algorithm_find(o->name[i]);
			s.ranks = s.microbatches = o->ranks[k];
			status = count_step(b, o->name[i], &s);
		}
	return status;
}

const struct bench_case bench_case_count = { .run = count_run,
	.graph = BENCH_GRAPH };
