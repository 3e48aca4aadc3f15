/* Which classes are predicted as which. */
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

/* ---- the order ---- */

/* Groups of classes while they are joined; group i holds class i at first. */
struct confusion_groups {
	int n;
	double *alike;			/* [n][n] between classes, symmetric */
	double *mean;			/* [n][n] between groups */
	int *size, *nearest;		/* [n]; 0: joined to another; -1: none */
	int **member;			/* [n][size], in their order */
};

/* The group most confused with group ${i}, behind it; -1: none. */
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

/* Turn the members of both so that ${a}'s last and ${b}'s first fit best. */
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

/* Join group ${b} to ${a}, a < b, which keeps its place. */
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

		*confusion_at(g->mean, g->n, a, k) = *confusion_at(g->mean, g->n, k, a) = mean;
	}
	/* A mean is at most the larger of the two: for the others the nearest
	 * stays what it was. */
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
			double there = *confusion_at(c->count, g->n, i, k);
			double back = *confusion_at(c->count, g->n, k, i);

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
		if (g.size[i] > 1 && g.member[i][0] > g.member[i][g.size[i] - 1])
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

/* Whether pair ${a} is worse than ${b}; of equal ones neither is. */
static int
confusion_worse(const struct confusion *c, struct confused a, struct confused b)
{
	double x = *confusion_at(c->count, c->classes, a.label, a.predicted);
	double y = *confusion_at(c->count, c->classes, b.label, b.predicted);

	return x != y ? x > y : c->samples[a.label] < c->samples[b.label];
}

int
confusion_worst(const struct confusion *c, int most, struct confused *pair)
{
	int n = 0;

	for (int i = 0; i < c->classes; i++)
		for (int k = 0; k < c->classes; k++) {
			struct confused p = { i, k };
			int to = n < most ? n : most;

			if (i == k || *confusion_at(c->count, c->classes, i,
			    k) == 0)
				continue;
			/* From behind the last one that is as bad. */
			while (to > 0 && confusion_worse(c, p, pair[to - 1]))
				to--;
			if (to == most)
				continue;
			n += n < most;
			memmove(pair + to + 1, pair + to, (size_t)(n - 1 - to) *
			    sizeof(*pair));
			pair[to] = p;
		}
	return n;
}
