/* Visits and weights of imbalanced classes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/table.h"
#include "base/text.h"
#include "data/class_balance.h"

/* ---- visits ---- */

/*
 * Visits are rounded in units of 2^-20.  pow differs between libraries in the
 * last bits, which hosts of a run must not see.
 */
#define FINE 20

uint32_t
class_balance_count(const struct class_balance *b, uint32_t c)
{
	return b->first[c + 1] - b->first[c];
}

/* Sort the samples by class. */
static void
class_balance_sort(struct class_balance *b, const struct dataset *d)
{
	uint32_t *at = xcalloc((size_t)b->classes + 1, sizeof(*at));

	for (uint32_t i = 0; i < b->samples; i++)
		b->first[dataset_sample(d, i).label + 1]++;
	for (uint32_t c = 0; c < b->classes; c++)
		b->first[c + 1] += b->first[c];
	memcpy(at, b->first, b->classes * sizeof(*at));
	for (uint32_t i = 0; i < b->samples; i++)
		b->member[at[dataset_sample(d, i).label]++] = i;
	free(at);
}

/* Round the visits of all classes, by largest remainders. */
static void
class_balance_share(struct class_balance *b, double power)
{
	uint64_t *exact = xcalloc(b->classes, sizeof(*exact));
	uint32_t left = b->samples;
	double sum = 0;

	for (uint32_t c = 0; c < b->classes; c++)
		if (class_balance_count(b, c) > 0)
			sum += pow(class_balance_count(b, c), 1 - power);
	for (uint32_t c = 0; c < b->classes; c++) {
		if (class_balance_count(b, c) > 0)
			exact[c] = (uint64_t)(pow(class_balance_count(b, c),
			    1 - power) / sum * b->samples * (1 << FINE) + 0.5);
		b->visits[c] = (uint32_t)(exact[c] >> FINE);
		left -= b->visits[c];
	}
	while (left > 0) {
		uint32_t best = 0;

		for (uint32_t c = 1; c < b->classes; c++)
			if ((exact[c] & ((1 << FINE) - 1)) >
			    (exact[best] & ((1 << FINE) - 1)))
				best = c;
		exact[best] = 0;
		b->visits[best]++;
		left--;
	}
	free(exact);
}

struct class_balance *
class_balance_new(const struct dataset *d, double power)
{
	struct class_balance *b = xcalloc(1, sizeof(*b));

	b->classes = (uint32_t)dataset_classes(d);
	b->samples = dataset_samples(d);
	b->first = xcalloc((size_t)b->classes + 1, sizeof(*b->first));
	b->member = xcalloc((size_t)b->samples + 1, sizeof(*b->member));
	b->visits = xcalloc(b->classes, sizeof(*b->visits));
	class_balance_sort(b, d);
	class_balance_share(b, power);
	return b;
}

void
class_balance_free(struct class_balance *b)
{
	if (b == NULL)
		return;
	free(b->first);
	free(b->member);
	free(b->visits);
	free(b);
}

/* Write the visits of class ${c} in ${epoch} to ${to}.  ${scratch} has room for
 * its samples. */
static void
class_balance_visit(const struct class_balance *b, uint32_t c, uint64_t seed,
    uint64_t epoch, uint32_t *scratch, uint32_t *to)
{
	uint32_t first = b->first[c], n = class_balance_count(b, c);
	uint64_t visit = epoch * b->visits[c];

	for (uint32_t i = 0; i < b->visits[c]; i++, visit++) {
		if (i == 0 || visit % n == 0)
			rng_shuffle_class(seed, (uint32_t)(visit / n), first, n,
			    scratch);
		to[i] = b->member[first + scratch[visit % n]];
	}
}

