/* Packing: from streams to a set. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/stop.h"
#include "base/text.h"
#include "shard/derive.h"
#include "shard/gather.h"
#include "shard/journal.h"
#include "shard/keyset.h"
#include "shard/manifest.h"
#include "shard/pack.h"
#include "shard/reader.h"
#include "shard/stream_read.h"

#define Q text_quote
#define LOCK_NAME ".vt-pack.lock"
#define MOST_SHARDS 1000000u
#define PACKED UINT32_MAX		/* source of a key that was there */
/* Of a sample that begins a shard, this much is kept before it is written. */
#define GATHERED (8 << 20)

struct pack {
	const struct pack_options *o;
	const char *const *input;
	int status;			/* to return if something fails */
	int lock;

	/* What the set is to be. */
	int classes_given;
	char *extract;			/* settings of the extraction, or NULL */
	char *settings;			/* all of it: of the first run, then ours */
	int settled;
	struct manifest *m;		/* with the shards there are */

	/* What was there. */
	struct journal *journal;	/* NULL: none yet */
	int finished;			/* there was a manifest */
	uint64_t replay;		/* samples to compare and drop */
	struct shard *old;		/* the shard they are compared to */
	size_t old_number;

	/* The input. */
	struct keyset *keys;
	struct derive *derive;
	struct gather g;
	size_t at_input;
	uint64_t read_before;		/* bytes of inputs that are done */
	uint64_t skipped;
	uint64_t samples;		/* complete ones, replayed or not */
	char last[KEY_MAX + 1];		/* key of the last of them */
	int streams_begun, stream_begun;	/* all; this one has a sample */
	uint64_t stream_samples, stream_frames;

	/* The shard being written. */
	struct shard_writer *shard;
	struct journal_shard line;
};

/* Wrong use: nothing was touched. */
static int
refuse(struct pack *p)
{
	p->status = EXIT_USAGE;
	return -1;
}

int
pack_prefix_valid(const char *s)
{
	size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	    "0123456789_.-");

	return n >= 1 && n <= 64 && s[n] == '\0' && *s != '.' && *s != '-';
}

static char *
shard_name(const struct pack *p, size_t number)
{
	return xprintf("%s-%06zu.tar", p->o->prefix, number);
}

static char *
shard_path(const struct pack *p, size_t number)
{
	char *name = shard_name(p, number), *path = path_join(p->o->dir, name);

	free(name);
	return path;
}

static void
report(const struct pack *p, const struct stream_reader *r,
    struct pack_report *to)
{
	*to = (struct pack_report){
		.samples = p->m->samples + (p->shard != NULL ?
		    shard_samples(p->shard) : 0),
		.frames = p->m->frames,
		.bytes = p->m->bytes,
		.shards = p->m->shards,
		.read = p->read_before + (r != NULL ? stream_bytes(r) : 0),
		.skipped = p->skipped + (r != NULL ? stream_skipped(r) : 0),
	};
}

/* ---- the settings, which make the identity of the set ---- */

static const struct class_list *
classes_known(const struct pack *p)
{
	return p->classes_given ? &p->m->classes : NULL;
}

static char *
make_settings(const char *prefix, const struct class_list *classes,
    const char *options, const struct stream_list *streams)
{
	struct json_writer w = { 0 };

	json_open(&w, NULL, '{');
	json_open(&w, "classes", '[');
	for (size_t i = 0; classes != NULL && i < classes->n; i++)
		json_put_text(&w, NULL, classes->name[i]);
	json_close(&w);
	json_put_raw(&w, "options", options);
	json_put_text(&w, "prefix", prefix);
	stream_list_write(&w, "streams", streams);
	json_close(&w);
	return w.out.data;
}

/* Say which of the settings differ, as far as both are known. */
static int
compare_settings(struct pack *p, const char *mine)
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
			fail("%s: cannot resume with other %s: %s (the first run "
			    "had %s)", Q(p->o->dir), member[i], b, a);
			result = refuse(p);
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

/* The streams are known now, and with them the identity of the set. */
static int
settle(struct pack *p)
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
	p->m->streams = p->g.streams;
	mine = make_settings(p->o->prefix, classes_known(p), p->m->options,
	    &p->m->streams);
	if (p->settings != NULL)
		result = compare_settings(p, mine);
	free(p->settings);
	p->settings = mine;
	p->settled = 1;
	p->m->id = manifest_id(classes_known(p), p->m->options, &p->m->streams);
	return result;
}

