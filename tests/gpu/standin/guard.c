/*
 * Guarded execution of kernels.  A kernel sees only copies of the spans that it
 * declared.  Each copy ends at an inaccessible page, and a span that is only
 * read is write-protected.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fail.h"
#include "base/mem.h"
#include "own.h"

/* ALIGN: the alignment of vectors that kernels read. */
enum { PAGE = 4096, ALIGN = 16, GARBAGE = 0xff, OTHER_GARBAGE = 0x5a };

/* A union of overlapping spans, and its copy. */
struct stretch {
	uintptr_t from, to;
	int written;			/* part of it is written */
	char *page, *copy;		/* the first page; the copy within
					 * the pages */
	size_t pages;			/* bytes of the pages */
	char *first;			/* output of the first run */
};

struct stretches { struct stretch s[2 * SPANS]; int n; };

/* ---- where a thread continues after an invalid access ---- */

static _Thread_local struct {
	sigjmp_buf back;
	volatile int armed;
	void *volatile at;
} escape;

static struct sigaction before;

static void
caught(int number, siginfo_t *info, void *context)
{
	static const char text[] = "stand-in: the host touches device memory "
	    "or unmapped memory\n";

	(void)number;
	(void)context;
	if (escape.armed) {
		escape.armed = 0;
		escape.at = info->si_addr;
		siglongjmp(escape.back, 1);
	}
	if (write(2, text, sizeof(text) - 1) < 0)
		abort();
	sigaction(SIGSEGV, &before, NULL);	/* then fault again, by the
						 * default action */
}

static void
catch(void)
{
	struct sigaction a = { .sa_sigaction = caught, .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &a, &before);
}

int
guard_open(struct guard *g)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, catch);
	g->bytes = (size_t)16 << 30;
	g->at = mmap(NULL, g->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS |
	    MAP_NORESERVE, -1, 0);
	return g->at != MAP_FAILED ? 0 :
	    fail_errno("stand-in: addresses for kernels");
}

void
guard_close(struct guard *g)
{
	munmap(g->at, g->bytes);
}

/* ---- the declared spans ---- */

