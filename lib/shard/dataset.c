/* An open dataset: the manifest and the indexes of all shards, in memory. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "shard/dataset_shards.h"

/* Open shard ${k} and check it against the manifest.  Return 0, or -1 or -2
 * as damage_report. */
static int
dataset_open_shard(struct dataset *d, size_t k)
{
	char *path = path_join(d->dir, d->m->shard[k].name);
	struct damage damage = { 0 };
	const struct shard *s = files_open(d->files, k, path, &damage);
	int result = 0;

	if (s == NULL || manifest_check_shard(d->m, k, s, &damage) != 0)
		result = damage_report(path, &damage, NULL);
	free(path);
	return result;
}

/* Copy the keys of all samples, because in a shard they are not terminated
 * by '\0'. */
static void
dataset_collect_keys(struct dataset *d)
{
	size_t i = 0, n = 0;
	char *to;

	/*
	 * Sum the lengths of the keys: the strings section may be smaller,
	 * since keys may overlap there.
	 */
	for (size_t k = 0; k < d->m->shards; k++) {
		const struct shard *s = files_shard(d->files, k);

		for (uint32_t j = 0; j < s->footer.samples; j++)
			n += shard_entry(s, j).key_length + 1u;
	}
	d->keys = to = xmalloc(n);
	d->key = xcalloc(d->m->samples, sizeof(*d->key));
	for (size_t k = 0; k < d->m->shards; k++) {
		const struct shard *s = files_shard(d->files, k);

		for (uint32_t j = 0; j < s->footer.samples; j++) {
			struct shard_entry e = shard_entry(s, j);
			char key[KEY_MAX + 1];

			d->key[i++] = to;
			to = stpcpy(to, shard_key(s, &e, key)) + 1;
		}
	}
}

/* Append the set of labels of sample ${i} to ${d->interval}, which has ${*n}.
 * Return 0, or -1 or -2 as damage_report. */
static int
dataset_add_set(struct dataset *d, uint32_t i, size_t *n, size_t *cap,
    struct buffer *b)
{
	char *what = xprintf("%s: key %s", text_quote(dataset_sample(d,
	    i).shard), d->key[i]);
	int bad = dataset_json_read(d, i, b);
	struct sample *m = bad ? NULL : sample_read(what, b->data, b->n, NULL,
	    NULL);

	if (!bad && m == NULL)
		bad = -2;
	for (int k = 0; !bad && k < m->nlabels; k++) {
		if (m->labels[k].class >= dataset_classes(d)) {
			fail("%s: label %d (there are %d classes)", what,
			    m->labels[k].class, dataset_classes(d));
			bad = -2;
			break;
		}
		d->interval = array_reserve(d->interval, *n, cap,
		    sizeof(*d->interval));
		d->interval[(*n)++] = m->labels[k];
	}
	sample_free(m);
	free(what);
	return bad;
}

/*
 * Read the sets of labels from KEY.json. All stay in memory, 12 bytes a
 * label, so that neither a training step nor an evaluation reads or allocates
 * anything for them. Return 0, or -1 or -2 as damage_report.
 */
static int
dataset_read_sets(struct dataset *d)
{
	uint32_t samples = dataset_samples(d);
	size_t *first = NULL, n = 0, cap = 1;
	struct buffer b = { 0 };
	int bad = 0;

	for (uint32_t i = 0; i < samples && bad == 0; i++) {
		int set = (dataset_sample(d, i).flags & SHARD_LABELS) != 0;

		if (set && first == NULL) {
			first = xcalloc((size_t)samples + 1, sizeof(*first));
			d->interval = xcalloc(cap, sizeof(*d->interval));
		}
		if (set)
			bad = dataset_add_set(d, i, &n, &cap, &b);
		if (first != NULL)
			first[i + 1] = n;
	}
	buffer_free(&b);
	d->first = first;
	return bad;
}

