/*
 * Networks in share/models agree with tables printed by the published programs:
 * parameters, multiply-adds, each tensor, each layer.
 */
#include "base/mem.h"
#include "base/table.h"
#include "graph/graph.h"

#include "models.h"
#include "tap.h"

/* ---- published names become ours ---- */

/* Remove ${what} from ${s} wherever it ends a component. */
static void
cut(char *s, const char *what)
{
	size_t n = strlen(what);

	for (char *at = s; (at = strstr(at, what)) != NULL;)
		if (at[n] == '.' || at[n] == '\0')
			memmove(at, at + n, strlen(at + n) + 1);
		else
			at += n;
}

/*
 * Replace the first ${from} in ${s}, of 128 bytes, by ${to}.  Return 0 if
 * absent.
 */
static int
change(char *s, const char *from, const char *to)
{
	char *at = strstr(s, from), rest[128];

	if (at == NULL)
		return 0;
	snprintf(rest, sizeof(rest), "%s", at + strlen(from));
	snprintf(at, 128 - (size_t)(at - s), "%s%s", to, rest);
	return 1;
}

/*
 * torchvision and the program of TSM.  A shift adds ".net" to the name of its
 * convolution, temporal pooling to that of a stage; attention adds ".block" to
 * the name of the block before it.
 */
static void
rename_tsm(char *s)
{
	change(s, "base_model.", "");
	cut(s, ".net");
	cut(s, ".block");
	change(s, "nl.g.0", "nl.g");
	change(s, "nl.phi.0", "nl.phi");
	change(s, "nl.W.0", "nl.out");
	change(s, "nl.W.1", "nl.bn");
	(void)(change(s, "new_fc", "fc") || change(s, "classifier", "fc"));
}

/*
 * PySlowFast: stages count from s1, pathways are 0 and 1, blocks have branches.
 */
static void
rename_psf(char *s, int pathways)
{
	static const char *const path[] = { "slow.", "fast." };
	char what[128] = "", part[128] = "", to[512];
	int stage, p, i, n;

	if (sscanf(s, "s%d_fuse.%127s", &stage, what) == 2) {
		change(what, "conv_f2s", "conv");
		snprintf(to, sizeof(to), "lateral%d.%s", stage, what);
	} else if (sscanf(s, "s1.pathway%d_stem.%127[a-z]%127s", &p, part, what) >= 2) {
		snprintf(to, sizeof(to), "%s%s1%s", pathways > 1 ? path[p] : "",
		    part, what);
	} else if (sscanf(s, "s%d.pathway%d_%127[a-z]%d.%n", &stage, &p, part, &i,
	    &n) == 4) {
		snprintf(what, sizeof(what), "%s", s + n);
		if (strcmp(part, "nonlocal") == 0) {
			change(what, "conv_", "");
			snprintf(part, sizeof(part), "nl.");
		} else {
			part[0] = '\0';
			(void)(change(what, "branch1_bn", "downsample.1") ||
			    change(what, "branch1", "downsample.0") ||
			    change(what, "branch2.a_bn", "bn1") ||
			    change(what, "branch2.a", "conv1") ||
			    change(what, "branch2.b_bn", "bn2") ||
			    change(what, "branch2.b", "conv2") ||
			    change(what, "branch2.c_bn", "bn3") ||
			    change(what, "branch2.c", "conv3"));
		}
		snprintf(to, sizeof(to), "%slayer%d.%d.%s%s",
		    pathways > 1 ? path[p] : "", stage - 1, i, part, what);
	} else {
		change(s, "head.projection", "fc");
		return;
	}
	snprintf(s, 128, "%.127s", to);
}

