/*
 * Names of other programs: the tables in share/weights write the keys, shapes
 * and counters that those programs have, for every table of keys in
 * tests/golden; and what is written so is read back to the same parameters.
 */
#include <dirent.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/share.h"
#include "base/table.h"
#include "base/text.h"
#include "train/export.h"
#include "train/match.h"

#include "tap.h"

/* A text in a .net file and what stands there instead. */
struct edit { const char *from, *to; };

/* MMAction2's SlowFast has neither norm nor activation on its laterals. */
static const struct edit bare_laterals[] = {
	{ "bn      $name.bn    in=$name.conv\n", "" },
	{ "relu    $name.relu  in=$name.bn\n", "" },
	{ "in=$slow,$name.relu", "in=$slow,$name.conv" }, { NULL, NULL }
};
/* Its gaussian form of the non-local block compares the features themselves. */
static const struct edit gaussian[] = {
	{ "conv     $name.theta  in=$in out=$mid k=1,1,1 bias=1 std=$std\n",
		"" },
	{ "conv     $name.phi    in=$in out=$mid k=1,1,1 bias=1 std=$std\n",
		"" },
	{ "$name.keys   in=$name.phi", "$name.keys   in=$in" },
	{ "in=$name.theta,$name.keys", "in=$in,$name.keys" }, { NULL, NULL }
};
/* Its I3D has such blocks behind the first, third and fifth of a stage. */
#define NL(block, mid, out) { "in=" block " ", "in=" block ".nl " }, \
	{ "\nblock       " block, "\nblock       " block }
static const struct edit nl_i3d[] = {
	{ "\ninput ", "\ndef nl\nconv $name.theta in=$in out=$mid k=1,1,1 "
		"bias=1\nconv $name.phi in=$in out=$mid k=1,1,1 bias=1\n"
		"conv $name.g in=$in out=$mid k=1,1,1 bias=1\n"
		"bmm $name.score in=$name.theta,$name.phi transpose=b\n"
		"bmm $name.sum in=$name.score,$name.g\n"
		"conv $name.out in=$name.sum out=$out k=1,1,1 bias=1\n"
		"bn $name.bn in=$name.out gamma=0\n"
		"add $name in=$name.bn,$in\nend\n\ninput " },
	{ "in=layer2.0 ", "in=layer2.0.nl " },
	{ "in=layer2.2 ", "in=layer2.2.nl " },
	{ "in=layer3.0 ", "in=layer3.0.nl " },
	{ "in=layer3.2 ", "in=layer3.2.nl " },
	{ "in=layer3.4 ", "in=layer3.4.nl " },
	{ "block       layer2.1", "nl layer2.0.nl in=layer2.0 mid=256 out=512\n"
		"block       layer2.1" },
	{ "block       layer2.3", "nl layer2.2.nl in=layer2.2 mid=256 out=512\n"
		"block       layer2.3" },
	{ "block       layer3.1", "nl layer3.0.nl in=layer3.0 mid=512 out=1024\n"
		"block       layer3.1" },
	{ "block       layer3.3", "nl layer3.2.nl in=layer3.2 mid=512 out=1024\n"
		"block       layer3.3" },
	{ "block       layer3.5", "nl layer3.4.nl in=layer3.4 mid=512 out=1024\n"
		"block       layer3.5" },
	{ NULL, NULL }
};
#undef NL

