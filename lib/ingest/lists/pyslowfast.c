/*
 * PySlowFast: "PATH", "PATH LABEL" or "PATH WORD LABEL".  The word is ignored,
 * and a path alone has label 0.
 */
#include <stdint.h>

#include "base/fail.h"
#include "base/text.h"
#include "ingest/list_format.h"

/* Its lists are also of format path-label, which requires labels. */
int
pyslowfast_detect(struct list_reading *r)
{
	(void)r;
	return 0;
}

int
pyslowfast_read(struct list_reading *r)
{
	char *line, **s;

	while ((line = list_next_line(r)) != NULL) {
		int n = list_cut_fields(line, ' ', &r->cell) == 0 ? r->cell.n :
		    0;
		int64_t class = 0;

		s = r->cell.s;
		if (n < 1 || n > 3 || *s[0] == '\0' || (n > 1 &&
		    text_int(s[n - 1], 0, INT32_MAX, &class) != 0))
			return fail("%s: line %d: %d fields, the first %s "
			    "(wanted %s)", r->name, r->line, n, n > 0 ?
			    text_quote(s[0]) : "", r->format->wanted);
		list_row_label(list_append(r->l, list_place(r, s[0]), r->name,
		    r->line), n > 1 ? s[n - 1] : "0");
	}
	return 0;
}
