/* Read and apply the table of mirrored classes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/text.h"
#include "clip/flip_map.h"

#define Q text_quote
#define UNSET (-2)

static int
flip_map_read_class(const struct table *t, size_t row, const char *column,
    const struct class_list *c, const struct flip_map *s, int *to)
{
	const char *name = table_text(t, row, column);

	if (name == NULL)
		return -1;
	*to = class_find(c, name);
	if (*to < 0)
		return fail("%s: line %d: class %s is not among the %zu "
		    "classes", t->path, t->line[row], Q(name), c->n);
	if (s->to[*to] != UNSET)
		return fail("%s: line %d: class %s is listed twice",
		    t->path, t->line[row], Q(name));
	return 0;
}

static int
flip_map_read_row(const struct table *t, size_t row, const struct class_list *c,
    struct flip_map *s)
{
	const char *other = table_text(t, row, "mirrored");
	int a, b;

	if (other == NULL || flip_map_read_class(t, row, "class", c, s,
	    &a) != 0)
		return -1;
	if (strcmp(other, "-") == 0) {
		s->to[a] = FLIP_MAP_NEVER;
		return 0;
	}
	if (flip_map_read_class(t, row, "mirrored", c, s, &b) != 0)
		return -1;
	if (a == b)
		return fail("%s: line %d: class %s is mirrored to itself "
		    "(wanted another class, or -: never mirrored)", t->path,
		    t->line[row], Q(other));
	s->to[a] = b;
	s->to[b] = a;
	return 0;
}

int
flip_map_parse(const char *what, const char *text, const struct class_list *c,
    struct flip_map *s)
{
	struct table *t = table_parse(what, text);
	int bad = t == NULL ? -1 : 0;

	*s = (struct flip_map){ (int)c->n, xcalloc(c->n + 1, sizeof(*s->to)) };
	for (size_t i = 0; i < c->n; i++)
		s->to[i] = UNSET;
	if (!bad && t->rows == 0)
		bad = fail("%s: no rows (wanted class and mirrored)", t->path);
	for (size_t i = 0; !bad && i < t->rows; i++)
		bad = flip_map_read_row(t, i, c, s);
	for (size_t i = 0; i < c->n; i++)
		if (s->to[i] == UNSET)
			s->to[i] = (int)i;
	table_free(t);
	if (bad)
		flip_map_free(s);
	return bad;
}

void
flip_map_free(struct flip_map *s)
{
	free(s->to);
	*s = (struct flip_map){ 0 };
}

struct hash128
flip_map_hash(const struct flip_map *s)
{
	struct buffer b = { 0 };
	struct hash128 h;

	for (int i = 0; i < s->classes; i++)
		buffer_printf(&b, "%d\n", s->to[i]);
	h = hash128(b.data, b.n);
	buffer_free(&b);
	return h;
}

int
flip_map_class(const struct flip_map *s, int *flip, int class)
{
	if (class < 0 || class >= s->classes)
		return class;
	if (s->to[class] == FLIP_MAP_NEVER)
		*flip = 0;
	return *flip ? s->to[class] : class;
}

void
flip_map_set_of_classes(const struct flip_map *s, int *flip, float *share)
{
	for (int c = 0; c < s->classes; c++)
		if (share[c] > 0 && s->to[c] == FLIP_MAP_NEVER)
			*flip = 0;
	for (int c = 0; *flip && c < s->classes; c++)
		if (s->to[c] > c) {
			float other = share[s->to[c]];

			share[s->to[c]] = share[c];
			share[c] = other;
		}
}
