/* The attributes of operators. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "graph/attribute.h"

#define AT(member)	.at = offsetof(struct op, member)
#define INT		ATTRIBUTE_INT
#define REAL		ATTRIBUTE_REAL
#define CHANNELS	ATTRIBUTE_CHANNELS, AT(out), 1, OP_CHANNELS, .needed = \
	"CHANNELS"
#define WINDOW		ATTRIBUTE_WINDOW
/* The default of p depends on k (build.c). */
#define WINDOWS(kind) \
	{ kind, "k", WINDOW, AT(k), 1, OP_WINDOW, .missing = 1 }, \
	{ kind, "s", WINDOW, AT(s), 1, OP_WINDOW, .missing = 1 }, \
	{ kind, "p", WINDOW, AT(p), 0, OP_WINDOW }
#define DEVIATION	0, 10, .missing = NAN, .free = 1

/*
 * Columns: kind, key, type, member, minimum, maximum, and others by name.  The
 * rows of a kind have the order in which messages list them, behind in=, which
 * all kinds with inputs have.
 */
static const struct attribute attributes[] = {
	{ OP_INPUT, "stream", ATTRIBUTE_SOURCE, AT(input.stream),
	    .want = NAME_RULE },
	{ OP_INPUT, "out", CHANNELS },
	{ OP_INPUT, "mean", ATTRIBUTE_REALS, AT(input.mean), -1e6, 1e6,
	    .want = "numbers between commas" },
	{ OP_INPUT, "std", ATTRIBUTE_REALS, AT(input.sd), 1e-6, 1e6,
	    .missing = 1, .want = "numbers from 1e-6 between commas" },
	{ OP_CONV, "out", CHANNELS },
	WINDOWS(OP_CONV),
	{ OP_CONV, "groups", INT, AT(conv.groups), 1, OP_CHANNELS,
	    .missing = 1 },
	{ OP_CONV, "bias", INT, AT(conv.bias), 0, 1 },
	{ OP_CONV, "std", REAL, AT(conv.std), DEVIATION },
	{ OP_BN, "gamma", REAL, AT(bn.gamma), -1e3, 1e3, .missing = 1,
	    .want = "a number", .free = 1 },
	{ OP_BN, "eps", REAL, AT(bn.eps), 1e-12, 1, .missing = 1e-5 },
	{ OP_BN, "momentum", REAL, AT(bn.momentum), 0, 1, .missing = 0.1 },
	{ OP_BN, NULL, INT, AT(bn.fixed), 0, 1 },
	/* fold=2 shifts all channels */
	{ OP_SHIFT, "fold", INT, AT(shift.fold), 2, OP_CHANNELS, .missing = 8 },
	{ OP_SHIFT, "from", ATTRIBUTE_WORD, AT(shift.past),
	    .words = "both past", .want = "both or past" },
	WINDOWS(OP_MAXPOOL),
	{ OP_AVGPOOL, "over", ATTRIBUTE_LETTERS, AT(avgpool.axes),
	    .words = "thw", .want = "letters of t, h and w" },
	WINDOWS(OP_AVGPOOL),
	{ OP_AVGPOOL, "edges", ATTRIBUTE_WORD, AT(avgpool.exclude_pad),
	    .words = "zeros cut", .want = "zeros or cut" },
	{ OP_DROPOUT, "rate", REAL, AT(dropout.rate), 0, 0.999, .missing = 0.5,
	    .want = "a probability below 1" },
	{ OP_LINEAR, "out", CHANNELS },
	{ OP_LINEAR, "std", REAL, AT(linear.std), DEVIATION },
	{ OP_SCALE, "by", ATTRIBUTE_FACTOR, AT(scale.factor), -1e6, 1e6,
	    .want = "a number, alone or before /c or /sqrt(c)",
	    .needed = "FACTOR" },
	{ OP_SCALE, "trained", INT, AT(scale.trained), 0, 1 },
	{ OP_FRAMES, "step", INT, AT(frames.step), 1, OP_WINDOW,
	    .needed = "FRAMES" },
	{ OP_FRAMES, "first", INT, AT(frames.first), 0, OP_WINDOW },
	{ OP_FRAMES, "spread", INT, AT(frames.spread), 0, 1 },
	{ OP_BMM, "transpose", ATTRIBUTE_LETTERS, AT(bmm.transpose),
	    .words = "ab", .want = "a, b or ab" },
	{ OP_SOFTMAX, "over", ATTRIBUTE_LETTERS, AT(softmax.axes),
	    .words = "thwc", .want = "letters of t, h, w and c",
	    .needed = "AXES" },
	/* focal is LOSS_SOFTMAX with a focus (build.c) */
	{ OP_LOSS, "kind", ATTRIBUTE_WORD, AT(loss.kind),
	    .words = "softmax sigmoid focal",
	    .want = "softmax, focal or sigmoid" },
	{ OP_LOSS, "target", ATTRIBUTE_SOURCE, AT(loss.target),
	    .want = NAME_RULE },
	{ OP_LOSS, "weight", REAL, AT(loss.weight), 0, 1e6, .missing = 1,
	    .want = "a number from 0", .free = 1 },
	{ OP_LOSS, "smooth", REAL, AT(loss.smooth), 0, 0.999,
	    .want = "a share below 1" },
	{ OP_LOSS, "gamma", REAL, AT(loss.focus), 0, FOCUS_MAX },
};

