/*
 * The comparison of tasks with a reference: right tasks pass, fused or not, and
 * each kind of planted fault is found in its task only.  Tasks that differ in an
 * attribute are compared one by one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/alike.h"
#include "net/parity/parity.h"

#include "tap.h"

/*
 * Accumulated shortcuts, shifts of whole blocks and within a block, and equal
 * tasks.
 */
static const char text[] =
    "input x out=3 mean=.4,.4,.4 std=.2,.2,.2\n"
    "conv a in=x out=48 k=3,3\n"
    "bn b in=a\n"
    "relu r in=b\n"
    "shift s in=r fold=3\n"
    "conv c in=s out=48 k=1,1\n"
    "bn d in=c\n"
    "add e in=d,r\n"
    "relu f in=e\n"
    "shift g in=f fold=3\n"
    "conv h in=g out=48 k=1,1\n"
    "bn i in=h gamma=0.5\n"
    "add j in=f,i\n"
    "relu k in=j\n"
    "shift l in=k fold=5\n"
    "maxpool m in=l k=3,3 s=2,2\n"
    "conv o in=m out=20 k=3,3 bias=1\n"
    "add p in=o,o\n"
    "avgpool q in=p over=hw\n"
    "dropout t in=q rate=0.5\n"
    "linear u in=t out=classes std=0.3\n"
    "avgpool v in=u over=t\n";
enum { CLASSES = 5, ROWS = 64 };

/* A device and a plan of the network on it. */
struct half { struct device *device; struct graph *graph; struct net *net;
    struct plan *plan; };

static struct half
half_open(const struct backend *b, enum precision precision)
{
	struct half h = { .device = device_open(b, &(struct device_options){
	    .threads = 2, .precision = precision }) };
	struct dims in = { 3, 4, 9, 7, 3 };

	h.graph = graph_parse("net", text, CLASSES);
	if (h.graph == NULL)
		exit(1);
	h.net = net_new(h.graph, h.device);
	net_init(h.net, 5);
	h.plan = net_plan(h.net, &in, 1);
	if (h.plan == NULL || net_reserve(h.net) != 0)
		exit(1);
	return h;
}

static void
half_close(struct half *h)
{
	net_free(h->net);
	graph_free(h->graph);
	device_close(h->device);
}

/* Compare ${b} with ref64.  Write the rows and return their number. */
static int
compare(const struct backend *b, enum precision precision, struct parity *row)
{
	struct half x = half_open(b, precision);
	struct half key = half_open(backend_find("ref64"), precision);
	struct parity_options o = { .by_norm = precision != PRECISION_FP32 };
	int n = parity_run(x.net, x.plan, key.net, key.plan, &o, row), all = 0;

	for (int i = 0; i < n; i++)
		all += row[i].like;
	for (int i = 0; i < x.plan->n; i++)
		all -= x.plan->task[i].fused_into == i;
	is(all, 0, "every task is in one row");
	half_close(&x);
	half_close(&key);
	return n;
}

static void
test_right(const char *name, enum precision precision)
{
	struct parity row[ROWS];
	int n = compare(backend_find(name), precision, row);
	double worst = 0, all = 0;

	for (int i = 0; i < n; i++) {
		worst = fmax(worst, parity_worst(&row[i]));
		all += row[i].forward > 0 && row[i].dx > 0;
	}
	ok(worst <= parity_tolerance(precision), "%s agrees with ref64%s",
	    name, precision == PRECISION_BF16 ? " in bf16" : "");
	for (int i = 0; i < n; i++)
		if (parity_worst(&row[i]) > parity_tolerance(precision))
			diag("task %d: %g %g %g", row[i].task,
			    row[i].forward, row[i].dx, row[i].dw);
	diag("%d rows, the worst differs by %g", n, worst);
	if (precision == PRECISION_FP32)
		ok(all > n / 3,
		    "a third of the rows differs by rounding: other code ran");
}

/* ---- planted faults ---- */

static struct op_impl impls[OP_KINDS];
static const struct op_impl *table[OP_KINDS], *real;

/* Change the first element of an activation. */
static void
bend(struct task *t, const struct dims *d, void *at)
{
	double *v = xcalloc(dims_count(d), sizeof(*v));

	device_read(t->device, v, d, at);
	v[0] += 0.01;
	device_write(t->device, at, d, v);
	free(v);
}

static void
bent_forward(struct task *t)
{
	real->forward(t);
	bend(t, &t->out, t->y);
}

