/*
 * The grid of positions for weight gradients, and the operands A and B
 * (conv_grid.h).
 */
#include "backend/cpu/bf16/conv_grid.h"
#include "base/number.h"

static int
conv_grid_floor_div(int a, int b)
{
	return a >= 0 ? a / b : -((b - 1 - a) / b);
}

/* ---- the grid ---- */

/*
 * Set ${*phase} to the phase that tap ${k} reads.  Return the distance in its
 * grid from a position of dy to the position of x.
 */
static int
conv_grid_shift_of(const struct conv_grid_axis *a, int k, int *phase)
{
	int shift = conv_grid_floor_div(k - a->p, a->s),
	    from = k - a->p - shift * a->s;

	for (*phase = 0; *phase < a->phases && a->phase[*phase] != from;)
		++*phase;
	return shift;
}

/*
 * Choose the pitch so that no tap connects different rows.  For positions c <
 * cells of x and shifts from low to high, c - shift runs from -high to cells -
 * 1 - low.  With a pitch of at least out + high and cells - low, it is in the
 * row or among the empty positions around it.
 */
static void
conv_grid_lay_out(struct conv_grid_axis *a)
{
	int low = 0, high = 0;

	for (int k = 0; k < a->k; k++) {
		int phase, shift = conv_grid_shift_of(a, k, &phase);

		low = shift < low ? shift : low;
		high = shift > high ? shift : high;
		if (phase == a->phases && a->phases < PLACES_PHASES / 2)
			a->phase[a->phases++] = k - a->p - shift * a->s;
	}
	a->cells = (a->in + a->s - 1) / a->s;
	if (a->cells > a->out + high)
		a->cells = a->out + high;
	a->pitch = a->out + high > a->cells - low ? a->out + high :
	    a->cells - low;
}

static struct conv_grid_axis
conv_grid_side(const struct gemm_conv *s, int d)
{
	return (struct conv_grid_axis){ .in = d ? s->in_w : s->in_h,
		.out = d ? s->out_w : s->out_h, .k = s->k[d], .s = s->s[d],
		.p = s->p[d] };
}

static int
conv_grid_is_pixels(const struct gemm_conv *s)
{
	return s->in_row % 16 != 0;
}

int
conv_grid_supports(const struct gemm_conv *s)
{
	if (conv_grid_is_pixels(s))
		return s->s[0] <= 2 && s->k[1] * s->in <= AMX_COLUMNS &&
		    s->k[0] <= PLACES_TAPS;
	return s->s[0] <= 2 && s->s[1] <= 2 && s->k[0] * s->k[1] <= PLACES_TAPS;
}

void
conv_grid_init(struct conv_grid *g, const struct gemm_conv *s)
{
	long low = 0, high = 0;

	*g = (struct conv_grid){ .s = *s, .k = amx_kernels_pick(),
		.pixels = conv_grid_is_pixels(s) };
	g->columns = g->pixels ? s->k[1] * s->in : s->in_row;
	s = &g->s;
	if (s->k[0] * s->k[1] * s->s[0] * s->s[1] == 1 &&
	    s->p[0] + s->p[1] == 0) {
		/*
		 * Without taps, stride and padding all positions form one row.
		 */
		g->s.in_w = g->s.out_w = s->images * s->in_h * s->in_w;
		g->s.in_h = g->s.out_h = g->s.images = 1;
	}
	g->h = conv_grid_side(s, 0);
	g->w = conv_grid_side(s, 1);
	if (g->pixels) {
		/*
		 * One tap reads all pixels of a kernel row, so the grid is that
		 * of the outputs.
		 */
		g->w.in = g->w.out;
		g->w.k = g->w.s = 1;
		g->w.p = 0;
	}
	conv_grid_lay_out(&g->h);
	conv_grid_lay_out(&g->w);
	g->n = (long)s->images * g->h.pitch * g->w.pitch;
	g->phases = g->h.phases * g->w.phases;
	for (int y = 0; y < g->h.k; y++)
		for (int x = 0; x < g->w.k; x++) {
			int py, px, i = g->taps++;
			long shift = (long)conv_grid_shift_of(&g->h, y, &py) *
			    g->w.pitch + conv_grid_shift_of(&g->w, x, &px);

			g->tap[i].shift = shift;
			g->tap[i].phase = py * g->w.phases + px;
			low = shift < low ? shift : low;
			high = shift > high ? shift : high;
		}
	g->before = (int)round_up((uint64_t)high, AMX_TERMS);
	g->after = (int)round_up((uint64_t)-low, AMX_TERMS);
}

/* ---- operands A and B ---- */

