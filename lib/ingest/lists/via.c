/*
 * VIA 3 CSV: comments, one of them with the header; then a row for each
 * segment, with times in seconds.  The full export has the attributes in a
 * comment, and numbers of them and of their options in the rows.  That of
 * segments has the names of attributes and the numbers of options.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "ingest/list_format.h"

#define Q text_quote

struct via { struct list_reading *r; struct json *attributes; int unlabeled; };

int
via_detect(struct list_reading *r)
{
	const char *text = r->text.data;

	return text_starts(text, "# Exported using VGG") ||
	    text_starts(text, "# CSV_HEADER") ||
	    text_starts(text + (*text == '"'), "metadata_id");
}

/* Return the JSON ${text}, or NULL after a message.  The caller frees it. */
static struct json *
via_json(const struct list_reading *r, const char *column, const char *text)
{
	char *what = xprintf("%s: line %d: %s", r->name, r->line, column);
	struct json *json = json_parse(what, text, strlen(text));

	free(what);
	return json;
}

/* Read the comments and the header. */
static int
via_read_header(struct via *v)
{
	static const char header[] = "# CSV_HEADER = ";
	static const char attributes[] = "# ATTRIBUTE = ";
	struct list_reading *r = v->r;
	char *line;

	while ((line = list_next_line(r)) != NULL && *line == '#' &&
	    !text_starts(line, header))
		if (text_starts(line, attributes) && v->attributes == NULL &&
		    (v->attributes = via_json(r, "ATTRIBUTE", line +
		    strlen(attributes))) == NULL)
			return -1;
	if (line != NULL && *line == '#')
		line += strlen(header);
	if (line == NULL || list_cut_fields(line, ',', &r->head) != 0 ||
	    strcmp(r->head.s[0], "metadata_id") != 0) {
		r->head.n = 0;
		return fail("%s: no header (wanted %s)", r->name,
		    r->format->wanted);
	}
	return 0;
}

/* Set ${*p} to the part of the current row: a segment, around an instant, or
 * the whole video. */
static int
via_part(const struct list_reading *r, struct list_part *p)
{
	const char *begin = list_named(r, "temporal_segment_start");
	char *text = *begin != '\0' ? xprintf("[%s,%s]", begin,
	    list_named(r, "temporal_segment_end")) :
	    xstrdup(list_named(r, "temporal_coordinates"));
	struct json *times = via_json(r, "times", text);
	const size_t n = json_size(times);
	double half = n == 1 ? r->how->around / 2 : 0;
	int result = times != NULL ? 0 : -1;

	*p = (struct list_part){ .unit = n > 0 ? LIST_SECONDS : LIST_ALWAYS };
	if (n == 1 && half == 0)
		result = fail("%s: line %d: an instant (wanted --around=2s, or "
		    "another time, for a clip with it in its middle)", r->name,
		    r->line);
	else if (times != NULL && (!json_is(times, '[') || n > 2 ||
	    (n > 0 && (json_to_real(json_at(times, 0), &p->begin) != 0 ||
	    json_to_real(json_at(times, n - 1), &p->end) != 0 ||
	    p->begin < 0 || p->end > LIST_TIME_MAX ||
	    p->end - p->begin + half <= 0))))
		result = fail("%s: line %d: times %s (wanted [BEGIN,END] in "
		    "seconds)", r->name, r->line, Q(text));
	p->begin = fmax(p->begin - half, 0);
	p->end += half;
	json_free(times);
	free(text);
	return result;
}

/* Append a row for each option in ${value} of attribute ${id}. */
static void
via_append(struct via *v, const char *file, const struct list_part *part,
    const char *id, const char *value)
{
	const struct json *options = json_get(json_get(v->attributes, id),
	    "options");
	char *copy = xstrdup(value), *rest = copy, *option;

	while ((option = strsep(&rest, json_size(options) > 0 ? "," : "")) !=
	    NULL) {
		const char *name = json_to_text(json_get(options, option));
		struct list_row *row;

		if (*option == '\0' && json_size(options) > 0)
			continue;	/* no box is checked, or a comma ends */
		row = list_find_media(v->r, file);
		if (part->unit != LIST_ALWAYS)
			list_select(v->r, row, part);
		list_row_label(row, name != NULL ? name : option);
	}
	free(copy);
}

/* Append the rows of the label in ${metadata} of ${file}. */
static int
via_label(struct via *v, const char *file, const struct json *metadata)
{
	const struct list_reading *r = v->r;
	const char *want = r->how->attribute, *label = NULL, *of = NULL, *id;
	const struct json *value;
	struct list_part part;

	for (void *at = NULL;
	    (value = json_next(metadata, &at, &id)) != NULL;) {
		const char *text = json_to_text(value);
		const char *name = json_to_text(json_get(json_get(
		    v->attributes, id), "aname"));

		if (text == NULL || *text == '\0' || (want != NULL &&
		    strcmp(name != NULL ? name : id, want) != 0))
			continue;
		if (label != NULL)
			return fail("%s: line %d: several attributes (wanted "
			    "--label-attribute=NAME, the one that is the "
			    "label)", r->name, r->line);
		label = text;
		of = id;
	}
	v->unlabeled += label == NULL;
	if (label == NULL)
		return 0;
	if (via_part(r, &part) != 0)
		return -1;
	via_append(v, file, &part, of, label);
	return 0;
}

static int
via_row(struct via *v)
{
	const struct list_reading *r = v->r;
	const char *box = list_named(r, "spatial_coordinates");
	struct json *files, *metadata = NULL;
	const char *file;
	int result = -1;

	if (*box != '\0' && strcmp(box, "[]") != 0)
		return fail("%s: line %d: a box of an object, which vt does "
		    "not use (wanted segments of time)", r->name, r->line);
	files = via_json(r, "file_list", list_named(r, "file_list"));
	file = json_to_text(json_at(files, 0));
	if (files != NULL && (json_size(files) != 1 || file == NULL ||
	    *file == '\0'))
		fail("%s: line %d: file_list (wanted one video, [\"NAME\"])",
		    r->name, r->line);
	else if (files != NULL)
		metadata = via_json(r, "metadata", list_named(r, "metadata"));
	if (metadata != NULL)
		result = via_label(v, file, metadata);
	json_free(files);
	json_free(metadata);
	return result;
}

int
via_read(struct list_reading *r)
{
	struct via v = { .r = r };
	int result, row = 1;

	r->sep = ',';
	result = list_cut_lines(&r->lines, r->name, r->text.data);
	if (result == 0)
		result = via_read_header(&v);
	while (result == 0 && (row = list_next_row(r)) > 0)
		result = via_row(&v);
	if (row < 0)
		result = -1;
	if (result == 0 && v.unlabeled > 0)
		warning("%s: rows without a label, left out: %d", r->name,
		    v.unlabeled);
	json_free(v.attributes);
	return result;
}