static void
dataset_hash_classes(struct dataset *d)
{
	struct buffer classes = { 0 };

	class_text(&d->m->classes, &classes);
	d->class_hash = hash64(classes.data, classes.n);
	buffer_free(&classes);
}

/* Open everything.  Return 0, or -1 or -2 as damage_report.  Open the shards
 * before the identity is checked: it is computed from their footers. */
static int
dataset_open_parts(struct dataset *d)
{
	char *path = path_join(d->dir, MANIFEST_NAME);
	struct damage damage = { 0 };
	int bad = 0;

	d->m = manifest_read(d->dir, &damage);
	if (d->m != NULL)
		d->files = files_new(d->m->shards);
	for (size_t k = 0; d->m != NULL && k < d->m->shards && bad == 0; k++)
		bad = dataset_open_shard(d, k);
	if (d->m == NULL ||
	    (bad == 0 && manifest_identify(d->m, &damage) != 0))
		bad = damage_report(path, &damage, NULL);
	free(path);
	if (bad)
		return bad;
	dataset_collect_keys(d);
	dataset_hash_classes(d);
	return dataset_read_sets(d);
}

/* Read the index of every sample once.  Plans of many ranks ask for the result
 * thousands of times. */
static void
dataset_measure(struct dataset *d)
{
	for (uint32_t i = 0; i < dataset_samples(d); i++) {
		struct sample m = dataset_sample(d, i);

		d->max_frames = m.frames > d->max_frames ? m.frames :
		    d->max_frames;
		d->max_w = m.width > d->max_w ? m.width : d->max_w;
		d->max_h = m.height > d->max_h ? m.height : d->max_h;
		d->has_sets |= (m.flags & SHARD_LABELS) != 0;
	}
}

struct dataset *
dataset_open(const char *dir, int *bad)
{
	struct dataset *d = xcalloc(1, sizeof(*d));
	int result;

	d->dir = xstrdup(dir);
	result = dataset_open_parts(d);
	if (bad != NULL)
		*bad = result;
	if (result == 0) {
		d->id = d->m->id;
		dataset_measure(d);
		return d;
	}
	dataset_free(d);
	return NULL;
}

/* The manifest is that of a set without shards. */
struct dataset *
dataset_of(const struct dataset_content *c)
{
	struct dataset *d = xcalloc(1, sizeof(*d));

	d->content = *c;
	d->dir = xstrdup(c->path);
	d->m = manifest_new();
	d->m->generation = 1;
	d->m->options = xprintf("{\"extract\":%s}", c->extract);
	d->m->streams = *c->streams;
	d->m->samples = c->samples;
	d->id = d->m->settings = c->id;
	for (size_t k = 0; k < c->classes->n; k++)
		class_add(&d->m->classes, c->classes->name[k]);
	dataset_hash_classes(d);
	dataset_measure(d);
	return d;
}

struct dataset *
dataset_part(struct dataset *d, const uint32_t *number, uint32_t n)
{
	struct dataset *part = xmalloc(sizeof(*part));
	struct buffer b = { 0 };
	char id[33];

	assert(d->of == NULL);
	*part = *d;
	part->of = d;
	part->users = part->freed = 0;
	part->samples = n;
	part->number = xcalloc(n, sizeof(*number));
	buffer_text(&b, hash128_text(d->id, id));
	for (uint32_t k = 0; k < n; k++) {
		part->number[k] = number[k];
		buffer_printf(&b, " %u", number[k]);
	}
	part->id = hash128(b.data, b.n);
	buffer_free(&b);
	part->has_sets = part->max_frames = part->max_w = part->max_h = 0;
	dataset_measure(part);
	d->users++;
	return part;
}

