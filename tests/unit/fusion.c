/*
 * Late fusion: scores read back with the same bits, files are matched by their
 * samples or refused with the first difference, and weighted sums and fitted
 * weights equal those computed by hand.
 */
#include <float.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "eval/fusion.h"
#include "said.h"
#include "tap.h"

static char dir[] = "/tmp/vt-fusion.XXXXXX";
static char *path_of_file[64];
static int files;

/* Read a score file with this content; its path is DIR/${name}. */
static int
read_text(struct score_file *f, const char *name, const char *text, char *said)
{
	char *path = path_join(dir, name);
	int status;

	path_of_file[files++] = path;	/* f->path: freed at the end */
	if (commit_text(path, text) != 0)
		exit(EXIT_FAILED);
	said_begin(said, 512);
	status = score_file_read(f, path);
	said_end();
	return status;
}

static void
test_numbers(void)
{
	static const double number[] = { 0, -0.5, 0.1, (double)0.1f, 1e300,
		-1e-300, 123456789, 16777217, DBL_MAX, DBL_MIN, FLT_MAX,
		(double)FLT_MIN, (double)1.17549429e-40f, 1.0 / 3,
		(double)(1.0f / 3) };
	char text[32];
	double back;
	int same = 1;

	for (size_t i = 0; i < sizeof(number) / sizeof(*number); i++)
		if (score_read(score_write(text, number[i]), &back) != 0 ||
		    memcmp(&back, &number[i], sizeof(back)) != 0) {
			diag("%.17g is written %s", number[i], text);
			same = 0;
		}
	ok(same, "scores read back with the same bits");
	is_text(score_write(text, (double)0.1f), "0.100000001",
	    "a float has nine digits");
	ok(score_read("nan", &back) != 0 && score_read("inf", &back) != 0 &&
	    score_read("1x", &back) != 0 && score_read("", &back) != 0,
	    "what is not a finite number is refused");
}

/* ---- matching ---- */

static const char three[] = "# {\"loss\":\"softmax\"}\nkey\tlabel\ta\tb\n"
    "x\t0\t1\t0\ny\t1\t2\t0\nz\t-1\t0\t3\n";

static void
test_reading(void)
{
	static const struct { const char *what, *text, *message; } bad[] = {
		{ "an empty file", "", "bad: empty (wanted a table" },
		{ "a header alone", "# {}\nkey\tlabel\ta\n", "no scores" },
		{ "a row before the header", "x\t0\t1\n",
		    "bad:1: no table of scores (wanted the header key," },
		{ "another table", "#key\tlabels\ta\nx\t0\t1\n",
		    "bad:1: no table of scores" },
		{ "a class twice", "#key\tlabel\ta\ta\nx\t0\t1\t1\n", "bad:1" },
		{ "too few scores", "#key\tlabel\ta\tb\nx\t0\t1\n",
		    "bad:2: 3 cells (wanted 4, as in the header)" },
		{ "too many scores", "#key\tlabel\ta\nx\t0\t1\t2\n",
		    "bad:2: 4 cells (wanted 3, as in the header)" },
		{ "a label above the last class", "#key\tlabel\ta\nx\t1\t1\n",
		    "bad:2: label 1 (wanted 0 to 0" },
		{ "a score that is not a number", "#key\tlabel\ta\nx\t0\t1e\n",
		    "bad:2: score of class a: 1e is not a finite number" },
		{ "a key that is not valid", "#key\tlabel\ta\nx y\t0\t1\n",
		    "bad:2: \"x y\" is not the key" },
		{ "a sample twice", "#key\tlabel\ta\nx\t0\t1\ny\t0\t1\nx\t0\t2\n",
		    "bad:4: sample x is in line 2, too" },
		{ "files joined", "# {}\nkey\tlabel\ta\nx\t0\t1\n# {}\n",
		    "bad:4: a second header" },
		{ "no protocol", "#key\tlabel\ta\nx\t0\t1\n",
		    "bad: no loss in its protocol" },
		{ "files with lines of a protocol joined",
		    "#key\tlabel\ta\nx\t0\t1\n#key\tlabel\ta\n",
		    "bad:3: a second header" },
		{ "a protocol that is cut off", "# {\"loss\":\nkey\tlabel\ta\n",
		    "bad:1: not valid JSON" },
		{ "a protocol with a list", "# {\"loss\":[]}\nkey\tlabel\ta\n",
		    "bad:1: loss is not an item of a protocol" },
		{ "a file cut off", "#key\tlabel\ta\nx\t0\t1\ny\t0\t12",
		    "bad:3: the last line has no end" },
	};
	char said[512];
	struct score_file f;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		is(read_text(&f, "bad", bad[i].text, said), EXIT_DAMAGE,
		    bad[i].what);
		if (!ok(strstr(said, bad[i].message) != NULL,
		    "%s: the message has the place", bad[i].what))
			diag("%s", said);
		score_file_free(&f);
	}
	is(read_text(&f, "good", three, said), 0, "a score file is read");
	ok(f.e.samples == 3 && f.e.classes == 2 && !f.e.label_sets &&
	    f.e.loss == LOSS_SOFTMAX && f.e.sample[1].label == 1 &&
	    f.e.sample[2].label == -1, "samples and labels are right");
	score_file_free(&f);
	is(read_text(&f, "paths", "# {\"loss\":\"softmax\"}\nkey\tlabel\tpath\tb"
	    "\tpath\nx\t0\t1\t0\ta\\\\b c.mp4\ny\t1\t2\t0\t\n", said), 0,
	    "a score file with paths, and a class of this name, is read");
	ok(f.e.classes == 2 && strcmp(f.class.name[0], "path") == 0 &&
	    strcmp(f.e.sample[0].source, "a\\b c.mp4") == 0 &&
	    f.e.sample[1].source == NULL, "its last column has the paths");
	score_file_free(&f);
	is(read_text(&f, "sets", "#key\tlabel\ta\tb\n# loss sigmoid\n"
	    "# labels sets\nx\t0|1\t1\t0\ny\t\t2\t0\nz\t-1\t0\t3\nw\t1\t1\t1\n",
	    said), 0, "a score file of sets of classes is read");
	ok(f.e.label_sets && f.e.loss == LOSS_SIGMOID &&
	    evaluation_has(&f.e.sample[0], 0) == 1 &&
	    evaluation_has(&f.e.sample[0], 1) == 1 &&
	    evaluation_has(&f.e.sample[1], 0) == 0 &&
	    evaluation_has(&f.e.sample[2], 0) == -1 &&
	    evaluation_has(&f.e.sample[3], 0) == 0 &&
	    evaluation_has(&f.e.sample[3], 1) == 1,
	    "sets, an empty set and no label are different");
	score_file_free(&f);
}

