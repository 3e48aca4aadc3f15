/* The attributes of operators in .net files: key=value. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "graph/reader.h"

#define Q text_quote

#define BAD(r, w, i, want) fail("%s:%d: %s=%s (wanted %s)", (r)->path, \
    (r)->line, (w)->key[i], Q((w)->value[i]), want)

int
name_fits(const char *s)
{
	size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789_.-");

	return n > 0 && n < 64 && s[n] == '\0';
}

/*
 * Read one to three integers from ${min} to ${max}, separated by commas.
 * Return their number, or -1.
 */
static int
attribute_integers(const char *s, int min, int max, int v[3])
{
	char part[16];
	int n = 0;

	for (;; s++) {
		size_t len = strcspn(s, ",");
		int64_t x;

		if (n == 3 || len >= sizeof(part))
			return -1;
		memcpy(part, s, len);
		part[len] = '\0';
		if (text_int(part, min, max, &x) != 0)
			return -1;
		v[n++] = (int)x;
		s += len;
		if (*s == '\0')
			return n;
	}
}

/*
 * Read "h,w" or "t,h,w" into v[t, h, w]; if t is missing, set it to ${t}.
 * Return the number of values, or -1.
 */
static int
attribute_window(const char *s, int min, int t, int v[3])
{
	int n = attribute_integers(s, min, OP_WINDOW, v);

	if (n == 2) {
		v[2] = v[1];
		v[1] = v[0];
		v[0] = t;
	}
	return n == 2 || n == 3 ? n : -1;
}

/*
 * Read numbers of at least ${min}, separated by commas, into a new ${*v}.
 * Return their number, or -1.
 */
static int
attribute_reals(const char *s, double min, double **v)
{
	char part[32];
	int n = 0;

	*v = xcalloc(OP_STREAM, sizeof(**v));
	for (;; s++) {
		size_t len = strcspn(s, ",");

		if (n == OP_STREAM || len >= sizeof(part))
			return -1;
		memcpy(part, s, len);
		part[len] = '\0';
		if (text_real(part, min, 1e6, &(*v)[n++]) != 0)
			return -1;
		s += len;
		if (*s == '\0')
			return n;
	}
}

/*
 * Set the inputs to operators above, which are named in ${value} and separated
 * by commas.  Return 0, or -1 after a message.
 */
static int
attribute_set_inputs(struct reader *r, struct op *op, const char *value)
{
	const struct op_type *type = &op_types[op->kind];
	char name[LINE];

	for (;; value++) {
		size_t len = strcspn(value, ",");
		long from;

		snprintf(name, sizeof(name), "%.*s", (int)len, value);
		if ((from = names_find(r->names, name)) < 0)
			return fail("%s:%d: in=%s: no operator above has this "
			    "name", r->path, r->line, Q(name));
		if (r->g->op[from].kind == OP_LOSS)
			return fail("%s:%d: in=%s: a loss is not an input",
			    r->path, r->line, name);
		if (op->nin == type->max_in)
			return fail("%s:%d: %s takes at most %d inputs",
			    r->path, r->line, type->name, type->max_in);
		op->in[op->nin++] = (int)from;
		value += len;
		if (*value == '\0')
			return 0;
	}
}

/* Read a set of ${letters}; the bit of each is its index.  Return 0 or -1. */
static int
attribute_letters_of(const char *s, const char *letters, int *set)
{
	for (*set = 0; *s != '\0'; s++) {
		const char *a = strchr(letters, *s);

		if (a == NULL)
			return -1;
		*set |= 1 << (a - letters);
	}
	return *set != 0 ? 0 : -1;
}

/* Set ${*to} to 0 or 1 for the word ${no} or ${yes}.  Return 0 or -1. */
static int
attribute_word_of(const char *s, const char *no, const char *yes, int *to)
{
	*to = strcmp(s, yes) == 0;
	return *to || strcmp(s, no) == 0 ? 0 : -1;
}

/* Read a factor X, X/c or X/sqrt(c).  Return 0 or -1. */
static int
attribute_factor(const char *s, double *by, enum per *per)
{
	size_t n = strcspn(s, "/");
	char part[32];

	if (n >= sizeof(part))
		return -1;
	memcpy(part, s, n);
	part[n] = '\0';
	*per = s[n] == '\0' ? PER_ONE : strcmp(s + n, "/c") == 0 ?
	    PER_CHANNELS : PER_ROOT;
	if (*per == PER_ROOT && strcmp(s + n, "/sqrt(c)") != 0)
		return -1;
	return text_real(part, -1e6, 1e6, by);
}

/* Attributes that are one number. */
static const struct attribute_whole {
	const char *key;
	size_t at;			/* offset of an int in struct op */
	int min, max;
	const char *want;
} wholes[] = {
	{ "out", offsetof(struct op, out), 1, OP_CHANNELS, "1 to 1048576" },
	{ "groups", offsetof(struct op, groups), 1, OP_CHANNELS,
	    "1 to 1048576" },
	/* fold=2 shifts all channels */
	{ "fold", offsetof(struct op, fold), 2, OP_CHANNELS, "2 to 1048576" },
	{ "bias", offsetof(struct op, bias), 0, 1, "0 or 1" },
	{ "trained", offsetof(struct op, trained), 0, 1, "0 or 1" },
	{ "step", offsetof(struct op, step), 1, OP_WINDOW, "1 to 1024" },
	{ "first", offsetof(struct op, first), 0, OP_WINDOW, "0 to 1024" },
	{ "spread", offsetof(struct op, spread), 0, 1, "0 or 1" },
};

