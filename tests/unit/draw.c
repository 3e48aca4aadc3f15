/*
 * Drawing: scales have the expected ticks, confused classes are neighbors, and
 * pictures have the expected texts, sizes and bytes.  A picture drawn again has
 * the same bytes.
 */
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "draw/plot.h"
#include "draw/scale.h"
#include "eval/confusion.h"

#include "png_decode.h"
#include "said.h"
#include "tap.h"

static char dir[] = "/tmp/vt-draw.XXXXXX";

/* ---- scales ---- */

static void
ticks_are(double min, double max, int log, int largest, const char *want)
{
	struct scale s = min < max ? (struct scale){ min, max, log, 0 } :
	    scale_fit(min, max, log, 1);
	struct tick tick[SCALE_TICKS];
	int n = scale_ticks(&s, largest, tick), inside = 1;
	char got[512] = "";

	for (int i = 0; i < n; i++) {
		double at = scale_place(&s, tick[i].value);

		inside &= at > -1e-6 && at < 1 + 1e-6;
		strcat(strcat(got, i > 0 ? " " : ""), tick[i].text);
	}
	is_text(got, want, "ticks are the expected ones");
	if (!inside)
		ok(0, "ticks are within the scale");
}

static void
test_scales(void)
{
	struct scale s;

	ticks_are(0, 358, 0, 9, "0 50 100 150 200 250 300 350");
	ticks_are(0, 1, 0, 6, "0 0.2 0.4 0.6 0.8 1.0");
	ticks_are(-0.013, 0.007, 0, 6, "-0.010 -0.005 0 0.005");
	ticks_are(3.2, 3.4, 0, 4, "3.2 3.3 3.4");
	ticks_are(0, 7e6, 0, 5, "0 2e6 4e6 6e6");
	ticks_are(0, 2.5e-5, 0, 6, "0 5e-6 1e-5 1.5e-5 2e-5 2.5e-5");
	ticks_are(1e-5, 1, 10, 6, "1e-5 0.0001 0.001 0.01 0.1 1");
	ticks_are(1e-9, 1, 10, 5, "1e-8 1e-6 0.0001 0.01 1");
	ticks_are(0.9, 60, 10, 9, "1 2 5 10 20 50");
	ticks_are(60, 1100, 2, 6, "64 128 256 512 1024");
	ticks_are(12288, 12288, 2, 6, "12288");
	ticks_are(224, 224, 0, 6, "224");
	ticks_are(0.0375, 0.0375, 10, 6, "0.0375");
	ticks_are(0, 0, 0, 6, "-1.0 -0.5 0 0.5 1.0");
	near(scale_place(&(struct scale){ 1, 8, 2, 0 }, 2), 1.0 / 3, 1e-12,
	    "scale_place: in base 2, 2 is a third of the way from 1 to 8");
	near(scale_place(&(struct scale){ 1e-3, 1e3, 10, 0 }, 1), 0.5, 1e-12,
	    "scale_place: in base 10, 1 is half-way from 1e-3 to 1e3");
	s = scale_fit(5, 5, 0, 1);
	ok(s.min < 5 && s.max > 5, "a scale of one value has a margin");
	s = scale_fit(0, 0, 0, 1);
	ok(s.min < 0 && s.max > 0, "a scale of one value, 0, has a margin");
	s = scale_fit(0.1, 2, 0, 1);
	ok(s.min == 0 && s.max > 2,
	    "a scale whose data nearly begin at 0 begins at 0");
	s = scale_fit(0.1, 0.1, 10, 1);
	ok(s.min < 0.1 && s.max > 0.1,
	    "a logarithmic scale of one value has a margin");
}

/* ---- order of classes ---- */

/* Return a confusion matrix of rows of digits, "310 040 ...". */
static struct confusion *
counts(const char *rows)
{
	int n = (int)strcspn(rows, " ");
	struct confusion *c = confusion_new(n);

	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++)
			for (int m = rows[i * (n + 1) + k] - '0'; m > 0; m--)
				confusion_add(c, i, k);
	return c;
}

