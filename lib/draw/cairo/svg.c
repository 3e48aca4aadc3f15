/* Post-process the SVG that cairo writes. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "draw/cairo/svg.h"

/*
 * cairo numbers the surfaces of a process and uses the number in names such as
 * "image52" and "surface67".  A second picture would thus differ from the
 * first.  Renumber them from 0 within the file.
 */
static void
svg_number_from_zero(struct buffer *svg)
{
	static const char *const kinds[] = { "surface", "image" };
	struct buffer to = { 0 };
	const char *at = svg->data, *from = at;
	long *seen = NULL;
	size_t n = 0, cap = 0;

	while ((at = strpbrk(at, "\"#")) != NULL) {
		size_t kind = 0, i = 0, length = 0;
		char *end;
		long number;

		at++;
		for (; kind < 2; kind++) {
			length = strlen(kinds[kind]);
			if (strncmp(at, kinds[kind], length) == 0 &&
			    isdigit((unsigned char)at[length]))
				break;
		}
		if (kind == 2)
			continue;
		number = strtol(at + length, &end, 10);
		while (i < n && seen[i] != number)
			i++;
		if (i == n) {
			seen = array_reserve(seen, n, &cap, sizeof(*seen));
			seen[n++] = number;
		}
		buffer_add(&to, from, (size_t)(at - from));
		buffer_printf(&to, "%s%zu", kinds[kind], i);
		from = at = end;
	}
	buffer_text(&to, from);
	free(seen);
	buffer_free(svg);
	*svg = to;
}

static void
svg_add_escaped(struct buffer *b, const char *text)
{
	for (; *text != '\0'; text++)
		switch (*text) {
		case '&': buffer_text(b, "&amp;"); break;
		case '<': buffer_text(b, "&lt;"); break;
		case '>': buffer_text(b, "&gt;"); break;
		default: buffer_add(b, text, 1);
		}
}

/*
 * Letters are drawn as outlines, which look the same everywhere but cannot be
 * searched or read aloud.  Add the text as <title> and <desc>.
 */
static void
svg_describe(struct buffer *svg, const char *title, const char *said)
{
	const char *tag = strstr(svg->data, "<svg");
	const char *end = tag != NULL ? strchr(tag, '>') : NULL;
	size_t head = end != NULL ? (size_t)(end + 1 - svg->data) : 0;
	struct buffer to = { 0 };

	buffer_add(&to, svg->data, head);
	buffer_text(&to, "\n<title>");
	svg_add_escaped(&to, title);
	buffer_text(&to, "</title>\n<desc>\n");
	svg_add_escaped(&to, said);
	buffer_text(&to, "</desc>");
	buffer_add(&to, svg->data + head, svg->n - head);
	buffer_free(svg);
	*svg = to;
}

void
svg_finish(struct buffer *svg, const char *title, const char *said)
{
	if (svg->n == 0)
		return;
	svg_number_from_zero(svg);
	svg_describe(svg, title, said);
}
