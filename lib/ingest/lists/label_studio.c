/*
 * Exports of Label Studio: JSON, an array of tasks with their annotations, and
 * JSON-MIN, CSV and TSV, a row for each annotation with the results under the
 * names of their tags.
 *
 * Frames of ranges count from 1 and the last one is included.  They are times
 * at the frame rate of the project, 24 unless it sets another, which no export
 * has.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "ingest/list_format.h"

#define Q text_quote
#define FRAMES 100000000	/* more than a video has */

/* A member of a row of JSON-MIN, or a cell: a text, JSON or neither. */
struct label_studio_field {
	const char *name, *text;
	const struct json *value;
	struct json *own;	/* ${value} of a cell */
};

/* A row of JSON-MIN, CSV or TSV.  Its fields except those of the program and
 * the video hold results, or data of the task. */
struct label_studio_row {
	struct label_studio_field *field;
	int n, line, item;
	const char *media;
};

struct label_studio {
	struct list_reading *r;
	struct label_studio_row *row;
	size_t n, cap;
	const char *media;		/* of the current task */
	int item;
};

/* Return the place of the current task or row in messages. */
static const char *
label_studio_at(const struct label_studio *s)
{
	return list_at(&(struct list_row){ .file = s->r->name,
		.line = s->r->line, .item = s->item });
}

int
label_studio_detect(struct list_reading *r)
{
	const struct json *o = json_at(r->json, 0);
	char *head;
	int csv;

	if (r->json != NULL)
		return json_get(o, "annotation_id") != NULL ?
		    json_get(o, "annotator") != NULL : json_is(json_get(o,
		    "data"), '{') && (json_get(o, "annotations") != NULL ||
		    json_get(o, "completions") != NULL);
	head = xstrndup(r->text.data, strcspn(r->text.data, "\n"));
	csv = strstr(head, "annotation_id") != NULL && strstr(head,
	    "annotator") != NULL && strstr(head, "lead_time") != NULL;
	free(head);
	return csv;
}

/* ---- videos ---- */

/* Return the path in the address ${media}.  The caller frees it. */
static char *
label_studio_path(const char *media)
{
	static const char upload[] = "/data/upload/";
	const char *local = strstr(media, "?d="), *host = strstr(media, "://");
	char *path;

	if (local != NULL)
		media = local + 3;
	else if (host != NULL)
		media = strchr(host + 3, '/') != NULL ?
		    strchr(host + 3, '/') + 1 : host + 3;
	else if (text_starts(media, upload)) {
		const char *end;

		media += strlen(upload);
		end = media + strspn(media, "0123456789");
		media = *end == '/' ? end + 1 : media;
	}
	path = xstrndup(media, host != NULL && local == NULL ?
	    strcspn(media, "?#") : strlen(media));
	list_decode(path);
	return path;
}

/* Append a row for the current video.  An uploaded file NAME is stored as
 * XXXXXXXX-NAME with 8 hexadecimal digits. */
static struct list_row *
label_studio_find(struct label_studio *s)
{
	char *path = label_studio_path(s->media), *name = strrchr(path, '/');
	char *found = NULL, *rest;
	struct list_row *row;

	name = name != NULL ? name + 1 : path;
	rest = name + strspn(name, "0123456789abcdef");
	if (rest == name + 8 && rest[0] == '-' && rest[1] != '\0' &&
	    (found = list_try(s->r, path)) == NULL)
		memmove(name, rest + 1, strlen(rest));
	row = found != NULL ? list_found(s->r, found, path) :
	    list_find_media(s->r, path);
	row->item = s->item;
	free(path);
	return row;
}

/* ---- results ---- */

static int
label_studio_append(struct label_studio *s, const struct json *labels,
    const struct list_part *part)
{
	if (*s->media == '\0')
		return fail("%sno video (wanted a member of the data of the "
		    "task whose name begins with video, or a file)",
		    label_studio_at(s));
	for (size_t i = 0; i < json_size(labels); i++) {
		const char *label = json_to_text(json_at(labels, i));
		struct list_row *row;

		if (label == NULL || *label == '\0')
			return fail("%sa label that is not a text",
			    label_studio_at(s));
		row = label_studio_find(s);
		if (part->unit != LIST_ALWAYS)
			list_select(s->r, row, part);
		list_row_label(row, label);
	}
	return 0;
}

