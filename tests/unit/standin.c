/*
 * The stand-in driver for a GPU: right programs pass in every order of
 * execution, and each kind of planted fault is counted and, if work is done
 * late, changes the results.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "gpu/standin/number.h"
#include "gpu/standin/standin.h"

#include "said.h"
#include "tap.h"

enum { N = 1000, THREADS = 64 };

/* ---- kernels ---- */

struct plus { const float *x; float *y; size_t n; float by; };

/* y = x + by. */
static void
add_f32(const void *args, struct block b)
{
	const struct plus *a = args;

	EACH_THREAD(i) {
		size_t at = (size_t)b.x * THREADS + (size_t)i;

		if (at < a->n)
			a->y[at] = a->x[at] + a->by;
	}
}

/* y[i] = x[i + 1], which reads one element too many. */
static void
beyond_f32(const void *args, struct block b)
{
	const struct plus *a = args;

	EACH_THREAD(i)
		if ((size_t)b.x * THREADS + (size_t)i < a->n)
			a->y[(size_t)b.x * THREADS + (size_t)i] =
			    a->x[(size_t)b.x * THREADS + (size_t)i + 1];
}

/* Writes y, and also x, which it declares as read. */
static void
back_f32(const void *args, struct block b)
{
	const struct plus *a = args;

	((float *)a->x)[0] = a->y[b.threads - 1] = 1;
}

/* Writes the element before y. */
static void
ahead_f32(const void *args, struct block b)
{
	const struct plus *a = args;

	a->y[(int)b.x - 1] = a->x[0];
}

/* Each thread reads what its neighbor writes. */
static void
mixed_f32(const void *args, struct block b)
{
	const struct plus *a = args;

	EACH_THREAD(i)
		a->y[i] = i > 0 ? a->y[i - 1] + 1 : 0;
}

enum { ADD, BEYOND, BACK, AHEAD, MIXED, KERNELS };
static const struct standin_kernel kernels[KERNELS] = {
	{ "add", THREADS, sizeof(struct plus), { add_f32 } },
	{ "beyond", THREADS, sizeof(struct plus), { beyond_f32 } },
	{ "back", THREADS, sizeof(struct plus), { back_f32 } },
	{ "ahead", THREADS, sizeof(struct plus), { ahead_f32 } },
	{ "mixed", THREADS, sizeof(struct plus), { mixed_f32 } },
};

/* ---- a device with two streams ---- */

enum { BYTES = N * sizeof(float) };

struct set {
	struct driver *d;
	const struct driver_calls *call;
	struct gpu_stream *t, *side;
	struct gpu_event *e, *f;
	float *x, *y, *z;		/* device memory */
	float *in, *out;		/* pinned memory */
};

static struct set
open_set(enum standin_when when, long breaks)
{
	struct set s = { .d = standin_open(&(struct standin_options){
		.when = when, .twice = 1, .kernel = kernels,
		.kernels = KERNELS, .breaks = breaks }) };

	s.call = s.d->call;
	s.t = s.call->stream_new(s.d, 0);
	s.side = s.call->stream_new(s.d, 1);
	s.e = s.call->event_new(s.d);
	s.f = s.call->event_new(s.d);
	s.x = s.call->alloc(s.d, BYTES);
	s.y = s.call->alloc(s.d, BYTES);
	s.z = s.call->alloc(s.d, BYTES);
	s.in = s.call->alloc_host(s.d, BYTES);
	s.out = s.call->alloc_host(s.d, BYTES);
	for (int i = 0; i < N; i++)
		s.in[i] = (float)i;
	return s;
}

static void
close_set(struct set *s)
{
	s->call->free(s->d, s->x);
	s->call->free(s->d, s->y);
	s->call->free(s->d, s->z);
	s->call->free_host(s->d, s->in);
	s->call->free_host(s->d, s->out);
	s->call->event_free(s->d, s->e);
	s->call->event_free(s->d, s->f);
	s->call->stream_free(s->d, s->t);
	s->call->stream_free(s->d, s->side);
	s->call->close(s->d);
}

