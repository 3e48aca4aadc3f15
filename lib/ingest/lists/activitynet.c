/*
 * ActivityNet JSON, in which HACS Segments, FineAction and THUMOS14 are written
 * too: an object "database" of videos by their ids, each with its segments in
 * seconds.  A video without segments, as those of testing, has no row.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "ingest/list_format.h"

#define Q text_quote

int
activitynet_detect(struct list_reading *r)
{
	return json_is(json_get(r->json, "database"), '{');
}

/*
 * Set ${p} to the part of segment ${s}, which ends with the video of ${seconds}
 * at the latest.  Return 1, 0 if it is empty, or -1 without a message.
 */
static int
activitynet_part(const struct json *s, double seconds, struct list_part *p)
{
	p->unit = LIST_SECONDS;
	if (json_size(s) != 2 || json_to_real(json_at(s, 0), &p->begin) != 0 ||
	    json_to_real(json_at(s, 1), &p->end) != 0 || p->begin < 0 ||
	    p->begin > LIST_TIME_MAX || p->end > LIST_TIME_MAX)
		return -1;
	p->end = p->end < seconds ? p->end : seconds;
	return p->begin < p->end;
}

/*
 * Append the segments of video ${id}, the ${item}th of the list.  Add those
 * that are empty to ${empty}.
 */
static int
activitynet_video(struct list_reading *r, const char *id, int item,
    const struct json *video, int *empty)
{
	const struct json *list = json_get(video, "annotations");
	const struct json *length = json_get(video, "duration");
	const char *subset = json_to_text(json_get(video, "subset"));
	const char *text = json_to_text(length);
	double seconds = LIST_TIME_MAX;

	if (!json_is(video, '{') || (list != NULL && !json_is(list, '[')) ||
	    *id == '\0' || strchr(id, '/') != NULL)
		return fail("%s: database: %s (wanted an id, and its array "
		    "\"annotations\")", r->name, Q(id));
	/* HACS writes the duration as a text. */
	if (length != NULL && (text != NULL ? text_real(text, 0, LIST_TIME_MAX,
	    &seconds) : json_to_real(length, &seconds)) != 0)
		return fail("%s: %s: duration (wanted seconds)", r->name,
		    Q(id));
	seconds = seconds > 0 ? seconds : LIST_TIME_MAX;
	for (size_t i = 0; i < json_size(list); i++) {
		const struct json *o = json_at(list, i);
		const char *label = json_to_text(json_get(o, "label"));
		struct list_part part = { 0 };
		int full = activitynet_part(json_get(o, "segment"), seconds,
		    &part);
		struct list_row *row;

		if (full < 0 || label == NULL || *label == '\0')
			return fail("%s: %s: annotation %zu (wanted "
			    "\"segment\": [BEGIN, END] in seconds, and "
			    "\"label\")", r->name, Q(id), i + 1);
		*empty += !full;
		if (!full || !list_take(r, subset))
			continue;
		row = list_find_class(r, id, label, 0);
		list_select(r, row, &part);
		row->name = xstrdup(id);
		row->item = item;
		row->split = subset != NULL ? xstrdup(subset) : NULL;
		list_row_label(row, label);
	}
	return 0;
}

int
activitynet_read(struct list_reading *r)
{
	const struct json *database = json_get(r->json, "database"), *video;
	const char *id;
	int item = 0, empty = 0, result = 0;

	if (!json_is(database, '{'))
		return fail("%s: no object \"database\" (wanted %s)", r->name,
		    r->format->wanted);
	for (void *at = NULL; result == 0 &&
	    (video = json_next(database, &at, &id)) != NULL;)
		result = activitynet_video(r, id, ++item, video, &empty);
	if (result == 0 && empty > 0)
		warning("%s: segments without a frame, of length 0 or after "
		    "the video, left out: %d", r->name, empty);
	return result;
}
