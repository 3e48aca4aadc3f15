/*
 * Compute the memory of a run before its first step, and refuse a run that does
 * not fit.  Large buffers are planned exactly; MEMORY_BASE is measured.
 */
#include <stdint.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/ram.h"
#include "base/text.h"
#include "train/learn/grown_batch.h"
#include "train/learn/learners.h"
#include "train/loop/memory.h"
#include "train/loop/work.h"

static const char *const names[MEMORY_ITEMS] = {
	"program, libraries", "parameters", NULL, "gradients",
	"activations", "loader", "loader, validation", "scores, validation",
	"checkpoint", "learners", "exchange"
};

/*
 * Memory that is touched only after memory_measure: code that first runs in a
 * step, stacks, fragments of the allocator.  Measured: 0.2 to 5 MiB, for
 * networks of 0.4 to 43 MiB on ref and cpu, with 1 and 2 ranks.
 */
#define LATER ((size_t)3 << 20)

#define LISTED 64	/* ranks whose memory is printed one by one */

int
memory_buffers(const struct trainer *t, int rank)
{
	const struct planned_cells *c = &t->work->cells;
	int largest = 0;

	for (int i = 0; i < c->n; i++) {
		int n = work_buffers(t, c->row[i].parts.n, rank);

		largest = n > largest ? n : largest;
	}
	return largest;
}

/* Items in the memory of a discrete device; the others are in host memory. */
static const char on_device[MEMORY_ITEMS] = {
	[MEMORY_PARAMETERS] = 1, [MEMORY_OPTIMIZER] = 1, [MEMORY_GRADIENTS] = 1,
	[MEMORY_ACTIVATIONS] = 1, [MEMORY_LEARNERS] = 1
};

/*
 * Return the bytes of host staging (train/reduce/host_staging.h): two buckets
 * of each subtree of a rank, and two of weights.
 */
static size_t
memory_staged(const struct trainer *t, int leaves, int rank)
{
	const struct device *d = t->net->device;
	int first, count = split(leaves, rank, t->comm->size, &first);
	struct tree tree;

	tree_of(leaves, first, count, &tree);
	if (t->sums.fabric != NULL)	/* the devices send gradients */
		return allgather_bytes(&t->share, d);
	return allgather_bytes(&t->share, d) + 2 * host_staging_bytes(d,
	    sums_any_order(&t->sums) != NULL ? 1 : tree.n, t->share.bucket);
}

/*
 * Return the bytes of exact sums in the cell with ${leaves}: in device memory
 * if ${device} is 1 and the devices sum, else in host memory.
 */
static size_t
memory_exact_bytes(const struct trainer *t, int leaves, int rank, int device)
{
	size_t staged = device ? 0 : memory_staged(t, leaves, rank);

	return staged + (device != (t->sums.fabric != NULL) ? 0 :
	    exact_buffer_bytes(leaves, rank, t->comm->size, t->share.bucket,
	    t->net->device->elem));
}

/* Return the bytes of the most expensive cell, for MEMORY_COMM, or with
 * ${device} 1 for MEMORY_GRADIENTS. */
static size_t
memory_exchange(const struct trainer *t, int rank, int device)
{
	const struct planned_cells *p = &t->work->cells;
	size_t largest = 0;

	if (sums_any_order(&t->sums) != NULL && device)
		return 0;
	if (sums_any_order(&t->sums) != NULL)
		return allreduce_bytes(t->sums.any_order.wire,
		    t->net->device->elem, t->share.bucket,
		    t->comm->size) + (t->comm->size > 1 ? memory_staged(t,
		    t->comm->size, rank) : 0);
	for (int i = 0; i < p->n && t->comm->size > 1; i++) {
		const struct cell *c = p->row[i].cell;
		int leaves = t->o.learners.n > 0 ? (int)t->o.learners.n :
		    c->batch / c->group;
		size_t n = memory_exact_bytes(t, leaves, rank, device);

		largest = n > largest ? n : largest;
	}
	return largest;
}