/* MMAction2: each convolution is a module with its norm. */
static void
rename_mm(char *s)
{
	static const char *const norm[] = { "1", "2", "3" };
	char from[64], to[64];

	change(s, "backbone.", "");
	change(s, "slow_path.", "slow.");
	change(s, "fast_path.", "fast.");
	cut(s, ".net");
	cut(s, ".block");
	if (change(s, "non_local_block.", "nl.")) {
		change(s, "nl.g.0", "nl.g");
		change(s, "nl.phi.0", "nl.phi");
		change(s, "nl.conv_out.bn", "nl.bn");
		change(s, "nl.conv_out", "nl.out");
		change(s, ".conv.", ".");
		return;
	}
	change(s, "cls_head.fc_cls", "fc");
	change(s, "downsample.conv", "downsample.0");
	change(s, "downsample.bn", "downsample.1");
	for (int i = 0; i < 5; i++) {
		snprintf(from, sizeof(from), i > 0 ? "slow.layer%d_lateral" :
		    "slow.conv1_lateral", i);
		snprintf(to, sizeof(to), "lateral%d", i + 1);
		if (change(s, from, to))
			return;
	}
	for (int i = 0; i < 3; i++) {
		snprintf(from, sizeof(from), "conv%s.conv", norm[i]);
		snprintf(to, sizeof(to), "conv%s", norm[i]);
		change(s, from, to);
		snprintf(from, sizeof(from), "conv%s.bn", norm[i]);
		snprintf(to, sizeof(to), "bn%s", norm[i]);
		change(s, from, to);
	}
}

static int
pathways(const struct graph *g)
{
	for (int i = 0; i < g->nop; i++)
		if (g->op[i].kind == OP_FRAMES)
			return 2;
	return 1;
}

/*
 * Write the key ${from} of the table ${file}, as ${g} names it, to ${to} of 128
 * bytes.
 */
static void
rename_key(const struct graph *g, const char *file, const char *from, char *to)
{
	snprintf(to, 128, "%s", from);
	if (strncmp(file, "psf_", 4) == 0)
		rename_psf(to, pathways(g));
	else if (strncmp(file, "mmaction2_", 10) == 0)
		rename_mm(to);
	else
		rename_tsm(to);
}

/* ---- totals ---- */

/* Return the number in the row of ${name}, or -1 if absent. */
static double
stat(const struct table *t, const char *name, const char *column)
{
	int c = table_column(t, column);

	for (size_t r = 0; c >= 0 && r < t->rows; r++)
		if (strcmp(t->cell[r][0], name) == 0)
			return strtod(t->cell[r][c], NULL);
	return -1;
}

/*
 * At a crop of 256 the last maps are 8 x 8.  PySlowFast's head moves a window
 * of 7 x 7 over them and averages the probabilities of four scores; ours takes
 * one mean.
 */
static double
head_at_256(const char *table, const struct graph *g)
{
	const struct param *p = &g->param[g->nparam - 2];

	return strcmp(table, "psf") == 0 ? 3 * (double)p->count : 0;
}

static void
golden_stats(const char *table, const char *row, const char *name, int classes,
    int t)
{
	char path[64], what[160];
	struct table *stats;
	struct graph *g = model_read(name, classes);
	struct dims in = { 1, t, 224, 224, 3 };
	double norms = 0, running = 0, small;

	snprintf(path, sizeof(path), "model_stats_%s.tsv", table);
	stats = table_read(golden_path(path));
	for (int i = 0; i < g->nparam; i++) {
		const struct param *p = &g->param[i];

		if (p->kind == PARAM_SCALE || p->kind == PARAM_OFFSET)
			norms += (double)p->count;
		if (p->kind >= PARAM_MEAN)
			running += (double)p->count;
	}
#define WHAT(s) (snprintf(what, sizeof(what), "%s is %s: %s", name, row, s), what)
	near((double)graph_parameters(g), stat(stats, row, "params"), 0,
	    WHAT("parameters"));
	near(norms, stat(stats, row, "bn_params"), 0,
	    WHAT("scales and offsets"));
	near(running, stat(stats, row, "bn_running_buffers"), 0,
	    WHAT("running statistics"));
	small = stat(stats, row, "macs_224");
	near(graph_macs(g, &in), small > 0 ? small : stat(stats, row, "macs"), 0,
	    WHAT("multiply-adds at 224"));
	in.h = in.w = 256;
	if (stat(stats, row, "macs_256") > 0)
		near(graph_macs(g, &in) + head_at_256(table, g),
		    stat(stats, row, "macs_256"), 0,
		    WHAT("multiply-adds at 256"));
	graph_free(g);
	table_free(stats);
}

