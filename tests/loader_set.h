#ifndef TESTS_LOADER_SET_H
#define TESTS_LOADER_SET_H

/* Make small packed datasets for tests of the code that reads datasets. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "media/image.h"
#include "media/png.h"
#include "shard/dataset.h"
#include "shard/sample.h"
#include "shard/manifest.h"
#include "shard/writer.h"

struct set {
	const char *dir, *ext;
	int shards;			/* samples are distributed evenly */
	int samples;
	int classes;			/* named a, b, c, ...; sample i has
					 * class i mod classes; 0 means 3 */
	int letter;			/* name of the first class; 0 means a */
	int (*label)(int sample);	/* class of a sample, -1: none; NULL:
					 * the rule above */
	/*
	 * Write the label intervals of a sample to ${to}: class, first and last
	 * frame.  Return their number, or -1 if the sample has one label only.
	 * NULL: no sample has intervals.
	 */
	int (*spans)(int sample, int frames, struct label_interval *to);
	int (*frames)(int sample);
	int (*width)(int sample), (*height)(int sample);
	/* Append the stored bytes of a frame of the stream rgb. */
	void (*frame)(int sample, int frame, int w, int h, struct buffer *to);
	/* The tags of the streams, ended by NULL; NULL: rgb. */
	const char *const *tags;
	/* Append the stored bytes of a frame of the stream x (${axis} 0) or y
	 * (1). */
	void (*flow)(int sample, int frame, int axis, int w, int h,
	    struct buffer *to);
};

/*
 * Append a PNG whose pixels differ by ${sample} and ${frame}; a frame function
 * for tests that do not look at pixels.
 */
static inline void
set_plain(int sample, int frame, int w, int h, struct buffer *to)
{
	struct image *m = image_new(w, h, 3);

	for (int i = 0; i < 3 * w * h; i++)
		m->data[i] = (uint8_t)(i * (sample + 3) + frame * 40);
	png_encode(m, to);
	image_free(m);
}

static int
set_member(struct shard_writer *w, uint32_t *blk, struct shard_record *r,
    const char *name, const void *data, size_t n)
{
	static const unsigned char zeros[USTAR_BLOCK];
	unsigned char header[USTAR_BLOCK];

	ustar_header(header, name, n);
	*r = (struct shard_record){ .blk = *blk + 1, .length = (uint32_t)n,
		.crc = crc32c(0, data, n) };
	*blk += 1 + (uint32_t)((n + USTAR_BLOCK - 1) / USTAR_BLOCK);
	return shard_put(w, header, sizeof(header)) | shard_put(w, data, n) |
	    shard_put(w, zeros, ustar_padding(n));
}

enum { SET_SPANS = 8 };		/* maximum of one sample */

/*
 * Add sample ${i}, with key s0000i, to the shard ${w}.  Return 0, or another
 * value on failure.
 */
static int
set_sample(const struct set *set, struct shard_writer *w, int i,
    const struct stream_list *streams)
{
	int n = set->frames(i), bad = 0;
	char key[32], name[64];
	struct label_interval span[SET_SPANS];
	struct sample s = { .key = key, .source = key, .status = "ok",
		.streams = streams, .frames = n, .label = set->label ?
		set->label(i) : i % (set->classes ? set->classes : 3),
		.width = set->width(i), .height = set->height(i),
		.fps = { 25, 1 } };
	int records = n * streams->n;
	struct shard_record *r = xcalloc((size_t)records + 1, sizeof(*r));
	struct buffer b = { 0 };
	int spans = set->spans ? set->spans(i, n, span) : -1;
	uint32_t blk = 0;

	sprintf(key, "s%05d", i);
	for (int f = 0; f < records; f++) {
		const char *tag = streams->kind[f % streams->n].tag;
		int at = f / streams->n, rgb = strcmp(tag, "rgb") == 0;

		b.n = 0;
		if (rgb)
			set->frame(i, at, s.width, s.height, &b);
		else
			set->flow(i, at, strcmp(tag, "y") == 0, s.width,
			    s.height, &b);
		sprintf(name, "%s.%06d%s%s.%s", key, at, rgb ? "" : ".",
		    rgb ? "" : tag, set->ext);
		bad |= set_member(w, &blk, &r[f], name, b.data, b.n);
	}
	b.n = 0;
	buffer_text(&b, spans < 0 ? "{}" : "");
	if (spans >= 0) {
		s.label = -1;
		s.flags = SHARD_LABELS;
		s.labels = span;
		s.nlabels = spans;
		sample_write(&s, &b);
	}
	sprintf(name, "%s.json", key);
	bad |= set_member(w, &blk, &r[records], name, b.data, b.n);
	bad |= shard_add(w, &s, r, (size_t)records + 1);
	buffer_free(&b);
	free(r);
	return bad;
}

/* Write the dataset to set->dir, which exists.  Return 0 or -1. */
static int
set_make(const struct set *set)
{
	struct manifest *m = manifest_new();
	int bad = 0;

	for (int c = 0; c < (set->classes ? set->classes : 3); c++)
		class_add(&m->classes, (char[]){ (char)((set->letter ?
		    set->letter : 'a') + c), '\0' });
	m->options = xstrdup("{}");
	for (const char *const *tag = set->tags != NULL ? set->tags :
	    (const char *const []){ "rgb", NULL }; *tag != NULL; tag++) {
		strcpy(m->streams.kind[m->streams.n].tag, *tag);
		strcpy(m->streams.kind[m->streams.n++].ext, set->ext);
	}
	m->settings = manifest_settings_id(&m->classes, m->options,
	    &m->streams);
	for (int k = 0; k < set->shards && !bad; k++) {
		char name[32], *path;
		struct shard_writer *w;
		struct shard_sum sum;

		sprintf(name, "t-%06d.tar", k);
		path = path_join(set->dir, name);
		w = shard_create(path, (uint32_t)k, m->samples, m->settings,
		    &m->streams);
		for (int i = set->samples * k / set->shards;
		    i < set->samples * (k + 1) / set->shards && !bad; i++)
			bad |= set_sample(set, w, i, &m->streams);
		bad |= shard_finish(w, &sum);
		manifest_add(m, name, &sum);
		free(path);
	}
	bad |= manifest_write(set->dir, m);
	manifest_free(m);
	return bad ? -1 : 0;
}

/*
 * set_open(set, root):
 * Make a directory from ${root}, a template of mkdtemp, and change to it.
 * Write the dataset there, and open it.  On failure, end the test with "Bail
 * out!".  The caller ends with set_close.
 */
static inline struct dataset *
set_open(const struct set *set, char *root)
{
	struct dataset *d = NULL;

	if (mkdtemp(root) == NULL || chdir(root) != 0 ||
	    file_make_dir(set->dir, NULL) != 0 || set_make(set) != 0 ||
	    (d = dataset_open(set->dir, NULL)) == NULL) {
		printf("Bail out! cannot make or open the dataset\n");
		exit(1);
	}
	return d;
}

/* Close ${d}, and remove the directory ${root} with its files. */
static inline void
set_close(struct dataset *d, const char *root)
{
	char *command = xprintf("rm -rf '%s'", root);

	dataset_free(d);
	if (system(command) != 0)
		printf("# cannot remove %s\n", root);
	free(command);
}

#endif