/*
 * Return the bytes of the library that sends messages between devices.  In each
 * round an exact reduce-scatter has one new peer, and the all-gather two.
 */
static size_t
memory_messages(const struct trainer *t)
{
	int peers = sync_bn_peers(&t->work->spread);

	if (t->sums.fabric == NULL)
		return 0;
	if (sums_any_order(&t->sums) == NULL)
		peers += collective_peers(t->comm->size, 3);
	return (size_t)peers * t->sums.fabric->peer_bytes;
}

static size_t
memory_slots_bytes(const struct trainer *t, int rank)
{
	size_t sum = 0;

	for (int i = 0; i < t->optim.slots.n; i++)
		sum += slot_bytes(&t->optim.slots, i, rank);
	return sum;
}

/* Return the bytes of weights and optimizer state of one learner. */
static size_t
memory_learner_bytes(const struct trainer *t)
{
	const struct slots *s = &t->optim.slots;
	size_t sum = t->net->graph->elements * t->net->device->elem;

	for (int i = 0; i < s->n; i++)
		sum += slot_bytes(s, i, -1) / (size_t)s->slot[i].copies;
	return sum;
}

struct memory
memory_plan(const struct trainer *t, int rank)
{
	const struct net *n = t->net;
	size_t flat = n->graph->elements * n->device->elem;
	struct memory m = { .item = { [MEMORY_BASE] = t->work->base,
		[MEMORY_PARAMETERS] = flat,
		[MEMORY_OPTIMIZER] = memory_slots_bytes(t, rank),
		[MEMORY_GRADIENTS] = (size_t)memory_buffers(t, rank) * flat +
			grown_batch_bytes(t) + memory_exchange(t, rank, 1) +
			memory_messages(t) } };
	const struct planned_cells *c = &t->work->cells;

	for (size_t i = 0; i < n->plans; i++)
		if (n->plan[i]->arena > m.item[MEMORY_ACTIVATIONS])
			m.item[MEMORY_ACTIVATIONS] = n->plan[i]->arena;
	m.item[MEMORY_ACTIVATIONS] += net_prefetch_bytes(n);
	m.item[MEMORY_LOADER] = loader_bytes(t->train, t->schedule,
	    t->state.step, &t->loading);
	/* Statistics are measured before a validation, not during it, so their
	 * loaders never exist at the same time. */
	for (int i = 0; i < c->all; i++)
		if (c->row[i].loader > m.item[MEMORY_VALIDATION])
			m.item[MEMORY_VALIDATION] = c->row[i].loader;
	if (t->val != NULL)
		m.item[MEMORY_SCORES] = dataset_samples(t->val) *
		    (size_t)n->graph->head[0].classes * sizeof(double);
	if (rank == 0)
		m.item[MEMORY_SNAPSHOT] = flat + memory_slots_bytes(t, -1);
	m.item[MEMORY_LEARNERS] = learners_bytes(t, rank,
	    memory_learner_bytes(t));
	m.item[MEMORY_COMM] = memory_exchange(t, rank, 0);
	return m;
}

struct memory
memory_cell(const struct trainer *t, int rank, const struct planned_cell *c)
{
	struct memory m = memory_plan(t, rank);
	const struct net *n = t->net;
	int microbatches = c->parts.n;

	m.item[MEMORY_GRADIENTS] = (size_t)work_buffers(t, microbatches, rank) *
	    n->graph->elements * n->device->elem + memory_messages(t);
	m.item[MEMORY_ACTIVATIONS] = c->plan->arena + net_prefetch_bytes(n);
	if (t->comm->size == 1 || sums_any_order(&t->sums) != NULL)
		return m;
	m.item[MEMORY_COMM] = memory_exact_bytes(t, microbatches, rank, 0);
	m.item[MEMORY_GRADIENTS] += memory_exact_bytes(t, microbatches, rank,
	    1);
	return m;
}

size_t
memory_device(const struct trainer *t, const struct memory *m)
{
	size_t sum = 0;

	for (int i = 0; i < MEMORY_ITEMS; i++)
		if (on_device[i] && t->net->device->backend->discrete)
			sum += m->item[i];
	return sum;
}

