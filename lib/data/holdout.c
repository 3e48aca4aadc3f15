/* The choice of recordings that validate. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/names.h"
#include "base/text.h"
#include "data/holdout.h"
#include "shard/near.h"
#include "shard/recording.h"

#define JSON_SAMPLES 20000		/* of two sets; KEY.json of more is not
					 * read to compare them */

/* A recording: its samples, and its place in the order of choice. */
struct holdout_recording {
	const uint32_t *sample;		/* [n] */
	size_t n;
	const char *key;		/* the first in byte order */
	uint64_t order;
	int held;
};

/* The samples of a class. */
struct holdout_class { uint32_t all, held, here, recordings; };

struct holdout {
	const struct dataset *d;
	double part;
	struct recordings r;
	uint32_t *sample;		/* all, by recording */
	struct holdout_recording *recording;	/* [n] */
	size_t n;
	struct holdout_class *class;	/* [classes of d] */
};

/* ---- recordings ---- */

static int
holdout_by_recording(const void *a, const void *b, void *samples)
{
	const struct recorded *s = samples;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;

	if (s[i].first != s[k].first)
		return s[i].first < s[k].first ? -1 : 1;
	return (i > k) - (i < k);
}

static int
holdout_by_order(const void *a, const void *b)
{
	const struct holdout_recording *x = a, *y = b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return strcmp(x->key, y->key);
}

static void
holdout_gather(struct holdout *h)
{
	const struct recorded *s = h->r.sample;

	h->sample = xcalloc(h->r.n, sizeof(*h->sample));
	h->recording = xcalloc(h->r.n, sizeof(*h->recording));
	for (size_t i = 0; i < h->r.n; i++)
		h->sample[i] = (uint32_t)i;
	qsort_r(h->sample, h->r.n, sizeof(*h->sample), holdout_by_recording,
	    h->r.sample);
	for (size_t i = 0; i < h->r.n; h->n++) {
		struct holdout_recording *x = &h->recording[h->n];

		x->sample = &h->sample[i];
		x->key = s[h->sample[i]].key;
		for (; i < h->r.n && s[h->sample[i]].first ==
		    s[*x->sample].first; i++, x->n++)
			if (strcmp(s[h->sample[i]].key, x->key) < 0)
				x->key = s[h->sample[i]].key;
		x->order = hash64(x->key, strlen(x->key));
	}
	qsort(h->recording, h->n, sizeof(*h->recording), holdout_by_order);
}

/* ---- the choice ---- */

/* Add ${n} to the samples of its classes in ${h} that recording ${x} has. */
static void
holdout_count(struct holdout *h, const struct holdout_recording *x, uint32_t n)
{
	for (size_t k = 0; k < x->n; k++) {
		struct sample m = dataset_sample(h->d, x->sample[k]);

		if (m.label >= 0)
			h->class[m.label].here += n;
		for (int j = 0; j < m.nlabels; j++)
			h->class[m.labels[j].class].here += n;
	}
}

/* Call ${each} once for each class of recording ${x}, with the number of its
 * samples in class->here.  Return the sum of the results. */
static int
holdout_each(struct holdout *h, const struct holdout_recording *x,
    int (*each)(struct holdout_class *c, double part), double part)
{
	int sum = 0;

	holdout_count(h, x, 1);
	for (size_t k = 0; k < x->n; k++) {
		struct sample m = dataset_sample(h->d, x->sample[k]);

		for (int j = 0; j < (m.label >= 0 ? 1 : m.nlabels); j++) {
			struct holdout_class *c = &h->class[m.label >= 0 ?
			    m.label : m.labels[j].class];

			sum += c->here > 0 ? each(c, part) : 0;
			c->here = 0;
		}
	}
	return sum;
}

static int
holdout_class_add(struct holdout_class *c, double part)
{
	(void)part;
	c->all += c->here;
	c->recordings++;
	return 0;
}

static int
holdout_class_hold(struct holdout_class *c, double part)
{
	(void)part;
	c->held += c->here;
	c->recordings--;
	return 0;
}

/* A class needs samples until it has ${part} of them; 0: one. */
static int
holdout_class_needs(struct holdout_class *c, double part)
{
	return part > 0 ? c->held < part * c->all : c->held == 0;
}

/* A class refuses its last recording, and above half of its samples unless
 * ${part} is 0. */
static int
holdout_class_refuses(struct holdout_class *c, double part)
{
	return c->recordings < 2 ||
	    (part > 0 && 2 * (c->held + c->here) > c->all);
}

