/*
 * CVAT 1.1: tracks of "CVAT for video" and tags of "CVAT for images", which a
 * video is exported as if it has tags.  Frames are those of the video from 0,
 * in steps if the task has a frame filter.
 *
 * A shape with outside="0" holds until the next listed frame of its track, the
 * last one for a step.  So exports with and without the frames between key
 * frames give the same ranges.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/xml.h"
#include "ingest/list_format.h"

#define Q text_quote
#define FRAMES 1000000		/* more than a sample has */

/* Frames of a video that show a label. */
struct cvat_run { const struct xml *task; char *label; int64_t begin, end;
	int line; };

struct cvat {
	struct list_reading *r;
	const struct xml *root;
	struct cvat_run *run;
	size_t n, cap;
};

int
cvat_detect(struct list_reading *r)
{
	return list_is_xml(r->text.data, "<annotations>");
}

/* Return the task or the job of ${e}, a track or an image, NULL if there is
 * none. */
static const struct xml *
cvat_task(const struct cvat *c, const struct xml *e)
{
	const struct xml *meta = xml_child(c->root, "meta");
	const struct xml *of = xml_child(meta, "project"), *task;
	const char *id = xml_get(e, "task_id");

	task = xml_child(xml_child(of, "tasks"), "task");
	if (of == NULL) {
		task = xml_child(meta, "task");
		return task != NULL ? task : xml_child(meta, "job");
	}
	for (; task != NULL; task = xml_next(task, "task")) {
		const struct xml *k = xml_child(task, "id");

		if (k != NULL && id != NULL && strcmp(k->text, id) == 0)
			break;
	}
	return task;
}

/* Return the integer in the child ${name} of ${task}, ${other} without one. */
static int64_t
cvat_int(const struct xml *task, const char *name, const char *prefix,
    int64_t other)
{
	const struct xml *e = xml_child(task, name);
	int64_t n;

	return e != NULL && text_starts(e->text, prefix) && text_int(e->text +
	    strlen(prefix), 1, FRAMES, &n) == 0 ? n : other;
}

/* Return the number of frames between those of ${task}. */
static int64_t
cvat_step(const struct xml *task)
{
	return cvat_int(task, "frame_filter", "step=", 1);
}

/*
 * Return the label of ${shape}, whose track or tag has ${label}: LABEL:VALUE if
 * it has the attribute of --label-attribute.  The caller frees it.
 */
static char *
cvat_label(const struct cvat *c, const struct xml *shape, const char *label)
{
	const struct xml *e = xml_child(shape, "attribute");
	const char *name, *want = c->r->how->attribute;

	for (; e != NULL && want != NULL; e = xml_next(e, "attribute"))
		if ((name = xml_get(e, "name")) != NULL &&
		    strcmp(name, want) == 0)
			return xprintf("%s:%s", label, e->text);
	return xstrdup(label);
}

/* Add the frames of a run to an equal one, from the ${from}th, that ends where
 * it begins, or as a new one. */
static void
cvat_add(struct cvat *c, struct cvat_run run, size_t from)
{
	size_t i = c->n;

	while (i > from && (c->run[i - 1].end != run.begin ||
	    c->run[i - 1].task != run.task ||
	    strcmp(c->run[i - 1].label, run.label) != 0))
		i--;
	if (i > from) {
		c->run[i - 1].end = run.end;
		free(run.label);
		return;
	}
	c->run = array_reserve(c->run, c->n, &c->cap, sizeof(*c->run));
	c->run[c->n++] = run;
}

/* Set ${*frame} to the frame of ${shape}. */
static int
cvat_frame(const struct cvat *c, const struct xml *shape, int64_t *frame)
{
	const char *text = xml_get(shape, "frame");

	return text != NULL && text_int(text, 0, FRAMES, frame) == 0 ? 0 :
	    fail("%s: line %d: %s without a frame (wanted a number from 0)",
		c->r->name, shape->line, shape->name);
}

