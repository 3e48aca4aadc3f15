/*
 * The parameters and multiply-adds of the networks in share/models, against
 * tables that the published programs printed and against sums done here by
 * hand.
 */
#include "base/mem.h"
#include "base/table.h"
#include "graph/graph.h"

#include "tap.h"

static struct graph *
model(const char *name, int classes)
{
	char path[128];
	struct graph *g;

	snprintf(path, sizeof(path), "share/models/%s.net", name);
	g = graph_read(path, classes);
	if (g == NULL) {
		printf("Bail out! %s cannot be read\n", path);
		exit(1);
	}
	return g;
}

/*
 * Parameters and multiply-adds of a ResNet of basic blocks, by hand: a stem of
 * ${taps} x ${taps} taps at stride 2 with ${stem} channels, perhaps a pool of
 * stride 2, then ${stages} stages of two blocks, each with twice the channels
 * and half the side of the one before.
 */
struct sum { long long parameters, macs; };

static void
add_conv(struct sum *s, int in, int out, int k, int side)
{
	s->parameters += (long long)in * out * k * k + 2 * out;	/* and its bn */
	s->macs += (long long)in * out * k * k * side * side;
}

static struct sum
basic(int stem, int taps, int pool, int stages, int classes, int t, int side)
{
	struct sum s = { 0, 0 };
	int c = stem;

	side = (side + 1) / 2;
	add_conv(&s, 3, stem, taps, side);
	if (pool)
		side = (side + 1) / 2;
	for (int i = 0; i < stages; i++, c *= 2) {
		int in = i == 0 ? c : c / 2;

		if (i > 0) {
			side = (side + 1) / 2;
			add_conv(&s, in, c, 1, side);	/* the projection */
		}
		add_conv(&s, in, c, 3, side);
		for (int k = 0; k < 3; k++)
			add_conv(&s, c, c, 3, side);
	}
	s.parameters += (long long)c / 2 * classes + classes;
	s.macs += (long long)c / 2 * classes;
	s.macs *= t;
	return s;
}

static void
check_sum(const char *name, int classes, int t, int side, struct sum want)
{
	struct graph *g = model(name, classes);
	struct dims in = { 1, t, side, side, 3 };
	char what[128];

	snprintf(what, sizeof(what), "%s, %d classes: parameters", name, classes);
	is((long long)graph_parameters(g), want.parameters, what);
	snprintf(what, sizeof(what), "%s, %d x %d x %d: multiply-adds", name, t,
	    side, side);
	near(graph_macs(g, &in), (double)want.macs, 0, what);
	graph_free(g);
}

static void
by_hand(void)
{
	static const int shapes[][2] = { { 2, 34 }, { 4, 48 }, { 8, 79 } };

	is(basic(16, 5, 0, 3, 8, 1, 48).parameters, 175896,
	    "the small network has the parameters its file says");
	is(basic(64, 7, 1, 4, 1000, 1, 224).parameters, 11689512,
	    "ResNet-18 has torchvision's");
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		int t = shapes[i][0], side = shapes[i][1];

		check_sum("tsm_tiny", 8, t, side, basic(16, 5, 0, 3, 8, t, side));
		check_sum("tsn_tiny", 8, t, side, basic(16, 5, 0, 3, 8, t, side));
		check_sum("tsm_r18", 174, t, 4 * side,
		    basic(64, 7, 1, 4, 174, t, 4 * side));
		check_sum("tsn_r18", 174, t, 4 * side,
		    basic(64, 7, 1, 4, 174, t, 4 * side));
	}
}

/* The number in the row of ${model}; -1 if there is none. */
static double
stat(const struct table *t, const char *name, const char *column)
{
	int c = table_column(t, column);

	for (size_t r = 0; r < t->rows; r++)
		if (strcmp(t->cell[r][0], name) == 0)
			return strtod(t->cell[r][c], NULL);
	return -1;
}