/* Then serve the classes without any, which have large recordings only. */
static void
holdout_choose(struct holdout *h)
{
	h->class = xcalloc((size_t)dataset_classes(h->d), sizeof(*h->class));
	for (size_t i = 0; i < h->n; i++)
		holdout_each(h, &h->recording[i], holdout_class_add, 0);
	for (int pass = 0; pass < 2; pass++) {
		double part = pass == 0 ? h->part : 0;

		for (size_t i = 0; i < h->n; i++) {
			struct holdout_recording *x = &h->recording[i];

			if (x->held || holdout_each(h, x, holdout_class_needs,
			    part) == 0 || holdout_each(h, x,
			    holdout_class_refuses, part) > 0)
				continue;
			x->held = 1;
			holdout_each(h, x, holdout_class_hold, 0);
		}
	}
}

/* ---- messages ---- */

static void
holdout_note(const struct holdout *h)
{
	size_t samples = 0, recordings = 0;
	int alone = 0;
	struct buffer b = { 0 };

	for (size_t i = 0; i < h->n; i++) {
		samples += h->recording[i].held ? h->recording[i].n : 0;
		recordings += (size_t)h->recording[i].held;
	}
	note("%s: %zu of %zu samples validate, in %zu of %zu recordings",
	    text_quote(dataset_path(h->d)), samples, h->r.n, recordings, h->n);
	for (int c = 0; c < dataset_classes(h->d); c++)
		if (h->class[c].recordings == 1 && h->class[c].held == 0 &&
		    alone++ < 5)
			buffer_printf(&b, "%s%s", b.n > 0 ? ", " : "",
			    dataset_class(h->d, c));
	if (alone > 0)
		warning("%d class%s not validated, with one recording each: "
		    "%s%s", alone, alone == 1 ? " is" : "es are", b.data,
		    alone > 5 ? " ..." : "");
	if (h->r.common != NULL)
		note("more than half of a class looks like %s: they "
		    "count as different recordings", h->r.common);
	buffer_free(&b);
}

/*
 * Return the number in ${keys} of the name before ${key}, which ends in a
 * number: that of walk_099 or walk_99 before walk_100.  -1: none, or ${key}
 * ends in no number that can be counted.
 */
static long
holdout_before(const struct names *keys, const char *key)
{
	size_t n = strlen(key), at = n;
	long found = -1;
	uint64_t number;

	while (at > 0 && isdigit((unsigned char)key[at - 1]))
		at--;
	if (at == n || n - at > 18 || (number = strtoull(key + at, NULL,
	    10)) == 0)
		return -1;
	for (int width = (int)(n - at); found < 0 && width >= 0;
	    width -= (int)(n - at)) {
		char *before = xprintf("%.*s%0*" PRIu64, (int)at, key, width,
		    number - 1);

		found = names_find(keys, before);
		free(before);
	}
	return found;
}

/* Warn of samples with successive names on both sides, unless a group, a
 * session or a time says what belongs together. */
static void
holdout_warn_numbers(const struct holdout *h, const char *held)
{
	struct names *keys = names_new();
	const struct recorded *s = h->r.sample;
	const char *key[2] = { NULL };
	size_t found = 0;
	char time[15];

	for (size_t i = 0; i < h->r.n; i++)
		names_add(keys, s[i].key);
	for (size_t i = 0; i < h->r.n; i++) {
		long k = holdout_before(keys, s[i].key);

		if (k < 0 || held[k] == held[i] || s[i].group != NULL ||
		    recording_session(s[i].key) > 0 ||
		    recording_time(s[i].key, time) == 0)
			continue;
		if (found++ == 0) {
			key[(int)held[k]] = s[k].key;
			key[(int)held[i]] = s[i].key;
		}
	}
	if (found > 0)
		warning("%s is trained on and %s validates, as %zu more pairs "
		    "of successive names do: if they were cut from one "
		    "recording, the accuracy will be too good "
		    "(--group=COLUMN of a list keeps recordings together)",
		    key[0], key[1], found - 1);
	names_free(keys);
}

static int
holdout_by_phash(const void *a, const void *b)
{
	const struct recorded *x = *(const struct recorded *const *)a;
	const struct recorded *y = *(const struct recorded *const *)b;

	if (x->phash != y->phash)
		return x->phash < y->phash ? -1 : 1;
	return (x > y) - (x < y);
}

/* The first samples of both sides with one perceptual hash. */
struct holdout_pair { const char *key[2]; };

