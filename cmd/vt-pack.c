/* vt-pack: pack streams into shards; verify, list and print shards. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/options.h"
#include "base/progress.h"
#include "base/stop.h"
#include "base/table.h"
#include "base/text.h"
#include "clip/frame_check.h"
#include "shard/describe.h"
#include "shard/shard_query.h"
#include "shard/pack.h"
#include "shard/reader.h"
#include "shard/stream_read.h"
#include "shard/verify.h"

#define Q text_quote

/* In the order of the choices; "no" is the value without the option. */
enum { CHECK_FULL, CHECK_FAST, CHECK_DECODE, CHECK_NO };

enum { FOREIGN_YES, FOREIGN_WEBDATASET, FOREIGN_NO };

static const char *output, *input, *prefix = "shard", *classes, *cat, *config;
static int rest, verify = CHECK_NO, force, foreign = FOREIGN_NO,
    skip_foreign, dry_run,
    list, describes, done, null, quiet, verbose, progress;
static int64_t shard_size = 512 << 20, max_member = 64 << 20, threads;

static const struct option_row rows[] = {
	OPTION_HEADING("Packing"),
	{ 'o', "output", OPTION_TEXT, &output, "DIR",
	    "write the dataset to DIR: shards and a manifest",
	    "manifest.json|SHARDS.xxh128|"
	    "*-[0-9][0-9][0-9][0-9][0-9][0-9].tar", 0, 0, OPTION_OUTPUT },
	{ 0, "prefix", OPTION_TEXT, &prefix, "NAME",
	    "name the shards NAME-000000.tar, ... (%)", NULL, 0, 0, 0 },
	{ 0, "shard-size", OPTION_SIZE, &shard_size, "SIZE",
	    "limit the size of shards of several samples (%)", NULL, 1 << 20,
	    1ll << 40, 0 },
	{ 0, "classes", OPTION_TEXT, &classes, "FILE",
	    "read class names, one a line; the first is label 0",
	    NULL, 0, 0, OPTION_INPUT },
	{ 0, "continue", OPTION_FLAG, &rest, NULL,
	    "continue with an input without the packed samples", NULL, 0, 0, 0 },
	{ 'f', "force", OPTION_FLAG, &force, NULL,
	    "replace an existing dataset", NULL, 0, 0, 0 },
	{ 0, "foreign", OPTION_CHOICE, &foreign, "LAYOUT",
	    "accept other archives: yes or webdataset (yes)",
	    "yes|webdataset|no", 0, 0, OPTION_OPTIONAL },
	{ 0, "skip-foreign", OPTION_FLAG, &skip_foreign, NULL,
	    "skip members that belong to no sample", NULL, 0, 0, 0 },
	{ 0, "max-member", OPTION_SIZE, &max_member, "SIZE",
	    "refuse larger members of the input (%)", NULL, 1, 4294967295.,
	    0 },
	{ 'n', "dry-run", OPTION_FLAG, &dry_run, NULL,
	    "read and check the input, write nothing", NULL, 0, 0, 0 },
	OPTION_HEADING("Looking at a dataset"),
	{ 'i', "data", OPTION_TEXT, &input, "DIR",
	    "read the dataset DIR",
	    NULL, 0, 0, OPTION_INPUT },
	{ 0, "verify", OPTION_CHOICE, &verify, "DEPTH",
	    "check the dataset: fast, full or decode (full)",
	    "full|fast|decode|no", 0, 0, OPTION_OPTIONAL },
	{ 'j', "threads", OPTION_INT, &threads, "N",
	    "verify with N threads; 0: one for each processor (%)", NULL, 0, 1024, 0 },
	{ 0, "list", OPTION_FLAG, &list, NULL,
	    "print a table of the samples", NULL, 0, 0, 0 },
	{ 0, "describe", OPTION_FLAG, &describes, NULL,
	    "print the classes of sets, and videos in them twice", NULL, 0, 0, 0 },
	{ 0, "cat", OPTION_TEXT, &cat, "KEY[:FRAME]",
	    "print one frame, or with KEY: the clip as a tar", NULL, 0, 0, 0 },
	{ 0, "done", OPTION_FLAG, &done, NULL,
	    "print the videos whose shards are finished", NULL, 0, 0, 0 },
	{ '0', "null", OPTION_FLAG, &null, NULL,
	    "end each path of --done with a zero byte", NULL, 0, 0, 0 },
	OPTION_HEADING("Other"),
	OPTION_CONFIG(&config),
	OPTION_QUIET(&quiet),
	OPTION_VERBOSE(&verbose),
	OPTION_PROGRESS(&progress),
	OPTION_END
};

