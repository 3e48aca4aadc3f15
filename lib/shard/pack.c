/* Packing: members of streams become samples of a set. */
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/stop.h"
#include "base/text.h"
#include "shard/packing.h"
#include "shard/stream_read.h"

#define Q text_quote
#define LOCK_NAME ".vt-pack.lock"

int
pack_refuse(struct pack *p)
{
	p->status = EXIT_USAGE;
	return -1;
}

int
pack_prefix_valid(const char *s)
{
	size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789_.-");

	return n >= 1 && n <= 64 && s[n] == '\0' && *s != '.' && *s != '-';
}

static void
pack_fill_report(const struct pack *p, const struct stream_reader *r,
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
		.defective = p->tally.defective,
	};
}

/* Return the class counts of the whole set as text.  The caller frees it. */
static char *
pack_class_counts(struct pack *p)
{
	struct buffer b = { 0 };

	if (!p->classes_given && p->m->classes.n == 0)
		class_infer_classes(p->infer, &p->m->classes);
	buffer_text(&b, "");
	tally_text(&p->tally, &p->m->classes, &b);
	return b.data;
}

/* ---- samples ---- */

/* Without given class names, labels are limited so that a damaged one does
 * not create a huge list of classes. */
static int
pack_check_label(struct pack *p, const struct stream_reader *r, int label)
{
	uint64_t limit = p->classes_given ? p->m->classes.n : CLASSES_MAX;

	if (label < 0 || (uint64_t)label < limit)
		return 0;
	return fail("%s: offset %llu: sample %s: label %d (wanted one below "
	    "%llu%s)", stream_path(r), (unsigned long long)p->g.offset,
	    p->g.key, label, (unsigned long long)limit, p->classes_given ?
	    ", the number of classes" : "");
}

/* The current sample is complete: compare it with an existing one, or pack
 * it. */
static int
pack_end_sample(struct pack *p, const struct stream_reader *r)
{
	struct gather *g = &p->g;
	const struct sample *s = g->sample;

	if (!p->resolved && pack_resolve_settings(p) != 0)
		return -1;
	if (p->samples < p->replay) {
		if (pack_compare(p, stream_path(r)) != 0)
			return -1;
	} else {
		if (pack_check_label(p, r, s->label) != 0)
			return -1;
		for (int i = 0; i < s->nlabels; i++)
			if (pack_check_label(p, r, s->labels[i].class) != 0)
				return -1;
		class_infer_add(p->infer, s);
		if (pack_place(p, 1) != 0)
			return -1;
	}
	tally_add(&p->tally, s);
	p->samples++;
	/* for the message of a truncated input */
	strcpy(p->last, g->key);
	gather_next(g);
	return 0;
}

/* ---- input ---- */

/* Begin a sample.  Its key must not be in the set yet. */
static int
pack_begin_sample(struct pack *p, const struct stream_reader *r,
    const struct stream_member *m)
{
	uint32_t source = (uint32_t)p->at_input;
	uint64_t offset = m->offset;

	if (p->finished && p->samples >= p->replay) {
		fail("%s: offset %llu: sample %s: the set in %s is finished, "
		    "with %llu samples (nothing is added to it; -f "
		    "replaces it)", stream_path(r),
		    (unsigned long long)m->offset, m->key, Q(p->o->dir),
		    (unsigned long long)p->m->samples);
		return pack_refuse(p);
	}
	if (p->samples < p->replay ||
	    keyset_add(p->keys, m->key, &source, &offset))
		return 0;
	if (source == SOURCE_PACKED)
		return fail("%s: offset %llu: key %s is packed already, as "
		    "sample %llu", stream_path(r),
		    (unsigned long long)m->offset, m->key,
		    (unsigned long long)offset);
	return fail("%s: offset %llu: key %s is used already, at offset %llu "
	    "of %s: keys must differ, and a sample's members must follow each "
	    "other", stream_path(r), (unsigned long long)m->offset, m->key,
	    (unsigned long long)offset, strcmp(p->input[source], "-") == 0 ?
	    "standard input" : Q(p->input[source]));
}