/* ---- what is in the directory already ---- */

/* What sample ${e} of an earlier run says of the classes. */
static int
adopt_labels(struct pack *p, const struct shard *s, const struct shard_sample *e,
    const char *key)
{
	struct buffer b = { 0 };
	struct info *i = NULL;
	int result = -1;

	derive_see(p->derive, key, e->label);
	if (!(e->flags & SHARD_LABELS))
		return 0;
	if (shard_member(s, e, (uint32_t)shard_record_count(e) - 1, &b) == 0)
		i = info_read(key, b.data, b.n);
	for (int k = 0; i != NULL && k < i->sample.nlabels; k++)
		derive_several(p->derive, i->sample.labels[k][0]);
	result = i != NULL ? 0 : -1;
	info_free(i);
	buffer_free(&b);
	return result;
}

/* Take shard ${number} of an earlier run into account. */
static int
adopt(struct pack *p, size_t number, const char *name,
    const struct shard_sum *sum)
{
	char *path = path_join(p->o->dir, name), key[KEY_MAX + 1];
	struct shard *s = shard_open(path, NULL);
	int result = -1;

	if (s == NULL)
		goto out;
	if (s->size != sum->bytes || s->footer.samples != sum->samples ||
	    s->footer.frames != sum->frames || s->footer.number != number) {
		fail("%s: not the shard that was packed: %llu bytes, %u samples "
		    "(wanted %llu, %llu)", Q(path), (unsigned long long)s->size,
		    s->footer.samples, (unsigned long long)sum->bytes,
		    (unsigned long long)sum->samples);
		goto out;
	}
	for (uint32_t i = 0; i < s->footer.samples; i++) {
		struct shard_sample e = shard_entry(s, i);
		uint64_t sample = p->m->samples + i;
		uint32_t source = PACKED;

		keyset_add(p->keys, shard_key(s, &e, key), &source, &sample);
		if (adopt_labels(p, s, &e, key) != 0)
			goto out;
	}
	manifest_add(p->m, name, sum);
	if (p->o->packed != NULL && !p->o->dry_run)
		result = p->o->packed(p->o->arg, name, sum);
	else
		result = 0;
out:
	shard_close(s);
	free(path);
	return result;
}

static int
adopt_finished(struct pack *p)
{
	struct manifest *old = manifest_read(p->o->dir, NULL);
	const char *end;
	char *prefix;
	int derived, result = 0;

	if (old == NULL)
		return -1;
	end = strrchr(old->shard[0].name, '-');
	prefix = end != NULL ? xstrndup(old->shard[0].name,
	    (size_t)(end - old->shard[0].name)) : xstrdup("");
	derived = strstr(old->options, "\"classes\":\"derived\"") != NULL;
	p->settings = make_settings(prefix, derived ? NULL : &old->classes,
	    old->options, &old->streams);
	p->finished = 1;
	for (size_t k = 0; k < old->shards && result == 0; k++)
		result = adopt(p, k, old->shard[k].name, &old->shard[k].sum);
	free(prefix);
	manifest_free(old);
	return result;
}

static int
adopt_journal(struct pack *p)
{
	int result = 0;

	p->settings = xstrdup(p->journal->settings);
	for (size_t k = 0; k < p->journal->shards && result == 0; k++) {
		char *name = shard_name(p, k);

		result = adopt(p, k, name, &p->journal->shard[k].sum);
		free(name);
	}
	return result;
}

/* Remove shards from ${number} on that are no part of anything. */
static void
remove_shards(struct pack *p, size_t number)
{
	for (;; number++) {
		char *path = shard_path(p, number);
		int gone = unlink(path) != 0;

		free(path);
		if (gone)
			break;
	}
}

/*
 * -f: the old set goes when the first new shard is ready to come, and its
 * manifest goes first, so that nobody takes half of it for a set.
 */
static int
remove_old(struct pack *p)
{
	char *path = path_join(p->o->dir, MANIFEST_NAME);
	struct manifest *old = NULL;
	struct damage unused;
	int result = 0;

	if (manifest_exists(p->o->dir))
		old = manifest_read(p->o->dir, &unused);
	if (unlink(path) == 0)
		result = file_sync_dir(p->o->dir);
	free(path);
	for (size_t k = 0; old != NULL && k < old->shards; k++) {
		path = path_join(p->o->dir, old->shard[k].name);
		unlink(path);
		free(path);
	}
	manifest_free(old);
	return result;
}

