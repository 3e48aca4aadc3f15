/*
 * A device with discrete memory that the host cannot access, on top of ref.
 * tests/build.mk links programs a second time with --wrap=device_open, so that
 * opening ref or ref64 returns this device instead.
 *
 * Its memory (memory.c) has two addresses: a public one, at which an access is
 * a fault, and a private one for ref.  So each host access ends the process and
 * prints the addresses of its callers, in whatever thread it occurs.  A host
 * address in place of a device address ends the process too, and so does the
 * reverse.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "backend/cuda/stored.h"
#include "base/mem.h"
#include "comm/wire.h"

#include "discrete.h"

enum { HEAD = 64 };

struct discrete {
	struct device device;		/* must be the first field */
	struct backend table;
	struct device *inner;
	const struct op_impl *ops[OP_KINDS];
	struct op_impl row[OP_KINDS];
};

struct device *__real_device_open(const struct backend *b,
    const struct device_options *o);
struct device *__wrap_device_open(const struct backend *b,
    const struct device_options *o);

static struct device *
inner(struct device *d)
{
	return ((struct discrete *)d)->inner;
}

/* ---- addresses ---- */

static void *
here(const void *p)
{
	return discrete_here(p);
}

static void *
here_or_none(const void *p)
{
	return p == NULL ? NULL : here(p);
}

static void
host(const void *p)
{
	if (discrete_is_away(p))
		discrete_stop("memory of the device for the host's", p);
}

/* ---- the table ---- */

static void
close_device(struct device *d)
{
	device_close(inner(d));
	free(d);
}

static void
put(struct device *d, void *w, const double *from, size_t n)
{
	host(from);
	device_put(inner(d), here(w), from, n);
}

static void
get(struct device *d, double *to, const void *w, size_t n)
{
	host(to);
	device_get(inner(d), to, here(w), n);
}

static void
upload(struct device *d, void *w, const void *from, size_t bytes)
{
	host(from);
	device_upload(inner(d), here(w), from, bytes);
}

static void
download(struct device *d, void *to, const void *w, size_t bytes)
{
	host(to);
	device_download(inner(d), to, here(w), bytes);
}

static size_t
bytes_of(const struct device *d, const struct dims *shape)
{
	return device_bytes(((const struct discrete *)d)->inner, shape);
}

static void
read_activation(struct device *d, double *to, const struct dims *shape,
    const void *activation)
{
	host(to);
	device_read(inner(d), to, shape, here(activation));
}

static void
write_activation(struct device *d, void *activation, const struct dims *shape,
    const double *from)
{
	host(from);
	device_write(inner(d), here(activation), shape, from);
}

static void
add(struct device *d, void *sum, const void *x, size_t n)
{
	device_add(inner(d), here(sum), here(x), n);
}

static void
update(struct device *d, const struct update *u)
{
	struct update v = *u;

	v.w = here(u->w);
	v.m = here_or_none(u->m);
	v.g = here(u->g);
	v.ratio = here_or_none(u->ratio);
	device_update(inner(d), &v);
}

static void
moments(struct device *d, const struct moments *m)
{
	struct moments v = *m;

	v.w = here(m->w);
	v.m = here(m->m);
	v.v = here(m->v);
	v.g = here(m->g);
	device_moments(inner(d), &v);
}

static void
clamp(struct device *d, const struct clamp *c)
{
	struct clamp v = *c;

	v.x = here(c->x);
	device_clamp(inner(d), &v);
}

static void
track(struct device *d, const struct track *t)
{
	struct track v = *t;

	v.w = here(t->w);
	v.x = here(t->x);
	device_track(inner(d), &v);
}

static void
squares(struct device *d, double *sum, const void *x,
    const struct interval *part, size_t parts)
{
	host(sum);
	device_squares(inner(d), sum, here(x), part, parts);
}

static void
copy(struct device *d, void *to, const void *from, size_t bytes)
{
	(void)d;
	memmove(here(to), here(from), bytes);
}

static size_t
available(struct device *d)
{
	(void)d;
	return SIZE_MAX;
}

