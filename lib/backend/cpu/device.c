/*
 * The cpu back end as a device: how it opens, the layout of its activations,
 * its updates of parameters, and the tables that register it.
 */
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/dnnl.h"
#include "backend/cpu/bf16/amx.h"
#include "backend/cpu/bf16/bf16.h"
#include "backend/cpu/norm.h"
#include "backend/host.h"
#include "base/fail.h"
#include "base/isa.h"
#include "base/mem.h"

#define REAL float
#include "backend/ref/ref.h"

#define GRAIN 65536		/* elements of a flat buffer per part */
#define RUNS 64			/* norm blocks, of about 1024 elements each, per
				 * part */

int
cpu_lanes(void)
{
	return isa_best() == ISA_AVX512 ? 16 : 8;
}

int
cpu_is_pixels(const struct dims *d)
{
	/*
	 * With AVX2, oneDNN has no weight gradient for 1 or 2 input channels in
	 * the pixel layout.
	 */
	return (d->c == 3 || (d->c < 3 && cpu_lanes() == 16)) &&
	    d->h * d->w > 1;
}

int
cpu_images(const struct dims *d)
{
	return d->n * d->t;
}

size_t
cpu_positions(const struct dims *d)
{
	return (size_t)d->h * d->w;
}

int
cpu_blocks(int c)
{
	return (c + cpu_lanes() - 1) / cpu_lanes();
}

int
cpu_padded(int c)
{
	return cpu_blocks(c) * cpu_lanes();
}

size_t
cpu_image(const struct dims *d)
{
	return cpu_is_pixels(d) ? cpu_positions(d) * (size_t)d->c :
	    cpu_blocked_image(d);
}

size_t
cpu_blocked_image(const struct dims *d)
{
	return cpu_positions(d) * (size_t)cpu_padded(d->c);
}

size_t
cpu_floats(const struct dims *d)
{
	return (size_t)cpu_images(d) * cpu_image(d);
}

float *
cpu_plane(const struct dims *d, const void *x, int image, int block)
{
	return (float *)x + (size_t)image * cpu_image(d) +
	    (size_t)block * cpu_positions(d) * cpu_lanes();
}

float *
cpu_element(const struct dims *d, const void *x, int image, size_t place, int c)
{
	float *of = (float *)x + (size_t)image * cpu_image(d);
	size_t lanes = (size_t)cpu_lanes();

	if (cpu_is_pixels(d))
		return of + (size_t)c * cpu_positions(d) + place;
	return of + ((size_t)c / lanes * cpu_positions(d) + place) * lanes +
	    (size_t)c % lanes;
}

size_t
cpu_step(const struct dims *d)
{
	return cpu_is_pixels(d) ? 1 : (size_t)cpu_lanes();
}

int
cpu_blocked(struct task *t)
{
	if (cpu_is_pixels(&t->in[0]) || cpu_is_pixels(&t->out))
		return fail("%s: the cpu back end runs %s on more than 3 "
		    "channels only", t->op->name, op_types[t->op->kind].name);
	return 0;
}

struct cpu_device_run {
	struct task *t;
	int blocks;
	void (*task)(struct task *t, int i);
	void (*block)(struct task *t, int image, int block);
};

static void
cpu_device_part(int i, int thread, void *arg)
{
	const struct cpu_device_run *r = arg;

	(void)thread;
	if (r->task != NULL)
		r->task(r->t, i);
	else
		r->block(r->t, i / r->blocks, i % r->blocks);
}

void
cpu_run_task(struct task *t, int n, void (*f)(struct task *t, int i))
{
	struct cpu_device_run r = { .t = t, .task = f };

	cpu_run(t, n, cpu_device_part, &r);
}

void
cpu_run_blocks(struct task *t, int images,
    void (*f)(struct task *t, int image, int block))
{
	struct cpu_device_run r = { .t = t, .blocks = cpu_blocks(t->out.c),
		.block = f };

	cpu_run(t, images * r.blocks, cpu_device_part, &r);
}

struct cpu_device_ranges {
	size_t n, grain;
	void (*f)(size_t, size_t, void *);
	void *arg;
};

static void
cpu_device_range(int i, int thread, void *arg)
{
	const struct cpu_device_ranges *r = arg;
	size_t from = (size_t)i * r->grain, to = from + r->grain;

	(void)thread;
	r->f(from, to < r->n ? to : r->n, r->arg);
}

void
cpu_ranges(struct cpu *cpu, size_t n, size_t grain,
    void (*f)(size_t, size_t, void *), void *arg)
{
	struct cpu_device_ranges r = { n, grain, f, arg };

	pool_run(cpu->pool, (int)((n + grain - 1) / grain), cpu_device_range,
	    &r);
}

/* ---- opening ---- */

static void
cpu_device_close(struct device *d)
{
	struct cpu *cpu = (struct cpu *)d;

	pool_free(cpu->pool);
	dnnl_close(cpu->dnnl);
	free(cpu);
}

static struct device *
cpu_device_open(struct device_options *o)
{
	struct cpu *cpu = xcalloc(1, sizeof(*cpu));

	if (o->precision == PRECISION_FP16) {
		note("the cpu back end does not support fp16: using fp32");
		o->precision = PRECISION_FP32;
	} else if (o->precision == PRECISION_BF16 &&
	    isa_best() != ISA_AVX512) {
		note("this processor has no AVX-512, which bf16 needs: "
		    "using fp32");
		o->precision = PRECISION_FP32;
	}
	if (o->precision == PRECISION_BF16) {
		cpu->half = bf16_kernels_pick();
		cpu->device.ops = bf16_ops;
	}

	cpu->k = kernels_pick();
	if ((cpu->dnnl = dnnl_open(o->threads)) == NULL) {
		free(cpu);
		return NULL;
	}
	if (o->precision == PRECISION_BF16) {
		cpu->device.precision = dnnl_bf16_text();
		cpu->amx = dnnl_has_amx() ? amx_kernels_pick() : NULL;
	}
	cpu->pool = pool_new(o->threads);
	return &cpu->device;
}