/* Append the ranges of frames ${ranges} with ${labels}. */
static int
label_studio_ranges(struct label_studio *s, const struct json *ranges,
    const struct json *labels)
{
	double fps = s->r->how->fps;
	int result = 0;

	if (json_size(ranges) > 0 && fps == 0)
		return fail("%sframes without a frame rate, which the export "
		    "lacks (wanted --list-fps=24, or what frameRate of the "
		    "Video tag says)", label_studio_at(s));
	for (size_t i = 0; i < json_size(ranges) && result == 0; i++) {
		const struct json *o = json_at(ranges, i);
		int64_t first, last;

		if (json_to_int(json_get(o, "start"), 1, FRAMES, &first) != 0 ||
		    json_to_int(json_get(o, "end"), first, FRAMES, &last) != 0)
			return fail("%srange %zu (wanted start and end, frames "
			    "from 1)", label_studio_at(s), i + 1);
		result = label_studio_append(s, labels, &(struct list_part){
			LIST_SECONDS, (double)(first - 1) / fps,
			(double)last / fps, 0 });
	}
	return result;
}

/* Append what the result ${v} says; texts, ratings and so on say nothing. */
static int
label_studio_value(struct label_studio *s, const struct json *v)
{
	static const char *const tags[] = { "timelinelabels", "labels",
		"choices" };
	const struct json *ranges = json_get(v, "ranges"), *labels = NULL;
	const struct json *start = json_get(v, "start");
	struct list_part part = { 0 };

	for (int i = 0; i < 3 && labels == NULL; i++)
		labels = json_get(v, tags[i]);
	if (json_get(v, "sequence") != NULL || json_get(v, "width") != NULL)
		return fail("%sboxes of objects, which vt does not use (wanted "
		    "TimelineLabels, Labels with times or Choices)",
		    label_studio_at(s));
	if (labels == NULL)
		return 0;
	if (ranges != NULL)
		return label_studio_ranges(s, ranges, labels);
	if (start != NULL) {
		part.unit = LIST_SECONDS;
		if (json_to_real(start, &part.begin) != 0 ||
		    json_to_real(json_get(v, "end"), &part.end) != 0 ||
		    part.begin < 0 || part.end <= part.begin ||
		    part.end > LIST_TIME_MAX)
			return fail("%sa result (wanted start and end in "
			    "seconds, the end later)", label_studio_at(s));
	}
	return label_studio_append(s, labels, &part);
}

/* Append the results ${v}: one object, or an array of them. */
static int
label_studio_values(struct label_studio *s, const struct json *v)
{
	int result = 0;

	if (!json_is(v, '['))
		return label_studio_value(s, v);
	for (size_t i = 0; i < json_size(v) && result == 0; i++)
		result = label_studio_value(s, json_at(v, i));
	return result;
}

/* ---- JSON ---- */

/* Return 1 if the JSON ${a} and ${b} is equal. */
static int
label_studio_equal(const struct json *a, const struct json *b)
{
	char *s = a != NULL ? json_print(a) : xstrdup("");
	char *t = b != NULL ? json_print(b) : xstrdup("");
	int equal = strcmp(s, t) == 0;

	free(s);
	free(t);
	return equal;
}

/* Return 1 if two annotations have equal values in their results. */
static int
label_studio_agree(const struct json *a, const struct json *b)
{
	const struct json *r = json_get(a, "result");
	const struct json *s = json_get(b, "result");
	size_t i = 0;

	while (i < json_size(r) && label_studio_equal(json_get(json_at(r, i),
	    "value"), json_get(json_at(s, i), "value")))
		i++;
	return i == json_size(r) && i == json_size(s);
}

/*
 * Set ${*newest} to the newest annotation of the task ${o}, NULL if all are
 * cancelled.  Annotators who disagree are an error.
 */
static int
label_studio_choose(struct label_studio *s, const struct json *o,
    const struct json **newest)
{
	const struct json *list = json_get(o, "annotations");

	*newest = NULL;
	if (list == NULL)
		list = json_get(o, "completions");
	if (!json_is(list, '['))
		return fail("%sno array \"annotations\" (wanted an export of "
		    "Label Studio)", label_studio_at(s));
	for (size_t i = 0; i < json_size(list); i++) {
		const struct json *a = json_at(list, i), *b = *newest;
		const char *time = json_to_text(json_get(a, "updated_at"));
		const char *before = json_to_text(json_get(b, "updated_at"));
		int cancelled = 0;

		json_to_bool(json_get(a, "was_cancelled"), &cancelled);
		if (cancelled)
			continue;
		if (b != NULL && !label_studio_equal(json_get(a,
		    "completed_by"), json_get(b, "completed_by")) &&
		    !label_studio_agree(a, b))
			return fail("%sannotators disagree (wanted one "
			    "annotation for each task)", label_studio_at(s));
		if (b == NULL || time == NULL || before == NULL ||
		    strcmp(time, before) >= 0)
			*newest = a;
	}
	return 0;
}