/* Compare multiply-adds at the shapes of a multigrid schedule. */
static void
golden_shapes(const char *row, const char *name)
{
	struct table *t = table_read(golden_path("macs_by_multigrid_shape.tsv"));
	struct graph *g = model_read(name, 400);
	int same = 0, all = 0;

	for (size_t r = 0; r < t->rows; r++)
		if (strcmp(t->cell[r][0], row) == 0) {
			int side = atoi(t->cell[r][2]);
			struct dims in = { 1, atoi(t->cell[r][1]), side, side, 3 };

			all++;
			same += graph_macs(g, &in) == strtod(t->cell[r][3], NULL);
		}
	ok(all == 9 && same == all,
	    "%s has the published multiply-adds at %d of 9 multigrid shapes",
	    name, same);
	graph_free(g);
	table_free(t);
}

/* ---- tensors ---- */

static int
param_index(const struct graph *g, const char *name)
{
	for (int k = 0; k < g->nparam; k++)
		if (strcmp(g->param[k].name, name) == 0)
			return k;
	return -1;
}

/*
 * Check that the tensors of the table are ours, by name, shape and kind, and
 * that it has all of ours.  If ${ordered}, they have the same order.
 */
static void
golden_keys(const char *file, const char *name, int classes, int ordered)
{
	char path[160], want[128], shape[128];
	struct graph *g = model_read(name, classes);
	struct table *t;
	int found = 0, differ = 0, last = -1;
	char *seen = xcalloc((size_t)g->nparam, 1);

	snprintf(path, sizeof(path), "keys_%s.tsv", file);
	t = table_read(golden_path(path));
	for (size_t r = 0; r < t->rows; r++) {
		const char *key = t->cell[r][0];
		const struct param *p;
		int k, at = 0;

		/* The number of batches, which no rule here needs. */
		if (strstr(key, "num_batches_tracked") != NULL)
			continue;
		rename_key(g, file, key, want);
		k = param_index(g, want);
		p = k >= 0 ? &g->param[k] : NULL;
		*shape = '\0';
		for (int i = 0; p != NULL && i < p->ndim; i++)
			at += snprintf(shape + at, sizeof(shape) - (size_t)at,
			    "%s%d", i ? "x" : "", p->dim[i]);
		if (p != NULL && !seen[k] && strcmp(shape, t->cell[r][1]) == 0 &&
		    (p->kind >= PARAM_MEAN) == (*t->cell[r][2] == 'b') &&
		    (!ordered || k > last)) {
			seen[k] = 1;
			found++;
			last = k;
		} else if (differ++ == 0)
			diag("%s: %s %s, wanted %s", key, want,
			    p != NULL ? shape : "is absent", t->cell[r][1]);
	}
	ok(differ == 0 && found == g->nparam && found > 100,
	    "%s has the tensors of %s (%d of %d)",
	    name, file, found, g->nparam);
	free(seen);
	graph_free(g);
	table_free(t);
}

/* ---- layers ---- */

/*
 * Write a shape as PyTorch prints it: "8x64x56x56" with frames as images, or
 * "1x64x8x56x56".
 */
static void
torch_shape(const struct dims *d, const char *type, char *to, size_t size)
{
	if (strcmp(type, "Conv2d") == 0)
		snprintf(to, size, "%dx%dx%dx%d", d->n * d->t, d->c, d->h, d->w);
	else
		snprintf(to, size, "%dx%dx%dx%dx%d", d->n, d->c, d->t, d->h, d->w);
}

