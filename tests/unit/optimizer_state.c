/* tests/run: weight 4 */
/*
 * Optimizer state owned by ranks: any number of ranks takes the same steps and
 * writes the same checkpoint, from which any number of ranks continues.  This
 * holds for each optimizer of the table, with a moving average and a dynamic
 * loss scale.  It also holds for one that is not in the table.  Ranks are
 * threads.
 */
#include <math.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "comm/exact.h"
#include "train/optim/optim.h"
#include "train/run/snapshot.h"

#include "optimizer_find.h"
#include "tap.h"
#include "devices.h"
#include "tools/threads/threads.h"

/* Parameters of several blocks, with running statistics between them. */
static const char net_text[] =
    "input x out=3\n"
    "conv a in=x out=24 k=3,3\n"
    "bn b in=a\n"
    "conv c in=b out=24 k=3,3\n"
    "bn d in=c\n"
    "avgpool p in=d over=thw\n"
    "linear fc in=p out=classes\n";

enum { STEPS = 3, MAX = 7 };

static const char *dir;

/* ---- an optimizer that is not in the table, on the host ---- */

/* Update element ${i} of a shard. */
static void
trial_element(const struct optimizer_settings *o, struct device *d,
    const struct optim_pass *p, const struct owned_shard *k, size_t i)
{
	const double *often = p->state[2], *scale = p->state[3];
	void *kept = (double *)p->state[1] + k->state_at + i;
	void *before = (char *)p->state[0] + (k->state_at + i) * d->elem;
	void *at = (char *)p->w + (k->at + i) * d->elem;
	double g, w, first, second;

	device_get(d, &g, (const char *)p->g + (k->at + i) * d->elem, 1);
	device_get(d, &w, at, 1);
	device_get(d, &first, before, 1);
	device_download(d, &second, kept, sizeof(second));
	g = g * p->scale + o->decay * k->factor[1] * w;
	first = 0.9 * first + g;
	second = 0.99 * second + g * g;
	w -= p->lr * k->factor[0] * first / sqrt(second) * scale[0] / 1024 *
	    often[k->param];
	device_upload(d, kept, &second, sizeof(second));
	device_put(d, at, &w, 1);
	device_put(d, before, &first, 1);
}

static void
trial_step(const struct optimizer_settings *o, struct device *d,
    const struct optim_pass *p)
{
	for (size_t k = 0; k < p->shards; k++)
		for (size_t i = 0; i < p->shard[k].n; i++)
			trial_element(o, d, p, &p->shard[k], i);
}

static const struct optimizer trial = { "trial", {
	{ "optim/first", SLOT_ELEMENT, SLOT_REAL, 0, 0 },
	{ "optim/second", SLOT_ELEMENT, SLOT_F64, 0.25, 0 },
	{ "optim/trust", SLOT_PARAM, SLOT_F64, 0.5, 0 },
	{ "optim/scale", SLOT_ONCE, SLOT_F64, 1024, 0 },
}, 0, NULL, RATIO_NONE, RATIO_RATE, trial_step };

/* ---- a rank ---- */

struct rank {
	struct graph *g;
	struct device *d;
	struct net *n;
	struct segments own;
	struct optim o;
	void *gradient;
};

static void
rank_open(struct rank *r, struct comm *c, const struct backend *b,
    const struct optimizer *kind)
{
	r->g = graph_parse("slots.net", net_text, 7);
	r->d = device_open(b, &(struct device_options){ .threads = 1 });
	r->n = net_new(r->g, r->d);
	net_init(r->n, 5);
	segments_open(&r->own, c, r->g->elements, 3 * EXACT_BLOCK);
	r->o = (struct optim){ .kind = kind, .rule = group_rule_find("tsm"),
		.set = { .momentum = 0.9, .decay = 0.01, .beta1 = 0.9,
		.beta2 = 0.99, .eps = 1e-8, .trust = 0.01 }, .clip = 3,
		.ema = kind != &trial ? 0.5 : 0, .dynamic_scale = kind != &trial,
		.scale_every = 2 };
	optim_open(&r->o, r->n, &r->own);
	r->gradient = device_alloc(r->d, r->g->elements * r->d->elem);
}

static void
rank_close(struct rank *r)
{
	optim_close(&r->o);
	segments_close(&r->own);
	device_free(r->d, r->gradient);
	net_free(r->n);
	device_close(r->d);
	graph_free(r->g);
}

static void
put(struct rank *r, size_t i, double v)
{
	device_put(r->d, (char *)r->gradient + i * r->d->elem, &v, 1);
}

/*
 * Write the gradient of a step where it is owned, and NaN elsewhere.  It is
 * multiplied by the loss scale; statistics are not.
 */
