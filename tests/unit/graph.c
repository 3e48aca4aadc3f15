/*
 * The .net language, accepted networks: defaults, attributes, shapes,
 * parameters, multiply-adds, streams and heads are those of vt-model(5).
 */
#include "base/table.h"
#include "graph/graph.h"

#include "tap.h"

#define HEAD "input x out=3\n"

static const struct op *
op_named(const struct graph *g, const char *name)
{
	for (int i = 0; i < g->nop; i++)
		if (strcmp(g->op[i].name, name) == 0)
			return &g->op[i];
	printf("Bail out! no %s in %s\n", name, g->name);
	exit(1);
}

static const struct param *
param_named(const struct graph *g, const char *name)
{
	for (int i = 0; i < g->nparam; i++)
		if (strcmp(g->param[i].name, name) == 0)
			return &g->param[i];
	printf("Bail out! no %s in %s\n", name, g->name);
	exit(1);
}

/* Every default and every attribute of vt-model(5). */
static void
language(void)
{
	static const char text[] =
	    "# comment\r\n"
	    "def unit\n"
	    "conv $name.c in=$in out=$out k=$k # a $comment\n"
	    "\n"
	    "relu $name in=$name.c\n"
	    "  end # of unit\n"
	    "def two\n"
	    "unit $name.a in=$in out=16 k=1,1\n"
	    "unit $name in=$name.a out=16 k=3,3,3\n"
	    "end\n"
	    "\tinput x out=3\r\n"
	    "two t in=x\n"
	    "conv c in=t out=32 k=5,4 s=2,3 groups=4 bias=1\n"
	    "conv d in=c out=16 k=2,3,3 s=2,1,1 p=0,2,1 std=0.25\n"
	    "bn b in=d\n"
	    "bn e in=b gamma=0 eps=1e-3 momentum=0.01\n"
	    "shift s in=e fold=4\n"
	    "add a in=e,s,e\n"
	    "maxpool m in=a k=2,2\n"
	    "dropout o in=m\n"
	    "avgpool p in=o over=thw\n"
	    "linear f in=p out=12\n"
	    "linear l in=f out=classes std=0.5";	/* no newline at the
							 * end */
	struct graph *g = graph_parse("dir/t.net", text, 7);
	struct dims in = { 2, 6, 24, 24, 3 }, out[32];
	char dims[64];
	const struct op *c, *d;

	if (!ok(g != NULL, "a network with every operator is read"))
		return;
	is_text(g->name, "t", "the name is that of the file without .net");
	is(g->nop, 17, "nested blocks become operators");
	c = op_named(g, "c");
	d = op_named(g, "d");
	ok(c->k[0] == 1 && c->k[1] == 5 && c->k[2] == 4 && c->s[0] == 1 &&
	    c->s[1] == 2 && c->s[2] == 3 && c->conv.groups == 4 &&
	    c->conv.bias,
	    "k of two numbers is h and w");
	ok(c->p[0] == 0 && c->p[1] == 2 && c->p[2] == 1,
	    "the default padding is (k - 1) / 2, rounded down");
	ok(d->k[0] == 2 && d->s[0] == 2 && d->p[0] == 0 && d->p[1] == 2 &&
	    d->p[2] == 1, "k of three numbers is t, h and w");
	is(param_named(g, "c.weight")->ndim, 4,
	    "k=h,w gives weights of 4 dimensions");
	is(param_named(g, "d.weight")->ndim, 5,
	    "k=t,h,w gives weights of 5 dimensions");
	is((long long)param_named(g, "c.weight")->count, 32 * 4 * 5 * 4,
	    "groups divide the input channels of weights");
	near(param_named(g, "c.weight")->std, sqrt(2.0 / (32 * 5 * 4)), 1e-15,
	    "conv weights are normal of variance 2 / (out taps)");
	near(param_named(g, "d.weight")->std, 0.25, 0,
	    "std sets the deviation of conv weights");
	near(param_named(g, "c.bias")->std, 0, 0,
	    "conv biases are initialized to 0");
	near(param_named(g, "l.weight")->std, 0.5, 0,
	    "std sets the deviation of linear weights");
	near(param_named(g, "f.weight")->std, 0.01, 0,
	    "linear weights have a deviation of 0.01 by default");
	near(param_named(g, "b.weight")->fill, 1, 0,
	    "bn scales are initialized to 1");
	near(param_named(g, "e.weight")->fill, 0, 0,
	    "gamma sets the initial bn scales");
	near(param_named(g, "b.running_var")->fill, 1, 0,
	    "running variances are initialized to 1");
	ok(op_named(g, "b")->bn.eps == 1e-5 &&
	    op_named(g, "b")->bn.momentum == 0.1 &&
	    op_named(g, "e")->bn.eps == 1e-3 &&
	    op_named(g, "e")->bn.momentum == 0.01,
	    "bn has eps 1e-5 and momentum 0.1 by default");
	near(op_named(g, "o")->dropout.rate, 0.5, 0,
	    "dropout has rate 0.5 by default");
	ok(param_named(g, "l.weight")->head && param_named(g, "l.bias")->head &&
	    !param_named(g, "f.weight")->head,
	    "the last linear layer is the classifier");
	if (ok(graph_shapes(g, &in, out, NULL) == 0,
	    "graph_shapes accepts the network")) {
		is_text(dims_text(&out[op_named(g, "t") - g->op], dims),
		    "2x6x24x24x16",
		    "shape: default padding keeps the size at stride 1");
		is_text(dims_text(&out[op_named(g, "c") - g->op], dims),
		    "2x6x12x8x32", "shape: a convolution with strides");
		is_text(dims_text(&out[op_named(g, "d") - g->op], dims),
		    "2x3x14x8x16", "shape: a convolution over time");
		is_text(dims_text(&out[op_named(g, "m") - g->op], dims),
		    "2x3x13x7x16", "shape: a pool");
		is_text(dims_text(&out[op_named(g, "l") - g->op], dims),
		    "2x1x1x1x7", "shape: the scores");
		is_text(dims_text(&out[g->nop - 1], dims), "2x1x1x1x1",
		    "shape: the losses");
	}
	for (int i = 0; i < g->nparam; i++)
		if (g->param[i].offset % PARAM_ALIGN != 0 || (i > 0 &&
		    g->param[i].offset < g->param[i - 1].offset +
		    g->param[i - 1].count))
			ok(0,
			    "%s overlaps another parameter", g->param[i].name);
	ok(g->param[g->nparam - 1].offset + g->param[g->nparam - 1].count <=
	    g->elements, "the flat buffer holds every parameter");
	graph_free(g);
}

