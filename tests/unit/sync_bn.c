/* tests/run: weight 8 */
/*
 * A microbatch split over peers that share BN statistics gives the outputs,
 * gradients and statistics of the whole microbatch.  Peers are threads, each
 * with its own device.
 */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/rng.h"
#include "net/net.h"
#include "net/poison.h"

#include "losses.h"
#include "tap.h"

enum { CLASSES = 5, CLIPS = 4, FRAMES = 3 };

static const struct {
	const char *name, *text;
	int norms;
} nets[] = {
	{ "bn, relu, and dropout per clip",
	  "input x out=3 mean=.4,.4,.4 std=.2,.2,.2\n"
	  "conv a in=x out=20 k=3,3\n"
	  "bn b in=a gamma=0.7\n"
	  "relu r in=b\n"
	  "conv c in=r out=33 k=1,1\n"
	  "bn d in=c\n"
	  "avgpool p in=d over=hw\n"
	  "dropout o in=p rate=0.3\n"
	  "linear l in=o out=classes std=0.3\n"
	  "avgpool q in=l over=t\n", 2 },
	{ "shifts, shortcuts stored shifted, two bns added",
	  "input x out=3 mean=.4,.4,.4 std=.2,.2,.2\n"
	  "conv a in=x out=128 k=3,3\n"
	  "bn b in=a\n"
	  "relu r in=b\n"
	  "shift s in=r fold=2\n"
	  "conv c in=s out=128 k=1,1\n"
	  "bn d in=c\n"
	  "add e in=d,r\n"
	  "relu f in=e\n"
	  "shift g in=f fold=4\n"
	  "conv h in=g out=64 k=1,1\n"
	  "bn i in=h gamma=0.5\n"
	  "conv u in=f out=64 k=1,1\n"
	  "bn v in=u\n"
	  "add j in=v,i\n"
	  "relu k in=j\n"
	  "avgpool p in=k over=hw\n"
	  "linear l in=p out=classes std=0.3\n"
	  "avgpool q in=l over=t\n", 4 },
	{ "bn of one pixel per image",
	  "input x out=3 mean=.4,.4,.4 std=.2,.2,.2\n"
	  "conv a in=x out=40 k=3,3\n"
	  "avgpool p in=a over=hw\n"
	  "bn b in=p\n"
	  "linear l in=b out=classes std=0.3\n"
	  "avgpool q in=l over=t\n", 1 },
};
enum { NETS = sizeof(nets) / sizeof(nets[0]) };

/* ---- peers as threads ---- */

enum { PEERS = 4 };

struct meeting {
	int n;
	pthread_barrier_t met;
	double *x[PEERS];
};

struct peer {
	struct peers peers;		/* first */
	struct meeting *m;
	int rank, sums;
};

static void
meet(const struct peers *peers, struct device *d, double *x, size_t n)
{
	struct peer *me = (struct peer *)peers;
	double *all = xcalloc(n, sizeof(*all)), *mine = xcalloc(n,
	    sizeof(*mine));

	me->sums++;
	device_download(d, mine, x, n * sizeof(*x));
	me->m->x[me->rank] = mine;
	pthread_barrier_wait(&me->m->met);
	for (int k = 0; k < me->m->n; k++)
		for (size_t i = 0; i < n; i++)
			all[i] += me->m->x[k][i];
	pthread_barrier_wait(&me->m->met);
	device_upload(d, x, all, n * sizeof(*x));
	free(all);
	free(mine);
}

/* ---- a step ---- */

struct job {
	const struct graph *g;
	const struct backend *backend;
	enum precision precision;
	struct dims in;			/* of all clips */
	const uint8_t *pixel;
	struct peer peer;
	int parts;
	/*
	 * Scores and losses of its clips, and the gradient of all parameters.
	 */
	double *scores, *losses, *dw;
};

