/* Draw random still scenes, and a camera that moves over them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "scene.h"

#define PLANE 224		/* side of the scene in units */
#define PI 3.14159265358979323846

const char *const move_names[MOVES] = { "pan_left", "pan_right", "roll_left",
	"roll_right", "tilt_down", "tilt_up", "zoom_in", "zoom_out" };

const struct difficulty difficulty_demo = { 72, 1, 2, 2.5, 5, .025, .05, 2 };
const struct difficulty difficulty_near = { 36, 1, 2, 2.5, 5, .025, .05, 2 };
const struct difficulty difficulty_hard = { 72, .2, .6, .5, 1.5, .005, .015, 12 };
const struct difficulty difficulty_faint = { 72, .2, .6, .5, 1.5, .005, .015, 288 };

struct scene {
	int w, h, size;			/* size: side of the plane in pixels */
	double scale;			/* pixels per unit */
	float *plane;			/* [size][size][3] */
	double x, y;			/* center of the middle frame, units */
	struct camera { double dx, dy, roll, zoom; } half[2];	/* per frame */
	double noise;
	struct rng noise_rng;
};

struct difficulty
difficulty_between(const struct difficulty *a, const struct difficulty *b,
    double part)
{
#define BETWEEN(field)	.field = a->field * pow(b->field / a->field, part)
	return (struct difficulty){ BETWEEN(view), BETWEEN(shift_min),
		BETWEEN(shift_max), BETWEEN(roll_min), BETWEEN(roll_max),
		BETWEEN(zoom_min), BETWEEN(zoom_max), BETWEEN(noise) };
#undef BETWEEN
}

static double
scene_between(struct rng *r, double a, double b)
{
	return a + (b - a) * rng_uniform(r);
}

/*
 * Blend ${color} into the plane in the box of ${reach} units around (${x},
 * ${y}), with ${cover} as alpha.
 */
static void
scene_paint_shape(struct scene *s, double x, double y, double reach,
    double (*cover)(double dx, double dy, const double *p), const double *p,
    const double *color)
{
	int x0 = (int)((x - reach) * s->scale), x1 = (int)((x + reach) * s->scale);
	int y0 = (int)((y - reach) * s->scale), y1 = (int)((y + reach) * s->scale);

	for (int j = y0 < 0 ? 0 : y0; j <= y1 && j < s->size; j++)
		for (int i = x0 < 0 ? 0 : x0; i <= x1 && i < s->size; i++) {
			float *to = s->plane + ((size_t)j * s->size + i) * 3;
			double a = cover((i + .5) / s->scale - x,
			    (j + .5) / s->scale - y, p);

			for (int c = 0; c < 3; c++)
				to[c] += (float)(a * (color[c] - to[c]));
		}
}

/*
 * Shapes: the alpha at (dx, dy) from the center; p[0] is the size, p[1] an
 * angle.
 */
static double
scene_blob(double dx, double dy, const double *p)
{
	return exp(-(dx * dx + dy * dy) / (2 * p[0] * p[0]));
}

static double
scene_disc(double dx, double dy, const double *p)
{
	double edge = (p[0] * 1.6 - sqrt(dx * dx + dy * dy)) * 2;

	return edge < 0 ? 0 : edge > 1 ? 1 : edge;
}

static double
scene_square(double dx, double dy, const double *p)
{
	double u = fabs(dx * cos(p[1]) + dy * sin(p[1]));
	double v = fabs(dy * cos(p[1]) - dx * sin(p[1]));
	double edge = (p[0] * 1.4 - (u > v ? u : v)) * 2;

	return edge < 0 ? 0 : edge > 1 ? 1 : edge;
}

static double
scene_stroke(double dx, double dy, const double *p)
{
	double u = fabs(dx * cos(p[1]) + dy * sin(p[1]));
	double v = fabs(dy * cos(p[1]) - dx * sin(p[1]));

	return u > 3 * p[0] ? 0 : exp(-v * v / (p[0] * p[0] * .6));
}

static double (*const shapes[])(double, double, const double *) = {
	scene_blob, scene_disc, scene_square, scene_stroke
};

/*
 * Paint the ground, a linear gradient, and 70 to 170 shapes on it.  There are
 * five kinds of scenes: one of the four shapes alone, or all of them.
 */
static void
scene_paint(struct scene *s, struct rng *r)
{
	int kind = (int)rng_below(r, 5), n = 70 + (int)rng_below(r, 101);
	double mean = scene_between(r, 70, 185), contrast = scene_between(r, 45,
	    100);
	double ground[3], slope[3][2];

	for (int c = 0; c < 3; c++) {
		ground[c] = mean + scene_between(r, -15, 15);
		slope[c][0] = scene_between(r, -.15, .15);
		slope[c][1] = scene_between(r, -.15, .15);
	}
	for (int j = 0; j < s->size; j++)
		for (int i = 0; i < s->size; i++)
			for (int c = 0; c < 3; c++)
				s->plane[((size_t)j * s->size + i) * 3 + c] =
				    (float)(ground[c] + (i / s->scale - PLANE / 2) *
				    slope[c][0] + (j / s->scale - PLANE / 2) *
				    slope[c][1]);
	for (int k = 0; k < n; k++) {
		double x = scene_between(r, 0, PLANE),
		    y = scene_between(r, 0, PLANE);
		double p[2] = { scene_between(r, 2.2, 4),
		    scene_between(r, 0, PI) };
		double color[3];
		int shape = kind < 4 ? kind : (int)rng_below(r, 4);

		for (int c = 0; c < 3; c++)
			color[c] = mean + scene_between(r, -1, 1) * contrast;
		scene_paint_shape(s, x, y, 4 * p[0], shapes[shape], p, color);
	}
}

