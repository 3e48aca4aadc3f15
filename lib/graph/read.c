/*
 * Reads .net files: one operator a line, "op name key=value ...", and textual
 * blocks (block.c).  The format has no conditions and no arithmetic; a program
 * can write the files that need them.
 *
 * The time is bounded for any content: names are hashed, and the expansion of
 * blocks is limited.
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
#define DEPTH 8			/* of nested blocks */

/*
 * Split ${line} at blanks into operator, name and attributes, without its
 * comment.  Return 0, or -1 after a message.
 */
static int
graph_cut(struct reader *r, const char *line, struct words *w)
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

int
reader_line(struct reader *r, const char *line, int depth)
{
	struct words w;
	long i;

	if (graph_cut(r, line, &w) != 0)
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
		return block_expand(r, &r->block[i], &w, depth);
	if ((i = reader_type(w.op)) >= 0)
		return reader_op(r, (enum op_kind)i, &w);
	return fail("%s:%d: no operator or block is named %s", r->path, r->line,
	    Q(w.op));
}

char *
graph_uncomment(const char *text)
{
	char *copy = xstrdup(text), *to = copy;

	for (const char *at = text; *at != '\0'; at += strcspn(at, "\n")) {
		const char *end;

		if (*at == '\n')
			*to++ = *at++;
		for (end = at + strcspn(at, "#\n"); end > at &&
		    strchr(" \t\r", end[-1]) != NULL; )
			end--;
		memcpy(to, at, (size_t)(end - at));
		to += end - at;
	}
	*to = '\0';
	return copy;
}

/* Return 1 if ${line} is ${word} alone, apart from a comment. */
static int
graph_is_alone(const char *line, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(line, word, n) != 0)
		return 0;
	line += n + strspn(line + n, " \t");
	return *line == '\0' || *line == '#';
}

/*
 * Read all lines of ${text}, which is overwritten: operators, and definitions
 * of blocks.  Blocks keep pointers into it.
 */
static int
graph_read_lines(struct reader *r, char *text)
{
	struct net_block *open = NULL;
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
		/* Checkpoints store the text as JSON. */
		if (!text_is_utf8(line))
			return fail("%s:%d: not UTF-8", r->path, r->line);
		word = line + strspn(line, " \t");
		/* A def without a name counts, too; block_begin reports it. */
		if (strncmp(word, "def", 3) == 0 &&
		    (graph_is_alone(word, "def") ||
		    strspn(word + 3, " \t") > 0)) {
			if (open != NULL)
				return fail("%s:%d: def inside block %s",
				    r->path, r->line, block_name(r, open));
			open = block_begin(r, word + 3 + strspn(word + 3,
			    " \t"));
			bad = open == NULL;
		} else if (open != NULL && graph_is_alone(word, "end")) {
			open = NULL;
		} else if (open != NULL) {
			bad = block_line(r, open, line);
		} else {
			bad = reader_line(r, line, 0);
		}
		if (bad)
			return -1;
	}
	if (open != NULL)
		return fail("%s: block %s has no end", r->path,
		    block_name(r, open));
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
		return fail_null("%s: %zu bytes (wanted at most %d)", name,
		    bytes, GRAPH_TEXT);
	copy = xstrdup(text);

	r.g = xcalloc(1, sizeof(*r.g));
	r.g->name = xstrndup(base, strlen(base) -
	    (text_ends(base, ".net") ? 4 : 0));
	r.names = names_new();
	r.streams = names_new();
	r.targets = names_new();
	r.block_names = names_new();
	bad = graph_read_lines(&r, copy) != 0 || reader_finish(&r) != 0;
	block_free(&r);
	names_free(r.names);
	names_free(r.streams);
	names_free(r.targets);
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
