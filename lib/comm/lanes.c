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

static char *
lanes_element(const struct allreduce *a, void *x, size_t i)
{
	return (char *)x + i * a->o.elem;
}

/* Elements ${r} as they are sent: where they lie, or packed to ${room}. */
static void *
lanes_packed(const struct allreduce *a, void *x, struct range r, void *room)
{
	void *from = lanes_element(a, x, r.from);

	if (a->o.wire->elem == 0)
		return from;
	if (r.to > r.from)
		a->o.wire->pack(room, from, r.to - r.from);
	return room;
}

static void
lanes_unpack(const struct allreduce *a, void *x, struct range r,
    const void *from)
{
	if (r.to > r.from)
		a->o.wire->unpack((float *)x + r.from, from, r.to - r.from);
}

/* Our own elements, as others will have them. */
static void
lanes_round_off(const struct allreduce *a, void *x, struct range r)
{
	if (a->o.wire->elem > 0)
		lanes_unpack(a, x, r, lanes_packed(a, x, r, a->out));
}

static void
lanes_add(const struct allreduce *a, void *x, struct range r, const void *from)
{
	if (r.to == r.from)
		return;
	if (a->o.wire->elem == 0)
		a->o.add(a->o.arg, lanes_element(a, x, r.from), from,
		    r.to - r.from);
	else
		a->o.wire->add((float *)x + r.from, from, r.to - r.from);
}

/* Where elements ${r} are received that replace ours: in place, or in ${room},
 * to be unpacked. */
static void *
lanes_place_of(const struct allreduce *a, void *x, struct range r, void *room)
{
	return a->o.wire->elem == 0 ? lanes_element(a, x, r.from) : room;
}

/* Elements ${give} of ${x} to number ${to} of the lane, and what number ${from}
 * sends for ${take} into ${in}. */
static int
lanes_swap(struct allreduce *a, const struct lane *l, int to, void *out,
    struct range give, int from, void *in, struct range take)
{
	struct piece send = { lanes_rank_at(a, l, to), out,
	    lanes_bytes_of(a, give) };
	struct piece receive = { lanes_rank_at(a, l, from), in,
	    lanes_bytes_of(a, take) };

	return comm_exchange(a->comm, &send, 1, &receive, 1);
}

/* ---- around a ring ---- */

int
ring_scatter(struct allreduce *a, const struct lane *l, void *x,
    struct range all)
{
	int next = lanes_wrap(l, l->me + 1), last = lanes_wrap(l, l->me - 1);

	for (int step = 1; step < l->n; step++) {
		struct range give = range_part(all, l,
		    lanes_wrap(l, l->me - step));
		struct range take = range_part(all, l,
		    lanes_wrap(l, l->me - step - 1));

		if (lanes_swap(a, l, next, lanes_packed(a, x, give, a->out),
		    give, last, a->in, take) != 0)
			return -1;
		lanes_add(a, x, take, a->in);
	}
	return 0;
}

int
ring_gather(struct allreduce *a, const struct lane *l, void *x,
    struct range all)
{
	int next = lanes_wrap(l, l->me + 1), last = lanes_wrap(l, l->me - 1);
	struct range give = range_part(all, l, l->me), take;
	void *out, *in;

	if (l->n == 1)
		return 0;
	lanes_round_off(a, x, give);
	/* What has come is what is sent next: packed, it stays so. */
	out = lanes_packed(a, x, give, a->out);
	for (int step = 1; step < l->n; step++) {
		take = range_part(all, l, lanes_wrap(l, l->me - step));
		in = lanes_place_of(a, x, take, out == a->out ? a->in : a->out);
		if (lanes_swap(a, l, next, out, give, last, in, take) != 0)
			return -1;
		if (a->o.wire->elem > 0)
			lanes_unpack(a, x, take, in);
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
		sum += lanes_bytes_of(a, range_part(all, l,
		    lanes_wrap(l, l->me - step))) + lanes_bytes_of(a,
		    range_part(all, l, lanes_wrap(l, l->me + 1 - step)));
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
		int to = lanes_wrap(l, l->me + step),
		    from = lanes_wrap(l, l->me - step);
		struct range give = range_part(all, l, to);

		a->send[n] = (struct piece){ lanes_rank_at(a, l, to),
			lanes_packed(a, x, give, out),
			lanes_bytes_of(a, give) };
		a->receive[n] = (struct piece){ lanes_rank_at(a, l, from), in,
			lanes_bytes_of(a, mine) };
		out += out != NULL ? a->send[n].bytes : 0;
		in += a->receive[n].bytes;
	}
	if (comm_exchange(a->comm, a->send, n, a->receive, n) != 0)
		return -1;
	for (int i = 0; i < n; i++)
		lanes_add(a, x, mine, a->receive[i].data);
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
	lanes_round_off(a, x, mine);
	out = lanes_packed(a, x, mine, a->out);
	for (int step = 1; step < l->n; step++, n++) {
		int to = lanes_wrap(l, l->me + step),
		    from = lanes_wrap(l, l->me - step);
		struct range take = range_part(all, l, from);

		a->send[n] = (struct piece){ lanes_rank_at(a, l, to), out,
			lanes_bytes_of(a, mine) };
		a->receive[n] = (struct piece){ lanes_rank_at(a, l, from),
			lanes_place_of(a, x, take, in),
			lanes_bytes_of(a, take) };
		in += a->receive[n].bytes;
	}
	if (comm_exchange(a->comm, a->send, n, a->receive, n) != 0)
		return -1;
	for (int i = 0; i < n && a->o.wire->elem > 0; i++)
		lanes_unpack(a, x, range_part(all, l,
		    lanes_wrap(l, l->me - i - 1)), a->receive[i].data);
	return 0;
}

