/* Packing: shards of an earlier run in the output directory. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "shard/packing.h"

#define Q text_quote

/* Record the classes of sample ${e} of an earlier run. */
static int
pack_existing_adopt_labels(struct pack *p, const struct shard *s,
    const struct shard_entry *e, const char *key)
{
	struct sample entry = shard_sample(s, e, key);
	struct sample *whole = NULL;
	int bad;

	if ((e->flags & SHARD_LABELS) &&
	    (whole = shard_sample_read(s, e, key, &bad)) == NULL)
		return -1;
	class_infer_add(p->infer, whole != NULL ? whole : &entry);
	/* else the input has it again */
	if (p->o->continued)
		tally_add(&p->tally, whole != NULL ? whole : &entry);
	sample_free(whole);
	return 0;
}

/* Check shard ${number} of an earlier run against ${sum}, and record its
 * keys and classes. */
static int
pack_existing_adopt(struct pack *p, size_t number, const char *name,
    const struct shard_sum *sum)
{
	char *path = path_join(p->o->dir, name), key[KEY_MAX + 1];
	struct shard *s = shard_open(path, NULL);
	struct shard_sum whole = *sum;
	int result = -1;

	if (s == NULL)
		goto out;
	whole.data = s->footer.data_hash;
	whole.index = s->footer.index_hash;
	if (s->size != sum->bytes || s->footer.samples != sum->samples ||
	    s->footer.frames != sum->frames || s->footer.number != number) {
		fail("%s: not the shard that was packed: %llu bytes, %u "
		    "samples (wanted %llu, %llu)", Q(path),
		    (unsigned long long)s->size, s->footer.samples,
		    (unsigned long long)sum->bytes,
		    (unsigned long long)sum->samples);
		goto out;
	}
	for (uint32_t i = 0; i < s->footer.samples; i++) {
		struct shard_entry e = shard_entry(s, i);
		uint64_t sample = p->m->samples + i;
		uint32_t source = SOURCE_PACKED;

		keyset_add(p->keys, shard_key(s, &e, key), &source, &sample);
		if (pack_existing_adopt_labels(p, s, &e, key) != 0)
			goto out;
	}
	manifest_add(p->m, name, &whole);
	if (p->o->packed != NULL && !p->o->dry_run)
		result = p->o->packed(p->o->arg, name, sum);
	else
		result = 0;
out:
	shard_close(s);
	free(path);
	return result;
}

/* Load a finished set.  Its prefix is not stored; it is the part of a
 * shard's name before the last '-'. */
static int
pack_existing_adopt_finished(struct pack *p)
{
	struct manifest *old = manifest_read(p->o->dir, NULL);
	const char *end;
	char *prefix;
	int result = 0;

	if (old == NULL)
		return -1;
	end = strrchr(old->shard[0].name, '-');
	prefix = end != NULL ? xstrndup(old->shard[0].name,
	    (size_t)(end - old->shard[0].name)) : xstrdup("");
	p->settings = pack_settings(prefix, old->classes_derived ? NULL :
	    &old->classes, old->options, &old->streams);
	p->finished = 1;
	for (size_t k = 0; k < old->shards && result == 0; k++)
		result = pack_existing_adopt(p, k, old->shard[k].name,
		    &old->shard[k].sum);
	free(prefix);
	manifest_free(old);
	return result;
}

/* Load the finished shards of an unfinished set. */
static int
pack_existing_adopt_journal(struct pack *p)
{
	struct json *o = json_parse("the settings of the first run",
	    p->journal->settings, strlen(p->journal->settings));
	const char *prefix = json_to_text(json_get(o, "prefix"));
	int result = o != NULL ? 0 : -1;

	p->settings = xstrdup(p->journal->settings);
	if (o != NULL && (prefix == NULL ||
	    strcmp(prefix, p->o->prefix) != 0)) {
		fail("%s: cannot continue with another prefix: %s (the first "
		    "run had %s; -f starts over)", Q(p->o->dir),
		    Q(p->o->prefix), prefix ? Q(prefix) : "none");
		result = pack_refuse(p);
	}
	json_free(o);
	for (size_t k = 0; k < p->journal->shards && result == 0; k++) {
		char *name = pack_shard_name(p, k);

		result = pack_existing_adopt(p, k, name,
		    &p->journal->shard[k].sum);
		free(name);
	}
	return result;
}

/* A manifest means a finished set, a journal an unfinished one.  A shard
 * without either is not ours to replace. */