/* Operators of networks with two pathways and of those with attention. */
static void
joins(void)
{
	static const char text[] = HEAD
	    "frames slow in=x step=4\n"
	    "frames odd in=x step=3 first=2\n"
	    "frames ends in=x step=5 spread=1\n"
	    "conv a in=x out=20 k=5,1,1 s=4,1,1\n"
	    "concat c in=slow,a,slow\n"
	    "shift s in=c fold=4 from=past\n"
	    "maxpool m in=s k=2,1,1 s=2,1,1\n"
	    "avgpool v in=m k=1,2,2 s=1,2,2 edges=cut\n"
	    "bmm f in=m,v transpose=b\n"
	    "scale d in=f by=1/c\n"
	    "softmax p in=d over=c\n"
	    "bmm y in=p,v\n"
	    "scale g in=y by=0.5 trained=1\n"
	    "avgpool q in=g over=thw\n"
	    "sigmoid i in=q\n"
	    "mul u in=g,i\n"
	    "swish h in=u\n"
	    "relu6 r in=h\n"
	    "avgpool e in=r over=thw\n"
	    "avgpool l in=odd over=thw\n"
	    "avgpool k in=ends over=thw\n"
	    "scale n in=k by=2/sqrt(c) trained=1\n"
	    "concat o in=e,l,n\n"
	    "linear fc in=o out=classes\n";
	static const struct { const char *op, *shape; } want[] = {
		{ "slow", "2x4x12x8x3" }, { "odd", "2x5x12x8x3" },
		{ "ends", "2x3x12x8x3" }, { "c", "2x4x12x8x26" },
		{ "s", "2x4x12x8x26" }, { "m", "2x2x12x8x26" },
		{ "v", "2x2x6x4x26" }, { "f", "2x2x12x8x48" },
		{ "p", "2x2x12x8x48" }, { "y", "2x2x12x8x26" },
		{ "u", "2x2x12x8x26" }, { "o", "2x1x1x1x32" } };
	struct graph *g;
	struct dims in = { 2, 16, 12, 8, 3 }, out[40], z;
	char dims[64];
	const struct op *y;
	struct op ab = { .name = "z", .nin = 2,
		.bmm.transpose = TRANSPOSE_A | TRANSPOSE_B };

	g = graph_parse("t.net", text, 7);
	if (!ok(g != NULL && graph_shapes(g, &in, out, NULL) == 0,
	    "a network with joins, attention and gates is read"))
		return;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		is_text(dims_text(&out[op_named(g, want[i].op) - g->op], dims),
		    want[i].shape, want[i].op);
	y = op_named(g, "y");
	near(op_types[OP_BMM].macs(y, &out[y->in[0]], &out[y - g->op]),
	    2.0 * 192 * 48 * 26, 0,
	    "a matrix product counts each multiply-add");
	ok(op_named(g, "s")->shift.past && op_named(g, "v")->avgpool.exclude_pad &&
	    op_named(g, "p")->softmax.axes == OVER_C,
	    "values that are words or letters are read");
	near(op_factor(op_named(g, "d"), 48), 1 / 48.0, 0, "a factor of 1/c");
	is(op_named(g, "d")->nparam, 0, "a constant factor is not a parameter");
	near(param_named(g, "g.weight")->fill, 0.5, 0,
	    "a trained factor is a parameter");
	near(param_named(g, "n.weight")->fill, 2 / sqrt(3), 1e-15,
	    "a trained factor is initialized to its value");
	is((long long)param_named(g, "n.weight")->count, 1,
	    "a trained factor has one element");
	is(param_named(g, "fc.weight")->dim[1], 32,
	    "concat adds up the channels");
	ok(op_types[OP_BMM].infer(&ab, (struct dims[]){ { 2, 3, 2, 2, 5 },
	    { 2, 1, 7, 1, 12 } }, &z) == 0 && strcmp(dims_text(&z, dims),
	    "2x1x1x5x7") == 0, "bmm, both transposed: shape");
	graph_free(g);
}

