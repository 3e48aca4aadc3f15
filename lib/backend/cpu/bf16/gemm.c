/*
 * Convolutions as GEMMs (gemm.h): the phases, how the work is split, and
 * what a job does.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/bf16/gemm.h"
#include "backend/cpu/bf16/gemm_kernels.h"
#include "base/mem.h"

enum {
	TERMS = 32, OUTPUTS = 32, ROWS = 32,	/* of a step of the kernel */
	PANEL = 128 << 10,	/* bytes of rows that stay in L2 while all
				 * outputs are computed from them */
	ROWS_MAX = 512,
	RUNS_A_THREAD = 4,	/* jobs per thread: if a thread waits for a
				 * core, others take its remaining jobs */
	CACHE = 1 << 20		/* store larger outputs past the caches */
};

/*
 * Tap number ${which}: position (i, j) of a phase reads input position (i step
 * + ${dh}, j step + ${dw}).
 */
struct bf16_gemm_tap { int dh, dw, which; };

/*
 * A phase: output positions that the same taps reach, every so many on each
 * axis.
 */
struct bf16_gemm_phase {
	int h, w, first_h, first_w;
	int taps;
	struct bf16_gemm_tap *tap;
	int steps;			/* steps of TERMS, of all taps */
	int direct;			/* rows are contiguous in x */
	size_t weights;			/* offset of its packed weights */
	int panel;			/* rows of a panel */
	int parts, columns;		/* jobs: ranges of rows, of outputs */
	int job;			/* first job */
};

struct gemm {
	struct gemm_conv s;
	const struct gemm_kernels *k;
	int from, to;			/* numbers of a row that is read,
					 * written */
	int terms, outputs;		/* channels of a row */
	int from_h, from_w, to_h, to_w;
	int step[2], apart[2];		/* strides in input, in output */
	int blocks;			/* blocks of OUTPUTS */
	int phases, jobs;
	struct bf16_gemm_phase *phase;
	size_t numbers;			/* numbers of all packed weights */
	size_t panel;			/* bytes of a panel of copied rows */
	int stream;
};

static int
bf16_gemm_smaller(long a, long b)
{
	return (int)(a < b ? a : b);
}

/*
 * Set ${*at} to the offset at which tap ${tap} reads, for positions from
 * ${first} on one axis.  Return 0 if it reads none of them.
 */
static int
bf16_gemm_tap_at(const struct gemm *p, int axis, int first, int tap,
    int *at)
{
	*at = p->s.back ? first + p->s.p[axis] - tap : tap - p->s.p[axis];
	if (!p->s.back)
		return 1;
	if (*at % p->s.s[axis] != 0)
		return 0;
	*at /= p->s.s[axis];
	return 1;
}

static void
bf16_gemm_set_taps(const struct gemm *p, struct bf16_gemm_phase *f)
{
	int kw = p->s.k[1];

	f->tap = xcalloc((size_t)(p->s.k[0] * kw), sizeof(*f->tap));
	for (int a = 0; a < p->s.k[0]; a++)
		for (int b = 0; b < kw; b++) {
			struct bf16_gemm_tap t = { .which = a * kw + b };

			if (bf16_gemm_tap_at(p, 0, f->first_h, a, &t.dh) &&
			    bf16_gemm_tap_at(p, 1, f->first_w, b, &t.dw))
				f->tap[f->taps++] = t;
		}
}

static size_t
bf16_gemm_rows_of(const struct gemm *p,
    const struct bf16_gemm_phase *f)
{
	return (size_t)p->s.images * (size_t)f->h * (size_t)f->w;
}

/*
 * Split a phase into ${jobs} jobs of rows and outputs.  A job reads its rows
 * and the weights of its outputs once, from far away: choose the split that
 * reads the fewest bytes.
 */
