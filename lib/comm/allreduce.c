/* The table of all-reduce algorithms, and the code that they share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/number.h"
#include "comm/allreduce.h"
#include "comm/grid_collectives.h"
#include "comm/watch.h"

/* ---- the transport library's own sum ---- */

static int
allreduce_one_row(const int *host, int ranks)
{
	(void)host;
	return ranks;
}

static int
allreduce_one_column(const int *host, int ranks)
{
	(void)host, (void)ranks;
	return 1;
}

/* The library's algorithm is unknown; assume that it takes the fewest steps. */
static int
allreduce_native_steps(int columns, int rows)
{
	return 2 * log2_up(columns * rows);
}

static int
allreduce_native(struct allreduce *a, void *x, size_t from, size_t to)
{
	struct comm *c = a->comm;
	int wait = watch_enter(c->watch, c->what, 1);
	int bad = c->t->allreduce(c, (float *)x + from, to - from);

	watch_leave(c->watch, wait);
	return bad;
}

/* ---- ring passes along rows and columns ---- */

static int
allreduce_torus_columns(const int *host, int ranks)
{
	int inside = grid_inside(host, ranks);

	return inside > 1 && inside < ranks ? inside : grid_square(ranks);
}

/* A reduce-scatter and an all-gather, each of one step less than ranks. */
static int
allreduce_torus_steps(int columns, int rows)
{
	return 2 * (columns - 1) + 2 * (rows - 1);
}

static void
allreduce_torus(struct allreduce *a, size_t n)
{
	struct grid_line row = grid_row(&a->grid),
	    column = grid_column(&a->grid);
	struct range all = { 0, n }, part = range_part(all, &row, row.me);

	grid_ring_scatter(a, &row, all);
	grid_ring_scatter(a, &column, part);
	grid_ring_gather(a, &column, part);
	grid_ring_gather(a, &row, all);
}

/* ---- direct messages along rows, halving and doubling along columns ---- */

static int
allreduce_halving_columns(const int *host, int ranks)
{
	return grid_inside(host, ranks);
}

/*
 * Rows take one step each way.  Columns take log2(rows) steps each way, and one
 * more each way for extra ranks if the number of rows is not a power of two.
 */
static int
allreduce_halving_steps(int columns, int rows)
{
	int whole = log2_up(rows + 1) - 1;	/* rounds that all ranks
							 * take part in */

	return (columns > 1 ? 2 : 0) + 2 * whole + (1 << whole < rows ? 2 : 0);
}

static void
allreduce_halving(struct allreduce *a, size_t n)
{
	struct grid_line row = grid_row(&a->grid),
	    column = grid_column(&a->grid);
	struct range all = { 0, n }, part = range_part(all, &row, row.me);

	grid_direct_scatter(a, &row, all);
	grid_halving_sum(a, &column, part);
	grid_direct_gather(a, &row, all);
}

const struct algorithm algorithms[] = {
	{ "native", allreduce_one_row, allreduce_native_steps, NULL },
	{ "ring", allreduce_one_column, allreduce_torus_steps,
	    allreduce_torus },
	{ "torus", allreduce_torus_columns, allreduce_torus_steps,
	    allreduce_torus },
	{ "halving", allreduce_halving_columns, allreduce_halving_steps,
	    allreduce_halving },
	{ NULL, NULL, NULL, NULL }
};

const struct algorithm *
algorithm_find(const char *name)
{
	for (const struct algorithm *k = algorithms; k->name != NULL; k++)
		if (strcmp(k->name, name) == 0)
			return k;
	return NULL;
}

const struct algorithm *
algorithm_parse(const char *text, int *columns, int *rows)
{
	size_t n = strcspn(text, ":");
	const struct algorithm *k;
	char *name = xstrndup(text, n), end;

	*columns = *rows = 0;
	k = algorithm_find(name);
	free(name);
	if (k != NULL && text[n] == ':' && (strcmp(k->name, "torus") != 0 ||
	    text[n + 1 + strspn(text + n + 1, "0123456789x")] != '\0' ||
	    sscanf(text + n + 1, "%4dx%4d%c", columns, rows, &end) != 2 ||
	    *columns < 1 || *rows < 1))
		return NULL;
	return k;
}