static int
look_for_old(struct pack *p)
{
	const struct pack_options *o = p->o;
	char *first = shard_path(p, 0);
	int there = manifest_exists(o->dir), bad = 0, stray, result = 0;

	if (o->resume != PACK_NEW || !o->force)
		p->journal = there ? NULL : journal_read(o->dir, &bad);
	stray = !there && p->journal == NULL && file_size(first) >= 0;
	if (o->force) {
		goto out;
	} else if (bad) {
		result = -1;
	} else if (o->resume == PACK_NEW && (there || p->journal != NULL)) {
		fail("%s: holds a%s (%s; -f replaces it)", Q(o->dir), there ?
		    " finished set" : " set that was not finished", there ?
		    "--resume compares the input with it" :
		    "--resume goes on with it");
		result = refuse(p);
	} else if (stray) {
		fail("%s: is there, but no manifest or journal lists it (-f "
		    "replaces it)", Q(first));
		result = refuse(p);
	} else if (there) {
		result = adopt_finished(p);
	} else if (p->journal != NULL) {
		result = adopt_journal(p);
		if (result == 0 && !o->dry_run) {
			remove_shards(p, p->m->shards);
			result = journal_continue(p->journal);
		}
	}
	if (o->resume == PACK_WHOLE)
		p->replay = p->m->samples;
out:
	free(first);
	return result;
}

static int
prepare(struct pack *p)
{
	const struct pack_options *o = p->o;

	p->m = manifest_new();
	p->keys = keyset_new();
	p->derive = derive_new();
	if (o->classes != NULL) {
		p->classes_given = 1;
		if (class_read(o->classes, &p->m->classes) != 0)
			return refuse(p);
	}
	if (!o->dry_run) {
		if (file_make_dir(o->dir) != 0 ||
		    (p->lock = dir_lock(o->dir, LOCK_NAME)) < 0 ||
		    commit_sweep(o->dir) != 0)
			return -1;
	}
	return look_for_old(p);
}

/* ---- shards ---- */

static int
begin_shard(struct pack *p)
{
	char *path;

	if (p->m->shards >= MOST_SHARDS)
		return fail("more than %u shards (a larger --shard-size makes "
		    "fewer)", MOST_SHARDS);
	path = shard_path(p, p->m->shards);
	p->shard = shard_create(p->o->dry_run ? NULL : path,
	    (uint32_t)p->m->shards, p->m->samples, p->m->id, &p->m->streams);
	free(path);
	return p->shard != NULL ? 0 : -1;
}

static int
finish_shard(struct pack *p)
{
	struct shard_writer *w = p->shard;
	char *name = shard_name(p, p->m->shards);
	int result = -1;

	p->shard = NULL;
	if (!p->o->dry_run && p->journal == NULL) {
		if (p->o->force && remove_old(p) != 0)
			goto err;
		p->journal = journal_create(p->o->dir, p->settings);
		if (p->journal == NULL)
			goto err;
		if (p->o->force)
			remove_shards(p, 0);
	}
	if (shard_finish(w, &p->line.sum) != 0)
		goto out;
	if (p->journal != NULL && journal_add(p->journal, &p->line) != 0)
		goto out;
	manifest_add(p->m, name, &p->line.sum);
	result = p->o->packed == NULL ? 0 :
	    p->o->packed(p->o->arg, name, &p->line.sum);
	goto out;
err:
	shard_drop(w);
out:
	free(name);
	return result;
}

/*
 * Put the sample at hand, complete or not, where it belongs.  It goes to the
 * shard at hand unless that would grow beyond its size and has a sample
 * already.  Once it is known to begin a shard it need not be held any longer,
 * however long it becomes.
 */
static int
place_sample(struct pack *p, int complete)
{
	struct gather *g = &p->g;
	size_t key = strlen(g->key);

	if (p->shard != NULL && shard_samples(p->shard) > 0 && shard_size(
	    p->shard, g->total, g->records, key) > p->o->shard_size &&
	    finish_shard(p) != 0)
		return -1;
	if (p->shard == NULL && begin_shard(p) != 0)
		return -1;
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
	return shard_add(p->shard, g->key, &g->entry, g->record);
}

/* ---- samples ---- */