/* Launch a kernel on x and y, with ${reads} and ${writes} elements declared. */
static void
launch(struct set *s, struct gpu_stream *t, int kernel, const float *x,
    float *y, size_t reads, size_t writes, float by)
{
	struct plus args = { x, y, reads, by };
	struct launch l = { .kernel = kernel, .grid = { (unsigned)(reads +
		THREADS - 1) / THREADS, 1 }, .args = &args,
		.bytes = sizeof(args), .access = { .reads = reads > 0,
		.writes = writes > 0, .read = { { x, reads * 4 } },
		.write = { { y, writes * 4 } } } };

	if (kernel != ADD && kernel != BEYOND)
		l.grid[0] = 1;
	s->call->launch(s->d, t, &l);
}

static void
add(struct set *s, struct gpu_stream *t, const float *x, float *y, float by)
{
	launch(s, t, ADD, x, y, N, N, by);
}

/* Count elements of ${v} that are not their index plus ${by}. */
static int
wrong(const float *v, float by)
{
	int bad = 0;

	for (int i = 0; i < N; i++)
		bad += v[i] != (float)i + by;
	return bad;
}

/*
 * Return the number of faults ${which}, if their message contains ${said} and
 * there are no other faults; else 0.
 */
static int
found(struct set *s, enum standin_fault which, const char *said)
{
	const char *text = standin_said(s->d);
	int n = 0, others = 0;

	for (int i = 0; i < FAULTS; i++)
		*(i == (int)which ? &n : &others) += standin_faults(s->d,
		    (enum standin_fault)i);
	if (others == 0 && n > 0 && strstr(text, said) != NULL)
		return n;
	if (n + others == 0)
		return 0;
	diag("%d of these, %d others: %s", n, others, text);
	return 0;
}

/* ---- right programs ---- */

/* Copy in on one stream, compute on another, copy out on the first. */
static void
there_and_back(struct set *s)
{
	s->call->copy(s->d, s->side, s->x, s->in, BYTES);
	s->call->record(s->d, s->e, s->side);
	s->call->follow(s->d, s->t, s->e);
	add(s, s->t, s->x, s->y, 1);
	add(s, s->t, s->y, s->y, 2);
	s->call->record(s->d, s->f, s->t);
	s->call->follow(s->d, s->side, s->f);
	s->call->copy(s->d, s->side, s->out, s->y, BYTES);
}

static void
test_right(enum standin_when when)
{
	struct set s = open_set(when, 0);

	s.call->fill(s.d, s.t, s.z, 0, BYTES);
	for (int i = 0; i < 3; i++)
		there_and_back(&s);
	is(wrong(s.out, 3) == 0, when == STANDIN_AT_ONCE,
	    "work is done at once, or not before a wait");
	s.call->wait(s.d, s.side);
	is(wrong(s.out, 3), 0, "two streams ordered by events compute right");
	s.call->copy(s.d, s.t, s.out, s.z, BYTES);
	s.call->record(s.d, s.e, s.t);
	s.call->wait_event(s.d, s.e);
	is(s.out[N - 1] == 0, 1, "the host can wait for an event");
	is(standin_pieces(s.d), 14, "all work items are counted");
	close_set(&s);
}

/* A graph with two branches, launched three times. */
static void
test_graph(enum standin_when when)
{
	struct set s = open_set(when, 0);
	struct gpu_graph *g;

	s.call->copy(s.d, s.t, s.y, s.in, BYTES);
	s.call->capture(s.d, s.t);
	add(&s, s.t, s.y, s.x, 1);
	s.call->record(s.d, s.e, s.t);
	s.call->follow(s.d, s.side, s.e);
	add(&s, s.side, s.x, s.y, 1);
	add(&s, s.t, s.x, s.z, 5);
	s.call->record(s.d, s.f, s.side);
	s.call->follow(s.d, s.t, s.f);
	g = s.call->captured(s.d, s.t);
	s.call->copy(s.d, s.t, s.out, s.y, BYTES);
	s.call->wait(s.d, s.t);
	is(wrong(s.out, 0), 0, "captured work is not executed");
	for (int i = 0; i < 3; i++)
		s.call->graph_run(s.d, s.t, g);
	s.call->copy(s.d, s.t, s.out, s.y, BYTES);
	s.call->wait(s.d, s.t);
	is(wrong(s.out, 6), 0, "a graph is launched three times");
	s.call->copy(s.d, s.t, s.out, s.z, BYTES);
	s.call->wait(s.d, s.t);
	is(wrong(s.out, 10), 0, "the second branch of the graph is executed");
	s.call->graph_free(s.d, g);
	close_set(&s);
}

