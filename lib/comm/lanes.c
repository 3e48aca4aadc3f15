/* The parts of an all-reduce, in a row or a column of ranks. */
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

/* Number ${i} of a lane, from its end on from its beginning again. */
static int
around(const struct lane *l, int i)
{
	return (i % l->n + l->n) % l->n;
}

static int
rank_at(const struct allreduce *a, const struct lane *l, int i)
{
	return a->grid.rank[l->first + i * l->stride];
}

static size_t
bytes_of(const struct allreduce *a, struct range r)
{
	return wire_bytes(a->o.wire, a->o.elem, r.to - r.from);
}

static char *
element(const struct allreduce *a, void *x, size_t i)
{
	return (char *)x + i * a->o.elem;
}

/* Elements ${r} as they are sent: where they lie, or packed to ${room}. */
static void *
packed(const struct allreduce *a, void *x, struct range r, void *room)
{
	void *from = element(a, x, r.from);

	if (a->o.wire->elem == 0)
		return from;
	if (r.to > r.from)
		a->o.wire->pack(room, from, r.to - r.from);
	return room;
}

static void
unpack(const struct allreduce *a, void *x, struct range r, const void *from)
{
	if (r.to > r.from)
		a->o.wire->unpack((float *)x + r.from, from, r.to - r.from);
}

/* Our own elements, as others will have them. */
static void
round_off(const struct allreduce *a, void *x, struct range r)
{
	if (a->o.wire->elem > 0)
		unpack(a, x, r, packed(a, x, r, a->out));
}

static void
add(const struct allreduce *a, void *x, struct range r, const void *from)
{
	if (r.to == r.from)
		return;
	if (a->o.wire->elem == 0)
		a->o.add(a->o.arg, element(a, x, r.from), from, r.to - r.from);
	else
		a->o.wire->add((float *)x + r.from, from, r.to - r.from);
}

/* Where elements ${r} are received that replace ours: in place, or in ${room},
 * to be unpacked. */
static void *
place_of(const struct allreduce *a, void *x, struct range r, void *room)
{
	return a->o.wire->elem == 0 ? element(a, x, r.from) : room;
}

/* Elements ${give} of ${x} to number ${to} of the lane, and what number ${from}
 * sends for ${take} into ${in}. */
static int
swap(struct allreduce *a, const struct lane *l, int to, void *out,
    struct range give, int from, void *in, struct range take)
{
	struct piece send = { rank_at(a, l, to), out, bytes_of(a, give) };
	struct piece receive = { rank_at(a, l, from), in, bytes_of(a, take) };

	return comm_exchange(a->comm, &send, 1, &receive, 1);
}

/* ---- around a ring ---- */

int
ring_scatter(struct allreduce *a, const struct lane *l, void *x,
    struct range all)
{
	int next = around(l, l->me + 1), last = around(l, l->me - 1);

	for (int step = 1; step < l->n; step++) {
		struct range give = range_part(all, l, around(l, l->me - step));
		struct range take = range_part(all, l, around(l, l->me - step -
		    1));

		if (swap(a, l, next, packed(a, x, give, a->out), give, last,
		    a->in, take) != 0)
			return -1;
		add(a, x, take, a->in);
	}
	return 0;
}

int
ring_gather(struct allreduce *a, const struct lane *l, void *x,
    struct range all)
{
	int next = around(l, l->me + 1), last = around(l, l->me - 1);
	struct range give = range_part(all, l, l->me), take;
	void *out, *in;

	if (l->n == 1)
		return 0;
	round_off(a, x, give);
	/* What has come is what is sent next: packed, it stays so. */
	out = packed(a, x, give, a->out);
	for (int step = 1; step < l->n; step++) {
		take = range_part(all, l, around(l, l->me - step));
		in = place_of(a, x, take, out == a->out ? a->in : a->out);
		if (swap(a, l, next, out, give, last, in, take) != 0)
			return -1;
		if (a->o.wire->elem > 0)
			unpack(a, x, take, in);
		out = in;
		give = take;
	}
	return 0;
}

size_t
ring_sends(const struct allreduce *a, const struct lane *l, struct range all)
{
	size_t sum = 0;

	for (int step = 1; step < l->n; step++)
		sum += bytes_of(a, range_part(all, l, around(l, l->me - step))) +
		    bytes_of(a, range_part(all, l, around(l, l->me + 1 - step)));
	return sum;
}

/* ---- everyone to everyone ---- */

int
direct_scatter(struct allreduce *a, const struct lane *l, void *x,
    struct range all)
{
	struct range mine = range_part(all, l, l->me);
	char *out = a->out, *in = a->in;
	int n = 0;