static void
bf16_gemm_cut(const struct gemm *p, struct bf16_gemm_phase *f,
    int jobs)
{
	double rows = (double)bf16_gemm_rows_of(p, f) * (f->direct ? 1 : 2);
	double weights = (double)p->blocks * OUTPUTS, least = 0;
	int largest = (int)((bf16_gemm_rows_of(p, f) + ROWS - 1) / ROWS);

	f->parts = f->columns = 1;
	for (int c = 1; c <= p->blocks && c <= jobs; c++) {
		int parts = bf16_gemm_smaller((jobs + c - 1) / c, largest);
		double bytes = rows * c + weights * parts;

		if (p->blocks % c != 0 || (c > 1 && parts * c > jobs) ||
		    (least > 0 && bytes >= least))
			continue;
		least = bytes;
		f->parts = parts;
		f->columns = c;
	}
	assert(f->parts > 0);
}

static void
bf16_gemm_set_phase(struct gemm *p, struct bf16_gemm_phase *f,
    int jobs)
{
	size_t row;

	bf16_gemm_set_taps(p, f);
	f->direct = f->taps == 1 && p->step[0] == 1 && p->step[1] == 1 &&
	    f->tap->dh == 0 && f->tap->dw == 0 && f->h == p->from_h &&
	    f->w == p->from_w && p->from % TERMS == 0;
	f->steps = (f->taps * p->from + TERMS - 1) / TERMS;
	f->weights = p->numbers;
	p->numbers += (size_t)p->blocks * OUTPUTS * TERMS * (size_t)f->steps;
	row = (size_t)f->steps * TERMS * sizeof(bf16);
	f->panel = f->steps == 0 ? ROWS_MAX :
	    bf16_gemm_smaller((long)(PANEL / row), ROWS_MAX) / ROWS * ROWS;
	f->panel = f->panel > ROWS ? f->panel : ROWS;
	if (row * (size_t)f->panel > p->panel)
		p->panel = row * (size_t)f->panel;
	bf16_gemm_cut(p, f, jobs);
	f->job = p->jobs;
	p->jobs += f->parts * f->columns;
}

struct gemm *
gemm_new(const struct gemm_conv *s, int threads)
{
	struct gemm *p = xcalloc(1, sizeof(*p));
	int n;

	p->s = *s;
	p->k = gemm_kernels_pick();
	p->from = s->back ? s->out_row : s->in_row;
	p->to = s->back ? s->in_row : s->out_row;
	p->terms = s->back ? s->out : s->in;
	p->outputs = s->back ? s->in : s->out;
	p->from_h = s->back ? s->out_h : s->in_h;
	p->from_w = s->back ? s->out_w : s->in_w;
	p->to_h = s->back ? s->in_h : s->out_h;
	p->to_w = s->back ? s->in_w : s->out_w;
	for (int i = 0; i < 2; i++) {
		p->step[i] = s->back ? 1 : s->s[i];
		p->apart[i] = s->back ? s->s[i] : 1;
	}
	p->blocks = (p->to + OUTPUTS - 1) / OUTPUTS;
	p->stream = p->to % OUTPUTS == 0 && (size_t)s->images *
	    (size_t)p->to_h * (size_t)p->to_w * (size_t)p->to * sizeof(bf16) >
	    CACHE;
	n = p->apart[0] * p->apart[1];
	p->phase = xcalloc((size_t)n, sizeof(*p->phase));
	for (int i = 0; i < n; i++) {
		struct bf16_gemm_phase *f = &p->phase[p->phases];

		f->first_h = i / p->apart[1];
		f->first_w = i % p->apart[1];
		f->h = (p->to_h - f->first_h + p->apart[0] - 1) / p->apart[0];
		f->w = (p->to_w - f->first_w + p->apart[1] - 1) / p->apart[1];
		if (f->h <= 0 || f->w <= 0)
			continue;
		bf16_gemm_set_phase(p, f, RUNS_A_THREAD * threads);
		p->phases++;
	}
	assert(p->jobs > 0);
	return p;
}

void
gemm_free(struct gemm *p)
{
	if (p == NULL)
		return;
	for (int i = 0; i < p->phases; i++)
		free(p->phase[i].tap);
	free(p->phase);
	free(p);
}

size_t
gemm_weights(const struct gemm *p)
{
	return p->numbers * sizeof(bf16);
}

/* A panel, and the addresses of its outputs. */
size_t
gemm_scratch(const struct gemm *p)
{
	return p->panel + ROWS_MAX * sizeof(bf16 *);
}

