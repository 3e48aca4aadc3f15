/* Compare a list with what was extracted.  Keys of JSON are in byte order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "ingest/compare.h"
#include "ingest/extract_all.h"

/*
 * A video is shorter than stated if it lacks more than two frames and more than
 * this share.  Containers round durations, and count sound.
 */
#define SHORT_FRAMES 2
#define SHORT_SHARE 0.01

/* The result of a row. */
struct compare_row {
	const char *status;		/* NULL: not recorded */
	int kept, hashed;
	uint64_t content;		/* hash of the source and the part */
	int64_t frames;			/* decoded */
	double decoded, claimed;	/* seconds */
};

struct compare { const struct list *l; struct compare_row *row; };

struct compare *
compare_new(const struct list *l)
{
	struct compare *c = xcalloc(1, sizeof(*c));

	c->l = l;
	c->row = xcalloc(l->n, sizeof(*c->row));
	return c;
}

void
compare_free(struct compare *c)
{
	if (c == NULL)
		return;
	free(c->row);
	free(c);
}

void
compare_add(struct compare *c, size_t i, const struct extraction *x)
{
	const struct list_part *p = &c->l->row[i].part;
	char *text = xprintf("%016llx %d %.17g %.17g",
	    (unsigned long long)x->sample.source_hash, (int)p->unit, p->begin,
	    p->end);

	c->row[i] = (struct compare_row){ .status = x->sample.status,
		.kept = x->kept, .hashed = x->hashed,
		.content = hash64(text, strlen(text)),
		.frames = x->account.frames, .decoded = x->account.decoded,
		.claimed = x->info.declared_seconds };
	free(text);
}

/* ---- missing ---- */

void
compare_put_missing(const struct compare *c, struct json_writer *w,
    struct compare_counts *n)
{
	json_open(w, "missing", '[');
	n->missing = 0;
	for (size_t i = 0; i < c->l->n; i++) {
		const struct list_row *r = &c->l->row[i];
		const char *status = c->row[i].status;

		if (c->row[i].kept)
			continue;
		json_open(w, NULL, '{');
		json_put_text(w, "key", r->sample.key);
		json_put_bytes(w, "path", r->path);
		json_put_text(w, "reason", status == NULL ? "not reached" :
		    access(r->path, F_OK) != 0 ? "absent" : status);
		json_close(w);
		n->missing++;
	}
	json_close(w);
}

/* ---- shorter ---- */

/* The stated and the actual length of a video. */
struct compare_stated { const char *by, *unit; double stated, found; };

/*
 * Return 1 if row ${i} is shorter than its list says or, if the list says
 * nothing, than its file says.
 */
static int
compare_is_short(const struct compare *c, size_t i, struct compare_stated *s)
{
	const struct list_part *p = &c->l->row[i].part;
	const struct compare_row *r = &c->row[i];
	double frame = r->frames > 0 ? r->decoded / (double)r->frames : 0;

	if (!r->kept)
		return 0;
	if (p->frames > 0) {
		*s = (struct compare_stated){ "list", "frames",
			(double)p->frames, (double)r->frames };
		return r->frames < p->frames;
	}
	/* A folder of frames has no times. */
	if (r->decoded <= 0)
		return 0;
	if (p->unit == LIST_SECONDS && p->end > 0)
		*s = (struct compare_stated){ "list", "seconds",
			p->end - p->begin, r->decoded - p->begin };
	else
		*s = (struct compare_stated){ "file", "seconds", r->claimed,
			r->decoded };
	return s->stated - s->found > SHORT_FRAMES * frame &&
	    s->stated - s->found > SHORT_SHARE * s->stated;
}

void
compare_put_shorter(const struct compare *c, struct json_writer *w,
    struct compare_counts *n)
{
	json_open(w, "shorter", '[');
	n->shorter = 0;
	for (size_t i = 0; i < c->l->n; i++) {
		const struct list_row *r = &c->l->row[i];
		struct compare_stated s;

		if (!compare_is_short(c, i, &s))
			continue;
		json_open(w, NULL, '{');
		json_put_fixed(w, "found", s.found);
		json_put_text(w, "key", r->sample.key);
		json_put_bytes(w, "path", r->path);
		json_put_fixed(w, "stated", s.stated);
		json_put_text(w, "stated_by", s.by);
		json_put_text(w, "unit", s.unit);
		json_close(w);
		n->shorter++;
	}
	json_close(w);
}

/* ---- duplicates ---- */

static int
compare_by_content(const void *a, const void *b, void *rows)
{
	const struct compare_row *row = rows;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	uint64_t x = row[i].content, y = row[j].content;

	return x != y ? (x > y) - (x < y) : (i > j) - (i < j);
}

/* Rows order[first] to order[last] - 1 have equal content. */
struct compare_group { size_t first, last, row; int differ; };

/* Different labels first, then in the order of the list. */
static int
compare_by_labels(const void *a, const void *b)
{
	const struct compare_group *x = a, *y = b;

	return x->differ != y->differ ? y->differ - x->differ :
	    (x->row > y->row) - (x->row < y->row);
}

static int
compare_differ(const struct compare *c, size_t i, size_t j)
{
	char *a = extract_labels(&c->l->row[i].sample);
	char *b = extract_labels(&c->l->row[j].sample);
	int differ = strcmp(a, b) != 0;

	free(a);
	free(b);
	return differ;
}

static void
compare_put_group(const struct compare *c, const struct compare_group *g,
    const size_t *order, struct json_writer *w)
{
	json_open(w, NULL, '{');
	json_put_bool(w, "different_labels", g->differ);
	json_open(w, "keys", '[');
	for (size_t k = g->first; k < g->last; k++)
		json_put_text(w, NULL, c->l->row[order[k]].sample.key);
	json_close(w);
	json_open(w, "labels", '[');
	for (size_t k = g->first; k < g->last; k++) {
		char *label = extract_labels(&c->l->row[order[k]].sample);

		json_put_text(w, NULL, label);
		free(label);
	}
	json_close(w);
	json_close(w);
}

void
compare_put_duplicates(const struct compare *c, struct json_writer *w,
    struct compare_counts *counts)
{
	size_t *order = xcalloc(c->l->n, sizeof(*order)), n = 0, cap = 0, next;
	struct compare_group *g = NULL;

	counts->duplicates = counts->conflicts = counts->equal = 0;
	counts->rows = (int64_t)c->l->n;
	for (size_t i = 0; i < c->l->n; i++)
		if (c->row[i].hashed)
			order[n++] = i;
	qsort_r(order, n, sizeof(*order), compare_by_content, c->row);
	for (size_t i = 0; i < n; i = next) {
		struct compare_group one = { .first = i, .row = order[i] };

		for (next = i + 1; next < n && c->row[order[next]].content ==
		    c->row[order[i]].content; next++)
			one.differ |= compare_differ(c, order[i], order[next]);
		one.last = next;
		if (next - i < 2)
			continue;
		g = array_reserve(g, (size_t)counts->duplicates, &cap,
		    sizeof(*g));
		g[counts->duplicates++] = one;
		counts->conflicts += one.differ;
		counts->equal += (int64_t)(next - i);
	}
	if (g != NULL)
		qsort(g, (size_t)counts->duplicates, sizeof(*g),
		    compare_by_labels);
	json_open(w, "duplicates", '[');
	for (int64_t k = 0; k < counts->duplicates; k++)
		compare_put_group(c, &g[k], order, w);
	json_close(w);
	free(order);
	free(g);
}
