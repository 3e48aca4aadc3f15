/* Packing: settings, shards and the manifest that are written. */
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "shard/packing.h"

#define Q text_quote
#define SHARDS_MAX 1000000u
/* A sample that begins a shard is buffered up to this size, then written. */
#define GATHERED (8 << 20)

char *
pack_shard_name(const struct pack *p, size_t number)
{
	return xprintf("%s-%06zu.tar", p->o->prefix, number);
}

char *
pack_shard_path(const struct pack *p, size_t number)
{
	char *name = pack_shard_name(p, number), *path = path_join(p->o->dir,
	    name);

	free(name);
	return path;
}

/* ---- settings, which determine the identity of the set ---- */

/* NULL if the classes are inferred; see manifest_settings_id. */
static const struct class_list *
pack_set_classes_known(const struct pack *p)
{
	return p->classes_given ? &p->m->classes : NULL;
}

char *
pack_settings(const char *prefix, const struct class_list *classes,
    const char *options, const struct stream_list *streams)
{
	struct json_writer w = { 0 };

	json_open(&w, NULL, '{');
	class_write(&w, classes);
	json_put_raw(&w, "options", options);
	json_put_text(&w, "prefix", prefix);
	stream_list_write(&w, "streams", streams);
	json_close(&w);
	return w.out.data;
}

/* Compare the settings with those of the earlier run, and report the first
 * difference. */
static int
pack_set_compare_settings(struct pack *p, const char *mine)
{
	static const char *const member[] = { "prefix", "streams", "classes",
		"options" };
	struct json *then = json_parse("the settings of the first run",
	    p->settings, strlen(p->settings));
	struct json *now = json_parse("settings", mine, strlen(mine));
	int result = 0;

	for (int i = 0; i < 4 && then != NULL && result == 0; i++) {
		char *a = json_print(json_get(then, member[i]));
		char *b = json_print(json_get(now, member[i]));

		if (strcmp(a, b) != 0) {
			fail("%s: cannot continue with other %s: %s (the first "
			    "run had %s; -f starts over)", Q(p->o->dir),
			    member[i], b, a);
			result = pack_refuse(p);
		}
		free(a);
		free(b);
	}
	if (then == NULL)
		result = -1;
	json_free(then);
	json_free(now);
	return result;
}

/* The options record how the classes were determined and the size of shards,
 * because both change the content of the set. */
int
pack_resolve_settings(struct pack *p)
{
	struct json_writer w = { 0 };
	char *mine;
	int result = 0;

	json_open(&w, NULL, '{');
	json_put_text(&w, "classes", p->classes_given ? "given" : "derived");
	if (p->extract != NULL)
		json_put_raw(&w, "extract", p->extract);
	json_put_int(&w, "shard_size", (int64_t)p->o->shard_size);
	json_close(&w);
	free(p->m->options);
	p->m->options = w.out.data;
	/* the first sample has shown them */
	p->m->streams = p->g.streams;
	mine = pack_settings(p->o->prefix, pack_set_classes_known(p),
	    p->m->options, &p->m->streams);
	if (p->settings != NULL)
		result = pack_set_compare_settings(p, mine);
	free(p->settings);
	p->settings = mine;
	p->resolved = 1;
	p->m->settings = manifest_settings_id(pack_set_classes_known(p),
	    p->m->options, &p->m->streams);
	return result;
}

/* ---- shards ---- */

/* In a dry run the writer computes sizes and hashes without a file. */
static int
pack_set_begin_shard(struct pack *p)
{
	char *path;

	if (p->m->shards >= SHARDS_MAX)
		return fail("more than %u shards (a larger --shard-size makes "
		    "fewer)", SHARDS_MAX);
	path = pack_shard_path(p, p->m->shards);
	p->shard = shard_create(p->o->dry_run ? NULL : path,
	    (uint32_t)p->m->shards, p->m->samples, p->m->settings,
	    &p->m->streams);
	free(path);
	return p->shard != NULL ? 0 : -1;
}

/* Finish the current shard.  It is recorded in the journal only after its
 * file is durable, so a recorded shard always exists. */
static int
pack_set_finish_shard(struct pack *p)
{
	char *name = pack_shard_name(p, p->m->shards);
	struct shard_writer *w = p->shard;
	int result = -1;

	if (!p->o->dry_run && pack_prepare_output(p) != 0)
		goto out;
	p->shard = NULL;
	if (shard_finish(w, &p->line.sum) != 0 ||
	    (!p->o->dry_run && journal_add(p->journal, &p->line) != 0))
		goto out;
	manifest_add(p->m, name, &p->line.sum);
	result = p->o->packed == NULL ? 0 :
	    p->o->packed(p->o->arg, name, &p->line.sum);
out:
	free(name);
	return result;
}