static int
by_address(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static void
list(struct stretches *l, const struct access *a)
{
	int n = 0;

	l->n = 0;
	for (int i = 0; i < a->reads + a->writes; i++) {
		int written = i >= a->reads;
		const struct span *s = written ? &a->write[i - a->reads] :
		    &a->read[i];

		if (s->bytes > 0)
			l->s[n++] = (struct stretch){ .from = (uintptr_t)s->at,
				.to = (uintptr_t)s->at + s->bytes,
				.written = written };
	}
	qsort(l->s, (size_t)n, sizeof(*l->s), by_address);
	for (int i = 0; i < n; i++) {
		struct stretch *last, s = l->s[i];

		if (l->n == 0 || s.from >= l->s[l->n - 1].to) {
			l->s[l->n++] = s;
			continue;
		}
		last = &l->s[l->n - 1];
		last->to = s.to > last->to ? s.to : last->to;
		last->written |= s.written;
	}
}

/* Place the copies.  Each keeps its original's address modulo ALIGN. */
static void
place(struct guard *g, struct stretches *l)
{
	char *at = g->at + PAGE;

	for (int i = 0; i < l->n; i++) {
		struct stretch *s = &l->s[i];
		size_t bytes = s->to - s->from;
		size_t end;

		s->page = at;
		s->pages = (bytes + ALIGN + PAGE - 1) / PAGE * PAGE;
		end = (size_t)(s->pages - bytes);
		s->copy = at + end - (end - s->from) % ALIGN;
		at += s->pages + PAGE;
	}
	if (at > g->at + g->bytes)
		die(1, "stand-in: a kernel of %zu bytes", (size_t)(at - g->at));
}

/* Return whether ${at} is in a span that is written but not read. */
static int
only_written(const struct access *a, uintptr_t at)
{
	for (int i = 0; i < a->reads; i++)
		if (at - (uintptr_t)a->read[i].at < a->read[i].bytes)
			return 0;
	for (int i = 0; i < a->writes; i++)
		if (at - (uintptr_t)a->write[i].at < a->write[i].bytes)
			return 1;
	return 0;
}

/* Return how many bytes of ${s}, from ${at}, belong to the same spans. */
static size_t
alike(const struct access *a, const struct stretch *s, uintptr_t at)
{
	uintptr_t to = s->to;

	for (int i = 0; i < a->reads + a->writes; i++) {
		const struct span *p = i < a->reads ? &a->read[i] :
		    &a->write[i - a->reads];
		uintptr_t edge[2] = { (uintptr_t)p->at,
			(uintptr_t)p->at + p->bytes };

		for (int k = 0; k < 2; k++)
			if (edge[k] > at && edge[k] < to)
				to = edge[k];
	}
	return to - at;
}

/* Fill the copies from memory.  Fill bytes that are only written with
 * ${garbage} instead, unless it is 0. */
static void
fill(struct standin *s, const struct access *a, struct stretches *l,
    int garbage)
{
	for (int i = 0; i < l->n; i++) {
		struct stretch *t = &l->s[i];

		mprotect(t->page, t->pages, PROT_READ | PROT_WRITE);
		memset(t->page, GARBAGE, (size_t)(t->copy - t->page));
		memcpy(t->copy, memory_near(&s->memory, (void *)t->from),
		    t->to - t->from);
		memset(t->copy + (t->to - t->from), GARBAGE, (size_t)(t->page +
		    t->pages - t->copy) - (t->to - t->from));
		for (uintptr_t at = t->from; garbage && at < t->to;) {
			size_t n = alike(a, t, at);

			if (only_written(a, at))
				memset(t->copy + (at - t->from), garbage, n);
			at += n;
		}
		if (!t->written)
			mprotect(t->page, t->pages, PROT_READ);
	}
}

/* ---- execution ---- */

/* Replace addresses among the arguments by those of the copies. */
static void
translate(const struct stretches *l, char *args, size_t bytes)
{
	for (size_t at = 0; at + sizeof(uintptr_t) <= bytes;
	    at += sizeof(uintptr_t)) {
		uintptr_t p;

		memcpy(&p, args + at, sizeof(p));
		for (int i = 0; i < l->n; i++)
			if (p - l->s[i].from < l->s[i].to - l->s[i].from) {
				p = (uintptr_t)l->s[i].copy + (p - l->s[i].from);
				memcpy(args + at, &p, sizeof(p));
				break;
			}
	}
}

static void
blocks(const struct standin_kernel *k, const struct launch *l,
    const char *args, int backwards)
{
	struct block b = { .nx = l->grid[0], .ny = l->grid[1],
		.threads = k->threads, .backwards = backwards };
	size_t n = (size_t)b.nx * b.ny;

	for (size_t i = 0; i < n; i++) {
		size_t at = backwards ? n - 1 - i : i;

		b.x = (unsigned)(at % b.nx);
		b.y = (unsigned)(at / b.nx);
		k->body[l->type](args, b);
	}
}

static void
trapped(struct standin *s, const char *name, const struct stretches *l)
{
	char *at = escape.at;

	for (int i = 0; i < l->n; i++) {
		const struct stretch *t = &l->s[i];

		if (at < t->page - PAGE || at >= t->page + t->pages + PAGE)
			continue;
		if (at >= t->page && at < t->page + t->pages)
			fault(s, FAULT_UNDECLARED, "kernel %s writes byte %td of "
			    "%zu that it said it only reads", name,
			    at - t->copy, t->to - t->from);
		else
			fault(s, FAULT_UNDECLARED, "kernel %s touches byte %td "
			    "of a span of %zu", name, at - t->copy,
			    t->to - t->from);
		return;
	}
	fault(s, FAULT_UNDECLARED, "kernel %s touches %p, of which it did not "
	    "say that it does", name, (void *)at);
}

/* Run all blocks once.  Return 0 after an invalid access. */
static int
run(struct standin *s, const struct message *p, const struct stretches *l,
    int backwards)
{
	const struct standin_kernel *k = &s->o.kernel[p->launch.kernel];
	char *args = xmalloc(p->launch.bytes + 1);

	memcpy(args, p->args, p->launch.bytes);
	translate(l, args, p->launch.bytes);
	if (sigsetjmp(escape.back, 1) == 0) {
		escape.armed = 1;
		blocks(k, &p->launch, args, backwards);
		escape.armed = 0;
		free(args);
		return 1;
	}
	trapped(s, k->name, l);
	free(args);
	return 0;
}

/* Return whether bytes around the copy, or bytes not declared as written,
 * changed. */
static int
spoilt(struct standin *s, const struct access *a, const struct stretch *t)
{
	const char *now = t->copy, *end = t->page + t->pages;
	const char *was = memory_near(&s->memory, (void *)t->from);

	for (const char *p = t->page; p < t->copy; p++)
		if (*p != (char)GARBAGE)
			return 1;
	for (const char *p = t->copy + (t->to - t->from); p < end; p++)
		if (*p != (char)GARBAGE)
			return 1;
	for (uintptr_t at = t->from; at < t->to;) {
		size_t n = alike(a, t, at), off = at - t->from;
		int written = 0;

		for (int i = 0; i < a->writes; i++)
			written |= at - (uintptr_t)a->write[i].at <
			    a->write[i].bytes;
		if (!written && memcmp(now + off, was + off, n) != 0)
			return 1;
		at += n;
	}
	return 0;
}

/* Return whether the second run left the same output as the first,
 * ${first}.  Bytes that neither run wrote keep their garbage; restore these
 * from memory. */
static int
same(struct standin *s, struct stretch *t)
{
	const unsigned char *first = (unsigned char *)t->first;
	const char *was = memory_near(&s->memory, (void *)t->from);
	unsigned char *now = (unsigned char *)t->copy;

	for (size_t i = 0; i < t->to - t->from; i++)
		if (first[i] == GARBAGE && now[i] == OTHER_GARBAGE)
			now[i] = (unsigned char)was[i];
		else if (first[i] != now[i])
			return 0;
	return 1;
}

static void
again(struct standin *s, const struct message *p, struct stretches *l)
{
	int differ = 0;

	for (int i = 0; i < l->n; i++) {
		size_t n = l->s[i].to - l->s[i].from;

		l->s[i].first = xmalloc(n);
		memcpy(l->s[i].first, l->s[i].copy, n);
	}
	fill(s, &p->access, l, OTHER_GARBAGE);
	if (run(s, p, l, 1))
		for (int i = 0; i < l->n && !differ; i++)
			differ = l->s[i].written && !same(s, &l->s[i]);
	if (differ)
		fault(s, FAULT_UNDECLARED, "kernel %s gives something else with "
		    "its threads backwards, or of other garbage", p->name);
	for (int i = 0; i < l->n; i++)
		free(l->s[i].first);
}

/* Run a launch on the declared spans themselves. */
static void
unguarded(struct standin *s, const struct message *p, struct stretches *l)
{
	char *args = xmalloc(p->launch.bytes + 1);

	for (int i = 0; i < l->n; i++)
		l->s[i].copy = memory_near(&s->memory, (void *)l->s[i].from);
	memcpy(args, p->args, p->launch.bytes);
	translate(l, args, p->launch.bytes);
	blocks(&s->o.kernel[p->launch.kernel], &p->launch, args, 0);
	free(args);
}

void
guard_run(struct standin *s, const struct message *p)
{
	const struct access *a = &p->access;
	struct stretches l;

	list(&l, a);
	if (s->pretends) {
		unguarded(s, p, &l);
		return;
	}
	place(&s->guard, &l);
	fill(s, a, &l, s->o.twice ? GARBAGE : 0);
	if (run(s, p, &l, 0) && s->o.twice)
		again(s, p, &l);
	for (int i = 0; i < l.n; i++)
		if (l.s[i].written && spoilt(s, a, &l.s[i])) {
			fault(s, FAULT_UNDECLARED, "kernel %s writes beside "
			    "what it said", p->name);
			break;
		}
	for (int i = 0; i < a->writes; i++)
		for (int k = 0; k < l.n; k++)
			if ((uintptr_t)a->write[i].at - l.s[k].from <
			    l.s[k].to - l.s[k].from)
				memcpy(memory_near(&s->memory, a->write[i].at),
				    l.s[k].copy + ((uintptr_t)a->write[i].at -
				    l.s[k].from), a->write[i].bytes);
	for (int i = 0; i < l.n; i++)
		mprotect(l.s[i].page, l.s[i].pages, PROT_NONE);
}
