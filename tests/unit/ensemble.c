/*
 * The mean and maximum of views agree with softmax and sigmoid computed here.
 */
#include "graph/metric.h"

#include "tap.h"

enum { VIEWS = 3, CLASSES = 4 };

static const double view[VIEWS][CLASSES] = { { 1.5, -0.5, 0.25, 3 },
	{ -2, 0.5, 0, 0.75 }, { 0.1, 4, -30, 2 } };

static void
joined(enum ensemble how, enum loss_kind kind, double *sum)
{
	for (int v = 0; v < VIEWS; v++) {
		double scores[CLASSES];

		memcpy(scores, view[v], sizeof(scores));
		metric_ensemble_add(how, kind, CLASSES, scores, v == 0, sum);
	}
	metric_ensemble_end(how, kind, CLASSES, VIEWS, sum);
}

/* Return the probability of class ${c} in view ${v}. */
static double
probability(enum loss_kind kind, int v, int c)
{
	double all = 0;

	for (int k = 0; k < CLASSES; k++)
		all += exp(view[v][k]);
	return kind == LOSS_SOFTMAX ? exp(view[v][c]) / all :
	    1 / (1 + exp(-view[v][c]));
}

static void
test_kind(enum loss_kind kind, const char *name)
{
	/* Initial contents of the sum must not count. */
	double mean[CLASSES] = { 9, 9, 9, 9 }, largest[CLASSES] = { 99, 9, 9, 9 };
	double p[CLASSES], worst = 0, all = 0;

	joined(ENSEMBLE_PROBABILITIES, kind, mean);
	metric_probabilities(kind, mean, CLASSES, p);
	for (int c = 0; c < CLASSES; c++)
		worst = fmax(worst, fabs(p[c] - (probability(kind, 0, c) +
		    probability(kind, 1, c) + probability(kind, 2, c)) / 3));
	near(worst, 0, 1e-12, name);
	joined(ENSEMBLE_MAX, kind, largest);
	worst = 0;
	for (int c = 0; c < CLASSES; c++) {
		double most = fmax(probability(kind, 0, c), fmax(probability(
		    kind, 1, c), probability(kind, 2, c)));

		worst = fmax(worst, fabs(largest[c] - (kind == LOSS_SOFTMAX ?
		    log(most) : log(most / (1 - most)))));
	}
	near(worst, 0, 1e-12, "scores of the maximum are ln p or the logit");
	metric_probabilities(kind, largest, CLASSES, p);
	worst = 0;
	for (int c = 0; c < CLASSES; c++)
		all += fmax(probability(kind, 0, c), fmax(probability(kind, 1,
		    c), probability(kind, 2, c)));
	for (int c = 0; c < CLASSES; c++)
		worst = fmax(worst, fabs(p[c] - fmax(probability(kind, 0, c),
		    fmax(probability(kind, 1, c), probability(kind, 2, c))) /
		    (kind == LOSS_SOFTMAX ? all : 1)));
	near(worst, 0, 1e-12,
	    "the maximum of probabilities over views is right");
}

static void
test_scores(void)
{
	double sum[CLASSES], worst = 0;

	joined(ENSEMBLE_SCORES, LOSS_SOFTMAX, sum);
	for (int c = 0; c < CLASSES; c++)
		worst = fmax(worst, fabs(sum[c] - (view[0][c] + view[1][c] +
		    view[2][c]) / 3));
	near(worst, 0, 1e-15, "the mean of scores over views is right");
}

/* Probabilities of 0 and 1 have finite scores, and a NaN is kept. */
static void
test_ends(void)
{
	int finite = 1, kept = 1;

	for (int how = ENSEMBLE_SCORES; how <= ENSEMBLE_MAX; how++)
		for (int kind = LOSS_SOFTMAX; kind <= LOSS_SIGMOID; kind++) {
			double far[2] = { 1e4, -1e4 }, bad[2] = { NAN, 1 };
			double more[2] = { 1, 1 }, sum[2];

			metric_ensemble_add((enum ensemble)how, (enum loss_kind)kind,
			    2, far, 1, sum);
			metric_ensemble_end((enum ensemble)how, (enum loss_kind)kind,
			    2, 1, sum);
			finite &= isfinite(sum[0]) && isfinite(sum[1]) &&
			    sum[0] > sum[1];
			metric_ensemble_add((enum ensemble)how, (enum loss_kind)kind,
			    2, more, 1, sum);
			metric_ensemble_add((enum ensemble)how, (enum loss_kind)kind,
			    2, bad, 0, sum);
			metric_ensemble_end((enum ensemble)how, (enum loss_kind)kind,
			    2, 2, sum);
			kept &= isnan(sum[0]);
		}
	ok(finite, "views with probabilities 0 and 1 have finite scores");
	ok(kept, "a NaN in one view makes the result NaN");
}

int
main(void)
{
	test_kind(LOSS_SOFTMAX,
	    "softmax: the mean of probabilities over views is right");
	test_kind(LOSS_SIGMOID,
	    "sigmoid: the mean of probabilities over views is right");
	test_scores();
	test_ends();
	return done();
}
