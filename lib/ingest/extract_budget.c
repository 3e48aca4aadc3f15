/* The parent's side of extraction by workers. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/text.h"
#include "ingest/extract_worker.h"
#include "shard/stream.h"
#include "shard/stream_read.h"

#define Q text_quote
#define POLL 0.02	/* seconds between two tests of a worker's memory */
#define POLL_STOP 0.2	/* seconds between two tests for a stop */
#define SPOOL (64 << 20)	/* bytes of frames in a worker's memory */

/* A limit that a worker exceeded. */
enum extract_limit { LIMIT_NONE, LIMIT_CPU, LIMIT_WALL, LIMIT_MEMORY,
	LIMIT_STOP };

struct extract_pool {
	const struct extract_options *how;
	const struct extract_budget *budget;
	char *settings;			/* of all workers */
	struct pool_child {
		const struct extract_pool *p;
		pid_t pid;		/* 0: none */
		int rows, samples;	/* to the worker, and from it */
		struct buffer in;	/* a member of the samples */
		double deadline;	/* of the row; 0: none */
		enum extract_limit limit;
	} *of;				/* [threads] */
	int threads;
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

/* ---- workers ---- */

/* Start a worker.  Return 0, or -1 after a message. */
static int
extract_pool_start(struct pool_child *c)
{
	char *argv[] = { (char *)program_name(), (char *)EXTRACT_WORKER,
		c->p->settings, NULL };
	posix_spawn_file_actions_t files;
	int rows[2] = { -1, -1 }, samples[2] = { -1, -1 };
	int bad = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
	    rows) != 0 || pipe2(samples, O_CLOEXEC) != 0 ? errno : 0;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, rows[1], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, samples[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclosefrom_np(&files, 3);
	if (bad == 0)
		bad = posix_spawn(&c->pid, "/proc/self/exe", &files, NULL, argv,
		    environ);
	posix_spawn_file_actions_destroy(&files);
	close(rows[1]);
	close(samples[1]);
	c->rows = rows[0];
	c->samples = samples[0];
	if (bad == 0)
		return 0;
	close(c->rows);
	close(c->samples);
	c->pid = 0;
	errno = bad;
	return fail_errno("cannot start a process");
}

/* End the worker, and return its status as waitpid does.  A worker that has
 * ended by itself keeps its status. */
static int
extract_pool_end(struct pool_child *c)
{
	int status = 0;

	if (c->pid == 0)
		return 0;
	kill(c->pid, SIGKILL);
	close(c->rows);
	close(c->samples);
	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	c->pid = 0;
	return status;
}

/* Return the limit that the worker exceeds, or LIMIT_STOP if the run ends. */
static enum extract_limit
extract_pool_limit(const struct pool_child *c)
{
	const struct extract_pool *p = c->p;
	int64_t space;

	if (p->how->stopped != NULL && p->how->stopped())
		return LIMIT_STOP;
	if (c->deadline > 0 && clock_seconds() >= c->deadline)
		return LIMIT_WALL;
	return p->budget->memory > 0 && extract_worker_memory(c->pid,
	    &space) > p->budget->memory ? LIMIT_MEMORY : LIMIT_NONE;
}

/* ---- samples ---- */

/*
 * Read the next ${n} bytes of the samples to the beginning of c->in.  Return 0,
 * or -1 if the worker has ended or, with c->limit set, exceeds a limit.
 */
static int
extract_pool_read(struct pool_child *c, size_t n)
{
	struct pollfd f = { .fd = c->samples, .events = POLLIN };

	buffer_reserve(&c->in, n);
	for (size_t at = 0; at < n;) {
		double step = c->p->budget->memory > 0 ? POLL : POLL_STOP;
		ssize_t got;

		if (c->deadline > 0)
			step = fmax(0, fmin(step, c->deadline -
			    clock_seconds()));
		if (poll(&f, 1, (int)(step * 1e3) + 1) <= 0) {
			c->limit = extract_pool_limit(c);
			if (c->limit != LIMIT_NONE)
				return -1;
			continue;
		}
		got = read(c->samples, c->in.data + at, n - at);
		if (got <= 0)
			return -1;
		at += (size_t)got;
	}
	return 0;
}

/*
 * Read the next member of the samples into ${m}, and its data to c->in.  Its
 * kind is MEMBER_END for STREAM_RESULT.  Return 0, or -1 as extract_pool_read.
 */
static int
extract_pool_member(struct pool_child *c, struct stream_member *m)
{
	char name[USTAR_NAME + 1];

	if (extract_pool_read(c, USTAR_BLOCK) != 0 || ustar_read(
	    (const unsigned char *)c->in.data, name, &m->size) != 0 ||
	    m->size > INT32_MAX)
		return -1;
	m->kind = MEMBER_END;
	if (strcmp(name, STREAM_RESULT) != 0 && (stream_member_name(name,
	    m) != NULL || m->kind == MEMBER_END))
		return -1;
	return extract_pool_read(c, m->size + ustar_padding(m->size));
}

/*
 * Read the sample and the result of a row into ${x}.  Return 0, or -1, and then
 * ${x} may have parts of them.
 */
static int
extract_pool_receive(struct pool_child *c, struct extraction *x)
{
	struct stream_member m;
	struct error ignored = { "" };
	struct sample *s = NULL;
	int bad;

	x->frame = spool_new(c->p->how->memory, 0);
	while ((bad = extract_pool_member(c, &m)) == 0 &&
	    m.kind != MEMBER_END) {
		if (m.kind != MEMBER_FRAME && s == NULL)
			s = sample_read("", c->in.data, m.size, NULL, &ignored);
		else if ((bad = spool_add(x->frame, c->in.data, m.size)) != 0)
			break;
	}
	bad = bad || extract_worker_result(c->in.data, m.size, x) != 0 ||
	    x->kept != (s != NULL) || (x->kept &&
	    (x->sample.frames != s->frames || spool_count(x->frame) !=
	    (size_t)s->frames * (size_t)x->streams.n));
	if (!bad && s != NULL) {	/* the result has no times */
		x->sample.time = s->time;
		s->time = NULL;
	}
	sample_free(s);
	if (!bad && !x->kept) {
		spool_free(x->frame);
		x->frame = NULL;
	}
	return bad ? -1 : 0;
}

/* Report how the worker ended. */
static void
extract_pool_explain(const struct pool_child *c, const char *path, int status)
{
	const struct extract_budget *b = c->p->budget;
	enum extract_limit limit = c->limit != LIMIT_NONE ? c->limit :
	    WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF ? LIMIT_CPU :
	    WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FAILED &&
	    b->memory > 0 ? LIMIT_MEMORY : LIMIT_NONE;
	char size[32];

	if (limit == LIMIT_CPU || limit == LIMIT_WALL)
		fail("%s: %s budget %gs exhausted (--budget)", Q(path),
		    limit == LIMIT_CPU ? "cpu" : "wall",
		    limit == LIMIT_CPU ? b->cpu : b->wall);
	else if (limit == LIMIT_MEMORY)
		fail("%s: memory budget %s exhausted (--budget)", Q(path),
		    text_bytes(size, (double)b->memory));
	else if (limit == LIMIT_STOP)
		fail("%s: stopped", Q(path));
	else if (WIFSIGNALED(status))
		fail("%s: the decoder crashed: signal %d (%s)", Q(path),
		    WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		fail("%s: the decoding process ended with status %d",
		    Q(path), WEXITSTATUS(status));
}

void
extract_pool_video(struct extract_pool *p, const struct list_row *row,
    int thread, struct extraction *x)
{
	struct pool_child *c = &p->of[thread];
	double start = clock_seconds();
	struct error message = { "" }, *before = fail_into(&message);
	struct buffer text = { 0 };
	int started = c->pid != 0 || extract_pool_start(c) == 0, bad;

	extraction_begin(row, p->how, x);
	extract_worker_row(&text, row);
	c->limit = LIMIT_NONE;
	c->deadline = p->budget->wall > 0 ? start + p->budget->wall : 0;
	bad = !started || send(c->rows, text.data, text.n, MSG_NOSIGNAL) !=
	    (ssize_t)text.n || extract_pool_receive(c, x) != 0;
	buffer_free(&text);
	if (!bad && !x->kept && p->budget->memory > 0 &&
	    strstr(x->message.text, "out of memory") != NULL) {
		c->limit = LIMIT_MEMORY;
		bad = 1;
	}
	if (bad) {
		int status = extract_pool_end(c), lost = !started ||
		    (x->frame != NULL && spool_failed(x->frame));

		if (message.text[0] == '\0')
			extract_pool_explain(c, row->path, status);
		extraction_free(x);
		extraction_begin(row, p->how, x);
		x->message = message;
		x->lost = lost;
	}
	fail_into(before);
	x->spent = clock_seconds() - start;
}

struct extract_pool *
extract_pool_new(const struct extract_options *o,
    const struct extract_budget *b, int threads, int flow_threads)
{
	struct extract_pool *p = xcalloc(1, sizeof(*p));
	size_t spool = o->memory->limit / (size_t)threads;
	struct extract_worker w = { .how = *o, .budget = *b,
		.flow_threads = flow_threads, .parent = getpid(),
		.spool = (int64_t)(spool < SPOOL ? spool : SPOOL) };

	p->how = o;
	p->budget = b;
	p->settings = extract_worker_settings(&w);
	p->threads = threads;
	p->of = xcalloc((size_t)threads, sizeof(*p->of));
	for (int t = 0; t < threads; t++)
		p->of[t].p = p;
	return p;
}

void
extract_pool_free(struct extract_pool *p)
{
	if (p == NULL)
		return;
	for (int t = 0; t < p->threads; t++) {
		extract_pool_end(&p->of[t]);
		buffer_free(&p->of[t].in);
	}
	free(p->settings);
	free(p->of);
	free(p);
}
