/*
 * Memory plans: simulating the reads and writes of a training step finds no
 * buffer that is overwritten before its last read, also with frozen operators.
 * Sharing an arena and recomputing outputs change no bit.  Every shape of every
 * schedule fits the reserved arena.  Gradients are final where the marks say
 * so.  With poison, a task that does not write its output shows.
 */
#include <dirent.h>
#include <pthread.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/huge.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "net/feed.h"
#include "net/net.h"
#include "net/poison.h"
#include "sched/schedule.h"
#include "train/weights/freeze.h"

#include "tap.h"

#define PAGE 4096

/* Every kind of operator, an input used twice, an output used three times. */
static const char every_op[] =
    "input x out=3 mean=0.4,0.4,0.4 std=0.2,0.2,0.2\n"
    "conv a in=x out=16 k=3,3 s=2,2 bias=1\n"
    "bn b in=a\n"
    "relu r in=b\n"
    "maxpool m in=r k=3,3 s=2,2\n"
    "shift s in=m fold=4\n"
    "conv c in=s out=16 k=3,3\n"
    "conv d in=m out=16 k=1,1\n"
    "bn e in=c\n"
    "add f in=e,d,m\n"
    "add g in=f,f\n"
    "relu h in=g\n"
    "avgpool p in=h over=hw\n"
    "dropout o in=p rate=0.4\n"
    "linear l in=o out=classes std=0.1\n"
    "avgpool q in=l over=t\n";

static struct graph *
model(const char *name)
{
	char path[128];
	struct graph *g;

	if (strcmp(name, "every_op") == 0)
		return graph_parse("every_op.net", every_op, 5);
	snprintf(path, sizeof(path), strcmp(name, "joins") == 0 ?
	    "tests/parity/%s.net" : "share/models/%s.net", name);
	if ((g = graph_read(path, 8)) == NULL) {
		printf("Bail out! cannot read %s\n", path);
		exit(1);
	}
	return g;
}

/* ---- the owner of each page of the arena ---- */

enum { Y = 1, DY, SAVED, KEPT, SCRATCH, BUFFERS };

struct shadow {
	const struct plan *p;
	int *owner;			/* [pages]: BUFFERS * op + which, or
					 * 0 if free */
	size_t pages;
	int lost, outside, unaligned;	/* counts of faults */
	int recompute;			/* tasks that recomputed something */
	const char *first;		/* the operator of the first fault */
};

/*
 * Return the bytes of buffer ${which} of op ${i}, 0 if it has none, and set
 * ${*at} to its offset.
 */
static size_t
place(const struct plan *p, int i, int which, size_t *at)
{
	const struct task *t = &p->task[i];
	int runs = t->fused_into == i;

	switch (which) {
	case Y:
		*at = p->buffers[i].y;
		return t->materialized ? device_bytes(p->device, &t->out) : 0;
	case DY:
		*at = p->buffers[i].dy;
		return p->buffers[i].has_dy ? device_bytes(p->device, &t->out) : 0;
	case SAVED:
		*at = p->buffers[i].saved;
		return runs && t->impl->saved != NULL ? t->impl->saved(t) : 0;
	case KEPT:
		*at = p->buffers[i].packed;
		return runs && t->impl->packed_bytes != NULL ? t->impl->packed_bytes(t) : 0;
	default:
		*at = p->buffers[i].scratch;
		return runs && t->impl->scratch != NULL ? t->impl->scratch(t) :
		    0;
	}
}

static void
wrong(struct shadow *s, int *count, int i)
{
	if (s->lost + s->outside + s->unaligned == 0)
		s->first = s->p->task[i].op->name;
	++*count;
}

static void
write_buffer(struct shadow *s, int i, int which)
{
	size_t at, n = place(s->p, i, which, &at);

	if (n == 0)
		return;
	if (at % PAGE != 0)
		wrong(s, &s->unaligned, i);
	if (at + n > s->p->arena) {
		wrong(s, &s->outside, i);
		return;
	}
	for (size_t k = at / PAGE; k < (at + n + PAGE - 1) / PAGE; k++)
		s->owner[k] = BUFFERS * i + which;
}