/* ---- activations ---- */

static int
cpu_device_is_half(const struct device *d)
{
	return d->o.precision == PRECISION_BF16;
}

static size_t
cpu_device_bytes_of(const struct device *device, const struct dims *d)
{
	if (cpu_device_is_half(device))
		return bf16_bytes(d);
	return cpu_floats(d) * sizeof(float);
}

static void
cpu_device_read_activation(struct device *device, double *host,
    const struct dims *d, const void *x)
{
	size_t step = cpu_step(d);

	if (cpu_device_is_half(device) && bf16_is(d)) {
		bf16_read(host, d, x);
		return;
	}
	for (int i = 0; i < cpu_images(d); i++)
		for (int c = 0; c < d->c; c++) {
			const float *from = cpu_element(d, x, i, 0, c);

			for (size_t p = 0; p < cpu_positions(d); p++)
				host[((size_t)i * cpu_positions(d) + p) * d->c +
				    c] = from[p * step];
		}
}

static void
cpu_device_write_activation(struct device *device, void *x,
    const struct dims *d, const double *host)
{
	size_t step = cpu_step(d);

	if (cpu_device_is_half(device) && bf16_is(d)) {
		bf16_write(x, d, host);
		return;
	}
	memset(x, 0, cpu_device_bytes_of(device, d));
	for (int i = 0; i < cpu_images(d); i++)
		for (int c = 0; c < d->c; c++) {
			float *to = cpu_element(d, x, i, 0, c);

			for (size_t p = 0; p < cpu_positions(d); p++)
				to[p * step] = (float)host[((size_t)i *
				    cpu_positions(d) + p) * d->c + c];
		}
}

/* ---- parameters: plain floats in the order of the graph ---- */

/*
 * The calling thread works alone, because the communication thread calls this
 * too and pool_run serves one caller at a time.
 */
static void
cpu_device_add(struct device *d, void *sum, const void *x, size_t n)
{
	((struct cpu *)d)->k->add(sum, sum, x, n);
}

static void
cpu_device_update_range(size_t from, size_t to, void *arg)
{
	struct update part = *(const struct update *)arg;

	part.w = (float *)part.w + from;
	if (part.m != NULL)
		part.m = (float *)part.m + from;
	part.g = (const float *)part.g + from;
	part.n = to - from;
	kernels_pick()->update(&part);
}

static void
cpu_device_update(struct device *d, const struct update *u)
{
	cpu_ranges((struct cpu *)d, u->n, GRAIN, cpu_device_update_range,
	    (void *)u);
}

static void
cpu_device_moments_range(size_t from, size_t to, void *arg)
{
	struct moments part = *(const struct moments *)arg;

	part.w = (const float *)part.w + from;
	part.m = (float *)part.m + from;
	part.v = (float *)part.v + from;
	part.g = (float *)part.g + from;
	part.n = to - from;
	kernels_pick()->moments(&part);
}

static void
cpu_device_moments(struct device *d, const struct moments *m)
{
	cpu_ranges((struct cpu *)d, m->n, GRAIN, cpu_device_moments_range,
	    (void *)m);
}

static void
cpu_device_track_range(size_t from, size_t to, void *arg)
{
	struct track part = *(const struct track *)arg;

	part.w = (float *)part.w + from;
	part.x = (const float *)part.x + from;
	part.n = to - from;
	REF(track)(NULL, &part);
}

static void
cpu_device_track(struct device *d, const struct track *t)
{
	cpu_ranges((struct cpu *)d, t->n, GRAIN, cpu_device_track_range,
	    (void *)t);
}

struct cpu_squares {
	const float *x;
	const struct interval *part;
	double *sum;
	const struct kernels *k;
};

static void
cpu_device_squares_range(size_t from, size_t to, void *arg)
{
	const struct cpu_squares *s = arg;

	for (size_t i = from; i < to; i++)
		s->sum[i] = s->k->dot(s->x + s->part[i].at,
		    s->x + s->part[i].at, s->part[i].n);
}

static void
cpu_device_squares(struct device *d, double *sum, const void *x,
    const struct interval *part, size_t parts)
{
	struct cpu *cpu = (struct cpu *)d;
	struct cpu_squares s = { x, part, sum, cpu->k };

	cpu_ranges(cpu, parts, RUNS, cpu_device_squares_range, &s);
}

const struct op_impl *const cpu_ops[OP_KINDS] = {
#define OPERATOR(KIND, name, cpu, bf16) [OP_ ## KIND] = &cpu_ ## cpu,
#include "backend/ops.def"
};

static const struct layout_ops cpu_layout = {
	.bytes = cpu_device_bytes_of, .read = cpu_device_read_activation,
	.write = cpu_device_write_activation,
};

static const struct param_ops cpu_param = {
	.add = cpu_device_add, .update = cpu_device_update,
	.moments = cpu_device_moments, .clamp = REF(clamp),
	.track = cpu_device_track, .squares = cpu_device_squares,
};

const struct backend backend_cpu = {
	.name = "cpu", .elem = sizeof(float), .open = cpu_device_open,
	.close = cpu_device_close, .memory = &host_memory,
	.event = &host_event, .layout = &cpu_layout, .param = &cpu_param,
	.library = dnnl_library, .ops = cpu_ops, .fuse = cpu_fuse,
};