static void
order_is(const char *rows, const char *want, const char *what)
{
	struct confusion *c = counts(rows);
	char got[64] = "";
	int order[16];

	confusion_order(c, order);
	for (int i = 0; i < c->classes; i++)
		got[i] = (char)('0' + order[i]);
	is_text(got, want, what);
	confusion_free(c);
}

static void
test_order(void)
{
	order_is("5", "0", "order: one class");
	order_is("300 030 003", "012",
	    "order: no confusion keeps the numbering");
	order_is("000 000 000", "012", "order: no samples keep the numbering");
	order_is("4001 0400 0040 1004", "0312",
	    "order: two confused classes are neighbours");
	order_is("4000 0401 0040 0004", "0132",
	    "order: confusion in one direction suffices");
	order_is("40010 04001 00400 10040 01004", "03142",
	    "order: pairs follow the lower of their numbers");
	order_is("40200 04020 10402 02040 00104", "02413",
	    "order: a chain 0-2-4 puts its links next to each other");
	/*
	 * 0 is predicted as 2 in 2 of 9 samples. 1 is predicted as 2 in its
	 * only sample.
	 */
	order_is("702 001 009", "021", "order: shares decide, not counts");
	order_is("7020 0010 0091 0007", "0213",
	    "order: both partners are next to the common class");
	order_is("4100 1410 0141 0014", "0123",
	    "order: a band matrix is in order already");
}

/* Large and random: every class occurs once, and groups of five are found. */
static void
test_groups(void)
{
	enum { N = 400, SIZE = 5 };
	struct confusion *c = confusion_new(N);
	int order[N], seen[N] = { 0 }, whole = 0, positions = 0;
	unsigned draw = 1;

	for (int i = 0; i < N; i++)
		for (int k = 0; k < 40; k++) {
			draw = draw * 1103515245u + 12345u;
			/* i and i + 80, 160, ... form a group. */
			confusion_add(c, i, k < 25 ? i :
			    (i % 80) + 80 * (int)(draw >> 16) % 400);
		}
	confusion_order(c, order);
	for (int i = 0; i < N; i++)
		seen[order[i]]++;
	for (int i = 0; i < N; i++)
		positions += seen[i] == 1;
	is(positions, N, "order: each of 400 classes has one place");
	for (int i = 0; i < N; i += SIZE) {
		int same = 1;

		for (int k = 1; k < SIZE; k++)
			same &= order[i + k] % 80 == order[i] % 80;
		whole += same;
	}
	is(whole, N / SIZE,
	    "order: 80 groups of 5 among 400 classes are contiguous");
	confusion_free(c);
}

static void
worst_are(const char *rows, int largest, const char *want)
{
	struct confusion *c = counts(rows);
	struct confused pair[8];
	int n = confusion_worst(c, largest, pair);
	char got[64] = "";

	for (int i = 0; i < n; i++)
		sprintf(got + strlen(got), "%s%d>%d", i > 0 ? " " : "",
		    pair[i].label, pair[i].predicted);
	is_text(got, want, "the most confused pairs are in order");
	confusion_free(c);
}

static void
test_worst(void)
{
	worst_are("300 030 003", 8, "");
	worst_are("312 040 503", 8, "2>0 0>2 0>1");
	worst_are("312 040 503", 2, "2>0 0>2");
	worst_are("220 140 001", 8, "0>1 1>0");
	worst_are("520 042 203", 8, "2>0 1>2 0>1");
	worst_are("0111 1011 1101 1110", 5, "0>1 0>2 0>3 1>0 1>2");
}

/* ---- pictures ---- */

static const char *
in_dir(const char *name)
{
	static char path[2][128];
	static int next;
	char *p = path[next++ % 2];

	snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
	return p;
}