static void
draw_gradient(struct rank *r, int step)
{
	int me = r->own.comm->rank;
	double scale = optim_loss_scale(&r->o);

	for (int i = 0; i < segments_count(&r->own); i++) {
		struct segment g = segments_get(&r->own, i);

		for (size_t k = 0; k < g.n; k++)
			put(r, g.at + k, g.rank != me ? NAN : 0);
	}
	for (int i = 0; i < r->own.n; i++) {
		const struct segment *s = &r->own.segment[i];

		for (int p = 0; p < r->g->nparam; p++) {
			const struct param *q = &r->g->param[p];

			for (size_t k = 0; k < q->count; k++)
				if (q->offset + k >= s->at &&
				    q->offset + k < s->at + s->n)
					put(r, q->offset + k, (q->kind <
					    PARAM_MEAN ? scale : 1) * (0.1 +
					    0.2 * rng_normal(3, (uint32_t)step,
					    (uint32_t)(q->offset + k))));
		}
	}
}

/* ---- steps on any number of ranks ---- */

struct job {
	const struct backend *b;
	const struct optimizer *kind;
	double norm[STEPS];
	struct hash128 weights[MAX], file;	/* of each rank; of rank 0 */
	int wrong;
};

static struct state
a_state(void)
{
	return (struct state){ .best_metric = "", .grown = 1, .build = "vt 0", .results = "1",
		.isa = "base", .library = "none", .precision = "fp32",
		.settings_id = "00",
		.classes = "a\n", .class_hash = "0", .config = "seed = 7\n",
		.dataset = "00", .history = "11", .model = "net",
		.network = net_text, .frames = 8, .crop = 48, .order = "v1",
		.flips = "none", .class_weights = "none" };
}

