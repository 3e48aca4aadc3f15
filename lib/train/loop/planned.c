/*
 * A dataset without data.  Plans read only the sizes, labels and number of its
 * samples.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train/loop/planned.h"

enum { PLANNED_SET = -2,		/* label of a sample with a set */
	SHORT_SIDE = 256 };

/* The content of a dataset: samples, and the text of their keys. */
struct planned_content { struct sample *sample; char *text; };

static void
planned_free(void *of)
{
	struct planned_content *p = of;

	free(p->sample);
	free(p->text);
	free(p);
}

/*
 * Return the dataset of ${n} samples, of which labels and keys are set.  Their
 * short side is ${side} pixels.
 */
static struct dataset *
planned_open(struct planned_content *p, uint32_t n, int side,
    const struct class_list *classes, const struct stream_list *streams,
    const char *path)
{
	struct dataset_content c = { .path = path, .sample = p->sample,
		.samples = n, .classes = classes, .streams = streams,
		.extract = "{}", .id = hash128(path, strlen(path)),
		.free = planned_free, .of = p };

	for (uint32_t i = 0; i < n; i++) {
		struct sample *s = &p->sample[i];

		s->shard = path;
		s->streams = streams;
		s->flags = s->label == PLANNED_SET ? SHARD_LABELS : 0;
		s->label = s->label == PLANNED_SET ? -1 : s->label;
		s->frames = 300;
		s->width = (side * 340 + 128) / 256;
		s->height = side;
		s->fps = (struct fraction){ 30, 1 };
	}
	return dataset_of(&c);
}

struct dataset *
planned_dataset(const struct planned *p, const char *path)
{
	static const struct stream_list streams = { 3, { { "rgb", "jpg" },
		{ "x", "jpg" }, { "y", "jpg" } } };
	struct planned_content *c = xcalloc(1, sizeof(*c));
	struct class_list classes = { 0 };
	struct dataset *d;

	c->sample = xcalloc((size_t)p->samples, sizeof(*c->sample));
	for (int64_t k = 0; k < p->classes; k++) {
		char *name = xprintf("class %d", (int)k);

		class_add(&classes, name);
		free(name);
	}
	for (int64_t i = 0; i < p->samples; i++) {
		c->sample[i].key = "planned";
		c->sample[i].label = (int)(i % p->classes);
	}
	d = planned_open(c, (uint32_t)p->samples, SHORT_SIDE, &classes,
	    &streams, path);
	class_list_free(&classes);
	return d;
}

struct dataset *
planned_videos(const char *text, const char *path)
{
	static const struct stream_list streams = { 1, { { "rgb", "jpg" } } };
	struct planned_content *c = xcalloc(1, sizeof(*c));
	struct class_list classes = { 0 };
	struct dataset *d;
	size_t n = 0, cap = 0;
	int rows = 1;
	char *next = c->text = xstrdup(text), *line;
	int side = (int)strtol(strsep(&next, "\n"), NULL, 10);

	while ((line = strsep(&next, "\n")) != NULL && next != NULL) {
		struct sample s = { 0 };

		if (rows && *line == '\0') {
			rows = 0;
		} else if (!rows) {
			class_add(&classes, line);
		} else {
			s.label = (int)strtol(strsep(&line, "\t"), NULL, 10);
			s.key = strsep(&line, "\t");
			s.source = strsep(&line, "\t");
			s.group = *line != '\0' ? line : NULL;
			c->sample = array_reserve(c->sample, n, &cap,
			    sizeof(*c->sample));
			c->sample[n++] = s;
		}
	}
	d = planned_open(c, (uint32_t)n, side > 0 ? side : SHORT_SIDE,
	    &classes, &streams, path);
	class_list_free(&classes);
	return d;
}
