/* Functions of the driver that queue work, with checks of their arguments:
 * copies, kernels, convolutions and GEMMs. */
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/conv_select.h"
#include "base/fail.h"
#include "base/mem.h"
#include "number.h"
#include "own.h"

/* CUDA C++ Programming Guide, section on parameters of __global__ functions. */
enum { ARGS_MAX = 32764 };

struct conv_plan { struct conv_shape shape; int engine; };
struct gemm_plan { struct gemm_shape shape; };

/* ---- copies, fills and kernels ---- */

/* A convolution takes 1 ms by the fastest engine, a kernel 1 us. */
static double
seconds_of(const struct standin *s, const struct message *p)
{
	return p->kind == PIECE_LAUNCH ? 1e-6 : p->engine == 0 ? 2e-3 :
	    1e-3 * (1 + 0.1 * (p->engine - s->fastest));
}

static int
is_host(const struct standin *s, const void *p)
{
	const struct room *r = memory_find(&s->memory, p);

	return r != NULL && r->host;
}

void
standin_copy(struct driver *d, struct gpu_stream *t, void *to,
    const void *from, size_t bytes)
{
	struct standin *s = enter(d);
	struct message *p = piece_new(PIECE_COPY, "a copy", 0);
	int pinned = 1;

	p->to = to;
	p->from = from;
	p->bytes = bytes;
	if (memory_find(&s->memory, from) != NULL || bytes == 0)
		piece_reads(p, from, bytes);
	else
		pinned = 0;
	if (memory_find(&s->memory, to) != NULL || bytes == 0)
		piece_writes(p, to, bytes);
	else
		pinned = 0;
	if ((char *)to < (char *)from + bytes && (char *)from < (char *)to +
	    bytes)
		fault(s, FAULT_MISUSE, "a copy of %zu bytes onto itself", bytes);
	give(s, t, p);
	if (t->graph != NULL && pinned && is_host(s, from))
		fault(s, FAULT_MISUSE, "a copy of the host's memory is captured: "
		    "each run takes what is there by then");
	if (!pinned && t->graph != NULL)
		fault(s, FAULT_MISUSE, "a copy of memory that is not pinned is "
		    "captured");
	else if (!pinned)
		wait_for(s, t->lane, t->given, &t->clock);
	leave(s);
}

void
standin_fill(struct driver *d, struct gpu_stream *t, void *to, int byte,
    size_t bytes)
{
	struct standin *s = enter(d);
	struct message *p = piece_new(PIECE_FILL, "a fill", 0);

	p->to = to;
	p->byte = byte;
	p->bytes = bytes;
	piece_writes(p, to, bytes);
	give(s, t, p);
	leave(s);
}

void
standin_launch(struct driver *d, struct gpu_stream *t, const struct launch *l)
{
	struct standin *s = enter(d);
	const struct standin_kernel *k = l->kernel >= 0 &&
	    l->kernel < s->o.kernels ? &s->o.kernel[l->kernel] : NULL;
	struct message *p;

	if (k == NULL || k->bytes != l->bytes || k->body[l->type] == NULL) {
		fault(s, FAULT_MISUSE, "there is no kernel %d of this type with "
		    "arguments of %zu bytes", l->kernel, l->bytes);
	} else if (l->grid[0] < 1 || l->grid[0] > 0x7fffffff ||
	    l->grid[1] < 1 || l->grid[1] > 0xffff || k->threads < 1 ||
	    k->threads > 1024 || l->bytes > ARGS_MAX) {
		fault(s, FAULT_MISUSE, "kernel %s: %u by %u blocks of %d "
		    "threads, %zu bytes of arguments: no GPU does that",
		    k->name, l->grid[0], l->grid[1], k->threads, l->bytes);
	} else {
		p = piece_new(PIECE_LAUNCH, k->name, l->bytes);
		p->launch = *l;
		p->access = l->access;
		memcpy(p->args, l->args, l->bytes);
		s->seconds += seconds_of(s, p);
		give(s, t, p);
	}
	leave(s);
}