/* Thread: compute one part, or all clips. */
static void *
step(void *arg)
{
	static const int label[CLIPS] = { 1, 4, 0, 2 };
	static const uint64_t clip[CLIPS] = { 7, 8, 9, 10 };
	struct job *j = arg;
	struct device *d = device_open(j->backend, &(struct device_options){
		.threads = 2, .precision = j->precision });
	struct net *n = net_new(j->g, d);
	struct dims in = j->in;
	int first = CLIPS / j->parts * j->peer.rank;
	struct stream s = { in.t, in.h, in.w, in.c, (uint8_t *)j->pixel +
		dims_count(&in) / CLIPS * (size_t)first };
	struct target t = { .classes = CLASSES, .label = (int *)label + first };
	struct feed f = { &s, &t, clip + first, 3, NULL, 0 };
	size_t bytes = j->g->elements * d->elem;
	void *dw = device_alloc(d, bytes);
	struct plan *p;

	in.n = CLIPS / j->parts;
	d->recompute_min = 1;
	p = j->parts == 1 ? net_plan(n, &in, 1) : net_plan_part(n, &in,
	    &j->peer.peers);
	net_init(n, 5);
	net_reserve(n);
	poison_fill(d, n->arena, n->arena_bytes);
	poison_fill(d, dw, bytes);
	net_forward(n, p, &f, dw);
	j->scores = xcalloc((size_t)in.n * CLASSES, sizeof(double));
	j->losses = xcalloc((size_t)in.n, sizeof(double));
	j->dw = xcalloc(j->g->elements, sizeof(double));
	net_scores(p, j->scores);
	losses_read(p, j->losses);
	plan_backward(p, NULL);
	device_get(d, j->dw, dw, j->g->elements);
	device_free(d, dw);
	net_free(n);
	device_close(d);
	return NULL;
}

/*
 * Run all clips in ${parts} parts.  Write scores, losses and the mean of the
 * gradients to ${to}, and the sums of the last part to ${*sums}.  Return the
 * number of statistics that differ between parts.
 */
static int
run(const struct job *like, int parts, struct job *to, int *sums)
{
	const struct graph *g = like->g;
	struct meeting m = { .n = parts };
	struct job part[PEERS];
	pthread_t thread[PEERS];
	int apart = 0, clips = CLIPS / parts;

	pthread_barrier_init(&m.met, NULL, (unsigned)parts);
	for (int k = 0; k < parts; k++) {
		part[k] = *like;
		part[k].parts = parts;
		part[k].peer = (struct peer){ { .n = parts, .sum = meet }, &m, k, 0 };
		pthread_create(&thread[k], NULL, step, &part[k]);
	}
	*to = *like;
	to->scores = xcalloc(CLIPS * CLASSES, sizeof(double));
	to->losses = xcalloc(CLIPS, sizeof(double));
	to->dw = xcalloc(g->elements, sizeof(double));
	for (int k = 0; k < parts; k++) {
		pthread_join(thread[k], NULL);
		memcpy(to->scores + k * clips * CLASSES, part[k].scores,
		    (size_t)clips * CLASSES * sizeof(double));
		memcpy(to->losses + k * clips, part[k].losses,
		    (size_t)clips * sizeof(double));
		for (int q = 0; q < g->nparam; q++) {
			const struct param *a = &g->param[q];

			for (size_t i = a->offset; i < a->offset + a->count; i++)
				to->dw[i] += part[k].dw[i] / parts;
			apart += a->kind >= PARAM_MEAN && memcmp(part[0].dw +
			    a->offset, part[k].dw + a->offset, a->count *
			    sizeof(double)) != 0;
		}
		*sums = part[k].peer.sums;
	}
	for (int k = 0; k < parts; k++) {
		free(part[k].scores);
		free(part[k].losses);
		free(part[k].dw);
	}
	pthread_barrier_destroy(&m.met);
	return apart;
}

static void
job_free(struct job *j)
{
	free(j->scores);
	free(j->losses);
	free(j->dw);
}

/* ---- differences ---- */

