/*
 * Description of sets.
 *
 * Classes are matched by name, so that two sets may number them differently.
 * All samples are sorted by the hash of their video, which makes those of one
 * video neighbors.  Then they are sorted by their perceptual hash, and only the
 * first sample of each hash enters the search for near ones.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/names.h"
#include "base/table.h"
#include "base/text.h"
#include "shard/near.h"
#include "shard/describe.h"
#include "shard/shard_query.h"

/* Values, such as sizes, and the number of samples with each. */
struct describe_counts {
	struct describe_count { uint32_t a, b; size_t n; } *item;
	size_t n, cap;
};

struct describe_class {
	size_t samples;
	uint64_t frames;
	double seconds;
	struct describe_counts size, rate;
	uint64_t *source;		/* hashes of the videos */
	size_t sources, cap;
};

struct describe_item {
	uint64_t hash, bytes;		/* of the video file */
	uint64_t phash;			/* perceptual; 0: none */
	int set, frames;
	size_t number;			/* order of reading */
	char *key, *path, *label;	/* ${label}: names of its classes */
};

struct describe_work {
	int sets, set;			/* number of sets; the current one */
	struct names *names;
	struct describe_class *class[DESCRIBE_SETS];	/* [names] */
	size_t classes, class_cap[DESCRIBE_SETS];
	struct describe_item *item;
	size_t items, cap;
};

/* ---- reading ---- */

static void
describe_count(struct describe_counts *c, int a, int b)
{
	size_t i = 0;

	while (i < c->n && (c->item[i].a != (uint32_t)a ||
	    c->item[i].b != (uint32_t)b))
		i++;
	if (i == c->n) {
		c->item = array_reserve(c->item, i, &c->cap, sizeof(*c->item));
		c->item[c->n++] = (struct describe_count){ (uint32_t)a,
			(uint32_t)b, 0 };
	}
	c->item[i].n++;
}

/* Return the statistics of the class ${name} in the current set. */
static struct describe_class *
describe_class_of(struct describe_work *w, const char *name)
{
	long i = names_find(w->names, name);

	if (i < 0) {
		i = names_add(w->names, name);
		for (int k = 0; k < w->sets; k++) {
			w->class[k] = array_reserve(w->class[k], w->classes,
			    &w->class_cap[k], sizeof(*w->class[k]));
			w->class[k][i] = (struct describe_class){ 0 };
		}
		w->classes++;
	}
	return &w->class[w->set][i];
}

static double
describe_seconds(const struct sample *s)
{
	if (s->time != NULL)
		return s->frames > 0 ? s->time[s->frames - 1] / 1e4 : 0;
	return s->fps.num > 0 ? (double)s->frames * s->fps.den / s->fps.num : 0;
}

static void
describe_add(struct describe_work *w, const char *class, const struct sample *s)
{
	struct describe_class *c = describe_class_of(w, class);

	c->samples++;
	c->frames += (uint64_t)s->frames;
	c->seconds += describe_seconds(s);
	describe_count(&c->size, s->width, s->height);
	describe_count(&c->rate, s->fps.num, s->fps.den);
	c->source = array_reserve(c->source, c->sources, &c->cap,
	    sizeof(*c->source));
	c->source[c->sources++] = s->source_hash;
}

static void
describe_sample(struct describe_work *w, const struct class_list *names,
    const struct sample *s)
{
	struct buffer label = { 0 };
	char number[16];

	if (s->label >= 0)
		buffer_text(&label, class_name(names, s->label, number));
	for (int k = 0; k < s->nlabels; k++) {
		const char *name = class_name(names, s->labels[k].class,
		    number);
		int again = 0;

		for (int j = 0; j < k; j++)
			again |= s->labels[j].class == s->labels[k].class;
		if (again)
			continue;
		describe_add(w, name, s);
		buffer_printf(&label, "%s%s", label.n > 0 ? "," : "", name);
	}
	if (s->nlabels == 0)
		describe_add(w, s->label >= 0 ? label.data : "-", s);
	w->item = array_reserve(w->item, w->items, &w->cap, sizeof(*w->item));
	w->item[w->items] = (struct describe_item){ s->source_hash,
		s->source_bytes, s->phash, w->set, s->frames, w->items,
		xstrdup(s->key), xstrdup(s->source),
		xstrdup(label.n > 0 ? label.data : "-") };
	w->items++;
	buffer_free(&label);
}

static int
describe_shard(const struct shard *s, const struct class_list *names, void *arg)
{
	struct describe_work *w = arg;
	int result = 0;

	/* Classes without a sample are counted, too. */
	for (size_t c = 0; c < names->n; c++)
		describe_class_of(w, names->name[c]);
	for (uint32_t i = 0; i < s->footer.samples && result == 0; i++) {
		char key[KEY_MAX + 1];
		struct sample *m = shard_sample_at(s, i, key, &result);

		if (m == NULL)
			break;
		describe_sample(w, names, m);
		sample_free(m);
	}
	return result;
}