static void
vt_pack_versions(FILE *f)
{
	fprintf(f, "%s\nReads and writes shards of format 1.0, sets of format "
	    "2 (and reads 1).\n", stream_library());
}

static const struct command command = {
	.usage = "-o DIR [STREAM]...\n"
	    "       vt-pack --verify[=DEPTH] -i DIR | SHARD...\n"
	    "       vt-pack --describe DIR [DIR]\n"
	    "       vt-pack --list | --cat=KEY[:FRAME] -i DIR | SHARD...\n"
	    "       vt-pack --done [-0] -o DIR",
	.summary = "Pack streams of vt-extract into shards that can be read at any frame.",
	.example = "vt-extract --label-from=dir videos/*/*.mp4 | vt-pack -o set",
	.rows = rows,
	.versions = vt_pack_versions,
	.operands = "FILE"
};

/* ---- packing ---- */

static volatile sig_atomic_t want_status;	/* SIGUSR1: print the
						 * progress */
static double started;

static void
vt_pack_on_status(int number)
{
	(void)number;
	want_status = 1;
}

/* The callback for a finished shard: print its name on standard output, so that
 * a reader may take it while packing continues. */
static int
vt_pack_packed(void *arg, const char *name, const struct shard_sum *sum)
{
	char size[32];

	(void)arg;
	progress_clear();
	if (!dry_run && (printf("%s\n", name) < 0 || fflush(stdout) != 0))
		return stdout_failed();
	if (verbose)
		note("%s: %llu samples, %llu frames, %s%s", name,
		    (unsigned long long)sum->samples,
		    (unsigned long long)sum->frames,
		    text_bytes(size, (double)sum->bytes),
		    dry_run ? " (not written)" : "");
	return 0;
}

/* The callback for progress, called while the input is read. */
static void
vt_pack_tick(void *arg, const struct pack_report *r)
{
	double seconds = clock_seconds() - started;
	char size[32];

	(void)arg;
	if (!want_status && !progress_due())
		return;
	text_bytes(size, (double)r->read);
	if (want_status)
		note("%llu samples, %zu shards, %s read, %.0f MB/s",
		    (unsigned long long)r->samples, r->shards, size,
		    (double)r->read / seconds / 1e6);
	else
		progress_line("%llu samples, %zu shards, %s read, %.0f MB/s",
		    (unsigned long long)r->samples, r->shards, size,
		    (double)r->read / seconds / 1e6);
	want_status = 0;
}

/* Print a one-line summary of the dataset, and a warning if members are
 * missing. */
static void
vt_pack_say_summary(const struct pack_report *r)
{
	char size[32], defects[60] = "";
	char *text;

	if (r->defective > 0)
		snprintf(defects, sizeof(defects), ", %llu truncated or "
		    "damaged", (unsigned long long)r->defective);
	text = xprintf("%s%llu sample%s%s, %llu frames in %zu shard%s, %s%s",
	    dry_run ? "would pack " : "", (unsigned long long)r->samples,
	    r->samples == 1 ? "" : "s", r->classes,
	    (unsigned long long)r->frames, r->shards,
	    r->shards == 1 ? "" : "s", text_bytes(size, (double)r->bytes),
	    defects);
	if (r->skipped > 0)
		warning("%llu member%s left out; %s: %s",
		    (unsigned long long)r->skipped, r->skipped == 1 ? " was" :
		    "s were", Q(output), text);
	else
		note("%s: %s", Q(output), text);
	free(text);
}

