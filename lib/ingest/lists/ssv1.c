/*
 * Something-Something v1: "id;label", and in test lists the id alone.  The
 * videos may be folders of frames.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ingest/list_format.h"

static const char digits[] = "0123456789";

/* Match "123;label", where the label is not a number. */
static int
ssv1_is_line(const char *line)
{
	size_t n = strspn(line, digits);

	return n > 0 && line[n] == ';' && line[n + 1] != '\0' &&
	    line[n + 1 + strspn(line + n + 1, digits)] != '\0';
}

int
ssv1_detect(struct list_reading *r)
{
	return list_all_lines(&r->lines, ssv1_is_line);
}

int
ssv1_read(struct list_reading *r)
{
	char *line, *label;

	while ((line = list_next_line(r)) != NULL) {
		size_t n = strspn(line, digits);
		struct list_row *row;

		if (n == 0 || (line[n] != '\0' && (line[n] != ';' ||
		    line[n + 1] == '\0')))
			return list_broken(r, line);
		label = line[n] == ';' ? line + n + 1 : NULL;
		line[n] = '\0';
		row = list_find(r, line, "");
		if (label != NULL)
			list_row_label(row, label + strspn(label, " "));
	}
	return 0;
}
