/* The choice of an all-reduce algorithm, by measurements or by rule. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "comm/tuning.h"

#define SHORT ((size_t)64 << 10)	/* bytes; below, only the number of
					 * steps counts */
#define MANY 64				/* most ranks of a ring or torus */
#define STEP_BYTES ((size_t)256 << 10)

static const struct wire *
tuning_wire_find(const char *name)
{
	for (int i = 0; i < WIRES; i++)
		if (strcmp(wires[i].name, name) == 0)
			return &wires[i];
	return NULL;
}

static int
tuning_parse_row(const struct table *t, size_t i, struct tuned *r)
{
	int64_t ranks, hosts, bytes;
	const char *wire, *kind;

	if (table_int(t, i, "ranks", 1, 1 << 24, &ranks) != 0 ||
	    table_int(t, i, "hosts", 1, ranks, &hosts) != 0 ||
	    table_int(t, i, "bytes", 1, INT64_MAX, &bytes) != 0 ||
	    table_real(t, i, "us", 0, 1e12, &r->us) != 0 ||
	    (wire = table_text(t, i, "exchange")) == NULL ||
	    (kind = table_text(t, i, "algorithm")) == NULL)
		return -1;
	r->ranks = (int)ranks;
	r->hosts = (int)hosts;
	r->bytes = (size_t)bytes;
	if ((r->wire = tuning_wire_find(wire)) == NULL)
		return fail("%s: line %d: exchange %s (wanted fp32, bf16 or "
		    "fp16)", t->path, t->line[i], text_quote(wire));
	if ((r->kind = algorithm_find(kind)) == NULL)
		return fail("%s: line %d: algorithm %s (wanted native, ring, "
		    "torus or halving)", t->path, t->line[i],
		    text_quote(kind));
	return 0;
}

int
tuning_parse(struct tuning *t, const struct table *table)
{
	*t = (struct tuning){ .n = table->rows };
	t->row = xcalloc(table->rows + 1, sizeof(*t->row));
	for (size_t i = 0; i < table->rows; i++)
		if (tuning_parse_row(table, i, &t->row[i]) != 0) {
			tuning_free(t);
			return -1;
		}
	return 0;
}

void
tuning_free(struct tuning *t)
{
	free(t->row);
	*t = (struct tuning){ 0 };
}

char *
tuning_text(const struct tuning *t)
{
	struct buffer b = { 0 };

	buffer_text(&b, "#ranks\thosts\texchange\tbytes\talgorithm\tus\n");
	for (size_t i = 0; i < t->n; i++) {
		const struct tuned *r = &t->row[i];

		buffer_printf(&b, "%d\t%d\t%s\t%zu\t%s\t%.9g\n", r->ranks,
		    r->hosts, r->wire->name, r->bytes, r->kind->name, r->us);
	}
	return b.data;
}

/* Return 1 if ${r} measured ranks, hosts and dtype of ${s}, at any size. */
static int
tuning_fits(const struct tuned *r, const struct summing *s)
{
	return r->ranks == s->ranks && r->wire == s->wire &&
	    r->hosts == grid_hosts(s->host, s->ranks) &&
	    (s->native || strcmp(r->kind->name, "native") != 0);
}

/* Return the distance of sizes, as a ratio: |log(r->bytes / s->bytes)|. */
static double
tuning_distance(const struct tuned *r, const struct summing *s)
{
	return fabs(log((double)r->bytes) - log((double)s->bytes + 1));
}

const struct algorithm *
tuning_choose(const struct tuning *t, const struct summing *s)
{
	const struct tuned *best = NULL;

	for (size_t i = 0; i < t->n; i++) {
		const struct tuned *r = &t->row[i];
		double nearer;

		if (!tuning_fits(r, s))
			continue;
		nearer = best != NULL ? tuning_distance(r, s) -
		    tuning_distance(best, s) : -1;
		if (nearer < 0 || (r->bytes == best->bytes && r->us < best->us))
			best = r;
	}
	return best != NULL ? best->kind : NULL;
}

/*
 * See tuning.h.  A torus needs rows inside hosts; grid_inside is 1 or all ranks
 * if there is no such grid.
 */
const struct algorithm *
tuning_rule(const struct summing *s)
{
	int inside = grid_inside(s->host, s->ranks);

	if (s->bytes <= SHORT || s->ranks > MANY)
		return algorithm_find("halving");
	return algorithm_find(inside > 1 && inside < s->ranks ? "torus" :
	    "ring");
}

size_t
tuning_bucket(const struct tuning *t, const struct summing *s,
    const struct algorithm *kind, int columns)
{
	const struct tuned *least = NULL, *largest = NULL;

	for (size_t i = 0; i < t->n; i++) {
		const struct tuned *r = &t->row[i];

		if (!tuning_fits(r, s) || r->kind != kind)
			continue;
		if (least == NULL || r->bytes < least->bytes)
			least = r;
		if (largest == NULL || r->bytes > largest->bytes)
			largest = r;
	}
	/*
	 * latency * bandwidth, where the time of the smallest size stands for
	 * the latency, and the bandwidth is that between the two sizes.
	 */
	if (least != NULL && largest->us > least->us)
		return (size_t)(least->us * (double)(largest->bytes -
		    least->bytes) / (largest->us - least->us));
	return STEP_BYTES * (size_t)kind->steps(columns, s->ranks / columns);
}
