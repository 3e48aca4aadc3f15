/*
 * Blocks of .net files: the lines between "def block" and "end".  Using a block
 * substitutes its $keys as text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "graph/reader.h"

#define EXPANDED (16u << 20)	/* maximum of bytes, all blocks together */

/* Return the length of the key at ${s}, behind its '$'. */
static size_t
block_key_length(const char *s)
{
	return strspn(s, "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}

static int
block_has(const struct net_block *b, const char *key, size_t n)
{
	for (int i = 0; i < b->keys; i++)
		if (b->key[i].n == n && memcmp(b->key[i].text, key, n) == 0)
			return 1;
	return 0;
}

struct net_block *
block_begin(struct reader *r, char *name)
{
	size_t n = strcspn(name, " \t#");
	long i;

	if (n == 0)
		return fail_null("%s:%d: def has no name", r->path, r->line);
	name[n] = '\0';
	if (reader_type(name) >= 0 || (i = names_add(r->block_names, name)) < 0)
		return fail_null("%s:%d: block or operator %s is already "
		    "defined", r->path, r->line, name);
	r->block = array_reserve(r->block, (size_t)i, &r->block_cap,
	    sizeof(*r->block));
	r->block[i] = (struct net_block){ 0 };
	return &r->block[i];
}

const char *
block_name(const struct reader *r, const struct net_block *b)
{
	return names_text(r->block_names, (size_t)(b - r->block));
}

int
block_line(struct reader *r, struct net_block *b, char *line)
{
	line[strcspn(line, "#")] = '\0';
	if (line[strspn(line, " \t")] == '\0')
		return 0;
	for (const char *s = line; (s = strchr(s, '$')) != NULL;) {
		size_t n = block_key_length(++s);

		/*
		 * $name is the name of the line that uses the block, not a key.
		 */
		if ((n == 4 && memcmp(s, "name", 4) == 0) || block_has(b, s, n))
			continue;
		if (b->keys == WORDS)
			return fail("%s:%d: more than %d different $keys in a "
			    "block", r->path, r->line, WORDS);
		b->key[b->keys].text = s;
		b->key[b->keys++].n = n;
	}
	b->line = array_reserve(b->line, b->lines, &b->cap, sizeof(*b->line));
	b->line[b->lines++] = line;
	return 0;
}

/*
 * Copy one line of a block to ${out}, with $name and the $keys substituted.
 * Return 0, or -1 after a message.
 */
static int
block_fill(struct reader *r, const char *line, const struct words *w,
    char out[LINE])
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
		n = block_key_length(line + 1);
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

int
block_expand(struct reader *r, const struct net_block *b, const struct words *w,
    int depth)
{
	char line[LINE];

	for (int i = 0; i < w->n; i++)
		if (!block_has(b, w->key[i], strlen(w->key[i])))
			return fail("%s:%d: block %s has no $%s", r->path,
			    r->line, w->op, w->key[i]);
	for (size_t l = 0; l < b->lines; l++) {
		/*
		 * Blocks that use blocks can grow exponentially with the file.
		 */
		r->expanded += strlen(b->line[l]) + 1;
		if (r->expanded > EXPANDED)
			return fail("%s:%d: the blocks expand to more than "
			    "%u MiB", r->path, r->line, EXPANDED >> 20);
		if (block_fill(r, b->line[l], w, line) != 0 ||
		    reader_line(r, line, depth + 1) != 0)
			return -1;
	}
	/* Other lines refer to the output of the block by that name. */
	if (r->g->nop == 0 ||
	    names_find(r->names, w->name) != r->g->nop - 1)
		return fail("%s:%d: the last line of block %s does not define "
		    "$name", r->path, r->line, w->op);
	return 0;
}

void
block_free(struct reader *r)
{
	for (size_t i = 0; i < names_count(r->block_names); i++)
		free(r->block[i].line);
	free(r->block);
	names_free(r->block_names);
}
