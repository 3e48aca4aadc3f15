/*
 * Exported names: the tables in share/weights give the keys, shapes and
 * counters of other programs, for every table of keys in tests/golden.  Read
 * back, they give the same parameters.  Files that fit a network only in part
 * are detected, and the networks that they fit are found.
 *
 * With a folder as argument, check only the tables that
 * tests/parity/state_dicts.py wrote there.
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
	{ "psf_X3D_M", "pyslowfast", "x3d_m_pyslowfast", 400 },
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
network(const char *name, int classes)
{
	char *path = share_find("models", name, ".net");
	struct graph *g = path != NULL ? graph_read(path, classes) : NULL;

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

/* Return a file with these rows, which file_free frees. */
static struct weights_file
as_file(char **row, size_t n, const char *prefix)
{
	struct weights_file w = { .container = "none", .tensors = n,
		.tensor = xcalloc(n, sizeof(*w.tensor)),
		.names = names_new() };

	for (size_t i = 0; i < n; i++) {
		w.tensor[i] = as_weight(row[i], prefix);
		names_add(w.names, w.tensor[i].name);
	}
	return w;
}

static void
file_free(struct weights_file *w)
{
	for (size_t i = 0; i < w->tensors; i++)
		free((void *)w->tensor[i].name);
	free(w->tensor);
	names_free(w->names);
}

/*
 * Check that a file with these keys, prefixed by ${prefix}, is detected and
 * used completely.
 */
static void
reading(const struct row *r, const struct graph *g, char **row, size_t n,
    const char *prefix)
{
	struct weights_file w = as_file(row, n, prefix);
	struct match *m = match_new(g, &w, "a\nb\n");
	int fresh = 0, left = 0;

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
		    strcmp(m->left[i], "a state of training") != 0 &&
		    left++ < 2)
			diag("%s: %s", w.tensor[i].name, m->left[i]);
	ok(fresh == 0 && left == 0 && strcmp(m->names, r->names) == 0,
	    "%s%s: detected as %s, and all of it is loaded", prefix, r->keys,
	    m->names);
	match_free(m);
	file_free(&w);
}

/*
 * Split ${text}, a table of keys whose lines begin "name<tab>shape", into rows
 * "name shape", sorted.  The caller frees them.
 */
static char **
rows_of(char *text, size_t *n)
{
	char **row = NULL, *line, *at;
	size_t cap = 0;

	*n = 0;
	for (at = text; (line = strsep(&at, "\n")) != NULL;) {
		char *name = strsep(&line, "\t"), *shape = strsep(&line, "\t");

		if (*name == '\0' || *name == '#' || shape == NULL ||
		    strcmp(name, "key") == 0)
			continue;
		row = array_reserve(row, *n, &cap, sizeof(*row));
		row[(*n)++] = xprintf("%s %s", name, shape);
	}
	qsort(row, *n, sizeof(*row), by_text);
	return row;
}

static void
rows_free(char **row, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(row[i]);
	free(row);
}

/* Check that the export of ${r} has the rows ${want}. */
static void
writing(const struct row *r, const struct graph *g, char **want, size_t wanted)
{
	struct key_map *n = key_map_open(r->names);
	struct export e = { 0 };
	size_t differ = 0;
	char **got;

	if (n == NULL || export_new(g, n, &e) != 0) {
		ok(0, "%s", r->keys);
		key_map_close(n);
		return;
	}
	got = xcalloc(e.tensors, sizeof(*got));
	for (size_t i = 0; i < e.tensors; i++)
		got[i] = shown(&e.tensor[i]);
	qsort(got, e.tensors, sizeof(*got), by_text);
	differ = wanted != e.tensors;
	for (size_t i = 0; i < e.tensors && i < wanted; i++)
		if (strcmp(got[i], want[i]) != 0 && differ++ < 2)
			diag("got %s, wanted %s", got[i], want[i]);
	if (!ok(differ == 0 && wanted > 90,
	    "%s: %s is exported with these keys and shapes",
	    r->keys, r->network))
		diag("%zu names, wanted %zu", e.tensors, wanted);
	rows_free(got, e.tensors);
	export_free(&e);
	key_map_close(n);
}

/* Check the table of ${r} at ${path}.  If ${read}, it is only read. */
static void
keys(const struct row *r, const char *path, int read)
{
	struct graph *g = network(r->network, r->classes);
	struct buffer text = { 0 };

	if (g == NULL || file_read_text(path, &text) != 0) {
		ok(0, "%s", path);
	} else {
		size_t n;
		char **row = rows_of(text.data, &n);

		if (!read)
			writing(r, g, row, n);
		reading(r, g, row, n, read || strlen(r->keys) % 2 == 0 ? "" :
		    "module.");
		rows_free(row, n);
	}
	buffer_free(&text);
	graph_free(g);
}

