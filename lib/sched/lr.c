/* Learning rates: pieces over epochs, as numbers and as text. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "sched/lr.h"

/*
 * (1 + cos(pi x)) / 2 = (1 - sin z) / 2 with z = pi (x - 1/2).  The Taylor
 * series of sin z needs no term beyond z^21, because z^23 / 23! < 2e-18.
 */
double
lr_cosine(double x)
{
	double z = 3.14159265358979323846 * (x - 0.5), s = z * z, sum = 1;

	for (int k = 20; k >= 2; k -= 2)
		sum = 1 - s * sum / (k * (k + 1));
	return (1 - z * sum) / 2;
}

/* Return the part of the way from e0 to e1 at ${epoch}. */
static double
lr_part_done(const struct lr_piece *p, double epoch)
{
	double x = (epoch - p->e0) / (p->e1 - p->e0);

	return x < 0 ? 0 : x > 1 ? 1 : x;
}

static double
lr_flat_at(const struct lr_piece *p, double epoch)
{
	(void)epoch;
	return p->r0;
}

static double
lr_line_at(const struct lr_piece *p, double epoch)
{
	return p->r0 + (epoch - p->e0) * ((p->r1 - p->r0) / (p->e1 - p->e0));
}

static double
lr_cosine_at(const struct lr_piece *p, double epoch)
{
	return p->r1 + (p->r0 - p->r1) * lr_cosine(lr_part_done(p, epoch));
}

static double
lr_power_at(const struct lr_piece *p, double epoch)
{
	double x = lr_part_done(p, epoch), y = 1;

	for (int i = 0; i < p->power; i++)
		y *= 1 - x;
	return p->r1 + (p->r0 - p->r1) * y;
}

static const struct lr_shape {
	const char *name;	/* behind the colon; NULL: without one */
	int min, max;		/* of the number behind the name; 0: none */
	double (*at)(const struct lr_piece *p, double epoch);
} shapes[LR_KINDS] = {
	[LR_FLAT] = { NULL, 0, 0, lr_flat_at },
	[LR_COSINE] = { "cosine", 0, 0, lr_cosine_at },
	[LR_LINE] = { NULL, 0, 0, lr_line_at },
	[LR_POWER] = { "power", 2, LR_POWER_MAX, lr_power_at }
};

double
lr_at(const struct lr_piece *piece, int n, double epoch)
{
	const struct lr_piece *p = piece;

	while (p < piece + n - 1 && epoch >= p->until)
		p++;
	return shapes[p->kind].at(p, epoch);
}

/* Read "R@E" from ${text}, which is overwritten. */
static int
lr_parse_point(char *text, double *r, double *e)
{
	char *at = strchr(text, '@');

	if (at == NULL)
		return -1;
	*at = '\0';
	return text_real(text, 0, LR_MAX, r) == 0 &&
	    text_real(at + 1, 0, LR_MAX, e) == 0 ? 0 : -1;
}

/* Read the name of a shape and its number, such as "cosine" or "power2". */
static int
lr_parse_shape(const char *text, struct lr_piece *p)
{
	int64_t number = 0;

	for (int k = 0; k < LR_KINDS; k++) {
		const struct lr_shape *s = &shapes[k];

		if (s->name == NULL || !text_starts(text, s->name))
			continue;
		text += strlen(s->name);
		if (s->max == 0 ? *text != '\0' :
		    text_int(text, s->min, s->max, &number) != 0)
			return -1;
		p->kind = (enum rate_kind)k;
		p->power = (int)number;
		return 0;
	}
	return -1;
}

/* Read one piece: "R", "R@E..R@E" or "R@E..R@E:SHAPE". */
static int
lr_parse_piece(const char *where, const char *text, int end,
    struct lr_piece *p)
{
	char *copy = xstrdup(text), *dots = strstr(copy, "..");
	char *colon = dots != NULL ? strchr(dots, ':') : NULL;
	int status = 0;

	*p = (struct lr_piece){ .kind = LR_FLAT, .until = end };
	if (dots == NULL) {
		if (text_real(text, 0, LR_MAX, &p->r0) != 0)
			status = fail("%s: %s (wanted a learning rate, such as "
			    "0.1, or a line from lr@epoch to lr@epoch, such as "
			    "0.01@0..0.1@5)", where, text_quote(text));
	} else {
		*dots = '\0';
		p->kind = LR_LINE;
		if (colon != NULL)
			*colon++ = '\0';
		if (colon != NULL && lr_parse_shape(colon, p) != 0)
			status = fail("%s: %s (wanted a line, or :cosine or "
			    ":power2 to :power9 behind it)", where,
			    text_quote(text));
		else if (lr_parse_point(copy, &p->r0, &p->e0) != 0 ||
		    lr_parse_point(dots + 2, &p->r1, &p->e1) != 0)
			status = fail("%s: %s (wanted lr@epoch..lr@epoch, "
			    "such as 0.01@0..0.1@5)", where, text_quote(text));
		else if (p->e0 >= p->e1)
			status = fail("%s: %s begins at epoch %g and ends "
			    "at %g (wanted an end after the beginning)", where,
			    text_quote(text), p->e0, p->e1);
		p->until = p->e1;
	}
	free(copy);
	return status;
}