/*
 * Use the header of a stream, ${text} NULL if it has none.  The first header
 * determines the classes and settings of the set; later ones must agree with
 * it.
 */
static int
pack_use_head(struct pack *p, const char *what, const char *text, size_t n)
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
	/* The manifest stores them inside other brackets. */
	if (options != NULL && json_depth(options) > JSON_DEPTH / 2) {
		fail("%s: \"options\" nested more than %d deep", what,
		    JSON_DEPTH / 2);
		goto out;
	}
	for (size_t i = 0; i < json_size(names); i++) {
		const char *s = json_to_text(json_at(names, i));

		class_add(&classes, s != NULL ? s : "");
	}
	if (class_check(what, &classes, NULL) != 0)
		goto out;
	/* Folders may give numbered classes better names. */
	if (json_get(o, "numbered") != NULL) {
		class_infer_least(p->infer, classes.n);
		class_list_free(&classes);
	}
	extract = options != NULL ? json_print(options) : NULL;
	/* The first stream determines the settings of the set. */
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
	/* A later stream: compare it with the first. */
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

/* A head is valid only at the beginning of a stream: members before it would
 * have been packed without it. */
static int
pack_read_head(struct pack *p, struct stream_reader *r,
    const struct stream_member *m)
{
	char *text = xmalloc((size_t)m->size + 1);
	char *what = xprintf("%s: offset %llu: %s", stream_path(r),
	    (unsigned long long)m->offset, m->name);
	int result = STREAM_BAD;

	if (p->stream_begun)
		fail("%s: not at the beginning of a stream", what);
	else if ((result = stream_data(r, text)) == STREAM_MORE)
		result = pack_use_head(p, what, text, (size_t)m->size) == 0 ?
		    STREAM_MORE : STREAM_BAD;
	free(text);
	free(what);
	return result;
}

/* The next stream of the same input begins after the marker. */
static int
pack_read_end(struct pack *p, struct stream_reader *r,
    const struct stream_member *m)
{
	int result = gather_end(&p->g, r, m);

	if (result == STREAM_MORE)
		p->stream_begun = 0;
	return result;
}

/* Dispatch a member by its kind.  Return STREAM_MORE, or an error of the
 * stream. */
static int
pack_read_member(struct pack *p, struct stream_reader *r,
    const struct stream_member *m)
{
	int result;

	if (m->kind == MEMBER_HEAD)
		return pack_read_head(p, r, m);
	if (m->kind == MEMBER_END)
		return pack_read_end(p, r, m);
	if (!p->stream_begun && pack_use_head(p, stream_path(r), NULL, 0) != 0)
		return STREAM_BAD;
	if (!p->g.open && m->kind == MEMBER_FRAME &&
	    pack_begin_sample(p, r, m) != 0)
		return STREAM_BAD;
	result = gather_member(&p->g, r, m);
	if (result == STREAM_DONE)
		return pack_end_sample(p, r) == 0 ? STREAM_MORE : STREAM_BAD;
	/* A large sample may have to be written before it is complete. */
	if (result == STREAM_MORE && p->g.fixed && p->samples >= p->replay) {
		if (!p->resolved && pack_resolve_settings(p) != 0)
			return STREAM_BAD;
		if (pack_place(p, 0) != 0)
			return STREAM_BAD;
	}
	return result;
}

/* The reader sees only the end of the input, so name both possible causes. */
static int
pack_truncated(struct pack *p, const struct stream_reader *r)
{
	return fail("%s: the input ended after %llu samples, last complete key "
	    "%s, offset %llu: its writer died or the pipe broke",
	    stream_path(r), (unsigned long long)p->samples,
	    p->samples > 0 ? p->last : "none",
	    (unsigned long long)stream_bytes(r));
}

/* Report progress; also called while input is awaited. */
static void
pack_tick(void *arg)
{
	struct pack *p = arg;
	struct pack_report so_far;

	if (p->o->tick == NULL)
		return;
	pack_fill_report(p, p->reader, &so_far);
	p->o->tick(p->o->arg, &so_far);
}

