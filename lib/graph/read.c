/*
 * Reads .net files: one operator a line, "op name key=value ...", and textual
 * blocks, "def block ... end", whose $keys are filled in where they are used.
 * No conditions and no arithmetic: a network that needs them is a file that
 * is written by a program.
 *
 * The time it takes is bounded by the size of the file, whatever stands in it:
 * names are looked up by their hash, and what blocks expand to is limited.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "graph/reader.h"

#define Q text_quote
#define DEPTH 8			/* blocks within blocks */
#define EXPANDED (16u << 20)	/* bytes that blocks may expand to */

/* The lines between "def" and "end", in the text, and the $keys in them. */
struct block {
	const char **line;
	size_t lines, cap;
	int keys;
	struct { const char *text; size_t n; } key[WORDS];
};

/* ---- lines ---- */

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
			    r->line, Q(word));
		if (w->n == WORDS)
			return fail("%s:%d: more than %d attributes", r->path,
			    r->line, WORDS);
		*equals = '\0';
		w->key[w->n] = word;
		w->value[w->n++] = equals + 1;
	}
}

/* ---- blocks ---- */

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

static int
block_has(const struct block *b, const char *key, size_t n)
{
	for (int i = 0; i < b->keys; i++)
		if (b->key[i].n == n && memcmp(b->key[i].text, key, n) == 0)
			return 1;
	return 0;
}

static int
expand(struct reader *r, const struct block *b, const struct words *w,
    int depth)
{
	char line[LINE];

	for (int i = 0; i < w->n; i++)
		if (!block_has(b, w->key[i], strlen(w->key[i])))
			return fail("%s:%d: block %s has no $%s", r->path,
			    r->line, w->op, w->key[i]);
	for (size_t l = 0; l < b->lines; l++) {
		r->expanded += strlen(b->line[l]) + 1;
		if (r->expanded > EXPANDED)
			return fail("%s:%d: the blocks expand to more than %u MiB",
			    r->path, r->line, EXPANDED >> 20);
		if (fill(r, b->line[l], w, line) != 0 ||
		    read_line(r, line, depth + 1) != 0)
			return -1;
	}
	if (r->g->nop == 0 ||
	    names_find(r->names, w->name) != r->g->nop - 1)
		return fail("%s:%d: the last line of block %s does not define "
		    "$name", r->path, r->line, w->op);
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
read_line(struct reader *r, const char *line, int depth)
{
	struct words w;
	long i;

	if (cut(r, line, &w) != 0)
		return -1;
	if (w.op == NULL)
		return 0;
	if (depth > DEPTH)
		return fail("%s:%d: blocks nested more than %d deep", r->path,
		    r->line, DEPTH);
	if (w.name == NULL)
		return fail("%s:%d: %s has no name", r->path, r->line,
		    Q(w.op));
	if ((i = names_find(r->block_names, w.op)) >= 0)
		return expand(r, &r->block[i], &w, depth);
	if ((i = find_type(w.op)) >= 0)
		return reader_op(r, (enum op_kind)i, &w);
	return fail("%s:%d: no operator or block is named %s", r->path, r->line,
	    Q(w.op));
}

/* "def NAME": what follows up to "end" is a block. */
static struct block *
begin_block(struct reader *r, char *name)
{
	size_t n = strcspn(name, " \t#");
	long i;

	if (n == 0)
		return fail_null("%s:%d: def has no name", r->path, r->line);
	name[n] = '\0';
	if (find_type(name) >= 0 || (i = names_add(r->block_names, name)) < 0)
		return fail_null("%s:%d: there is a block or operator %s already",
		    r->path, r->line, name);
	r->block = array_room(r->block, (size_t)i, &r->block_cap,
	    sizeof(*r->block));
	r->block[i] = (struct block){ 0 };
	return &r->block[i];
}

static const char *
name_of(const struct reader *r, const struct block *b)
{
	return names_text(r->block_names, (size_t)(b - r->block));
}

/* A line of a block, without its comment: a '$' in that asks for nothing. */
static int
add_line(struct reader *r, struct block *b, char *line)
{
	line[strcspn(line, "#")] = '\0';
	if (line[strspn(line, " \t")] == '\0')
		return 0;
	for (const char *s = line; (s = strchr(s, '$')) != NULL;) {
		size_t n = key_length(++s);

		if ((n == 4 && memcmp(s, "name", 4) == 0) || block_has(b, s, n))
			continue;
		if (b->keys == WORDS)
			return fail("%s:%d: more than %d different $keys in a "
			    "block", r->path, r->line, WORDS);
		b->key[b->keys].text = s;
		b->key[b->keys++].n = n;
	}
	b->line = array_room(b->line, b->lines, &b->cap, sizeof(*b->line));
	b->line[b->lines++] = line;
	return 0;
}

/* 1 if ${line} is the ${word} and, but for a comment, nothing more. */
static int
is_alone(const char *line, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(line, word, n) != 0)
		return 0;
	line += n + strspn(line + n, " \t");
	return *line == '\0' || *line == '#';
}

static int
read_lines(struct reader *r, char *text)
{
	struct block *open = NULL;
	char *line, *next;

	for (line = text; *line != '\0'; line = next) {
		char *word;
		int bad = 0;

		next = line + strcspn(line, "\n");
		if (*next == '\n')
			*next++ = '\0';
		r->line++;
		if (text_chomp(line) != 0)
			return fail("%s:%d: a carriage return within the line",
			    r->path, r->line);
		/* It is kept in checkpoints, as JSON. */
		if (!text_is_utf8(line))
			return fail("%s:%d: not UTF-8", r->path, r->line);
		word = line + strspn(line, " \t");
		if (strncmp(word, "def", 3) == 0 &&
		    (is_alone(word, "def") || strspn(word + 3, " \t") > 0)) {
			if (open != NULL)
				return fail("%s:%d: def inside block %s",
				    r->path, r->line, name_of(r, open));
			open = begin_block(r, word + 3 + strspn(word + 3, " \t"));
			bad = open == NULL;
		} else if (open != NULL && is_alone(word, "end")) {
			open = NULL;
		} else if (open != NULL) {
			bad = add_line(r, open, line);
		} else {
			bad = read_line(r, line, 0);
		}
		if (bad)
			return -1;
	}
	if (open != NULL)
		return fail("%s: block %s has no end", r->path,
		    name_of(r, open));
	return 0;
}

struct graph *
graph_parse(const char *name, const char *text, int classes)
{
	struct reader r = { .path = name, .classes = classes };
	const char *base = path_base(name);
	size_t bytes = strlen(text);
	char *copy;
	int bad;

	if (bytes > GRAPH_TEXT)
		return fail_null("%s: %zu bytes (wanted at most %d)", name, bytes,
		    GRAPH_TEXT);
	copy = xstrdup(text);

	r.g = xcalloc(1, sizeof(*r.g));
	r.g->name = xstrndup(base, strlen(base) -
	    (text_ends(base, ".net") ? 4 : 0));
	r.g->classes = classes;
	r.names = names_new();
	r.block_names = names_new();
	bad = read_lines(&r, copy) != 0 || reader_finish(&r) != 0;
	for (size_t i = 0; i < names_count(r.block_names); i++)
		free(r.block[i].line);
	free(r.block);
	names_free(r.block_names);
	names_free(r.names);
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

	if (file_read_text(path, &text) == 0)
		g = graph_parse(path, text.data, classes);
	buffer_free(&text);
	return g;
}