/*
 * Reject pieces that never apply, and epochs without a piece.  Such a table
 * does not mean what its author intended.
 */
static int
lr_check_place(const char *where, const char *text, int begin, int end,
    const struct lr_piece *p, const struct lr_piece *before, int more)
{
	double from = before != NULL ? before->until : begin, lr;

	if (before != NULL && from >= end)
		return fail("%s: %s never applies: the piece before it "
		    "holds to epoch %g, and the stage ends at %d", where,
		    text_quote(text), from, end);
	if (p->kind == LR_FLAT && more)
		return fail("%s: %s has no end, but another piece follows "
		    "(wanted the constant rate last)", where, text_quote(text));
	if (p->until <= from)
		return fail("%s: %s never applies: it ends at epoch %g (wanted "
		    "an end after %g)", where, text_quote(text), p->until,
		    from);
	if (p->kind != LR_FLAT && !more && p->until < end)
		return fail("%s: %s ends at epoch %g, and the stage at %d "
		    "(wanted another piece for the rest)", where,
		    text_quote(text), p->until, end);
	/*
	 * A piece ends at r1 but may begin anywhere on its line, so check that.
	 * Rounding may leave a line that reaches 0 a little below it.
	 */
	lr = lr_at(p, 1, from);
	if (!(lr >= -1e-12 * (p->r0 + p->r1) && lr <= LR_MAX))
		return fail("%s: %s is %g at epoch %g, where it begins to hold "
		    "(wanted 0 to %g)", where, text_quote(text), lr, from,
		    LR_MAX);
	return 0;
}

int
lr_parse(const char *where, const char *text, int begin, int end,
    struct lr_piece **piece)
{
	struct lr_piece *p = NULL;
	char *copy = xstrdup(text), *next = copy, *one;
	size_t n = 0, cap = 0;

	while ((one = strsep(&next, ",")) != NULL) {
		if (n == LR_PIECES) {
			fail("%s: more than %d pieces", where, LR_PIECES);
			free(copy);
			free(p);
			return -1;
		}
		p = array_reserve(p, n, &cap, sizeof(*p));
		if (lr_parse_piece(where, one, end, &p[n]) != 0 ||
		    lr_check_place(where, one, begin, end, &p[n],
		    n > 0 ? &p[n - 1] : NULL, next != NULL) != 0) {
			free(copy);
			free(p);
			return -1;
		}
		n++;
	}
	free(copy);
	*piece = p;
	return (int)n;
}

void
lr_print(const struct lr_piece *piece, int n, struct buffer *out)
{
	char r0[32], e0[32], r1[32], e1[32];

	for (const struct lr_piece *p = piece; p < piece + n; p++) {
		buffer_text(out, p > piece ? "," : "");
		text_real_write(r0, p->r0);
		if (p->kind == LR_FLAT)
			buffer_text(out, r0);
		else
			buffer_printf(out, "%s@%s..%s@%s", r0,
			    text_real_write(e0, p->e0),
			    text_real_write(r1, p->r1),
			    text_real_write(e1, p->e1));
		if (shapes[p->kind].name != NULL)
			buffer_printf(out, ":%s", shapes[p->kind].name);
		if (shapes[p->kind].max > 0)
			buffer_printf(out, "%d", p->power);
	}
}

double
lr_linear(double lr, double factor, int times)
{
	return factor * times * lr;
}

int
lr_part(const struct lr_piece *piece, int n, int begin, int end,
    struct lr_piece **part)
{
	struct lr_piece *p = xcalloc((size_t)n, sizeof(*p));
	double from = begin;
	int count = 0;

	for (int i = 0; i < n && from < end; i++) {
		if (piece[i].until <= from)
			continue;
		p[count] = piece[i];
		/* Only a constant has no end of its own. */
		if (p[count].kind == LR_FLAT)
			p[count].until = end;
		from = p[count++].until;
	}
	*part = p;
	return count;
}

int
lr_stage(const struct lr_piece *after, int begin, int end,
    const struct lr_warmup *w, struct lr_piece **piece)
{
	struct lr_piece *p = xcalloc(2, sizeof(*p));
	int n = 0;

	if (begin < w->epochs)
		p[n++] = (struct lr_piece){ LR_LINE, w->epochs, 0, w->from,
		    w->epochs, w->to, 0 };
	if (end > w->epochs)
		p[n++] = *after;
	*piece = p;
	return n;
}
