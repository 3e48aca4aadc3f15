/*
 * FineGym: a clip ID_E_SSSSSS_EEEEEE_A_SSSS_EEEE without its extension, a blank
 * and a class number.
 */
#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"
#include "ingest/list_format.h"

/* Return 1 if ${line} has the form of the list. */
static int
finegym_is(const char *line)
{
	static const char form[] = "_E_000000_000000_A_0000_0000 ";
	const char *s = line;
	int64_t class;
	size_t i = 0;

	while ((s = strstr(s, "_E_")) != NULL) {
		for (i = 0; form[i] != '\0' && (form[i] == '0' ?
		    isdigit((unsigned char)s[i]) : s[i] == form[i]); i++)
			;
		if (form[i] == '\0')
			break;
		s++;
	}
	return s > line && text_int(s + i, 0, INT32_MAX, &class) == 0;
}

int
finegym_detect(struct list_reading *r)
{
	return list_all_lines(&r->lines, finegym_is);
}

int
finegym_read(struct list_reading *r)
{
	for (char *line; (line = list_next_line(r)) != NULL;) {
		char *label;

		if (!finegym_is(line))
			return list_broken(r, line);
		label = list_cut_last_word(line);
		list_row_label(list_find(r, line, ".mp4"), label);
	}
	return 0;
}