/* Open the shard that holds sample ${p->samples}, one behind the other. */
static int
open_packed(struct pack *p)
{
	while (p->old == NULL || p->samples >= p->m->shard[p->old_number].first +
	    p->old->footer.samples) {
		char *path;

		p->old_number += p->old != NULL;
		shard_close(p->old);
		path = path_join(p->o->dir, p->m->shard[p->old_number].name);
		p->old = shard_open(path, NULL);
		free(path);
		if (p->old == NULL)
			return -1;
	}
	return 0;
}

/* 1 if the sample at hand has the members that ${e} of ${p->old} has. */
static int
same_members(const struct pack *p, const struct shard_sample *e)
{
	const struct gather *g = &p->g;
	struct shard_record *r;
	int same;

	if (shard_record_count(e) != g->records || e->label != g->entry.label ||
	    e->flags != g->entry.flags || e->source != g->entry.source)
		return 0;
	r = xcalloc(g->records, sizeof(*r));
	same = shard_records(p->old, e, 0, (uint32_t)g->records, r) == 0;
	for (size_t i = 0; i < g->records && same; i++)
		same = r[i].length == g->record[i].length &&
		    r[i].crc == g->record[i].crc && r[i].time ==
		    g->record[i].time;
	free(r);
	return same;
}

/* The sample at hand against what was packed in its place. */
static int
compare_packed(struct pack *p, const struct stream_reader *r)
{
	struct shard_sample e;
	char key[KEY_MAX + 1];
	const char *what = NULL;

	if (open_packed(p) != 0)
		return -1;
	e = shard_entry(p->old, (uint32_t)(p->samples -
	    p->m->shard[p->old_number].first));
	if (strcmp(shard_key(p->old, &e, key), p->g.key) != 0)
		what = key;
	else if (!same_members(p, &e))
		what = "the same key with other content";
	if (what == NULL)
		return 0;
	return fail("%s: offset %llu: the input differs from the first run at "
	    "sample %llu: it has %s (packed is %s); --resume=rest takes an "
	    "input that lacks what is packed", Q(stream_path(r)),
	    (unsigned long long)p->g.offset, (unsigned long long)p->samples,
	    p->g.key, what);
}

static int
check_label(struct pack *p, const struct stream_reader *r, int label)
{
	uint64_t limit = p->classes_given ? p->m->classes.n : CLASSES_MOST;

	if (label < 0 || (uint64_t)label < limit)
		return 0;
	return fail("%s: offset %llu: sample %s: label %d (wanted one below "
	    "%llu%s)", Q(stream_path(r)), (unsigned long long)p->g.offset,
	    p->g.key, label, (unsigned long long)limit, p->classes_given ?
	    ", the number of classes" : "");
}

/* The sample at hand is complete. */
static int
end_sample(struct pack *p, const struct stream_reader *r)
{
	struct gather *g = &p->g;
	const struct stream_sample *s = &g->info->sample;

	if (!p->settled && settle(p) != 0)
		return -1;
	if (p->samples < p->replay) {
		if (compare_packed(p, r) != 0)
			return -1;
	} else {
		if (check_label(p, r, s->label) != 0)
			return -1;
		derive_see(p->derive, g->key, s->label);
		for (int i = 0; i < s->nlabels; i++) {
			if (check_label(p, r, s->labels[i][0]) != 0)
				return -1;
			derive_several(p->derive, s->labels[i][0]);
		}
		if (place_sample(p, 1) != 0)
			return -1;
	}
	p->samples++;
	p->stream_samples++;
	p->stream_frames += g->entry.frames;
	strcpy(p->last, g->key);
	gather_next(g);
	return 0;
}

/* ---- the input ---- */

/* A sample begins: its key must be new. */
static int
begin_sample(struct pack *p, const struct stream_reader *r,
    const struct stream_member *m)
{
	uint32_t source = (uint32_t)p->at_input;
	uint64_t offset = m->offset;

	if (p->finished && p->samples >= p->replay)
		return fail("%s: offset %llu: sample %s: the set in %s is "
		    "finished, with %llu samples", Q(stream_path(r)),
		    (unsigned long long)m->offset, m->key, Q(p->o->dir),
		    (unsigned long long)p->m->samples);
	if (p->samples < p->replay ||
	    keyset_add(p->keys, m->key, &source, &offset))
		return 0;
	if (source == PACKED)
		return fail("%s: offset %llu: key %s is packed already, as "
		    "sample %llu", Q(stream_path(r)),
		    (unsigned long long)m->offset, m->key,
		    (unsigned long long)offset);
	return fail("%s: offset %llu: key %s came before, at offset %llu of %s: "
	    "keys must differ, and a sample's members must follow each other",
	    Q(stream_path(r)), (unsigned long long)m->offset, m->key,
	    (unsigned long long)offset, strcmp(p->input[source], "-") == 0 ?
	    "standard input" : Q(p->input[source]));
}