/* An event for the host that each launch of a graph records. */
static void
test_inside(enum standin_when when)
{
	struct set s = open_set(when, 0);
	struct gpu_graph *g;

	s.call->capture(s.d, s.t);
	s.call->fill(s.d, s.t, s.y, 0, BYTES);
	s.call->copy(s.d, s.t, s.out, s.y, BYTES);
	s.call->record_inside(s.d, s.e, s.t);
	g = s.call->captured(s.d, s.t);
	for (int i = 0; i < 2; i++) {
		s.out[N - 1] = 5;
		s.call->graph_run(s.d, s.t, g);
		s.call->wait_event(s.d, s.e);
		is(s.out[N - 1] == 0, 1,
		    "the host can wait for an event recorded in a graph");
	}
	s.call->graph_free(s.d, g);
	close_set(&s);
}

/* ---- planted faults ---- */

/* Use the result of a copy on another stream without waiting for it. */
static void
test_missing_event(enum standin_when when)
{
	struct set s = open_set(when, 0);

	s.call->fill(s.d, s.side, s.x, 0, BYTES);
	s.call->wait(s.d, s.side);
	s.call->copy(s.d, s.side, s.x, s.in, BYTES);
	s.call->record(s.d, s.e, s.side);
	add(&s, s.t, s.x, s.y, 1);
	s.call->copy(s.d, s.t, s.out, s.y, BYTES);
	s.call->wait(s.d, s.t);
	ok(found(&s, FAULT_RACE, "a copy (1.2) and add (0.1) both touch byte 0 "
	    "of memory of 4000") == 1, "a missing event after a copy is found");
	ok((wrong(s.out, 1) > 0) == (when == STANDIN_LATE),
	    "the race changes the result if work is done late");
	close_set(&s);
}

/* Overwrite what another stream still reads. */
static void
test_missing_event_back(enum standin_when when)
{
	struct set s = open_set(when, 0);

	s.call->copy(s.d, s.t, s.x, s.in, BYTES);
	s.call->record(s.d, s.e, s.t);
	s.call->follow(s.d, s.side, s.e);
	add(&s, s.side, s.x, s.y, 0);
	s.call->fill(s.d, s.t, s.x, 0, BYTES);
	s.call->wait(s.d, s.t);
	s.call->copy(s.d, s.side, s.out, s.y, BYTES);
	s.call->wait(s.d, s.side);
	ok(found(&s, FAULT_RACE, "add (1.2) and a fill (0.2)") == 1,
	    "a missing event before an overwrite is found");
	ok((wrong(s.out, 0) > 0) == (when == STANDIN_LATE),
	    "the overwrite changes the result if work is done late");
	close_set(&s);
}

/* A race that only the other order shows. */
static void
test_other_order(enum standin_when when)
{
	struct set s = open_set(when, 0);

	add(&s, s.side, s.in, s.y, 0);
	s.call->wait(s.d, s.side);
	s.call->copy(s.d, s.t, s.out, s.y, BYTES);
	s.call->fill(s.d, s.side, s.y, 0, BYTES);
	s.call->wait(s.d, s.t);
	ok(found(&s, FAULT_RACE, "a copy (0.1) and a fill (1.2)") == 1,
	    "a race between a read and a later write is found");
	ok((wrong(s.out, 0) > 0) == (when == STANDIN_OTHERS),
	    "the race changes the result if other streams run first");
	close_set(&s);
}

