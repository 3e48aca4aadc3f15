/* The choice of the method by which ranks sum gradients. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "comm/cores.h"
#include "comm/tuning.h"
#include "train/reduce/sums.h"

/*
 * Default bytes, unless steps are expensive.  An exact sum by the devices takes
 * about log2 P calls of the library for each bucket, each about 0.1 ms on the
 * host (estimated).
 */
#define BUCKET		((size_t)4 << 20)
#define BUCKET_CALLS	((size_t)32 << 20)

int
sums_check(const char *allreduce)
{
	int columns, rows;

	return strcmp(allreduce, "auto") == 0 ||
	    algorithm_parse(allreduce, &columns, &rows) != NULL ? 0 : -1;
}

static int
sums_read_table(struct tuning *t, const char *path, const char *text)
{
	struct table *table = table_parse(text_quote(path), text);
	int bad = table == NULL || tuning_parse(t, table) != 0;

	table_free(table);
	return bad ? -1 : 0;
}

/* Choose the algorithm: by name, else by measurements, else by rule. */
static int
sums_choose(struct sums *u, const struct sum_settings *s,
    const struct tuning *t, struct comm *c, const struct summing *what)
{
	int rows;

	if (strcmp(s->allreduce, "auto") != 0) {
		u->any_order.kind = algorithm_parse(s->allreduce,
		    &u->any_order.columns, &rows);
		if (u->any_order.columns > 0 &&
		    u->any_order.columns * rows != c->size)
			return fail("--allreduce=%s: %d ranks (wanted %d)",
			    s->allreduce, c->size, u->any_order.columns * rows);
		return 0;
	}
	u->any_order.kind = tuning_choose(t, what);
	if (u->any_order.kind == NULL && s->table != NULL && c->rank == 0)
		warning("%s: no row for %d ranks on %d hosts in %s: the "
		    "algorithm is chosen by rule", text_quote(s->table),
		    c->size, grid_hosts(u->host, c->size), what->wire->name);
	if (u->any_order.kind == NULL)
		u->any_order.kind = tuning_rule(what);
	return 0;
}

/* Choose the algorithm and the bucket size. */
static int
sums_open_free(struct sums *u, const struct sum_settings *s,
    const struct tuning *t, struct comm *c, const struct fabric_calls *fabric,
    size_t bytes, size_t elem)
{
	struct summing what = { c->size, u->host, &wires[s->wire], elem,
		bytes < u->bucket ? bytes : u->bucket,
		algorithm_can(algorithm_find("native"), c, &wires[s->wire],
		elem) };
	struct allreduce_options *o = &u->any_order;
	char size[32];
	size_t wanted;

	/* Sums by the devices are not in the table; they are the fastest. */
	if (fabric != NULL && strcmp(s->allreduce, "auto") == 0)
		o->kind = algorithm_find("native");
	else if (sums_choose(u, s, t, c, &what) != 0)
		return -1;
	if (fabric == NULL && !algorithm_can(o->kind, c, what.wire, elem))
		return fail("--allreduce=%s sums only fp32, and only between "
		    "ranks of MPI", o->kind->name);
	if (o->columns == 0)
		o->columns = o->kind->columns(u->host, c->size);
	wanted = tuning_bucket(t, &what, o->kind, o->columns);
	if (s->bucket == 0 && wanted > u->bucket)
		u->bucket = wanted < bytes ? wanted : bytes;
	o->wire = what.wire;
	o->host = u->host;
	snprintf(u->text, sizeof(u->text), "%s%s%s on %d x %d ranks in %s, "
	    "buckets of %s", o->kind->name, fabric != NULL ? " by " : "",
	    fabric != NULL ? fabric->name : "", o->columns, c->size /
	    o->columns, o->wire->name, text_bytes(size, (double)u->bucket));
	return 0;
}

int
sums_open(struct sums *u, const struct sum_settings *s, const char *table,
    struct comm *c, const struct fabric_calls *fabric, size_t bytes,
    size_t elem)
{
	struct tuning t = { 0 };
	int exact = s->deterministic == EXACT, bad;

	*u = (struct sums){ .fabric = fabric, .bucket = s->bucket > 0 ?
		(size_t)s->bucket : exact && fabric != NULL ? BUCKET_CALLS :
		BUCKET };
	if (exact) {
		snprintf(u->text, sizeof(u->text), "exact%s%s", fabric != NULL ?
		    " by " : "", fabric != NULL ? fabric->name : "");
		return 0;
	}
	u->host = xcalloc((size_t)c->size, sizeof(*u->host));
	bad = cores_hosts(c, u->host) != 0 || (table != NULL &&
	    sums_read_table(&t, s->table, table) != 0) ||
	    sums_open_free(u, s, &t, c, fabric, bytes, elem) != 0;
	tuning_free(&t);
	return bad ? -1 : 0;
}

const struct allreduce_options *
sums_any_order(const struct sums *u)
{
	return u->any_order.kind != NULL ? &u->any_order : NULL;
}

void
sums_close(struct sums *u)
{
	free(u->host);
	*u = (struct sums){ 0 };
}
