/* The building blocks of an all-reduce, in a row or a column of ranks. */
#include "comm/grid_collectives.h"

struct range
range_part(struct range all, const struct grid_line *l, int i)
{
	size_t n = all.to - all.from, parts = (size_t)l->n;
	size_t each = n / parts, more = n % parts, at = (size_t)i;

	return (struct range){
		all.from + at * each + (at < more ? at : more),
		all.from + (at + 1) * each + (at + 1 < more ? at + 1 : more) };
}

/* Return index ${i} modulo the number of ranks, at least 0. */
static int
grid_wrap(const struct grid_line *l, int i)
{
	return (i % l->n + l->n) % l->n;
}

static int
grid_rank_at(const struct allreduce *a, const struct grid_line *l, int i)
{
	return a->grid.rank[l->first + i * l->stride];
}

static size_t
grid_bytes_of(const struct allreduce *a, struct range r)
{
	return wire_bytes(a->o.wire, a->o.elem, r.to - r.from);
}

/*
 * Addresses: elements of the vector, received messages, packed messages to
 * send.
 */
static struct address
grid_x(const struct allreduce *a, size_t i)
{
	return (struct address){ ALLREDUCE_X, i * a->o.elem };
}

static struct address
grid_in(size_t at)
{
	return (struct address){ ALLREDUCE_IN, at };
}

static struct address
grid_out(size_t at)
{
	return (struct address){ ALLREDUCE_OUT, at };
}

static int
grid_packs(const struct allreduce *a)
{
	return a->o.wire->elem > 0;
}

/* Return elements ${r} as they are sent: in place, or packed at ${out}. */
static struct address
grid_packed(struct allreduce *a, struct range r, struct address out)
{
	if (!grid_packs(a))
		return grid_x(a, r.from);
	collective_local(&a->list, COLLECTIVE_PACK, out, grid_x(a, r.from),
	    r.to - r.from);
	return out;
}

static void
grid_unpack(struct allreduce *a, struct range r, struct address from)
{
	if (grid_packs(a))
		collective_local(&a->list, COLLECTIVE_UNPACK,
		    grid_x(a, r.from), from, r.to - r.from);
}

/* Round own elements as the other ranks receive them. */
static void
grid_round_off(struct allreduce *a, struct range r)
{
	grid_unpack(a, r, grid_packed(a, r, grid_out(0)));
}

static void
grid_add(struct allreduce *a, struct range r, struct address from)
{
	collective_local(&a->list, COLLECTIVE_ADD, grid_x(a, r.from), from,
	    r.to - r.from);
}

/*
 * Return where to receive elements ${r} that replace ours: in place, or at
 * ${in}, to be unpacked.
 */
static struct address
grid_place_of(const struct allreduce *a, struct range r, struct address in)
{
	return grid_packs(a) ? in : grid_x(a, r.from);
}

static void
grid_send(struct allreduce *a, const struct grid_line *l, int to,
    struct address out, struct range give)
{
	collective_send(&a->list, grid_rank_at(a, l, to), out,
	    grid_bytes_of(a, give));
}

static void
grid_receive(struct allreduce *a, const struct grid_line *l, int from,
    struct address in, struct range take)
{
	collective_receive(&a->list, grid_rank_at(a, l, from), in,
	    grid_bytes_of(a, take));
}

/* ---- ring passes ---- */

/*
 * In step s rank i sends its partial sum of shard i - s to rank i + 1 and adds
 * the received one to shard i - s - 1.  After n - 1 steps it has the sum of
 * shard i.
 */
void
grid_ring_scatter(struct allreduce *a, const struct grid_line *l,
    struct range all)
{
	int next = grid_wrap(l, l->me + 1), last = grid_wrap(l, l->me - 1);

	for (int step = 1; step < l->n; step++) {
		struct range give = range_part(all, l,
		    grid_wrap(l, l->me - step));
		struct range take = range_part(all, l,
		    grid_wrap(l, l->me - step - 1));

		grid_send(a, l, next, grid_packed(a, give, grid_out(0)), give);
		grid_receive(a, l, last, grid_in(0), take);
		collective_wait(&a->list);
		grid_add(a, take, grid_in(0));
	}
}

void
grid_ring_gather(struct allreduce *a, const struct grid_line *l,
    struct range all)
{
	int next = grid_wrap(l, l->me + 1), last = grid_wrap(l, l->me - 1);
	struct range give = range_part(all, l, l->me), take;
	struct address out, in;

	if (l->n == 1)
		return;
	grid_round_off(a, give);
	/* Each step forwards the previous step's message in its packed form. */
	out = grid_packed(a, give, grid_out(0));
	for (int step = 1; step < l->n; step++) {
		take = range_part(all, l, grid_wrap(l, l->me - step));
		in = grid_place_of(a, take, out.buffer == ALLREDUCE_OUT ?
		    grid_in(0) : grid_out(0));
		grid_send(a, l, next, out, give);
		grid_receive(a, l, last, in, take);
		collective_wait(&a->list);
		grid_unpack(a, take, in);
		out = in;
		give = take;
	}
}

/* ---- direct messages ---- */

/*
 * Messages to different ranks are packed at different offsets of the buffers,
 * because all are in flight at once.
 */
void
grid_direct_scatter(struct allreduce *a, const struct grid_line *l,
    struct range all)
{
	struct range mine = range_part(all, l, l->me);
	size_t each = grid_bytes_of(a, mine), out = 0;