static void
bent_backward(struct task *t)
{
	real->backward(t);
	bend(t, &t->in[0], t->dx[0]);
}

static void
no_forward(struct task *t)
{
	(void)t;
}

/* Overwrite where it should accumulate. */
static void
new_backward(struct task *t)
{
	double *zero = xcalloc(dims_count(&t->in[0]), sizeof(*zero));

	device_write(t->device, t->dx[0], &t->in[0], zero);
	real->backward(t);
	free(zero);
}

/* Accumulate where it should overwrite. */
static void
adding_weights(struct task *t)
{
	size_t n = (size_t)t->out.c;
	double *was = xcalloc(n, sizeof(*was)), *now = xcalloc(n, sizeof(*was));

	device_get(t->device, was, t->dw[0], n);
	real->backward(t);
	device_get(t->device, now, t->dw[0], n);
	for (size_t i = 0; i < n; i++)
		now[i] += was[i];
	device_put(t->device, t->dw[0], now, n);
	free(was);
	free(now);
}

/* Return ref with other functions for ${kind}. */
static struct backend
slip(enum op_kind kind, void (*forward)(struct task *),
    void (*backward)(struct task *))
{
	struct backend b = *backend_find("ref");

	memcpy(table, b.ops, sizeof(table));
	real = table[kind];
	impls[kind] = *real;
	if (forward != NULL)
		impls[kind].forward = forward;
	if (backward != NULL)
		impls[kind].backward = backward;
	table[kind] = &impls[kind];
	b.ops = table;
	return b;
}

/*
 * Check that differences are found only in operators of ${kind}, and only in
 * the result ${which}.
 */
static void
found(const struct backend *b, enum op_kind kind, int which, const char *what)
{
	struct graph *g = graph_parse("net", text, CLASSES);
	struct parity row[ROWS];
	int n = compare(b, PRECISION_FP32, row), here = 0, elsewhere = 0;

	for (int i = 0; i < n; i++) {
		double v[3] = { row[i].forward, row[i].dx, row[i].dw };

		for (int k = 0; k < 3; k++)
			if (v[k] > 1e-4) {
				int mine = g->op[row[i].task].kind == kind &&
				    k == which;

				here += mine;
				elsewhere += !mine;
			}
	}
	ok(here > 0 && elsewhere == 0, "%s is found there and nowhere else",
	    what);
	graph_free(g);
}

enum { FORWARD, DX, DW };

static void
test_slips(void)
{
	struct backend b;

	b = slip(OP_RELU, bent_forward, NULL);
	found(&b, OP_RELU, FORWARD, "a wrong element of an output");
	b = slip(OP_SHIFT, no_forward, NULL);
	found(&b, OP_SHIFT, FORWARD, "an output that is not written");
	b = slip(OP_MAXPOOL, NULL, bent_backward);
	found(&b, OP_MAXPOOL, DX, "a wrong element of an input gradient");
	b = slip(OP_SHIFT, NULL, new_backward);
	found(&b, OP_SHIFT, DX,
	    "an input gradient that is overwritten, not accumulated");
	b = slip(OP_BN, NULL, adding_weights);
	found(&b, OP_BN, DW,
	    "a parameter gradient that is accumulated, not overwritten");
}

/* ---- planted faults in fused tasks ---- */

static const struct backend *whole;
static struct op_impl fused;

static void
fuse_and_bend(struct device *d, struct task *task, int n)
{
	whole->fuse(d, task, n);
	for (int i = 0; i < n; i++)
		if (task[i].fused_into != i && task[task[i].fused_into].materialized) {
			struct task *run = &task[task[i].fused_into];

			real = run->impl;
			fused = *real;
			fused.forward = bent_forward;
			run->impl = &fused;
			return;
		}
}

static void
test_fused(void)
{
	struct backend b = *(whole = backend_find("cpu"));
	struct parity row[ROWS];
	int n, bad = 0;

	b.fuse = fuse_and_bend;
	n = compare(&b, PRECISION_FP32, row);
	for (int i = 0; i < n; i++)
		bad += row[i].forward > 1e-4;
	is(bad, 1, "a wrong element of a fused task is found");
}

/* ---- tasks that do the same work ---- */

/*
 * Pairs of lines that differ in one attribute.  ${free}: the tasks do the same
 * work nevertheless.
 */
