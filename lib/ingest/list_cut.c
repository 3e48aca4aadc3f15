/* Split the text of a list into lines, fields and words. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "ingest/list_format.h"

int
list_cut_lines(struct list_lines *l, const char *name, char *text)
{
	size_t cap = 0;
	int number = 0;
	char *end;

	/* Excel writes the separator as a line of its own. */
	if (text_starts(text, "sep=")) {
		text += strcspn(text, "\n");
		number += *text == '\n';
		text += *text == '\n';
	}
	for (char *next; *text != '\0'; text = next) {
		next = text + strcspn(text, "\n");
		if (*next != '\0')
			*next++ = '\0';
		number++;
		if (text_chomp(text) != 0)
			return fail("%s: line %d: a carriage return within the "
			    "line (wanted newlines, as tr '\\r' '\\n' makes "
			    "them)", name, number);
		for (end = text + strlen(text); end > text && end[-1] == ' ';)
			*--end = '\0';
		if (text[strspn(text, " \t")] == '\0')
			continue;
		l->s = array_reserve(l->s, l->n, &l->cap, sizeof(*l->s));
		l->number = array_reserve(l->number, l->n, &cap,
		    sizeof(*l->number));
		l->s[l->n] = text;
		l->number[l->n++] = number;
	}
	return 0;
}

int
list_cut_fields(char *line, char sep, struct list_fields *f)
{
	const char *blanks = sep == '\t' ? " " : " \t";

	f->n = 0;
	for (char *p = line;;) {
		char *to, *start, *text;
		int quoted;

		p += strspn(p, blanks);
		if (sep == ' ' && *p == '\0' && f->n > 0)
			return 0;
		to = start = text = p;
		quoted = *p == '"';
		p += quoted;
		/* Copy in place without quotes: ${to} never passes ${p}. */
		for (; *p != '\0'; p++) {
			if (quoted && p[0] == '"' && p[1] == '"')
				p++;
			else if (quoted && *p == '"') {
				quoted = 0;
				text = to;
				continue;
			} else if (!quoted && (*p == sep || (sep == ' ' &&
			    *p == '\t')))
				break;
			*to++ = *p;
		}
		if (quoted)
			return -1;
		while (to > text && strchr(blanks, to[-1]) != NULL)
			to--;
		f->s = array_reserve(f->s, (size_t)f->n, &f->cap,
		    sizeof(*f->s));
		f->s[f->n++] = start;
		quoted = *p++ == '\0';
		*to = '\0';
		if (quoted)
			return 0;
	}
}

int
list_cut_cells(struct list_reading *r, char *line)
{
	return list_cut_fields(line, r->sep, &r->cell) == 0 ? 0 :
	    fail("%s: line %d: a quote without its end (wanted each row on one "
	    "line)", r->name, r->line);
}

char *
list_cut_last_word(char *line)
{
	char *end = line + strlen(line), *word;

	while (end > line && strchr(" \t", end[-1]) != NULL)
		*--end = '\0';
	for (word = end; word > line && strchr(" \t", word[-1]) == NULL;)
		word--;
	if (word == line)
		return NULL;
	for (end = word; end > line && strchr(" \t", end[-1]) != NULL;)
		*--end = '\0';
	return word;
}

void
list_cut_numbers(char *line, struct list_fields *f)
{
	for (f->n = 0;;) {
		char *end = line + strlen(line), *w;

		while (end > line && strchr(" \t", end[-1]) != NULL)
			*--end = '\0';
		for (w = end; w > line && strchr(" \t", w[-1]) == NULL;)
			w--;
		if (w == line || w[strspn(w, "0123456789")] != '\0')
			break;
		f->s = array_reserve(f->s, (size_t)f->n, &f->cap,
		    sizeof(*f->s));
		f->s[f->n++] = w;
		w[-1] = '\0';
	}
	for (int i = 0; i < f->n / 2; i++) {	/* found from the end:
						 * reverse */
		char *w = f->s[i];

		f->s[i] = f->s[f->n - 1 - i];
		f->s[f->n - 1 - i] = w;
	}
}

int
list_is_file(const char *word)
{
	const char *base = path_base(word), *dot = strrchr(base, '.');
	size_t n = dot != NULL ? strlen(dot + 1) : 0;
	int letters = 0;

	for (size_t i = 1; i <= n; i++) {
		if (!isalnum((unsigned char)dot[i]))
			return 0;
		letters += isalpha((unsigned char)dot[i]) != 0;
	}
	return dot != base && n <= 5 && letters > 0;
}

int
list_all_lines(const struct list_lines *l, int (*is)(const char *line))
{
	for (size_t i = 0; i < l->n; i++)
		if (!is(l->s[i]))
			return 0;
	return l->n > 0;
}

char *
list_next_line(struct list_reading *r)
{
	if (r->next == r->lines.n)
		return NULL;
	r->line = r->lines.number[r->next];
	return r->lines.s[r->next++];
}

int
list_by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

size_t
list_distinct(const char **text, size_t n)
{
	size_t different = 0;

	if (n > 0)
		qsort(text, n, sizeof(*text), list_by_bytes);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || strcmp(text[i], text[different - 1]) != 0)
			text[different++] = text[i];
	return different;
}