static void
read_buffer(struct shadow *s, int i, int which)
{
	size_t at, n = place(s->p, i, which, &at);

	for (size_t k = at / PAGE; k * PAGE < at + n; k++)
		if (k >= s->pages || s->owner[k] != BUFFERS * i + which) {
			wrong(s, &s->lost, i);
			return;
		}
}

/* A call's inputs must be valid before it, and after all its writes. */
struct access { int op, which; };

static void
call(struct shadow *s, const struct access *reads, int nr,
    const struct access *writes, int nw)
{
	for (int k = 0; k < nr; k++)
		read_buffer(s, reads[k].op, reads[k].which);
	for (int k = 0; k < nw; k++)
		write_buffer(s, writes[k].op, writes[k].which);
	for (int k = 0; k < nr; k++)
		read_buffer(s, reads[k].op, reads[k].which);
	for (int k = 0; k < nw; k++)
		read_buffer(s, writes[k].op, writes[k].which);
}

enum { MEMBERS = 4, ACCESSES = MEMBERS * (2 * OP_INPUTS + 4) };

/*
 * Add the buffers that hold the output of task ${from} to ${reads}, for a
 * reader that runs in task ${by}.
 */
static void
reads_output(const struct shadow *s, struct access *reads, int *nr, int from,
    int by)
{
	const struct task *t = &s->p->task[from];

	if (t->fused_into == by)
		return;			/* fused: not in memory */
	reads[(*nr)++] = (struct access){ t->alias_of, Y };
	if (t->alias_of != from)
		reads[(*nr)++] = (struct access){ t->fused_into, SAVED };
}

/* Simulate the forward pass of task ${i} and of the tasks fused into it. */
static void
forward_call(struct shadow *s, int i)
{
	struct access reads[ACCESSES], writes[ACCESSES];
	int nr = 0, nw = 0;

	writes[nw++] = (struct access){ i, SCRATCH };
	writes[nw++] = (struct access){ i, SAVED };
	writes[nw++] = (struct access){ i, KEPT };
	for (int m = 0; m < s->p->n; m++) {
		const struct task *t = &s->p->task[m];

		for (int j = 0; j < t->op->nin && t->fused_into == i; j++)
			reads_output(s, reads, &nr, t->op->in[j], i);
		if (t->fused_into == i)
			writes[nw++] = (struct access){ m, Y };
	}
	call(s, reads, nr, writes, nw);
}

static void
backward_task(const struct shadow *s, const struct task *t,
    struct access *reads, int *nr, struct access *writes, int *nw)
{
	int i = t->index, by = t->fused_into;

	if (t->no_grad)
		return;
	reads[(*nr)++] = (struct access){ i, DY };
	if (task_reads(t) & READS_Y)
		reads_output(s, reads, nr, i, -1);
	for (int j = 0; j < t->op->nin; j++) {
		int from = t->op->in[j], again = 0;

		if (task_reads(t) & READS_X)
			reads_output(s, reads, nr, from, by);
		if (!t->needs_input_grad[j] || s->p->task[from].fused_into == by)
			continue;
		for (int k = 0; k < j; k++)
			again |= t->op->in[k] == from;
		/*
		 * An accumulated gradient must have been written by another
		 * call.
		 */
		if (t->accumulate[j] && !again)
			reads[(*nr)++] = (struct access){ from, DY };
		writes[(*nw)++] = (struct access){ from, DY };
	}
}

static void
backward_call(struct shadow *s, int i)
{
	struct access reads[ACCESSES], writes[ACCESSES];
	int nr = 0, nw = 0;

	if (s->p->task[i].impl->backward == NULL || s->p->task[i].no_grad)
		return;
	writes[nw++] = (struct access){ i, SCRATCH };
	reads[nr++] = (struct access){ i, SAVED };
	for (int m = 0; m < s->p->n; m++)
		if (s->p->task[m].fused_into == i)
			backward_task(s, &s->p->task[m], reads, &nr, writes,
			    &nw);
	call(s, reads, nr, writes, nw);
}

