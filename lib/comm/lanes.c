/* The building blocks of an all-reduce, in a row or a column of ranks. */
#include "comm/lanes.h"

struct range
range_part(struct range all, const struct lane *l, int i)
{
	size_t n = all.to - all.from, parts = (size_t)l->n;
	size_t each = n / parts, more = n % parts, at = (size_t)i;

	return (struct range){
		all.from + at * each + (at < more ? at : more),
		all.from + (at + 1) * each + (at + 1 < more ? at + 1 : more) };
}

/* Return index ${i} modulo the number of ranks, at least 0. */
static int
lanes_wrap(const struct lane *l, int i)
{
	return (i % l->n + l->n) % l->n;
}

static int
lanes_rank_at(const struct allreduce *a, const struct lane *l, int i)
{
	return a->grid.rank[l->first + i * l->stride];
}

static size_t
lanes_bytes_of(const struct allreduce *a, struct range r)
{
	return wire_bytes(a->o.wire, a->o.elem, r.to - r.from);
}

/*
 * Addresses: elements of the vector, received messages, packed messages to
 * send.
 */
static struct address
lanes_x(const struct allreduce *a, size_t i)
{
	return (struct address){ ALLREDUCE_X, i * a->o.elem };
}

static struct address
lanes_in(size_t at)
{
	return (struct address){ ALLREDUCE_IN, at };
}

static struct address
lanes_out(size_t at)
{
	return (struct address){ ALLREDUCE_OUT, at };
}

static int
lanes_packs(const struct allreduce *a)
{
	return a->o.wire->elem > 0;
}

/* Return elements ${r} as they are sent: in place, or packed at ${out}. */
static struct address
lanes_packed(struct allreduce *a, struct range r, struct address out)
{
	if (!lanes_packs(a))
		return lanes_x(a, r.from);
	collective_local(&a->list, COLLECTIVE_PACK, out, lanes_x(a, r.from),
	    r.to - r.from);
	return out;
}

static void
lanes_unpack(struct allreduce *a, struct range r, struct address from)
{
	if (lanes_packs(a))
		collective_local(&a->list, COLLECTIVE_UNPACK,
		    lanes_x(a, r.from), from, r.to - r.from);
}

/* Round own elements as the other ranks receive them. */
static void
lanes_round_off(struct allreduce *a, struct range r)
{
	lanes_unpack(a, r, lanes_packed(a, r, lanes_out(0)));
}

static void
lanes_add(struct allreduce *a, struct range r, struct address from)
{
	collective_local(&a->list, COLLECTIVE_ADD, lanes_x(a, r.from), from,
	    r.to - r.from);
}

/*
 * Return where to receive elements ${r} that replace ours: in place, or at
 * ${in}, to be unpacked.
 */
static struct address
lanes_place_of(const struct allreduce *a, struct range r, struct address in)
{
	return lanes_packs(a) ? in : lanes_x(a, r.from);
}

static void
lanes_send(struct allreduce *a, const struct lane *l, int to,
    struct address out, struct range give)
{
	collective_send(&a->list, lanes_rank_at(a, l, to), out,
	    lanes_bytes_of(a, give));
}

static void
lanes_receive(struct allreduce *a, const struct lane *l, int from,
    struct address in, struct range take)
{
	collective_receive(&a->list, lanes_rank_at(a, l, from), in,
	    lanes_bytes_of(a, take));
}

/*
 * Send elements ${give} to rank number ${to} of ${l}, and receive elements
 * ${take} from number ${from}.
 */
static void
lanes_swap(struct allreduce *a, const struct lane *l, int to,
    struct address out, struct range give, int from, struct address in,
    struct range take)
{
	lanes_send(a, l, to, out, give);
	lanes_receive(a, l, from, in, take);
	collective_wait(&a->list);
}

/* ---- ring passes ---- */

/*
 * In step s rank i sends its partial sum of shard i - s to rank i + 1 and adds
 * the received one to shard i - s - 1.  After n - 1 steps it has the sum of
 * shard i.
 */
void
ring_scatter(struct allreduce *a, const struct lane *l, struct range all)
{
	int next = lanes_wrap(l, l->me + 1), last = lanes_wrap(l, l->me - 1);

	for (int step = 1; step < l->n; step++) {
		struct range give = range_part(all, l,
		    lanes_wrap(l, l->me - step));
		struct range take = range_part(all, l,
		    lanes_wrap(l, l->me - step - 1));

		lanes_swap(a, l, next, lanes_packed(a, give, lanes_out(0)),
		    give, last, lanes_in(0), take);
		lanes_add(a, take, lanes_in(0));
	}
}

