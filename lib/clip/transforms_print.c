/* Print the transforms of a clip as words. */
#include "clip/transforms_print.h"

static const char *const names[] = {
	"identity", "shear-x", "shear-y", "translate-x", "translate-y",
	"rotate", "brightness", "color", "contrast", "sharpness", "posterize",
	"solarize", "autocontrast", "equalize"
};

/* Return the name of the option that sets this jitter. */
static const char *
transforms_print_jitter_name(enum color_op op)
{
	return op == COLOR_HUE ? "hue" : op == RAND_COLOR ? "saturation" :
	    names[op];
}

/* Return 0 for operators without an argument. */
static int
transforms_print_has_value(enum color_op op)
{
	return op != RAND_IDENTITY && op != RAND_AUTOCONTRAST &&
	    op != RAND_EQUALIZE;
}

static const char *
transforms_print_blank(int n)
{
	return n > 0 ? " " : "";
}

int
transforms_print(const struct transforms *e, struct rng clip, int side, int n,
    FILE *to)
{
	struct transforms_drawn d = transforms_draw(e, clip, side);

	for (int i = 0; i < d.n; i++) {
		enum color_op op = d.op[i].op;

		fprintf(to, "%s%s%s", transforms_print_blank(n++),
		    i < d.of_rand ? "rand-" : "",
		    i < d.of_rand ? names[op] :
		    transforms_print_jitter_name(op));
		if (transforms_print_has_value(op))
			fprintf(to, "=%.17g", d.op[i].v);
	}
	if (d.w > 0)
		fprintf(to, "%serase=%dx%d+%d+%d", transforms_print_blank(n++),
		    d.w, d.h, d.x, d.y);
	return n;
}

int
transforms_print_mix(const struct mix *m, unsigned long long with, int n,
    FILE *to)
{
	fprintf(to, "%s%s=%.17g:%llu", transforms_print_blank(n),
	    m->cut ? "cutmix" : "mixup", (double)m->lambda / MIX_ONE, with);
	if (m->cut)
		fprintf(to, ":%dx%d+%d+%d", m->w, m->h, m->x, m->y);
	return n + 1;
}
