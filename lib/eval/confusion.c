/*
 * The confusion matrix: counts, an order of the classes that shows groups, and
 * the worst pairs.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "eval/confusion.h"

struct confusion *
confusion_new(int classes)
{
	struct confusion *c = xcalloc(1, sizeof(*c));
	size_t n = (size_t)classes;

	c->classes = classes;
	c->count = xcalloc(n * n, sizeof(*c->count));
	c->samples = xcalloc(n, sizeof(*c->samples));
	return c;
}

void
confusion_free(struct confusion *c)
{
	if (c == NULL)
		return;
	free(c->count);
	free(c->samples);
	free(c);
}

static double *
confusion_at(double *matrix, int n, int row, int column)
{
	return &matrix[(size_t)row * (size_t)n + (size_t)column];
}

void
confusion_add(struct confusion *c, int label, int predicted)
{
	++*confusion_at(c->count, c->classes, label, predicted);
	c->samples[label]++;
}

double
confusion_count(const struct confusion *c, int label, int predicted)
{
	return *confusion_at(c->count, c->classes, label, predicted);
}

/* ---- the order ---- */

/* Groups of classes while they are merged.  At first group i holds class i. */
struct confusion_groups {
	int n;
	double *alike;			/* [n][n] similarity of classes,
					 * symmetric */
	double *mean;			/* [n][n] mean similarity of groups */
	int *size, *nearest;		/* [n]; size 0: merged; nearest -1:
					 * none */
	int **member;			/* [n][size] classes, in order */
};

/*
 * Return the group with a higher number that is most similar to group ${i}, or
 * -1.
 */
static int
confusion_nearest(const struct confusion_groups *g, int i)
{
	int best = -1;

	for (int k = i + 1; k < g->n; k++)
		if (g->size[k] > 0 && *confusion_at(g->mean, g->n, i, k) >
		    (best < 0 ? 0 : *confusion_at(g->mean, g->n, i, best)))
			best = k;
	return best;
}

static void
confusion_turn(int *member, int n)
{
	for (int i = 0; i < n / 2; i++) {
		int kept = member[i];

		member[i] = member[n - 1 - i];
		member[n - 1 - i] = kept;
	}
}

/*
 * Reverse the members of ${a} and ${b} where needed, so that the last class of
 * ${a} and the first of ${b} are as similar as possible.
 */
static void
confusion_face(const struct confusion_groups *g, int a, int b)
{
	int *x = g->member[a], *y = g->member[b];
	int x_ends[] = { x[g->size[a] - 1], x[0] };
	int y_ends[] = { y[0], y[g->size[b] - 1] }, best = 0;

	for (int i = 1; i < 4; i++)
		if (*confusion_at(g->alike, g->n, x_ends[i & 1],
		    y_ends[i >> 1]) > *confusion_at(g->alike, g->n,
		    x_ends[best & 1], y_ends[best >> 1]))
			best = i;
	if (best & 1)
		confusion_turn(x, g->size[a]);
	if (best >> 1)
		confusion_turn(y, g->size[b]);
}

/* Merge group ${b} into group ${a}, a < b. */
static void
confusion_join(struct confusion_groups *g, int a, int b)
{
	int na = g->size[a], nb = g->size[b];

	confusion_face(g, a, b);
	g->member[a] = xrealloc(g->member[a], (size_t)(na + nb), sizeof(int));
	memcpy(g->member[a] + na, g->member[b], (size_t)nb * sizeof(int));
	free(g->member[b]);
	g->member[b] = NULL;
	g->size[a] = na + nb;
	g->size[b] = 0;
	for (int k = 0; k < g->n; k++) {
		double mean = (na * *confusion_at(g->mean, g->n, a, k) +
		    nb * *confusion_at(g->mean, g->n, b, k)) / (na + nb);

		*confusion_at(g->mean, g->n, a, k) = *confusion_at(g->mean,
		    g->n, k, a) = mean;
	}
	/*
	 * A mean of two similarities is at most the larger one.  So only groups
	 * whose nearest was ${a} or ${b} need a new search.
	 */
	for (int k = 0; k < g->n; k++)
		if (g->size[k] > 0 && (k == a || g->nearest[k] == a ||
		    g->nearest[k] == b))
			g->nearest[k] = confusion_nearest(g, k);
}

