#ifndef BACKEND_CPU_CPU_H
#define BACKEND_CPU_CPU_H

/*
 * Declarations that the files of the cpu back end share.
 *
 * An image is one frame of one clip; an activation has n * t images.  There are
 * two layouts, and cpu_is_pixels() says which one a shape has:
 *
 *	pixels	[image][c][h * w]		3 channels, or fewer with
 *						AVX-512, and h * w > 1
 *	blocked	[image][c / L][h * w][L]	all others
 *
 * L is cpu_lanes(), the channels of a block.  Lanes beyond the last channel
 * hold 0.  A blocked activation with h * w = 1 is therefore rows of
 * cpu_padded(c) floats.
 *
 * Every parallel part writes to positions that no other part writes, and the
 * shape alone fixes the order of every sum.  Results therefore do not depend on
 * the number of threads.
 */

#include "backend/backend.h"
#include "backend/cpu/kernels.h"
#include "base/isa.h"
#include "base/number.h"
#include "base/pool.h"

struct cpu {
	struct device device;		/* first: cast from struct device */
	struct pool *pool;
	const struct kernels *k;	/* kernels for fp32 */
	const struct bf16_kernels *half;	/* kernels for bf16; NULL in
						 * fp32 */
	const struct amx_kernels *amx;	/* bf16 by AMX; NULL without AMX */
	struct dnnl *dnnl;
};

struct conv_run;

/* The buffers of a job of a convolution. */
struct conv_buffers {
	const void *in;			/* the input; of a data gradient, dy */
	const float *weights;		/* in the order of the graph */
	void *w;			/* packed weights */
	const float *bias;		/* one float per channel of ${out}, or
					 * NULL; not added if ${more} is 1 */
	const void *dy;			/* of a weight gradient */
	void *out;			/* y, dx or dw */
	int more;			/* 1: add to ${out} */
	float *parts;			/* sums of a weight gradient, for all
					 * jobs */
	void *scratch;			/* for this thread alone */
	int thread;
	const struct conv_run *run;	/* conv/conv.h */
};

/* cpu_of(t): return the open device of the task ${t}. */
static inline struct cpu *
cpu_of(const struct task *t)
{
	return (struct cpu *)t->device;
}

/* cpu_k(t): return the fp32 kernels of the device of ${t}. */
static inline const struct kernels *
cpu_k(const struct task *t)
{
	return cpu_of(t)->k;
}

/*
 * cpu_run(t, n, part, arg): run pool_run on the threads of the device of ${t}.
 */
static inline void
cpu_run(const struct task *t, int n, void (*part)(int, int, void *), void *arg)
{
	pool_run(cpu_of(t)->pool, n, part, arg);
}

/*
 * cpu_run_task(t, n, f): call f(t, i) for i below ${n}, on all threads.
 *
 * cpu_run_blocks(t, images, f): call f(t, image, block) for all blocks of the
 * channels of the output, on all threads.
 */
void cpu_run_task(struct task *t, int n, void (*f)(struct task *t, int i));
void cpu_run_blocks(struct task *t, int images,
    void (*f)(struct task *t, int image, int block));

/* cpu_pages(bytes): round ${bytes} up to whole pages of 4096 bytes. */
static inline size_t
cpu_pages(size_t bytes)
{
	return round_up(bytes, 4096);
}

/* cpu_lanes(): return the channels of a block: 16 with AVX-512, otherwise 8. */
int cpu_lanes(void) ISA_CONST;

/* cpu_is_pixels(d): return 1 for the pixel layout, 0 for the blocked one. */
int cpu_is_pixels(const struct dims *d);

/*
 * Sizes of an activation of shape ${d}, or of ${c} channels:
 *
 * cpu_images	images, n * t
 * cpu_positions	positions of an image, h * w
 * cpu_blocks	blocks of ${c} channels
 * cpu_padded	channels of these blocks, padding included
 * cpu_image	floats of one image
 * cpu_blocked_image
 *		floats of one image in the blocked layout, whichever layout
 *		${d} has
 * cpu_floats	floats of the activation
 */
int cpu_images(const struct dims *d);
size_t cpu_positions(const struct dims *d);
int cpu_blocks(int c) ISA_CONST;
int cpu_padded(int c) ISA_CONST;
size_t cpu_image(const struct dims *d);
size_t cpu_blocked_image(const struct dims *d);
size_t cpu_floats(const struct dims *d);

/*
 * cpu_plane(d, x, image, block):
 * Return the first float of block ${block} of image ${image} in ${x}.  In the
 * pixel layout ${block} must be 0: return the start of the image.
 */
float *cpu_plane(const struct dims *d, const void *x, int image, int block);

/*
 * cpu_element(d, x, image, place, c):
 * Return the address of channel ${c} at position ${place} of image ${image}, in
 * either layout.  It is slow: inner loops step through memory themselves.
 */
float *cpu_element(const struct dims *d, const void *x, int image,
    size_t place, int c);

/*
 * cpu_step(d): return the floats from one position of a channel to the next.
 */
size_t cpu_step(const struct dims *d);

/*
 * cpu_rows_read(t, d, rows, x), cpu_rows_write(t, d, x, rows, more):
 * Copy the activation ${x} of shape ${d} to ${rows}, [n][t][h][w][c] as in
 * backend/ref, and back.  If ${more} is not 0, cpu_rows_write adds to ${x}.
 * They use all threads of the device of ${t}.
 */
void cpu_rows_read(const struct task *t, const struct dims *d, float *rows,
    const void *x);
void cpu_rows_write(const struct task *t, const struct dims *d, void *x,
    const float *rows, int more);

/* cpu_pool_window(t): return the window of the pool ${t} over h and w. */
struct plane_window cpu_pool_window(const struct task *t);

/*
 * Channels [from, to), which a shift takes from the frame ${by} frames later.
 */
struct cpu_shift_range { int from, to, by; };

/*
 * cpu_shift_ranges(shift, row, r):
 * Split ${row} channels into ranges that ${shift} takes from the same frame.
 * Return their number, at most 8.
 */
int cpu_shift_ranges(const struct task *shift, int row,
    struct cpu_shift_range r[8]);

/*
 * cpu_fallback_scratch, cpu_fallback_forward, cpu_fallback_backward:
 * The functions of cpu_fallback, which runs the loops of backend/ref on copies
 * of the activations, in one thread.
 */
size_t cpu_fallback_scratch(const struct task *t);
void cpu_fallback_forward(struct task *t);
void cpu_fallback_backward(struct task *t);

/*
 * cpu_blocked(task):
 * The prepare function of operators that handle blocked activations only.
 * Return 0, or -1 after a message if input 0 or the output has the pixel
 * layout.
 */
int cpu_blocked(struct task *t);

/*
 * cpu_ranges(cpu, n, grain, f, arg):
 * Call f(from, to, ${arg}) for consecutive ranges that cover [0, ${n}), each of
 * ${grain} elements, the last perhaps shorter.  Run the calls on all threads
 * and return when all have returned.  ${f} must not depend on the order of the
 * calls.
 */
void cpu_ranges(struct cpu *cpu, size_t n, size_t grain,
    void (*f)(size_t from, size_t to, void *arg), void *arg);

/* The operators in fp32 (ops.def), and the table of all of them. */
#define OPERATOR(KIND, name, cpu, bf16) extern const struct op_impl cpu_ ## cpu;
#include "backend/ops.def"
extern const struct op_impl *const cpu_ops[OP_KINDS];

#endif