/* Return 1 if the data ${name} is the video, ${text}, 2 if it is so by its
 * name. */
static int
label_studio_is_media(const char *name, const char *text)
{
	return text == NULL || *text == '\0' || list_is_json(text) ? 0 :
	    text_starts(name, "video") ? 2 : list_is_file(text);
}

static int
label_studio_task(struct label_studio *s, const struct json *o)
{
	const struct json *newest, *list, *v;
	const char *key;
	int result = 0, is = 0;

	s->media = "";
	for (void *at = NULL; (v = json_next(json_get(o, "data"), &at, &key)) !=
	    NULL;) {
		const char *text = json_to_text(v);
		int k = label_studio_is_media(key, text);

		s->media = k > is ? text : s->media;
		is = k > is ? k : is;
	}
	if (label_studio_choose(s, o, &newest) != 0)
		return -1;
	list = json_get(newest, "result");
	for (size_t i = 0; i < json_size(list) && result == 0; i++)
		result = label_studio_value(s, json_get(json_at(list, i),
		    "value"));
	return result;
}

/* ---- JSON-MIN, CSV, TSV ---- */

/* Return the field of ${row} that is called ${name}, NULL if it has none. */
static const struct label_studio_field *
label_studio_field(const struct label_studio_row *row, const char *name)
{
	int i = 0;

	while (i < row->n && strcmp(row->field[i].name, name) != 0)
		i++;
	return i < row->n ? &row->field[i] : NULL;
}

/* Return 1 if ${f} of ${row} is neither of the program nor the video. */
static int
label_studio_is_result(const struct label_studio_row *row,
    const struct label_studio_field *f)
{
	return text_choice("annotation_id|annotator|created_at|updated_at|"
	    "lead_time|id|agreement|ground_truth", f->name) < 0 &&
	    f->text != row->media && (f->value != NULL || (f->text != NULL &&
	    *f->text != '\0'));
}

static struct label_studio_row *
label_studio_add_row(struct label_studio *s, size_t fields)
{
	s->row = array_reserve(s->row, s->n, &s->cap, sizeof(*s->row));
	s->row[s->n] = (struct label_studio_row){ .line = s->r->line,
		.item = s->item, .field = xcalloc(fields + 1,
		sizeof(*s->row->field)), .media = "" };
	return &s->row[s->n++];
}

static void
label_studio_read_min(struct label_studio *s)
{
	const struct json *v;
	const char *key;

	for (size_t i = 0; i < json_size(s->r->json); i++) {
		const struct json *o = json_at(s->r->json, i);
		struct label_studio_row *row;

		s->item = (int)i + 1;
		row = label_studio_add_row(s, json_size(o));
		for (void *at = NULL; (v = json_next(o, &at, &key)) != NULL;)
			row->field[row->n++] = (struct label_studio_field){
				.name = key, .text = json_to_text(v),
				.value = json_is(v, '[') || json_is(v, '{') ||
				    strcmp(key, "id") == 0 ? v : NULL };
	}
}

static int
label_studio_read_csv(struct label_studio *s)
{
	struct list_reading *r = s->r;
	struct list_fields head = { 0 };
	char *line;
	int result = 0;

	r->sep = r->text.data[strcspn(r->text.data, "\t,;")];
	if (list_cut_lines(&r->lines, r->name, r->text.data) != 0)
		return -1;
	if ((line = list_next_line(r)) == NULL)
		return fail("%s: no header (wanted %s)", r->name,
		    r->format->wanted);
	if (list_cut_fields(line, r->sep, &head) != 0)
		result = list_broken(r, line);
	while (result == 0 && (line = list_next_line(r)) != NULL) {
		struct label_studio_row *row;

		if ((result = list_cut_cells(r, line)) != 0)
			break;
		if (r->cell.n != head.n) {
			result = fail("%s: line %d: %d cells (wanted %d as in "
			    "the header)", r->name, r->line, r->cell.n, head.n);
			break;
		}
		row = label_studio_add_row(s, (size_t)head.n);
		for (int i = 0; i < head.n && result == 0; i++) {
			struct label_studio_field *f = &row->field[row->n++];

			f->name = head.s[i];
			f->text = r->cell.s[i];
			if (!list_is_json(f->text))
				continue;
			f->value = f->own = json_parse(label_studio_at(s),
			    f->text, strlen(f->text));
			result = f->own != NULL ? 0 : -1;
		}
	}
	free(head.s);
	return result;
}