/* Simulate a recomputation, from the inputs of the forward pass. */
static void
recompute_call(struct shadow *s, int i)
{
	struct access reads[ACCESSES], writes[ACCESSES];
	int nr = 0, nw = 0;

	writes[nw++] = (struct access){ i, SCRATCH };
	reads[nr++] = (struct access){ i, SAVED };
	for (int m = 0; m < s->p->n; m++) {
		const struct task *t = &s->p->task[m];

		for (int j = 0; j < t->op->nin && t->fused_into == i; j++)
			reads_output(s, reads, &nr, t->op->in[j], i);
		if (t->fused_into == i && t->recompute)
			writes[nw++] = (struct access){ m, Y };
	}
	call(s, reads, nr, writes, nw);
	s->recompute += nw > 1;
}

static void
walk(const struct plan *p, const char *what)
{
	struct shadow s = { .p = p, .pages = p->arena / PAGE };
	char arena[32], all[32];
	double sum = 0;
	size_t at;

	s.owner = xcalloc(s.pages + 1, sizeof(*s.owner));
	for (int i = 0; i < p->n; i++)
		if (p->task[i].fused_into == i)
			forward_call(&s, i);
	for (int i = p->n - 1; i >= 0 && p->training; i--) {
		for (int k = plan_next_recompute(p, i, -1); k < p->n;
		    k = plan_next_recompute(p, i, k))
			recompute_call(&s, k);
		if (p->task[i].fused_into == i)
			backward_call(&s, i);
	}
	/* Packed weights must survive until the next microbatch. */
	for (int i = 0; i < p->n; i++)
		read_buffer(&s, i, KEPT);
	/* Scores and losses are read after the step. */
	for (int i = 0; i < p->graph->heads; i++) {
		read_buffer(&s, p->graph->head[i].scores, Y);
		read_buffer(&s, p->graph->head[i].loss, Y);
	}
	for (int i = 0; i < p->n; i++)
		for (int k = Y; k <= KEPT; k++)
			sum += (double)place(p, i, k, &at);
	if (!ok(s.lost + s.outside + s.unaligned == 0,
	    "%s: nothing is overwritten before its last read (%s instead of "
	    "%s; %d tasks recompute)",
	    what, text_bytes(arena, (double)p->arena),
	    text_bytes(all, sum), s.recompute))
		diag("%d lost, %d outside, %d not on a page; the first is %s",
		    s.lost, s.outside, s.unaligned, s.first);
	free(s.owner);
}

/* ---- gradients are final at the marks ---- */

static void
marks(const struct plan *p, const char *what)
{
	const struct graph *g = p->graph;
	size_t before = g->elements;
	int bad = 0;

	for (int i = p->n - 1; i >= 0; i--) {
		int below = 0;

		bad += p->buffers[i].final_from > before;
		before = p->buffers[i].final_from;
		/*
		 * A gradient that is not final must end below the mark.  The
		 * mark is as low as possible: the last gradient below it must
		 * not be final.
		 */
		for (int k = 0; k < g->nparam; k++) {
			const struct param *q = &g->param[k];
			int done = p->task[q->op].fused_into >= i;

			bad += !done && q->offset + q->count > p->buffers[i].final_from;
			if (q->offset < p->buffers[i].final_from)
				below = done;
		}
		bad += below;
	}
	ok(bad == 0 && before == 0,
	    "%s: marks fall to 0 and all gradients above a mark are final",
	    what);
}

struct tail { const struct net *n; const void *dw; char *copy; size_t from;
    int calls, changed; };

/* Copy what is final at ${final_from}, and count earlier copies that changed. */
static void
keep_tail(size_t mark, struct tail *t)
{
	struct device *b = t->n->device;
	size_t bytes = t->n->graph->elements * b->elem, old = t->from * b->elem;
	char *now = xmalloc(bytes);

	device_download(b, now, t->dw, bytes);
	t->changed += memcmp(now + old, t->copy + old, bytes - old) != 0;
	memcpy(t->copy + mark * b->elem, now + mark * b->elem,
	    bytes - mark * b->elem);
	t->from = mark;
	t->calls++;
	free(now);
}

