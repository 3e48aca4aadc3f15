/* Describe the SVG that cairo writes. */
#include <string.h>

#include "draw/cairo/svg.h"

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

void
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