const struct attribute *
attribute_next(enum op_kind kind, const struct attribute *a)
{
	const struct attribute *end = attributes +
	    sizeof(attributes) / sizeof(attributes[0]);

	for (a = a == NULL ? attributes : a + 1; a < end; a++)
		if (a->kind == kind)
			return a;
	return NULL;
}

const struct attribute *
attribute_find(enum op_kind kind, const char *key)
{
	const struct attribute *a = NULL;

	while ((a = attribute_next(kind, a)) != NULL)
		if (a->key != NULL && strcmp(a->key, key) == 0)
			return a;
	return NULL;
}

static void *
attribute_at(const struct attribute *a, const struct op *op)
{
	return (char *)op + a->at;
}

void
attribute_defaults(struct op *op)
{
	const struct attribute *a = NULL;

	op->planar = 1;
	for (int i = 0; i < 3; i++)
		op->k[i] = op->s[i] = 1;
	while ((a = attribute_next(op->kind, a)) != NULL) {
		int *value = attribute_at(a, op);

		if (a->type == ATTRIBUTE_REAL)
			*(double *)attribute_at(a, op) = a->missing;
		else if (a->type == ATTRIBUTE_REALS)
			*(struct reals *)attribute_at(a, op) =
			    (struct reals){ 0, NULL };
		else if (a->type == ATTRIBUTE_FACTOR)
			*(struct factor *)attribute_at(a, op) =
			    (struct factor){ a->missing, PER_ONE };
		else
			for (int i = 0; i < (a->type == WINDOW ? 3 : 1); i++)
				value[i] = (int)a->missing;
	}
}

void
attribute_free(struct op *op)
{
	const struct attribute *a = NULL;

	while ((a = attribute_next(op->kind, a)) != NULL)
		if (a->type == ATTRIBUTE_REALS)
			free(((struct reals *)attribute_at(a, op))->v);
}

/* ---- values in .net files ---- */

int
attribute_name_fits(const char *s)
{
	size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789_.-");

	return n > 0 && n < 64 && s[n] == '\0';
}

/*
 * Read the number before the next of the bytes ${stop}, and leave ${*s} there.
 * Return 0 or -1.
 */
static int
attribute_real(const struct attribute *a, const char **s, const char *stop,
    double *x)
{
	size_t n = strcspn(*s, stop);
	char part[32];
	int64_t whole;

	if (n >= sizeof(part))
		return -1;
	memcpy(part, *s, n);
	part[n] = '\0';
	*s += n;
	if (a->type != ATTRIBUTE_WINDOW)
		return text_real(part, a->min, a->max, x);
	if (text_int(part, (int64_t)a->min, (int64_t)a->max, &whole) != 0)
		return -1;
	*x = (double)whole;
	return 0;
}

/*
 * Read at most ${max} numbers between commas into ${v}.  Return their number,
 * or -1.
 */
static int
attribute_reals(const struct attribute *a, const char *s, int max, double *v)
{
	int n = 0;

	for (;; s++) {
		if (n == max || attribute_real(a, &s, ",", &v[n++]) != 0)
			return -1;
		if (*s == '\0')
			return n;
	}
}

/* Read "h,w" or "t,h,w" into v[t, h, w].  Return their number, or -1. */
static int
attribute_window(const struct attribute *a, const char *s, int v[3])
{
	double x[3];
	int n = attribute_reals(a, s, 3, x);

	if (n < 2)
		return -1;
	v[0] = (int)(n == 3 ? x[0] : a->min);
	v[1] = (int)x[n - 2];
	v[2] = (int)x[n - 1];
	return n;
}

static int
attribute_letters(const char *letters, const char *s, int *set)
{
	for (*set = 0; *s != '\0'; s++) {
		const char *at = strchr(letters, *s);

		if (at == NULL)
			return -1;
		*set |= 1 << (at - letters);
	}
	return *set != 0 ? 0 : -1;
}