/* ---- shared and separate buffers give the same bits ---- */

struct backward { struct plan *p; struct event *final; };

static void *
backward(void *arg)
{
	struct backward *b = arg;

	plan_backward(b->p, b->final);
	return NULL;
}

/* Run the backward pass in a thread and copy gradients as they become final. */
static void
follow(struct plan *p, struct tail *tail)
{
	struct device *d = p->device;
	struct backward b = { p, device_event_new(d, 1) };
	pthread_t thread;

	device_event_record(d, b.final, p->graph->elements);
	pthread_create(&thread, NULL, backward, &b);
	for (int i = p->n - 1; i >= 0; i--)
		if (p->buffers[i].final_from < tail->from) {
			device_event_wait(d, b.final, p->buffers[i].final_from);
			keep_tail(p->buffers[i].final_from, tail);
		}
	pthread_join(thread, NULL);
	device_event_free(d, b.final);
}

/*
 * Return a copy of all outputs that the bound plan ${p} will recompute,
 * ${*bytes} long.  The caller frees it.
 */
static char *
recomputed(const struct plan *p, size_t *bytes)
{
	char *copy = xmalloc(p->arena);

	*bytes = 0;
	for (int i = 0; i < p->n; i++) {
		const struct task *t = &p->task[i];
		size_t n = device_bytes(p->device, &t->out);

		if (!t->recompute)
			continue;
		device_download(p->device, copy + *bytes, t->y, n);
		*bytes += n;
	}
	return copy;
}

/* Fill with NaN what will be recomputed. */
static void
forget(const struct plan *p)
{
	for (int i = 0; i < p->n; i++)
		if (p->task[i].recompute)
			poison_fill(p->device, p->task[i].y,
			    device_bytes(p->device, &p->task[i].out));
}

/*
 * Run one step of plan ${p} in an arena of NaN.  Return gradients and scores.
 * If ${tail} is NULL, buffers are separate; check that recomputed outputs have
 * the same bits.
 */
static double *
step(struct net *n, struct plan *p, const struct feed *f, struct tail *tail)
{
	struct device *b = n->device;
	size_t elements = n->graph->elements, k = 0;
	size_t scores = (size_t)p->input->n * (size_t)n->graph->head->classes;
	void *arena = device_alloc(b, p->arena);
	void *dw = device_alloc(b, elements * b->elem);
	double *all = xcalloc(elements, sizeof(*all));
	double *out = xcalloc(elements + scores, sizeof(*out));

	poison_fill(b, arena, p->arena);
	poison_fill(b, dw, elements * b->elem);
	plan_bind(p, arena, n->w, dw);
	plan_forward(p, f);
	if (tail != NULL)
		*tail = (struct tail){ .n = n, .dw = dw, .from = elements,
			.copy = xcalloc(elements, b->elem) };
	if (tail != NULL) {
		follow(p, tail);
		keep_tail(0, tail);
		free(tail->copy);
	} else {
		size_t bytes, again;
		char *was = recomputed(p, &bytes), *is;

		forget(p);
		plan_backward(p, NULL);
		is = recomputed(p, &again);
		ok(memcmp(was, is, bytes) == 0 && (bytes > 0 ||
		    strcmp(b->backend->name, "cpu") != 0 ||
		    strcmp(n->graph->name, "tsm_tiny") != 0),
		    "%s on %s: %zu recomputed bytes are the same",
		    n->graph->name, b->backend->name, bytes);
		free(was);
		free(is);
	}
	device_get(b, all, dw, elements);
	for (int i = 0; i < n->graph->nparam; i++) {
		const struct param *q = &n->graph->param[i];

		memcpy(out + k, all + q->offset, q->count * sizeof(*out));
		k += q->count;
	}
	net_scores(p, out + elements);
	device_free(b, arena);
	device_free(b, dw);
	free(all);
	return out;
}