void
dataset_free(struct dataset *d)
{
	if (d == NULL)
		return;
	if (d->of != NULL) {
		if (--d->of->users == 0 && d->of->freed)
			dataset_free(d->of);
		free(d->number);
		free(d);
		return;
	}
	if (d->users > 0) {
		d->freed = 1;
		return;
	}
	if (d->content.free != NULL)
		d->content.free(d->content.of);
	free(d->first);
	free(d->interval);
	files_free(d->files);
	manifest_free(d->m);
	free(d->key);
	free(d->keys);
	free(d->dir);
	free(d);
}

/* ---- information from the indexes ---- */

const char *
dataset_path(const struct dataset *d)
{
	return d->dir;
}

uint32_t
dataset_samples(const struct dataset *d)
{
	return d->of != NULL ? d->samples : (uint32_t)d->m->samples;
}

int
dataset_classes(const struct dataset *d)
{
	return (int)d->m->classes.n;
}

const struct class_list *
dataset_class_list(const struct dataset *d)
{
	return &d->m->classes;
}

const char *
dataset_class(const struct dataset *d, int label)
{
	assert(label >= 0 && (size_t)label < d->m->classes.n);
	return d->m->classes.name[label];
}

struct hash128
dataset_id(const struct dataset *d)
{
	return d->id;
}

struct hash128
dataset_settings_id(const struct dataset *d)
{
	return d->m->settings;
}

int64_t
dataset_generation(const struct dataset *d)
{
	return d->m->generation;
}

uint64_t
dataset_class_hash(const struct dataset *d)
{
	return d->class_hash;
}

/* The settings of the set contain those of the extraction as "extract". */
char *
dataset_extract(const struct dataset *d)
{
	const char *text = d->m->options;
	struct json *options = text != NULL ? json_parse(d->dir, text,
	    strlen(text)) : NULL;
	const struct json *extract = json_get(options, "extract");
	char *found = extract != NULL ? json_print(extract) : NULL;

	json_free(options);
	return found;
}

int
dataset_has_frames(const struct dataset *d)
{
	return d->content.sample == NULL;
}

const struct stream_list *
dataset_streams(const struct dataset *d)
{
	return &d->m->streams;
}

struct level_list
dataset_levels(const struct dataset *d)
{
	return level_list_of(&d->m->streams);
}

const char *
dataset_ext(const struct dataset *d, int stream)
{
	return d->m->streams.kind[stream].ext;
}

uint32_t
dataset_number(const struct dataset *d, uint32_t i)
{
	assert(i < dataset_samples(d));
	return d->of != NULL ? d->number[i] : i;
}

/* Binary search: a set may have thousands of shards, and each clip calls
 * this. */
size_t
dataset_shard_of(const struct dataset *d, uint32_t i)
{
	size_t low = 0, high = d->m->shards - 1;

	assert(i < d->m->samples);
	while (low < high) {		/* the last shard with first <= i */
		size_t middle = high - (high - low) / 2;

		if (d->m->shard[middle].first <= i)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* The index and the labels are in memory, so this reads no file. */
struct sample
dataset_sample(const struct dataset *d, uint32_t i)
{
	const struct shard *s;
	struct shard_entry e;
	struct sample m;
	size_t k;

	i = dataset_number(d, i);
	if (d->content.sample != NULL)
		return d->content.sample[i];
	k = dataset_shard_of(d, i);
	s = files_shard(d->files, k);
	e = shard_entry(s, i - (uint32_t)d->m->shard[k].first);
	m = shard_sample(s, &e, d->key[i]);
	/* The index has no sets of labels; dataset_read_sets loaded them. */
	if (d->first != NULL && (m.flags & SHARD_LABELS)) {
		m.labels = d->interval + d->first[i];
		m.nlabels = (int)(d->first[i + 1] - d->first[i]);
	}
	return m;
}

int
dataset_has_label_sets(const struct dataset *d)
{
	return d->has_sets;
}

void
dataset_max(const struct dataset *d, int *frames, int *w, int *h)
{
	*frames = d->max_frames;
	*w = d->max_w;
	*h = d->max_h;
}