/* ---- classes ---- */

static int
describe_by_hash(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static size_t
describe_distinct(uint64_t *v, size_t n)
{
	size_t distinct = 0;

	if (n > 0)
		qsort(v, n, sizeof(*v), describe_by_hash);
	for (size_t i = 0; i < n; i++)
		distinct += i == 0 || v[i] != v[i - 1];
	return distinct;
}

static int
describe_by_count(const void *a, const void *b)
{
	const struct describe_count *x = a, *y = b;

	return x->n != y->n ? (x->n < y->n ? 1 : -1) : x->a != y->a ?
	    (x->a < y->a ? -1 : 1) : (x->b > y->b) - (x->b < y->b);
}

/* Append "320x240:12,340x256:3": values with their numbers of samples, the most
 * frequent first. */
static void
describe_print_counts(struct describe_counts *c, char between, struct buffer *b)
{
	enum { MAX = 5 };

	if (c->n > 0)
		qsort(c->item, c->n, sizeof(*c->item), describe_by_count);
	buffer_text(b, c->n > 0 ? "\t" : "\t-");
	for (size_t i = 0; i < c->n && i < MAX; i++)
		buffer_printf(b, "%s%u%c%u:%zu", i > 0 ? "," : "", c->item[i].a,
		    between, c->item[i].b, c->item[i].n);
	if (c->n > MAX)
		buffer_text(b, ",...");
}

static void
describe_print_class(struct describe_class *d, const char *name,
    const char *dir, struct buffer *b)
{
	table_put(b, name);
	table_put(b, dir);
	buffer_printf(b, "\t%zu\t%.2f\t%llu", d->samples, d->seconds,
	    (unsigned long long)d->frames);
	describe_print_counts(&d->size, 'x', b);
	describe_print_counts(&d->rate, '/', b);
	buffer_printf(b, "\t%zu\n", describe_distinct(d->source, d->sources));
}

static void
describe_print_classes(struct describe_work *w, const char *const *dir,
    struct buffer *b, struct describe_report *r)
{
	enum { NAMES = 3 };

	buffer_text(b, "#class\tset\tsamples\tseconds\tframes\tsizes\trates\t"
	    "sources\n");
	r->classes = w->classes;
	for (size_t c = 0; c < w->classes; c++) {
		const char *name = names_text(w->names, c);
		int has = 0;

		for (int k = 0; k < w->sets; k++)
			has += w->class[k][c].samples > 0;
		for (int k = 0; k < w->sets && has > 0; k++)
			describe_print_class(&w->class[k][c], name, dir[k], b);
		if (has < w->sets && r->lacking++ < NAMES)
			buffer_printf(&r->names, "%s%s", r->names.n > 0 ? ", " :
			    "", text_quote(name));
	}
	if (r->lacking > NAMES)
		buffer_text(&r->names, ", ...");
}

/* ---- videos that occur twice ---- */

/* Two samples, and the different bits of their perceptual hashes; -1: they are
 * from one video. */
struct describe_pair { struct describe_item a, b; int distance; };

struct describe_pairs { struct describe_pair *pair; size_t n, cap; };

static int
describe_by_video(const void *a, const void *b)
{
	const struct describe_item *x = a, *y = b;

	return x->hash != y->hash ? (x->hash < y->hash ? -1 : 1) :
	    x->bytes != y->bytes ? (x->bytes < y->bytes ? -1 : 1) :
	    (x->number > y->number) - (x->number < y->number);
}

/* Different labels first, then pairs of two sets, then in the order of the
 * samples. */
static int
describe_by_weight(const void *a, const void *b)
{
	const struct describe_pair *x = a, *y = b;
	int dx = strcmp(x->a.label, x->b.label) != 0;
	int dy = strcmp(y->a.label, y->b.label) != 0;
	int sx = x->a.set != x->b.set, sy = y->a.set != y->b.set;

	return dx != dy ? dy - dx : sx != sy ? sy - sx :
	    x->a.number != y->a.number ? (x->a.number < y->a.number ? -1 : 1) :
	    (x->b.number > y->b.number) - (x->b.number < y->b.number);
}

/* Append a pair, the sample that was read first in front. */
static void
describe_add_pair(struct describe_pairs *to, const struct describe_item *a,
    const struct describe_item *b, int distance)
{
	to->pair = array_reserve(to->pair, to->n, &to->cap, sizeof(*to->pair));
	to->pair[to->n++] = a->number < b->number ?
	    (struct describe_pair){ *a, *b, distance } :
	    (struct describe_pair){ *b, *a, distance };
}

static int
describe_one_video(const struct describe_item *a, const struct describe_item *b)
{
	return a->hash == b->hash && a->bytes == b->bytes &&
	    a->bytes > 0;		/* 0: unknown */
}

static void
describe_find_equal(struct describe_work *w, struct describe_pairs *to)
{
	size_t first = 0;

	if (w->items > 0)
		qsort(w->item, w->items, sizeof(*w->item), describe_by_video);
	for (size_t i = 1; i < w->items; i++)
		if (describe_one_video(&w->item[first], &w->item[i]))
			describe_add_pair(to, &w->item[first], &w->item[i], -1);
		else
			first = i;
}

static int
describe_by_phash(const void *a, const void *b)
{
	const struct describe_item *x = a, *y = b;

	return x->phash != y->phash ? (x->phash < y->phash ? -1 : 1) :
	    (x->number > y->number) - (x->number < y->number);
}

static void
describe_find_near(struct describe_work *w, struct describe_pairs *to)
{
	uint64_t *hash = xcalloc(w->items + 1, sizeof(*hash));
	size_t *first = xcalloc(w->items + 1, sizeof(*first)), found;
	struct near_pair *near;
	uint32_t n = 0;

	if (w->items > 0)
		qsort(w->item, w->items, sizeof(*w->item), describe_by_phash);
	for (size_t i = 0; i < w->items; i++) {
		const struct describe_item *m = &w->item[i];

		if (m->phash == 0)
			continue;
		if (n > 0 && hash[n - 1] == m->phash) {
			if (!describe_one_video(&w->item[first[n - 1]], m))
				describe_add_pair(to, &w->item[first[n - 1]], m,
				    0);
			continue;
		}
		hash[n] = m->phash;
		first[n++] = i;
	}
	found = near_find(hash, n, &near);
	for (size_t i = 0; i < found; i++) {
		const struct describe_item *a = &w->item[first[near[i].a]];
		const struct describe_item *b = &w->item[first[near[i].b]];

		if (!describe_one_video(a, b))
			describe_add_pair(to, a, b, near[i].distance);
	}
	free(near);
	free(first);
	free(hash);
}

static void
describe_print_pair(const struct describe_pair *p, const char *const *dir,
    struct buffer *b)
{
	const struct describe_item *side[] = { &p->a, &p->b };

	/* Samples of other lengths are parts of one video, or were extracted
	 * with other settings. */
	if (p->distance >= 0)
		buffer_printf(b, "near\t%d", p->distance);
	else
		buffer_printf(b, "%s\t-", p->a.frames == p->b.frames ?
		    "equal" : "part");
	for (int i = 0; i < 2; i++) {
		table_put(b, dir[side[i]->set]);
		table_put(b, side[i]->key);
		table_put(b, side[i]->label);
	}
	for (int i = 0; i < 2; i++)
		table_put(b, side[i]->path);
	buffer_text(b, "\n");
}

static void
describe_print_pairs(struct describe_work *w, const char *const *dir,
    struct buffer *b, struct describe_report *r)
{
	struct describe_pairs all = { 0 };

	describe_find_equal(w, &all);
	describe_find_near(w, &all);
	if (all.n > 0)
		qsort(all.pair, all.n, sizeof(*all.pair), describe_by_weight);
	buffer_text(b, "#pair\tdistance\tset\tkey\tclass\tset\tkey\tclass\t"
	    "path\tpath\n");
	for (size_t i = 0; i < all.n; i++) {
		const struct describe_pair *p = &all.pair[i];

		int near = p->distance >= 0, two = p->a.set != p->b.set;

		r->near += near;
		r->pairs += !near;
		r->shared += !near && two;
		r->near_shared += near && two;
		r->contradicting += strcmp(p->a.label, p->b.label) != 0 &&
		    (near || p->a.frames == p->b.frames);
		describe_print_pair(p, dir, b);
	}
	free(all.pair);
}

static void
describe_free(struct describe_work *w)
{
	for (int k = 0; k < w->sets; k++) {
		for (size_t c = 0; c < w->classes; c++) {
			free(w->class[k][c].size.item);
			free(w->class[k][c].rate.item);
			free(w->class[k][c].source);
		}
		free(w->class[k]);
	}
	for (size_t i = 0; i < w->items; i++) {
		free(w->item[i].key);
		free(w->item[i].path);
		free(w->item[i].label);
	}
	free(w->item);
	names_free(w->names);
}

int
describe(const char *const *dir, int sets, FILE *f, struct describe_report *r)
{
	struct describe_work w = { .sets = sets, .names = names_new() };
	struct buffer b = { 0 };
	int result = 0;

	*r = (struct describe_report){ 0 };
	for (w.set = 0; w.set < sets && result == 0; w.set++)
		result = shard_query_each(&(struct shard_query){ .dir =
		    dir[w.set] }, describe_shard, &w);
	if (result == 0) {
		describe_print_classes(&w, dir, &b, r);
		describe_print_pairs(&w, dir, &b, r);
		fwrite(b.data, 1, b.n, f);
	}
	buffer_free(&b);
	describe_free(&w);
	return result;
}
