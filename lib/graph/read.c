/*
 * Reads .net files: one operator a line, "op name key=value ...", and textual
 * blocks, "def block ... end", whose $keys are filled in where they are used.
 * No conditions and no arithmetic: a network that needs them is a file that
 * is written by a program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "graph/graph.h"

#define WORDS 24		/* on a line */
#define LINE 1024		/* bytes in an expanded line */
#define DEPTH 8			/* blocks within blocks */

struct block { char *name; char **line; size_t lines, cap; };

struct reader {
	struct graph *g;
	const char *path;
	int line;
	int classes;
	struct block *block;
	size_t blocks, block_cap, op_cap, param_cap;
	int *channels;			/* of each op's output */
	size_t channel_cap;
};

/* A line, cut into words; attributes are cut at their '='. */
struct words {
	int n;
	const char *op, *name;
	const char *key[WORDS], *value[WORDS];
	char text[LINE];
};

static int
find_op(const struct graph *g, const char *name)
{
	for (int i = g->nop - 1; i >= 0; i--)
		if (strcmp(g->op[i].name, name) == 0)
			return i;
	return -1;
}

/* ---- values of attributes ---- */

#define BAD(r, w, i, want) fail("%s:%d: %s=%s (wanted %s)", (r)->path, \
    (r)->line, (w)->key[i], text_quote((w)->value[i]), want)

