/* Charades: a CSV with a column of actions and their seconds. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "ingest/list_format.h"

int
charades_detect(struct list_reading *r)
{
	return r->at[COLUMN_ID] >= 0 && r->at[COLUMN_ACTIONS] >= 0 &&
	    !list_has_times(r);
}

/* Parse "c012 3.10 9.80" and add label "12" with this interval. */
static int
charades_action(const struct list_reading *r, struct list_row *row,
    const char *text)
{
	char code[40], from[24], to[24], number[16];
	double start, end;
	int64_t class;
	int n = 0;

	if (sscanf(text, " %39s %23s %23s %n", code, from, to, &n) != 3 ||
	    text[n] != '\0' || list_code_class(code, &class) != 0 ||
	    text_real(from, 0, LIST_TIME_MAX, &start) != 0 ||
	    text_real(to, 0, LIST_TIME_MAX, &end) != 0 || end < start)
		return fail("%s: line %d: action %s (wanted c000 to c%d, then "
		    "start and end in seconds)", r->name, r->line,
		    text_quote(text), LIST_CODES - 1);
	snprintf(number, sizeof(number), "%d", (int)class);
	list_row_interval(row, number, LIST_SECONDS, start, end);
	return 0;
}

int
charades_read(struct list_reading *r)
{
	struct list_row *row;
	char *next;
	int result;

	while ((result = list_next_row(r)) > 0) {
		const char *id = list_cell(r, COLUMN_ID);

		if (*id == '\0')
			return fail("%s: line %d: no id", r->name, r->line);
		row = list_find(r, id, ".mp4");
		if (list_cells(r, row) != 0)
			return -1;
		row->has_set = 1;
		r->l->coded = LIST_CODES;
		for (char *a = list_cell(r, COLUMN_ACTIONS); *a != '\0';
		    a = next) {
			next = a + strcspn(a, ";");
			if (*next != '\0')
				*next++ = '\0';
			if (charades_action(r, row, a) != 0)
				return -1;
		}
	}
	return result;
}