static void
torch_window(const int v[3], const char *type, char *to, size_t size)
{
	if (strcmp(type, "Conv2d") == 0)
		snprintf(to, size, "%dx%d", v[1], v[2]);
	else
		snprintf(to, size, "%dx%dx%d", v[0], v[1], v[2]);
}

/*
 * Columns: name, type, in, out, kernel, stride, padding, groups, weights, macs.
 */
static int
same_layer(const struct graph *g, int i, const struct dims *out,
    char *const *cell)
{
	const struct op *op = &g->op[i];
	const struct dims *in = &out[op->in[0]];
	char text[5][64];
	int same = g->param[op->param].count == strtoull(cell[8], NULL, 10) &&
	    op_types[op->kind].macs(op, in, &out[i]) == strtod(cell[9], NULL);

	if (op->kind == OP_LINEAR) {
		const char *a = strrchr(cell[2], 'x'), *b = strrchr(cell[3], 'x');

		return same && strcmp(cell[1], "Linear") == 0 && a != NULL &&
		    b != NULL && atoi(a + 1) == in->c && atoi(b + 1) == out[i].c;
	}
	torch_shape(in, cell[1], text[0], sizeof(text[0]));
	torch_shape(&out[i], cell[1], text[1], sizeof(text[1]));
	torch_window(op->k, cell[1], text[2], sizeof(text[2]));
	torch_window(op->s, cell[1], text[3], sizeof(text[3]));
	torch_window(op->p, cell[1], text[4], sizeof(text[4]));
	for (int k = 0; k < 5; k++)
		same = same && strcmp(text[k], cell[2 + k]) == 0;
	return same && strncmp(cell[1], "Conv", 4) == 0 &&
	    op->conv.groups == atoi(cell[7]);
}

static void
golden_layers(const char *file, const char *name, int classes, int frames)
{
	char path[160], want[128];
	struct graph *g = model_read(name, classes);
	struct dims in = { 1, frames, 224, 224, 3 };
	struct dims *out = xcalloc((size_t)g->nop, sizeof(*out));
	struct table *t;
	double products = 0, listed = -1;
	int found = 0, layers = 0, differ = 0;

	snprintf(path, sizeof(path), "layers_%s_224.tsv", file);
	t = table_read(golden_path(path));
	graph_shapes(g, &in, out, NULL);
	for (int i = 0; i < g->nop; i++) {
		const struct op *op = &g->op[i];

		layers += op->kind == OP_CONV || op->kind == OP_LINEAR;
		if (op->kind == OP_BMM)
			products += op_types[OP_BMM].macs(op, &out[op->in[0]],
			    &out[i]);
	}
	for (size_t r = 0; r < t->rows; r++) {
		int i = 0;

		if (strcmp(t->cell[r][0], "TOTAL_matmul") == 0) {
			listed = strtod(t->cell[r][9], NULL);
			continue;
		}
		if (strncmp(t->cell[r][1], "Conv", 4) != 0 &&
		    strcmp(t->cell[r][1], "Linear") != 0)
			continue;
		rename_key(g, file, t->cell[r][0], want);
		while (i < g->nop && strcmp(g->op[i].name, want) != 0)
			i++;
		if (i < g->nop && same_layer(g, i, out, t->cell[r]))
			found++;
		else if (differ++ == 0)
			diag("%s differs from %s", want, t->cell[r][0]);
	}
	ok(differ == 0 && found == layers && found > 50,
	    "%s has the layers of %s (%d of %d)", name, file, found, layers);
	near(products, listed, 0,
	    "multiply-adds of attention are the published ones");
	free(out);
	graph_free(g);
	table_free(t);
}

/* One frame at a time, as the program of TSM runs online. */
static void
golden_online(void)
{
	golden_stats("tsm", "tsm_online_mobilenetv2_27c_per_frame",
	    "tsm_mobilenet_v2_online", 27, 1);
	golden_keys("tsm_online_mobilenetv2_jester", "tsm_mobilenet_v2_online",
	    27, 1);
}

