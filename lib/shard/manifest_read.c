/* Parser of manifest.json, and checks of shards against it. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "shard/manifest.h"

#define Q text_quote

/* Read a member that is an integer, at least 0. */
static int
manifest_get_count(const struct json *o, const char *key, uint64_t *to,
    struct error *why)
{
	int64_t v;

	if (json_to_int(json_get(o, key), 0, INT64_MAX, &v) != 0)
		return error_set(why, "\"%s\" is missing or not a count", key);
	*to = (uint64_t)v;
	return 0;
}

static int
manifest_get_hash(const struct json *o, const char *key, struct hash128 *to,
    struct error *why)
{
	const char *text = json_to_text(json_get(o, key));

	if (text == NULL || hash128_parse(text, to) != 0)
		return error_set(why, "\"%s\" is missing or not 32 hexadecimal "
		    "digits", key);
	return 0;
}

/* Return 1 if ${s} names a file in the set's own directory.  A path could
 * lead out of it. */
static int
manifest_is_plain_name(const char *s)
{
	return s != NULL && *s != '\0' && *s != '.' && strchr(s, '/') == NULL;
}

/* Read the list of shards and add up their counts.  Shards must follow each
 * other without a gap in the numbers of samples. */
static int
manifest_get_shards(const struct json *list, struct manifest *m,
    struct error *why)
{
	if (!json_is(list, '[') || json_size(list) == 0)
		return error_set(why, "\"shards\" is missing or empty");
	for (size_t i = 0; i < json_size(list); i++) {
		const struct json *o = json_at(list, i);
		const char *name = json_to_text(json_get(o, "name"));
		struct shard_sum s;
		uint64_t first = 0;

		if (!manifest_is_plain_name(name))
			return error_set(why, "shard %zu: \"name\" is missing "
			    "or not the name of a file in the directory", i);
		if (manifest_get_count(o, "bytes", &s.bytes, why) != 0 ||
		    manifest_get_count(o, "samples", &s.samples, why) != 0 ||
		    manifest_get_count(o, "frames", &s.frames, why) != 0 ||
		    manifest_get_count(o, "first", &first, why) != 0 ||
		    manifest_get_hash(o, "xxh128", &s.hash, why) != 0)
			return error_set(why, "shard %s is not described in "
			    "full", Q(name));
		if (s.samples == 0)
			return error_set(why, "shard %s has no samples",
			    Q(name));
		if (first != m->samples)
			return error_set(why, "shard %s begins with sample "
			    "%llu (wanted %llu)", Q(name),
			    (unsigned long long)first,
			    (unsigned long long)m->samples);
		/* The limits keep all sums within int64_t, the type of JSON
		 * integers. */
		if (s.samples > UINT32_MAX - m->samples ||
		    s.bytes > INT64_MAX / 2 - m->bytes ||
		    s.frames > INT64_MAX / 2 - m->frames)
			return error_set(why, "shard %s: its counts are "
			    "impossible", Q(name));
		manifest_add(m, name, &s);
	}
	return 0;
}

/* Compare a total that the manifest states with the sum over its shards. */
static int
manifest_check_total(const struct json *o, const char *key, uint64_t want,
    struct error *why)
{
	uint64_t v = 0;

	if (manifest_get_count(o, key, &v, why) != 0)
		return -1;
	if (v != want)
		return error_set(why, "\"%s\" is %llu, but the shards have "
		    "%llu", key, (unsigned long long)v,
		    (unsigned long long)want);
	return 0;
}

/* Read the class names, and check them against the hash of classes.txt. */
static int
manifest_get_classes(const struct json *o, struct manifest *m,
    struct error *why)
{
	const struct json *list = json_get(o, "classes");
	const char *want = json_to_text(json_get(o, "class_xxh3"));
	struct buffer b = { 0 };
	char text[17];

	if (!json_is(list, '['))
		return error_set(why, "\"classes\" is missing");
	for (size_t i = 0; i < json_size(list); i++) {
		const char *name = json_to_text(json_at(list, i));

		if (name == NULL)
			return error_set(why, "class %zu is not a text", i);
		class_add(&m->classes, name);
	}
	if (class_check("\"classes\"", &m->classes, why) != 0)
		return -1;
	class_text(&m->classes, &b);
	hash64_text(hash64(b.data, b.n), text);
	buffer_free(&b);
	if (want == NULL || strcmp(want, text) != 0)
		return error_set(why, "\"class_xxh3\" is %s, but the classes "
		    "give %s", want ? Q(want) : "missing", text);
	return 0;
}

/* Check all members against each other: a manifest that was edited by hand
 * is probably inconsistent. */