static void
confusion_groups_open(struct confusion_groups *g, const struct confusion *c)
{
	size_t n = (size_t)c->classes;

	g->n = c->classes;
	g->alike = xcalloc(n * n, sizeof(*g->alike));
	g->mean = xcalloc(n * n, sizeof(*g->mean));
	g->size = xcalloc(n, sizeof(*g->size));
	g->nearest = xcalloc(n, sizeof(*g->nearest));
	g->member = xcalloc(n, sizeof(*g->member));
	for (int i = 0; i < g->n; i++)
		for (int k = 0; k < g->n; k++) {
			double there = confusion_count(c, i, k);
			double back = confusion_count(c, k, i);

			/*
			 * alike[i][k] = share of i predicted as k + share of k
			 * predicted as i
			 */
			if (i != k && there > 0)
				*confusion_at(g->alike, g->n, i, k) += there /
				    c->samples[i];
			if (i != k && back > 0)
				*confusion_at(g->alike, g->n, i, k) += back /
				    c->samples[k];
		}
	memcpy(g->mean, g->alike, n * n * sizeof(*g->mean));
	for (int i = 0; i < g->n; i++) {
		g->member[i] = xmalloc(sizeof(int));
		g->member[i][0] = i;
		g->size[i] = 1;
	}
	for (int i = 0; i < g->n; i++)
		g->nearest[i] = confusion_nearest(g, i);
}

void
confusion_order(const struct confusion *c, int *order)
{
	struct confusion_groups g;
	int n = 0;

	confusion_groups_open(&g, c);
	for (;;) {
		int best = -1;

		for (int i = 0; i < g.n; i++)
			if (g.size[i] > 0 && g.nearest[i] >= 0 && (best < 0 ||
			    *confusion_at(g.mean, g.n, i, g.nearest[i]) >
			    *confusion_at(g.mean, g.n, best, g.nearest[best])))
				best = i;
		if (best < 0)
			break;
		confusion_join(&g, best, g.nearest[best]);
	}
	for (int i = 0; i < g.n; i++) {
		/*
		 * A group and its reverse are equally good: begin with the
		 * lower class.
		 */
		if (g.size[i] > 1 &&
		    g.member[i][0] > g.member[i][g.size[i] - 1])
			confusion_turn(g.member[i], g.size[i]);
		for (int k = 0; k < g.size[i]; k++)
			order[n++] = g.member[i][k];
		free(g.member[i]);
	}
	free(g.member);
	free(g.nearest);
	free(g.size);
	free(g.mean);
	free(g.alike);
}

/* ---- the worst pairs ---- */

/*
 * Return 1 if pair ${a} is worse than ${b}, 0 if they are equal or ${b} is
 * worse.
 */
static int
confusion_worse(const struct confusion *c, struct confused a, struct confused b)
{
	double x = confusion_count(c, a.label, a.predicted);
	double y = confusion_count(c, b.label, b.predicted);

	return x != y ? x > y : c->samples[a.label] < c->samples[b.label];
}

int
confusion_worst(const struct confusion *c, int largest, struct confused *pair)
{
	int n = 0;

	for (int i = 0; i < c->classes; i++)
		for (int k = 0; k < c->classes; k++) {
			struct confused p = { i, k };
			int to = n < largest ? n : largest;

			if (i == k || confusion_count(c, i, k) == 0)
				continue;
			/*
			 * Insert after the last pair that is at least as bad.
			 */
			while (to > 0 && confusion_worse(c, p, pair[to - 1]))
				to--;
			if (to == largest)
				continue;
			n += n < largest;
			memmove(pair + to + 1, pair + to, (size_t)(n - 1 - to) *
			    sizeof(*pair));
			pair[to] = p;
		}
	return n;
}