int
pack_load_existing(struct pack *p)
{
	const struct pack_options *o = p->o;
	char *first = pack_shard_path(p, 0);
	int there = manifest_exists(o->dir), bad = 0, result = 0;

	if (o->force)
		goto out;		/* pack_prepare_output removes it */
	if (!there)
		p->journal = journal_read(o->dir, &bad);
	if (bad) {
		result = -1;
	} else if (there) {
		result = pack_existing_adopt_finished(p);
	} else if (p->journal != NULL) {
		result = pack_existing_adopt_journal(p);
	} else if (file_size(first) >= 0) {
		fail("%s: exists, but no manifest or journal lists it (-f "
		    "replaces it)", Q(first));
		result = pack_refuse(p);
	}
	if (!o->continued)
		p->replay = p->m->samples;
	if (result == 0 && p->m->samples > 0)
		note("%s: holds %s, %zu shard%s, %llu sample%s%s", Q(o->dir),
		    there ? "a finished set" : "a set that was not finished",
		    p->m->shards, p->m->shards == 1 ? "" : "s",
		    (unsigned long long)p->m->samples,
		    p->m->samples == 1 ? "" : "s",
		    o->continued ? "; new input is added" : there ?
		    "; the input is compared with it" :
		    "; the input is compared with them, and the rest added");
out:
	free(first);
	return result;
}

/* ---- removal of replaced files ---- */

/* Remove shards from number ${number} upward, which belong to no set. */
static void
pack_existing_remove_shards(struct pack *p, size_t number)
{
	for (;; number++) {
		char *path = pack_shard_path(p, number);
		int gone = unlink(path) != 0;

		free(path);
		if (gone)
			break;
	}
}

/* Remove the manifest first, so that at no time a manifest lists missing
 * shards. */
static int
pack_existing_remove_set(const char *dir)
{
	char *path = path_join(dir, MANIFEST_NAME);
	struct damage unused;
	struct manifest *old = manifest_exists(dir) ?
	    manifest_read(dir, &unused) : NULL;
	int result = unlink(path) == 0 ? file_sync_dir(dir, NULL) : 0;

	free(path);
	for (size_t k = 0; old != NULL && result == 0 && k < old->shards; k++) {
		path = path_join(dir, old->shard[k].name);
		unlink(path);
		free(path);
	}
	manifest_free(old);
	return result;
}

/*
 * Nothing is removed before the first new shard is complete, so that a producer
 * that fails at once does not cost the old set.  The journal exists before any
 * shard, so a shard that no journal lists can only be the last one of a killed
 * run.
 */
int
pack_prepare_output(struct pack *p)
{
	if (p->journal != NULL && p->journal->fd >= 0)
		return 0;
	if (p->journal != NULL) {
		pack_existing_remove_shards(p, p->m->shards);
		return journal_continue(p->journal);
	}
	if (p->o->force && pack_existing_remove_set(p->o->dir) != 0)
		return -1;
	p->journal = journal_create(p->o->dir, p->settings);
	if (p->journal == NULL)
		return -1;
	if (p->o->force)
		pack_existing_remove_shards(p, 0);
	return 0;
}

/* ---- comparison of existing samples with the input ---- */

/* Open the shard with sample ${p->samples}.  Shards are opened in order. */
static int
pack_existing_open_packed(struct pack *p)
{
	while (p->existing == NULL ||
	    p->samples >= p->m->shard[p->existing_number].first +
	    p->existing->footer.samples) {
		char *path;

		p->existing_number += p->existing != NULL;
		shard_close(p->existing);
		path = path_join(p->o->dir,
		    p->m->shard[p->existing_number].name);
		p->existing = shard_open(path, NULL);
		free(path);
		if (p->existing == NULL)
			return -1;
	}
	return 0;
}

/* Return 1 if the current sample has the same members as ${e} of the existing
 * set.  Lengths and CRCs suffice; the data are not read. */
static int
pack_existing_same_members(const struct pack *p, const struct shard_entry *e)
{
	const struct gather *g = &p->g;
	struct shard_record *r;
	int same;

	if (shard_record_count(e) != g->records ||
	    e->label != g->sample->label || e->flags != g->sample->flags ||
	    e->source != g->sample->source_hash)
		return 0;
	r = xcalloc(g->records, sizeof(*r));
	same = shard_records(p->existing, e, 0, (uint32_t)g->records, r,
	    NULL) == 0;
	for (size_t i = 0; i < g->records && same; i++)
		same = r[i].length == g->record[i].length &&
		    r[i].crc == g->record[i].crc && r[i].time ==
		    g->record[i].time;
	free(r);
	return same;
}

/* Compare the current sample with the one that was packed in its place. */
int
pack_compare(struct pack *p, const char *path)
{
	struct shard_entry e;
	char key[KEY_MAX + 1];
	const char *what = NULL;

	if (pack_existing_open_packed(p) != 0)
		return -1;
	e = shard_entry(p->existing, (uint32_t)(p->samples -
	    p->m->shard[p->existing_number].first));
	if (strcmp(shard_key(p->existing, &e, key), p->g.key) != 0)
		what = key;
	else if (!pack_existing_same_members(p, &e))
		what = "the same key with other content";
	if (what == NULL)
		return 0;
	fail("%s: offset %llu: the input differs from what %s holds at sample "
	    "%llu: it has %s (packed is %s); -f starts over, --continue "
	    "takes an input that lacks what is packed", path,
	    (unsigned long long)p->g.offset, Q(p->o->dir),
	    (unsigned long long)p->samples, p->g.key, what);
	return pack_refuse(p);
}