static int
manifest_get_all(const struct json *o, struct manifest *m, struct error *why)
{
	const char *format = json_to_text(json_get(o, "format"));
	const struct json *options = json_get(o, "options");
	const char *classes = json_to_text(json_get(options, "classes"));
	struct hash128 id;
	char text[2][33];
	int64_t version;

	if (format == NULL || strcmp(format, "vtset") != 0)
		return error_set(why, "\"format\" is not \"vtset\": not a "
		    "manifest of vt");
	if (json_to_int(json_get(o, "version"), MANIFEST_VERSION,
	    MANIFEST_VERSION, &version) != 0)
		return error_set(why, "\"version\" is missing or another one "
		    "(wanted %d)", MANIFEST_VERSION);
	if (json_to_int(json_get(o, "generation"), 1, INT64_MAX,
	    &m->generation) != 0)
		return error_set(why, "\"generation\" is missing or not a "
		    "count");
	if (!json_is(options, '{'))
		return error_set(why, "\"options\" is missing");
	if (stream_list_read(json_get(o, "streams"), &m->streams) != 0)
		return error_set(why, "\"streams\" is missing or wrong");
	if (manifest_get_shards(json_get(o, "shards"), m, why) != 0 ||
	    manifest_check_total(o, "bytes", m->bytes, why) != 0 ||
	    manifest_check_total(o, "frames", m->frames, why) != 0 ||
	    manifest_check_total(o, "samples", m->samples, why) != 0 ||
	    manifest_get_classes(o, m, why) != 0 ||
	    manifest_get_hash(o, "dataset_id", &m->id, why) != 0 ||
	    manifest_get_hash(o, "settings_id", &m->settings, why) != 0)
		return -1;
	m->options = json_print(options);
	m->classes_derived = classes != NULL && strcmp(classes, "derived") == 0;
	id = manifest_settings_id(m->classes_derived ? NULL : &m->classes,
	    m->options, &m->streams);
	if (!hash128_equal(id, m->settings))
		return error_set(why, "\"settings_id\" is %s, but options, "
		    "classes and streams give %s", hash128_text(m->settings,
		    text[0]), hash128_text(id, text[1]));
	return 0;
}

struct manifest *
manifest_read(const char *dir, struct damage *d)
{
	char *path = path_join(dir, MANIFEST_NAME);
	struct error said = { "" };
	struct manifest *m = manifest_new();
	struct buffer b = { 0 };
	struct damage own;
	struct json *o = NULL;
	struct damage *why = d != NULL ? d : &own;
	int bad = 0;

	/* Distinguish the common mistakes before a generic error of open(2). */
	if (access(dir, F_OK) != 0 && errno == ENOENT)
		bad = damage_set(why, NOWHERE, "io", "there is no directory %s "
		    "(wanted a packed set, as vt-pack makes it)", Q(dir));
	else if (file_is_dir(dir) && access(path, F_OK) != 0 && errno == ENOENT)
		bad = damage_set(why, NOWHERE, "missing", "no such file: not a "
		    "packed set, or packing was not finished");
	else if (access(path, R_OK) != 0)
		bad = damage_set(why, NOWHERE, "io", "cannot open: %s",
		    strerror(errno));
	else if (file_try(path, &b, &said) != 0)
		bad = damage_set(why, NOWHERE, "io", "%s", said.text);
	else if ((o = json_try("the manifest", b.data, b.n, &said)) == NULL ||
	    manifest_get_all(o, m, &said) != 0)
		bad = damage_set(why, NOWHERE, "manifest", "%s", said.text);
	if (bad && d == NULL)
		damage_report(path, why, NULL);
	if (bad) {
		manifest_free(m);
		m = NULL;
	}
	json_free(o);
	buffer_free(&b);
	free(path);
	return m;
}

/* Only ${m->shard[k]} is written, so threads may check different shards at
 * once. */
int
manifest_check_shard(struct manifest *m, size_t k, const struct shard *s,
    struct damage *d)
{
	struct manifest_shard *want = &m->shard[k];
	const struct shard_footer *f = &s->footer;
	char text[2][33];

	/* Compare the cheapest and most telling properties first. */
	if (s->size != want->sum.bytes)
		return damage_set(d, s->size, "size", "%llu bytes (the "
		    "manifest says %llu)", (unsigned long long)s->size,
		    (unsigned long long)want->sum.bytes);
	if (!hash128_equal(f->settings, m->settings))
		return damage_set(d, NOWHERE, "set", "a shard with settings %s "
		    "(wanted %s)", hash128_text(f->settings, text[0]),
		    hash128_text(m->settings, text[1]));
	if (f->number != k || f->first != want->first)
		return damage_set(d, NOWHERE, "set", "shard %u with first "
		    "sample %llu (the manifest says shard %zu with first "
		    "sample %llu)", f->number, (unsigned long long)f->first, k,
		    (unsigned long long)want->first);
	if (f->samples != want->sum.samples || f->frames != want->sum.frames)
		return damage_set(d, NOWHERE, "set", "%u samples, %llu frames "
		    "(the manifest says %llu, %llu)", f->samples,
		    (unsigned long long)f->frames,
		    (unsigned long long)want->sum.samples,
		    (unsigned long long)want->sum.frames);
	if (!stream_list_equal(&s->streams, &m->streams))
		return damage_set(d, NOWHERE, "set",
		    "its streams are not those of the manifest");
	/* A set of labels is in KEY.json, and is checked when that is read. */
	for (uint32_t i = 0; i < f->samples; i++) {
		struct shard_entry e = shard_entry(s, i);

		if (e.label < 0 || (size_t)e.label < m->classes.n)
			continue;
		damage_set(d, (uint64_t)e.blk * USTAR_BLOCK, "label",
		    "label %d (the manifest has %zu classes)", e.label,
		    m->classes.n);
		shard_key(s, &e, d->key);
		return -1;
	}
	want->sum.data = f->data_hash;
	want->sum.index = f->index_hash;
	want->checked = 1;
	return 0;
}

int
manifest_identify(const struct manifest *m, struct damage *d)
{
	struct hash128 id;
	char text[2][33];

	for (size_t k = 0; k < m->shards; k++)
		assert(m->shard[k].checked);
	id = manifest_content_id(m);
	if (!hash128_equal(id, m->id))
		return damage_set(d, NOWHERE, "set", "\"dataset_id\" is %s, "
		    "but classes and shards give %s", hash128_text(m->id,
		    text[0]), hash128_text(id, text[1]));
	return 0;
}