static int
vt_pack_do_pack(const char *const *operand, size_t n)
{
	static const char *const standard_input[] = { "-" };
	static const enum stream_layout layout[] = { STREAM_ARCHIVED,
		STREAM_WEBDATASET, STREAM_OWN };
	struct pack_options o = {
		.dir = output, .prefix = prefix, .classes = classes,
		.shard_size = (uint64_t)shard_size,
		.max_member = (uint64_t)max_member,
		.continued = rest, .force = force,
		.foreign = layout[foreign], .skip_foreign = skip_foreign,
		.dry_run = dry_run, .packed = vt_pack_packed,
		.tick = vt_pack_tick,
	};
	struct sigaction a = { .sa_handler = vt_pack_on_status,
	    .sa_flags = SA_RESTART };
	struct pack_report r;
	int status;

	if (output == NULL || *output == '\0')
		options_wrong("no directory to pack to (-o DIR)");
	if (input != NULL)
		options_wrong("-i is for reading a dataset (wanted streams to pack "
		    "as operands or on standard input)");
	if (!pack_prefix_valid(prefix))
		options_wrong("--prefix: %s (wanted 1 to 64 of A-Z a-z 0-9 _ . -, "
		    "not . or - first)", Q(prefix));
	if (force && rest)
		options_wrong("-f and --continue (wanted one of them)");
	if (n == 0) {
		operand = standard_input;
		n = 1;
	}
	for (size_t i = 0; i < n; i++)
		if (strcmp(operand[i], "-") == 0 && isatty(STDIN_FILENO))
			options_wrong("standard input is a terminal (wanted a "
			    "stream of vt-extract)");
	stop_handle();
	sigaction(SIGUSR1, &a, NULL);
	started = clock_seconds();
	progress_start((enum progress_mode)progress);
	status = pack(&o, operand, n, &r);
	if (status == EXIT_DONE || status == EXIT_SKIPPED)
		vt_pack_say_summary(&r);
	else if (r.skipped > 0)
		warning("%llu member%s left out",
		    (unsigned long long)r.skipped, r.skipped == 1 ? " was" :
		    "s were");
	progress_end();
	free(r.classes);
	if (verbose > 1)
		note("%.3f s, %.1f MB/s read", clock_seconds() - started,
		    (double)r.read / (clock_seconds() - started) / 1e6);
	return status;
}

/* ---- --verify ---- */

/* State of the callbacks of a verification, which several threads call. */
struct pack_checking {
	struct frame_check *frames;
	atomic_uint_fast64_t bytes;
};

/* The callback for a defect: print a row. */
static int
vt_pack_on_damage(void *arg, const char *name, const struct damage *d)
{
	struct buffer row = { 0 };

	(void)arg;
	progress_clear();
	table_put(&row, name);
	if (d->offset != NOWHERE)
		buffer_printf(&row, "\t%llu", (unsigned long long)d->offset);
	else
		table_put(&row, "-");
	table_put(&row, d->key);
	table_put(&row, d->kind);
	table_put(&row, d->detail);
	puts(row.data);
	buffer_free(&row);
	return ferror(stdout) ? -1 : 0;
}

static void
vt_pack_on_verified(void *arg, uint64_t bytes)
{
	struct pack_checking *c = arg;
	double sum = (double)(atomic_fetch_add(&c->bytes, bytes) + bytes);
	char size[32];

	if (progress_due())
		progress_line("%s verified, %.0f MB/s", text_bytes(size, sum),
		    sum / (clock_seconds() - started) / 1e6);
}

