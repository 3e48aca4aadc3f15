/* The options of vt-bench cluster and guidelines. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/text.h"
#include "comm/allreduce.h"
#include "draw/plot.h"

#include "predict.h"

int
predict_ranks(const struct bench_predict_options *o, int *count)
{
	const char *text = o->ranks;
	int n = 0;

	for (;;) {
		char *end;
		long v = strtol(text, &end, 10);

		if (*text < '0' || *text > '9' || (*end != '\0' && *end != ',') || v < 2 ||
		    v > PREDICT_RANKS || n == PREDICT_COUNTS)
			options_wrong("--ranks=%s (wanted up to %d numbers from "
			    "2 to %d, separated by commas)",
			    text_quote(o->ranks), PREDICT_COUNTS, PREDICT_RANKS);
		count[n++] = (int)v;
		if (*end == '\0')
			return n;
		text = end + 1;
	}
}

void
predict_algorithms_check(const struct option_list *algorithms, int grids)
{
	for (size_t i = 0; i < algorithms->n; i++) {
		const char *name = algorithms->item[i];
		int columns, rows;
		const struct algorithm *k = grids ?
		    algorithm_parse(name, &columns, &rows) :
		    algorithm_find(name);

		if (strcmp(name, "exact") != 0 &&
		    (k == NULL || algorithm_is_native(k)))
			options_wrong("--algorithm=%s: its messages are unknown "
			    "(wanted exact, ring, torus or halving)",
			    text_quote(name));
	}
}

void
predict_options_check(const struct bench_predict_options *o,
    const struct option_list *algorithms, int schedule, int guidelines)
{
	if (o->profiles.n == 0 || o->links == NULL)
		options_wrong("no --%s=FILE (vt-bench %s prints it)",
		    o->profiles.n == 0 ? "profile" : "links",
		    o->profiles.n == 0 ? "profile" : "links");
	if (o->profiles.n > 1 && !guidelines)
		options_wrong("%zu times --profile (wanted one)",
		    o->profiles.n);
	if (algorithms->n > 1 && guidelines)
		options_wrong("%zu times --algorithm (wanted one)",
		    algorithms->n);
	if (schedule && o->samples == 0)
		options_wrong("--schedule needs --samples=N");
	if (!schedule && (o->samples > 0 || o->price > 0))
		options_wrong("--samples and --price apply to a --schedule");
	predict_algorithms_check(algorithms, 1);
	if (o->plot != NULL && plot_ready(o->plot) != 0)
		exit(EXIT_USAGE);
}

struct predict_options
predict_options_set(const struct bench_predict_options *o,
    const struct option_list *algorithms, int *count)
{
	static const char *const standard[] = { "exact" };

	return (struct predict_options){ .profile = o->profiles.item,
		.profiles = o->profiles.n,
		.name = algorithms->n > 0 ? algorithms->item : standard,
		.names = algorithms->n > 0 ? algorithms->n : 1,
		.setting = o->settings.item, .settings = o->settings.n,
		.hosts = (int)o->hosts,
		.ranks_per_host = options_given("ranks-per-host") ?
		    (int)o->ranks_per_host : 0,
		.samples = (uint64_t)o->samples, .ranks = count,
		.counts = options_given("ranks") ? predict_ranks(o, count) : 0,
		.base = (int)o->base_ranks, .price = o->price,
		.plot = o->plot };
}