/* ---- convolutions and GEMMs ---- */

static void
key_of(const struct conv_shape *c, char key[CONV_KEY])
{
	int n = snprintf(key, CONV_KEY, "%d%s %d: %d, %d to %d in %d,",
	    (int)c->pass, c->accumulate ? "+" : "", (int)c->type, c->n, c->in,
	    c->out, c->groups);

	for (int i = 0; i < c->dims; i++)
		n += snprintf(key + n, CONV_KEY - (size_t)n,
		    " %d to %d by %d step %d pad %d", c->from[i], c->to[i],
		    c->kernel[i], c->stride[i], c->pad[i]);
}

static struct conv_plan *
open_plan(struct conv_algorithms *w, const struct conv_shape *c)
{
	struct standin *s = (struct standin *)w->driver;
	struct conv_plan *p = xcalloc(1, sizeof(*p));

	p->shape = *c;
	s->plans++;
	return p;
}

static void
close_plan(struct conv_algorithms *w, struct conv_plan *p)
{
	((struct standin *)w->driver)->plans -= p != NULL;
	free(p);
}

/* Engine 0 is the first.  The next is the fastest, and each later one takes a
 * tenth longer than the one before it. */
static int
candidates(struct conv_algorithms *w, struct conv_plan *p, struct engine_config *c,
    int max)
{
	const struct standin *s = (struct standin *)w->driver;
	int n = s->engines < max ? s->engines : max;

	(void)p;
	for (int i = 0; i < n; i++)
		c[i] = (struct engine_config){ .engine = i == 0 ? 0 : s->fastest + i -
			1 };
	return n;
}

static int
use(struct conv_algorithms *w, struct conv_plan *p, const struct engine_config *c)
{
	(void)w;
	p->engine = (int)c->engine;
	return 0;
}

static int
run(struct conv_algorithms *w, struct conv_plan *p, struct gpu_stream *t,
    void *const at[4])
{
	standin_conv(w->driver, t, p, at);
	return 0;
}

static double
seconds(struct conv_algorithms *w, struct gpu_stream *t,
    int (*work)(void *arg), void *arg)
{
	struct standin *s = (struct standin *)w->driver;
	double before = s->seconds;

	(void)t;
	return work(arg) == 0 ? s->seconds - before : -1;
}

void
standin_ways(struct standin *s)
{
	s->algorithms = (struct conv_algorithms){ .driver = &s->driver,
		.choices = conv_cache_new(1, "the stand-in"), .key = key_of,
		.open = open_plan, .close = close_plan,
		.candidates = candidates, .use = use, .run = run,
		.seconds = seconds, .tune = conv_tune };
	s->driver.algorithms = &s->algorithms;
}

struct conv_plan *
standin_conv_new(struct driver *d, const struct conv_shape *c)
{
	struct standin *s = enter(d);
	struct conv_plan *p;
	int bad = c->dims < 2 || c->dims > 3 || c->n < 1 || c->groups < 1 ||
	    c->in < 1 || c->out < 1 || c->in % c->groups != 0 ||
	    c->out % c->groups != 0 || (c->accumulate && c->pass != CONV_DATA);

	for (int i = 0; i < c->dims && !bad; i++)
		bad = c->stride[i] < 1 || c->from[i] < 1 || c->to[i] < 1 ||
		    (c->from[i] + 2 * c->pad[i] - c->kernel[i]) /
		    c->stride[i] + 1 != c->to[i];
	if (bad)
		fault(s, FAULT_MISUSE, "a convolution whose extents do not fit");
	not_here(s, "a convolution is planned");
	p = conv_select(&s->algorithms, c);
	leave(s);
	return p;
}

void
standin_conv_free(struct driver *d, struct conv_plan *p)
{
	struct standin *s = enter(d);

	close_plan(&s->algorithms, p);
	leave(s);
}

/* Not 0, and not the same for all shapes. */
size_t
standin_conv_workspace(struct driver *d, const struct conv_plan *p)
{
	(void)d;
	return 256 * (1 + (size_t)p->shape.out % 7);
}

