/*
 * Moments in Time: path, label, and the votes for and against it.  The label is
 * the first folder of the path.
 */
#include <string.h>

#include "ingest/list_format.h"

/* Return 1 if ${line} has the form of the list. */
static int
moments_is(const char *line)
{
	static const char digits[] = "0123456789";
	size_t n = strcspn(line, "/"), yes, no;
	const char *label = strchr(line, ',');

	if (n == 0 || label == NULL || strncmp(label + 1, line, n) != 0 ||
	    label[n + 1] != ',')
		return 0;
	label += n + 2;
	yes = strspn(label, digits);
	no = label[yes] == ',' ? strspn(label + yes + 1, digits) : 0;
	return yes > 0 && no > 0 && label[yes + 1 + no] == '\0';
}

int
moments_detect(struct list_reading *r)
{
	return list_all_lines(&r->lines, moments_is);
}

int
moments_read(struct list_reading *r)
{
	for (char *line; (line = list_next_line(r)) != NULL;) {
		char *label;

		if (!moments_is(line))
			return list_broken(r, line);
		label = strchr(line, ',');
		*label++ = '\0';
		label[strcspn(label, ",")] = '\0';
		list_row_label(list_find_path(r, line), label);
	}
	return 0;
}
