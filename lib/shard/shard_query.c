/* Queries of shards, for users and other programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "shard/journal.h"
#include "shard/shard_query.h"
#include "shard/manifest.h"
#include "shard/reader.h"

#define Q text_quote

int
shard_query_each(const struct shard_query *l, int (*each)(const struct shard *s,
    const struct class_list *classes, void *arg), void *arg)
{
	struct class_list none = { 0 };
	struct manifest *m = NULL;
	size_t shards = l->shards;
	int result = 0;

	if (l->dir != NULL) {
		struct damage d = { 0 };

		if ((m = manifest_read(l->dir, &d)) == NULL) {
			char *path = path_join(l->dir, MANIFEST_NAME);

			result = damage_report(path, &d, NULL);
			free(path);
			return result;
		}
		shards = m->shards;
	}
	for (size_t k = 0; k < shards && result == 0; k++) {
		char *path = m != NULL ? path_join(l->dir, m->shard[k].name) :
		    xstrdup(l->shard[k]);
		struct damage d = { 0 };
		struct shard *s = shard_open(path, &d);

		if (s == NULL || (m != NULL &&
		    manifest_check_shard(m, k, s, &d) != 0)) {
			result = damage_report(path, &d, NULL);
		} else {
			result = each(s, m ? &m->classes : &none, arg);
		}
		shard_close(s);
		free(path);
	}
	manifest_free(m);
	return result;
}

/* Print a row for each sample.  Only its path is not in the index. */
static int
shard_query_list_shard(const struct shard *s, const struct class_list *names,
    void *arg)
{
	FILE *f = arg;
	struct buffer b = { 0 }, row = { 0 };
	int result = 0;

	for (uint32_t i = 0; i < s->footer.samples && result == 0; i++) {
		struct shard_entry e = shard_entry(s, i);
		char key[KEY_MAX + 1], *source = NULL;

		shard_key(s, &e, key);
		row.n = b.n = 0;
		result = shard_member(s, &e, (uint32_t)shard_record_count(&e) -
		    1, &b);
		if (result == 0 && (source = sample_source_read(key, b.data,
		    b.n)) == NULL)
			result = -2;
		buffer_printf(&row, "%s\t%d", key, e.label);
		table_put(&row, e.label >= 0 && (size_t)e.label < names->n ?
		    names->name[e.label] : "");
		buffer_printf(&row, "\t%u\t%u\t%u\t%u/%u\t%u", e.frames,
		    e.width, e.height, e.fps_num, e.fps_den, e.flags);
		table_put(&row, path_base(s->path));
		buffer_printf(&row, "\t%llu\t%llu",
		    (unsigned long long)e.blk * USTAR_BLOCK,
		    (unsigned long long)e.blocks * USTAR_BLOCK);
		table_put(&row, source != NULL ? source : "");
		fprintf(f, "%s\n", row.data);
		free(source);
	}
	buffer_free(&b);
	buffer_free(&row);
	/* The caller reports an error of ${f}. */
	return result != 0 ? result : ferror(f) ? 1 : 0;
}

int
shard_query_list(const struct shard_query *l, FILE *f)
{
	fprintf(f, "#key\tlabel\tclass\tframes\twidth\theight\tfps\tflags\t"
	    "shard\toffset\tbytes\tpath\n");
	return shard_query_each(l, shard_query_list_shard, f);
}

struct shard_query_wanted { const char *key; int64_t frame; FILE *f; };

/* Copy the members of a sample as stored, and append the end of a tar. */
static int
shard_query_cat_clip(const struct shard *s, const struct shard_entry *e,
    FILE *f)
{
	static const char zeros[SHARD_END];
	uint64_t at = (uint64_t)e->blk * USTAR_BLOCK;
	uint64_t left = (uint64_t)e->blocks * USTAR_BLOCK;
	char block[64 << 10];

	for (size_t n; left > 0; left -= n, at += n) {
		n = left < sizeof(block) ? (size_t)left : sizeof(block);
		if (shard_read(s, block, n, at, NULL) != 0)
			return -1;
		fwrite(block, 1, n, f);
	}
	fwrite(zeros, 1, sizeof(zeros), f);
	return 1;
}