static const struct pair { int free; const char *a, *b; } pairs[] = {
	{ 0, "input a out=3 stream=p", "input b out=3 stream=q" },
	{ 0, "input a out=3", "input b out=3 mean=.4" },
	{ 0, "input a out=3", "input b out=3 std=.2,1,1" },
	{ 1, "conv a in=x out=6 std=1", "conv b in=x out=6 std=2" },
	{ 0, "conv a in=x out=6", "conv b in=x out=6 k=3,3" },
	{ 0, "conv a in=x out=6 k=3,3", "conv b in=x out=6 k=3,3 s=1,2" },
	{ 0, "conv a in=x out=6 k=3,3", "conv b in=x out=6 k=3,3 p=0,1" },
	{ 0, "conv a in=x out=6", "conv b in=x out=6 groups=3" },
	{ 0, "conv a in=x out=6", "conv b in=x out=6 bias=1" },
	{ 1, "bn a in=x", "bn b in=x gamma=0" },
	{ 0, "bn a in=x", "bn b in=x eps=1e-3" },
	{ 0, "bn a in=x", "bn b in=x momentum=0.2" },
	{ 0, "shift a in=x fold=3", "shift b in=x fold=2" },
	{ 0, "shift a in=x fold=3", "shift b in=x fold=3 from=past" },
	{ 0, "avgpool a in=x over=hw", "avgpool b in=x over=tw" },
	{ 0, "avgpool a in=x k=3,3", "avgpool b in=x k=3,3 edges=cut" },
	{ 0, "dropout a in=x", "dropout b in=x rate=0.2" },
	{ 1, "linear a in=x out=6", "linear b in=x out=6 std=0.3" },
	{ 0, "scale a in=x by=2", "scale b in=x by=2/c" },
	{ 0, "scale a in=x by=2", "scale b in=x by=2 trained=1" },
	{ 0, "frames a in=x step=2", "frames b in=x step=2 first=1" },
	{ 0, "frames a in=x step=2", "frames b in=x step=2 spread=1" },
	{ 0, "bmm a in=x,x", "bmm b in=x,x transpose=a" },
	{ 0, "softmax a in=x over=c", "softmax b in=x over=hc" },
	{ 0, "loss a in=u", "loss b in=u kind=sigmoid" },
	{ 0, "loss a in=u", "loss b in=u target=more" },
	{ 1, "loss a in=u", "loss b in=u weight=2" },
	{ 0, "loss a in=u", "loss b in=u smooth=0.1" },
	{ 0, "loss a in=u kind=focal", "loss b in=u kind=focal gamma=1" },
};

/* Return the operator ${name} of ${g}. */
static struct op *
alike_op(struct graph *g, const char *name)
{
	struct op *op = g->op;

	while (strcmp(op->name, name) != 0)
		op++;
	return op;
}

static void
test_alike(void)
{
	char net[1024];
	struct graph *g;
	struct task t = { 0 }, u = { 0 };

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		const struct pair *p = &pairs[i];

		/* Operators without a reader must precede a loss. */
		snprintf(net, sizeof(net), "input x out=3\navgpool v in=x "
		    "over=thw\nlinear u in=v out=classes\n%s\n%s\n%s", p->a,
		    p->b, p->a[0] == 'l' && p->a[1] == 'o' ? "" :
		    "avgpool y in=a over=thw\navgpool z in=b over=thw\n"
		    "linear c in=y out=classes\nlinear d in=z out=classes\n"
		    "loss l in=u\nloss m in=c\nloss n in=d\n");
		g = graph_parse("net", net, CLASSES);
		if (!ok(g != NULL, "%s: read", p->b))
			continue;
		t.op = alike_op(g, "a");
		u.op = alike_op(g, "b");
		is(task_alike(&t, &u), p->free, p->b);
		u.op = t.op;
		ok(task_alike(&t, &u), "%s: like itself", p->a);
		graph_free(g);
	}
	g = graph_parse("net", text, CLASSES);
	t.op = alike_op(g, "b");
	u.op = alike_op(g, "d");
	ok(task_alike(&t, &u), "two bns are alike");
	alike_op(g, "d")->bn.fixed = 1;
	ok(!task_alike(&t, &u), "a fixed bn is not like another");
	graph_free(g);
}

int
main(void)
{
	int cpu = 0;

	for (int i = 0; backends[i] != NULL; i++)
		cpu |= strcmp(backends[i]->name, "cpu") == 0;
	test_right("ref", PRECISION_FP32);
	test_right("ref", PRECISION_BF16);
	test_slips();
	test_alike();
	if (cpu) {
		test_right("cpu", PRECISION_FP32);
		test_fused();
	} else {
		skip("cpu", "built without oneDNN");
	}
	return done();
}
