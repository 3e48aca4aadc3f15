/*
 * Key mapping: read the tables share/weights/NAME.tsv and match parameter names
 * of other programs against their patterns.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/share.h"
#include "base/text.h"
#include "weights/key_map.h"

const char *const key_map_known[] = {
	"torchvision", "tsm", "pyslowfast", "mmaction2", "caffe2",
	"pytorchvideo", "mmaction", NULL
};

enum { NUMBERS = 6, DIGITS = 6 };

/* The text that the wildcards of a pattern matched. */
struct key_map_bound {
	int n, number[NUMBERS];
	const char *rest;
};

/*
 * Return the length of a star in the pattern, "*" or "*+1", and set ${*plus} to
 * the number that it adds.
 */
static size_t
key_map_star(const char *pattern, int *plus)
{
	*plus = 0;
	if (pattern[1] != '+' || pattern[2] < '0' || pattern[2] > '9')
		return 1;
	*plus = pattern[2] - '0';
	return 3;
}

/*
 * Match ${text} against ${pattern}.  "*" matches a number n, "*+1" the number n
 * + 1, "%" the rest of the text, and "[...]" an optional prefix.  Store what
 * the wildcards matched, in order, in ${b}.  Return 1 if the whole text
 * matches, otherwise 0.
 */
static int
key_map_match(const char *pattern, const char *text, struct key_map_bound *b)
{
	*b = (struct key_map_bound){ .rest = "" };
	/* Skip the optional prefix, also in ${text} if it is there. */
	if (*pattern == '[') {
		size_t n = strcspn(pattern, "]") - 1;

		if (strncmp(pattern + 1, text, n) == 0)
			text += n;
		pattern += n + 2;
	}
	while (*pattern != '\0') {
		size_t digits = strspn(text, "0123456789");
		int plus;

		if (*pattern == '%') {
			b->rest = text;
			return *text != '\0';
		}
		if (*pattern != '*') {
			if (*pattern++ != *text++)
				return 0;
			continue;
		}
		/*
		 * Accept only numbers as printf("%d") writes them: a leading
		 * zero would be lost when key_map_fill prints the number.
		 */
		if (digits < 1 || digits > DIGITS || b->n == NUMBERS ||
		    (digits > 1 && *text == '0'))
			return 0;
		pattern += key_map_star(pattern, &plus);
		b->number[b->n] = atoi(text) - plus;
		if (b->number[b->n++] < 0)
			return 0;
		text += digits;
	}
	return *text == '\0';
}

/*
 * Substitute the matched wildcards ${b} into ${pattern}.  Write the text to
 * ${to}[KEY_MAP_TEXT].  Return 1, or 0 if it is too long.
 */
static int
key_map_fill(const char *pattern, const struct key_map_bound *b, char *to)
{
	size_t n = 0;
	int number = 0;

	while (*pattern != '\0' && n < KEY_MAP_TEXT) {
		int plus;

		if (*pattern == '[' || *pattern == ']') {
			pattern++;
		} else if (*pattern == '*' && number < b->n) {
			pattern += key_map_star(pattern, &plus);
			n += (size_t)snprintf(to + n, KEY_MAP_TEXT - n, "%d",
			    b->number[number++] + plus);
		} else if (*pattern == '%') {
			n += (size_t)snprintf(to + n, KEY_MAP_TEXT - n, "%s",
			    b->rest);
			pattern++;
		} else {
			to[n++] = *pattern++;
		}
	}
	if (n >= KEY_MAP_TEXT)
		return 0;
	to[n] = '\0';
	return 1;
}

/* Return the length of the first condition; ", " separates conditions. */
static size_t
key_map_condition(const char *when)
{
	const char *end = strstr(when, ", ");

	return end != NULL ? (size_t)(end - when) : strlen(when);
}

/*
 * Evaluate conditions "op NAME, no NAME", where attributes can follow a name.
 * Return 1 if the network has each operator of "op", and none of "no".
 */