/* Print the sample with the wanted key if this shard has it. */
static int
shard_query_cat_shard(const struct shard *s, const struct class_list *names,
    void *arg)
{
	const struct shard_query_wanted *c = arg;
	int64_t i = shard_find(s, c->key);
	struct shard_entry e;
	struct buffer b = { 0 };
	int result;

	(void)names;
	if (i < 0)
		return 0;
	e = shard_entry(s, (uint32_t)i);
	if (c->frame < 0)
		return shard_query_cat_clip(s, &e, c->f);
	if (c->frame >= e.frames)
		return fail("%s: frame %lld (wanted 0 to %u)", c->key,
		    (long long)c->frame, e.frames - 1);
	result = shard_member(s, &e, (uint32_t)c->frame * e.streams, &b);
	if (result == 0)
		fwrite(b.data, 1, b.n, c->f);
	buffer_free(&b);
	return result == 0 ? 1 : result;
}

int
shard_query_cat(const struct shard_query *l, const char *key, int64_t frame,
    FILE *f)
{
	struct shard_query_wanted w = { key, frame, f };

	return shard_query_each(l, shard_query_cat_shard, &w);
}

struct shard_query_samples {
	int (*each)(const struct sample *s, void *arg);
	void *arg;
};

/* The index lacks the path of the video, so read KEY.json of each sample. */
static int
shard_query_samples_of(const struct shard *s, const struct class_list *names,
    void *arg)
{
	const struct shard_query_samples *o = arg;
	int result = 0;

	(void)names;
	for (uint32_t i = 0; i < s->footer.samples && result == 0; i++) {
		char key[KEY_MAX + 1];
		struct sample *m = shard_sample_at(s, i, key, &result);

		if (m == NULL)
			break;
		result = o->each(m, o->arg);
		sample_free(m);
	}
	return result;
}

/* Without a manifest, the journal lists the finished shards.  Their names
 * follow from the prefix in its settings. */
int
shard_query_samples(const char *dir, int (*each)(const struct sample *s,
    void *arg), void *arg)
{
	struct shard_query_samples o = { each, arg };
	struct journal *j;
	struct json *settings;
	const char *name;
	char **path;
	int bad = 0, result;

	if (manifest_exists(dir))
		return shard_query_each(&(struct shard_query){ .dir = dir },
		    shard_query_samples_of, &o);
	if ((j = journal_read(dir, &bad)) == NULL)
		return bad ? -1 : 0;		/* nothing is done */
	settings = json_parse("the settings", j->settings, strlen(j->settings));
	name = json_to_text(json_get(settings, "prefix"));
	path = xcalloc(j->shards, sizeof(*path));
	for (size_t k = 0; k < j->shards; k++)
		path[k] = xprintf("%s/%s-%06zu.tar", dir, name ? name : "", k);
	result = shard_query_each(&(struct shard_query){ NULL,
		(const char *const *)path, j->shards }, shard_query_samples_of,
	    &o);
	for (size_t k = 0; k < j->shards; k++)
		free(path[k]);
	free(path);
	json_free(settings);
	journal_free(j);
	return result;
}

struct shard_query_ends { int zero; FILE *f; };

static int
shard_query_print_source(const struct sample *s, void *arg)
{
	const struct shard_query_ends *o = arg;

	/* A path with a newline would read as two paths. */
	if (!o->zero && strchr(s->source, '\n') != NULL)
		return fail("%s: %s holds a newline (-0 prints it)", s->key,
		    Q(s->source));
	fprintf(o->f, "%s%c", s->source, o->zero ? '\0' : '\n');
	return 0;
}

int
shard_query_done(const char *dir, int zero, FILE *f)
{
	return shard_query_samples(dir, shard_query_print_source,
	    &(struct shard_query_ends){ zero, f });
}