/* The head of a stream, or ${text} NULL: a stream without one. */
static int
use_head(struct pack *p, const char *what, const char *text, size_t n)
{
	struct json *o = text != NULL ? json_parse(what, text, n) : NULL;
	const struct json *names = json_get(o, "classes");
	const struct json *options = json_get(o, "options");
	struct class_list classes = { 0 };
	struct class_list *mine = &p->m->classes;
	char *extract = NULL;
	int result = -1, same;

	if (text != NULL && o == NULL)
		goto out;
	if ((names != NULL && !json_is(names, '[')) ||
	    (options != NULL && !json_is(options, '{'))) {
		fail("%s: \"classes\" or \"options\" is wrong", what);
		goto out;
	}
	for (size_t i = 0; i < json_size(names); i++) {
		const char *s = json_to_text(json_at(names, i));

		class_add(&classes, s != NULL ? s : "");
	}
	if (class_check(what, &classes) != 0)
		goto out;
	extract = options != NULL ? json_print(options) : NULL;
	if (!p->streams_begun) {
		p->extract = extract;
		extract = NULL;
		if (!p->classes_given && classes.n > 0) {
			class_list_free(mine);
			*mine = classes;
			classes = (struct class_list){ 0 };
			p->classes_given = 1;
		}
		result = 0;
		goto out;
	}
	same = (extract == NULL) == (p->extract == NULL) &&
	    (extract == NULL || strcmp(extract, p->extract) == 0);
	if (p->o->classes == NULL) {
		same &= classes.n == mine->n;
		for (size_t i = 0; i < classes.n && same; i++)
			same = strcmp(classes.name[i], mine->name[i]) == 0;
	}
	result = same ? 0 : fail("%s: this stream was made with other settings "
	    "or classes than the first (they cannot be one set)", what);
out:
	p->streams_begun = 1;
	p->stream_begun = 1;
	class_list_free(&classes);
	free(extract);
	json_free(o);
	return result;
}

static int
read_head(struct pack *p, struct stream_reader *r, const struct stream_member *m)
{
	char *text = xmalloc((size_t)m->size + 1);
	char *what = xprintf("%s: offset %llu: %s", Q(stream_path(r)),
	    (unsigned long long)m->offset, m->name);
	int result = STREAM_BAD;

	if (p->stream_begun)
		fail("%s: not at the beginning of a stream", what);
	else if ((result = stream_data(r, text)) == STREAM_MORE)
		result = use_head(p, what, text, (size_t)m->size) == 0 ?
		    STREAM_MORE : STREAM_BAD;
	free(text);
	free(what);
	return result;
}

static int
read_end(struct pack *p, struct stream_reader *r, const struct stream_member *m)
{
	struct stream_mark mark;
	int result;

	if (p->g.open)
		return fail("%s: offset %llu: the stream ends, but sample %s has "
		    "no .json", Q(stream_path(r)), (unsigned long long)m->offset,
		    p->g.key);
	if ((result = stream_mark(r, &mark)) != STREAM_MORE)
		return result;
	if (mark.samples != p->stream_samples || mark.frames != p->stream_frames)
		return fail("%s: offset %llu: end mark: %llu samples, %llu frames "
		    "(%llu, %llu came)", Q(stream_path(r)),
		    (unsigned long long)m->offset,
		    (unsigned long long)mark.samples,
		    (unsigned long long)mark.frames,
		    (unsigned long long)p->stream_samples,
		    (unsigned long long)p->stream_frames);
	if (strcmp(mark.status, "ok") != 0)
		warning("%s: the end mark says \"%s\": its writer left inputs "
		    "out", Q(stream_path(r)), mark.status);
	p->stream_samples = p->stream_frames = 0;
	p->stream_begun = 0;
	return STREAM_MORE;
}