/* Frames of the slow pathway agree with a table of PySlowFast. */
static void
slow_pathway(void)
{
	struct table *t = table_read(golden_path("idx_psf_slow_pathway.tsv"));
	int bad = 0;

	for (size_t r = 0; r < t->rows; r++) {
		int frames = atoi(t->cell[r][0]), i = 0;
		struct op op = { .kind = OP_FRAMES, .frames = {
			.spread = 1, .step = atoi(t->cell[r][1]) } };
		char *next = t->cell[r][2];

		for (;; i++, next++) {
			bad += strtol(next, &next, 10) !=
			    op_frame(&op, frames, i);
			if (*next != ',')
				break;
		}
		bad += i + 1 != op_frames(&op, frames);
	}
	ok(bad == 0 && t->rows == 9,
	    "spread frames are PySlowFast's (%zu rows)",
	    t->rows);
	table_free(t);
}

/*
 * Multiply-adds of the matrix products in I3D's five non-local blocks agree
 * with those counted by PySlowFast.
 */
static void
attention_macs(void)
{
	static const char text[] =
	    "def attend\n"
	    "conv $name.theta in=$in out=$c k=1,1,1 bias=1\n"
	    "maxpool $name.pool in=$in k=1,2,2 s=1,2,2\n"
	    "conv $name.phi in=$name.pool out=$c k=1,1,1 bias=1\n"
	    "conv $name.g in=$name.pool out=$c k=1,1,1 bias=1\n"
	    "scale $name.scale in=$name.theta by=1/sqrt(c)\n"
	    "bmm $name.f in=$name.scale,$name.phi transpose=b\n"
	    "softmax $name.p in=$name.f over=c\n"
	    "bmm $name.y in=$name.p,$name.g\n"
	    "conv $name.out in=$name.y out=3 k=1,1,1 bias=1\n"
	    "bn $name.bn in=$name.out gamma=0\n"
	    "add $name in=$name.bn,$in\n"
	    "end\n" HEAD
	    "attend a in=x c=256\nattend b in=a c=256\n"
	    "maxpool half in=b k=2,2 s=2,2\n"
	    "attend c in=half c=512\nattend d in=c c=512\nattend e in=d c=512\n"
	    "avgpool p in=e over=thw\nlinear fc in=p out=classes\n";
	struct table *t = table_read(golden_path(
	    "layers_psf_I3D_NLN_8x8_R50_224.tsv"));
	struct graph *g = graph_parse("t.net", text, 7);
	struct dims in = { 1, 4, 28, 28, 3 }, out[80];
	double macs = 0;

	if (ok(g != NULL && graph_shapes(g, &in, out, NULL) == 0,
	    "a network with non-local blocks is read")) {
		for (int i = 0; i < g->nop; i++)
			if (g->op[i].kind == OP_BMM)
				macs += op_types[OP_BMM].macs(&g->op[i],
				    &out[g->op[i].in[0]], &out[i]);
		near(macs, strtod(t->cell[t->rows - 1][9], NULL), 0,
		    "multiply-adds of the products are PySlowFast's");
	}
	graph_free(g);
	table_free(t);
}