static const struct attribute_real {
	const char *key;
	size_t at;			/* offset of a double in struct op */
	double min, max;
	const char *want;
} real_values[] = {
	{ "rate", offsetof(struct op, rate), 0, 0.999, "a probability "
		"below 1" },
	{ "gamma", offsetof(struct op, gamma), -1e3, 1e3, "a number" },
	{ "eps", offsetof(struct op, eps), 1e-12, 1, "a number from 1e-12 "
		"to 1" },
	{ "momentum", offsetof(struct op, momentum), 0, 1,
	    "a number from 0 to 1" },
};

/*
 * Set attribute ${i} of ${w}.  Return 1, or 0 if it is not in the tables, or -1
 * after a message.
 */
static int
attribute_set_number(struct reader *r, struct op *op, const struct words *w,
    int i)
{
	const char *key = w->key[i], *value = w->value[i];
	int64_t n;

	for (size_t k = 0; k < sizeof(wholes) / sizeof(wholes[0]); k++) {
		const struct attribute_whole *a = &wholes[k];

		if (strcmp(key, a->key) != 0)
			continue;
		if (text_int(value, a->min, a->max, &n) != 0)
			return BAD(r, w, i, a->want);
		*(int *)((char *)op + a->at) = (int)n;
		return 1;
	}
	for (size_t k = 0; k < sizeof(real_values) / sizeof(real_values[0]);
	    k++) {
		const struct attribute_real *a = &real_values[k];

		if (strcmp(key, a->key) == 0)
			return text_real(value, a->min, a->max, (double *)
			    ((char *)op + a->at)) == 0 ? 1 :
			    BAD(r, w, i, a->want);
	}
	return 0;
}

/* A focal loss is a softmax loss with a focus. */
static int
attribute_set_loss(const char *s, struct op *op, struct line *l)
{
	l->focal = strcmp(s, "focal") == 0;
	if (l->focal && !l->focused)
		op->focus = FOCUS_DEFAULT;
	op->loss = strcmp(s, "sigmoid") == 0 ? LOSS_SIGMOID : LOSS_SOFTMAX;
	return l->focal || op->loss == LOSS_SIGMOID ||
	    strcmp(s, "softmax") == 0 ? 0 : -1;
}

int
attribute_set(struct reader *r, struct op *op, const struct words *w, int i,
    struct line *l)
{
	const char *key = w->key[i], *value = w->value[i];
	int known;

#define IS(s) (strcmp(key, s) == 0)
	if (IS("in"))
		return attribute_set_inputs(r, op, value);
	if (IS("k")) {
		int k = attribute_window(value, 1, 1, op->k);

		op->planar = k == 2;
		return k > 0 ? 0 : BAD(r, w, i, "h,w or t,h,w, 1 to 1024");
	}
	if (IS("s"))
		return attribute_window(value, 1, 1, op->s) > 0 ? 0 :
		    BAD(r, w, i, "h,w or t,h,w, 1 to 1024");
	if (IS("p")) {
		l->padded = 1;
		return attribute_window(value, 0, 0, op->p) > 0 ? 0 :
		    BAD(r, w, i, "h,w or t,h,w, 0 to 1024");
	}
	if (IS("out") && strcmp(value, "classes") == 0) {
		op->out = r->classes;
		return 0;
	}
	if (IS("gamma") && op->kind == OP_LOSS) {
		l->focused = 1;
		return text_real(value, 0, FOCUS_MAX, &op->focus) == 0 ? 0 :
		    BAD(r, w, i, "a number from 0 to 10");
	}
	if ((known = attribute_set_number(r, op, w, i)) != 0)
		return known > 0 ? 0 : -1;
	if (IS("over"))
		return op->kind == OP_SOFTMAX ?
		    (attribute_letters_of(value, "thwc", &op->axes) == 0 ? 0 :
		    BAD(r, w, i, "letters of t, h, w and c")) :
		    attribute_letters_of(value, "thw", &op->axes) == 0 ? 0 :
		    BAD(r, w, i, "letters of t, h and w");
	if (IS("transpose"))
		return attribute_letters_of(value, "ab", &op->transpose) == 0 ?
		    0 : BAD(r, w, i, "a, b or ab");
	if (IS("from"))
		return attribute_word_of(value, "both", "past", &op->past) ==
		    0 ? 0 : BAD(r, w, i, "both or past");
	if (IS("edges"))
		return attribute_word_of(value, "zeros", "cut",
		    &op->exclude_pad) == 0 ? 0 : BAD(r, w, i, "zeros or cut");
	if (IS("by"))
		return attribute_factor(value, &op->by, &op->per) == 0 ? 0 :
		    BAD(r, w, i, "a number, alone or before /c or /sqrt(c)");
	if (IS("std") && op->kind != OP_INPUT)
		return text_real(value, 0, 10, &op->std) == 0 ? 0 :
		    BAD(r, w, i, "a number from 0 to 10");
	if (IS("mean"))
		return (l->means = attribute_reals(value, -1e6, &op->mean)) >
		    0 ? 0 : BAD(r, w, i, "numbers between commas");
	if (IS("std"))
		return (l->sds = attribute_reals(value, 1e-6, &op->sd)) > 0 ?
		    0 : BAD(r, w, i, "numbers from 1e-6 between commas");
	if (IS("kind"))
		return attribute_set_loss(value, op, l) == 0 ? 0 :
		    BAD(r, w, i, "softmax, focal or sigmoid");
	if (IS("weight"))
		return text_real(value, 0, 1e6, &op->weight) == 0 ? 0 :
		    BAD(r, w, i, "a number from 0");
	if (IS("smooth"))
		return text_real(value, 0, 0.999, &op->smooth) == 0 ? 0 :
		    BAD(r, w, i, "a share below 1");
	/* stream or target */
	*(IS("stream") ? &l->stream : &l->target) = value;
	return name_fits(value) ? 0 : BAD(r, w, i, NAME_RULE);
#undef IS
}