static int
draw_curves(const char *path)
{
	static double x[50], up[50], gap[50];
	const struct plot_series s[] = { { .name = "first & last", .n = 50,
		.x = x, .y = up }, { .n = 50, .x = x, .y = gap, .style = 1 },
		{ .name = "third", .n = 50, .x = x, .y = gap, .style = 2 } };
	struct plot_panel panel[] = {
		{ .y = { "one", 0, 0, 0 }, .series = s, .n = 3 },
		{ .y = { "two", 0, 0, 10 }, .series = s, .n = 2 },
		{ .y = { "none", 0, 0, 0 }, .series = s },
		{ .y = { "far", 1, 2, 0 }, .series = s, .n = 1 } };
	static const double rule[] = { 10, 20 };

	for (int i = 0; i < 50; i++) {
		x[i] = i;
		up[i] = i < 40 ? i * i : 1e300;
		gap[i] = i % 10 == 3 ? NAN : i % 10 == 4 ? -1 : i % 10;
	}
	return plot_draw(&(struct plot){ .title = "A title <of it>",
	    .note = "note", .w = 400, .h = 350, .x = { "epoch", 0, 0, 0 },
	    .rule = rule, .rules = 2, .panel = panel, .panels = 4 }, 1, path);
}

/*
 * Draw two plots side by side, the second without strips.  A line with a shaded
 * range has gaps in both; another has dots.  The names do not fit into one line
 * of the legend.
 */
static int
draw_beside(const char *path)
{
	static const double x[] = { 0, 1, 2, 3, 4 }, y[] = { 1, 2, NAN, 3, 1 },
	    low[] = { 0, 1, 1, NAN, 0 }, high[] = { 2, 9, 2, 4, 2 };
	const struct plot_series s[] = { { .name = "shaded", .n = 5, .x = x,
		.y = y, .low = low, .high = high }, { .name = "with dots", .n = 5,
		.x = x, .y = x, .style = 8, .marks = 1 }, { .name = "none" },
		{ .name = "a name that takes a line of its own, or nearly" } };
	static const struct plot_band band[] = { { -1, 1, 0, "out" },
		{ 1, 3.9, 1, "<in>" }, { 3.9, 9, .5, "no room for this text" } };
	static const struct plot_strip strip[] = { { 0, band, 3 },
		{ 1, band, 0 } };
	const struct plot_panel panel[] = { { .y = { "one", 0, 0, 0 },
		.series = s, .n = 4 } };
	const struct plot p[] = { { .title = "Both", .w = 400, .h = 300,
		.x = { "left", 0, 4, 0 }, .panel = panel, .panels = 1,
		.strip_label = "strips", .strip = strip, .strips = 2 },
		{ .x = { "right", 0, 0, 0 }, .panel = panel, .panels = 1 } };

	return plot_draw(p, 2, path);
}

/*
 * Draw ${n} classes, each predicted as itself 7, 8 or 9 times and as the next
 * one twice.
 */
static int
draw_matrix(int n, int percent, const char *path)
{
	static double count[400 * 400];
	static const char *name[400];
	struct plot_pair pair[PLOT_PAIRS];
	struct plot_matrix m = { .title = "A matrix", .note = NULL,
		.row_label = "label", .column_label = "predicted as",
		.pair_label = "Most confused", .n = n, .name = name,
		.count = count, .percent = percent, .pair = pair };
	int bad;

	memset(count, 0, sizeof(count));
	for (int i = 0; i < n; i++) {
		char *text = xprintf("class %d", 1000 + i);

		name[i] = text;
		count[i * n + i] = 7 + i % 3;
		if (n > 1)
			count[i * n + (i + 1) % n] = 2;
	}
	for (; m.pairs < PLOT_PAIRS && m.pairs < n && n > 1; m.pairs++)
		pair[m.pairs] = (struct plot_pair){ m.pairs,
			(m.pairs + 1) % n };
	bad = plot_matrix(&m, path);
	for (int i = 0; i < n; i++)
		free((char *)name[i]);
	return bad;
}

static int
draw_small(const char *path)
{
	return draw_matrix(3, 1, path);
}

static int
draw_counts(const char *path)
{
	return draw_matrix(3, 0, path);
}