static int
attribute_word(const char *words, const char *s, int *index)
{
	size_t n = strlen(s);

	for (*index = 0; *words != '\0'; ++*index) {
		size_t length = strcspn(words, " ");

		if (length == n && memcmp(words, s, n) == 0)
			return 0;
		words += length + strspn(words + length, " ");
	}
	return -1;
}

static int
attribute_factor(const struct attribute *a, const char *s, struct factor *f)
{
	if (attribute_real(a, &s, "/", &f->by) != 0)
		return -1;
	f->per = *s == '\0' ? PER_ONE : strcmp(s, "/c") == 0 ? PER_CHANNELS :
	    PER_ROOT;
	return f->per != PER_ROOT || strcmp(s, "/sqrt(c)") == 0 ? 0 : -1;
}

int
attribute_parse(const struct attribute *a, struct op *op, const char *value,
    int classes)
{
	struct reals *reals = attribute_at(a, op);
	int *to = attribute_at(a, op);
	int64_t x = classes;
	int n;

	switch (a->type) {
	case ATTRIBUTE_CHANNELS:
	case ATTRIBUTE_INT:
		if ((a->type == INT || strcmp(value, "classes") != 0) &&
		    text_int(value, (int64_t)a->min, (int64_t)a->max, &x) != 0)
			return -1;
		*to = (int)x;
		return 0;
	case ATTRIBUTE_WINDOW:
		n = attribute_window(a, value, to);
		if (a->at == offsetof(struct op, k))
			op->planar = n == 2;
		return n > 0 ? 0 : -1;
	case ATTRIBUTE_REAL:
		return text_real(value, a->min, a->max, attribute_at(a, op));
	case ATTRIBUTE_REALS:
		reals->v = xcalloc(OP_STREAM, sizeof(*reals->v));
		reals->n = attribute_reals(a, value, OP_STREAM, reals->v);
		return reals->n > 0 ? 0 : -1;
	case ATTRIBUTE_LETTERS:
		return attribute_letters(a->words, value, to);
	case ATTRIBUTE_WORD:
		return attribute_word(a->words, value, to);
	case ATTRIBUTE_FACTOR:
		return attribute_factor(a, value, attribute_at(a, op));
	case ATTRIBUTE_SOURCE:
		break;
	}
	return attribute_name_fits(value) ? 0 : -1;
}

const char *
attribute_want(const struct attribute *a, char *text)
{
	if (a->want != NULL)
		return a->want;
	snprintf(text, 64, a->type == WINDOW ? "h,w or t,h,w, %.7g to %.7g" :
	    a->type == REAL ? "a number from %.7g to %.7g" :
	    a->max == 1 ? "%.7g or %.7g" : "%.7g to %.7g", a->min, a->max);
	return text;
}

/* ---- equality ---- */

/* NaN stands for a number that was not given, and equals itself. */
static int
attribute_same_reals(const double *p, const double *q, int n)
{
	for (int i = 0; i < n; i++)
		if (p[i] != q[i] && !(isnan(p[i]) && isnan(q[i])))
			return 0;
	return 1;
}

static int
attribute_same(const struct attribute *a, const struct op *p,
    const struct op *q)
{
	const void *x = attribute_at(a, p), *y = attribute_at(a, q);
	const struct reals *l = x, *m = y;
	const struct factor *f = x, *g = y;

	if (a->type == ATTRIBUTE_REAL)
		return attribute_same_reals(x, y, 1);
	if (a->type == ATTRIBUTE_FACTOR)
		return f->per == g->per && f->by == g->by;
	if (a->type == ATTRIBUTE_REALS)
		return l->n == m->n && attribute_same_reals(l->v, m->v, l->n);
	return memcmp(x, y, (a->type == WINDOW ? 3 : 1) * sizeof(int)) == 0;
}

int
attribute_equal(const struct op *p, const struct op *q)
{
	const struct attribute *a = NULL;

	if (p->kind != q->kind || p->nin != q->nin)
		return 0;
	while ((a = attribute_next(p->kind, a)) != NULL)
		if (!a->free && !attribute_same(a, p, q))
			return 0;
	return 1;
}

int
attribute_is(const struct op *op, const char *key, const char *value)
{
	const struct attribute *a = attribute_find(op->kind, key);
	struct op other = *op;

	return a != NULL && a->type != ATTRIBUTE_REALS &&
	    a->type != ATTRIBUTE_SOURCE &&
	    attribute_parse(a, &other, value, 0) == 0 &&
	    attribute_same(a, op, &other);
}