	for (int step = 1; step < l->n; step++) {
		int to = grid_wrap(l, l->me + step);
		struct range give = range_part(all, l, to);

		grid_send(a, l, to, grid_packed(a, give, grid_out(out)),
		    give);
		grid_receive(a, l, grid_wrap(l, l->me - step),
		    grid_in((size_t)(step - 1) * each), mine);
		out += grid_bytes_of(a, give);
	}
	collective_wait(&a->list);
	for (int step = 1; step < l->n; step++)
		grid_add(a, mine, grid_in((size_t)(step - 1) * each));
}

void
grid_direct_gather(struct allreduce *a, const struct grid_line *l,
    struct range all)
{
	struct range mine = range_part(all, l, l->me), take;
	struct address out;
	size_t in = 0;

	if (l->n == 1)
		return;
	grid_round_off(a, mine);
	out = grid_packed(a, mine, grid_out(0));
	for (int step = 1; step < l->n; step++) {
		int from = grid_wrap(l, l->me - step);

		take = range_part(all, l, from);
		grid_send(a, l, grid_wrap(l, l->me + step), out, mine);
		grid_receive(a, l, from, grid_place_of(a, take,
		    grid_in(in)), take);
		in += grid_bytes_of(a, take);
	}
	collective_wait(&a->list);
	in = 0;
	for (int step = 1; step < l->n; step++) {
		take = range_part(all, l, grid_wrap(l, l->me - step));
		grid_unpack(a, take, grid_in(in));
		in += grid_bytes_of(a, take);
	}
}

/* ---- halving and doubling ---- */

/* Return the largest power of two that is at most ${n}. */
static int
grid_power_in(int n)
{
	int p = 1;

	while (2 * p <= n)
		p *= 2;
	return p;
}

/*
 * Return the range that rank ${me} has before the step with partner ${me} ^
 * ${mask}.  ${power} ranks take part; each bit of ${me} above ${mask} has
 * chosen a half.
 */
static struct range
grid_half_before(struct range r, int me, int mask, int power)
{
	for (int m = power / 2; m > mask; m /= 2) {
		size_t middle = r.from + (r.to - r.from) / 2;

		if (me & m)
			r.from = middle;
		else
			r.to = middle;
	}
	return r;
}

/*
 * Return the half that ${me} keeps in that step; its partner keeps the other.
 */
static struct range
grid_half_of(struct range all, int me, int mask, int power)
{
	return grid_half_before(all, me, mask / 2, power);
}

/*
 * Add the vectors of the extra ranks, which have no partner, to those of
 * others.
 */
static void
grid_fold_extra(struct allreduce *a, const struct grid_line *l,
    struct range all, int power)
{
	static const struct range none = { 0, 0 };
	int me = l->me;

	if (me >= power) {
		grid_send(a, l, me - power, grid_packed(a, all, grid_out(0)),
		    all);
		grid_receive(a, l, me - power, grid_in(0), none);
		collective_wait(&a->list);
	} else if (me < l->n - power) {
		grid_send(a, l, me + power, grid_in(0), none);
		grid_receive(a, l, me + power, grid_in(0), all);
		collective_wait(&a->list);
		grid_add(a, all, grid_in(0));
	}
}

/*
 * Send the result to the extra ranks.  Packing may round it once more, so all
 * ranks round it.
 */
static void
grid_give_extra(struct allreduce *a, const struct grid_line *l,
    struct range all, int power)
{
	static const struct range none = { 0, 0 };
	struct address in = grid_place_of(a, all, grid_in(0));
	int me = l->me;

	if (me < power)
		grid_round_off(a, all);
	if (me < l->n - power) {
		grid_send(a, l, me + power, grid_packed(a, all, grid_out(0)),
		    all);
		grid_receive(a, l, me + power, grid_in(0), none);
		collective_wait(&a->list);
	}
	if (me >= power) {
		grid_send(a, l, me - power, grid_in(0), none);
		grid_receive(a, l, me - power, in, all);
		collective_wait(&a->list);
		grid_unpack(a, all, in);
	}
}

/*
 * A reduce-scatter with partners at distance power / 2, ..., 1, each of which
 * keeps half of the range; then an all-gather with the same partners in reverse
 * order.
 */
void
grid_halving_sum(struct allreduce *a, const struct grid_line *l,
    struct range all)
{
	int power = grid_power_in(l->n), me = l->me;

	grid_fold_extra(a, l, all, power);
	for (int mask = power / 2; mask > 0 && me < power; mask /= 2) {
		struct range keep = grid_half_of(all, me, mask, power);
		struct range give = grid_half_of(all, me ^ mask, mask, power);

		grid_send(a, l, me ^ mask, grid_packed(a, give, grid_out(0)),
		    give);
		grid_receive(a, l, me ^ mask, grid_in(0), keep);
		collective_wait(&a->list);
		grid_add(a, keep, grid_in(0));
	}
	for (int mask = 1; mask < power && me < power; mask *= 2) {
		struct range mine = grid_half_of(all, me, mask, power);
		struct range take = grid_half_of(all, me ^ mask, mask, power);
		struct address in = grid_place_of(a, take, grid_in(0));

		grid_round_off(a, mine);
		grid_send(a, l, me ^ mask, grid_packed(a, mine, grid_out(0)),
		    mine);
		grid_receive(a, l, me ^ mask, in, take);
		collective_wait(&a->list);
		grid_unpack(a, take, in);
	}
	if (l->n > power)
		grid_give_extra(a, l, all, power);
}