size_t
direct_sends(const struct allreduce *a, const struct lane *l, struct range all)
{
	size_t sum = 0;

	for (int i = 0; i < l->n; i++)
		if (i != l->me)
			sum += lanes_bytes_of(a, range_part(all, l, i)) +
			    lanes_bytes_of(a, range_part(all, l, l->me));
	return sum;
}

/* ---- halving and doubling ---- */

/* The largest power of two that is not above ${n}. */
static int
lanes_power_in(int n)
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

/* The half that ${me} keeps in that step, or the other one. */
static struct range
lanes_half_of(struct range all, int me, int mask, int power)
{
	return lanes_half_before(all, me, mask / 2, power);
}

int
halving_sum(struct allreduce *a, const struct lane *l, void *x,
    struct range all)
{
	static const struct range none = { 0, 0 };
	int power = lanes_power_in(l->n), extra = l->n - power, me = l->me;

	if (me >= power) {
		if (lanes_swap(a, l, me - power,
		    lanes_packed(a, x, all, a->out), all, me - power, a->in,
		    none) != 0)
			return -1;
	} else if (me < extra) {
		if (lanes_swap(a, l, me + power, a->in, none, me + power, a->in,
		    all) != 0)
			return -1;
		lanes_add(a, x, all, a->in);
	}
	for (int mask = power / 2; mask > 0 && me < power; mask /= 2) {
		struct range keep = lanes_half_of(all, me, mask, power);
		struct range give = lanes_half_of(all, me ^ mask, mask, power);

		if (lanes_swap(a, l, me ^ mask,
		    lanes_packed(a, x, give, a->out), give, me ^ mask, a->in,
		    keep) != 0)
			return -1;
		lanes_add(a, x, keep, a->in);
	}
	for (int mask = 1; mask < power && me < power; mask *= 2) {
		struct range mine = lanes_half_of(all, me, mask, power);
		struct range take = lanes_half_of(all, me ^ mask, mask, power);
		void *in = lanes_place_of(a, x, take, a->in);

		lanes_round_off(a, x, mine);
		if (lanes_swap(a, l, me ^ mask,
		    lanes_packed(a, x, mine, a->out), mine, me ^ mask, in,
		    take) != 0)
			return -1;
		if (a->o.wire->elem > 0)
			lanes_unpack(a, x, take, in);
	}
	if (extra == 0)
		return 0;
	/* Packed once more, and by all, for it may round once more. */
	if (me < power)
		lanes_round_off(a, x, all);
	if (me < extra)
		return lanes_swap(a, l, me + power,
		    lanes_packed(a, x, all, a->out), all, me + power, a->in,
		    none);
	if (me >= power) {
		void *in = lanes_place_of(a, x, all, a->in);

		if (lanes_swap(a, l, me - power, a->in, none, me - power, in,
		    all) != 0)
			return -1;
		if (a->o.wire->elem > 0)
			lanes_unpack(a, x, all, in);
	}
	return 0;
}

size_t
halving_sum_sends(const struct allreduce *a, const struct lane *l,
    struct range all)
{
	int power = lanes_power_in(l->n), extra = l->n - power, me = l->me;
	size_t sum = me >= power || me < extra ? lanes_bytes_of(a, all) : 0;

	for (int mask = power / 2; mask > 0 && me < power; mask /= 2)
		sum += lanes_bytes_of(a, lanes_half_of(all, me ^ mask, mask,
		    power)) + lanes_bytes_of(a, lanes_half_of(all, me, mask,
		    power));
	return sum;
}