void
standin_conv_describe(struct driver *d, const struct conv_plan *p, char *text,
    size_t size)
{
	(void)d;
	(void)p;
	snprintf(text, size, "plain loops");
}

static int
misplaced(const void *p)
{
	return p == NULL || (uintptr_t)p % 16 != 0;
}

void
standin_conv(struct driver *d, struct gpu_stream *t,
    const struct conv_plan *plan, void *const at[4])
{
	void *x = at[0], *w = at[1], *y = at[2], *workspace = at[3];
	static const char *const names[] = { "a convolution",
		"a convolution's gradient", "a gradient of weights" };
	struct standin *s = enter(d);
	const struct conv_shape *c = &plan->shape;
	struct message *p = piece_new(PIECE_CONV, names[c->pass], 0);
	size_t in = (size_t)c->in, out = (size_t)c->out, w_bytes;

	p->conv = *c;
	p->engine = plan->engine;
	s->seconds += seconds_of(s, p);
	p->x = x;
	p->w = w;
	p->y = y;
	in *= (size_t)c->n;
	w_bytes = out * ((size_t)c->in / (size_t)c->groups);
	out *= (size_t)c->n;
	for (int i = 0; i < c->dims; i++) {
		in *= (size_t)c->from[i];
		out *= (size_t)c->to[i];
		w_bytes *= (size_t)c->kernel[i];
	}
	(c->pass == CONV_DATA ? piece_writes : piece_reads)(p, x, in *
	    type_bytes(c->type));
	if (c->accumulate)
		piece_reads(p, x, in * type_bytes(c->type));
	(c->pass == CONV_WEIGHTS ? piece_writes : piece_reads)(p, w, w_bytes *
	    type_bytes(c->type));
	(c->pass == CONV_FORWARD ? piece_writes : piece_reads)(p, y, out *
	    type_bytes(c->type));
	p->scratch = (struct span){ workspace, standin_conv_workspace(d, plan) };
	if (misplaced(x) || misplaced(w) || misplaced(y) ||
	    misplaced(workspace))
		fault(s, FAULT_MISUSE, "%s of memory that does not begin at a "
		    "multiple of 16 bytes", p->name);
	give(s, t, p);
	leave(s);
}

struct gemm_plan *
standin_product_new(struct driver *d, const struct gemm_shape *m)
{
	struct standin *s = enter(d);
	struct gemm_plan *p = xcalloc(1, sizeof(*p));

	if (m->m < 1 || m->n < 1 || m->k < 1 || m->batch < 1 ||
	    m->lda < (size_t)(m->transpose_a ? m->m : m->k) ||
	    m->ldb < (size_t)(m->transpose_b ? m->k : m->n) ||
	    m->ldc < (size_t)m->n)
		fault(s, FAULT_MISUSE, "a product whose rows do not fit");
	not_here(s, "a product is planned");
	p->shape = *m;
	s->plans++;
	leave(s);
	return p;
}

void
standin_product_free(struct driver *d, struct gemm_plan *p)
{
	standin_conv_free(d, (struct conv_plan *)p);
}

size_t
standin_product_workspace(struct driver *d, const struct gemm_plan *p)
{
	(void)d;
	return 256 * (1 + (size_t)p->shape.n % 3);
}

void
standin_product(struct driver *d, struct gpu_stream *t,
    const struct gemm_plan *plan, const void *a, const void *b, void *c,
    void *workspace)
{
	struct standin *s = enter(d);
	struct message *p = piece_new(PIECE_PRODUCT, "a product", 0);
	size_t bytes[3];

	p->product = plan->shape;
	p->a = a;
	p->b = b;
	p->c = c;
	loops_product_bytes(&plan->shape, bytes);
	piece_reads(p, a, bytes[0]);
	piece_reads(p, b, bytes[1]);
	if (plan->shape.accumulate)
		piece_reads(p, c, bytes[2]);
	piece_writes(p, c, bytes[2]);
	p->scratch = (struct span){ workspace,
		standin_product_workspace(d, plan) };
	give(s, t, p);
	leave(s);
}
