/* A child process that extracts videos. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "ingest/extract_child.h"

const char *const extract_statuses[EXTRACT_STATUSES] = {
	"failed", "ok", "truncated", "damaged"
};

static _Noreturn void
extract_child_on_die(int status)
{
	(void)status;
	_exit(EXTRACT_CHILD_NO_MEMORY);
}

/* Return the bytes of address space in use, or 0 if they are not known. */
static rlim_t
extract_child_space(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;

	if (f != NULL && fscanf(f, "%lu", &pages) != 1)
		pages = 0;
	if (f != NULL)
		fclose(f);
	return pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/*
 * The parent ends a child with too many resident bytes.  Address space is
 * limited only to twice as many, since much of it is never touched.
 */
static void
extract_child_limit_space(int64_t memory)
{
	rlim_t space = extract_child_space();
	struct rlimit r = { space + 2 * (rlim_t)memory, RLIM_INFINITY };

	if (memory == 0 || space == 0)
		return;
	r.rlim_max = r.rlim_cur;
	setrlimit(RLIMIT_AS, &r);
}

/* Let SIGPROF end the process after ${seconds} of its processor time; 0: stop
 * the timer. */
static void
extract_child_limit_time(double seconds)
{
	struct itimerval t = { .it_value.tv_sec = (time_t)seconds };

	t.it_value.tv_usec = (suseconds_t)((seconds -
	    (double)t.it_value.tv_sec) * 1e6);
	setitimer(ITIMER_PROF, &t, NULL);
}

/* The way of a result to the parent. */
struct child_output {
	int fd;
	char *chunk;			/* [EXTRACT_CHUNK] */
	size_t n;			/* bytes in it */
};

/* Pass the chunk.  If ${more} is 1, wait until it can be filled again. */
static int
extract_child_flush(struct child_output *o, int more)
{
	char answer;

	if (write(o->fd, &o->n, sizeof(o->n)) != (ssize_t)sizeof(o->n) ||
	    (more && read(o->fd, &answer, 1) != 1))
		return -1;
	o->n = 0;
	return 0;
}

static int
extract_child_write(struct child_output *o, const void *data, size_t n)
{
	const char *p = data;

	while (n > 0) {
		size_t part = EXTRACT_CHUNK - o->n;

		if (part == 0) {
			if (extract_child_flush(o, 1) != 0)
				return -1;
			continue;
		}
		part = n < part ? n : part;
		memcpy(o->chunk + o->n, p, part);
		o->n += part;
		p += part;
		n -= part;
	}
	return 0;
}

static int
extract_child_send_frames(struct child_output *o, struct extraction *x,
    size_t items)
{
	size_t *size = xcalloc(items, sizeof(*size));
	struct error ignored = { "" };
	int result = 0;

	for (size_t k = 0; k < items; k++)
		size[k] = spool_size(x->frame, k);
	result = extract_child_write(o, size, items * sizeof(*size));
	for (size_t k = 0; k < items && result == 0; k++) {
		const void *data = spool_get(x->frame, k, &size[k], &ignored);

		result = data == NULL ? -1 : extract_child_write(o, data,
		    size[k]);
	}
	free(size);
	return result;
}

static int
extract_child_send(struct child_output *o, struct extraction *x)
{
	size_t frames = (size_t)x->sample.frames;
	struct extract_result r = { .x = *x,
		.times = x->sample.time != NULL ? frames : 0,
		.places = x->frame_item != NULL ? frames : 0,
		.items = x->frame != NULL ? spool_count(x->frame) : 0 };

	while (r.status < EXTRACT_STATUSES - 1 &&
	    strcmp(extract_statuses[r.status], x->sample.status) != 0)
		r.status++;
	return extract_child_write(o, &r, sizeof(r)) != 0 ||
	    extract_child_write(o, x->sample.time, r.times *
	    sizeof(*x->sample.time)) != 0 ||
	    extract_child_write(o, x->frame_item, r.places *
	    sizeof(*x->frame_item)) != 0 ||
	    extract_child_send_frames(o, x, r.items) != 0 ||
	    extract_child_flush(o, 0) != 0 ? -1 : 0;
}

void
extract_child_run(int fd, void *arg)
{
	struct extract_child *c = arg;
	struct rlimit none = { 0, 0 };
	struct spool_budget spools;
	struct extractor *e;
	struct extract_request q;

	/* Messages belong to the results. */
	program_quiet(2);
	die_hook(extract_child_on_die);
	signal(SIGPROF, SIG_DFL);
	setrlimit(RLIMIT_CORE, &none);
	extract_child_limit_space(c->budget.memory);
	spool_budget_open(&spools, c->spool);
	c->how.memory = &spools;
	c->how.stopped = NULL;
	e = extractor_new(c->how.quality);
	if (c->how.flow)
		extractor_add_flow(e, &c->how, c->flow_threads);
	while (read(fd, &q, sizeof(q)) == (ssize_t)sizeof(q)) {
		struct child_output o = { .fd = fd, .chunk = c->shared +
			(size_t)q.thread * EXTRACT_CHUNK };
		struct extraction x;

		extract_child_limit_time(c->budget.cpu);
		extract_video(&c->l->row[q.row], &c->how, e, &x);
		extract_child_limit_time(0);
		if (!x.kept && c->budget.memory > 0 &&
		    strstr(x.message.text, "out of memory") != NULL)
			_exit(EXTRACT_CHILD_NO_MEMORY);
		if (extract_child_send(&o, &x) != 0)
			_exit(EXTRACT_CHILD_NOT_SENT);
		extraction_free(&x);
	}
	_exit(0);
}