/* Check the tables that ${folder}/list names. */
static void
listed_keys(const char *folder)
{
	char *path = xprintf("%s/list", folder), keys_of[80], names[20], net[64];
	char how[8];
	FILE *f = fopen(path, "r");
	struct row r = { keys_of, names, net, 0 };

	while (f != NULL && fscanf(f, "%79s %19s %63s %d %7s", keys_of, names,
	    net, &r.classes, how) == 5) {
		char *table = xprintf("%s/keys_%s.tsv", folder, keys_of);

		keys(&r, table, strcmp(how, "read") == 0);
		free(table);
	}
	if (f != NULL)
		fclose(f);
	free(path);
}

static void
golden_keys(const struct row *r)
{
	char *file = xprintf("keys_%s.tsv", r->keys);

	keys(r, golden_path(file), 0);
	free(file);
}

/* ---- the networks of each program ---- */

/*
 * The networks of share/models, and the programs for which they can be
 * exported.
 */
static const struct { const char *network, *names; } written[] = {
	{ "c2d_r50", "pyslowfast" },
	{ "c2d_r50_mmaction2", "mmaction2" },
	{ "c2d_r50_nl", "pyslowfast" },
	{ "c2d_r50_nopool", "torchvision tsm pyslowfast mmaction2" },
	{ "c2d_r50_nopool_pyslowfast",
		"torchvision tsm pyslowfast mmaction2" },
	{ "i3d_r50", "pyslowfast mmaction2" },
	{ "i3d_r50_32f", "mmaction2" },
	{ "i3d_r50_32f_nl", "mmaction2" },
	{ "i3d_r50_333", "mmaction2" },
	{ "i3d_r50_nl", "pyslowfast" },
	{ "mc3_18", "torchvision" },
	{ "r2plus1d_18", "torchvision" },
	{ "r2plus1d_34", "torchvision" },
	{ "r2plus1d_34_mmaction2", "" },
	{ "r3d_18", "torchvision" },
	{ "resnet50", "torchvision tsm pyslowfast mmaction2" },
	{ "slow_r50", "pyslowfast mmaction2" },
	{ "slow_r50_mmaction2", "pyslowfast mmaction2" },
	{ "slow_r50_nl", "pyslowfast" },
	{ "slow_r50_nl_mmaction2", "mmaction2" },
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
		struct graph *g = network(written[i].network, 4);
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
		    "%s can be exported with names of %s", written[i].network,
		    *written[i].names != '\0' ? written[i].names : "none"))
			diag("it can with names of %s", b.data);
		buffer_free(&b);
		graph_free(g);
	}
}

/* ---- files of other networks ---- */

/*
 * A table of keys that is loaded into a network of eight classes, with the row
 * ${from} replaced by ${to}, or ${to} appended if ${from} is NULL.
 */
