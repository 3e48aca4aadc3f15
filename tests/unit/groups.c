/*
 * Parameter groups have the learning rate and weight decay factors of the
 * published programs, and normalizations have no decay.
 */
#include "base/fail.h"
#include "base/table.h"
#include "train/optim/groups.h"

#include "said.h"
#include "tap.h"

/* ---- groups ---- */

struct count { int tensors; size_t values; double lr, decay; };

/* Return the name of a parameter's group in the published table. */
static const char *
published_group(const struct graph *g, const struct param *p)
{
	int first = 0;

	while (g->op[first].kind != OP_CONV)
		first++;
	switch (p->kind) {
	case PARAM_WEIGHT:
		return p->head ? "lr5_weight" : p->op == first ?
		    "first_conv_weight" : "normal_weight";
	case PARAM_BIAS:
		return p->head ? "lr10_bias" : p->op == first ?
		    "first_conv_bias" : "normal_bias";
	default:
		return "BN scale/shift";
	}
}

/*
 * Count the parameters of ${group} and find their common factors; NAN if they
 * differ.
 */
static struct count
count_group(const struct graph *g, const struct group_rule *rule,
    const char *group)
{
	struct count c = { 0, 0, NAN, NAN };

	for (int i = 0; i < g->nparam; i++) {
		const struct param *p = &g->param[i];
		struct group of = group_of(rule, g, p);

		if (p->kind >= PARAM_MEAN ||
		    strcmp(published_group(g, p), group) != 0)
			continue;
		if (c.tensors++ > 0 && (of.lr != c.lr || of.decay != c.decay))
			of = (struct group){ NAN, NAN };
		c.values += p->count;
		c.lr = of.lr;
		c.decay = of.decay;
	}
	return c;
}

static void
published_groups(const struct table *t, const char *row, const char *name,
    int classes)
{
	char path[128];
	struct graph *g;
	int compared = 0;

	snprintf(path, sizeof(path), "share/models/%s.net", name);
	g = graph_read(path, classes);
	for (size_t r = 0; r < t->rows; r++) {
		char *const *cell = t->cell[r];
		struct count c;
		int empty;

		if (strcmp(cell[0], row) != 0 ||
		    strcmp(cell[1], "custom_ops") == 0)
			continue;
		compared++;
		c = count_group(g, group_rule_find("tsm"), cell[1]);
		empty = atoi(cell[2]) == 0;
		ok(c.tensors == atoi(cell[2]) &&
		    c.values == strtoull(cell[3], NULL, 10) && (empty ||
		    (c.lr == atof(cell[4]) && c.decay == atof(cell[5]))),
		    "%s, %s: %s tensors of %s values, learning rate x %s, decay x %s",
		    row, cell[1], cell[2], cell[3], cell[4], cell[5]);
	}
	is(compared, 7, "all groups of the table are compared");
	graph_free(g);
}

/*
 * TSM's rules raise the learning rate of the first convolution of flow
 * (first_conv_weight and first_conv_bias of get_optim_policies).
 */
static void
flow(void)
{
	static const struct { const char *rule; double weight, bias; } want[] = {
		{ "tsm", 5, 10 }, { "tsm-fine", 5, 10 }, { "plain", 1, 1 },
		{ "all", 1, 1 } };
	struct graph *g = graph_parse("t.net", "input r out=3\n"
	    "input f stream=flow out=4\nconv a in=r out=3 bias=1\n"
	    "conv b in=f out=3 bias=1\nadd s in=a,b\n"
	    "conv c in=s out=3 bias=1\n", 3);

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		const struct group_rule *r = group_rule_find(want[i].rule);
		int same = 0;

		for (int k = 0; k < g->nparam; k++) {
			const struct param *p = &g->param[k];
			const struct group usual = p->kind == PARAM_WEIGHT ?
			    r->weight : r->bias, of = group_of(r, g, p);
			double lr = g->op[p->op].name[0] != 'b' ? usual.lr :
			    p->kind == PARAM_WEIGHT ? want[i].weight :
			    want[i].bias;

			same += of.lr == lr && of.decay == usual.decay;
		}
		is(same, g->nparam, "the convolution of flow, by the rule");
	}
	graph_free(g);
}