static int
key_map_holds(const char *when, const struct key_map_bound *b,
    const struct key_map_network *of)
{
	while (strcmp(when, "-") != 0 && *when != '\0') {
		size_t n = key_map_condition(when), word = strlen("op ");
		char pattern[KEY_MAP_TEXT], op[KEY_MAP_TEXT];

		snprintf(pattern, sizeof(pattern), "%.*s", (int)(n - word),
		    when + word);
		if (!key_map_fill(pattern, b, op) ||
		    of->has(of->network, op) == text_starts(when, "no "))
			return 0;
		when += n + strspn(when + n, ", ");
	}
	return 1;
}

const struct rename *
key_map_to_ours(const struct key_map *n, const struct key_map_network *of,
    const char *theirs, char *ours)
{
	struct key_map_bound b;

	for (size_t i = 0; i < n->renames; i++) {
		const struct rename *r = &n->rename[i];

		if (key_map_match(r->theirs, theirs, &b) &&
		    key_map_fill(r->ours, &b, ours) &&
		    of->has(of->network, ours) &&
		    (strcmp(r->how, "read") != 0 ||
		    key_map_holds(r->when, &b, of)))
			return r;
	}
	return NULL;
}

int
key_map_knows(const struct key_map *n, const char *theirs)
{
	struct key_map_bound b;

	for (size_t i = 0; i < n->renames; i++)
		if (key_map_match(n->rename[i].theirs, theirs, &b))
			return 1;
	return 0;
}

int
key_map_can_write(const struct key_map *n)
{
	for (size_t i = 0; i < n->renames; i++)
		if (strcmp(n->rename[i].how, "read") != 0)
			return 1;
	return 0;
}

const struct rename *
key_map_to_theirs(const struct key_map *n, const struct key_map_network *of,
    const char *ours, char *theirs)
{
	struct key_map_bound b;

	for (size_t i = 0; i < n->renames; i++) {
		const struct rename *r = &n->rename[i];

		if (strcmp(r->how, "read") != 0 &&
		    key_map_match(r->ours, ours, &b) &&
		    key_map_holds(r->when, &b, of) &&
		    key_map_fill(r->theirs, &b, theirs))
			return r;
	}
	return NULL;
}

const struct rename *
key_map_lacks(const struct key_map *n, const struct key_map_network *of,
    const char *ours)
{
	struct key_map_bound b;

	for (size_t i = 0; i < n->lacks; i++)
		if (key_map_match(n->lack[i].ours, ours, &b) &&
		    key_map_holds(n->lack[i].when, &b, of))
			return &n->lack[i];
	return NULL;
}

int
key_map_how(const struct rename *r, const char *verb, const char *ours,
    char *name)
{
	size_t n = strlen(verb);
	struct key_map_bound b;

	if (strncmp(r->how, verb, n) != 0)
		return 0;
	if (r->how[n] == '\0')
		return 1;
	return r->how[n] == ' ' && key_map_match(r->ours, ours, &b) &&
	    key_map_fill(r->how + n + 1, &b, name);
}

const char *
key_map_unwrap(const struct key_map *n, const char *name)
{
	for (size_t i = 0; i < n->prefixes; i++)
		if (text_starts(name, n->prefix[i])) {
			name += strlen(n->prefix[i]);
			i = (size_t)-1;		/* restart: prefixes nest in any
						 * order */
		}
	return name;
}

const char *
key_map_suffix(const struct key_map *n, const char *name, const char **end)
{
	for (size_t i = 0; i < n->ends; i++) {
		const struct rename *r = &n->end[i];

		if (!text_ends(name, r->theirs))
			continue;
		*end = strcmp(r->ours, "-") == 0 ? NULL : r->ours;
		return name + strlen(name) - strlen(r->theirs);
	}
	/* Without "end" rows the suffix starts at the last dot. */
	return *end = n->ends > 0 ? NULL : strrchr(name, '.');
}

/* ---- tables ---- */

