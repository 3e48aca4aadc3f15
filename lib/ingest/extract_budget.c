/* The parent's side of extraction in child processes. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/forkserver.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/text.h"
#include "ingest/extract_child.h"

#define Q text_quote
#define POLL 0.02	/* seconds between two tests of a child's memory */
#define POLL_STOP 0.2	/* seconds between two tests for a stop */
#define SPOOL (64 << 20)	/* bytes of frames in a child's memory */

/* A limit that a child exceeded. */
enum extract_limit { LIMIT_NONE, LIMIT_CPU, LIMIT_WALL, LIMIT_MEMORY,
	LIMIT_STOP };

struct extract_pool {
	struct forkserver *server;
	struct extract_child child;
	const struct extract_options *how;
	struct pool_child {
		pid_t pid;		/* 0: none */
		int fd;
		struct buffer bytes;	/* a frame */
	} *of;				/* [threads] */
	int threads;
};

/* The state of one extraction. */
struct pool_work {
	struct extract_pool *p;
	struct pool_child *c;
	double deadline;		/* 0: none */
	const char *chunk;		/* [n] of the result, read up to
					 * ${at} */
	size_t n, at;
	enum extract_limit limit;
};

#define BUDGET_SECONDS 0.01		/* the smallest limit of time */
#define BUDGET_BYTES (64 << 20)		/* the smallest limit of memory */

/* Set the limit ${name} of ${b} from ${value}.  Return 0, or -1 with the reason
 * in ${why}. */
static int
extract_budget_set(struct extract_budget *b, const char *name,
    const char *value, struct error *why)
{
	double *time = strcmp(name, "cpu") == 0 ? &b->cpu :
	    strcmp(name, "wall") == 0 ? &b->wall : NULL;

	if (time == NULL && strcmp(name, "memory") != 0)
		return error_set(why, "%s (wanted cpu:TIME, wall:TIME or "
		    "memory:BYTES, such as cpu:60s,wall:5m,memory:2G)",
		    Q(name));
	if (time != NULL ? *time > 0 : b->memory > 0)
		return error_set(why, "%s:%s is a second limit of %s (wanted "
		    "one)", name, Q(value), name);
	if (time != NULL && options_parse_time(value, BUDGET_SECONDS, 1e9,
	    time) != 0)
		return error_set(why, "%s:%s (wanted a time of at least %gs, "
		    "whose unit is s, m, h or d, such as %s:60s)", name,
		    Q(value), BUDGET_SECONDS, name);
	if (time == NULL && options_parse_size(value, BUDGET_BYTES, 1e15,
	    &b->memory) != 0)
		return error_set(why, "memory:%s (wanted at least 64M, such as "
		    "memory:2G)", Q(value));
	return 0;
}

int
extract_budget_parse(const char *text, struct extract_budget *b,
    struct error *why)
{
	char *copy = xstrdup(text), *next = copy;
	int bad = 0;

	*b = (struct extract_budget){ 0 };
	for (char *p = copy; next != NULL && !bad; p = next) {
		char *value;

		next = strchr(p, ',');
		if (next != NULL)
			*next++ = '\0';
		if ((value = strchr(p, ':')) != NULL)
			*value++ = '\0';
		bad = extract_budget_set(b, p, value != NULL ? value : "", why);
	}
	free(copy);
	return bad;
}

/* ---- children ---- */

static int
extract_pool_end_child(struct extract_pool *p, struct pool_child *c)
{
	int status;

	if (c->pid == 0)
		return 0;
	kill(c->pid, SIGKILL);
	close(c->fd);
	status = forkserver_wait(p->server, c->pid);
	c->pid = 0;
	return status;
}