/* Give every buffer a separate place. */
static void
spread(struct plan *p)
{
	size_t at = 0, unused;

#define TAKE(to, i, which) do { size_t n_ = place(p, i, which, &unused); \
    to = at; at += (n_ + PAGE - 1) / PAGE * PAGE; } while (0)
	for (int i = 0; i < p->n; i++) {
		TAKE(p->buffers[i].y, i, Y);
		TAKE(p->buffers[i].dy, i, DY);
		TAKE(p->buffers[i].saved, i, SAVED);
		TAKE(p->buffers[i].packed, i, KEPT);
		TAKE(p->buffers[i].scratch, i, SCRATCH);
	}
	p->arena = at;
#undef TAKE
}

static void
same_bits(struct device *b, const char *name, int clips, int t, int side)
{
	struct graph *g = model(name);
	struct net *n = net_new(g, b);
	struct dims in = { clips, t, side, side, 3 };
	struct plan *p = plan_new(g, b, &in, PLAN_REPEAT);
	size_t pixels = dims_count(&in), values = g->elements +
	    (size_t)clips * (size_t)g->head->classes;
	uint8_t *pixel = xmalloc(pixels);
	int *label = xcalloc((size_t)clips, sizeof(*label)), whole = 1;
	uint64_t *clip = xcalloc((size_t)clips, sizeof(*clip));
	struct stream stream = { t, side, side, 3, pixel };
	struct target target = { .classes = g->head->classes, .label = label };
	struct feed f = { &stream, &target, clip, 3, NULL, 0 };
	double *shared, *alone;
	struct tail tail;
	size_t arena = p->arena;

	net_init(n, 1);
	for (size_t i = 0; i < pixels; i++)
		pixel[i] = (uint8_t)rng_philox(2, (uint32_t)i, 0, 0, 99).w[0];
	for (int i = 0; i < clips; i++) {
		label[i] = i % g->head->classes;
		clip[i] = (uint64_t)i;
	}
	shared = step(n, p, &f, &tail);
	spread(p);
	alone = step(n, p, &f, NULL);
	for (size_t i = 0; i < values; i++)
		whole &= isfinite(shared[i]);
	ok(memcmp(shared, alone, values * sizeof(*shared)) == 0 && whole &&
	    arena < p->arena, "%s on %s: shared and separate buffers give the "
	    "same bits", name, b->backend->name);
	ok(tail.changed == 0 && tail.calls > 3,
	    "%s on %s: final gradients do not change (%d parts)",
	    name, b->backend->name,
	    tail.calls);
	free(shared);
	free(alone);
	free(pixel);
	free(label);
	free(clip);
	plan_free(p);
	net_free(n);
	graph_free(g);
}

/* ---- all networks, at shapes of multigrid and at odd ones ---- */

/*
 * Check plans of ${name} at ${n} shapes.  ${frozen} is a pattern of operators
 * to freeze, or NULL.
 */
static void
shapes(struct device *b, const char *name, const char *frozen,
    const int (*shape)[3], int n)
{
	struct graph *g = model(name);

	if (frozen != NULL && freeze_apply(g, &(struct option_list){
	    &frozen, 1, 1 }) != 0) {
		printf("Bail out! cannot freeze %s\n", name);
		exit(1);
	}
	for (int i = 0; i < n; i++)
		for (int training = 1; training >= 0; training--) {
			struct dims in = { shape[i][0], shape[i][1], shape[i][2],
				shape[i][2], 3 };
			struct plan *p = plan_new(g, b, &in, training ?
			    PLAN_REPEAT : PLAN_TEST);
			char what[128], text[64];

			snprintf(what, sizeof(what), "%s on %s%s%s, %s%s", name,
			    b->backend->name, frozen != NULL ? ", --freeze=" :
			    "", frozen != NULL ? frozen : "", dims_text(&in,
			    text), training ? "" : ", testing");
			if (!ok(p != NULL, "%s: is planned", what))
				continue;
			walk(p, what);
			if (training)
				marks(p, what);
			plan_free(p);
		}
	graph_free(g);
}

/* ---- the choice of recomputed outputs ---- */