static void
golden_stats(const char *row, const char *name, int classes, int t)
{
	struct table *stats = table_read(golden_path("model_stats_tsm.tsv"));
	struct graph *g = model(name, classes);
	struct dims in = { 1, t, 224, 224, 3 };
	size_t norms = 0, running = 0;
	char what[128];

	for (int i = 0; i < g->nparam; i++) {
		const struct param *p = &g->param[i];

		if (p->kind == PARAM_SCALE || p->kind == PARAM_OFFSET)
			norms += p->count;
		if (p->kind >= PARAM_MEAN)
			running += p->count;
	}
#define WHAT(s) (snprintf(what, sizeof(what), "%s is %s: %s", name, row, s), what)
	near((double)graph_parameters(g), stat(stats, row, "params"), 0,
	    WHAT("parameters"));
	near((double)norms, stat(stats, row, "bn_params"), 0,
	    WHAT("scales and offsets"));
	near((double)running, stat(stats, row, "bn_running_buffers"), 0,
	    WHAT("running statistics"));
	near(graph_macs(g, &in), stat(stats, row, "macs_224"), 0,
	    WHAT("multiply-adds at 224"));
	in.h = in.w = 256;
	if (stat(stats, row, "macs_256") > 0)
		near(graph_macs(g, &in), stat(stats, row, "macs_256"), 0,
		    WHAT("at 256"));
	graph_free(g);
	table_free(stats);
}

/*
 * The published name as ours: without "base_model.", without the ".net" that a
 * shift puts around its convolution, and new_fc is fc.
 */
static void
rename_key(const char *from, char *to, size_t size)
{
	const char *net;

	if (strncmp(from, "base_model.", 11) == 0)
		from += 11;
	if (strncmp(from, "new_fc", 6) == 0)
		from += 4;
	net = strstr(from, ".net");
	if (net != NULL && (net[4] == '.' || net[4] == '\0'))
		snprintf(to, size, "%.*s%s", (int)(net - from), from, net + 4);
	else
		snprintf(to, size, "%s", from);
}

static void
golden_keys(const char *file, const char *name, int classes)
{
	char path[160], want[128], shape[128];
	struct graph *g = model(name, classes);
	struct table *t;
	int k = 0, differ = 0;

	snprintf(path, sizeof(path), "keys_%s.tsv", file);
	t = table_read(golden_path(path));
	for (size_t r = 0; r < t->rows; r++) {
		const char *key = t->cell[r][0];
		const struct param *p = &g->param[k];
		int at = 0;

		/* A count of batches, which no rule here needs. */
		if (strstr(key, "num_batches_tracked") != NULL)
			continue;
		rename_key(key, want, sizeof(want));
		*shape = '\0';
		for (int i = 0; k < g->nparam && i < p->ndim; i++)
			at += snprintf(shape + at, sizeof(shape) - (size_t)at,
			    "%s%d", i ? "x" : "", p->dim[i]);
		if (k++ < g->nparam && strcmp(p->name, want) == 0 &&
		    strcmp(shape, t->cell[r][1]) == 0 &&
		    (p->kind >= PARAM_MEAN) == (*t->cell[r][2] == 'b'))
			continue;
		if (differ++ == 0)
			diag("%s %s, wanted %s %s", k <= g->nparam ? p->name :
			    "nothing", shape, want, t->cell[r][1]);
	}
	ok(differ == 0 && k == g->nparam && k > 100,
	    "%s has the names, shapes and order of %s (%d)", name, file, k);
	graph_free(g);
	table_free(t);
}

/* "8x64x56x56": frames are images of a batch there. */
static void
image_shape(const struct dims *d, int planar, char *to, size_t size)
{
	if (planar)
		snprintf(to, size, "%dx%dx%dx%d", d->n * d->t, d->c, d->h, d->w);
	else
		snprintf(to, size, "%dx%d", d->n * d->t, d->c);
}