static void
test_matching(void)
{
	static const struct { const char *what, *text, *message; } bad[] = {
		{ "another class", "#key\tlabel\ta\tc\n# loss softmax\nx\t0\t1\t0\n",
		    "other: class 1 is c (" },
		{ "more classes", "#key\tlabel\ta\tb\tc\n# loss softmax\nx\t0\t1\t0\t0\n",
		    "other: 3 classes (" },
		{ "another loss", "#key\tlabel\ta\tb\n# loss sigmoid\n"
		    "x\t0\t1\t0\ny\t1\t2\t0\nz\t-1\t0\t3\n",
		    "other: scores of a sigmoid loss (" },
		{ "a missing sample", "#key\tlabel\ta\tb\n# loss softmax\nz\t-1\t0\t3\n"
		    "x\t0\t1\t0\n", "first:4: sample y is not in " },
		{ "one more sample", "#key\tlabel\ta\tb\n# loss softmax\nz\t-1\t0\t3\n"
		    "x\t0\t1\t0\nv\t0\t0\t0\ny\t1\t2\t0\n",
		    "other:5: sample v is not in " },
		{ "another label", "#key\tlabel\ta\tb\n# loss softmax\nz\t-1\t0\t3\n"
		    "y\t0\t1\t0\nx\t0\t2\t0\n",
		    "other:4: sample y has another label than in " },
	};
	struct score_file f[2];
	char said[512];

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		int status;

		read_text(&f[0], "first", three, said);
		read_text(&f[1], "other", bad[i].text, said);
		said_begin(said, sizeof(said));
		status = fusion_match(f, 2);
		said_end();
		is(status, -1, bad[i].what);
		if (!ok(strstr(said, bad[i].message) != NULL,
		    "%s: the message has the first difference", bad[i].what))
			diag("%s", said);
		score_file_free(&f[0]);
		score_file_free(&f[1]);
	}
}

/* ---- combining ---- */

/* Two networks, whose files have the samples in different orders. */
static const char first[] = "# {\"loss\":\"%s\"}\nkey\tlabel\ta\tb\tc\n"
    "x\t0\t1\t2\t-1\ny\t1\t0.5\t0.25\t0\nz\t2\t0\t1\t-2\n";
static const char second[] = "#key\tlabel\ta\tb\tc\n# loss %s\n"
    "z\t2\t0\t-1\t3\nx\t0\t2\t-1\t0\ny\t1\t0\t2\t1\n";