static void
test_missing_in_graph(void)
{
	struct set s = open_set(STANDIN_LATE, 0);
	struct gpu_graph *g;

	s.call->copy(s.d, s.t, s.y, s.in, BYTES);
	s.call->capture(s.d, s.t);
	s.call->record(s.d, s.e, s.t);
	s.call->follow(s.d, s.side, s.e);
	add(&s, s.t, s.y, s.x, 1);
	add(&s, s.side, s.x, s.z, 1);	/* ordered after the beginning alone */
	s.call->record(s.d, s.f, s.side);
	s.call->follow(s.d, s.t, s.f);
	g = s.call->captured(s.d, s.t);
	ok(found(&s, FAULT_MISUSE, "") == 0, "a graph is captured");
	s.call->graph_run(s.d, s.t, g);
	s.call->wait(s.d, s.t);
	ok(standin_faults(s.d, FAULT_RACE) == 1,
	    "a missing event in a graph is found");
	standin_faults(s.d, FAULT_EARLY);
	s.call->graph_free(s.d, g);
	s.call->capture(s.d, s.t);
	s.call->record(s.d, s.e, s.t);
	s.call->follow(s.d, s.side, s.e);
	add(&s, s.side, s.y, s.z, 1);
	g = s.call->captured(s.d, s.t);
	ok(found(&s, FAULT_MISUSE, "does not follow all") == 1,
	    "a branch that is not joined is found");
	s.call->graph_free(s.d, g);
	close_set(&s);
}

static void
test_early(void)
{
	struct set s = open_set(STANDIN_LATE, 0);

	add(&s, s.t, s.x, s.y, 1);
	ok(found(&s, FAULT_EARLY, "add (0.1) reads byte 0 of memory of 4000 "
	    "before") == 1, "a read of uninitialized memory is found");
	s.call->fill(s.d, s.t, s.x, 0, BYTES - 4);
	add(&s, s.t, s.x, s.y, 1);
	ok(found(&s, FAULT_EARLY, "reads byte 3996 of memory") == 1,
	    "a read of one uninitialized element is found");
	add(&s, s.t, s.y, s.y, 1);
	s.call->free(s.d, s.y);
	s.y = s.call->alloc(s.d, BYTES);
	ok(found(&s, FAULT_EARLY, "") == 0,
	    "a read of written memory is accepted");
	add(&s, s.t, s.y, s.z, 1);
	ok(found(&s, FAULT_EARLY, "") == 1,
	    "reused memory counts as uninitialized");
	close_set(&s);
}

static void
test_wait(void)
{
	struct set s = open_set(STANDIN_LATE, 0);
	float plain[4];
	void *p;

	s.call->copy(s.d, s.t, s.x, s.in, BYTES);
	standin_quiet(s.d, 1);
	add(&s, s.t, s.x, s.y, 1);
	s.call->copy(s.d, s.t, s.out, s.y, BYTES);
	ok(found(&s, FAULT_WAIT, "") == 0, "launching work is not a wait");
	s.call->wait(s.d, s.t);
	ok(found(&s, FAULT_WAIT, "the host waits") == 1,
	    "a wait of the host is found");
	s.call->copy(s.d, s.t, plain, s.y, sizeof(plain));
	ok(found(&s, FAULT_WAIT, "the host waits") == 1,
	    "a copy to pageable memory is found as a wait");
	is(plain[3] == 4, 1, "that copy is done");
	p = s.call->alloc(s.d, 10);
	s.call->free(s.d, p);
	ok(found(&s, FAULT_WAIT, "memory is allocated") == 2,
	    "allocating and freeing memory are found as waits");
	standin_quiet(s.d, 0);
	s.call->wait(s.d, s.t);
	ok(found(&s, FAULT_WAIT, "") == 0,
	    "outside of a quiet section the host may wait");
	close_set(&s);
}