static int
same_layer(const struct graph *g, int i, const struct dims *out,
    char *const *cell)
{
	const struct op *op = &g->op[i];
	const struct dims *in = &out[op->in[0]];
	int conv = op->kind == OP_CONV;
	char name[128], a[64], b[64], k[64] = "-", s[64] = "-", p[64] = "-";

	rename_key(cell[0], name, sizeof(name));
	image_shape(in, conv, a, sizeof(a));
	image_shape(&out[i], conv, b, sizeof(b));
	if (conv) {
		snprintf(k, sizeof(k), "%dx%d", op->k[1], op->k[2]);
		snprintf(s, sizeof(s), "%dx%d", op->s[1], op->s[2]);
		snprintf(p, sizeof(p), "%dx%d", op->p[1], op->p[2]);
	}
	return strcmp(op->name, name) == 0 && strcmp(a, cell[2]) == 0 &&
	    strcmp(b, cell[3]) == 0 && strcmp(k, cell[4]) == 0 &&
	    strcmp(s, cell[5]) == 0 && strcmp(p, cell[6]) == 0 &&
	    g->param[op->param].count == strtoull(cell[8], NULL, 10) &&
	    op_types[op->kind].macs(op, in, &out[i]) == strtod(cell[9], NULL);
}

static void
golden_layers(const char *file, const char *name, int classes, int frames)
{
	char path[160];
	struct graph *g = model(name, classes);
	struct dims in = { 1, frames, 224, 224, 3 };
	struct dims *out = xcalloc((size_t)g->nop, sizeof(*out));
	struct table *t;
	size_t r = 0;
	int differ = 0;

	snprintf(path, sizeof(path), "layers_%s_224.tsv", file);
	t = table_read(golden_path(path));
	graph_shapes(g, &in, out);
	for (int i = 0; i < g->nop; i++) {
		if (g->op[i].kind != OP_CONV && g->op[i].kind != OP_LINEAR)
			continue;
		if (r < t->rows && !same_layer(g, i, out, t->cell[r]) &&
		    differ++ == 0)
			diag("%s differs from %s", g->op[i].name, t->cell[r][0]);
		r++;
	}
	/* The last row is the sum of attention's products. */
	ok(differ == 0 && r + 1 == t->rows && r > 50,
	    "%s has the layers of %s (%zu)", name, file, r);
	free(out);
	graph_free(g);
	table_free(t);
}

static void
golden_shapes(void)
{
	struct table *t = table_read(golden_path("macs_by_multigrid_shape.tsv"));
	struct graph *g = model("tsm_r50", 400);
	int same = 0, all = 0;

	for (size_t r = 0; r < t->rows; r++)
		if (strcmp(t->cell[r][0], "TSM_R50") == 0) {
			int side = atoi(t->cell[r][2]);
			struct dims in = { 1, atoi(t->cell[r][1]), side, side, 3 };

			all++;
			same += graph_macs(g, &in) == strtod(t->cell[r][3], NULL);
		}
	ok(all == 9 && same == all,
	    "tsm_r50 costs what it should at %d of 9 multigrid shapes", same);
	graph_free(g);
	table_free(t);
}

static void
golden(void)
{
	golden_stats("tsm_r50_8f_k400", "tsm_r50", 400, 8);
	golden_stats("tsm_r50_16f_k400", "tsm_r50", 400, 16);
	golden_stats("tsm_r50_8f_sth", "tsm_r50", 174, 8);
	golden_stats("tsn_r50_8f_k400", "tsn_r50", 400, 8);
	golden_stats("torchvision_resnet50_in1k", "tsn_r50", 1000, 1);
	golden_keys("tsm_r50_8f_k400", "tsm_r50", 400);
	golden_keys("tsm_r50_8f_sth", "tsm_r50", 174);
	golden_keys("tsmrepo_tsn_r50_8f_k400", "tsn_r50", 400);
	golden_keys("torchvision_resnet50", "tsn_r50", 1000);
	golden_layers("tsm_r50_8f_k400", "tsm_r50", 400, 8);
	golden_layers("tsm_r50_16f_k400", "tsm_r50", 400, 16);
	golden_layers("tsm_r50_8f_sth", "tsm_r50", 174, 8);
	golden_layers("tsmrepo_tsn_r50_8f_k400", "tsn_r50", 400, 8);
	golden_layers("torchvision_resnet50", "tsn_r50", 1000, 1);
	golden_shapes();
}

int
main(void)
{
	by_hand();
	golden();
	return done();
}