static int
read_member(struct pack *p, struct stream_reader *r,
    const struct stream_member *m)
{
	int result;

	if (m->kind == MEMBER_HEAD)
		return read_head(p, r, m);
	if (m->kind == MEMBER_END)
		return read_end(p, r, m);
	if (!p->stream_begun && use_head(p, stream_path(r), NULL, 0) != 0)
		return STREAM_BAD;
	if (!p->g.open && m->kind == MEMBER_FRAME && begin_sample(p, r, m) != 0)
		return STREAM_BAD;
	result = gather_member(&p->g, r, m);
	if (result == STREAM_DONE)
		return end_sample(p, r) == 0 ? STREAM_MORE : STREAM_BAD;
	/* A sample that may have to be written before it is complete. */
	if (result == STREAM_MORE && p->g.fixed && p->samples >= p->replay) {
		if (!p->settled && settle(p) != 0)
			return STREAM_BAD;
		if (place_sample(p, 0) != 0)
			return STREAM_BAD;
	}
	return result;
}

static int
cut(struct pack *p, const struct stream_reader *r)
{
	return fail("%s: the input ended after %llu samples, last complete key "
	    "%s, offset %llu: its writer died or the pipe was cut%s",
	    Q(stream_path(r)), (unsigned long long)p->samples,
	    p->samples > 0 ? p->last : "none",
	    (unsigned long long)stream_bytes(r), p->m->shards > 0 ?
	    "; finished shards are kept for --resume" : "");
}

static int
read_input(struct pack *p, const char *path)
{
	const struct stream_limits limits = { p->o->max_member, p->o->foreign,
		p->o->skip_foreign };
	struct stream_reader *r = stream_read_open(path, &limits);
	struct pack_report so_far;
	struct stream_member m;
	int result = STREAM_MORE;

	if (r == NULL)
		return -1;
	p->stream_begun = 0;
	while (result == STREAM_MORE) {
		if (p->o->tick != NULL) {
			report(p, r, &so_far);
			p->o->tick(p->o->arg, &so_far);
		}
		result = stream_next(r, &m);
		if (result == STREAM_MORE)
			result = read_member(p, r, &m);
		if (stop_signal() != 0)
			result = STREAM_BAD;
	}
	if (result == STREAM_CUT || (result == STREAM_DONE && p->g.open))
		result = cut(p, r);
	p->read_before += stream_bytes(r);
	p->skipped += stream_skipped(r);
	p->stream_samples = p->stream_frames = 0;
	stream_read_close(r);
	return result;
}

/* ---- the end ---- */

/* Would it fit the disk?  The nearest directory that is there tells. */
static int
check_space(const struct pack *p)
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

static int
finish(struct pack *p)
{
	char *journal;

	if (p->samples < p->replay)
		return fail("%s: the input has %llu samples, but %llu are packed",
		    Q(p->o->dir), (unsigned long long)p->samples,
		    (unsigned long long)p->replay);
	if (p->shard != NULL && finish_shard(p) != 0)
		return -1;
	if (p->m->samples == 0)
		return fail("no sample came (nothing was packed)");
	if (p->o->dry_run)
		return p->finished ? 0 : check_space(p);
	if (!p->finished) {
		if (!p->classes_given)
			derive_classes(p->derive, &p->m->classes);
		if (manifest_write(p->o->dir, p->m) != 0)
			return -1;
	}
	/* The manifest has taken its place; if it stays, no harm is done. */
	journal = path_join(p->o->dir, JOURNAL_NAME);
	unlink(journal);
	free(journal);
	return 0;
}

int
pack(const struct pack_options *o, const char *const *input, size_t n,
    struct pack_report *to)
{
	struct pack p = { .o = o, .input = input, .status = EXIT_FAILED,
		.lock = -1 };
	int result = prepare(&p);

	for (; p.at_input < n && result == 0; p.at_input++)
		result = read_input(&p, input[p.at_input]);
	if (result == 0)
		result = finish(&p);
	if (stop_signal() != 0)
		warning("stopped by signal %d%s", stop_signal(), p.m->shards > 0 ?
		    "; finished shards are kept for --resume" : "");
	report(&p, NULL, to);
	if (result == 0)
		p.status = p.skipped > 0 ? EXIT_SKIPPED : EXIT_DONE;
	shard_drop(p.shard);
	shard_close(p.old);
	gather_free(&p.g);
	derive_free(p.derive);
	keyset_free(p.keys);
	journal_free(p.journal);
	manifest_free(p.m);
	free(p.settings);
	free(p.extract);
	dir_unlock(p.lock);
	return p.status;
}
