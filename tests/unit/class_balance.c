/*
 * Balanced classes: epochs have the visits of each class that the formula
 * gives, visits of samples differ by at most 1, orders are functions of seed and
 * epoch, and weights of classes are normalized.
 */
#include <math.h>

#include "data/order.h"
#include "loader_set.h"
#include "tap.h"

enum { SAMPLES = 60, CLASSES = 4, EPOCHS = 7 };

static char root[] = "/tmp/vt-balance.XXXXXX";

static int
one(int sample)
{
	(void)sample;
	return 1;
}

static int
size_of(int sample)
{
	(void)sample;
	return 16;
}

/* Classes of 40, 15, 5 and 0 samples, mixed. */
static int
label_of(int sample)
{
	int i = sample * 7 % SAMPLES;

	return i < 40 ? 0 : i < 55 ? 1 : 2;
}

static void
visits(const struct dataset *d)
{
	static const struct { double power; uint32_t visits[CLASSES]; } want[] = {
		{ 0, { 40, 15, 5, 0 } },
		/* 60 sqrt(n) / sum of roots: 30.52, 18.69, 10.79 */
		{ 0.5, { 30, 19, 11, 0 } },
		{ 1, { 20, 20, 20, 0 } },
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct class_balance *b = class_balance_new(d, want[i].power);
		double sum = sqrt(40) + sqrt(15) + sqrt(5);

		ok(memcmp(b->visits, want[i].visits, sizeof(want[i].visits)) == 0,
		    "power %g: visits %u, %u, %u, %u", want[i].power,
		    b->visits[0], b->visits[1], b->visits[2], b->visits[3]);
		for (int c = 0; c < 3 && want[i].power == 0.5; c++)
			ok(fabs(b->visits[c] - 60 * sqrt(class_balance_count(b,
			    (uint32_t)c)) / sum) < 1,
			    "power 0.5: the visits of class %d are the exact "
			    "number, rounded", c);
		class_balance_free(b);
	}
}

static void
orders(const struct dataset *d)
{
	struct class_balance *b = class_balance_new(d, 0.75);
	struct order *o = order_new(5, SAMPLES, b), *p = order_new(5, SAMPLES, b);
	struct order *q = order_new(6, SAMPLES, b);
	int seen[SAMPLES] = { 0 }, good = 0, same = 0, other = 0, sorted = 0;
	int lo[CLASSES], hi[CLASSES] = { 0 };
	uint32_t last = 0;

	for (uint64_t e = 0; e < EPOCHS; e++) {
		uint32_t n[CLASSES] = { 0 };

		for (uint64_t i = 0; i < SAMPLES; i++) {
			uint32_t s = order_sample(o, e * SAMPLES + i);

			n[label_of((int)s)]++;
			seen[s]++;
			other += s != order_sample(q, e * SAMPLES + i);
			sorted += label_of((int)s) >= label_of((int)last);
			last = s;
		}
		good += memcmp(n, b->visits, sizeof(n)) == 0;
	}
	is(good, EPOCHS, "every epoch has the visits of the balance");
	ok(other > EPOCHS * SAMPLES / 2, "another seed gives another order");
	ok(sorted < EPOCHS * SAMPLES * 9 / 10, "the classes are mixed");
	for (uint64_t k = 0; k < 500; k++) {
		uint64_t g = k * 131 % (EPOCHS * SAMPLES);

		same += order_sample(p, g) == order_sample(o, g);
	}
	is(same, 500, "the order is a function of the clip number");
	for (int c = 0; c < CLASSES; c++)
		lo[c] = EPOCHS * SAMPLES;
	for (int i = 0; i < SAMPLES; i++) {
		int c = label_of(i);

		lo[c] = seen[i] < lo[c] ? seen[i] : lo[c];
		hi[c] = seen[i] > hi[c] ? seen[i] : hi[c];
	}
	for (int c = 0; c < 3; c++)
		ok(hi[c] - lo[c] <= 1 && hi[c] > 0, "class %d: visits of its "
		    "samples differ by at most 1 (%d, %d)", c, lo[c], hi[c]);
	order_free(o);
	order_free(p);
	order_free(q);
	class_balance_free(b);
}

static void
weights(const struct dataset *d)
{
	struct class_balance *b = class_balance_new(d, 0);
	struct class_balance *alike = class_balance_new(d, 1);
	const struct class_list *c = dataset_class_list(d);
	const char *text = "#class\tweight\nb\t3\n0\t1\nc\t0\nd\t7\n";
	float w[CLASSES];
	double power = 9;

	class_weights_inverse(b, 1, w);
	near(w[0], 0.5, 1e-6, "inverse:1: a class of 40 of 60 in 3 classes");
	near(w[2], 4, 1e-6, "inverse:1: a class of 5");
	near(w[3], 20, 1e-6, "inverse:1: a class without samples counts as 1");
	class_weights_inverse(b, 0.5, w);
	near((w[0] * 40 + w[1] * 15 + w[2] * 5) / 60, 1, 1e-6,
	    "inverse:0.5: the mean over samples is 1");
	near(w[2] / w[0], sqrt(8), 1e-5, "inverse:0.5: the ratio is the root");
	class_weights_inverse(alike, 1, w);
	near((w[0] + w[1] + w[2]) / 3, 1, 1e-6,
	    "with balanced classes the mean is over their visits");
	is(class_weights_parse("w.tsv", text, c, b, w), 0, "a table is read");
	near(w[1], 3 * 60 / 85.0, 1e-6, "its weights are normalized");
	ok(w[2] == 0 && fabs(w[3] - 7 * 60 / 85.0) < 1e-5,
	    "a weight of 0, and one of a class without samples");
	ok(class_weights_power("inverse:0.5", &power) == 1 && power == 0.5 &&
	    class_weights_power("inverse:1.5", &power) < 0 &&
	    class_weights_power("inverse.tsv", &power) == 0,
	    "powers are told from files");
	class_balance_free(b);
	class_balance_free(alike);
}

int
main(void)
{
	const struct set set = { .dir = "set", .ext = "png", .shards = 2,
		.samples = SAMPLES, .classes = CLASSES, .label = label_of,
		.frames = one, .width = size_of, .height = size_of,
		.frame = set_plain };
	struct dataset *d = set_open(&set, root);

	visits(d);
	orders(d);
	weights(d);
	set_close(d, root);
	return done();
}