/* Two streams, a shared trunk, and four heads for two targets. */
static void
heads(void)
{
	static const char text[] =
	    "input x out=3 mean=0.5 std=0.25,0.5,1\n"
	    "input y stream=flow out=10 mean=0.5\n"
	    "input z out=3\n"			/* rgb a second time */
	    "conv a in=x out=8 k=3,3\n"
	    "conv b in=y out=8 k=3,3\n"
	    "conv c in=z out=8 k=3,3\n"
	    "add s in=a,b,c\n"
	    "linear mid in=s out=16\n"
	    "avgpool p in=mid over=thw\n"
	    "linear verb in=p out=12\n"
	    "linear fc in=p out=classes\n"
	    "loss main in=fc smooth=0.1\n"
	    "loss set in=verb target=verb kind=sigmoid weight=0.5\n"
	    "loss more in=verb target=verb kind=focal\n"
	    "loss sharp in=verb target=verb gamma=0.5 kind=focal\n";
	struct graph *g = graph_parse("t.net", text, 7);
	struct dims in[2] = { { 2, 8, 24, 24, 3 }, { 2, 8, 24, 24, 10 } };
	struct dims out[16];
	const struct op *x, *y;

	if (!ok(g != NULL, "a network of two streams and four heads is read"))
		return;
	x = op_named(g, "x");
	y = op_named(g, "y");
	ok(g->needs.streams == 2 && strcmp(g->needs.stream[0].name, "rgb") == 0 &&
	    g->needs.stream[0].c == 3 && strcmp(g->needs.stream[1].name,
	    "flow") == 0 && g->needs.stream[1].c == 10,
	    "the network needs rgb of 3 channels and flow of 10");
	ok(x->input.stream == 0 && y->input.stream == 1 &&
	    op_named(g, "z")->input.stream == 0,
	    "each input has the index of its stream");
	ok(x->input.mean.v[0] == 0.5 && x->input.mean.v[2] == 0.5 &&
	    x->input.sd.v[0] == 0.25 && x->input.sd.v[2] == 1 &&
	    y->input.mean.v[9] == 0.5 && y->input.sd.v[9] == 1,
	    "one mean is for all channels, and std is 1 by default");
	ok(g->needs.targets == 2 && strcmp(g->needs.target[0].name, "class") == 0
	    && g->needs.target[0].classes == 7 && strcmp(g->needs.target[1].name,
	    "verb") == 0 && g->needs.target[1].classes == 12,
	    "the network needs the targets class and verb");
	ok(g->needs.target[0].kinds == (1 << TARGET_CLASS | 1 << TARGET_SOFT) &&
	    g->needs.target[1].kinds == 1 << TARGET_CLASS,
	    "a target may have the kinds that all its losses accept");
	is(g->heads, 4, "the network has four heads");
	ok(g->head[0].scores == op_named(g, "fc") - g->op &&
	    g->head[0].loss == op_named(g, "main") - g->op &&
	    g->head[0].classes == 7 && g->head[2].classes == 12 &&
	    op_named(g, "more")->loss.head == 2,
	    "heads are in the order of the losses");
	ok(op_named(g, "set")->loss.kind == LOSS_SIGMOID &&
	    op_named(g, "set")->loss.weight == 0.5 &&
	    op_named(g, "main")->loss.weight == 1 &&
	    op_named(g, "main")->loss.smooth == 0.1 &&
	    op_named(g, "main")->loss.focus == 0 &&
	    op_named(g, "more")->loss.focus == 2 &&
	    op_named(g, "sharp")->loss.focus == 0.5,
	    "losses have the attributes of their lines");
	ok(param_named(g, "fc.weight")->head && param_named(g, "verb.bias")->head &&
	    !param_named(g, "mid.weight")->head,
	    "the last linear layer of each head is a classifier");
	ok(graph_shapes(g, in, out, NULL) == 0 && out[1].c == 10 && out[0].c == 3,
	    "each stream has its shape");
	in[1].h = 12;
	ok(graph_shapes(g, in, out, NULL) != 0,
	    "streams of shapes that do not fit are refused");
	graph_free(g);
}

int
main(void)
{
	language();
	joins();
	slow_pathway();
	attention_macs();
	heads();
	return done();
}