int
algorithm_is_native(const struct algorithm *k)
{
	return k != NULL && k->list == NULL;
}

int
algorithm_of_fabric(const struct algorithm *k)
{
	return k->list == NULL || k->columns == allreduce_torus_columns;
}

int
algorithm_can(const struct algorithm *k, const struct comm *c,
    const struct wire *w, size_t elem)
{
	return k->list != NULL || (w == &wires[WIRE_FP32] &&
	    elem == sizeof(float) && (c->size == 1 || c->t->allreduce != NULL));
}

/*
 * Return the bytes of a buffer for all messages that are in flight at once.
 * They are at most the whole vector, in one message for each rank of a row.
 */
static size_t
allreduce_buffer_bytes(const struct wire *w, size_t elem, size_t largest,
    int ranks)
{
	size_t parts = (size_t)ranks;

	return (largest + parts) * (w->elem > 0 ? w->elem : elem) +
	    parts * w->head;
}

size_t
allreduce_bytes(const struct wire *w, size_t elem, size_t largest, int ranks)
{
	return ranks > 1 ? (w->elem > 0 ? 2 : 1) * allreduce_buffer_bytes(w,
	    elem, largest, ranks) : 0;
}

int
allreduce_open(struct allreduce *a, struct comm *c,
    const struct allreduce_options *o)
{
	int columns = o->columns > 0 ? o->columns : o->kind->columns(o->host,
	    c->size);

	*a = (struct allreduce){ .o = *o, .comm = c };
	a->o.host = NULL;
	if (o->wire->elem > 0 && o->elem != sizeof(float))
		return fail("communication dtype %s needs elements of fp32",
		    o->wire->name);
	if (!algorithm_can(o->kind, c, o->wire, o->elem))
		return fail("%s sums only fp32, and needs MPI", o->kind->name);
	if (c->size % columns != 0)
		return fail("%d ranks do not make a grid of %d columns",
		    c->size, columns);
	grid_open(&a->grid, o->host, c->size, columns, c->rank);
	if (c->size > 1 && o->kind->list != NULL) {
		size_t bytes = allreduce_buffer_bytes(o->wire, o->elem, o->max,
		    c->size);

		a->buffer[ALLREDUCE_IN] = xmalloc(bytes);
		/* Without packing, messages are sent from the vector itself. */
		if (o->wire->elem > 0)
			a->buffer[ALLREDUCE_OUT] = xmalloc(bytes);
	}
	return 0;
}

void
allreduce_close(struct allreduce *a)
{
	grid_close(&a->grid);
	free(a->buffer[ALLREDUCE_IN]);
	free(a->buffer[ALLREDUCE_OUT]);
	collective_free(&a->list);
	*a = (struct allreduce){ .comm = NULL };
}

/*
 * Make the list for ${n} elements.  Most sums have the size of the previous
 * one, so keep it.
 */
static void
allreduce_list(struct allreduce *a, size_t n)
{
	if (a->list.n > 0 && a->listed == n)
		return;
	a->list.n = 0;
	a->listed = n;
	if (a->comm->size > 1 && a->o.kind->list != NULL)
		a->o.kind->list(a, n);
}

int
allreduce_run(struct allreduce *a, void *x, size_t from, size_t to)
{
	const struct collective_memory m = { a->buffer, a->o.elem, a->o.wire,
		a->o.add, a->o.arg, NULL };

	if (a->comm->size > 1 && a->o.kind->list == NULL)
		return allreduce_native(a, x, from, to);
	allreduce_list(a, to - from);
	a->buffer[ALLREDUCE_X] = (char *)x + from * a->o.elem;
	return collective_run(a->comm, &a->list, &m);
}

size_t
allreduce_sends(struct allreduce *a, size_t n)
{
	allreduce_list(a, n);
	return collective_sent(&a->list);
}