static int
draw_named(const char *path)
{
	return draw_matrix(174, 1, path);
}

static int
draw_large(const char *path)
{
	return draw_matrix(400, 1, path);
}

static int
draw_one(const char *path)
{
	return draw_matrix(1, 1, path);
}

static int
draw_sheet(const char *path)
{
	struct image *small = image_new(200, 10, 1), *large = image_new(300, 40, 3);
	struct plot_clip c[] = { { small, PLOT_RIGHT, "jump", "0.912", NULL,
		"key-1" }, { large, PLOT_WRONG, "a longer name than the frame",
		"0.5", "label: fall", "a folder with a long name/clip-2.mp4" },
		{ small, 0, NULL, NULL, NULL, NULL },
		{ large, 0, NULL, NULL, "note", NULL } };
	int bad = plot_sheet(&(struct plot_sheet){ "A sheet", NULL, c, 4, 3 },
	    path);

	image_free(small);
	image_free(large);
	return bad;
}

static int
draw_empty(const char *path)
{
	return plot_sheet(&(struct plot_sheet){ "A sheet", "of nothing", NULL, 0,
	    0 }, path);
}

/*
 * Draw names with bytes that are not text, controls, and letters that common
 * fonts lack.
 */
static int
draw_odd(const char *path)
{
	static const double count[9] = { 0, 0, 0, 0, 0, 0, 0, 0, 0 };
	static const char *const name[] = { "bad \xff\xc3", "\x1b[31m\ttab\xc2\x85",
		"\xe8\xb5\xb0 \xd0\xb1\xd0\xb5\xd0\xb3 \xf0\x9f\x98\x80" };

	return plot_matrix(&(struct plot_matrix){ .title = "", .row_label = "",
	    .column_label = "", .pair_label = "", .n = 3, .name = name,
	    .count = count }, path);
}

/*
 * Draw with ${draw} as PNG, SVG and PDF, each twice, and compare the bytes,
 * except for SVG, in which cairo numbers the surfaces of a process.
 * The PNG has w x h pixels (0: any), some color and a white margin.  The SVG
 * has each text of ${says}, ended by NULL, on a line of its description.
 */
static void
check_picture(const char *what, int (*draw)(const char *path), int w, int h,
    const char *const *says)
{
	static const char *const kinds[] = { "png", "svg", "pdf" };
	static const char *const magic[] = { "\x89PNG", "<?xml", "%PDF" };

	for (int i = 0; i < 3; i++) {
		char name[2][16];
		struct buffer a = { 0 }, b = { 0 };
		struct image *m;
		double color = 0;
		int margin = 1;

		snprintf(name[0], 16, "a.%s", kinds[i]);
		snprintf(name[1], 16, "b.%s", kinds[i]);
		if (!ok(draw(in_dir(name[0])) == 0 && draw(in_dir(name[1])) == 0 &&
		    file_read(in_dir(name[0]), &a) == 0 &&
		    file_read(in_dir(name[1]), &b) == 0,
		    "%s: can be drawn as %s",
		    what, kinds[i]))
			continue;
		ok(i == 1 || (a.n == b.n && memcmp(a.data, b.data, a.n) == 0),
		    "%s: drawn again, the bytes are the same", what);
		ok(memcmp(a.data, magic[i], strlen(magic[i])) == 0,
		    "%s: the file is a %s", what, kinds[i]);
		for (int k = 0; i == 1 && says[k] != NULL; k++) {
			char *line = xprintf("\n%s\n", says[k]);

			ok(strstr(a.data, line) != NULL,
			    "%s: the description says %s", what,
			    says[k]);
			free(line);
		}
		if (i == 0 && (m = png_decode(a.data, a.n)) != NULL) {
			ok((w == 0 || m->w == w) && (h == 0 || m->h == h),
			    "%s: the PNG has %d x %d pixels", what, m->w, m->h);
			for (int k = 0; k < m->w * m->h; k++) {
				int x = k % m->w, y = k / m->w;

				color += 255 - m->data[3 * k + 1];
				if (x == 0 || y == 0 || x == m->w - 1 ||
				    y == m->h - 1)
					margin &= m->data[3 * k] == 255;
			}
			color /= 255. * m->w * m->h;
			ok(color > 0.0005 && color < 0.6,
			    "%s: %.2f %% of the PNG is colored", what,
			    100 * color);
			ok(margin, "%s: nothing touches the edge", what);
			image_free(m);
		} else if (i == 0) {
			ok(0, "%s: the PNG can be read", what);
		}
		buffer_free(&a);
		buffer_free(&b);
	}
}