/* A position of an iteration over the grid. */
struct conv_grid_walk { int image, h, w; };

static struct conv_grid_walk
conv_grid_walk_to(const struct conv_grid *g, long q)
{
	long row = q / g->w.pitch;

	return (struct conv_grid_walk){ (int)(row / g->h.pitch),
	    (int)(row % g->h.pitch),
		(int)(q % g->w.pitch) };
}

/*
 * Advance by the rest of the row, at most ${largest} positions, and return
 * their number.
 */
static int
conv_grid_walk_on(const struct conv_grid *g, struct conv_grid_walk *at,
    int largest)
{
	int n = g->w.pitch - at->w < largest ? g->w.pitch - at->w : largest;

	at->w += n;
	if (at->w < g->w.pitch)
		return n;
	at->w = 0;
	if (++at->h < g->h.pitch)
		return n;
	at->h = 0;
	at->image++;
	return n;
}

void
conv_grid_pack_a(const struct conv_grid *g, struct conv_grid_range o, bf16 *to,
    size_t row, const bf16 *dy, long from, int n)
{
	static const bf16 nothing[PLACES_WIDEST];
	const struct gemm_conv *s = &g->s;
	const size_t step = (size_t)s->out_row;
	const bf16 *place[AMX_TERMS];
	struct conv_grid_walk at = conv_grid_walk_to(g, from < 0 ? 0 : from);

	for (int j = 0; j < n; j += AMX_TERMS) {
		int i = 0;

		/* Positions before the first are whole pieces. */
		for (; from + j < 0 && i < AMX_TERMS; i++)
			place[i] = nothing;
		while (i < AMX_TERMS) {
			struct conv_grid_walk is = at;
			int end = i + conv_grid_walk_on(g, &at, AMX_TERMS - i),
			    there = 0;
			const bf16 *p = dy + (((size_t)is.image *
			    (size_t)s->out_h + (size_t)is.h) *
			    (size_t)s->out_w + (size_t)is.w) * step +
			    (size_t)o.first;

			if (is.image < s->images && is.h < s->out_h)
				there = s->out_w - is.w;
			for (; i < end && there > 0; i++, there--, p += step)
				place[i] = p;
			for (; i < end; i++)
				place[i] = nothing;
		}
		g->k->transpose(to + j, row, place, o.n, AMX_TERMS * step);
	}
}

/*
 * Return a bit for each number that the taps of a kernel row read at column
 * ${first}: 1 if it is inside of the image.
 */
static uint32_t
conv_grid_inside(const struct gemm_conv *s, int first)
{
	int from = first < 0 ? -first : 0, to = s->in_w - first;
	uint64_t bits;

	to = to < s->k[1] ? to : s->k[1];
	if (from >= to)
		return 0;
	bits = ((uint64_t)1 << to * s->in) - ((uint64_t)1 << from * s->in);
	return (uint32_t)bits;
}

void
conv_grid_pack_b(const struct conv_grid *g, struct conv_grid_range c, int phase,
    bf16 *to, size_t run, const bf16 *x, long from, int n)
{
	const struct gemm_conv *s = &g->s;
	const size_t step = (size_t)(s->s[1] * s->in_row);
	int y0 = g->h.phase[phase / g->w.phases];
	int x0 = g->pixels ? -s->p[1] : g->w.phase[phase % g->w.phases];
	const bf16 *place[AMX_TERMS];
	uint32_t mask[AMX_TERMS];
	struct conv_grid_walk at = conv_grid_walk_to(g, from);

	for (int j = 0; j < n; j += AMX_TERMS) {
		for (int i = 0; i < AMX_TERMS;) {
			struct conv_grid_walk is = at;
			int end = i + conv_grid_walk_on(g, &at, AMX_TERMS - i),
			    there = 0;
			int h = is.h * s->s[0] + y0, w = is.w * s->s[1] + x0;
			const bf16 *p = x + (((long)is.image * s->in_h + h) *
			    s->in_w + w) * s->in_row + c.first;

			if (is.image < s->images && is.h < g->h.cells &&
			    h < s->in_h)
				there = g->w.cells - is.w;
			for (; i < end && there > 0 && w < s->in_w; i++,
			    there--, w += s->s[1], p += step) {
				place[i] = p;
				mask[i] = g->pixels ? conv_grid_inside(s, w) :
				    ~0u;
			}
			for (; i < end; i++) {
				place[i] = x;
				mask[i] = 0;
			}
		}
		g->k->pair(to + (size_t)j * AMX_COLUMNS, run, place, mask, c.n,
		    AMX_TERMS * step);
	}
}
