/*
 * HMDB51: CLASS_test_splitK.txt, one file per class: a name, and 1 for
 * training, 2 for testing or 0 for neither.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "ingest/list_format.h"

/*
 * Return the class of a file that is called CLASS_test_splitK.txt; NULL without
 * a message for another name.  The caller frees it.
 */
static char *
hmdb51_class(const char *path)
{
	static const char mark[] = "_test_split";
	const char *base = path_base(path), *at = strstr(base, mark);

	if (at == NULL || at == base || at[strlen(mark)] < '1' ||
	    at[strlen(mark)] > '9' || strcmp(at + strlen(mark) + 1,
	    ".txt") != 0)
		return NULL;
	return xstrndup(base, (size_t)(at - base));
}

/* Return the last character of "name.avi 0", 1 or 2; 0 for another line. */
static char
hmdb51_use(const char *line)
{
	size_t n = strlen(line);

	while (n > 0 && line[n - 1] == ' ')
		n--;
	return n > 2 && line[n - 2] == ' ' && line[n - 1] >= '0' &&
	    line[n - 1] <= '2' ? line[n - 1] : 0;
}

static int
hmdb51_is_line(const char *line)
{
	return hmdb51_use(line + strspn(line, " ")) != 0;
}

int
hmdb51_detect(struct list_reading *r)
{
	char *class = hmdb51_class(r->path);
	int result = class != NULL && list_all_lines(&r->lines, hmdb51_is_line);

	free(class);
	return result;
}

/* Names may contain blanks, so the use is cut from the end. */
static int
hmdb51_row(struct list_reading *r, char *line, const char *class)
{
	static const char *const split[] = { NULL, "train", "test" };
	char use = hmdb51_use(line), *path;
	struct list_row *row;

	if (use == 0)
		return list_broken(r, line);
	list_cut_last_word(line);
	/* split[0] is NULL, which no subset matches: the row is skipped. */
	if (!list_take(r, split[use - '0']))
		return 0;
	path = xprintf("%s/%s", class, line);
	row = list_append(r->l, list_place(r, path), r->name, r->line);
	list_row_label(row, class);
	if (split[use - '0'] != NULL)
		row->split = xstrdup(split[use - '0']);
	free(path);
	return 0;
}

int
hmdb51_read(struct list_reading *r)
{
	char *class = hmdb51_class(r->path), *line;
	int result = 0;

	while (result == 0 && (line = list_next_line(r)) != NULL)
		if (class == NULL)
			result = fail("%s: not named like a list of HMDB51 "
			    "(wanted CLASS_test_split1.txt)", r->name);
		else if (r->how->subset == NULL && !r->how->all)
			result = fail("%s: a list of HMDB51 has training and "
			    "testing (wanted --subset=train or --subset=test)",
			    r->name);
		else
			result = hmdb51_row(r, line, class);
	free(class);
	return result;
}