static struct camera
scene_camera_of(struct rng *r, int move, const struct difficulty *d)
{
	double shift = scene_between(r, d->shift_min, d->shift_max);
	double sign = move % 2 == 0 ? -1 : 1;
	struct camera c = { 0, 0, 0, 0 };

	if (move / 2 == 0)
		c.dx = sign * shift;
	else if (move / 2 == 1)
		c.roll = sign * scene_between(r, d->roll_min, d->roll_max) *
		    PI / 180;
	else if (move / 2 == 2)
		c.dy = -sign * shift;
	else
		c.zoom = sign * scene_between(r, d->zoom_min, d->zoom_max);
	return c;
}

struct scene *
scene_new(uint64_t seed, uint32_t number, const int move[2], int w, int h,
    const struct difficulty *d)
{
	struct scene *s = xcalloc(1, sizeof(*s));
	struct rng r = rng_clip(seed, number);
	double largest = PLANE / 2. - d->view * 1.1;

	s->w = w;
	s->h = h;
	s->scale = (w < h ? w : h) / d->view;
	s->size = (int)ceil(PLANE * s->scale);
	s->plane = xcalloc((size_t)s->size * (size_t)s->size * 3, sizeof(float));
	s->noise = d->noise;
	scene_paint(s, &r);
	s->x = PLANE / 2. + scene_between(&r, -largest, largest);
	s->y = PLANE / 2. + scene_between(&r, -largest, largest);
	s->half[0] = scene_camera_of(&r, move[0], d);
	s->half[1] = move[1] == move[0] ? s->half[0] : scene_camera_of(&r,
	    move[1], d);
	s->noise_rng = rng_clip(seed ^ 0x6e6f697365, number);
	return s;
}

void
scene_free(struct scene *s)
{
	if (s == NULL)
		return;
	free(s->plane);
	free(s);
}

/* Sample the plane at (x, y) units, bilinear, with repeated edges. */
static void
scene_color_at(const struct scene *s, double x, double y, double *rgb)
{
	double largest = s->size - 1.001, fx, fy;
	const float *at;
	int i, j;

	x = x * s->scale - .5;
	y = y * s->scale - .5;
	x = x < 0 ? 0 : x > largest ? largest : x;
	y = y < 0 ? 0 : y > largest ? largest : y;
	i = (int)x;
	j = (int)y;
	fx = x - i;
	fy = y - j;
	at = s->plane + ((size_t)j * s->size + i) * 3;
	for (int c = 0; c < 3; c++) {
		const float *below = at + (size_t)s->size * 3;

		rgb[c] = (1 - fy) * ((1 - fx) * at[c] + fx * at[c + 3]) +
		    fy * ((1 - fx) * below[c] + fx * below[c + 3]);
	}
}

/*
 * Store two approximately normal numbers in ${to}, each the sum of four uniform
 * 16-bit numbers.  One block of the generator is enough for both.
 */
static void
scene_noise(struct rng *r, double to[2])
{
	struct rng_block b = rng_philox(r->seed, (uint32_t)r->id, 0, r->draw++,
	    r->purpose);

	for (int i = 0; i < 2; i++) {
		uint32_t u = b.w[2 * i], v = b.w[2 * i + 1];
		uint32_t sum = (u & 0xffff) + (u >> 16) + (v & 0xffff) +
		    (v >> 16);

		to[i] = (sum / 65536. - 2) * 1.7320508;
	}
}

void
scene_draw(const struct scene *s, int frame, int frames, uint8_t *rgb)
{
	double t = frame - (frames - 1) / 2.;
	const struct camera *m = &s->half[t > 0];
	double x = s->x + t * m->dx, y = s->y + t * m->dy;
	double wide = exp(t * m->zoom), c = cos(t * m->roll) * wide;
	double n = sin(t * m->roll) * wide;
	double grain[2];
	struct rng r = s->noise_rng;

	r.draw = (uint32_t)frame * (uint32_t)(s->w * s->h);
	for (int j = 0; j < s->h; j++)
		for (int i = 0; i < s->w; i++, rgb += 3) {
			double u = (i + .5 - s->w / 2.) / s->scale;
			double v = (j + .5 - s->h / 2.) / s->scale;
			double color[3];

			if (i % 2 == 0)
				scene_noise(&r, grain);
			scene_color_at(s, x + u * c - v * n, y + u * n + v * c,
			    color);
			for (int k = 0; k < 3; k++) {
				double z = color[k] + s->noise * grain[i % 2];

				rgb[k] = (uint8_t)(z < 0 ? 0 : z > 255 ? 255 :
				    z + .5);
			}
		}
}