size_t
memory_host(const struct trainer *t, const struct memory *m)
{
	size_t sum = 0;

	for (int i = 0; i < MEMORY_ITEMS; i++)
		sum += m->item[i];
	return sum - memory_device(t, m);
}

size_t
memory_limited(const struct trainer *t, const struct memory *m)
{
	size_t device = memory_device(t, m);

	return device > 0 ? device : memory_host(t, m);
}

static void
memory_print_bytes(FILE *f, const char *what, size_t bytes)
{
	char text[32];

	fprintf(f, "# %-20s %s\n", what, text_bytes(text, (double)bytes));
}

/* Return the largest share of optimizer state ${i} that a rank owns. */
static size_t
memory_slot_largest(const struct trainer *t, int i)
{
	size_t largest = 0;

	for (int r = 0; r < t->comm->size; r++) {
		size_t n = slot_bytes(&t->optim.slots, i, r);

		largest = n > largest ? n : largest;
	}
	return largest;
}

/*
 * Print the share of rank 0 of optimizer state ${i}.  A bucket is divided into
 * blocks of EXACT_BLOCK elements.  If it has fewer blocks than ranks, some
 * ranks own nothing of it, and rank 0 is one of them (exact_segment_begin).
 */
static void
memory_print_slot(const struct trainer *t, const char *what, int i, FILE *f)
{
	size_t bytes = slot_bytes(&t->optim.slots, i, 0);
	char text[32];

	if (bytes > 0)
		memory_print_bytes(f, what, bytes);
	else
		fprintf(f, "# %-20s 0 B, at most %s on other ranks\n", what,
		    text_bytes(text, (double)memory_slot_largest(t, i)));
}

/* Print a line for each kind of optimizer state that has the shape of the
 * parameters, as "momentum" for "optim/momentum". */
static void
memory_print_slots(const struct trainer *t, FILE *f)
{
	for (int i = 0; i < t->optim.slots.n; i++) {
		const struct slot_kind *k = t->optim.slots.slot[i].kind;
		const char *slash = strrchr(k->name, '/');

		if (slot_shaped(k))
			memory_print_slot(t, slash != NULL ? slash + 1 :
			    k->name, i, f);
	}
}

/* Print the smallest and the largest sum of ranks 1 to ${last}. */
static void
memory_print_range(const struct trainer *t, int last, FILE *f)
{
	size_t least = SIZE_MAX, largest = 0;
	char what[64], a[32], b[32];

	for (int r = 1; r <= last; r++) {
		struct memory m = memory_plan(t, r);
		size_t sum = memory_host(t, &m);

		least = sum < least ? sum : least;
		largest = sum > largest ? sum : largest;
	}
	snprintf(what, sizeof(what), "of ranks 1 to %d, each", last);
	text_bytes(a, (double)least);
	text_bytes(b, (double)largest);
	if (strcmp(a, b) == 0)
		fprintf(f, "# %-20s %s\n", what, a);
	else
		fprintf(f, "# %-20s %s to %s\n", what, a, b);
}

void
memory_print(const struct trainer *t, FILE *f)
{
	struct memory m = memory_plan(t, 0);
	int size = t->comm->size, listed = size > LISTED ? 1 : size;

	for (int i = 0; i < MEMORY_ITEMS; i++)
		if (i == MEMORY_OPTIMIZER)
			memory_print_slots(t, f);
		else if (m.item[i] > 0)
			memory_print_bytes(f, names[i], m.item[i]);
	memory_print_bytes(f, "memory of rank 0", memory_host(t, &m));
	if (memory_device(t, &m) > 0)
		memory_print_bytes(f, "of its device", memory_device(t, &m));
	/* Print consecutive ranks with the same sum in one line.  Ranks differ
	 * by about one gradient buffer and by the optimizer state they own. */
	if (size > listed)
		memory_print_range(t, size - 1, f);
	for (int r = 1; r < listed; r++) {
		struct memory other = memory_plan(t, r);
		size_t sum = memory_host(t, &other);
		char what[64];
		int last = r;

		while (last + 1 < size) {
			other = memory_plan(t, last + 1);
			if (memory_host(t, &other) != sum)
				break;
			last++;
		}
		if (last > r)
			snprintf(what, sizeof(what), "of ranks %d to %d, each",
			    r, last);
		else
			snprintf(what, sizeof(what), "of rank %d", r);
		memory_print_bytes(f, what, sum);
		r = last;
	}
	if (ram_available() != SIZE_MAX)
		memory_print_bytes(f, "available now", ram_available());
}

