#ifndef BACKEND_CPU_CPU_H
#define BACKEND_CPU_CPU_H

/*
 * What the files of the cpu back end share.
 *
 * Layout: frames are images, n * t of them.  Pixels (up to 3 channels of more
 * than one place) lie as [image][c][h][w]; everything else lies in blocks of
 * lanes channels, [image][c / lanes][h * w][lanes], filled up with zeros, so
 * that what has one place an image is plain rows of cpu_padded(c) numbers.
 *
 * Work is cut into parts that write to places of their own, and every sum has
 * an order fixed by the shape: results do not depend on the threads.
 */

#include "backend/backend.h"
#include "backend/cpu/kernels.h"
#include "backend/cpu/norm_kernels.h"
#include "base/isa.h"
#include "base/number.h"
#include "base/pool.h"

struct cpu {
	struct device device;		/* first */
	struct pool *pool;
	const struct kernels *k;
	const struct norm_kernels *norm;
	const struct half_kernels *half;	/* bf16 */
	const struct amx_kernels *amx;	/* bf16; NULL: no AMX */
	struct dnnl *dnnl;
};

/* The opened back end that a task is for. */
static inline struct cpu *
cpu_of(const struct task *t)
{
	return (struct cpu *)t->device;
}

static inline const struct kernels *
cpu_k(const struct task *t)
{
	return cpu_of(t)->k;
}

/* pool_run on the threads of the task's device. */
static inline void
cpu_run(const struct task *t, int n, void (*part)(int, int, void *), void *arg)
{
	pool_run(cpu_of(t)->pool, n, part, arg);
}

/* cpu_pages(bytes): what whole pages hold them; buffers begin with one each. */
static inline size_t
cpu_pages(size_t bytes)
{
	return round_up(bytes, 4096);
}

int cpu_lanes(void) ISA_CONST;		/* channels of a block on this processor */

int cpu_is_pixels(const struct dims *d);
int cpu_images(const struct dims *d);		/* n * t */
size_t cpu_places(const struct dims *d);	/* h * w */
int cpu_blocks(int c) ISA_CONST;	/* blocks of c channels */
int cpu_padded(int c) ISA_CONST;	/* blocks * lanes */
size_t cpu_image(const struct dims *d);		/* floats of one image */
size_t cpu_floats(const struct dims *d);	/* of an activation */
float *cpu_plane(const struct dims *d, const void *x, int image, int block);

/* cpu_element(d, x, image, place, c): one number of either layout; slow. */
float *cpu_element(const struct dims *d, const void *x, int image,
    size_t place, int c);

/* cpu_blocked(task): an op's prepare: it works on blocked activations only. */
int cpu_blocked(struct task *t);

/*
 * cpu_ranges(cpu, n, grain, f, arg): f(from, to, arg) over [0, n) in pieces of
 * ${grain}, on all threads.
 */
void cpu_ranges(struct cpu *cpu, size_t n, size_t grain,
    void (*f)(size_t from, size_t to, void *arg), void *arg);

/* The rows for fp32. */
#define OPERATOR(KIND, name, half) extern const struct op_impl cpu_ ## name;
#include "backend/ops.def"
extern const struct op_impl *const cpu_ops[OP_KINDS];

#endif