/*
 * Return the number of outputs of tsm_tiny that are recomputed with ${recomputed},
 * and set ${*least} to the size of the smallest.
 */
static int
count_recomputed(const struct backend *backend, size_t recompute, int side,
    size_t *least)
{
	struct device *d = device_open(backend, &(struct device_options){
	    .threads = 1 });
	struct graph *g = model("tsm_tiny");
	struct dims in = { 8, 8, side, side, 3 };
	struct plan *p;
	int count = 0;

	d->recompute_min = recompute;
	p = plan_new(g, d, &in, PLAN_ONCE);
	*least = SIZE_MAX;
	for (int i = 0; i < p->n; i++) {
		size_t bytes = device_bytes(d, &p->task[i].out);

		if (!p->task[i].recompute)
			continue;
		count++;
		*least = bytes < *least ? bytes : *least;
	}
	plan_free(p);
	graph_free(g);
	device_close(d);
	return count;
}

static void
worth_remaking(const struct backend *b)
{
	size_t least, half, rule;
	int all = count_recomputed(b, 1, 48, &least);
	int some = count_recomputed(b, least + 1, 48, &half);

	ok(all > some && some > 0 && half > least, "%s: outputs are recomputed "
	    "from the requested size (%d, %d of them)", b->name, all,
	    some);
	is(count_recomputed(b, 0, 24, &rule), 0,
	    "a small network recomputes nothing");
	ok(count_recomputed(b, 0, 224, &rule) > 0 && rule > (size_t)1 << 20,
	    "a large network recomputes its large outputs");
}

/* ---- the reserved arena ---- */

static void
reserve(struct device *b, const char *table)
{
	struct graph *g = model("tsm_tiny");
	struct net *n = net_new(g, b);
	struct schedule *s = schedule_read(table);
	int cells = 0, fit = 1;

	for (int i = 0; s != NULL && i < s->stages; i++)
		for (int j = 0; j < s->stage[i].cells; j++) {
			const struct cell *c = &s->stage[i].cell[j];
			/*
			 * One clip per microbatch suffices: only proportions
			 * count.
			 */
			struct dims in = { 1, c->frames, c->crop, c->crop, 3 };

			cells += net_plan(n, &in, 1) != NULL;
		}
	if (net_reserve(n) != 0)
		fit = 0;
	for (size_t k = 0; k < n->plans; k++) {
		const struct plan *p = n->plan[k];
		size_t at;

		fit &= p->arena <= n->arena_bytes;
		for (int i = 0; i < p->n; i++)
			for (int w = Y; w <= SCRATCH; w++)
				fit &= place(p, i, w, &at) == 0 ||
				    at + place(p, i, w, &at) <= n->arena_bytes;
	}
	ok(fit && cells > 0 && n->plans > 0, "%s: %zu shapes fit one arena of "
	    "%zu bytes", path_base(table), n->plans, n->arena_bytes);
	schedule_free(s);
	net_free(n);
	graph_free(g);
}

static void
schedules(struct device *b)
{
	struct dirent **e;
	int n = scandir("share/schedules", &e, NULL, alphasort), tables = 0;

	for (int i = 0; i < n; i++) {
		char *path = path_join("share/schedules", e[i]->d_name);

		if (text_ends(path, ".tsv")) {
			reserve(b, path);
			tables++;
		}
		free(path);
		free(e[i]);
	}
	if (n >= 0)
		free(e);
	ok(tables > 0, "share/schedules has schedules");
}

/* ---- placing blocks of random lifetimes ---- */

static int
alive(const struct plan_block *b, int time)
{
	return (b->born <= time && time <= b->dies) ||
	    (b->ends > 0 && b->again <= time && time <= b->ends);
}

static int
both_alive(const struct plan_block *a, const struct plan_block *b)
{
	for (int time = 0; time < 300; time++)
		if (alive(a, time) && alive(b, time))
			return 1;
	return 0;
}