int
gemm_slices(const struct gemm *p)
{
	return p->phases * p->blocks;
}

/*
 * Pack a block of outputs of a phase.  Terms go tap by tap.  If a row is not a
 * multiple of 32, a step of 32 terms may belong to two taps.
 */
void
gemm_order(const void *state, int slice, const struct conv_buffers *o)
{
	const struct gemm *p = state;
	const struct bf16_gemm_phase *f = &p->phase[slice / p->blocks];
	int block = slice % p->blocks, n0 = block * OUTPUTS;
	size_t taps = (size_t)(p->s.k[0] * p->s.k[1]);
	size_t in_step = taps, out_step = taps * (size_t)p->s.in;
	size_t o_step = p->s.back ? in_step : out_step;
	size_t t_step = p->s.back ? out_step : in_step;
	bf16 *to = (bf16 *)o->w + f->weights + (size_t)block * OUTPUTS *
	    TERMS * (size_t)f->steps;

	memset(to, 0, (size_t)f->steps * OUTPUTS * TERMS * sizeof(*to));
	for (int c = 0; c < p->terms; c += 16)
		for (int i = 0; i < f->taps; i++)
			for (int n = n0; n < n0 + OUTPUTS; n += 16) {
				int k = i * p->from + c;
				int left = p->outputs - n, terms = p->terms - c;

				if (left <= 0)
					continue;
				p->k->order(to + (size_t)(k / TERMS) * OUTPUTS *
				    TERMS + (size_t)(n - n0) * TERMS +
				    (size_t)(k % TERMS) * 16, o->weights +
				    (size_t)n * o_step + (size_t)c * t_step +
				    f->tap[i].which, o_step, t_step,
				    bf16_gemm_smaller(left, 16),
				    bf16_gemm_smaller(terms, 16));
			}
}

int
gemm_jobs(const struct gemm *p)
{
	return p->jobs;
}

/* Position ${m} of a phase, image by image. */
struct bf16_gemm_place { int image, h, w; };

static struct bf16_gemm_place
bf16_gemm_place_at(const struct bf16_gemm_phase *f, size_t m)
{
	size_t image = (size_t)f->h * (size_t)f->w;

	return (struct bf16_gemm_place){ (int)(m / image), (int)(m % image /
	    (size_t)f->w), (int)(m % (size_t)f->w) };
}

static void
bf16_gemm_next_place(const struct bf16_gemm_phase *f,
    struct bf16_gemm_place *at)
{
	if (++at->w < f->w)
		return;
	at->w = 0;
	if (++at->h < f->h)
		return;
	at->h = 0;
	at->image++;
}

/* Set ${to} to the addresses in y of ${rows} positions from ${m}. */
static void
bf16_gemm_set_rows(const struct gemm *p,
    const struct bf16_gemm_phase *f, bf16 *y, size_t m, int rows, bf16 **to)
{
	struct bf16_gemm_place at = bf16_gemm_place_at(f, m);

	for (int i = 0; i < rows; i++, bf16_gemm_next_place(f, &at))
		to[i] = y + (((size_t)at.image * (size_t)p->to_h +
		    (size_t)(f->first_h + at.h * p->apart[0])) *
		    (size_t)p->to_w + (size_t)(f->first_w + at.w *
		    p->apart[1])) * (size_t)p->to;
}

/* Copy the inputs that the taps read at these positions, row by row. */
static void
bf16_gemm_copy_rows(const struct gemm *p,
    const struct bf16_gemm_phase *f, const bf16 *x, size_t m, int rows,
    bf16 *panel)
{
	struct bf16_gemm_place at = bf16_gemm_place_at(f, m);
	size_t from = (size_t)p->from, bytes = from * sizeof(*x);
	size_t row = (size_t)f->steps * TERMS;

	for (int i = 0; i < rows; i++, bf16_gemm_next_place(f, &at),
	    panel += row) {
		const bf16 *image = x + (size_t)at.image * (size_t)p->from_h *
		    (size_t)p->from_w * from;
		bf16 *to = panel;

		for (int k = 0; k < f->taps; k++, to += from) {
			int h = at.h * p->step[0] + f->tap[k].dh;
			int w = at.w * p->step[1] + f->tap[k].dw;

			if (h < 0 || h >= p->from_h || w < 0 || w >= p->from_w)
				memset(to, 0, bytes);
			else
				memcpy(to, image + ((size_t)h *
				    (size_t)p->from_w + (size_t)w) * from,
				    bytes);
		}
		memset(to, 0, (size_t)(panel + row - to) * sizeof(*to));
	}
}