void
class_balance_order(const struct class_balance *b, uint64_t seed,
    uint64_t epoch, uint32_t *order)
{
	uint32_t *visited = xcalloc((size_t)b->samples + 1, sizeof(*visited));
	uint32_t *scratch = xcalloc((size_t)b->samples + 1, sizeof(*scratch));
	uint32_t at = 0;

	for (uint32_t c = 0; c < b->classes; at += b->visits[c++])
		class_balance_visit(b, c, seed, epoch, scratch, visited + at);
	rng_shuffle(seed, (uint32_t)epoch, b->samples, order);
	for (uint32_t i = 0; i < b->samples; i++)
		order[i] = visited[order[i]];
	free(scratch);
	free(visited);
}

/* ---- weights ---- */

/* Return 0, or -1 if no class that is visited has a weight. */
static int
class_weights_normalize(const struct class_balance *b, double *exact,
    float *weight)
{
	double sum = 0;

	for (uint32_t c = 0; c < b->classes; c++)
		sum += exact[c] * b->visits[c];
	for (uint32_t c = 0; c < b->classes; c++)
		weight[c] = (float)(exact[c] / sum * b->samples);
	return sum > 0 ? 0 : -1;
}

int
class_weights_power(const char *text, double *power)
{
	const char *inverse = "inverse:";

	if (!text_starts(text, inverse))
		return strcmp(text, "inverse") == 0 ? -1 : 0;
	return text_real(text + strlen(inverse), 0, 1, power) == 0 ? 1 : -1;
}

void
class_weights_inverse(const struct class_balance *b, double power,
    float *weight)
{
	double *exact = xcalloc(b->classes, sizeof(*exact));

	for (uint32_t c = 0; c < b->classes; c++)
		exact[c] = pow(fmax(class_balance_count(b, c), 1), -power);
	class_weights_normalize(b, exact, weight);
	free(exact);
}

/* Set the class and its weight of a row.  ${exact} is below 0 for a class that
 * has none yet. */
static int
class_weights_read_row(const struct table *t, size_t row,
    const struct class_list *c, double *exact)
{
	const char *name = table_text(t, row, "class");
	const char *value = table_text(t, row, "weight");
	int i;

	if (name == NULL || value == NULL)
		return -1;
	if ((i = class_find(c, name)) < 0)
		return fail("%s: line %d: class %s is not among the %zu "
		    "classes", t->path, t->line[row], text_quote(name), c->n);
	if (exact[i] >= 0)
		return fail("%s: line %d: class %s is listed twice", t->path,
		    t->line[row], text_quote(name));
	if (text_real(value, 0, 1e6, &exact[i]) != 0)
		return fail("%s: line %d: weight %s (wanted a number from 0 to "
		    "1e6)", t->path, t->line[row], text_quote(value));
	return 0;
}

int
class_weights_parse(const char *what, const char *text,
    const struct class_list *c, const struct class_balance *b, float *weight)
{
	struct table *t = table_parse(what, text);
	double *exact = xcalloc(c->n + 1, sizeof(*exact));
	int bad = t == NULL ? -1 : 0;

	for (size_t i = 0; i < c->n; i++)
		exact[i] = -1;
	for (size_t i = 0; !bad && i < t->rows; i++)
		bad = class_weights_read_row(t, i, c, exact);
	for (size_t i = 0; !bad && i < c->n; i++)
		if (exact[i] < 0)
			bad = fail("%s: class %s has no weight (wanted a row "
			    "for each of %zu classes)", t->path,
			    text_quote(c->name[i]), c->n);
	if (!bad && class_weights_normalize(b, exact, weight) != 0)
		bad = fail("%s: the weight of every class with samples is 0 "
		    "(wanted one above 0)", t->path);
	free(exact);
	table_free(t);
	return bad;
}

struct hash128
class_weights_hash(const float *weight, uint32_t n)
{
	struct buffer b = { 0 };
	struct hash128 h;

	/* As text, the hash does not depend on the order of bytes. */
	for (uint32_t c = 0; c < n; c++)
		buffer_printf(&b, "%.9g\n", (double)weight[c]);
	h = hash128(b.data, b.n);
	buffer_free(&b);
	return h;
}