static void
placing(void)
{
	enum { BLOCKS = 60, ROUNDS = 200 };
	int bad = 0, tight = 0, moved = 0;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct plan_block b[BLOCKS];
		size_t at[BLOCKS], back[BLOCKS], end = 0, size;

		for (uint32_t i = 0; i < BLOCKS; i++) {
			struct rng_block r = rng_philox(round, i, 0, 0, 98);

			/* Many have equal sizes. */
			b[i] = (struct plan_block){ 1 + r.w[0] % 20, &at[i],
				(int)(r.w[1] % 100), 0, 0, 0 };
			b[i].dies = b[i].born + (int)(r.w[2] % 30);
			if (r.w[3] % 3 == 0)
				continue;
			b[i].again = b[i].dies + 1 + (int)(r.w[3] % 50);
			b[i].ends = b[i].again + (int)(r.w[3] / 50 % 20);
		}
		size = plan_place(b, BLOCKS);
		for (int i = 0; i < BLOCKS; i++) {
			end = *b[i].at + b[i].bytes > end ?
			    *b[i].at + b[i].bytes : end;
			for (int j = 0; j < i; j++)
				bad += both_alive(&b[i], &b[j]) &&
				    *b[i].at < *b[j].at + b[j].bytes &&
				    *b[j].at < *b[i].at + b[i].bytes;
		}
		bad += end != size;
		for (int i = 0; i < BLOCKS; i++)
			end -= b[i].bytes < end ? b[i].bytes : end;
		tight += end == 0;	/* less than all blocks together */
		for (int i = 0; i < BLOCKS; i++)
			b[i].at = &back[BLOCKS - 1 - i];
		plan_place(b, BLOCKS);
		for (int i = 0; i < BLOCKS; i++)
			moved += at[i] != back[BLOCKS - 1 - i];
	}
	ok(bad == 0, "blocks that live at the same time do not overlap");
	is(tight, ROUNDS, "blocks that live at other times share memory");
	is(moved, 0,
	    "the placement does not depend on where offsets are stored");
}

/*
 * No gradient is computed for tensors that depend on no parameter: neither for
 * pixels nor for frames chosen from them.
 */
static void
pixels_learn_nothing(struct device *b)
{
	struct graph *g = graph_parse("pixels.net", "input x out=3\n"
	    "frames f in=x step=2\n"
	    "frames m in=f step=2 spread=1\n"
	    "conv c in=m out=16 k=3,3\n"
	    "conv d in=x out=16 k=3,3\n"
	    "frames e in=d step=4\n"
	    "add a in=e,c\n"
	    "avgpool p in=a over=thw\n"
	    "linear fc in=p out=classes\n", 5);
	static const char idle[] = "xfm", learns[] = "cdeapf";
	struct dims in = { 2, 8, 12, 12, 3 };
	struct plan *p = plan_new(g, b, &in, PLAN_ONCE);
	int bad = 0;

	for (int i = 0; i < p->n - 1; i++) {
		const struct task *t = &p->task[i];
		int still = i < 3;

		bad += t->op->name[0] != (still ? idle[i] : learns[i - 3]);
		bad += t->no_grad != still || p->buffers[i].has_dy == still;
		for (int j = 0; j < t->op->nin; j++)
			bad += t->needs_input_grad[j] != (t->op->in[j] > 2);
	}
	is(bad, 0, "tensors that depend only on pixels get no gradient");
	plan_free(p);
	graph_free(g);
}

/* ---- poison ---- */

static void
write_nothing(struct task *t)
{
	(void)t;
}

/*
 * Run a step in which a pass of relu writes nothing.  Return the sum of scores
 * and gradients: NaN if the memory that it left is poisoned.
 */