/* Return the resident bytes of process ${pid}, 0 if it has none. */
static int64_t
extract_pool_resident(pid_t pid)
{
	char path[40];
	long pages = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	if (fscanf(f, "%*d %ld", &pages) != 1)
		pages = 0;
	fclose(f);
	return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

/*
 * Wait until the child's socket is readable.  Return 0, or -1 and set w->limit
 * if a limit is exceeded or the run stops.
 */
static int
extract_pool_await(struct pool_work *w)
{
	const struct extract_budget *b = &w->p->child.budget;
	struct pollfd f = { .fd = w->c->fd, .events = POLLIN };

	for (;;) {
		double now = clock_seconds();
		double step = b->memory > 0 ? POLL : POLL_STOP;

		if (w->p->how->stopped != NULL && w->p->how->stopped())
			w->limit = LIMIT_STOP;
		else if (w->deadline > 0 && now >= w->deadline)
			w->limit = LIMIT_WALL;
		else if (b->memory > 0 &&
		    extract_pool_resident(w->c->pid) > b->memory)
			w->limit = LIMIT_MEMORY;
		if (w->limit != LIMIT_NONE)
			return -1;
		if (w->deadline > 0 && w->deadline - now < step)
			step = w->deadline - now;
		if (poll(&f, 1, (int)(step * 1e3) + 1) > 0)
			return 0;
	}
}

/* Let the child fill the next chunk, and wait for it.  Return 0, or -1 if a
 * limit is exceeded or the child has ended. */
static int
extract_pool_next(struct pool_work *w)
{
	size_t n;

	if (w->n > 0 && send(w->c->fd, "", 1, MSG_NOSIGNAL) != 1)
		return -1;
	if (extract_pool_await(w) != 0 || recv(w->c->fd, &n, sizeof(n), 0) !=
	    (ssize_t)sizeof(n) || n == 0 || n > EXTRACT_CHUNK)
		return -1;
	w->n = n;
	w->at = 0;
	return 0;
}

/* Read ${n} bytes of the result.  Return 0, or -1 as extract_pool_next. */
static int
extract_pool_read(struct pool_work *w, void *to, size_t n)
{
	for (char *p = to; n > 0;) {
		size_t part = w->n - w->at;

		if (part == 0) {
			if (extract_pool_next(w) != 0)
				return -1;
			continue;
		}
		part = n < part ? n : part;
		memcpy(p, w->chunk + w->at, part);
		w->at += part;
		p += part;
		n -= part;
	}
	return 0;
}

/* ---- results ---- */

static int
extract_pool_read_frames(struct pool_work *w, struct extraction *x,
    size_t items)
{
	size_t *size = xcalloc(items, sizeof(*size));
	struct buffer *b = &w->c->bytes;
	int result = extract_pool_read(w, size, items * sizeof(*size));

	x->frame = spool_new(w->p->how->memory, items);
	for (size_t k = 0; k < items && result == 0; k++) {
		if (size[k] > INT32_MAX) {
			result = -1;
			break;
		}
		/* Most frames are whole in a chunk, and need no other copy. */
		if (w->n - w->at >= size[k]) {
			result = spool_add(x->frame, w->chunk + w->at, size[k]);
			w->at += size[k];
			continue;
		}
		b->n = 0;
		buffer_reserve(b, size[k]);
		result = extract_pool_read(w, b->data, size[k]);
		if (result == 0)
			result = spool_add(x->frame, b->data, size[k]);
	}
	free(size);
	return result;
}

/* Read the result of ${row} into ${x}.  Return 0, or -1, and then ${x} may have
 * parts of it. */
static int
extract_pool_receive(struct pool_work *w, const struct list_row *row,
    struct extraction *x)
{
	struct extract_result r;
	uint32_t *time = NULL;
	size_t frames;

	if (extract_pool_read(w, &r, sizeof(r)) != 0)
		return -1;
	frames = (size_t)r.x.sample.frames;
	if (r.status < 0 || r.status >= EXTRACT_STATUSES ||
	    frames > FRAME_MAX || r.items > FRAME_MAX * STREAM_MAX ||
	    (r.times != 0 && r.times != frames) ||
	    (r.places != 0 && r.places != frames))
		return -1;
	*x = r.x;
	x->frame = NULL;
	x->frame_item = NULL;
	x->sample.key = row->sample.key;
	x->sample.source = row->sample.source;
	x->sample.labels = row->sample.labels;
	x->sample.streams = &x->streams;
	x->sample.status = extract_statuses[r.status];
	x->sample.time = NULL;
	if (r.times > 0)
		x->sample.time = time = xcalloc(r.times, sizeof(*time));
	if (r.places > 0)
		x->frame_item = xcalloc(r.places, sizeof(*x->frame_item));
	if (extract_pool_read(w, time, r.times * sizeof(*time)) != 0 ||
	    extract_pool_read(w, x->frame_item, r.places *
	    sizeof(*x->frame_item)) != 0)
		return -1;
	return r.x.frame == NULL ? 0 : extract_pool_read_frames(w, x, r.items);
}

/* Describe how the child of ${w} ended. */
static void
extract_pool_explain(const struct pool_work *w, const char *path, int status)
{
	const struct extract_budget *b = &w->p->child.budget;
	enum extract_limit limit = w->limit;
	char size[32];

	if (limit == LIMIT_NONE && WIFSIGNALED(status) &&
	    WTERMSIG(status) == SIGPROF)
		limit = LIMIT_CPU;
	if (limit == LIMIT_NONE && WIFEXITED(status) && b->memory > 0 &&
	    WEXITSTATUS(status) == EXTRACT_CHILD_NO_MEMORY)
		limit = LIMIT_MEMORY;
	if (limit == LIMIT_CPU)
		fail("%s: cpu budget %gs exhausted (--budget)", Q(path),
		    b->cpu);
	else if (limit == LIMIT_WALL)
		fail("%s: wall budget %gs exhausted (--budget)", Q(path),
		    b->wall);
	else if (limit == LIMIT_MEMORY)
		fail("%s: memory budget %s exhausted (--budget)", Q(path),
		    text_bytes(size, (double)b->memory));
	else if (limit == LIMIT_STOP)
		fail("%s: stopped", Q(path));
	else if (status == -1)
		fail("%s: the process that starts the decoders was killed, "
		    "as by a lack of memory", Q(path));
	else if (WIFSIGNALED(status))
		fail("%s: the decoder crashed: signal %d (%s)", Q(path),
		    WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) == EXTRACT_CHILD_NOT_SENT)
		fail("%s: cannot read its spooled frames back", Q(path));
	else
		fail("%s: the decoding process ended with status %d", Q(path),
		    WEXITSTATUS(status));
}