static int
key_map_check_how(const struct table *t, size_t row, const char *how)
{
	static const char *const plain[] = { "-", "2d", "3d", "read", "end",
		"lacks" };

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (strcmp(how, plain[i]) == 0)
			return 0;
	if (text_starts(how, "turn ") || text_starts(how, "fold "))
		return 0;
	return fail("%s: line %d: how is %s (wanted -, 2d, 3d, read, end, "
	    "lacks, turn NAME or fold NAME)", t->path, t->line[row],
	    text_quote(how));
}

/*
 * Return 1 if the ${n} bytes at ${p} are a condition: "op NAME" or "no NAME",
 * and attributes that key_map_network.has knows.
 */
static int
key_map_is_condition(const char *p, size_t n)
{
	static const char *const known[] = { "kind=", "k=", "s=", "p=",
		"out=", "from=", "spread=" };
	char text[KEY_MAP_TEXT], *at = text, *word;

	snprintf(text, sizeof(text), "%.*s", (int)n, p);
	word = strsep(&at, " ");
	if ((strcmp(word, "op") != 0 && strcmp(word, "no") != 0) ||
	    strsep(&at, " ") == NULL)
		return 0;
	while ((word = strsep(&at, " ")) != NULL) {
		int found = 0;

		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			found |= text_starts(word, known[i]);
		if (!found)
			return 0;
	}
	return 1;
}

static int
key_map_check_when(const struct table *t, size_t row, const char *when)
{
	const char *p = when;

	while (strcmp(when, "-") != 0 && *p != '\0') {
		size_t n = key_map_condition(p);

		if (!key_map_is_condition(p, n))
			return fail("%s: line %d: when is %s (wanted -, or op "
			    "NAME and no NAME, each with kind=, k=, s=, p=, "
			    "out=, from= and spread=, and commas and "
			    "blanks between them)", t->path, t->line[row],
			    text_quote(when));
		p += n + strspn(p + n, ", ");
	}
	return 0;
}

static int
key_map_read_rows(struct key_map *n)
{
	const struct table *t = n->table;

	/* A row goes into one of the arrays, so each may need all rows. */
	n->rename = xcalloc(t->rows, sizeof(*n->rename));
	n->prefix = xcalloc(t->rows, sizeof(*n->prefix));
	n->end = xcalloc(t->rows, sizeof(*n->end));
	n->lack = xcalloc(t->rows, sizeof(*n->lack));
	for (size_t i = 0; i < t->rows; i++) {
		struct rename r = { table_text(t, i, "theirs"),
			table_text(t, i, "ours"), table_text(t, i, "when"),
			table_text(t, i, "how") };

		if (r.theirs == NULL || r.ours == NULL || r.when == NULL ||
		    r.how == NULL || key_map_check_how(t, i, r.how) != 0 ||
		    key_map_check_when(t, i, r.when) != 0)
			return -1;
		if (*r.theirs == '\0' || *r.ours == '\0' ||
		    (*r.theirs == '[' && strchr(r.theirs, ']') == NULL))
			return fail("%s: line %d: a name is empty, or a "
			    "bracket is open", t->path, t->line[i]);
		if (strcmp(r.how, "end") == 0)
			n->end[n->ends++] = r;
		else if (strcmp(r.how, "lacks") == 0)
			n->lack[n->lacks++] = r;
		else if (strcmp(r.ours, "-") == 0)
			n->prefix[n->prefixes++] = r.theirs;
		else
			n->rename[n->renames++] = r;
	}
	return 0;
}

struct key_map *
key_map_open(const char *name)
{
	char *path = share_find("weights", name, ".tsv");
	struct key_map *n;

	if (path == NULL)
		return NULL;
	n = xcalloc(1, sizeof(*n));
	n->name = xstrdup(name);
	n->table = table_read(path);
	free(path);
	if (n->table == NULL || key_map_read_rows(n) != 0) {
		key_map_close(n);
		return NULL;
	}
	return n;
}

void
key_map_close(struct key_map *n)
{
	if (n == NULL)
		return;
	table_free(n->table);
	free(n->rename);
	free(n->prefix);
	free(n->end);
	free(n->lack);
	free(n->name);
	free(n);
}