/* One to three integers between commas, from ${min} up; how many, or -1. */
static int
integers(const char *s, int min, int v[3])
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
		if (text_int(part, min, 1 << 20, &x) != 0)
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
	int n = integers(s, min, v);

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
	char name[64];

	for (;; value++) {
		size_t len = strcspn(value, ",");
		int from;

		snprintf(name, sizeof(name), "%.*s", (int)len, value);
		if ((from = find_op(r->g, name)) < 0)
			return fail("%s:%d: in=%s: nothing above is named so",
			    r->path, r->line, text_quote(name));
		if (op->nin == type->max_in)
			return fail("%s:%d: %s takes at most %d inputs", r->path,
			    r->line, type->name, type->max_in);
		op->in[op->nin++] = from;
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

/* Attribute ${i} of ${w}; 0, or -1 after a message. */
static int
set_attribute(struct reader *r, struct op *op, const struct words *w, int i,
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
		return k > 0 ? 0 : BAD(r, w, i, "h,w or t,h,w, from 1");
	}
	if (IS("s"))
		return window(value, 1, 1, op->s) > 0 ? 0 :
		    BAD(r, w, i, "h,w or t,h,w, from 1");
	if (IS("p")) {
		*padded = 1;
		return window(value, 0, 0, op->p) > 0 ? 0 :
		    BAD(r, w, i, "h,w or t,h,w, from 0");
	}
	if (IS("out") && strcmp(value, "classes") == 0) {
		op->out = r->classes;
		return 0;
	}
	if (IS("out") || IS("groups") || IS("fold")) {
		/* Half of the channels each way is all of them. */
		if (integers(value, IS("fold") ? 2 : 1, v) != 1)
			return IS("fold") ? BAD(r, w, i, "an integer from 2") :
			    BAD(r, w, i, "an integer from 1");
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

/* ---- operators ---- */

/* What remains to check once all attributes are set. */
static int
check_op(struct reader *r, const struct op *op, int cin)
{
	const struct op_type *type = &op_types[op->kind];

	if (op->nin < type->min_in)
		return fail("%s:%d: %s %s: %d inputs (wanted %d: in=NAME)",
		    r->path, r->line, type->name, op->name, op->nin,
		    type->min_in);
	if (strstr(type->attributes, " out ") != NULL && op->out == 0)
		return fail("%s:%d: %s %s: no out=CHANNELS", r->path, r->line,
		    type->name, op->name);
	if (op->kind == OP_INPUT && op->out != 3)
		return fail("%s:%d: out=%d (wanted 3: red, green, blue)",
		    r->path, r->line, op->out);
	if (op->kind == OP_INPUT && r->g->nop > 0)
		return fail("%s:%d: a second input", r->path, r->line);
	if (op->kind == OP_AVGPOOL && op->over == 0)
		return fail("%s:%d: avgpool %s: no over=AXES", r->path, r->line,
		    op->name);
	if (op->kind == OP_CONV && (cin % op->groups || op->out % op->groups))
		return fail("%s:%d: conv %s: groups=%d does not divide %d and "
		    "%d channels", r->path, r->line, op->name, op->groups, cin,
		    op->out);
	if (op->kind == OP_SHIFT && cin / op->fold < 1)
		return fail("%s:%d: shift %s: fold=%d of %d channels moves none",
		    r->path, r->line, op->name, op->fold, cin);
	for (int i = 0; i < 3; i++)
		if (op->kind == OP_MAXPOOL && op->p[i] >= op->k[i])
			return fail("%s:%d: maxpool %s: padding %d is no smaller "
			    "than its window %d", r->path, r->line, op->name,
			    op->p[i], op->k[i]);
	return 0;
}

/* Append ${op}, its parameters and its output channels to the graph. */
static void
append(struct reader *r, struct op *op, int cin)
{
	struct graph *g = r->g;
	const struct op_type *type = &op_types[op->kind];
	int index = g->nop;

	if (type->params != NULL) {
		struct param p[OP_PARAMS] = { 0 };

		op->nparam = type->params(op, cin, p);
		op->param = g->nparam;
		for (int i = 0; i < op->nparam; i++) {
			p[i].op = index;
			p[i].offset = g->elements;
			g->elements += (p[i].count + PARAM_ALIGN - 1) /
			    PARAM_ALIGN * PARAM_ALIGN;
			g->param = array_room(g->param, (size_t)g->nparam,
			    &r->param_cap, sizeof(*g->param));
			g->param[g->nparam++] = p[i];
		}
	}
	g->op = array_room(g->op, (size_t)index, &r->op_cap, sizeof(*g->op));
	r->channels = array_room(r->channels, (size_t)index, &r->channel_cap,
	    sizeof(*r->channels));
	g->op[index] = *op;
	r->channels[index] = op->out != 0 ? op->out : cin;
	g->nop++;
}

static int
read_op(struct reader *r, enum op_kind kind, const struct words *w)
{
	const struct op_type *type = &op_types[kind];
	struct op op = { .kind = kind, .k = { 1, 1, 1 }, .s = { 1, 1, 1 },
		.groups = 1, .fold = 8, .gamma = 1, .eps = 1e-5,
		.momentum = 0.1, .rate = 0.5, .std = 0.01, .planar = 1,
		.sd = { 1, 1, 1 } };
	int padded = 0, cin;

	if (strlen(w->name) >= sizeof(op.name) || strspn(w->name,
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")
	    != strlen(w->name))
		return fail("%s:%d: name %s (wanted up to 63 letters, digits, "
		    "'_', '.' and '-')", r->path, r->line, text_quote(w->name));
	if (kind != OP_INPUT && r->g->nop == 0)
		return fail("%s:%d: %s before the input", r->path, r->line,
		    type->name);
	if (find_op(r->g, w->name) >= 0)
		return fail("%s:%d: a second %s", r->path, r->line, w->name);
	strcpy(op.name, w->name);
	for (int i = 0; i < w->n; i++) {
		char key[80];

		snprintf(key, sizeof(key), " %s ", w->key[i]);
		if (strstr(type->attributes, key) == NULL)
			return fail("%s:%d: %s has no attribute %s (it has:%.*s)",
			    r->path, r->line, type->name, text_quote(w->key[i]),
			    (int)strlen(type->attributes) - 1, type->attributes);
		for (int j = 0; j < i; j++)
			if (strcmp(w->key[i], w->key[j]) == 0)
				return fail("%s:%d: %s twice", r->path, r->line,
				    w->key[i]);
		if (set_attribute(r, &op, w, i, &padded) != 0)
			return -1;
	}
	/* The default padding keeps the size at stride 1. */
	for (int i = 0; i < 3 && !padded; i++)
		op.p[i] = (op.k[i] - 1) / 2;
	cin = op.nin > 0 ? r->channels[op.in[0]] : 0;
	if (check_op(r, &op, cin) != 0)
		return -1;
	append(r, &op, cin);
	return 0;
}

/* ---- lines and blocks ---- */

static int
cut(struct reader *r, const char *line, struct words *w)
{
	char *s = w->text;

	*w = (struct words){ 0 };
	if (strlen(line) >= sizeof(w->text))
		return fail("%s:%d: longer than %zu bytes", r->path, r->line,
		    sizeof(w->text) - 1);
	strcpy(w->text, line);
	w->text[strcspn(w->text, "#")] = '\0';
	for (int i = 0;; i++) {
		char *word, *equals;

		s += strspn(s, " \t");
		if (*s == '\0')
			return 0;
		word = s;
		s += strcspn(s, " \t");
		if (*s != '\0')
			*s++ = '\0';
		if (i == 0) {
			w->op = word;
			continue;
		}
		if (i == 1) {
			w->name = word;
			continue;
		}
		equals = strchr(word, '=');
		if (equals == NULL || equals == word)
			return fail("%s:%d: %s (wanted key=value)", r->path,
			    r->line, text_quote(word));
		if (w->n == WORDS)
			return fail("%s:%d: more than %d attributes", r->path,
			    r->line, WORDS);
		*equals = '\0';
		w->key[w->n] = word;
		w->value[w->n++] = equals + 1;
	}
}

static int read_line(struct reader *r, const char *line, int depth);

/* The length of the key at ${s}, after its '$'. */
static size_t
key_length(const char *s)
{
	return strspn(s, "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}

/* Fill in $name and the $keys of one line of a block. */
static int
fill(struct reader *r, const char *line, const struct words *w, char out[LINE])
{
	size_t o = 0;

	while (*line != '\0') {
		const char *value = NULL;
		size_t n;

		if (*line != '$') {
			if (o + 1 >= LINE)
				goto too_long;
			out[o++] = *line++;
			continue;
		}
		n = key_length(line + 1);
		if (n == 4 && strncmp(line + 1, "name", 4) == 0)
			value = w->name;
		for (int i = 0; i < w->n && value == NULL; i++)
			if (strlen(w->key[i]) == n &&
			    strncmp(w->key[i], line + 1, n) == 0)
				value = w->value[i];
		if (value == NULL)
			return fail("%s:%d: %s %s: no value for $%.*s", r->path,
			    r->line, w->op, w->name, (int)n, line + 1);
		if (o + strlen(value) >= LINE)
			goto too_long;
		o += (size_t)sprintf(out + o, "%s", value);
		line += 1 + n;
	}
	out[o] = '\0';
	return 0;
too_long:
	return fail("%s:%d: %s %s: a line of the block becomes longer than %d "
	    "bytes", r->path, r->line, w->op, w->name, LINE - 1);
}

/* 1 if a line of the block has $key, and not only $key2. */
static int
block_has(const struct block *b, const char *key)
{
	size_t n = strlen(key);

	for (size_t l = 0; l < b->lines; l++)
		for (const char *s = b->line[l]; (s = strchr(s, '$')) != NULL;)
			if (key_length(++s) == n && memcmp(s, key, n) == 0)
				return 1;
	return 0;
}

static int
expand(struct reader *r, const struct block *b, const struct words *w,
    int depth)
{
	char line[LINE];

	for (int i = 0; i < w->n; i++)
		if (!block_has(b, w->key[i]))
			return fail("%s:%d: block %s has no $%s", r->path,
			    r->line, b->name, w->key[i]);
	for (size_t l = 0; l < b->lines; l++)
		if (fill(r, b->line[l], w, line) != 0 ||
		    read_line(r, line, depth + 1) != 0)
			return -1;
	if (find_op(r->g, w->name) != r->g->nop - 1)
		return fail("%s:%d: the last line of block %s does not define "
		    "$name", r->path, r->line, b->name);
	return 0;
}

static int
find_type(const char *name)
{
	for (int k = 0; k < OP_KINDS; k++)
		if (op_types[k].name != NULL &&
		    strcmp(op_types[k].name, name) == 0)
			return k;
	return -1;
}

static int
find_block(const struct reader *r, const char *name)
{
	for (size_t i = 0; i < r->blocks; i++)
		if (strcmp(r->block[i].name, name) == 0)
			return (int)i;
	return -1;
}

static int
read_line(struct reader *r, const char *line, int depth)
{
	struct words w;
	int i;

	if (cut(r, line, &w) != 0)
		return -1;
	if (w.op == NULL)
		return 0;
	if (depth > DEPTH)
		return fail("%s:%d: blocks nested more than %d deep", r->path,
		    r->line, DEPTH);
	if (w.name == NULL)
		return fail("%s:%d: %s has no name", r->path, r->line,
		    text_quote(w.op));
	if ((i = find_block(r, w.op)) >= 0)
		return expand(r, &r->block[i], &w, depth);
	if ((i = find_type(w.op)) >= 0)
		return read_op(r, (enum op_kind)i, &w);
	return fail("%s:%d: no operator or block is named %s", r->path, r->line,
	    text_quote(w.op));
}

/* "def NAME": collect the lines up to "end" as a block. */
static struct block *
begin_block(struct reader *r, const char *name)
{
	struct block *b;
	size_t n = strcspn(name, " \t#");
	char *copy;

	if (n == 0)
		return fail_null("%s:%d: def has no name", r->path, r->line);
	copy = xstrndup(name, n);
	if (find_block(r, copy) >= 0 || find_type(copy) >= 0) {
		fail("%s:%d: there is a block or operator %s already", r->path,
		    r->line, copy);
		free(copy);
		return NULL;
	}
	r->block = array_room(r->block, r->blocks, &r->block_cap,
	    sizeof(*r->block));
	b = &r->block[r->blocks++];
	*b = (struct block){ .name = copy };
	return b;
}

static int
read_lines(struct reader *r, char *text)
{
	struct block *open = NULL;
	char *line, *next;

	for (line = text; *line != '\0'; line = next) {
		char *word;

		next = line + strcspn(line, "\n");
		if (*next == '\n')
			*next++ = '\0';
		line[strcspn(line, "\r")] = '\0';
		r->line++;
		/* It is kept in checkpoints, as JSON. */
		if (!text_is_utf8(line))
			return fail("%s:%d: not UTF-8", r->path, r->line);
		word = line + strspn(line, " \t");
		if (text_starts(word, "def ")) {
			if (open != NULL)
				return fail("%s:%d: def inside block %s",
				    r->path, r->line, open->name);
			word += 4;
			open = begin_block(r, word + strspn(word, " \t"));
			if (open == NULL)
				return -1;
		} else if (open != NULL && text_starts(word, "end") &&
		    strspn(word + 3, " \t") == strcspn(word + 3, "#")) {
			open = NULL;
		} else if (open != NULL) {
			/* A '$' in a comment asks for nothing. */
			line[strcspn(line, "#")] = '\0';
			open->line = array_room(open->line, open->lines,
			    &open->cap, sizeof(*open->line));
			open->line[open->lines++] = xstrdup(line);
		} else if (read_line(r, line, 0) != 0) {
			return -1;
		}
	}
	if (open != NULL)
		return fail("%s: block %s has no end", r->path, open->name);
	return 0;
}

/* The loss stands in no file: it follows the scores of every network. */
static int
finish(struct reader *r)
{
	struct graph *g = r->g;
	struct op loss = { .kind = OP_LOSS, .name = "loss", .nin = 1,
		.k = { 1, 1, 1 }, .s = { 1, 1, 1 }, .groups = 1 };
	int head = -1;

	if (g->nop < 2)
		return fail("%s: no network in it", r->path);
	if (r->channels[g->nop - 1] != r->classes)
		return fail("%s: the last operator gives %d scores a clip "
		    "(wanted one for each of %d classes: out=classes)", r->path,
		    r->channels[g->nop - 1], r->classes);
	for (int i = 0; i < g->nop; i++) {
		int used = i == g->nop - 1;

		for (int j = i + 1; j < g->nop && !used; j++)
			for (int k = 0; k < g->op[j].nin; k++)
				used |= g->op[j].in[k] == i;
		if (!used)
			return fail("%s: nothing uses %s", r->path,
			    g->op[i].name);
		if (g->op[i].kind == OP_LINEAR)
			head = i;
	}
	for (int i = 0; i < g->nparam; i++)
		g->param[i].head = g->param[i].op == head;
	loss.in[0] = g->nop - 1;
	append(r, &loss, r->classes);
	return 0;
}

struct graph *
graph_parse(const char *name, const char *text, int classes)
{
	struct reader r = { .path = name, .classes = classes };
	const char *base = path_base(name);
	char *copy = xstrdup(text);
	int bad;

	r.g = xcalloc(1, sizeof(*r.g));
	r.g->name = xstrndup(base, strlen(base) -
	    (text_ends(base, ".net") ? 4 : 0));
	r.g->classes = classes;
	bad = read_lines(&r, copy) != 0 || finish(&r) != 0;
	for (size_t i = 0; i < r.blocks; i++) {
		for (size_t l = 0; l < r.block[i].lines; l++)
			free(r.block[i].line[l]);
		free(r.block[i].line);
		free(r.block[i].name);
	}
	free(r.block);
	free(r.channels);
	free(copy);
	if (bad) {
		graph_free(r.g);
		return NULL;
	}
	return r.g;
}

struct graph *
graph_read(const char *path, int classes)
{
	struct buffer text = { 0 };
	struct graph *g = NULL;

	if (file_read(path, &text) == 0)
		g = graph_parse(path, text.data, classes);
	buffer_free(&text);
	return g;
}
