/*
 * Diving48: a JSON array of objects with vid_name and label, a number.  Each is
 * a whole video, whose frames start_frame and end_frame repeat.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "ingest/list_format.h"

int
diving48_detect(struct list_reading *r)
{
	const struct json *o = json_at(r->json, 0);

	return json_get(o, "vid_name") != NULL && json_get(o, "label") != NULL;
}

int
diving48_read(struct list_reading *r)
{
	if (!json_is(r->json, '['))
		return fail("%s: not a JSON array (wanted %s)", r->name,
		    r->format->wanted);
	for (size_t i = 0; i < json_size(r->json); i++) {
		const struct json *o = json_at(r->json, i);
		const char *name = json_to_text(json_get(o, "vid_name"));
		struct list_row *row;
		int64_t class;
		char *label;

		if (name == NULL || *name == '\0' || strchr(name, '/') != NULL
		    || json_to_int(json_get(o, "label"), 0, INT32_MAX, &class)
		    != 0)
			return fail("%s: item %zu (wanted \"vid_name\", a "
			    "text, and \"label\", a number)", r->name, i + 1);
		row = list_find(r, name, ".mp4");
		row->item = (int)i + 1;
		label = xprintf("%lld", (long long)class);
		list_row_label(row, label);
		free(label);
	}
	return 0;
}