static double
distance(const double *x, const double *key, size_t n, double least)
{
	double d = 0, s = 0;

	for (size_t i = 0; i < n; i++) {
		d += (x[i] - key[i]) * (x[i] - key[i]);
		s += key[i] * key[i];
	}
	d = sqrt(d) / (sqrt(s) > least ? sqrt(s) : 1);
	return isnan(d) ? INFINITY : d;
}

/*
 * Return the worst difference of scores, losses and each parameter's gradient
 * or statistic.
 */
static double
apart(const struct job *x, const struct job *key)
{
	double worst = distance(x->scores, key->scores, CLIPS * CLASSES, 0), d;

	d = distance(x->losses, key->losses, CLIPS, 0);
	worst = d > worst ? d : worst;
	for (int q = 0; q < x->g->nparam; q++) {
		const struct param *a = &x->g->param[q];

		d = distance(x->dw + a->offset, key->dw + a->offset, a->count,
		    1e-6);
		worst = d > worst ? d : worst;
	}
	return worst;
}

enum how { MEASURED, BETWEEN, FIXED };

static void
test(const struct backend *b, enum precision precision, int k, int parts,
    enum how how)
{
	static const char *const says[] = { "", ", aggregated", ", fixed" };
	struct graph *g = graph_parse(nets[k].name, nets[k].text, CLASSES);
	struct job like = { .g = g, .backend = b, .precision = precision,
		.in = { CLIPS, FRAMES, 11, 9, 3 } }, whole, x, key;
	uint8_t *pixel = xmalloc(dims_count(&like.in));
	double largest = strcmp(b->name, "ref64") == 0 ? 1e-9 : 1e-4, worst;
	int sums, differ;

	for (size_t i = 0; i < dims_count(&like.in); i++)
		pixel[i] = (uint8_t)rng_philox(2, (uint32_t)i, 0, 0, 99).w[0];
	like.pixel = pixel;
	if (how == BETWEEN)
		graph_between(g);
	for (int i = 0; i < g->nop; i++)
		if (g->op[i].kind == OP_BN)
			g->op[i].bn.fixed = how == FIXED;
	differ = run(&like, parts, &x, &sums);
	like.backend = backend_find("ref64");
	like.precision = PRECISION_FP32;
	run(&like, 1, &key, &(int){ 0 });
	if (precision != PRECISION_FP32) {
		/*
		 * The error must not be larger than that of the whole
		 * microbatch.
		 */
		like.backend = b;
		like.precision = precision;
		run(&like, 1, &whole, &(int){ 0 });
		largest = 1.5 * apart(&whole, &key) + 3e-3;
		job_free(&whole);
	}
	worst = apart(&x, &key);
	if (!ok(worst <= largest, "%s in %d bits, %d parts%s: %s", b->name,
	    precision == PRECISION_FP32 ? 32 : 16, parts, says[how],
	    nets[k].name))
		diag("worst relative difference %g, wanted %g", worst, largest);
	is(differ, 0, "all parts have the same statistics");
	is(sums, how == FIXED ? 0 : 2 * nets[k].norms,
	    "each bn takes two sums over peers");
	job_free(&x);
	job_free(&key);
	free(pixel);
	graph_free(g);
}

/* Return 1 if ${b} has the precision. */
static int
has(const struct backend *b, enum precision precision)
{
	struct device *d = device_open(b, &(struct device_options){
		.threads = 1, .precision = precision });
	int has = d != NULL && d->o.precision == precision;

	device_close(d);
	return has;
}

int
main(void)
{
	static const enum precision precisions[] = { PRECISION_FP32,
		PRECISION_BF16 };

	for (int i = 0; backends[i] != NULL; i++)
		for (int q = 0; q < 2; q++)
			for (int k = 0; k < NETS; k++) {
				if (!has(backends[i], precisions[q])) {
					skip(backends[i]->name,
					    "no such device here");
					continue;
				}
				test(backends[i], precisions[q], k, 2, MEASURED);
				test(backends[i], precisions[q], k, 4, MEASURED);
				test(backends[i], precisions[q], k, 2, BETWEEN);
				test(backends[i], precisions[q], k, 2, FIXED);
			}
	return done();
}