/* The phase, the rows and the outputs of a job. */
struct bf16_gemm_job {
	const struct bf16_gemm_phase *f;
	size_t first, end;
	int block, outputs;
};

static struct bf16_gemm_job
bf16_gemm_job_of(const struct gemm *p, int job)
{
	struct bf16_gemm_job j = { .f = p->phase };
	size_t rows;
	int i, last;

	for (i = 1; i < p->phases && p->phase[i].job <= job; i++)
		j.f = &p->phase[i];
	rows = bf16_gemm_rows_of(p, j.f);
	i = (job - j.f->job) / j.f->columns;
	j.first = rows * (size_t)i / (size_t)j.f->parts;
	j.end = rows * (size_t)(i + 1) / (size_t)j.f->parts;
	i = (job - j.f->job) % j.f->columns;
	j.block = p->blocks * i / j.f->columns;
	last = p->blocks * (i + 1) / j.f->columns;
	j.outputs = bf16_gemm_smaller(p->to, last * OUTPUTS) - j.block *
	    OUTPUTS;
	return j;
}

/* Clear positions that no tap reaches. */
static void
bf16_gemm_clear(const struct gemm *p, const struct bf16_gemm_job *j,
    bf16 *y, bf16 **to)
{
	for (size_t m = j->first; m < j->end; m += ROWS_MAX) {
		int rows = bf16_gemm_smaller((long)(j->end - m), ROWS_MAX);

		bf16_gemm_set_rows(p, j->f, y, m, rows, to);
		for (int i = 0; i < rows; i++)
			memset(to[i], 0, (size_t)j->outputs * sizeof(bf16));
	}
}

void
gemm_run(const void *state, int job, const struct conv_buffers *o)
{
	const struct gemm *p = state;
	const struct bf16_gemm_job j = bf16_gemm_job_of(p, job);
	const struct bf16_gemm_phase *f = j.f;
	int at = j.block * OUTPUTS;
	const bf16 *x = o->in;
	bf16 **to = o->scratch, *panel = (bf16 *)(to + ROWS_MAX);
	bf16 *y = (bf16 *)o->out + at;
	struct gemm_tiles t = { .b_step = (size_t)f->steps * OUTPUTS * TERMS,
		.steps = f->steps, .outputs = j.outputs, .to = to,
		.bias = o->bias == NULL ? NULL : o->bias + at, .more = o->more,
		.stream = p->stream && !o->more };

	if (f->steps == 0) {
		if (!o->more)
			bf16_gemm_clear(p, &j, y, to);
		return;
	}
	t.b = (const bf16 *)o->w + f->weights + (size_t)j.block * t.b_step;
	p->k->open();
	for (size_t m = j.first; m < j.end; m += (size_t)t.rows) {
		t.rows = bf16_gemm_smaller((long)(j.end - m), f->panel);
		if (f->direct && t.rows > ROWS)
			t.rows -= t.rows % ROWS;
		if (f->direct && t.rows % ROWS == 0) {
			size_t next = m + (size_t)t.rows;

			t.a = x + m * (size_t)p->from;
			t.a_step = (size_t)p->from;
			t.next = x + next * t.a_step;
			t.next_bytes =
			    (size_t)bf16_gemm_smaller((long)(j.end - next),
			    f->panel) * t.a_step * sizeof(*x);
		} else {
			bf16_gemm_copy_rows(p, f, x, m, t.rows, panel);
			t.a = panel;
			t.a_step = (size_t)f->steps * TERMS;
			t.next_bytes = 0;
		}
		bf16_gemm_set_rows(p, f, y, m, t.rows, to);
		p->k->run(&t);
	}
	p->k->close();
}
