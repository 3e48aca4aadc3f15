/*
 * A dataset without data.  Plans read only the sizes, labels and number of its
 * samples, so all samples share one key.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train/loop/planned.h"

static int
planned_read(void *of, uint32_t i, const struct frame_read *r,
    struct error *why)
{
	(void)of;
	(void)i;
	(void)r;
	return error_set(why, "a planned dataset has no frames (wanted "
	    "--data)");
}

struct dataset *
planned_dataset(const struct planned *p, const char *path)
{
	static const struct stream_list streams = { 3, { { "rgb", "jpg" },
		{ "x", "jpg" }, { "y", "jpg" } } };
	struct sample *sample = xcalloc((size_t)p->samples, sizeof(*sample));
	struct class_list classes = { 0 };
	struct dataset_content c = { .path = path, .sample = sample,
		.samples = (uint32_t)p->samples, .classes = &classes,
		.streams = &streams, .extract = "{}",
		.id = hash128(path, strlen(path)),
		.read = planned_read, .free = free, .of = sample };
	struct dataset *d;

	for (int64_t k = 0; k < p->classes; k++) {
		char *name = xprintf("class %d", (int)k);

		class_add(&classes, name);
		free(name);
	}
	for (int64_t i = 0; i < p->samples; i++)
		sample[i] = (struct sample){ .key = "planned", .shard = path,
			.streams = &streams, .label = (int)(i % p->classes),
			.frames = 300, .width = 340, .height = 256,
			.fps = { 30, 1 } };
	d = dataset_of(&c);
	class_list_free(&classes);
	return d;
}
