/* The part of a video that a sample shows, by its key. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "eval/part.h"
#include "shard/key.h"

/* Read "_DIGITS" at ${*at}, and advance ${*at} past it.  Return 0, or -1. */
static int
part_number(const char **at, double *to)
{
	char *end;

	if ((*at)[0] != '_' || strspn(*at + 1, "0123456789") < 6)
		return -1;
	*to = strtod(*at + 1, &end);
	*at = end;
	return 0;
}

/*
 * Read the part behind the key of the whole video, that of ${path} without what
 * follows its last dot.  A label may follow the part.
 */
static int
part_behind(const char *key, const char *path, double *begin, double *end)
{
	char video[KEY_MAX + 1];
	const char *at = key + (key_from_path(path, video) == 0 ?
	    strlen(video) : strlen(key));
	double unit = 1;

	if (strncmp(key, video, (size_t)(at - key)) != 0 ||
	    part_number(&at, begin) != 0 || part_number(&at, end) != 0)
		return 0;
	if (text_starts(at, "ms")) {
		unit = 1e3;
		at += 2;
	}
	*begin /= unit;
	*end /= unit;
	return *at == '\0' || *at == '_';
}

int
part_read(const char *key, const char *path, double *begin, double *end)
{
	char *folder;
	int known;

	if (key == NULL || path == NULL || path[strspn(path, "./")] == '\0')
		return 0;
	folder = xprintf("%s.", path);
	known = part_behind(key, path, begin, end) ||
	    part_behind(key, folder, begin, end);
	free(folder);
	return known;
}

void
part_cells(const char *key, const char *path, struct buffer *to)
{
	double begin, end;
	char from[32] = "", until[32] = "";

	if (part_read(key, path, &begin, &end)) {
		text_real_write(from, begin);
		if (end > 0)
			text_real_write(until, end);
	}
	buffer_printf(to, "\t%s\t%s", from, until);
}

void
part_members(const char *key, const char *path, struct json_writer *w)
{
	double begin, end;

	if (!part_read(key, path, &begin, &end))
		return;
	json_put_real(w, "begin", begin);
	if (end > 0)
		json_put_real(w, "end", end);
}
