/* Counts of samples by class.  Labels are stored and sorted at the end,
 * because they can be large and sparse if no list of classes is given. */
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "shard/tally.h"

#define TALLY_MAX 400		/* maximum bytes of the list of classes */

struct tally_class { int label; size_t n; };

static void
tally_label(struct tally *t, int label)
{
	t->label = array_reserve(t->label, t->n, &t->cap, sizeof(*t->label));
	t->label[t->n++] = label;
}

/* A class may occur in several intervals of a sample; count it once. */
void
tally_add(struct tally *t, const struct sample *s)
{
	size_t first = t->n;

	t->defective += (s->flags & (SHARD_TRUNCATED | SHARD_DAMAGED)) != 0;
	if (s->label >= 0)
		tally_label(t, s->label);
	for (int k = 0; k < s->nlabels; k++) {
		size_t i = first;

		while (i < t->n && t->label[i] != s->labels[k].class)
			i++;
		if (i == t->n)
			tally_label(t, s->labels[k].class);
	}
	t->unlabeled += t->n == first;
}

uint64_t *
tally_counts(const struct tally *t, size_t classes)
{
	uint64_t *n = xcalloc(classes + 1, sizeof(*n));

	for (size_t i = 0; i < t->n; i++)
		if ((size_t)t->label[i] < classes)
			n[t->label[i]]++;
	return n;
}

void
tally_free(struct tally *t)
{
	free(t->label);
	*t = (struct tally){ 0 };
}

static int
tally_order(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

/*
 * Return the classes to print, ${*n} of them, by number: those with a name, and
 * those that occur.  The caller frees them.
 */
static struct tally_class *
tally_classes(struct tally *t, size_t named, size_t *n)
{
	struct tally_class *c = xcalloc(named + t->n + 1, sizeof(*c));
	size_t classes = named;

	for (size_t i = 0; i < named; i++)
		c[i].label = (int)i;
	if (t->n > 0)
		qsort(t->label, t->n, sizeof(*t->label), tally_order);
	for (size_t i = 0; i < t->n; i++) {
		size_t k = (size_t)t->label[i];

		if (k >= named) {
			if (classes == named ||
			    c[classes - 1].label != t->label[i])
				c[classes++].label = t->label[i];
			k = classes - 1;
		}
		c[k].n++;
	}
	*n = classes;
	return c;
}

/* Find the extremes in the same pass in which the list is formatted, until
 * it is too long. */
void
tally_text(struct tally *t, const struct class_list *classes,
    struct buffer *to)
{
	size_t n, least = 0, largest = 0;
	struct tally_class *c = tally_classes(t, classes->n, &n);
	struct buffer all = { 0 };
	char number[2][16];

	for (size_t i = 0; i < n; i++) {
		if (all.n < TALLY_MAX)
			buffer_printf(&all, "%s%s: %zu", i > 0 ? ", " : "",
			    text_quote(class_name(classes, c[i].label,
			    number[0])), c[i].n);
		least = c[i].n < c[least].n ? i : least;
		largest = c[i].n > c[largest].n ? i : largest;
	}
	if (n > 0 && all.n < TALLY_MAX)
		buffer_printf(to, ", %zu class%s (%s)", n, n == 1 ? "" : "es",
		    all.data);
	else if (n > 0)
		buffer_printf(to, ", %zu classes (from %s: %zu to "
		    "%s: %zu)", n, text_quote(class_name(classes,
		    c[least].label, number[0])), c[least].n,
		    text_quote(class_name(classes, c[largest].label,
		    number[1])), c[largest].n);
	if (t->unlabeled > 0 && n > 0)
		buffer_printf(to, ", %zu without a class", t->unlabeled);
	buffer_free(&all);
	free(c);
}