/* Pinned host memory.  free() of such a pointer is an error that the C library
 * detects, since it does not begin an allocation. */
static void *
alloc_host(struct device *d, size_t bytes)
{
	char *p = aligned_alloc(HEAD, (bytes / HEAD + 2) * HEAD);

	(void)d;
	if (p == NULL)
		abort();
	return p + HEAD;
}

static void
free_host(struct device *d, void *p)
{
	(void)d;
	free((char *)p - HEAD);
}

/* A second handle for another thread, with the same memory. */
static struct device *
aside(struct device *d)
{
	struct discrete *a = xmalloc(sizeof(*a));

	*a = *(struct discrete *)d;
	a->device.backend = &a->table;
	a->device.ops = a->ops;
	return &a->device;
}

static void
aside_free(struct device *d, struct device *of)
{
	(void)d;
	free(of);
}

static void *
stream(struct device *d)
{
	return getenv("DISCRETE_FABRIC") != NULL ? d : NULL;
}

static void
narrow(struct device *d, void *to, const void *x, size_t n, enum precision as,
    double scale)
{
	const float *from = here(x);
	void *out = here(to);

	(void)d;
	for (size_t i = 0; i < n; i++) {
		float v = from[i] * (float)scale;

		if (as == PRECISION_BF16)
			wires[WIRE_BF16].pack((uint16_t *)out + i, &v, 1);
		else
			((uint16_t *)out)[i] = narrow_f16(v);
	}
}

static void
widen(struct device *d, void *x, const void *from, size_t n, enum precision as,
    double scale)
{
	const void *in = here(from);
	float *to = here(x), v;

	(void)d;
	for (size_t i = 0; i < n; i++) {
		if (as == PRECISION_BF16)
			wires[WIRE_BF16].unpack(&v, (const uint16_t *)in + i,
			    1);
		else
			v = widen_f16(((const uint16_t *)in)[i]);
		to[i] = v * (float)scale;
	}
}

static void
sum_rows(struct device *d, double *sum, const double *row, int rows, size_t n)
{
	const double *from = here(row);
	double *to = here(sum);

	(void)d;
	for (size_t i = 0; i < n; i++) {
		to[i] = from[i];
		for (int r = 1; r < rows; r++)
			to[i] += from[(size_t)r * n + i];
	}
}

static const struct memory_ops memory = {
	.alloc = discrete_alloc, .free = discrete_free, .available = available,
	.alloc_host = alloc_host, .free_host = free_host, .put = put,
	.get = get, .upload = upload, .download = download, .copy = copy,
	.upload_async = upload,
};

static const struct layout_ops layout = {
	.bytes = bytes_of, .read = read_activation, .write = write_activation,
};

static const struct param_ops param = {
	.takes_shards = 1, .add = add, .update = update, .moments = moments,
	.clamp = clamp, .track = track, .squares = squares,
};

static const struct stream_ops streams = {
	.side_stream = aside, .side_stream_free = aside_free, .native = stream,
	.narrow = narrow, .widen = widen, .sum_rows = sum_rows,
};

/* ---- tasks ---- */

struct peers_away {
	struct peers peers;		/* must be the first field */
	const struct peers *of;
	struct device *device;
};

/* Sum over the peers.  ref passes private addresses; the caller's function
 * takes public ones. */
static void
sum_peers(const struct peers *p, struct device *d, double *x, size_t n)
{
	const struct peers_away *a = (const struct peers_away *)p;

	(void)d;
	a->of->sum(a->of, a->device, (double *)discrete_away(x), n);
}

enum { STREAMS = 4, TARGETS = 8 };

/* A feed with private addresses. */
struct feed_here {
	struct feed feed;
	struct stream stream[STREAMS];
	struct target target[TARGETS];
};