static double
sum_of_step(int forward, int poison)
{
	struct device *d = device_open(backend_find("ref64"),
	    &(struct device_options){ .threads = 1 });
	const struct op_impl *ops[OP_KINDS];
	struct op_impl relu = *d->ops[OP_RELU];
	struct graph *g = graph_parse("poison.net",
	    "input x out=3\nconv a in=x out=8 k=3,3\nrelu r in=a\n"
	    "avgpool p in=r over=thw\nlinear l in=p out=classes\n", 5);
	struct dims in = { 2, 2, 6, 6, 3 };
	struct net *n = net_new(g, d);
	void *dw = device_alloc(d, g->elements * d->elem);
	struct feed feed;
	double scores[10], sum = 0, *all = xcalloc(g->elements, sizeof(*all));
	struct plan *p;

	memcpy(ops, d->ops, sizeof(ops));
	*(forward ? &relu.forward : &relu.backward) = write_nothing;
	ops[OP_RELU] = &relu;
	d->ops = ops;
	huge_poison = poison;
	net_init(n, 1);
	p = net_plan(n, &in, 1);
	net_reserve(n);
	feed_make(&feed, &in, &g->needs);
	net_forward(n, p, &feed, dw);
	net_scores(p, scores);
	plan_backward(p, NULL);
	huge_poison = 0;
	device_get(d, all, dw, g->elements);
	for (int i = 0; i < 10; i++)
		sum += scores[i];
	for (size_t i = 0; i < g->elements; i++)
		sum += all[i];
	feed_free(&feed, &g->needs);
	free(all);
	device_free(d, dw);
	net_free(n);
	graph_free(g);
	device_close(d);
	return sum;
}

static void
unwritten_memory_shows(void)
{
	for (int forward = 0; forward < 2; forward++) {
		const char *what = forward ? "output" : "gradient";

		ok(isfinite(sum_of_step(forward, 0)),
		    "without poison, an unwritten %s does not show", what);
		ok(isnan(sum_of_step(forward, 1)),
		    "with poison, an unwritten %s shows", what);
	}
}

int
main(void)
{
	static const int small[][3] = { { 8, 2, 34 }, { 8, 4, 48 }, { 4, 8, 79 },
		{ 1, 1, 17 }, { 3, 5, 33 } };
	static const int long_ones[][3] = { { 2, 8, 20 }, { 1, 16, 33 } };
	static const struct { const char *name, *pattern; } frozen[] = {
		{ "every_op", "backbone" }, { "every_op", "[a-d]" },
		{ "every_op", "[be]" }, { "every_op", "[dl]" },
		{ "joins", "backbone" }, { "joins", "fast*" },
		{ "joins", "[!f]*" }, { "tsm_tiny", "layer[12].*" },
		{ "tsm_tiny", "partial-bn" },
	};
	enum { FROZEN = sizeof(frozen) / sizeof(frozen[0]) };
	static const int large[][3] = { { 8, 2, 158 }, { 8, 4, 158 },
		{ 8, 8, 224 }, { 1, 3, 65 } };

	placing();
	unwritten_memory_shows();
	for (int i = 0; backends[i] != NULL; i++) {
		struct device *b = device_open(backends[i],
		    &(struct device_options){ .threads = 2 });

		if (b == NULL) {
			skip(backends[i]->name, "no such device here");
			continue;
		}
		b->recompute_min = 1;
		shapes(b, "every_op", NULL, small, 5);
		shapes(b, "joins", NULL, long_ones, 2);
		shapes(b, "tsm_tiny", NULL, small, 5);
		shapes(b, "tsn_tiny", NULL, small, 2);
		for (int k = 0; k < FROZEN; k++)
			shapes(b, frozen[k].name, frozen[k].pattern,
			    long_ones, 2);
		same_bits(b, "every_op", 3, 4, 18);
		same_bits(b, "joins", 2, 8, 20);
		pixels_learn_nothing(b);
		same_bits(b, "tsm_tiny", 2, 2, 20);
		if (strcmp(b->backend->name, "ref") == 0) {
			shapes(b, "tsm_r18", NULL, large, 4);
			shapes(b, "tsn_r18", NULL, large, 4);
			shapes(b, "tsm_r50", NULL, large, 4);
			shapes(b, "tsn_r50", NULL, large, 4);
			schedules(b);
		} else if (strcmp(b->backend->name, "cpu") == 0) {
			shapes(b, "tsm_r18", NULL, large + 3, 1);
			shapes(b, "tsm_r50", NULL, large + 3, 1);
			worth_remaking(backends[i]);
		}
		device_close(b);
	}
	return done();
}
