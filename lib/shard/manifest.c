/* Creation of manifest.json, classes.txt and SHARDS.xxh128, and the
 * identities of a set. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "base/version.h"
#include "shard/manifest.h"

struct manifest *
manifest_new(void)
{
	struct manifest *m = xcalloc(1, sizeof(*m));

	/* later generations are reserved for appends */
	m->generation = 1;
	return m;
}

void
manifest_free(struct manifest *m)
{
	if (m == NULL)
		return;
	for (size_t i = 0; i < m->shards; i++)
		free(m->shard[i].name);
	free(m->shard);
	class_list_free(&m->classes);
	free(m->options);
	free(m);
}

/* The text that is hashed must not change: footers and checkpoints store the
 * result. */
struct hash128
manifest_settings_id(const struct class_list *classes, const char *options,
    const struct stream_list *streams)
{
	struct json_writer w = { 0 };
	struct hash128 id;

	json_open(&w, NULL, '{');
	class_write(&w, classes);
	json_put_raw(&w, "options", options);
	stream_list_write(&w, "streams", streams);
	json_close(&w);
	id = hash128(w.out.data, w.out.n);
	buffer_free(&w.out);
	return id;
}

/* The hashes of the whole files do not enter, because they depend on the
 * settings in the footers. */
struct hash128
manifest_content_id(const struct manifest *m)
{
	struct json_writer w = { 0 };
	struct hash128 id;
	char text[33];

	json_open(&w, NULL, '{');
	class_write(&w, &m->classes);
	json_open(&w, "shards", '[');
	for (size_t i = 0; i < m->shards; i++) {
		const struct shard_sum *s = &m->shard[i].sum;

		json_open(&w, NULL, '[');
		json_put_text(&w, NULL, hash128_text(s->data, text));
		json_put_text(&w, NULL, hash128_text(s->index, text));
		json_close(&w);
	}
	json_close(&w);
	json_close(&w);
	id = hash128(w.out.data, w.out.n);
	buffer_free(&w.out);
	return id;
}

void
manifest_add(struct manifest *m, const char *name, const struct shard_sum *sum)
{
	m->shard = array_reserve(m->shard, m->shards, &m->cap,
	    sizeof(*m->shard));
	m->shard[m->shards++] = (struct manifest_shard){ .name = xstrdup(name),
		.first = m->samples, .sum = *sum };
	m->bytes += sum->bytes;
	m->frames += sum->frames;
	m->samples += sum->samples;
}

/* Members are in the order of their keys, as canonical JSON requires. */
static void
manifest_put_shards(struct json_writer *w, const struct manifest *m)
{
	char text[33];

	json_open(w, "shards", '[');
	for (size_t i = 0; i < m->shards; i++) {
		const struct manifest_shard *s = &m->shard[i];

		json_open(w, NULL, '{');
		json_put_int(w, "bytes", (int64_t)s->sum.bytes);
		json_put_int(w, "first", (int64_t)s->first);
		json_put_int(w, "frames", (int64_t)s->sum.frames);
		json_put_text(w, "name", s->name);
		json_put_int(w, "samples", (int64_t)s->sum.samples);
		json_put_text(w, "xxh128", hash128_text(s->sum.hash, text));
		json_close(w);
	}
	json_close(w);
}

/* The format of xxh128sum -c. */
void
manifest_sums(const struct manifest *m, struct buffer *b)
{
	char text[33];

	for (size_t i = 0; i < m->shards; i++)
		buffer_printf(b, "%s  %s\n",
		    hash128_text(m->shard[i].sum.hash, text), m->shard[i].name);
}

/* Commit a file in the directory of the set. */
static int
manifest_write_file(const char *dir, const char *name, const struct buffer *b)
{
	char *path = path_join(dir, name);
	int result = commit_bytes(path, b->data, b->n);

	free(path);
	return result;
}

int
manifest_write(const char *dir, const struct manifest *m)
{
	struct json_writer w = { 0 };
	struct buffer classes = { 0 }, sums = { 0 };
	char text[33];
	int result;

	class_text(&m->classes, &classes);
	manifest_sums(m, &sums);
	json_open(&w, NULL, '{');
	json_put_int(&w, "bytes", (int64_t)m->bytes);
	if (m->class_samples != NULL) {
		json_open(&w, "class_samples", '[');
		for (size_t i = 0; i < m->classes.n; i++)
			json_put_int(&w, NULL, (int64_t)m->class_samples[i]);
		json_close(&w);
	}
	json_put_text(&w, "class_xxh3", hash64_text(hash64(classes.data,
	    classes.n), text));
	class_write(&w, &m->classes);
	json_put_text(&w, "dataset_id", hash128_text(manifest_content_id(m),
	    text));
	json_put_text(&w, "format", "vtset");
	json_put_int(&w, "frames", (int64_t)m->frames);
	json_put_int(&w, "generation", m->generation);
	json_put_raw(&w, "options", m->options);
	json_put_int(&w, "samples", (int64_t)m->samples);
	json_put_text(&w, "settings_id", hash128_text(m->settings, text));
	manifest_put_shards(&w, m);
	stream_list_write(&w, "streams", &m->streams);
	json_put_text(&w, "tool", version_build);
	json_put_int(&w, "version", MANIFEST_VERSION);
	json_close(&w);
	buffer_text(&w.out, "\n");
	/* Write the manifest last: it means that the rest exists. */
	result = manifest_write_file(dir, CLASSES_NAME, &classes);
	if (result == 0)
		result = manifest_write_file(dir, SUMS_NAME, &sums);
	if (result == 0)
		result = manifest_write_file(dir, MANIFEST_NAME, &w.out);
	buffer_free(&classes);
	buffer_free(&sums);
	buffer_free(&w.out);
	return result;
}

int
manifest_exists(const char *dir)
{
	char *path = path_join(dir, MANIFEST_NAME);
	int there = file_size(path) >= 0;

	free(path);
	return there;
}
