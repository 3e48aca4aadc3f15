/* A worker process: its settings, rows and results, its limits and its loop. */
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/json.h"
#include "base/text.h"
#include "base/version.h"
#include "ingest/extract_worker.h"
#include "shard/stream.h"

/* ---- settings and results, as JSON ---- */

/* A member of a struct, and the key of its value in the JSON object. */
struct worker_field {
	const char *key;
	enum { FIELD_INT, FIELD_LONG, FIELD_REAL, FIELD_TEXT } type;
	size_t at, size;
};

#define FIELD(type, s, m) \
	{ #m, FIELD_##type, offsetof(struct s, m), sizeof(((struct s *)0)->m) }
#define SETTING(type, m) FIELD(type, extract_worker, m)
#define RESULT(type, m) FIELD(type, extraction, m)
#define SETTINGS \
	worker_settings, sizeof(worker_settings) / sizeof(*worker_settings)
#define RESULTS worker_results, sizeof(worker_results) / sizeof(*worker_results)

/* In byte order of the keys. */
static const struct worker_field worker_settings[] = {
	SETTING(REAL, budget.cpu), SETTING(LONG, budget.memory),
	SETTING(INT, flow_threads), SETTING(INT, how.allow_truncated),
	SETTING(INT, how.enlarge), SETTING(INT, how.flow),
	SETTING(INT, how.format), SETTING(INT, how.fps.den),
	SETTING(INT, how.fps.num), SETTING(INT, how.height),
	SETTING(INT, how.level[0]), SETTING(INT, how.level[1]),
	SETTING(INT, how.level[2]), SETTING(INT, how.level[3]),
	SETTING(INT, how.level[4]), SETTING(INT, how.level[5]),
	SETTING(INT, how.level[6]), SETTING(INT, how.levels),
	SETTING(LONG, how.max_damage), SETTING(LONG, how.max_frames),
	SETTING(LONG, how.max_pixels), SETTING(INT, how.no_phash),
	SETTING(INT, how.pairs), SETTING(INT, how.quality),
	SETTING(INT, how.rgb), SETTING(INT, how.short_side),
	SETTING(INT, how.strict_rate), SETTING(INT, how.width),
	SETTING(INT, parent), SETTING(LONG, spool),
};
_Static_assert(sizeof(((struct extract_options *)0)->level) == 7 * sizeof(int),
    "worker_settings has each level");
static const struct worker_field worker_results[] = {
	RESULT(REAL, account.decoded), RESULT(LONG, account.errors),
	RESULT(LONG, account.frames), RESULT(LONG, account.frames_corrupt),
	RESULT(LONG, account.gaps), RESULT(LONG, account.packets_corrupt),
	RESULT(LONG, account.refused), RESULT(LONG, account.times_mended),
	RESULT(REAL, cpu), RESULT(LONG, damage), RESULT(INT, hashed),
	RESULT(TEXT, info.codec), RESULT(REAL, info.declared_seconds),
	RESULT(TEXT, info.format), RESULT(INT, info.height),
	RESULT(TEXT, info.pixels), RESULT(INT, info.width),
	RESULT(INT, kept), RESULT(INT, lost), RESULT(TEXT, message.text),
	RESULT(INT, sample.flags), RESULT(INT, sample.fps.den),
	RESULT(INT, sample.fps.num), RESULT(INT, sample.frames),
	RESULT(INT, sample.height), RESULT(LONG, sample.phash),
	RESULT(LONG, sample.source_bytes), RESULT(LONG, sample.source_hash),
	RESULT(INT, sample.width),
};

/* The values of sample.status. */
static const char *const worker_statuses[4] = {
	"failed", "ok", "truncated", "damaged"
};

/* Write the fields of ${from} as members of the open object. */
static void
extract_worker_write(struct json_writer *w, const struct worker_field *f,
    size_t n, const void *from)
{
	for (size_t i = 0; i < n; i++) {
		const void *v = (const char *)from + f[i].at;

		if (f[i].type == FIELD_TEXT)
			json_put_bytes(w, f[i].key, v);
		else if (f[i].type == FIELD_REAL)
			json_put_real(w, f[i].key, *(const double *)v);
		else
			json_put_int(w, f[i].key, f[i].type == FIELD_INT ?
			    *(const int *)v : *(const int64_t *)v);
	}
}

/* Read the fields of ${to} from ${o}.  Return 0, or -1 if one is missing or
 * wrong. */
static int
extract_worker_read(const struct json *o, const struct worker_field *f,
    size_t n, void *to)
{
	int bad = 0;

	for (size_t i = 0; i < n; i++) {
		const struct json *v = json_get(o, f[i].key);
		const char *text = json_to_text(v);
		void *at = (char *)to + f[i].at;
		int64_t number = 0;

		if (f[i].type == FIELD_TEXT)
			bad |= snprintf(at, f[i].size, "%s", text != NULL ?
			    text : "") < 0 || text == NULL;
		else if (f[i].type == FIELD_REAL)
			bad |= json_to_real(v, at);
		else
			bad |= json_to_int(v, INT64_MIN, INT64_MAX, &number);
		if (f[i].type == FIELD_INT)
			*(int *)at = (int)number;
		else if (f[i].type == FIELD_LONG)
			*(int64_t *)at = number;
	}
	return bad ? -1 : 0;
}

char *
extract_worker_settings(const struct extract_worker *w)
{
	struct json_writer j = { 0 };

	json_open(&j, NULL, '{');
	extract_worker_write(&j, SETTINGS, w);
	json_close(&j);
	return j.out.data;
}

int
extract_worker_result(const char *text, size_t n, struct extraction *x)
{
	struct error ignored = { "" };
	struct json *o = json_try("", text, n, &ignored);
	const char *status = json_to_text(json_get(o, "status"));
	int bad = extract_worker_read(o, RESULTS, x);

	for (int i = 0; i < 4 && status != NULL; i++)
		if (strcmp(status, worker_statuses[i]) == 0)
			x->sample.status = worker_statuses[i];
	json_free(o);
	return bad;
}

/* ---- rows: numbers, key, source and path, each with a zero byte ---- */

void
extract_worker_row(struct buffer *b, const struct list_row *row)
{
	const struct list_part *p = &row->part;

	buffer_printf(b, "%d %.17g %.17g %lld%c%s%c%s%c%s%c", (int)p->unit,
	    p->begin, p->end, (long long)p->frames, '\0', row->sample.key, '\0',
	    row->sample.source, '\0', row->path, '\0');
}

/* Read a row into ${row}, whose texts are ${text}.  Return 0, or -1 at the
 * end. */
static int
extract_worker_read_row(struct list_row *row, char *text[4], size_t cap[4])
{
	struct list_part *p = &row->part;
	int unit, n;

	for (int i = 0; i < 4; i++)
		if (getdelim(&text[i], &cap[i], '\0', stdin) < 0)
			return -1;
	*row = (struct list_row){ .path = text[3], .sample = {
		.key = text[1], .source = text[2], .label = -1 } };
	n = sscanf(text[0], "%d %lf %lf %" SCNd64, &unit, &p->begin, &p->end,
	    &p->frames);
	p->unit = (enum list_unit)unit;
	return n == 4 ? 0 : -1;
}

/* ---- limits ---- */

int64_t
extract_worker_memory(pid_t pid, int64_t *space)
{
	char path[40];
	int64_t pages[2] = { 0, 0 }, bytes = sysconf(_SC_PAGESIZE);
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	if ((f = fopen(path, "re")) != NULL) {
		if (fscanf(f, "%" SCNd64 " %" SCNd64, &pages[0],
		    &pages[1]) != 2)
			pages[0] = pages[1] = 0;
		fclose(f);
	}
	*space = pages[0] * bytes;
	return pages[1] * bytes;
}

/*
 * The parent ends a worker with too many resident bytes.  Address space is
 * limited only to twice as many, since much of it is never touched.
 */
static void
extract_worker_limit_space(int64_t memory)
{
	int64_t space;
	struct rlimit r;

	extract_worker_memory(getpid(), &space);
	r.rlim_cur = r.rlim_max = (rlim_t)(space + 2 * memory);
	if (memory > 0 && space > 0)
		setrlimit(RLIMIT_AS, &r);
}

/* Let SIGPROF end the process after ${seconds} of its processor time; 0: stop
 * the timer. */
static void
extract_worker_limit_time(double seconds)
{
	struct itimerval t = { .it_value.tv_sec = (time_t)seconds };

	t.it_value.tv_usec = (suseconds_t)((seconds -
	    (double)t.it_value.tv_sec) * 1e6);
	setitimer(ITIMER_PROF, &t, NULL);
}

/* ---- the worker ---- */

/* Write the sample of ${x}, if it is kept, and the result. */
static int
extract_worker_send(struct stream_writer *w, const struct list_row *row,
    struct extraction *x)
{
	struct json_writer j = { 0 };
	int64_t bytes = 0;
	int bad;

	if (x->kept && extraction_write(x, &x->sample, w, &bytes) != 0) {
		x->message.text[0] = '\0';
		error_set(&x->message, "%s: cannot read its spooled frames "
		    "back", text_quote(row->path));
		x->kept = 0;
		x->lost = 1;
	}
	json_open(&j, NULL, '{');
	extract_worker_write(&j, RESULTS, x);
	json_put_text(&j, "status", x->sample.status);
	json_close(&j);
	bad = stream_result(w, j.out.data);
	buffer_free(&j.out);
	return bad;
}

/* Apply the settings to this process.  Messages belong to the results. */
static void
extract_worker_isolate(const struct extract_worker *w)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1 };
	struct rlimit none = { 0, 0 };

	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGPROF, SIG_DFL);
	program_quiet(2);
	die_hook(_exit);
	setrlimit(RLIMIT_CORE, &none);
	/* When the thread that started the worker ends, the kernel kills it.
	 * The parent may have ended before prctl takes effect. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != w->parent || video_ready() != 0)
		exit(EXIT_USAGE);
	extract_worker_limit_space(w->budget.memory);	/* FFmpeg is loaded */
}

_Noreturn void
extract_worker_run(const char *settings)
{
	struct extract_worker c = { 0 };
	struct json *o = json_parse("settings", settings, strlen(settings));
	struct spool_budget spools;
	struct extractor *e;
	struct stream_writer *w;
	struct list_row row;
	char *text[4] = { NULL };
	size_t cap[4] = { 0 };

	if (extract_worker_read(o, SETTINGS, &c) != 0)
		exit(EXIT_USAGE);
	json_free(o);
	extract_worker_isolate(&c);
	spool_budget_open(&spools, (size_t)c.spool);
	c.how.memory = &spools;
	e = extractor_new(c.how.quality);
	if (c.how.flow)
		extractor_add_flow(e, &c.how, c.flow_threads);
	w = stream_open(STDOUT_FILENO, "samples", version_text);
	while (extract_worker_read_row(&row, text, cap) == 0) {
		struct extraction x;

		extract_worker_limit_time(c.budget.cpu);
		extract_video(&row, &c.how, e, &x);
		extract_worker_limit_time(0);
		if (extract_worker_send(w, &row, &x) != 0)
			break;
		extraction_free(&x);
	}
	_exit(EXIT_DONE);
}
