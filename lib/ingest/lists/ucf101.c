/*
 * UCF101: Class/v_Class_gNN_cNN.avi; in training lists the class number
 * follows, from 1.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ingest/list_format.h"

static int
ucf101_is_line(const char *line)
{
	static const char end[] = "_g??_c??.avi";
	const char *slash = strchr(line, '/'), *tail;
	const size_t ends = sizeof(end) - 1;
	size_t n;
	int64_t number;

	if (slash == NULL || !text_starts(slash, "/v_"))
		return 0;
	n = strcspn(slash, " ");
	tail = slash + n;
	if (n < ends + 2)
		return 0;
	for (size_t i = 0; i < ends; i++)
		if (end[i] != '?' && slash[n - ends + i] != end[i])
			return 0;
	tail += strspn(tail, " ");
	return *tail == '\0' || text_int(tail, 1, 101, &number) == 0;
}

int
ucf101_detect(struct list_reading *r)
{
	return list_all_lines(&r->lines, ucf101_is_line);
}

/* Test lists contain no class numbers, so take the class from the folder. */
int
ucf101_read(struct list_reading *r)
{
	char *line, *number, *folder;
	struct list_row *row;

	while ((line = list_next_line(r)) != NULL) {
		if (!ucf101_is_line(line))
			return list_broken(r, line);
		folder = xstrndup(line, strcspn(line, "/"));
		number = list_cut_last_word(line);
		row = list_append(r->l, list_place(r, line), r->name, r->line);
		row->base = 1;
		list_row_label(row, number != NULL ? number : folder);
		free(folder);
	}
	return 0;
}