/*
 * Set ${*plain} to the name of the only field of results if it has texts, which
 * are choices.  Otherwise it is NULL: results are JSON, and texts are data.
 */
static int
label_studio_find_plain(struct label_studio *s, const char **plain)
{
	const char *second = NULL;

	*plain = NULL;
	for (size_t i = 0; i < s->n; i++) {
		struct label_studio_row *row = &s->row[i];
		int is = 0;

		for (int k = 0; k < row->n; k++) {
			const struct label_studio_field *f = &row->field[k];
			int m = label_studio_is_media(f->name, f->text);

			row->media = m > is ? f->text : row->media;
			is = m > is ? m : is;
		}
	}
	for (size_t i = 0; i < s->n; i++)
		for (int k = 0; k < s->row[i].n; k++) {
			struct label_studio_field *f = &s->row[i].field[k];

			if (!label_studio_is_result(&s->row[i], f))
				continue;
			if (f->value != NULL) {
				*plain = NULL;
				return 0;
			}
			if (*plain == NULL)
				*plain = f->name;
			else if (strcmp(*plain, f->name) != 0)
				second = f->name;
		}
	return second == NULL ? 0 : fail("%s: %s and %s are texts (wanted one "
	    "of them, the choices; JSON tells them from the data of the task)",
	    s->r->name, Q(*plain), Q(second));
}

/* Return 1 if two rows are annotations of one task. */
static int
label_studio_same_task(const struct label_studio_row *a,
    const struct label_studio_row *b)
{
	const struct label_studio_field *s = label_studio_field(a, "id");
	const struct label_studio_field *t = label_studio_field(b, "id");

	return s != NULL && t != NULL && (s->text != NULL && t->text != NULL ?
	    strcmp(s->text, t->text) == 0 : label_studio_equal(s->value,
	    t->value));
}

static int
label_studio_rows(struct label_studio *s)
{
	const char *plain;
	int result = label_studio_find_plain(s, &plain);

	for (size_t i = 0; i < s->n && result == 0; i++) {
		const struct label_studio_row *row = &s->row[i];

		s->r->line = row->line;
		s->item = row->item;
		s->media = row->media;
		if (i > 0 && label_studio_same_task(row, row - 1))
			return fail("%sa second annotation of its task (wanted "
			    "one; an export as JSON tells the newest)",
			    label_studio_at(s));
		for (int k = 0; k < row->n && result == 0; k++) {
			const struct label_studio_field *f = &row->field[k];

			if (!label_studio_is_result(row, f))
				continue;
			if (f->value != NULL)
				result = label_studio_values(s, f->value);
			else if (plain != NULL && *s->media == '\0')
				result = fail("%sno video",
				    label_studio_at(s));
			else if (plain != NULL)
				list_row_label(label_studio_find(s), f->text);
		}
	}
	return result;
}

int
label_studio_read(struct list_reading *r)
{
	struct label_studio s = { .r = r };
	int result = 0;

	if (json_get(json_at(r->json, 0), "annotation_id") != NULL)
		label_studio_read_min(&s);
	else if (r->json == NULL)
		result = label_studio_read_csv(&s);
	else if (!json_is(r->json, '['))
		return fail("%s: not a JSON array (wanted %s)", r->name,
		    r->format->wanted);
	else
		for (size_t i = 0; i < json_size(r->json) && result == 0; i++) {
			s.item = (int)i + 1;
			result = label_studio_task(&s, json_at(r->json, i));
		}
	if (result == 0)
		result = label_studio_rows(&s);
	for (size_t i = 0; i < s.n; i++) {
		for (int k = 0; k < s.row[i].n; k++)
			json_free(s.row[i].field[k].own);
		free(s.row[i].field);
	}
	free(s.row);
	return result;
}