static int
cvat_track(struct cvat *c, const struct xml *track)
{
	const struct xml *task = cvat_task(c, track), *e = track->child;
	const char *label = xml_get(track, "label");
	size_t from = c->n;

	if (label == NULL || *label == '\0')
		return fail("%s: line %d: a track without a label", c->r->name,
		    track->line);
	for (; e != NULL; e = e->next) {
		const char *outside = xml_get(e, "outside");
		struct cvat_run run = { .task = task, .line = e->line };

		if (cvat_frame(c, e, &run.begin) != 0 || (e->next != NULL &&
		    cvat_frame(c, e->next, &run.end) != 0))
			return -1;
		if (e->next == NULL)
			run.end = run.begin + cvat_step(task);
		if (run.end < run.begin)
			return fail("%s: line %d: frame %lld after %lld "
			    "(wanted shapes in the order of frames)",
			    c->r->name, e->next->line, (long long)run.end,
			    (long long)run.begin);
		/* Joints of jobs may have a frame twice: the second counts. */
		if (run.end == run.begin || (outside != NULL &&
		    strcmp(outside, "1") == 0))
			continue;
		run.label = cvat_label(c, e, label);
		cvat_add(c, run, from);
	}
	return 0;
}

/* Add the tags of ${image}.  Add the number of its tags and of its other
 * annotations to ${n}. */
static int
cvat_image(struct cvat *c, const struct xml *image, size_t n[2])
{
	const char *name = xml_get(image, "name"), *digits;
	const struct xml *e = image->child, *task = cvat_task(c, image);

	for (; e != NULL; e = e->next) {
		const char *label = xml_get(e, "label");
		struct cvat_run run = { .task = task, .line = e->line };

		n[strcmp(e->name, "tag") != 0]++;
		if (strcmp(e->name, "tag") != 0)
			continue;
		digits = name != NULL ? name + strcspn(name, "0123456789") : "";
		if (text_int(digits, 0, FRAMES, &run.begin) != 0 ||
		    !text_starts(name, "frame_"))
			return fail("%s: line %d: image %s (wanted frames of a "
			    "video, as frame_000012)", c->r->name, image->line,
			    Q(name != NULL ? name : ""));
		if (label == NULL || *label == '\0')
			return fail("%s: line %d: a tag without a label",
			    c->r->name, e->line);
		run.end = run.begin + cvat_step(task);
		run.label = cvat_label(c, e, label);
		cvat_add(c, run, 0);
	}
	return 0;
}

static int
cvat_append(struct cvat *c, const struct cvat_run *run)
{
	const struct xml *source = xml_child(run->task, "source");
	int64_t stop = cvat_int(run->task, "stop_frame", "", FRAMES) + 1;
	struct list_row *row;

	if (source == NULL || *source->text == '\0')
		return fail("%s: line %d: no video (wanted <source> in the "
		    "task of <meta>)", c->r->name, run->line);
	c->r->line = run->line;
	row = list_find_media(c->r, source->text);
	row->part = (struct list_part){ LIST_FRAMES, (double)run->begin,
		(double)(run->begin < stop && stop < run->end ? stop :
		run->end), 0 };
	row->part_in_key = 1;
	list_row_label(row, run->label);
	return 0;
}

int
cvat_read(struct list_reading *r)
{
	struct cvat c = { .r = r };
	size_t tags[2] = { 0, 0 };
	struct xml *root = xml_parse(r->name, r->text.data);
	int result = root != NULL ? 0 : -1;

	c.root = root;
	if (root != NULL && strcmp(root->name, "annotations") != 0)
		result = fail("%s: line %d: <%s> (wanted %s)", r->name,
		    root->line, root->name, r->format->wanted);
	for (const struct xml *e = xml_child(root, "track"); e != NULL &&
	    result == 0; e = xml_next(e, "track"))
		result = cvat_track(&c, e);
	for (const struct xml *e = xml_child(root, "image"); e != NULL &&
	    result == 0; e = xml_next(e, "image"))
		result = cvat_image(&c, e, tags);
	if (result == 0 && tags[0] == 0 && tags[1] > 0)
		result = fail("%s: boxes of images without tags (wanted tags, "
		    "or tracks of an export as CVAT for video 1.1)", r->name);
	for (size_t i = 0; i < c.n && result == 0; i++)
		result = cvat_append(&c, &c.run[i]);
	for (size_t i = 0; i < c.n; i++)
		free(c.run[i].label);
	free(c.run);
	xml_free(root);
	return result;
}