/* Draw a matrix of two classes with these names. */
static int
draw_names(const char *one, const char *two, const char *path)
{
	const char *name[] = { one, two };

	return plot_matrix(&(struct plot_matrix){ .title = "", .row_label = "",
		.column_label = "", .n = 2, .name = name,
		.count = (const double[]){ 1, 2, 3, 4 } }, path);
}

/* Names that differ at their ends, and a letter that no font has. */
static void
test_names(void)
{
#define LONG "Pretending to put something that is long and more than long " \
	"underneath something else that is as long, in picture number "
	struct buffer b = { 0 };
	char said[512];

	ok(draw_names(LONG "one", LONG "two", in_dir("a.svg")) == 0 &&
	    file_read(in_dir("a.svg"), &b) == 0 &&
	    strstr(b.data, "\nPretending to put") != NULL &&
	    strstr(b.data, "number one\n") != NULL &&
	    strstr(b.data, "number two\n") != NULL &&
	    strstr(b.data, "\xe2\x80\xa6") != NULL,
	    "long names lose their middle");
	buffer_free(&b);
	said_begin(said, sizeof(said));
	draw_names("a", "\xf4\x8f\xbf\xbd", in_dir("a.svg"));
	draw_names("a", "\xf4\x8f\xbf\xbd", in_dir("a.svg"));
	said_end();
	if (!ok(strstr(said, "(U+10FFFD): it is drawn as a box") != NULL &&
	    strchr(said, '\n') == strrchr(said, '\n'),
	    "a letter that no font has gets one warning"))
		diag("%s", said);
}

static void
test_pictures(void)
{
	static const char *const none[] = { NULL };
	static const char *const curves[] = { "A title &lt;of it&gt;", "note",
		"first &amp; last", "third", "epoch", "one", "two", "far", "40",
		NULL };
	static const char *const beside[] = { "Both", "shaded", "with dots",
		"a name that takes a line of its own, or nearly", "left", "right",
		"one", "strips", "out", "&lt;in&gt;", "8", NULL };
	static const char *const percent[] = { "A matrix", "label",
		"predicted as", "class 1000", "class 1002", "N", "9", "11",
		"78", "82", "22", "18", "% of N", NULL };
	static const char *const number[] = { "class 1001", "7", "8", "9", "2",
		"samples", NULL };
	static const char *const named[] = { "class 1000", "class 1173",
		"Most confused", "2 of 9", "22 %", "20", NULL };
	static const char *const large[] = { "class 1000", "class 1019",
		"class 1020", "Most confused", "2 of 10", "20", NULL };
	static const char *const sheet[] = { "jump", "0.912", "key-1",
		"label: fall", "\xe2\x80\xa6/clip-2.mp4", "0.5", "note", NULL };
	static const char *const empty[] = { "A sheet", "of nothing", NULL };
	static const char *const odd[] = { "bad ??", "?[31m?tab?",
		"\xe8\xb5\xb0 \xd0\xb1\xd0\xb5\xd0\xb3 \xf0\x9f\x98\x80",
		NULL };
	struct buffer b = { 0 };

	check_picture("curves", draw_curves, 800, 700, curves);
	check_picture("two plots side by side", draw_beside, 800, 600, beside);
	ok(file_read(in_dir("a.svg"), &b) == 0 &&
	    strstr(b.data, "no room") == NULL,
	    "two plots side by side: text that does not fit is left out");
	buffer_free(&b);
	check_picture("3 classes", draw_small, 0, 0, percent);
	check_picture("3 classes in counts", draw_counts, 0, 0, number);
	check_picture("174 classes", draw_named, 0, 0, named);
	check_picture("400 classes", draw_large, 0, 0, large);
	ok(file_read(in_dir("a.svg"), &b) == 0 &&
	    strstr(b.data, "\nclass 1100\n") == NULL,
	    "400 classes: only those of the listed pairs are named");
	buffer_free(&b);
	check_picture("1 class", draw_one, 0, 0, none);
	check_picture("a sheet", draw_sheet, 0, 0, sheet);
	check_picture("an empty sheet", draw_empty, 0, 0, empty);
	check_picture("odd names", draw_odd, 0, 0, odd);
}