/* Return the bytes of parameters and optimizer state that are already resident
 * in host memory. */
static size_t
memory_resident(const struct trainer *t)
{
	const struct net *n = t->net;
	size_t flat = n->graph->elements * n->device->elem, sum;

	if (n->device->backend->discrete)
		return 0;
	sum = ram_resident_of(n->w, flat);
	for (int i = 0; i < t->optim.slots.n; i++) {
		const struct slot *slot = &t->optim.slots.slot[i];

		sum += ram_resident_of(slot->data, slot->n * slot->size);
	}
	return sum;
}

size_t
memory_measure(const struct trainer *t)
{
	size_t all = ram_resident(), mine = memory_resident(t);

	return (all > mine ? all - mine : 0) + LATER;
}

/* Check that the device has memory for the buffers still to come.  Parameters
 * and optimizer state are allocated already.  Return 0, or an exit status
 * after a message. */
static int
memory_device_fits(const struct trainer *t, const struct memory *m)
{
	size_t available = device_available(t->net->device);
	size_t more = memory_device(t, m);
	char a[32], b[32];

	if (more == 0 || available == SIZE_MAX)
		return 0;
	more -= m->item[MEMORY_PARAMETERS] + m->item[MEMORY_OPTIMIZER];
	if (more <= available)
		return 0;
	fail("the %s device of rank %d has %s of memory available, and %s are "
	    "needed: choose a smaller --bn-size (vt-schedule), fewer frames or "
	    "a smaller crop", t->net->device->backend->name, t->comm->rank,
	    text_bytes(a, (double)available), text_bytes(b, (double)more));
	return EXIT_FAILED;
}

/* The message of each rank in memory_fits: bytes still to be allocated in host
 * memory, and bytes available on its host. */
struct memory_need { char host[64]; size_t bytes, available; };

int
memory_fits(const struct trainer *t)
{
	struct comm *c = t->comm;
	struct memory m = memory_plan(t, c->rank);
	struct memory_need mine = { .available = ram_available() };
	struct memory_need *all = xcalloc((size_t)c->size, sizeof(*all));
	size_t sum = 0;
	int status = memory_device_fits(t, &m), ranks = 0, first = c->rank;
	char a[32], b[32];

	gethostname(mine.host, sizeof(mine.host) - 1);
	/* ram_available() already excludes resident memory: count only what is
	 * still to be allocated. */
	mine.bytes = memory_host(t, &m) - m.item[MEMORY_BASE] -
	    memory_resident(t);
	if (comm_allgather(c, &mine, sizeof(mine), all) != 0)
		status = EXIT_RANKS;
	for (int r = c->size - 1; r >= 0 && status != EXIT_RANKS; r--)
		if (strcmp(all[r].host, mine.host) == 0) {
			sum += all[r].bytes;
			ranks++;
			first = r;
		}
	if (status == 0 && sum > mine.available) {
		status = EXIT_FAILED;
		if (first == c->rank)
			fail("%s has %s of memory available, and %d rank%s "
			    "%s: choose a smaller --bn-size (vt-schedule), "
			    "fewer frames, a smaller crop, or --loader-memory",
			    mine.host, text_bytes(a, (double)mine.available),
			    ranks, ranks > 1 ? "s there need" : " there needs",
			    text_bytes(b, (double)sum));
	}
	free(all);
	return comm_agree(c, status);
}
