/* Check and apply the options of vt-bench for sums and predictions. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/mem.h"
#include "base/text.h"
#include "comm/allreduce.h"

#include "bench.h"

void
bench_check_sums(const struct bench_sums *o, int ranks)
{
	if (o->min > o->max)
		options_wrong("--min=%" PRId64 " is more than --max=%" PRId64,
		    o->min, o->max);
	for (size_t i = 0; i < o->algorithms.n; i++)
		if (bench_allreduce_check(o->algorithms.item[i]) != 0)
			options_wrong("--algorithm=%s (wanted exact, native, "
			    "ring, torus, torus:XxY or halving)",
			    text_quote(o->algorithms.item[i]));
	if (o->vectors > 0 && o->vectors < ranks)
		options_wrong("--vectors=%" PRId64 ": fewer than the %d ranks",
		    o->vectors, ranks);
}

/* Parse --ranks. */
static void
bench_parse_ranks(const char *ranks, struct predict_options *o)
{
	char *copy = xstrdup(ranks), *next = copy, *one;
	int64_t v;

	while ((one = strsep(&next, ",")) != NULL) {
		if (o->counts == PREDICT_COUNTS ||
		    text_int(one, 2, PREDICT_RANKS, &v) != 0)
			options_wrong("--ranks=%s (wanted up to %d numbers "
			    "from 2 to %d, separated by commas)",
			    text_quote(ranks), PREDICT_COUNTS, PREDICT_RANKS);
		o->ranks[o->counts++] = (int)v;
	}
	free(copy);
}

/* Check that the messages of algorithm ${name} are known. */
static void
bench_check_algorithm(const char *name)
{
	int columns, rows;
	const struct algorithm *k = algorithm_parse(name, &columns, &rows);

	if (strcmp(name, "exact") != 0 &&
	    (k == NULL || algorithm_is_native(k)))
		options_wrong("--algorithm=%s: its messages are unknown "
		    "(wanted exact, ring, torus or halving)",
		    text_quote(name));
}

/* Check that the options of a prediction are there and have an effect. */
static void
bench_check_predict(const struct bench_inputs *in, int guidelines)
{
	const struct predict_options *o = &in->predict;
	int schedule = in->schedule_path != NULL;
	const char *absent = o->profiles.n == 0 ? "profile" : "links";

	if (o->profiles.n == 0 || o->links == NULL)
		options_wrong("no --%s=FILE (vt-bench %s prints it)", absent,
		    absent);
	if (o->profiles.n > 1 && !guidelines)
		options_wrong("%zu times --profile (wanted one)",
		    o->profiles.n);
	if (in->sums.algorithms.n > 1 && guidelines)
		options_wrong("%zu times --algorithm (wanted one)",
		    in->sums.algorithms.n);
	if (schedule && o->samples == 0)
		options_wrong("--schedule needs --samples=N");
	if (!schedule && (o->samples > 0 || o->price > 0))
		options_wrong("--samples and --price apply to a --schedule");
}

void
bench_set_predict(const struct bench_predict_options *options,
    struct bench_inputs *in, unsigned test)
{
	static const char *const standard[] = { "exact" };
	const struct option_list *algorithms = &in->sums.algorithms;
	struct predict_options *o = &in->predict;

	bench_check_predict(in, test == BENCH_GUIDELINES);
	for (size_t i = 0; i < algorithms->n; i++)
		bench_check_algorithm(algorithms->item[i]);
	if (o->plot != NULL && plot_ready(o->plot) != 0)
		exit(EXIT_USAGE);
	o->name = algorithms->n > 0 ? algorithms->item : standard;
	o->names = algorithms->n > 0 ? algorithms->n : 1;
	if (options->ranks_per_host > 0)
		o->ranks_per_host = options->ranks_per_host;
	if (options->ranks != NULL)
		bench_parse_ranks(options->ranks, o);
}