/* Warn of samples on both sides whose perceptual hashes are near. */
static void
holdout_warn_near(const struct holdout *h, const char *held)
{
	const struct recorded **by = xcalloc(h->r.n, sizeof(*by));
	uint64_t *hash = xcalloc(h->r.n, sizeof(*hash));
	struct holdout_pair *with = xcalloc(h->r.n, sizeof(*with));
	struct near_pair *near;
	uint32_t n = 0;
	size_t pairs, found = 0;
	const char *key[2] = { NULL };

	for (size_t i = 0; i < h->r.n; i++)
		by[i] = &h->r.sample[i];
	qsort(by, h->r.n, sizeof(*by), holdout_by_phash);
	for (size_t i = 0; i < h->r.n; i++) {
		int side = held[by[i] - h->r.sample];

		if (by[i]->phash == 0)
			continue;
		n += n == 0 || hash[n - 1] != by[i]->phash;
		hash[n - 1] = by[i]->phash;
		if (with[n - 1].key[side] == NULL)
			with[n - 1].key[side] = by[i]->key;
	}
	pairs = near_find(hash, n, &near);
	for (size_t k = 0; k < pairs; k++)
		for (int side = 0; side < 2; side++) {
			const char *a = with[near[k].a].key[side];
			const char *b = with[near[k].b].key[!side];

			if (a == NULL || b == NULL)
				continue;
			if (found++ == 0) {
				key[side] = a;
				key[!side] = b;
			}
		}
	if (found > 0)
		warning("%s is trained on and looks like %s, which validates, "
		    "as do %zu other pairs", key[0], key[1], found - 1);
	free(near);
	free(with);
	free(hash);
	free(by);
}

/* ---- both ---- */

static void
holdout_close(struct holdout *h)
{
	recordings_free(&h->r);
	free(h->sample);
	free(h->recording);
	free(h->class);
}

int
holdout_draw(const struct dataset *d, double part, int says, char *held,
    struct buffer *table)
{
	struct holdout h = { .d = d, .part = part };
	uint32_t all = 0;
	int bad = recordings_add(&h.r, d, dataset_has_frames(d));

	if (bad) {
		holdout_close(&h);
		return bad;
	}
	recordings_find(&h.r);
	holdout_gather(&h);
	holdout_choose(&h);
	buffer_text(table, "#key\tpart\trecording\n");
	for (size_t i = 0; i < h.n; i++) {
		const struct holdout_recording *x = &h.recording[i];

		for (size_t k = 0; k < x->n; k++) {
			held[x->sample[k]] = (char)x->held;
			buffer_printf(table, "%s\t%s\t%s\n",
			    h.r.sample[x->sample[k]].key, x->held ? "val" :
			    "train", x->key);
		}
		all += x->held ? (uint32_t)x->n : 0;
	}
	if (all == 0) {
		bad = fail("%s: no class has two recordings, of which one "
		    "could validate (wanted --val=DIR or --val=none)",
		    text_quote(dataset_path(d)));
	} else if (says) {
		holdout_note(&h);
		holdout_warn_numbers(&h, held);
		holdout_warn_near(&h, held);
	}
	holdout_close(&h);
	return bad;
}

/* Add both sets to ${r}.  Return 0, or -1 if a KEY.json cannot be read. */
static int
holdout_add(struct recordings *r, const struct dataset *train,
    const struct dataset *val, int json)
{
	struct error ignored = { "" }, *before = fail_into(&ignored);
	int bad = recordings_add(r, train, json) != 0 ||
	    recordings_add(r, val, json) != 0;

	fail_into(before);
	return bad ? -1 : 0;
}

void
holdout_compare(const struct dataset *train, const struct dataset *val)
{
	struct recordings r = { 0 };
	size_t shared = 0;
	int json = dataset_has_frames(train) && dataset_has_frames(val) &&
	    dataset_samples(train) + dataset_samples(val) <= JSON_SAMPLES;
	const char *key[2] = { NULL };

	if (holdout_add(&r, train, val, json) != 0) {
		recordings_free(&r);
		holdout_add(&r, train, val, 0);
	}
	recordings_find(&r);
	for (size_t i = dataset_samples(train); i < r.n; i++) {
		uint32_t first = r.sample[i].first;

		if (r.sample[first].set != 0)
			continue;
		if (shared++ == 0) {
			key[0] = r.sample[first].key;
			key[1] = r.sample[i].key;
		}
	}
	if (shared > 0)
		warning("%s of %s is of one recording with %s, which is "
		    "trained on, as %zu other%s: the accuracy will be too good",
		    key[1], text_quote(dataset_path(val)), key[0], shared - 1,
		    shared == 2 ? " is" : "s are");
	recordings_free(&r);
}