static void
groups(void)
{
	/*
	 * learning rate and decay of weight, bias, norm, head weight, head bias
	 */
	static const struct { const char *rule; double want[5][2]; } others[] = {
		{ "tsm", { { 1, 1 }, { 2, 0 }, { 1, 0 }, { 5, 1 }, { 10, 0 } } },
		{ "tsm-fine",
		    { { 1, 1 }, { 2, 0 }, { 1, 0 }, { 1, 1 }, { 2, 0 } } },
		{ "plain", { { 1, 1 }, { 1, 1 }, { 1, 0 }, { 1, 1 }, { 1, 1 } } },
		{ "all", { { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 } } },
	};
	static const struct { enum param_kind kind; int head; } kinds[5] = {
		{ PARAM_WEIGHT, 0 }, { PARAM_BIAS, 0 }, { PARAM_SCALE, 0 },
		{ PARAM_WEIGHT, 1 }, { PARAM_BIAS, 1 } };
	struct table *t = table_read(golden_path("tsm_optim_policies.tsv"));
	struct graph *g = graph_parse("t.net", "input x out=3\nconv a in=x out=3\n"
	    "conv b in=a out=3\n", 3);
	char said[256];

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		const struct group_rule *r = group_rule_find(others[i].rule);
		int same = 0;

		for (int k = 0; k < 5; k++) {
			struct param p = { .kind = kinds[k].kind,
				.head = kinds[k].head, .op = 1 };
			struct group got = group_of(r, g, &p);

			same += got.lr == others[i].want[k][0] &&
			    got.decay == others[i].want[k][1];
		}
		is(same, 5, others[i].rule);
	}
	graph_free(g);
	flow();
	said_begin(said, sizeof(said));
	ok(group_rule_find("none") == NULL, "an unknown rule is refused");
	said_end();
	ok(strstr(said, "wanted tsm, tsm-fine, plain or all") != NULL,
	    "the message names the known rules");
	published_groups(t, "tsm_r50_8f_k400", "tsm_r50", 400);
	published_groups(t, "tsm_r50_8f_sth", "tsm_r50", 174);
	published_groups(t, "tsn_r50_8f_k400", "tsn_r50", 400);
	table_free(t);
}

/*
 * Parameters of normalizations decay only by the rule all.  Biases decay also by
 * PySlowFast's rule, plain.
 */
static void
no_decay(const char *name)
{
	char path[128];
	struct graph *g;
	int norms = 0, biases = 0, decayed = 0;

	snprintf(path, sizeof(path), "share/models/%s.net", name);
	g = graph_read(path, 10);
	for (int i = 0; i < g->nparam; i++) {
		const struct param *p = &g->param[i];

		if (p->kind != PARAM_SCALE && p->kind != PARAM_OFFSET &&
		    p->kind != PARAM_BIAS)
			continue;
		norms += p->kind != PARAM_BIAS;
		biases += p->kind == PARAM_BIAS;
		for (const struct group_rule *r = group_rules; r->name != NULL;
		    r++)
			decayed += group_of(r, g, p).decay != 0 &&
			    strcmp(r->name, "all") != 0 &&
			    (p->kind != PARAM_BIAS ||
			    strcmp(r->name, "plain") != 0);
	}
	ok(norms > 0 && biases > 0 && decayed == 0, "%s: none of %d norm "
	    "parameters and %d biases decays", name, norms, biases);
	graph_free(g);
}

int
main(void)
{
	groups();
	no_decay("tsm_r50");
	no_decay("slowfast_r50_8x8");
	return done();
}