/* A table of keys, and which network by which names has them. */
static const struct row {
	const char *keys, *names, *network;
	int classes;
	const struct edit *edit;
} rows[] = {
	{ "torchvision_resnet50", "torchvision", "resnet50", 1000, NULL },
	{ "tsm_r50_8f_k400", "tsm", "tsm_r50", 400, NULL },
	{ "tsm_r50_16f_k400", "tsm", "tsm_r50", 400, NULL },
	{ "tsm_r50_8f_sth", "tsm", "tsm_r50", 174, NULL },
	{ "tsm_r50_8f_nl_k400", "tsm", "tsm_r50_nl", 400, NULL },
	{ "tsm_r50_8f_tpool_k400", "tsm", "tsm_r50_tpool", 400, NULL },
	{ "tsm_r101_8f_k400", "tsm", "tsm_r101", 400, NULL },
	{ "tsm_mobilenetv2_8f_k400", "tsm", "tsm_mobilenet_v2", 400, NULL },
	{ "tsm_online_mobilenetv2_jester", "tsm", "tsm_mobilenet_v2_online",
		27, NULL },
	{ "tsmrepo_tsn_r50_8f_k400", "tsm", "tsn_r50", 400, NULL },
	{ "psf_RES_R50_IN1K", "pyslowfast", "resnet50", 1000, NULL },
	{ "psf_C2D_8x8_R50", "pyslowfast", "c2d_r50", 400, NULL },
	{ "psf_C2D_NLN_8x8_R50", "pyslowfast", "c2d_r50_nl", 400, NULL },
	{ "psf_I3D_8x8_R50", "pyslowfast", "i3d_r50", 400, NULL },
	{ "psf_I3D_NLN_8x8_R50", "pyslowfast", "i3d_r50_nl", 400, NULL },
	{ "psf_SLOW_4x16_R50", "pyslowfast", "slow_r50", 400, NULL },
	{ "psf_SLOW_8x8_R50", "pyslowfast", "slow_r50", 400, NULL },
	{ "psf_SLOW_NLN_8x8_R50", "pyslowfast", "slow_r50_nl", 400, NULL },
	{ "psf_SLOWFAST_4x16_R50", "pyslowfast", "slowfast_r50_4x16", 400,
		NULL },
	{ "psf_SLOWFAST_8x8_R50", "pyslowfast", "slowfast_r50_8x8", 400, NULL },
	{ "psf_SLOWFAST_NLN_8x8_R50", "pyslowfast", "slowfast_r50_8x8_nl", 400,
		NULL },
	{ "psf_SLOWFAST_16x8_R50_SSv2", "pyslowfast", "slowfast_r50_16x8", 174,
		NULL },
	{ "psf_SLOWFAST_16x8_R50_Charades", "pyslowfast", "slowfast_r50_16x8",
		157, NULL },
	{ "mmaction2_tsn_r50_3seg_k400", "mmaction2", "tsn_r50", 400, NULL },
	{ "mmaction2_tsm_r50_8f_k400", "mmaction2", "tsm_r50", 400, NULL },
	{ "mmaction2_tsm_mobilenetv2_8f_k400", "mmaction2", "tsm_mobilenet_v2",
		400, NULL },
	{ "mmaction2_tsm_r50_nl_embedded_gaussian_8f_k400", "mmaction2",
		"tsm_r50_nl", 400, NULL },
	{ "mmaction2_tsm_r50_nl_dot_product_8f_k400", "mmaction2",
		"tsm_r50_nl", 400, NULL },
	{ "mmaction2_tsm_r50_nl_gaussian_8f_k400", "mmaction2", "tsm_r50_nl",
		400, gaussian },
	{ "mmaction2_c2d_nopool_8f_k400", "mmaction2", "c2d_r50", 400, NULL },
	{ "mmaction2_i3d_r50_32f_k400", "mmaction2", "i3d_r50_32f", 400, NULL },
	{ "mmaction2_i3d_r50_nl_dot_product_32f_k400", "mmaction2",
		"i3d_r50_32f", 400, nl_i3d },
	{ "mmaction2_slowfast_r50_4x16_k400", "mmaction2", "slowfast_r50_4x16",
		400, bare_laterals },
	{ "mmaction2_slowfast_r50_8x8_k400", "mmaction2", "slowfast_r50_8x8",
		400, bare_laterals },
	{ "mmaction2_slowfast_r50_8x8_multigrid_lateralnorm_k400", "mmaction2",
		"slowfast_r50_8x8", 400, NULL },
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* ${text} with every ${from} as ${to}; the caller's. */
static char *
replace(char *text, const char *from, const char *to)
{
	struct buffer b = { 0 };
	const char *p = text, *at;

	while ((at = strstr(p, from)) != NULL) {
		buffer_add(&b, p, (size_t)(at - p));
		buffer_text(&b, to);
		p = at + strlen(from);
	}
	if (p == text)
		printf("Bail out! no \"%s\" in the network\n", from);
	if (p == text)
		exit(1);
	buffer_text(&b, p);
	free(text);
	return b.data;
}

static struct graph *
network(const struct row *r)
{
	char *path = share_find("models", r->network, ".net");
	struct buffer text = { 0 };
	struct graph *g;

	if (path == NULL || file_read_text(path, &text) != 0)
		return NULL;
	for (const struct edit *e = r->edit; e != NULL && e->from != NULL; e++)
		text.data = replace(text.data, e->from, e->to);
	g = graph_parse(path, text.data, r->classes);
	buffer_free(&text);
	free(path);
	return g;
}

/* "name shape" of a table of keys, or of what is written; to be sorted. */
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

/* A tensor of a table's row, "name shape", as a file has it. */
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

/* A file of these keys, within ${prefix}, is recognised, and all of it used. */
static void
reading(const struct row *r, const struct graph *g, char **row, size_t n,
    const char *prefix)
{
	struct weights w = { .container = "none", .tensors = n,
		.tensor = xcalloc(n, sizeof(*w.tensor)) };
	struct match *m;
	int fresh = 0, left = 0;

	for (size_t i = 0; i < n; i++)
		w.tensor[i] = as_weight(row[i], prefix);
	m = match_new(g, &w, "a\nb\n");
	for (int i = 0; i < g->nparam; i++) {
		const char *name = g->param[i].name;

		/* Their classifier may take the pathways the other way; what
		 * is folded into a norm there is 0 here. */
		if (m->param[i].fate == FATE_LOADED ||
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
	    "%s%s: recognised as %s, and all of it loaded", prefix, r->keys,
	    m->names);
	match_free(m);
	for (size_t i = 0; i < n; i++)
		free((void *)w.tensor[i].name);
	free(w.tensor);
}

static void
keys(const struct row *r)
{
	char *file = xprintf("keys_%s.tsv", r->keys);
	struct buffer text = { 0 };
	struct naming *n = naming_open(r->names);
	struct graph *g = network(r);
	struct export e = { 0 };
	size_t wanted = 0, differ = 0;
	char **want = NULL, **got, *line, *at;
	size_t cap = 0;

	if (n == NULL || g == NULL || file_read_text(golden_path(file), &text)
	    != 0 || export_new(g, n, &e) != 0) {
		ok(0, "%s", r->keys);
		goto done;
	}
	for (at = text.data; (line = strsep(&at, "\n")) != NULL;) {
		char *name = strsep(&line, "\t"), *shape = strsep(&line, "\t");

		if (*name == '\0' || *name == '#' || shape == NULL ||
		    strcmp(name, "key") == 0)
			continue;
		want = array_room(want, wanted, &cap, sizeof(*want));
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
	if (!ok(differ == 0 && wanted > 100, "%s: %s has its keys and shapes",
	    r->keys, r->network))
		diag("%zu names, wanted %zu", e.tensors, wanted);
	reading(r, g, want, wanted, (r - rows) % 2 == 0 ? "" : "module.");
	for (size_t i = 0; i < e.tensors; i++)
		free(got[i]);
	for (size_t i = 0; i < wanted; i++)
		free(want[i]);
	free(got);
	free(want);
done:
	export_free(&e);
	naming_close(n);
	graph_free(g);
	buffer_free(&text);
	free(file);
}

/* Every table of keys in tests/golden is in the list above. */
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
	ok(missing == 0 && tables == ROWS, "all %d tables of keys", tables);
}

int
main(void)
{
	setenv("VT_SHARE_DIR", "share", 0);
	all_tables();
	for (int i = 0; i < ROWS; i++)
		keys(&rows[i]);
	return done();
}