void
ring_gather(struct allreduce *a, const struct lane *l, struct range all)
{
	int next = lanes_wrap(l, l->me + 1), last = lanes_wrap(l, l->me - 1);
	struct range give = range_part(all, l, l->me), take;
	struct address out, in;

	if (l->n == 1)
		return;
	lanes_round_off(a, give);
	/* Each step forwards the previous step's message in its packed form. */
	out = lanes_packed(a, give, lanes_out(0));
	for (int step = 1; step < l->n; step++) {
		take = range_part(all, l, lanes_wrap(l, l->me - step));
		in = lanes_place_of(a, take, out.buffer == ALLREDUCE_OUT ?
		    lanes_in(0) : lanes_out(0));
		lanes_swap(a, l, next, out, give, last, in, take);
		lanes_unpack(a, take, in);
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
direct_scatter(struct allreduce *a, const struct lane *l, struct range all)
{
	struct range mine = range_part(all, l, l->me);
	size_t each = lanes_bytes_of(a, mine), out = 0;

	for (int step = 1; step < l->n; step++) {
		int to = lanes_wrap(l, l->me + step);
		struct range give = range_part(all, l, to);

		lanes_send(a, l, to, lanes_packed(a, give, lanes_out(out)),
		    give);
		lanes_receive(a, l, lanes_wrap(l, l->me - step),
		    lanes_in((size_t)(step - 1) * each), mine);
		out += lanes_bytes_of(a, give);
	}
	collective_wait(&a->list);
	for (int step = 1; step < l->n; step++)
		lanes_add(a, mine, lanes_in((size_t)(step - 1) * each));
}

void
direct_gather(struct allreduce *a, const struct lane *l, struct range all)
{
	struct range mine = range_part(all, l, l->me), take;
	struct address out;
	size_t in = 0;

	if (l->n == 1)
		return;
	lanes_round_off(a, mine);
	out = lanes_packed(a, mine, lanes_out(0));
	for (int step = 1; step < l->n; step++) {
		int from = lanes_wrap(l, l->me - step);

		take = range_part(all, l, from);
		lanes_send(a, l, lanes_wrap(l, l->me + step), out, mine);
		lanes_receive(a, l, from, lanes_place_of(a, take,
		    lanes_in(in)), take);
		in += lanes_bytes_of(a, take);
	}
	collective_wait(&a->list);
	in = 0;
	for (int step = 1; step < l->n; step++) {
		take = range_part(all, l, lanes_wrap(l, l->me - step));
		lanes_unpack(a, take, lanes_in(in));
		in += lanes_bytes_of(a, take);
	}
}

/* ---- halving and doubling ---- */

/* Return the largest power of two that is at most ${n}. */
static int
lanes_power_in(int n)
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
lanes_half_before(struct range r, int me, int mask, int power)
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
lanes_half_of(struct range all, int me, int mask, int power)
{
	return lanes_half_before(all, me, mask / 2, power);
}

/*
 * Add the vectors of the extra ranks, which have no partner, to those of
 * others.
 */
static void
lanes_fold_extra(struct allreduce *a, const struct lane *l, struct range all,
    int power)
{
	static const struct range none = { 0, 0 };
	int me = l->me;

	if (me >= power) {
		lanes_swap(a, l, me - power, lanes_packed(a, all, lanes_out(0)),
		    all, me - power, lanes_in(0), none);
	} else if (me < l->n - power) {
		lanes_swap(a, l, me + power, lanes_in(0), none, me + power,
		    lanes_in(0), all);
		lanes_add(a, all, lanes_in(0));
	}
}

/*
 * Send the result to the extra ranks.  Packing may round it once more, so all
 * ranks round it.
 */
static void
lanes_give_extra(struct allreduce *a, const struct lane *l, struct range all,
    int power)
{
	static const struct range none = { 0, 0 };
	struct address in = lanes_place_of(a, all, lanes_in(0));
	int me = l->me;

	if (me < power)
		lanes_round_off(a, all);
	if (me < l->n - power)
		lanes_swap(a, l, me + power, lanes_packed(a, all, lanes_out(0)),
		    all, me + power, lanes_in(0), none);
	if (me >= power) {
		lanes_swap(a, l, me - power, lanes_in(0), none, me - power, in,
		    all);
		lanes_unpack(a, all, in);
	}
}

/*
 * A reduce-scatter with partners at distance power / 2, ..., 1, each of which
 * keeps half of the range; then an all-gather with the same partners in reverse
 * order.
 */
void
halving_sum(struct allreduce *a, const struct lane *l, struct range all)
{
	int power = lanes_power_in(l->n), me = l->me;

	lanes_fold_extra(a, l, all, power);
	for (int mask = power / 2; mask > 0 && me < power; mask /= 2) {
		struct range keep = lanes_half_of(all, me, mask, power);
		struct range give = lanes_half_of(all, me ^ mask, mask, power);

		lanes_swap(a, l, me ^ mask, lanes_packed(a, give, lanes_out(0)),
		    give, me ^ mask, lanes_in(0), keep);
		lanes_add(a, keep, lanes_in(0));
	}
	for (int mask = 1; mask < power && me < power; mask *= 2) {
		struct range mine = lanes_half_of(all, me, mask, power);
		struct range take = lanes_half_of(all, me ^ mask, mask, power);
		struct address in = lanes_place_of(a, take, lanes_in(0));

		lanes_round_off(a, mine);
		lanes_swap(a, l, me ^ mask, lanes_packed(a, mine, lanes_out(0)),
		    mine, me ^ mask, in, take);
		lanes_unpack(a, take, in);
	}
	if (l->n > power)
		lanes_give_extra(a, l, all, power);
}
