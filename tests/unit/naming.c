/*
 * Exported names: the tables in share/weights give the keys, shapes and
 * counters of other programs, for every table of keys in tests/golden.  Read
 * back, they give the same parameters.
 */
#include <dirent.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/share.h"
#include "base/table.h"
#include "base/text.h"
#include "train/run/export.h"
#include "train/weights/match.h"

#include "said.h"
#include "tap.h"

/* A table of keys, and the network and names that must give them. */
static const struct row {
	const char *keys, *names, *network;
	int classes;
} rows[] = {
	{ "torchvision_resnet50", "torchvision", "resnet50", 1000 },
	{ "tsm_r50_8f_k400", "tsm", "tsm_r50", 400 },
	{ "tsm_r50_16f_k400", "tsm", "tsm_r50", 400 },
	{ "tsm_r50_8f_sth", "tsm", "tsm_r50", 174 },
	{ "tsm_r50_8f_nl_k400", "tsm", "tsm_r50_nl", 400 },
	{ "tsm_r50_8f_tpool_k400", "tsm", "tsm_r50_tpool", 400 },
	{ "tsm_r101_8f_k400", "tsm", "tsm_r101", 400 },
	{ "tsm_mobilenetv2_8f_k400", "tsm", "tsm_mobilenet_v2", 400 },
	{ "tsm_online_mobilenetv2_jester", "tsm", "tsm_mobilenet_v2_online",
		27 },
	{ "tsmrepo_tsn_r50_8f_k400", "tsm", "tsn_r50", 400 },
	{ "psf_RES_R50_IN1K", "pyslowfast", "resnet50", 1000 },
	{ "psf_C2D_8x8_R50", "pyslowfast", "c2d_r50", 400 },
	{ "psf_C2D_NLN_8x8_R50", "pyslowfast", "c2d_r50_nl", 400 },
	{ "psf_I3D_8x8_R50", "pyslowfast", "i3d_r50", 400 },
	{ "psf_I3D_NLN_8x8_R50", "pyslowfast", "i3d_r50_nl", 400 },
	{ "psf_SLOW_4x16_R50", "pyslowfast", "slow_r50", 400 },
	{ "psf_SLOW_8x8_R50", "pyslowfast", "slow_r50", 400 },
	{ "psf_SLOW_NLN_8x8_R50", "pyslowfast", "slow_r50_nl", 400 },
	{ "psf_SLOWFAST_4x16_R50", "pyslowfast", "slowfast_r50_4x16", 400 },
	{ "psf_SLOWFAST_8x8_R50", "pyslowfast", "slowfast_r50_8x8", 400 },
	{ "psf_SLOWFAST_NLN_8x8_R50", "pyslowfast", "slowfast_r50_8x8_nl", 400 },
	{ "psf_SLOWFAST_16x8_R50_SSv2", "pyslowfast", "slowfast_r50_16x8", 174 },
	{ "psf_SLOWFAST_16x8_R50_Charades", "pyslowfast", "slowfast_r50_16x8",
		157 },
	{ "mmaction2_tsn_r50_3seg_k400", "mmaction2", "tsn_r50", 400 },
	{ "mmaction2_tsm_r50_8f_k400", "mmaction2", "tsm_r50", 400 },
	{ "mmaction2_tsm_mobilenetv2_8f_k400", "mmaction2", "tsm_mobilenet_v2",
		400 },
	{ "mmaction2_tsm_r50_nl_embedded_gaussian_8f_k400", "mmaction2",
		"tsm_r50_nl", 400 },
	{ "mmaction2_tsm_r50_nl_dot_product_8f_k400", "mmaction2",
		"tsm_r50_nl_dot", 400 },
	{ "mmaction2_tsm_r50_nl_gaussian_8f_k400", "mmaction2",
		"tsm_r50_nl_gaussian", 400 },
	{ "mmaction2_c2d_nopool_8f_k400", "mmaction2", "c2d_r50_nopool",
		400 },
	{ "mmaction2_i3d_r50_32f_k400", "mmaction2", "i3d_r50_32f", 400 },
	{ "mmaction2_i3d_r50_nl_dot_product_32f_k400", "mmaction2",
		"i3d_r50_32f_nl", 400 },
	{ "mmaction2_slowfast_r50_4x16_k400", "mmaction2",
		"slowfast_r50_4x16_mmaction2", 400 },
	{ "mmaction2_slowfast_r50_8x8_k400", "mmaction2",
		"slowfast_r50_8x8_mmaction2", 400 },
	{ "mmaction2_slowfast_r50_8x8_multigrid_lateralnorm_k400", "mmaction2",
		"slowfast_r50_8x8_mmaction2_norm", 400 },
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static struct graph *
network(const struct row *r)
{
	char *path = share_find("models", r->network, ".net");
	struct graph *g = path != NULL ? graph_read(path, r->classes) : NULL;

	free(path);
	return g;
}

/* Compare lines "name shape" for sorting. */
static int
by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *
shown(const struct exported *x)
{
	struct buffer b = { 0 };

	buffer_printf(&b, "%s ", x->name);
	if (x->p < 0)
		buffer_text(&b, "scalar");
	for (int i = 0; i < x->ndim; i++)
		buffer_printf(&b, "%s%lld", i > 0 ? "x" : "",
		    (long long)x->dim[i]);
	return b.data;
}

/* Return the tensor of a row "name shape".  The caller frees its name. */
static struct weight
as_weight(const char *row, const char *prefix)
{
	const char *blank = strchr(row, ' '), *p = blank;
	struct weight t = { .count = 1, .type = DTYPE_F32 };

	t.name = xprintf("%s%.*s", prefix, (int)(blank - row), row);
	while (p != NULL && strcmp(blank, " scalar") != 0) {
		t.dim[t.ndim] = atoi(p + 1);
		t.count *= (size_t)t.dim[t.ndim++];
		p = strchr(p + 1, 'x');
	}
	return t;
}

/*
 * Check that a file with these keys, prefixed by ${prefix}, is detected and
 * used completely.
 */
static void
reading(const struct row *r, const struct graph *g, char **row, size_t n,
    const char *prefix)
{
	struct wgrad w = { .container = "none", .tensors = n,
		.tensor = xcalloc(n, sizeof(*w.tensor)) };
	struct match *m;
	int fresh = 0, left = 0;

	for (size_t i = 0; i < n; i++)
		w.tensor[i] = as_weight(row[i], prefix);
	m = match_new(g, &w, "a\nb\n");
	for (int i = 0; i < g->nparam; i++) {
		const char *name = g->param[i].name;

		/*
		 * Their classifier may have the pathways in the other order.  A
		 * bias that is absorbed by a norm is absent in their files.
		 */
		if (m->param[i].status == LOAD_COPIED ||
		    strcmp(m->param[i].why, "input channels in another order")
		    == 0 || (strcmp(r->names, "mmaction2") == 0 &&
		    text_ends(name, ".nl.out.bias")) || fresh++ > 1)
			continue;
		diag("%s: %s", name, m->param[i].why);
	}
	for (size_t i = 0; i < n; i++)
		if (m->left[i] != NULL && strcmp(m->left[i], "a counter") != 0 &&
		    left++ < 2)
			diag("%s: %s", w.tensor[i].name, m->left[i]);
	ok(fresh == 0 && left == 0 && strcmp(m->names, r->names) == 0,
	    "%s%s: detected as %s, and all of it is loaded", prefix, r->keys,
	    m->names);
	match_free(m);
	for (size_t i = 0; i < n; i++)
		free((void *)w.tensor[i].name);
	free(w.tensor);
}

/*
 * Check the names of ${r} against ${text}, a table of keys whose lines begin
 * "name<tab>shape".
 */
static void
keys(const struct row *r, char *text)
{
	struct key_map *n = key_map_open(r->names);
	struct graph *g = network(r);
	struct export e = { 0 };
	size_t wanted = 0, differ = 0;
	char **want = NULL, **got, *line, *at;
	size_t cap = 0;

	if (n == NULL || g == NULL || export_new(g, n, &e) != 0) {
		ok(0, "%s", r->keys);
		goto done;
	}
	for (at = text; (line = strsep(&at, "\n")) != NULL;) {
		char *name = strsep(&line, "\t"), *shape = strsep(&line, "\t");

		if (*name == '\0' || *name == '#' || shape == NULL ||
		    strcmp(name, "key") == 0)
			continue;
		want = array_reserve(want, wanted, &cap, sizeof(*want));
		want[wanted++] = xprintf("%s %s", name, shape);
	}
	got = xcalloc(e.tensors, sizeof(*got));
	for (size_t i = 0; i < e.tensors; i++)
		got[i] = shown(&e.tensor[i]);
	qsort(got, e.tensors, sizeof(*got), by_text);
	qsort(want, wanted, sizeof(*want), by_text);
	differ = wanted != e.tensors;
	for (size_t i = 0; i < e.tensors && i < wanted; i++)
		if (strcmp(got[i], want[i]) != 0 && differ++ < 2)
			diag("got %s, wanted %s", got[i], want[i]);
	if (!ok(differ == 0 && wanted > 100,
	    "%s: %s is exported with these keys and shapes",
	    r->keys, r->network))
		diag("%zu names, wanted %zu", e.tensors, wanted);
	reading(r, g, want, wanted, strlen(r->keys) % 2 == 0 ? "" : "module.");
	for (size_t i = 0; i < e.tensors; i++)
		free(got[i]);
	for (size_t i = 0; i < wanted; i++)
		free(want[i]);
	free(got);
	free(want);
done:
	export_free(&e);
	key_map_close(n);
	graph_free(g);
}

static void
golden_keys(const struct row *r)
{
	char *file = xprintf("keys_%s.tsv", r->keys);
	struct buffer text = { 0 };

	if (file_read_text(golden_path(file), &text) == 0)
		keys(r, text.data);
	else
		ok(0, "%s", file);
	buffer_free(&text);
	free(file);
}

/* ---- the networks of each program ---- */

/*
 * The networks of share/models, and the programs for which they can be
 * exported.
 */
static const struct { const char *network, *names; } written[] = {
	{ "c2d_r50", "pyslowfast" },
	{ "c2d_r50_nl", "pyslowfast" },
	{ "c2d_r50_nopool", "torchvision tsm pyslowfast mmaction2" },
	{ "i3d_r50", "pyslowfast mmaction2" },
	{ "i3d_r50_32f", "mmaction2" },
	{ "i3d_r50_32f_nl", "mmaction2" },
	{ "i3d_r50_333", "mmaction2" },
	{ "i3d_r50_nl", "pyslowfast" },
	{ "r2plus1d_18", "torchvision" },
	{ "resnet50", "torchvision tsm pyslowfast mmaction2" },
	{ "slow_r50", "pyslowfast mmaction2" },
	{ "slow_r50_nl", "pyslowfast" },
	{ "slowfast_r50_16x8", "pyslowfast" },
	{ "slowfast_r50_4x16", "pyslowfast" },
	{ "slowfast_r50_4x16_mmaction2", "mmaction2" },
	{ "slowfast_r50_8x8", "pyslowfast" },
	{ "slowfast_r50_8x8_mmaction2", "mmaction2" },
	{ "slowfast_r50_8x8_mmaction2_norm", "mmaction2" },
	{ "slowfast_r50_8x8_nl", "pyslowfast" },
	{ "tsm_mobilenet_v2", "tsm mmaction2" },
	{ "tsm_mobilenet_v2_online", "tsm" },
	{ "tsm_r101", "tsm mmaction2" },
	{ "tsm_r18", "tsm mmaction2" },
	{ "tsm_r18_flow", "tsm mmaction2" },
	{ "tsm_r18_flow10", "tsm mmaction2" },
	{ "tsm_r50", "tsm mmaction2" },
	{ "tsm_r50_flow", "tsm mmaction2" },
	{ "tsm_r50_flow10", "tsm mmaction2" },
	{ "tsm_r50_nl", "tsm mmaction2" },
	{ "tsm_r50_nl_dot", "mmaction2" },
	{ "tsm_r50_nl_gaussian", "mmaction2" },
	{ "tsm_r50_tpool", "tsm" },
	{ "tsm_tiny", "tsm mmaction2" },
	{ "tsn_r18", "torchvision tsm mmaction2" },
	{ "tsn_r18_flow", "tsm mmaction2" },
	{ "tsn_r18_flow10", "tsm mmaction2" },
	{ "tsn_r50", "torchvision tsm pyslowfast mmaction2" },
	{ "tsn_r50_flow", "tsm pyslowfast mmaction2" },
	{ "tsn_r50_flow10", "tsm pyslowfast mmaction2" },
	{ "tsn_r50_rgbdiff", "tsm pyslowfast mmaction2" },
	{ "tsn_tiny", "torchvision tsm mmaction2" },
	{ "x3d_m", "" },
	{ "x3d_m_pyslowfast", "pyslowfast" },
	{ "x3d_s", "" },
	{ "x3d_s_pyslowfast", "pyslowfast" },
};
enum { WRITTEN = sizeof(written) / sizeof(written[0]) };

static void
networks_written(void)
{
	char said[256];

	for (int i = 0; i < WRITTEN; i++) {
		struct row r = { .network = written[i].network, .classes = 4 };
		struct graph *g = network(&r);
		struct buffer b = { 0 };

		buffer_add(&b, "", 0);
		for (int k = 0; g != NULL && key_map_known[k] != NULL; k++) {
			struct key_map *n = key_map_open(key_map_known[k]);
			struct export e = { 0 };

			said_begin(said, sizeof(said));
			if (n != NULL && export_new(g, n, &e) == 0)
				buffer_printf(&b, "%s%s", b.n > 0 ? " " : "",
				    key_map_known[k]);
			said_end();
			export_free(&e);
			key_map_close(n);
		}
		if (!ok(strcmp(b.data, written[i].names) == 0,
		    "%s can be exported with names of %s", r.network,
		    *written[i].names != '\0' ? written[i].names : "none"))
			diag("it can with names of %s", b.data);
		buffer_free(&b);
		graph_free(g);
	}
}

/* ---- X3D, for which there is no golden table ---- */

/* Append the keys of a convolution and, unless ${norm} is NULL, of its norm. */
static void
add_conv(struct buffer *b, const char *name, const char *norm, int out, int in,
    const char *kernel)
{
	static const char *const part[] = { "weight", "bias", "running_mean",
		"running_var" };

	buffer_printf(b, "%s.weight\t%dx%dx%s\n", name, out, in, kernel);
	for (int i = 0; norm != NULL && i < 4; i++)
		buffer_printf(b, "%s.%s\t%d\n", norm, part[i], out);
	if (norm != NULL)
		buffer_printf(b, "%s.num_batches_tracked\tscalar\n", norm);
}

/*
 * Append the keys of a convolution of block ${i} of stage ${s}, and of its
 * norm.
 */
static void
add_block_conv(struct buffer *b, int s, int i, const char *name, int out, int in,
    const char *kernel)
{
	char *conv = xprintf("s%d.pathway0_res%d.%s", s, i, name);
	char *norm = xprintf("%s_bn", conv);

	add_conv(b, conv, norm, out, in, kernel);
	free(conv);
	free(norm);
}

/*
 * Append the keys of a gate.  Every other block has one, from the first.  It
 * has 1/16 of the channels, rounded to a multiple of 8 that is at most a tenth
 * smaller.
 */
static void
add_gate(struct buffer *b, int s, int i, int wide)
{
	int few = wide < 192 ? 8 : wide == 216 ? 16 : 32;

	for (int k = 1; k <= 2; k++) {
		int out = k == 1 ? few : wide, in = k == 1 ? wide : few;

		buffer_printf(b, "s%d.pathway0_res%d.branch2.se.fc%d.weight\t"
		    "%dx%dx1x1x1\n", s, i, k, out, in);
		buffer_printf(b, "s%d.pathway0_res%d.branch2.se.fc%d.bias\t%d\n",
		    s, i, k, out);
	}
}

/*
 * Keys of PySlowFast's X3D-S and X3D-M, as made by its
 * models/video_model_builder.py, stem_helper.py, resnet_helper.py, operators.py
 * and head_helper.py.  The first block of each stage has a projection with a
 * norm.
 */
static void
x3d_keys(void)
{
	static const int blocks[] = { 3, 5, 11, 7 };
	static const struct row r = { "of PySlowFast's X3D", "pyslowfast",
		"x3d_m_pyslowfast", 400 };
	struct buffer b = { 0 };
	int in = 24;

	add_conv(&b, "s1.pathway0_stem.conv_xy", NULL, 24, 3, "1x3x3");
	add_conv(&b, "s1.pathway0_stem.conv", "s1.pathway0_stem.bn", 24, 1,
	    "5x1x1");
	for (int s = 0; s < 4; s++)
		for (int i = 0; i < blocks[s]; i++) {
			int out = 24 << s, wide = out * 9 / 4;

			if (i == 0)
				add_block_conv(&b, s + 2, i, "branch1", out, in,
				    "1x1x1");
			add_block_conv(&b, s + 2, i, "branch2.a", wide, in,
			    "1x1x1");
			add_block_conv(&b, s + 2, i, "branch2.b", wide, 1,
			    "3x3x3");
			if (i % 2 == 0)
				add_gate(&b, s + 2, i, wide);
			add_block_conv(&b, s + 2, i, "branch2.c", out, wide,
			    "1x1x1");
			in = out;
		}
	add_conv(&b, "head.conv_5", "head.conv_5_bn", 432, 192, "1x1x1");
	add_conv(&b, "head.lin_5", NULL, 2048, 432, "1x1x1");
	buffer_text(&b, "head.projection.weight\t400x2048\n"
	    "head.projection.bias\t400\n");
	keys(&r, b.data);
	buffer_free(&b);
}

/* Every table of keys in tests/golden must be in the list above. */
static void
all_tables(void)
{
	DIR *d = opendir("tests/golden");
	struct dirent *e;
	int missing = 0, tables = 0;

	while (d != NULL && (e = readdir(d)) != NULL) {
		char name[300];
		int found = 0;

		if (!text_starts(e->d_name, "keys_"))
			continue;
		tables++;
		for (int i = 0; i < ROWS; i++) {
			snprintf(name, sizeof(name), "keys_%s.tsv", rows[i].keys);
			found |= strcmp(name, e->d_name) == 0;
		}
		missing += !found;
		if (!found)
			diag("%s", e->d_name);
	}
	if (d != NULL)
		closedir(d);
	ok(missing == 0 && tables == ROWS,
	    "all %d tables of keys are checked", tables);
}

/* Every network in share/models must be in the list above. */
static void
all_networks(void)
{
	DIR *d = opendir("share/models");
	struct dirent *e;
	int networks = 0;

	while (d != NULL && (e = readdir(d)) != NULL)
		networks += text_ends(e->d_name, ".net");
	if (d != NULL)
		closedir(d);
	is(networks, WRITTEN, "all networks are in the list");
}

int
main(void)
{
	setenv("VT_SHARE_DIR", "share", 0);
	all_tables();
	for (int i = 0; i < ROWS; i++)
		golden_keys(&rows[i]);
	x3d_keys();
	all_networks();
	networks_written();
	return done();
}