static void
test_undeclared(void)
{
	struct set s = open_set(STANDIN_LATE, 0);

	s.call->copy(s.d, s.t, s.x, s.in, BYTES);
	s.call->fill(s.d, s.t, s.y, 0, BYTES);
	s.call->fill(s.d, s.t, s.z, 0, BYTES);
	launch(&s, s.t, BEYOND, s.x, s.y, N, N, 0);
	s.call->wait(s.d, s.t);
	ok(found(&s, FAULT_UNDECLARED, "kernel beyond touches byte 4000 of a "
	    "span of 4000"), "a read beyond the declared range is found");
	launch(&s, s.t, ADD, s.x, s.y, N, 0, 0);
	s.call->wait(s.d, s.t);
	ok(found(&s, FAULT_UNDECLARED, "of which it did not say"),
	    "a write without a declaration is found");
	launch(&s, s.t, ADD, s.x, s.y, N, N - 1, 0);
	s.call->wait(s.d, s.t);
	ok(found(&s, FAULT_UNDECLARED, "writes beside"),
	    "a write beyond the declared range is found");
	launch(&s, s.t, BACK, s.x, s.y, N, N, 0);
	s.call->wait(s.d, s.t);
	ok(found(&s, FAULT_UNDECLARED, "writes byte 0 of 4000 that it said it "
	    "only reads"), "a write to a range declared as read is found");
	launch(&s, s.t, AHEAD, s.x, s.y, 1, N, 0);
	s.call->wait(s.d, s.t);
	ok(found(&s, FAULT_UNDECLARED, "writes beside"),
	    "a write just before the declared range is found");
	launch(&s, s.t, MIXED, s.x, s.y, 1, N, 0);
	s.call->wait(s.d, s.t);
	ok(found(&s, FAULT_UNDECLARED, "its threads backwards"),
	    "threads that depend on each other are found");
	s.call->copy(s.d, s.t, s.out, s.z, BYTES);
	s.call->wait(s.d, s.t);
	is(s.out[0] == 0 && s.out[N - 1] == 0, 1, "nothing else is written");
	close_set(&s);
}

static void
test_misuse(void)
{
	struct set s = open_set(STANDIN_LATE, 0);

	s.call->fill(s.d, s.t, s.x, 0, BYTES + 1);
	ok(found(&s, FAULT_MISUSE, "not allocated") == 1,
	    "filling more than was allocated is found");
	s.call->fill(s.d, s.t, s.x, 0, BYTES);
	s.call->copy(s.d, s.t, s.x + 1, s.x, 8);
	ok(found(&s, FAULT_MISUSE, "onto itself") == 1,
	    "a copy to an overlapping range is found");
	launch(&s, s.t, KERNELS, s.x, s.y, N, N, 0);
	ok(found(&s, FAULT_MISUSE, "no kernel 5") == 1,
	    "an unknown kernel is found");
	launch(&s, s.t, ADD, s.x, s.y, 0, N, 0);
	ok(found(&s, FAULT_MISUSE, "kernel add: 0 by 1 blocks") == 1,
	    "a grid without blocks is found");
	s.call->capture(s.d, s.t);
	s.call->wait(s.d, s.t);
	ok(found(&s, FAULT_MISUSE, "that is captured") == 1,
	    "a wait within a capture is found");
	s.call->copy(s.d, s.t, s.x, s.in, BYTES);
	ok(found(&s, FAULT_MISUSE, "host's memory is captured") == 1,
	    "host memory in a captured graph is found");
	s.call->record(s.d, s.e, s.t);
	s.call->graph_free(s.d, s.call->captured(s.d, s.t));
	s.call->wait_event(s.d, s.e);
	ok(found(&s, FAULT_MISUSE, "event of a graph") == 1,
	    "a wait for an event of a graph is found");
	s.call->record_inside(s.d, s.f, s.t);
	ok(found(&s, FAULT_MISUSE, "nobody captures") == 1,
	    "an event for a graph without a capture is found");
	close_set(&s);
}