void
extract_pool_video(struct extract_pool *p, size_t i, int thread,
    struct extraction *x)
{
	struct pool_work w = { .p = p, .c = &p->of[thread],
		.chunk = p->child.shared + (size_t)thread * EXTRACT_CHUNK };
	const struct extract_request q = { i, thread };
	const struct list_row *row = &p->child.l->row[i];
	double start = clock_seconds();
	struct error *before, message = { "" };
	int sent;

	before = fail_into(&message);
	*x = (struct extraction){ 0 };
	if (w.c->pid == 0 && (w.c->pid = forkserver_start(p->server,
	    &w.c->fd)) < 0)
		w.c->pid = 0;
	w.deadline = p->child.budget.wall > 0 ? start + p->child.budget.wall :
	    0;
	sent = w.c->pid > 0 && send(w.c->fd, &q, sizeof(q), MSG_NOSIGNAL) ==
	    (ssize_t)sizeof(q);
	if (!sent || extract_pool_receive(&w, row, x) != 0) {
		int status, lost;

		/* A child that has ended by itself keeps its status. */
		lost = w.c->pid == 0;
		status = extract_pool_end_child(p, w.c);
		lost |= status == -1 && w.limit == LIMIT_NONE;
		lost |= WIFEXITED(status) &&
		    WEXITSTATUS(status) == EXTRACT_CHILD_NOT_SENT;
		lost |= x->frame != NULL && spool_failed(x->frame);
		if (message.text[0] == '\0')
			extract_pool_explain(&w, row->path, status);
		extraction_free(x);
		x->sample = row->sample;
		extract_streams(p->how, &x->streams);
		x->sample.streams = &x->streams;
		x->sample.status = "failed";
		x->message = message;
		x->lost = lost;
	}
	fail_into(before);
	x->spent = clock_seconds() - start;
}

struct extract_pool *
extract_pool_new(const struct list *l, const struct extract_options *o,
    const struct extract_budget *b, int threads, int flow_threads)
{
	struct extract_pool *p = xcalloc(1, sizeof(*p));
	size_t spool = o->memory->limit / (size_t)threads;

	p->how = o;
	p->threads = threads;
	p->child = (struct extract_child){ .l = l, .how = *o, .budget = *b,
		.flow_threads = flow_threads, .spool = spool < SPOOL ? spool :
		SPOOL };
	p->of = xcalloc((size_t)threads, sizeof(*p->of));
	p->child.shared = mmap(NULL, (size_t)threads * EXTRACT_CHUNK,
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p->child.shared == MAP_FAILED)
		die(EXIT_FAILED, "out of memory: %zu bytes wanted",
		    (size_t)threads * EXTRACT_CHUNK);
	p->server = forkserver_new(extract_child_run, &p->child);
	if (p->server == NULL) {
		extract_pool_free(p);
		return NULL;
	}
	return p;
}

void
extract_pool_free(struct extract_pool *p)
{
	if (p == NULL)
		return;
	for (int t = 0; t < p->threads; t++) {
		extract_pool_end_child(p, &p->of[t]);
		buffer_free(&p->of[t].bytes);
	}
	forkserver_free(p->server);
	munmap(p->child.shared, (size_t)p->threads * EXTRACT_CHUNK);
	free(p->of);
	free(p);
}