static int
vt_pack_on_frame(void *arg, int thread, const char *ext, const void *data,
    size_t n, int w, int h, struct error *why)
{
	struct pack_checking *c = arg;

	return frame_check(c->frames, thread, ext, data, n, w, h, why);
}

static int
vt_pack_verify_file(const struct verify *v, const char *path)
{
	struct damage d = { 0 };
	struct hash128 hash;
	struct shard *s = shard_open(path, &d);
	int wrong;

	if (s == NULL)
		return vt_pack_on_damage(NULL, path, &d) != 0 ? -1 : 1;
	wrong = verify_shard(v, path, s, 0, &hash);
	shard_close(s);
	return wrong;
}

static int
vt_pack_do_verify(const char *const *operand, size_t n)
{
	static const enum verify_depth depth[] = { VERIFY_FULL, VERIFY_FAST,
		VERIFY_DECODE };
	struct pack_checking c = { 0 };
	const struct verify v = { depth[verify], vt_pack_on_damage,
	    vt_pack_on_frame, vt_pack_on_verified, &c, NULL };
	int workers = threads > 0 ? (int)threads : cpus();
	int wrong = 0;

	if ((input != NULL) == (n > 0))
		options_wrong("--verify: %s (wanted a set, -i DIR, or shards)",
		    n > 0 ? "a set and shards" : "nothing to verify");
	stop_handle();
	started = clock_seconds();
	c.frames = frame_check_new(workers);
	printf("#shard\toffset\tkey\tkind\tdetail\n");
	progress_start((enum progress_mode)progress);
	if (input != NULL)
		wrong = verify_set(&v, input, workers);
	for (size_t i = 0; i < n && wrong >= 0; i++) {
		int more = vt_pack_verify_file(&v, operand[i]);

		wrong = more < 0 ? -1 : wrong + more;
	}
	progress_end();
	frame_check_free(c.frames);
	if (wrong > 0)
		fail("%s: %d defect%s", Q(input ? input : operand[0]), wrong,
		    wrong == 1 ? "" : "s");
	if (verbose && wrong == 0)
		note("no defects: %.3f s, %.1f MB/s",
		    clock_seconds() - started, (double)c.bytes /
		    (clock_seconds() - started) / 1e6);
	return wrong < 0 ? EXIT_FAILED : wrong > 0 ? EXIT_DAMAGE : EXIT_DONE;
}

static int
vt_pack_exit_of(int result)
{
	return exit_of(result < 0 ? result : 0);
}

/* ---- --list, --cat, --done ---- */

static int
vt_pack_do_cat(const struct shard_query *l)
{
	char *key = xstrdup(cat), *colon = strrchr(key, ':');
	int64_t number = -1;
	int result;

	if (colon != NULL)
		*colon++ = '\0';
	if (colon != NULL && *colon != '\0' &&
	    text_int(colon, 0, FRAME_MAX, &number) != 0)
		options_wrong("--cat: %s (wanted KEY:FRAME, or KEY: for the clip)",
		    Q(cat));
	if (isatty(STDOUT_FILENO))
		options_wrong("--cat: refusing to write %s to a terminal",
		    number < 0 ? "a tar" : "a frame");
	result = shard_query_cat(l, key, number, stdout);
	if (result == 0)
		result = fail("%s: no sample has this key", Q(key));
	free(key);
	return result;
}

/* Append "${n} ONE" or "${n} MANY", or nothing if ${n} is 0. */
static void
vt_pack_add_count(struct buffer *b, size_t n, const char *one, const char *many)
{
	if (n > 0)
		buffer_printf(b, "%s%zu %s", b->n > 0 ? ", " : "", n,
		    n == 1 ? one : many);
}