/* Translate the one stream or target that the operator reads. */
static void
find_feed(struct feed_here *h, const struct task *t)
{
	const struct feed *f = t->feed;

	h->feed = *f;
	h->feed.outcome = here_or_none(f->outcome);
	h->feed.clip = here_or_none(f->clip);
	h->feed.seed = ((const struct feed_values *)here(t->values))->seed;
	h->feed.scale = ((const struct feed_values *)here(t->values))->scale;
	if (t->op->kind == OP_INPUT) {
		struct stream *s = &h->stream[t->op->input.stream];

		assert(t->op->input.stream < STREAMS);
		*s = f->stream[t->op->input.stream];
		s->bytes = here_or_none(s->bytes);
		h->feed.stream = h->stream;
	} else if (t->op->kind == OP_LOSS) {
		struct target *a = &h->target[t->op->loss.target];

		assert(t->op->loss.target < TARGETS);
		*a = f->target[t->op->loss.target];
		a->label = here_or_none(a->label);
		a->soft = here_or_none(a->soft);
		a->weight = here_or_none(a->weight);
		h->feed.target = h->target;
	}
}

/* Return task ${t} with private addresses, with ${f} as its feed and ${p} as
 * its peers. */
static struct task
task_here(const struct task *t, struct feed_here *f, struct peers_away *p)
{
	struct task k = *t;

	k.device = inner(t->device);
	for (int j = 0; j < OP_INPUTS; j++) {
		k.x[j] = here_or_none(t->x[j]);
		k.dx[j] = here_or_none(t->dx[j]);
	}
	for (int j = 0; j < OP_PARAMS; j++) {
		k.w[j] = here_or_none(t->w[j]);
		k.dw[j] = here_or_none(t->dw[j]);
	}
	k.y = here_or_none(t->y);
	k.dy = here_or_none(t->dy);
	k.saved = here_or_none(t->saved);
	k.packed_weights = here_or_none(t->packed_weights);
	k.scratch = here_or_none(t->scratch);
	if (t->feed != NULL) {
		find_feed(f, t);
		k.feed = &f->feed;
	}
	if (t->peers != NULL) {
		*p = (struct peers_away){ { .n = t->peers->n, .sum = sum_peers },
			t->peers, t->device };
		k.peers = &p->peers;
	}
	return k;
}

static void
run(struct task *t, void (*call)(struct task *))
{
	struct feed_here f;
	struct peers_away p;
	struct task k = task_here(t, &f, &p);

	call(&k);
	t->priv = k.priv;
}

static const struct op_impl *
row(const struct task *t)
{
	return inner(t->device)->ops[t->op->kind];
}

static void forward(struct task *t) { run(t, row(t)->forward); }
static void backward(struct task *t) { run(t, row(t)->backward); }
static void discrete_recompute(struct task *t) { run(t, row(t)->recompute); }

/* ---- */

static const struct fabric_calls *
discrete_fabric_calls(void)
{
	return &discrete_fabric;
}

struct device *
__wrap_device_open(const struct backend *b, const struct device_options *o)
{
	struct device *d = __real_device_open(b, o);
	const char *fabric = getenv("DISCRETE_FABRIC");
	struct discrete *a;

	if (d == NULL || strncmp(b->name, "ref", 3) != 0)
		return d;
	a = xcalloc(1, sizeof(*a));
	a->device = *d;
	a->inner = d;
	a->table = *b;
	a->table.discrete = 1;
	a->table.close = close_device;
	a->table.memory = &memory;
	a->table.layout = &layout;
	a->table.param = &param;
	a->table.stream = &streams;
	a->table.fabric = fabric != NULL && strcmp(fabric, discrete_fabric.name) ==
	    0 ? discrete_fabric_calls : NULL;
	for (int k = 0; k < OP_KINDS; k++) {
		if (d->ops[k] == NULL)
			continue;
		a->row[k] = *d->ops[k];
		a->row[k].forward = forward;
		a->row[k].backward = d->ops[k]->backward != NULL ? backward :
		    NULL;
		a->row[k].recompute = d->ops[k]->recompute != NULL ? discrete_recompute : NULL;
		a->ops[k] = &a->row[k];
	}
	a->device.backend = &a->table;
	a->device.ops = a->ops;
	return &a->device;
}