/* Read one input to its end.  Return 0, or a negative number after a message
 * or a signal. */
static int
pack_read_input(struct pack *p, const char *path)
{
	const struct stream_limits limits = { p->o->max_member, p->o->foreign,
		p->o->skip_foreign, p->o->classes != NULL ? &p->m->classes :
		NULL, pack_tick, p };
	struct stream_reader *r = stream_read_open(path, &limits);
	struct stream_member m;
	int result = STREAM_MORE;

	if (r == NULL)
		return -1;
	p->reader = r;
	p->stream_begun = 0;
	while (result == STREAM_MORE) {
		pack_tick(p);
		result = stream_next(r, &m);
		if (result == STREAM_MORE)
			result = pack_read_member(p, r, &m);
		if (stop_signal() != 0)
			result = STREAM_BAD;
	}
	if (p->g.open && (result == STREAM_DONE || result == STREAM_UNMARKED))
		result = fail("%s: the archive ends, but sample %s has no "
		    ".json (--foreign=webdataset takes samples without)",
		    stream_path(r), p->g.key);
	else if (result == STREAM_UNMARKED)
		result = fail("%s: a whole tar archive, of %llu samples, but "
		    "without the end-of-stream marker of vt-extract (--foreign "
		    "takes archives of other programs)", stream_path(r),
		    (unsigned long long)p->samples);
	else if (result == STREAM_TRUNCATED)
		result = pack_truncated(p, r);
	p->reader = NULL;
	p->read_before += stream_bytes(r);
	p->skipped += stream_skipped(r);
	p->g.stream_samples = p->g.stream_frames = 0;
	stream_read_close(r);
	return result;
}

/* Take the lock before the directory is read or changed, so that two runs
 * cannot write one set.  A dry run changes nothing and takes no lock. */
static int
pack_prepare(struct pack *p)
{
	const struct pack_options *o = p->o;

	p->m = manifest_new();
	p->keys = keyset_new();
	p->infer = class_infer_new();
	if (o->classes != NULL) {
		p->classes_given = 1;
		if (class_read(o->classes, &p->m->classes) != 0)
			return -1;
	}
	if (!o->dry_run) {
		if (file_make_dir(o->dir, NULL) != 0 ||
		    (p->lock = dir_lock(o->dir, LOCK_NAME)) < 0 ||
		    commit_sweep(o->dir) != 0)
			return -1;
	}
	return pack_load_existing(p);
}

int
pack(const struct pack_options *o, const char *const *input, size_t n,
    struct pack_report *to)
{
	struct pack p = { .o = o, .input = input, .status = EXIT_FAILED,
		.lock = -1 };
	int result = pack_prepare(&p);

	for (; p.at_input < n && result == 0; p.at_input++)
		result = pack_read_input(&p, input[p.at_input]);
	if (result == 0)
		result = pack_finish(&p);
	if (result != 0 && stop_signal() != 0)
		warning("stopped by signal %d", stop_signal());
	/* Tell that the work is not lost, unless the usage was wrong. */
	if (result != 0 && p.status == EXIT_FAILED && p.m->shards > 0 &&
	    !o->dry_run && !p.finished)
		note("%s: %zu finished shards, %llu samples, are kept; the "
		    "same command continues after them", Q(o->dir), p.m->shards,
		    (unsigned long long)p.m->samples);
	pack_fill_report(&p, NULL, to);
	if (result == 0) {
		to->classes = pack_class_counts(&p);
		class_warn_alike(&p.m->classes);
	}
	if (result == 0)
		p.status = p.skipped > 0 ? EXIT_SKIPPED : EXIT_DONE;
	shard_drop(p.shard);
	shard_close(p.existing);
	gather_free(&p.g);
	class_infer_free(p.infer);
	keyset_free(p.keys);
	tally_free(&p.tally);
	journal_free(p.journal);
	manifest_free(p.m);
	free(p.settings);
	free(p.extract);
	dir_unlock(p.lock);
	return p.status;
}