static const struct other {
	const char *keys, *from, *to, *network;
	size_t misfits;
	const char *first;		/* the list of misfits begins so */
	const char *fitting;		/* networks; NULL: not asked for */
} others[] = {
	{ "psf_X3D_M", NULL, NULL, "x3d_m", 4,
	    "s2.pathway0_res0.branch1_bn.bias, ",
	    "x3d_m_pyslowfast, x3d_s_pyslowfast" },
	{ "mmaction2_i3d_r50_nl_dot_product_32f_k400", NULL, NULL,
	    "i3d_r50_32f", 55, "backbone.layer2.1.non_local_block.conv_out.bn",
	    "i3d_r50_32f_nl" },
	{ "mmaction2_slowfast_r50_8x8_k400", NULL, NULL, "slowfast_r50_8x8",
	    16, "lateral1.bn.weight (not in the file), ",
	    "slowfast_r50_8x8_mmaction2" },
	{ "psf_SLOWFAST_8x8_R50", NULL, NULL, "slowfast_r50_8x8_mmaction2", 16,
	    "s1_fuse.bn.bias, ", NULL },
	{ "tsm_r50_8f_nl_k400", NULL, NULL, "tsm_r50", 60,
	    "base_model.layer2.0.nl.W.0.bias, ", NULL },
	{ "tsm_r101_8f_k400", NULL, NULL, "tsm_r50", 255,
	    "base_model.layer3.10.", NULL },
	/* first layers: no rule makes 20 channels of 10, or 3 of 10 */
	{ "tsm_r50_8f_k400", "base_model.conv1.weight 64x3x7x7",
	    "base_model.conv1.weight 64x10x7x7", "tsm_r50_flow10", 1,
	    "base_model.conv1.weight (conv1.weight is 64x20x7x7)",
	    "tsm_r50_flow" },
	{ "tsm_r50_8f_k400", "base_model.conv1.weight 64x3x7x7",
	    "base_model.conv1.weight 64x10x7x7", "tsm_r50", 1,
	    "base_model.conv1.weight (conv1.weight is 64x3x7x7)", NULL },
	{ "tsm_r50_8f_k400", "base_model.conv1.weight 64x3x7x7",
	    "base_model.conv1.weight 64x12x7x7", "tsm_r50", 1,
	    "base_model.conv1.weight (conv1.weight is 64x3x7x7)", "" },
	{ "torchvision_resnet50", "conv1.weight 64x3x7x7",
	    "conv1.6.weight 64x32x3x3", "tsn_r50", 1,
	    "conv1.weight (not in the file)", NULL },
	{ "torchvision_resnet50", "bn1.bias 64", "norm.bias 64", "tsn_r50", 0,
	    "", NULL },
	/* what published recipes initialize so */
	{ "torchvision_resnet50", NULL, NULL, "tsn_r50_flow", 0, "", NULL },
	{ "torchvision_resnet50", NULL, NULL, "i3d_r50_nl", 0, "", NULL },
	{ "torchvision_resnet50", NULL, NULL, "slowfast_r50_8x8", 0, "", NULL },
	{ "torchvision_resnet50", NULL, NULL, "tsm_r50_nl", 0, "", NULL },
	{ "psf_I3D_8x8_R50", NULL, NULL, "i3d_r50_nl", 0, "", NULL },
	/* tensors of no convolution or norm, or not of the backbone */
	{ "torchvision_resnet50", NULL, "anchors 3x4", "tsn_r50", 0, "", NULL },
	{ "torchvision_resnet50", NULL, "layer1.0.table 64", "tsn_r50", 0, "",
	    NULL },
	{ "torchvision_resnet50", NULL, "auxiliary.conv.weight 8x64x3x3",
	    "tsn_r50", 0, "", NULL },
	{ "torchvision_resnet50", NULL, "ema.layer1.0.conv1.weight 64x64x1x1",
	    "tsn_r50", 0, "", NULL },
	{ "mmaction2_tsn_r50_3seg_k400", NULL, "cls_head.aux.weight 8x64x3x3",
	    "tsn_r50", 0, "", NULL },
	/* further operators inside blocks */
	{ "torchvision_resnet50", NULL, "layer1.0.se.fc1.weight 16x256x1x1",
	    "tsn_r50", 1, "layer1.0.se.fc1.weight", NULL },
	{ "torchvision_resnet50", NULL, "layer1.0.norm.running_mean 64",
	    "tsn_r50", 1, "layer1.0.norm.running_mean", NULL },
	{ "torchvision_resnet50", NULL, "layer1.0.conv1.bias 64", "tsn_r50", 1,
	    "layer1.0.conv1.bias", NULL },
	{ "mmaction2_tsn_r50_3seg_k400", NULL,
	    "backbone.layer1.0.tam.G.0.weight 16x8x1", "tsn_r50", 1,
	    "backbone.layer1.0.tam.G.0.weight", NULL },
};

static void
other_network(const struct other *o)
{
	char *file = xprintf("keys_%s.tsv", o->keys);
	struct graph *g = network(o->network, 8);
	struct buffer text = { 0 }, list = { 0 }, fitting = { 0 };
	char **row;
	size_t n, got;
	struct weights_file w;
	struct match *m;

	if (file_read_text(golden_path(file), &text) != 0)
		exit(1);
	if (o->from == NULL && o->to != NULL) {
		buffer_printf(&text, "%s\n", o->to);
		text.data[text.n - 1 - strlen(strchr(o->to, ' '))] = '\t';
	}
	row = rows_of(text.data, &n);
	for (size_t i = 0; i < n; i++)
		if (o->from != NULL && strcmp(row[i], o->from) == 0) {
			free(row[i]);
			row[i] = xstrdup(o->to);
		}
	w = as_file(row, n, "");
	m = match_new(g, &w, NULL);
	buffer_add(&list, "", 0);
	got = match_misfits(m, &list);
	if (!ok(got == o->misfits && text_starts(list.data, o->first),
	    "%s%s%s in %s: %zu tensors do not fit", o->keys, o->to != NULL ?
	    " with " : "", o->to != NULL ? o->to : "", o->network, o->misfits))
		diag("%zu: %s", got, list.data);
	if (o->fitting != NULL) {
		buffer_add(&fitting, "", 0);
		match_fitting(&w, 8, &fitting);
		is_text(fitting.data, o->fitting, "the networks that it fits");
	}
	match_free(m);
	file_free(&w);
	rows_free(row, n);
	buffer_free(&text);
	buffer_free(&list);
	buffer_free(&fitting);
	graph_free(g);
	free(file);
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
main(int argc, char **argv)
{
	setenv("VT_SHARE_DIR", "share", 0);
	if (argc > 1) {
		listed_keys(argv[1]);
		return done();
	}
	all_tables();
	for (int i = 0; i < ROWS; i++)
		golden_keys(&rows[i]);
	all_networks();
	networks_written();
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		other_network(&others[i]);
	return done();
}