/* State the findings of a description that are not 0, and what they mean. */
static void
vt_pack_say_description(const struct describe_report *r, int two)
{
	struct buffer b = { 0 };

	if (r->lacking > 0)
		note("%zu of %zu classes %s no sample%s: %s", r->lacking,
		    r->classes, r->lacking == 1 ? "has" : "have", two ?
		    " in one of the sets" : "", r->names.data);
	vt_pack_add_count(&b, r->pairs, "pair of samples is from one video",
	    "pairs of samples are from one video");
	vt_pack_add_count(&b, r->near, "pair looks alike", "pairs look alike");
	if (b.n > 0)
		note("%s", b.data);
	b.n = 0;
	vt_pack_add_count(&b, r->near_shared, "pair of the two sets looks alike, "
	    "so results on one are too high", "pairs of the two sets look "
	    "alike, so results on one are too high");
	vt_pack_add_count(&b, r->contradicting, "pair of equal or similar samples "
	    "has different labels: the first row of the table",
	    "pairs of equal or similar samples have different labels: the first "
	    "rows of the table");
	if (b.n > 0)
		warning("%s", b.data);
	else if (r->lacking + r->pairs + r->near == 0)
		note("every class has samples, and no two samples are alike");
	buffer_free(&b);
}

static int
vt_pack_do_describe(const char *const *dir, size_t n)
{
	struct describe_report r;
	int status;

	if (input != NULL)
		options_wrong("--describe takes its sets as operands (wanted no -i)");
	if (n < 1 || n > DESCRIBE_SETS)
		options_wrong("--describe: %zu sets (wanted 1 or 2)", n);
	status = vt_pack_exit_of(describe(dir, (int)n, stdout, &r));
	if (status != EXIT_DONE)
		return status;
	vt_pack_say_description(&r, n > 1);
	buffer_free(&r.names);
	if (r.shared > 0) {
		fail("%s and %s share videos (%zu pair%s of samples)", dir[0],
		    dir[1], r.shared, r.shared == 1 ? "" : "s");
		return EXIT_FAILED;
	}
	return EXIT_DONE;
}

static int
vt_pack_do_done(void)
{
	const char *dir = input != NULL ? input : output;

	if (dir == NULL)
		options_wrong("--done: no set (-o DIR)");
	return shard_query_done(dir, null, stdout);
}

int
main(int argc, char **argv)
{
	const char *const *operand;
	struct shard_query look;
	size_t n;
	int first, modes, status;

	program_start(argv[0]);
	first = options_parse(&command, argc, argv);
	program_quiet(quiet);
	operand = (const char *const *)argv + first;
	n = (size_t)(argc - first);
	look = (struct shard_query){ input, operand, n };
	modes = (verify != CHECK_NO) + list + describes + (cat != NULL) + done;
	if (modes > 1)
		options_wrong("only one of --verify, --list, --describe, --cat "
		    "and --done");
	if ((list || cat != NULL) && (input != NULL) == (n > 0))
		options_wrong("--%s: %s (wanted a set, -i DIR, or shards)",
		    list ? "list" : "cat", n > 0 ? "a set and shards" :
		    "nothing to look at");
	for (size_t i = 0; modes > 0 && !describes && i < n; i++)
		if (file_is_dir(operand[i]))
			options_wrong("%s: is a directory (wanted a shard, or -i DIR)",
			    Q(operand[i]));
	if (modes > 0 && output != NULL && !done)
		options_wrong("-o is for packing (wanted -i DIR to read a "
		    "dataset)");
	if (verify != CHECK_NO) {
		status = vt_pack_do_verify(operand, n);
	} else if (list) {
		status = vt_pack_exit_of(shard_query_list(&look, stdout));
	} else if (describes) {
		status = vt_pack_do_describe(operand, n);
	} else if (cat != NULL) {
		status = vt_pack_exit_of(vt_pack_do_cat(&look));
	} else if (done) {
		status = vt_pack_exit_of(vt_pack_do_done());
	} else {
		status = vt_pack_do_pack(operand, n);
	}
	if (stdout_done() != 0 && (status == EXIT_DONE ||
	    status == EXIT_SKIPPED))
		status = EXIT_FAILED;
	if (status != EXIT_DONE)
		stop_reraise();
	return status;
}