static void
refused(int bad, const char *wanted, const char *what)
{
	ok(bad != 0 && strstr(said_now(), wanted) != NULL, "%s", what);
}

static void
test_refusals(void)
{
	static const char *const names[] = { "x.jpg", "x", "png", "x.png.gz",
		"x.PNG.txt" };
	char why[512];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		said_begin(why, sizeof(why));
		refused(plot_ready(names[i]), "wanted a name that ends with "
		    ".png, .svg or .pdf", names[i]);
		refused(draw_small(names[i]), names[i],
		    "a name with an unknown suffix is refused by drawing");
		said_end();
	}
	said_begin(why, sizeof(why));
	refused(draw_small("/nowhere/x.svg"), "/nowhere/x.svg",
	    "a picture in an absent folder is refused");
	refused(draw_matrix(0, 1, in_dir("x.png")), "0 classes",
	    "a matrix of 0 classes is refused");
	said_end();
	is(plot_ready("a.png") + plot_ready("b.svg") + plot_ready("c.pdf") +
	    plot_ready("-"), 0, ".png, .svg, .pdf and - can be drawn");
}

#ifdef VT_HAVE_CAIRO
#include "draw/cairo/matrix.h"

static void
test_colors(void)
{
	for (int diagonal = 0; diagonal < 2; diagonal++) {
		double last = 2;
		int darker = 1;

		for (int i = 0; i <= 100; i++) {
			struct color k = matrix_color(i / 100., diagonal);
			double gray = .299 * k.r + .587 * k.g + .114 * k.b;

			darker &= gray < last;
			last = gray;
		}
		ok(darker,
		    "colors darken with the share, %s the diagonal", diagonal ?
		    "on" : "off");
		ok(color_dark(matrix_color(1, diagonal)) &&
		    !color_dark(matrix_color(0, diagonal)),
		    "numbers are white on dark ground only");
	}
}

static void
test_drawing(void)
{
	test_colors();
	test_names();
	test_pictures();
	test_refusals();
}
#else
static void
test_drawing(void)
{
	char why[512];

	said_begin(why, sizeof(why));
	refused(plot_ready("a.png"), "no cairo",
	    "without cairo: plot_ready says so");
	refused(draw_small(in_dir("a.png")), "CAIRO=yes",
	    "without cairo: the message says how to build with it");
	refused(draw_curves(in_dir("a.png")), "no cairo",
	    "without cairo: curves are refused");
	refused(draw_beside(in_dir("a.png")), "no cairo",
	    "without cairo: two plots side by side are refused");
	refused(draw_sheet(in_dir("a.png")), "no cairo",
	    "without cairo: a sheet is refused");
	said_end();
	skip("pictures", "built without cairo");
}
#endif

int
main(void)
{
	if (mkdtemp(dir) == NULL)
		return 2;
	test_scales();
	test_order();
	test_groups();
	test_worst();
	test_drawing();
	for (int i = 0; i < 6; i++) {
		static const char *const left[] = { "a.png", "b.png", "a.svg",
			"b.svg", "a.pdf", "b.pdf" };

		unlink(in_dir(left[i]));
	}
	rmdir(dir);
	return done();
}