int
pack_place(struct pack *p, int complete)
{
	struct gather *g = &p->g;
	size_t key = strlen(g->key);

	if (p->shard != NULL && shard_samples(p->shard) > 0 && shard_size_with(
	    p->shard, g->total, g->records, key) > p->o->shard_size &&
	    pack_set_finish_shard(p) != 0)
		return -1;
	if (p->shard == NULL && pack_set_begin_shard(p) != 0)
		return -1;
	/* An incomplete sample can be written only as the first of its
	 * shard: otherwise it may have to move to the next one. */
	if (!complete && (shard_samples(p->shard) > 0 || g->bytes.n < GATHERED))
		return 0;
	if (shard_put(p->shard, g->bytes.data, g->bytes.n) != 0)
		return -1;
	g->bytes.n = 0;
	if (!complete)
		return 0;
	if (shard_samples(p->shard) == 0)
		strcpy(p->line.first, g->key);
	strcpy(p->line.last, g->key);
	return shard_add(p->shard, g->sample, g->record, g->records);
}

/* ---- the end ---- */

/* For a dry run: check that the set would fit on the disk.  The output
 * directory may not exist, so use its nearest existing ancestor. */
static int
pack_set_check_space(const struct pack *p)
{
	char *dir = xstrdup(p->o->dir), *slash, need[32], have[32];
	struct statvfs v;
	uint64_t bytes;
	int result = 0;

	while (statvfs(dir, &v) != 0) {
		if ((slash = strrchr(dir, '/')) == NULL || slash == dir) {
			strcpy(dir, slash == dir ? "/" : ".");
			if (statvfs(dir, &v) != 0)
				goto out;
			break;
		}
		*slash = '\0';
	}
	bytes = (uint64_t)v.f_bavail * v.f_frsize;
	if (p->m->bytes > bytes)
		result = fail("%s: %s needed, %s free", Q(p->o->dir),
		    text_bytes(need, (double)p->m->bytes),
		    text_bytes(have, (double)bytes));
out:
	free(dir);
	return result;
}

/* No new sample was packed, so take the settings of the earlier run. */
static int
pack_set_restore_settings(struct pack *p)
{
	struct json *o = json_parse("the settings of the first run",
	    p->settings, strlen(p->settings));
	const struct json *options = json_get(o, "options");
	const struct json *classes = json_get(o, "classes");
	const char *how = json_to_text(json_get(options, "classes"));
	int result = -1;

	if (how == NULL || stream_list_read(json_get(o, "streams"),
	    &p->m->streams) != 0) {
		if (o != NULL)
			fail("%s: the settings of the first run lack a field",
			    Q(p->o->dir));
		goto out;
	}
	p->classes_given = strcmp(how, "given") == 0;
	class_list_free(&p->m->classes);
	for (size_t i = 0; i < json_size(classes); i++)
		class_add(&p->m->classes, json_to_text(json_at(classes, i)));
	p->m->options = json_print(options);
	p->m->settings = manifest_settings_id(pack_set_classes_known(p),
	    p->m->options, &p->m->streams);
	result = 0;
out:
	json_free(o);
	return result;
}

/* Order matters: last shard, manifest, removal of the journal.  A run that
 * is killed in between resumes at the same place. */
int
pack_finish(struct pack *p)
{
	char *journal;
	uint64_t *counts;
	int bad;

	if (p->samples < p->replay) {
		fail("%s: the input has %llu samples, but %llu are packed (-f "
		    "starts over, --continue takes an input that lacks what is "
		    "packed)", Q(p->o->dir), (unsigned long long)p->samples,
		    (unsigned long long)p->replay);
		return pack_refuse(p);
	}
	if (p->shard != NULL && pack_set_finish_shard(p) != 0)
		return -1;
	if (p->m->samples == 0)
		return fail("no sample in the input (nothing was packed)");
	if (p->o->dry_run)
		return p->finished ? 0 : pack_set_check_space(p);
	if (!p->finished) {
		if (!p->resolved && pack_set_restore_settings(p) != 0)
			return -1;
		if (!p->classes_given)
			class_infer_classes(p->infer, &p->m->classes);
		p->m->class_samples = counts = tally_counts(&p->tally,
		    p->m->classes.n);
		bad = manifest_write(p->o->dir, p->m);
		p->m->class_samples = NULL;
		free(counts);
		if (bad)
			return -1;
	}
	/* The manifest replaces the journal.  A journal that cannot be
	 * removed does no harm. */
	journal = path_join(p->o->dir, JOURNAL_NAME);
	unlink(journal);
	free(journal);
	return 0;
}