static const struct published {
	const char *stats, *row;	/* of model_stats_STATS.tsv; or NULL */
	const char *keys;		/* keys_KEYS.tsv, or NULL */
	const char *layers;		/* layers_LAYERS_224.tsv, or NULL */
	const char *name;
	int classes, frames, ordered;
} published[] = {
	{ "tsm", "tsm_r50_8f_k400", "tsm_r50_8f_k400", "tsm_r50_8f_k400",
	    "tsm_r50", 400, 8, 1 },
	{ "tsm", "tsm_r50_16f_k400", "tsm_r50_16f_k400", "tsm_r50_16f_k400",
	    "tsm_r50", 400, 16, 1 },
	{ "tsm", "tsm_r50_8f_sth", "tsm_r50_8f_sth", "tsm_r50_8f_sth",
	    "tsm_r50", 174, 8, 1 },
	{ "tsm", "tsn_r50_8f_k400", "tsmrepo_tsn_r50_8f_k400",
	    "tsmrepo_tsn_r50_8f_k400", "tsn_r50", 400, 8, 1 },
	{ "tsm", "torchvision_resnet50_in1k", "torchvision_resnet50",
	    "torchvision_resnet50", "tsn_r50", 1000, 1, 1 },
	{ "tsm", "torchvision_resnet50_in1k", "torchvision_resnet50",
	    "torchvision_resnet50", "resnet50", 1000, 1, 1 },
	{ "psf", "RES_R50_IN1K", NULL, NULL, "resnet50", 1000, 1, 0 },
	{ "tsm", "tsm_r101_8f_k400", "tsm_r101_8f_k400", "tsm_r101_8f_k400",
	    "tsm_r101", 400, 8, 1 },
	{ "tsm", "tsm_r50_8f_nl_k400", "tsm_r50_8f_nl_k400",
	    "tsm_r50_8f_nl_k400", "tsm_r50_nl", 400, 8, 0 },
	{ "tsm", "tsm_r50_8f_tpool_k400", "tsm_r50_8f_tpool_k400",
	    "tsm_r50_8f_tpool_k400", "tsm_r50_tpool", 400, 8, 1 },
	{ "tsm", "tsm_mobilenetv2_8f_k400", "tsm_mobilenetv2_8f_k400",
	    "tsm_mobilenetv2_8f_k400", "tsm_mobilenet_v2", 400, 8, 1 },
	{ "psf", "C2D_8x8_R50", "psf_C2D_8x8_R50", "psf_C2D_8x8_R50",
	    "c2d_r50", 400, 8, 0 },
	{ "psf", "C2D_NLN_8x8_R50", "psf_C2D_NLN_8x8_R50",
	    "psf_C2D_NLN_8x8_R50", "c2d_r50_nl", 400, 8, 0 },
	{ "psf", "I3D_8x8_R50", "psf_I3D_8x8_R50", "psf_I3D_8x8_R50",
	    "i3d_r50", 400, 8, 0 },
	{ "psf", "I3D_NLN_8x8_R50", "psf_I3D_NLN_8x8_R50",
	    "psf_I3D_NLN_8x8_R50", "i3d_r50_nl", 400, 8, 0 },
	{ "mmaction2", "i3d_r50_32f_k400", "mmaction2_i3d_r50_32f_k400", NULL,
	    "i3d_r50_32f", 400, 32, 0 },
	{ "mmaction2", "i3d_r50_nl_dot_product_32f_k400",
	    "mmaction2_i3d_r50_nl_dot_product_32f_k400", NULL,
	    "i3d_r50_32f_nl", 400, 32, 0 },
	{ "mmaction2", "c2d_nopool_8f_k400", "mmaction2_c2d_nopool_8f_k400", NULL,
	    "c2d_r50_nopool", 400, 8, 0 },
	{ "mmaction2", "tsm_r50_nl_dot_product_8f_k400",
	    "mmaction2_tsm_r50_nl_dot_product_8f_k400", NULL,
	    "tsm_r50_nl_dot", 400, 8, 0 },
	{ "mmaction2", "tsm_r50_nl_gaussian_8f_k400",
	    "mmaction2_tsm_r50_nl_gaussian_8f_k400", NULL,
	    "tsm_r50_nl_gaussian", 400, 8, 0 },
	{ "psf", "SLOW_4x16_R50", "psf_SLOW_4x16_R50", "psf_SLOW_4x16_R50",
	    "slow_r50", 400, 4, 0 },
	{ "psf", "SLOW_8x8_R50", "psf_SLOW_8x8_R50", "psf_SLOW_8x8_R50",
	    "slow_r50", 400, 8, 0 },
	{ "psf", "SLOW_NLN_8x8_R50", "psf_SLOW_NLN_8x8_R50",
	    "psf_SLOW_NLN_8x8_R50", "slow_r50_nl", 400, 8, 0 },
	{ "psf", "SLOWFAST_4x16_R50", "psf_SLOWFAST_4x16_R50",
	    "psf_SLOWFAST_4x16_R50", "slowfast_r50_4x16", 400, 32, 0 },
	{ "psf", "SLOWFAST_8x8_R50", "psf_SLOWFAST_8x8_R50",
	    "psf_SLOWFAST_8x8_R50", "slowfast_r50_8x8", 400, 32, 0 },
	{ "mmaction2", "slowfast_r50_8x8_multigrid_lateralnorm_k400",
	    "mmaction2_slowfast_r50_8x8_multigrid_lateralnorm_k400", NULL,
	    "slowfast_r50_8x8_mmaction2_norm", 400, 32, 0 },
	{ "mmaction2", "slowfast_r50_4x16_k400",
	    "mmaction2_slowfast_r50_4x16_k400", NULL,
	    "slowfast_r50_4x16_mmaction2", 400, 32, 0 },
	{ "mmaction2", "slowfast_r50_8x8_k400",
	    "mmaction2_slowfast_r50_8x8_k400", NULL,
	    "slowfast_r50_8x8_mmaction2", 400, 32, 0 },
	{ "psf", "SLOWFAST_16x8_R50_SSv2", "psf_SLOWFAST_16x8_R50_SSv2",
	    "psf_SLOWFAST_16x8_R50_SSv2", "slowfast_r50_16x8", 174, 64, 0 },
	{ "psf", "SLOWFAST_16x8_R50_Charades",
	    "psf_SLOWFAST_16x8_R50_Charades",
	    "psf_SLOWFAST_16x8_R50_Charades", "slowfast_r50_16x8", 157, 64, 0 },
	{ "psf", "SLOWFAST_NLN_8x8_R50", "psf_SLOWFAST_NLN_8x8_R50",
	    "psf_SLOWFAST_NLN_8x8_R50", "slowfast_r50_8x8_nl", 400, 32, 0 },
};

int
main(void)
{
	for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++) {
		const struct published *p = &published[i];

		golden_stats(p->stats, p->row, p->name, p->classes, p->frames);
		if (p->keys != NULL)
			golden_keys(p->keys, p->name, p->classes, p->ordered);
		if (p->layers != NULL)
			golden_layers(p->layers, p->name, p->classes, p->frames);
	}
	golden_online();
	golden_shapes("TSM_R50", "tsm_r50");
	golden_shapes("TSM_R50_NL", "tsm_r50_nl");
	golden_shapes("I3D_8x8_R50", "i3d_r50");
	golden_shapes("I3D_NLN_8x8_R50", "i3d_r50_nl");
	golden_shapes("SLOW_8x8_R50", "slow_r50");
	golden_shapes("SLOWFAST_8x8_R50", "slowfast_r50_8x8");
	return done();
}
