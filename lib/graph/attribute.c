/* The attributes of operators in .net files: key=value. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "graph/reader.h"

#define Q text_quote

#define BAD(r, w, i, want) fail("%s:%d: %s=%s (wanted %s)", (r)->path, \
    (r)->line, (w)->key[i], Q((w)->value[i]), want)

/* One to three integers between commas, ${min} to ${max}; how many, or -1. */
static int
integers(const char *s, int min, int max, int v[3])
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

/* "h,w" or "t,h,w" into v[t, h, w]; two numbers leave t as ${t}. */
static int
window(const char *s, int min, int t, int v[3])
{
	int n = integers(s, min, OP_WINDOW, v);

	if (n == 2) {
		v[2] = v[1];
		v[1] = v[0];
		v[0] = t;
	}
	return n == 2 || n == 3 ? n : -1;
}

/* Three numbers between commas, from ${min} up. */
static int
reals(const char *s, double min, double v[3])
{
	char part[32];

	for (int n = 0; n < 3; n++) {
		size_t len = strcspn(s, ",");

		if (len >= sizeof(part) || s[len] != (n < 2 ? ',' : '\0'))
			return -1;
		memcpy(part, s, len);
		part[len] = '\0';
		if (text_real(part, min, 1e6, &v[n]) != 0)
			return -1;
		s += len + 1;
	}
	return 0;
}

static int
set_inputs(struct reader *r, struct op *op, const char *value)
{
	const struct op_type *type = &op_types[op->kind];
	char name[LINE];

	for (;; value++) {
		size_t len = strcspn(value, ",");
		long from;

		snprintf(name, sizeof(name), "%.*s", (int)len, value);
		if ((from = names_find(r->names, name)) < 0)
			return fail("%s:%d: in=%s: nothing above is named so",
			    r->path, r->line, Q(name));
		if (op->nin == type->max_in)
			return fail("%s:%d: %s takes at most %d inputs", r->path,
			    r->line, type->name, type->max_in);
		op->in[op->nin++] = (int)from;
		value += len;
		if (*value == '\0')
			return 0;
	}
}

static int
set_over(const char *s, int *over)
{
	static const char axes[] = "thw";

	for (*over = 0; *s != '\0'; s++) {
		const char *a = strchr(axes, *s);

		if (a == NULL)
			return -1;
		*over |= 1 << (a - axes);
	}
	return *over != 0 ? 0 : -1;
}

int
attribute_set(struct reader *r, struct op *op, const struct words *w, int i,
    int *padded)
{
	const char *key = w->key[i], *value = w->value[i];
	int64_t n;
	int v[3];

#define IS(s) (strcmp(key, s) == 0)
	if (IS("in"))
		return set_inputs(r, op, value);
	if (IS("k")) {
		int k = window(value, 1, 1, op->k);

		op->planar = k == 2;
		return k > 0 ? 0 : BAD(r, w, i, "h,w or t,h,w, 1 to 1024");
	}
	if (IS("s"))
		return window(value, 1, 1, op->s) > 0 ? 0 :
		    BAD(r, w, i, "h,w or t,h,w, 1 to 1024");
	if (IS("p")) {
		*padded = 1;
		return window(value, 0, 0, op->p) > 0 ? 0 :
		    BAD(r, w, i, "h,w or t,h,w, 0 to 1024");
	}
	if (IS("out") && strcmp(value, "classes") == 0) {
		op->out = r->classes;
		return 0;
	}
	if (IS("out") || IS("groups") || IS("fold")) {
		/* Half of the channels each way is all of them. */
		if (integers(value, IS("fold") ? 2 : 1, OP_CHANNELS, v) != 1)
			return IS("fold") ? BAD(r, w, i, "2 to 1048576") :
			    BAD(r, w, i, "1 to 1048576");
		*(IS("out") ? &op->out : IS("fold") ? &op->fold : &op->groups) =
		    v[0];
		return 0;
	}
	if (IS("bias")) {
		if (text_int(value, 0, 1, &n) != 0)
			return BAD(r, w, i, "0 or 1");
		op->bias = (int)n;
		return 0;
	}
	if (IS("over"))
		return set_over(value, &op->over) == 0 ? 0 :
		    BAD(r, w, i, "letters of t, h and w");
	if (IS("rate"))
		return text_real(value, 0, 0.999, &op->rate) == 0 ? 0 :
		    BAD(r, w, i, "a probability below 1");
	if (IS("gamma"))
		return text_real(value, -1e3, 1e3, &op->gamma) == 0 ? 0 :
		    BAD(r, w, i, "a number");
	if (IS("eps"))
		return text_real(value, 1e-12, 1, &op->eps) == 0 ? 0 :
		    BAD(r, w, i, "a number from 1e-12 to 1");
	if (IS("momentum"))
		return text_real(value, 0, 1, &op->momentum) == 0 ? 0 :
		    BAD(r, w, i, "a number from 0 to 1");
	if (IS("std") && op->kind == OP_LINEAR)
		return text_real(value, 0, 10, &op->std) == 0 ? 0 :
		    BAD(r, w, i, "a number from 0 to 10");
	if (IS("mean"))
		return reals(value, -1e6, op->mean) == 0 ? 0 :
		    BAD(r, w, i, "three numbers");
	return reals(value, 1e-6, op->sd) == 0 ? 0 :
	    BAD(r, w, i, "three numbers from 1e-6");
#undef IS
}