	for (int step = 1; step < l->n; step++, n++) {
		int to = around(l, l->me + step), from = around(l, l->me - step);
		struct range give = range_part(all, l, to);

		a->send[n] = (struct piece){ rank_at(a, l, to),
			packed(a, x, give, out), bytes_of(a, give) };
		a->receive[n] = (struct piece){ rank_at(a, l, from), in,
			bytes_of(a, mine) };
		out += out != NULL ? a->send[n].bytes : 0;
		in += a->receive[n].bytes;
	}
	if (comm_exchange(a->comm, a->send, n, a->receive, n) != 0)
		return -1;
	for (int i = 0; i < n; i++)
		add(a, x, mine, a->receive[i].data);
	return 0;
}

int
direct_gather(struct allreduce *a, const struct lane *l, void *x,
    struct range all)
{
	struct range mine = range_part(all, l, l->me);
	char *in = a->in;
	void *out;
	int n = 0;

	if (l->n == 1)
		return 0;
	round_off(a, x, mine);
	out = packed(a, x, mine, a->out);
	for (int step = 1; step < l->n; step++, n++) {
		int to = around(l, l->me + step), from = around(l, l->me - step);
		struct range take = range_part(all, l, from);

		a->send[n] = (struct piece){ rank_at(a, l, to), out,
			bytes_of(a, mine) };
		a->receive[n] = (struct piece){ rank_at(a, l, from),
			place_of(a, x, take, in), bytes_of(a, take) };
		in += a->receive[n].bytes;
	}
	if (comm_exchange(a->comm, a->send, n, a->receive, n) != 0)
		return -1;
	for (int i = 0; i < n && a->o.wire->elem > 0; i++)
		unpack(a, x, range_part(all, l, around(l, l->me - i - 1)),
		    a->receive[i].data);
	return 0;
}

size_t
direct_sends(const struct allreduce *a, const struct lane *l, struct range all)
{
	size_t sum = 0;

	for (int i = 0; i < l->n; i++)
		if (i != l->me)
			sum += bytes_of(a, range_part(all, l, i)) +
			    bytes_of(a, range_part(all, l, l->me));
	return sum;
}

/* ---- halving and doubling ---- */

/* The largest power of two that is not above ${n}. */
static int
power_in(int n)
{
	int p = 1;

	while (2 * p <= n)
		p *= 2;
	return p;
}

/*
 * What rank ${me} still has before the step with partner ${me} ^ ${mask}, of a
 * lane of which ${power} take part: halves were kept by its bits above.
 */
static struct range
half_before(struct range r, int me, int mask, int power)
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

/* The half that ${me} keeps in that step, or the other one. */
static struct range
half_of(struct range all, int me, int mask, int power)
{
	return half_before(all, me, mask / 2, power);
}

int
halving_sum(struct allreduce *a, const struct lane *l, void *x,
    struct range all)
{
	static const struct range none = { 0, 0 };
	int power = power_in(l->n), extra = l->n - power, me = l->me;

	if (me >= power) {
		if (swap(a, l, me - power, packed(a, x, all, a->out), all,
		    me - power, a->in, none) != 0)
			return -1;
	} else if (me < extra) {
		if (swap(a, l, me + power, a->in, none, me + power, a->in,
		    all) != 0)
			return -1;
		add(a, x, all, a->in);
	}
	for (int mask = power / 2; mask > 0 && me < power; mask /= 2) {
		struct range keep = half_of(all, me, mask, power);
		struct range give = half_of(all, me ^ mask, mask, power);

		if (swap(a, l, me ^ mask, packed(a, x, give, a->out), give,
		    me ^ mask, a->in, keep) != 0)
			return -1;
		add(a, x, keep, a->in);
	}
	for (int mask = 1; mask < power && me < power; mask *= 2) {
		struct range mine = half_of(all, me, mask, power);
		struct range take = half_of(all, me ^ mask, mask, power);
		void *in = place_of(a, x, take, a->in);

		round_off(a, x, mine);
		if (swap(a, l, me ^ mask, packed(a, x, mine, a->out), mine,
		    me ^ mask, in, take) != 0)
			return -1;
		if (a->o.wire->elem > 0)
			unpack(a, x, take, in);
	}
	if (extra == 0)
		return 0;
	/* Packed once more, and by all, for it may round once more. */
	if (me < power)
		round_off(a, x, all);
	if (me < extra)
		return swap(a, l, me + power, packed(a, x, all, a->out), all,
		    me + power, a->in, none);
	if (me >= power) {
		void *in = place_of(a, x, all, a->in);

		if (swap(a, l, me - power, a->in, none, me - power, in,
		    all) != 0)
			return -1;
		if (a->o.wire->elem > 0)
			unpack(a, x, all, in);
	}
	return 0;
}

size_t
halving_sum_sends(const struct allreduce *a, const struct lane *l,
    struct range all)
{
	int power = power_in(l->n), extra = l->n - power, me = l->me;
	size_t sum = me >= power || me < extra ? bytes_of(a, all) : 0;

	for (int mask = power / 2; mask > 0 && me < power; mask /= 2)
		sum += bytes_of(a, half_of(all, me ^ mask, mask, power)) +
		    bytes_of(a, half_of(all, me, mask, power));
	return sum;
}