static const char *
path_of(const char *name)
{
	static _Thread_local char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void
wrong(struct job *j, int bad)
{
	__atomic_fetch_add(&j->wrong, bad, __ATOMIC_RELAXED);
}

/* Make ${steps} steps from step ${from}, then a checkpoint. */
static void
go(struct rank *r, struct job *j, int from, int steps)
{
	struct comm *c = r->own.comm;
	size_t bytes = r->g->elements * r->d->elem;
	struct state st = a_state();
	struct snapshot *copy;
	void *w = xmalloc(bytes);
	double norm;

	for (int s = from; s < from + steps; s++) {
		draw_gradient(r, s);
		wrong(j, optim_step(&r->o, r->n, r->gradient, 0.5, 0.1, &norm));
		if (c->rank == 0)
			j->norm[s] = norm;
	}
	device_download(r->d, w, r->n->w, bytes);
	j->weights[c->rank] = hash128(w, bytes);
	free(w);
	wrong(j, optim_finite(&r->o, r->n) != 1);
	wrong(j, snapshot_take(&copy, r->n, &r->o.slots, &st) != 0);
	wrong(j, (copy != NULL) != (c->rank == 0));
	if (copy != NULL)
		wrong(j, snapshot_write(copy, path_of("c"), &j->file, NULL) != 0);
	snapshot_free(copy);
}

static void
from_the_first(struct comm *c, void *arg)
{
	struct job *j = arg;
	struct rank r;

	rank_open(&r, c, j->b, j->kind);
	go(&r, j, 0, STEPS);
	rank_close(&r);
}

/* Make one step, and a checkpoint from which other ranks continue. */
static void
the_first(struct comm *c, void *arg)
{
	struct job *j = arg;
	struct rank r;

	rank_open(&r, c, j->b, j->kind);
	go(&r, j, 0, 1);
	rank_close(&r);
}

static void
the_others(struct comm *c, void *arg)
{
	struct job *j = arg;
	struct slots_whole whole = { { NULL } };
	struct safetensors f;
	struct state st;
	struct rank r;

	rank_open(&r, c, j->b, j->kind);
	/* vt-train broadcasts the weights; here every rank reads them. */
	wrong(j, checkpoint_read(path_of("c"), &f, &st) != 0 ||
	    checkpoint_load(&f, path_of("c"), r.n, 0) != 0);
	if (c->rank == 0)
		wrong(j, checkpoint_slots(&f, path_of("c"), &r.o.slots,
		    &whole) != 0);
	safetensors_free(&f);
	wrong(j, slots_scatter(&r.o.slots, &whole) != 0);
	slots_forget(&whole);
	comm_barrier(c);
	go(&r, j, 1, STEPS - 1);
	rank_close(&r);
}

static int
same_bits(const struct job *a, const struct job *b, int ranks)
{
	int same = memcmp(a->norm, b->norm, sizeof(a->norm)) == 0 &&
	    hash128_equal(a->file, b->file);

	for (int r = 0; r < ranks; r++)
		same &= hash128_equal(a->weights[0], b->weights[r]);
	return same;
}

static void
steps(const struct backend *b, const struct optimizer *kind)
{
	struct job one = { .b = b, .kind = kind };
	int same = 1, again = 1, bad;

	comm_threads(1, from_the_first, &one);
	bad = one.wrong;
	ok(one.norm[0] > 3,
	    "%s, %s: the first step is clipped", b->name, kind->name);
	for (int size = 2; size <= MAX; size++) {
		struct job j = { .b = b, .kind = kind }, k = j;

		comm_threads(size, from_the_first, &j);
		same &= same_bits(&one, &j, size);
		comm_threads(size, the_first, &k);
		comm_threads(MAX + 1 - size, the_others, &k);
		again &= same_bits(&one, &k, MAX + 1 - size);
		bad += j.wrong + k.wrong;
	}
	is(bad, 0, "steps are made, saved and read");
	ok(same, "%s, %s: 1 to %d ranks have the same norms, weights and "
	    "checkpoint", b->name, kind->name, MAX);
	ok(again, "another number of ranks continues from a checkpoint with "
	    "the same bits");
}

/* ---- faults on one rank ---- */

struct fault { const char *name; double value; int want, wrong; double scale; };

/*
 * A gradient that is not finite at parameter ${name}, of a loss times ${scale},
 * must change nothing.  If the step is skipped, only the scale is halved.
 */
static void
bad_gradient(struct comm *c, void *arg)
{
	struct fault *f = arg;
	struct rank r;
	size_t bytes, owned;
	void *w, *m, *now;
	double norm, *scale;
	int changed;

	rank_open(&r, c, backend_find("ref"), optimizers);
	bytes = r.g->elements * r.d->elem;
	owned = segments_owned(&r.own, c->rank) * r.d->elem;
	w = xmalloc(bytes);
	m = xmalloc(owned + 1);
	now = xmalloc(bytes);
	scale = r.o.slots.slot[r.o.scale_slot].data;
	*scale = f->scale;
	draw_gradient(&r, 0);
	device_download(r.d, w, r.n->w, bytes);
	device_download(r.d, m, r.o.slots.slot[0].data, owned);
	for (int p = 0; p < r.g->nparam; p++)
		if (strcmp(r.g->param[p].name, f->name) == 0)
			put(&r, r.g->param[p].offset, f->value);
	changed = optim_step(&r.o, r.n, r.gradient, 1, 0.1, &norm) != f->want;
	device_download(r.d, now, r.n->w, bytes);
	changed |= memcmp(w, now, bytes) != 0;
	device_download(r.d, now, r.o.slots.slot[0].data, owned);
	if (changed || memcmp(m, now, owned) != 0 ||
	    *scale != (f->want == OPTIM_SKIPPED ? f->scale / 2 : f->scale))
		__atomic_fetch_add(&f->wrong, 1, __ATOMIC_RELAXED);
	free(w);
	free(m);
	free(now);
	rank_close(&r);
}

/* Rank ${want} of the fault has a momentum that is not finite. */
static void
bad_momentum(struct comm *c, void *arg)
{
	struct fault *f = arg;
	struct rank r;

	rank_open(&r, c, backend_find("ref"), optimizers);
	if (c->rank == f->want)
		device_put(r.d, slot_at(&r.o.slots.slot[0],
		    segments_owned(&r.own, c->rank) / 2), &f->value, 1);
	if (optim_finite(&r.o, r.n) != 0)
		__atomic_fetch_add(&f->wrong, 1, __ATOMIC_RELAXED);
	rank_close(&r);
}

static void
faults(void)
{
	static const struct { const char *name; int want; double scale; }
	    gradient[] = {
		{ "a.weight", OPTIM_GRADIENT, 1 },
		{ "c.weight", OPTIM_GRADIENT, 1 },
		{ "fc.bias", OPTIM_GRADIENT, 1 },
		{ "c.weight", OPTIM_SKIPPED, 4 },
		{ "fc.bias", OPTIM_SKIPPED, 2 },
		{ "b.running_mean", OPTIM_STATISTICS, 1 },
		{ "d.running_var", OPTIM_STATISTICS, 1024 } };

	for (size_t i = 0; i < sizeof(gradient) / sizeof(gradient[0]); i++) {
		struct fault f = { gradient[i].name, i % 2 ? NAN : INFINITY,
			gradient[i].want, 0, gradient[i].scale };

		for (int size = 1; size <= 3; size++)
			comm_threads(size, bad_gradient, &f);
		ok(f.wrong == 0, "%g in the gradient of %s: all ranks see it "
		    "and change nothing%s", f.value, f.name, f.want ==
		    OPTIM_SKIPPED ? " but the scale" : "");
	}
	for (int rank = 0; rank < 3; rank++) {
		struct fault f = { "", NAN, rank, 0, 0 };

		comm_threads(3, bad_momentum, &f);
		ok(f.wrong == 0, "a NaN in the momentum of rank %d is seen by "
		    "all ranks", rank);
	}
}

/* ---- the file ---- */

static void
names(void)
{
	struct job one = { .b = backend_find("ref"), .kind = &trial };
	struct safetensors f;
	struct state st;
	const struct tensor *first, *second, *trust, *scale;

	comm_threads(3, from_the_first, &one);
	is(checkpoint_read(path_of("c"), &f, &st), 0, "a checkpoint is read");
	first = safetensors_tensor(&f, "optim/first/c.weight");
	second = safetensors_tensor(&f, "optim/second/c.weight");
	trust = safetensors_tensor(&f, "optim/trust/c.weight");
	scale = safetensors_tensor(&f, "optim/scale");
	ok(first != NULL && second != NULL && trust != NULL && scale != NULL,
	    "a checkpoint has every slot by name");
	ok(first->type == DTYPE_F32 && first->ndim == 4 &&
	    first->bytes == 24 * 24 * 9 * 4,
	    "SLOT_REAL: values of the parameter's shape, in its type");
	ok(second->type == DTYPE_F64 && second->ndim == 4 &&
	    second->bytes == 24 * 24 * 9 * 8,
	    "SLOT_F64: values of the parameter's shape, in double");
	ok(trust->type == DTYPE_F64 && trust->ndim == 0 &&
	    *(const double *)trust->data == 0.5,
	    "SLOT_PARAM: one value per parameter");
	ok(scale->type == DTYPE_F64 && scale->ndim == 0 &&
	    *(const double *)scale->data == 1024,
	    "SLOT_ONCE: one value in all");
	ok(safetensors_tensor(&f, "optim/first/b.running_mean") == NULL &&
	    safetensors_tensor(&f, "optim/trust/b.running_var") == NULL,
	    "running statistics have no slots");
	safetensors_free(&f);
}

/* Check the names of slots.  They are PyTorch's, except the momentum's. */
static void
names_of(const struct optimizer *kind, const char *const *want)
{
	struct job one = { .b = backend_find("ref"), .kind = kind };
	struct safetensors f;
	struct state st;
	int slots = 0, wanted = 0, there = 0;

	comm_threads(2, from_the_first, &one);
	is(checkpoint_read(path_of("c"), &f, &st), 0, "a checkpoint is read");
	for (size_t i = 0; i < f.tensors; i++)
		slots += strncmp(f.tensor[i].name, "optim/", 6) == 0 ||
		    strncmp(f.tensor[i].name, "ema/", 4) == 0;
	for (; want[wanted] != NULL; wanted++) {
		char *name = xprintf("%s/c.weight", want[wanted]);

		there += safetensors_tensor(&f, want[wanted]) != NULL ||
		    safetensors_tensor(&f, name) != NULL;
		free(name);
	}
	is(there, wanted, kind->name);
	/*
	 * Slots per element exist for 8 parameters; the average also for 4
	 * statistics.
	 */
	is(slots, strcmp(kind->name, "sgd") == 0 ? 8 + 12 + 3 : 2 * 8 + 12 + 4,
	    "there are no other slots");
	ok(safetensors_tensor(&f, "ema/b.running_mean") != NULL,
	    "running statistics have an average");
	safetensors_free(&f);
}

int
main(void)
{
	char *path = xprintf("%s/vt-slots-XXXXXX", getenv("TMPDIR") != NULL ?
	    getenv("TMPDIR") : "/tmp");

	dir = mkdtemp(path);
	if (dir == NULL)
		return 1;
	for (int i = 0; backends[i] != NULL; i++) {
		if (!has_device(backends[i]))
			continue;
		for (int k = 0; optimizers[k].name != NULL; k++)
			steps(backends[i], &optimizers[k]);
		steps(backends[i], &trial);
	}
	faults();
	names();
	names_of(optimizers, (const char *const[]){ "optim/momentum", "ema",
	    "optim/ema_updates", "optim/loss_scale", "optim/loss_scale_steps",
	    NULL });
	names_of(optimizer_find("lamb"), (const char *const[]){ "optim/exp_avg",
	    "optim/exp_avg_sq", "optim/step", "ema", "optim/ema_updates",
	    "optim/loss_scale", "optim/loss_scale_steps", NULL });
	unlink(path_of("c"));
	rmdir(dir);
	free(path);
	return done();
}