/* A device that failed reports it at each later wait. */
static void
test_broken(void)
{
	struct set s = open_set(STANDIN_LATE, 2);
	char said[128] = "";

	said_begin(said, sizeof(said));
	s.call->fill(s.d, s.t, s.x, 0, BYTES);
	is(s.call->wait(s.d, s.t), 0,
	    "broken device: work before the failure succeeds");
	s.call->fill(s.d, s.t, s.x, 0, BYTES);
	is(s.call->wait(s.d, s.t), -1,
	    "broken device: a wait after the failure returns -1");
	is(s.call->wait(s.d, s.t), -1, "broken device: later waits return -1");
	said_end();
	ok(strstr(said, "failed") != NULL, "broken device: there is a message");
	close_set(&s);
}

static struct driver *
small(void)
{
	return standin_open(&(struct standin_options){ .memory = 1 << 20 });
}

/* Run ${what} in a child without its output.  Return the wait status. */
static int
ends(void (*what)(void))
{
	int status;
	pid_t child;

	fflush(NULL);
	if ((child = fork()) == 0) {
		if (freopen("/dev/null", "w", stderr) == NULL ||
		    freopen("/dev/null", "w", stdout) == NULL)
			_exit(3);
		what();
		_exit(0);
	}
	waitpid(child, &status, 0);
	return status;
}

static void
host_reads(void)
{
	struct driver *d = small();
	volatile char *p = d->call->alloc(d, 100);

	p[3]++;
}

static void
unasked(void)
{
	struct driver *d = small();

	d->call->free(d, d->call->alloc(d, 10));
	d->call->free_host(d, d);
	d->call->close(d);
}

static void
unfreed(void)
{
	struct driver *d = small();

	d->call->alloc(d, 10);
	d->call->close(d);
}

static void
clean(void)
{
	struct driver *d = small();

	d->call->free(d, d->call->alloc(d, 10));
	d->call->close(d);
}

static void
test_ends(void)
{
	struct driver *d = small();
	char said[128] = "";
	int status;

	status = ends(host_reads);
	ok(status != 0, "the host crashes if it touches device memory");
	is(ends(unasked), 1 << 8,
	    "a fault that the test does not query ends it with status 1");
	is(ends(unfreed), 1 << 8,
	    "memory that is not freed ends the test with status 1");
	is(ends(clean), 0, "without faults the test ends with status 0");
	said_begin(said, sizeof(said));
	ok(d->call->alloc(d, 2 << 20) == NULL && strstr(said_now(), "2097152") !=
	    NULL, "an allocation beyond the device's memory fails");
	said_end();
	d->call->close(d);
}

/* 16-bit numbers to float and back, and numbers between two of them. */
static void
test_numbers(void)
{
	int bad = 0;

	for (int i = 0; i < 65536; i++) {
		uint16_t h = (uint16_t)i;

		bad += !isnan(from_f16(h)) && to_f16(from_f16(h)) != h;
		bad += !isnan(from_bf16(h)) && to_bf16(from_bf16(h)) != h;
		/* Halfway to the next one: to the even one. */
		if ((i & 0x7fff) < 0x7bff)
			bad += to_f16((from_f16(h) + from_f16((uint16_t)(h +
			    1))) / 2) != ((h + 1) & ~1);
	}
	is(bad, 0, "16-bit numbers convert to float and back, ties to even");
	ok(to_f16(65519) == 0x7bff && to_f16(65520) == 0x7c00 &&
	    isnan(from_f16(to_f16(NAN))) && isnan(from_bf16(to_bf16(NAN))),
	    "conversion is right at the largest fp16 and for NaN");
}

int
main(void)
{
	for (int w = 0; w < STANDIN_WHENS; w++) {
		test_right((enum standin_when)w);
		test_graph((enum standin_when)w);
		test_inside((enum standin_when)w);
		test_missing_event((enum standin_when)w);
		test_missing_event_back((enum standin_when)w);
		test_other_order((enum standin_when)w);
	}
	test_missing_in_graph();
	test_early();
	test_wait();
	test_undeclared();
	test_misuse();
	test_broken();
	test_ends();
	test_numbers();
	return done();
}