static void
read_both(struct score_file *f, const char *loss)
{
	char said[512], *one = xprintf(first, loss), *two = xprintf(second, loss);

	ok(read_text(&f[0], "first", one, said) == 0 &&
	    read_text(&f[1], "second", two, said) == 0 &&
	    fusion_match(f, 2) == 0, "%s: two files match", loss);
	free(one);
	free(two);
}

/* Return the probability of class ${c} by scores ${s}. */
static double
probability(int sigmoid, const double *s, int c)
{
	return sigmoid ? 1 / (1 + exp(-s[c])) :
	    exp(s[c]) / (exp(s[0]) + exp(s[1]) + exp(s[2]));
}

static void
test_combining(int sigmoid)
{
	static const double a[3][3] = { { 1, 2, -1 }, { .5, .25, 0 },
		{ 0, 1, -2 } };
	static const double b[3][3] = { { 2, -1, 0 }, { 0, 2, 1 }, { 0, -1, 3 } };
	static const double weight[] = { 1, 1.5 };
	const char *loss = sigmoid ? "sigmoid" : "softmax";
	double got[3][3], worst = 0;
	struct score_file f[2];

	read_both(f, loss);
	fusion_combine(FUSION_LOGITS, f, 2, weight, got[0]);
	for (int i = 0; i < 3; i++)
		for (int c = 0; c < 3; c++)
			worst = fmax(worst, fabs(got[i][c] - (a[i][c] +
			    1.5 * b[i][c]) / 2.5));
	near(worst, 0, 1e-14, "logits are the weighted mean of scores");
	fusion_combine(FUSION_PROBABILITIES, f, 2, weight, got[0]);
	worst = 0;
	for (int i = 0; i < 3; i++)
		for (int c = 0; c < 3; c++)
			worst = fmax(worst, fabs(probability(sigmoid, got[i], c) -
			    (probability(sigmoid, a[i], c) + 1.5 *
			    probability(sigmoid, b[i], c)) / 2.5));
	near(worst, 0, 1e-14,
	    "probabilities are the weighted mean of probabilities");
	/* f[0] may receive the result. */
	fusion_combine(FUSION_PROBABILITIES, f, 2, weight, f[0].e.scores);
	ok(memcmp(f[0].e.scores, got, sizeof(got)) == 0,
	    "the result may replace the first scores");
	score_file_free(&f[0]);
	score_file_free(&f[1]);
}

static void
test_fitting(void)
{
	/* By logits with weights w and 1 - w, x is right if w > 1/4 and y if
	 * w < 2/3.  The loss is least where both margins are equal. */
	static const char one[] = "# {\"loss\":\"softmax\"}\nkey\tlabel\ta\tb\n"
	    "x\t0\t3\t0\ny\t1\t1\t0\n";
	static const char two[] = "# {\"loss\":\"softmax\"}\nkey\tlabel\ta\tb\n"
	    "x\t0\t-1\t0\ny\t1\t-2\t0\n";
	struct score_file f[2];
	char said[512];
	struct summary s;
	double weight[2], margin, least = 1e9, want = 0;

	read_text(&f[0], "one", one, said);
	read_text(&f[1], "two", two, said);
	is(fusion_match(f, 2), 0, "two files match");
	for (int i = 0; i <= FUSION_STEPS; i++) {
		double w = (double)i / FUSION_STEPS, loss;

		margin = 3 * w - (1 - w);
		loss = log1p(exp(-margin)) + log1p(exp(w - 2 * (1 - w)));
		if (w > 0.25 && w < 2.0 / 3 && loss < least) {
			least = loss;
			want = w;
		}
	}
	s = fusion_fit(FUSION_LOGITS, f, 2, weight);
	ok(s.value[METRIC_TOP1] == 1 && want > 0, "both samples are right with fitted weights");
	ok(weight[0] == want && weight[1] == 1 - want,
	    "of the best weights, those with the lowest loss are chosen");
	near(s.value[METRIC_LOSS], least / 2, 1e-12, "the loss is that of these weights");
	score_file_free(&f[0]);
	score_file_free(&f[1]);
}

int
main(void)
{
	if (mkdtemp(dir) == NULL)
		return EXIT_FAILED;
	test_numbers();
	test_reading();
	test_matching();
	test_combining(0);
	test_combining(1);
	test_fitting();
	while (files-- > 0) {
		unlink(path_of_file[files]);
		free(path_of_file[files]);
	}
	rmdir(dir);
	return done();
}
