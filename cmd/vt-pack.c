/* vt-pack: streams to shards; shards verified, listed, looked into. */
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
#include "media/jpeg.h"
#include "media/png.h"
#include "shard/journal.h"
#include "shard/manifest.h"
#include "shard/pack.h"
#include "shard/reader.h"
#include "shard/stream_read.h"
#include "shard/verify.h"

#define Q text_quote

/* By the order of their choices; "no" is what holds without the option. */
enum { CHECK_FULL, CHECK_FAST, CHECK_DECODE, CHECK_NO };

static const char *output, *input, *prefix = "shard", *classes, *cat, *config;
static int rest, verify = CHECK_NO, force, foreign, skip_foreign, dry_run,
    list, done, null, quiet, verbose, progress;
static int64_t shard_size = 512 << 20, max_member = 64 << 20, threads;

static const struct option_row rows[] = {
	OPTION_HEADING("Packing"),
	{ 'o', "output", OPTION_TEXT, &output, "DIR",
	    "the dataset to make: shards and a manifest", NULL, 0, 0, 0 },
	{ 0, "prefix", OPTION_TEXT, &prefix, "NAME",
	    "shards are NAME-000000.tar and so on (shard)", NULL, 0, 0, 0 },
	{ 0, "shard-size", OPTION_SIZE, &shard_size, "SIZE",
	    "a shard is no larger, but for one sample (512M)", NULL, 1 << 20,
	    1ll << 40, 0 },
	{ 0, "classes", OPTION_TEXT, &classes, "FILE",
	    "class names, one a line, first label 0", NULL, 0, 0, 0 },
	{ 0, "rest", OPTION_FLAG, &rest, NULL,
	    "the input lacks what is packed already", NULL, 0, 0, 0 },
	{ 'f', "force", OPTION_FLAG, &force, NULL,
	    "replace the dataset that is there", NULL, 0, 0, 0 },
	{ 0, "foreign", OPTION_FLAG, &foreign, NULL,
	    "the input may lack the end-of-stream marker", NULL, 0, 0, 0 },
	{ 0, "skip-foreign", OPTION_FLAG, &skip_foreign, NULL,
	    "leave out members that are none of a sample", NULL, 0, 0, 0 },
	{ 0, "max-member", OPTION_SIZE, &max_member, "SIZE",
	    "refuse larger members of the input (64M)", NULL, 1, 4294967295.,
	    0 },
	{ 'n', "dry-run", OPTION_FLAG, &dry_run, NULL,
	    "read and check the input, write nothing", NULL, 0, 0, 0 },
	OPTION_HEADING("Looking at a dataset"),
	{ 'i', "input", OPTION_TEXT, &input, "DIR",
	    "the dataset to look at", NULL, 0, 0, 0 },
	{ 0, "verify", OPTION_CHOICE, &verify, "DEPTH",
	    "check it: full (default), fast or decode",
	    "full|fast|decode|no", 0, 0, 1 },
	{ 'j', "threads", OPTION_INT, &threads, "N",
	    "of --verify (0: one for each processor)", NULL, 0, 1024, 0 },
	{ 0, "list", OPTION_FLAG, &list, NULL,
	    "print a table of its samples", NULL, 0, 0, 0 },
	{ 0, "cat", OPTION_TEXT, &cat, "KEY[:FRAME]",
	    "print one frame, or with KEY: the clip as a tar", NULL, 0, 0, 0 },
	{ 0, "done", OPTION_FLAG, &done, NULL,
	    "print the videos whose shards are finished", NULL, 0, 0, 0 },
	{ '0', "null", OPTION_FLAG, &null, NULL,
	    "--done: end each path with a zero byte", NULL, 0, 0, 0 },
	OPTION_HEADING("Other"),
	OPTION_CONFIG(&config),
	OPTION_QUIET(&quiet),
	OPTION_VERBOSE(&verbose),
	OPTION_PROGRESS(&progress),
	OPTION_END
};

static void
versions(FILE *f)
{
	fprintf(f, "%s\nReads and writes shards of format 1.0, sets of format "
	    "2 (and reads 1).\n", stream_library());
}

static const struct command command = {
	"-o DIR [STREAM]...\n"
	"       vt-pack --verify[=DEPTH] -i DIR | SHARD...\n"
	"       vt-pack --list | --cat=KEY[:FRAME] -i DIR | SHARD...\n"
	"       vt-pack --done [-0] -o DIR",
	"Pack streams of vt-extract into shards that can be read at any frame.",
	"vt-extract --label-from=dir videos/*/*.mp4 | vt-pack -o set",
	rows, versions, "FILE"
};

/* ---- packing ---- */

static volatile sig_atomic_t want_status;
static double started;

static void
on_status(int number)
{
	(void)number;
	want_status = 1;
}

static int
packed(void *arg, const char *name, const struct shard_sum *sum)
{
	char size[32];

	(void)arg;
	progress_clear();
	if (!dry_run && (printf("%s\n", name) < 0 || fflush(stdout) != 0))
		return fail_errno("standard output: cannot write");
	if (verbose)
		note("%s: %llu samples, %llu frames, %s%s", name,
		    (unsigned long long)sum->samples,
		    (unsigned long long)sum->frames,
		    text_bytes(size, (double)sum->bytes),
		    dry_run ? " (not written)" : "");
	return 0;
}

static void
tick(void *arg, const struct pack_report *r)
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

static int
do_pack(const char *const *operand, size_t n)
{
	static const char *const standard_input[] = { "-" };
	struct pack_options o = {
		.dir = output, .prefix = prefix, .classes = classes,
		.shard_size = (uint64_t)shard_size,
		.max_member = (uint64_t)max_member,
		.rest = rest, .force = force, .foreign = foreign, .skip_foreign = skip_foreign,
		.dry_run = dry_run, .packed = packed, .tick = tick,
	};
	struct sigaction a = { .sa_handler = on_status, .sa_flags = SA_RESTART };
	struct pack_report r;
	char size[32];
	int status;

	if (output == NULL || *output == '\0')
		options_wrong("no directory to pack to (-o DIR)");
	if (input != NULL)
		options_wrong("-i names a set to look at; packing reads streams, "
		    "given as operands or on standard input");
	if (!pack_prefix_valid(prefix))
		options_wrong("--prefix: %s (wanted 1 to 64 of A-Z a-z 0-9 _ . -, "
		    "not . or - first)", Q(prefix));
	if (force && rest)
		options_wrong("-f begins anew and --rest does not");
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
	progress_end();
	if (r.skipped > 0)
		warning("%llu members were left out",
		    (unsigned long long)r.skipped);
	if ((verbose || dry_run) && (status == EXIT_DONE ||
	    status == EXIT_SKIPPED))
		note("%s%llu samples, %llu frames in %zu shards, %s",
		    dry_run ? "would pack " : "",
		    (unsigned long long)r.samples, (unsigned long long)r.frames,
		    r.shards, text_bytes(size, (double)r.bytes));
	if (verbose > 1)
		note("%.3f s, %.1f MB/s read", clock_seconds() - started,
		    (double)r.read / (clock_seconds() - started) / 1e6);
	return status;
}

/* ---- --verify ---- */

struct decoders {
	struct jpeg_decoder **jpeg;	/* [threads] */
	atomic_uint_fast64_t bytes;
};

static int
found(void *arg, const char *name, const struct damage *d)
{
	char *cell[2] = { table_escape(name), table_escape(d->detail) };
	char offset[24] = "-";

	(void)arg;
	progress_clear();
	if (d->offset != NOWHERE)
		snprintf(offset, sizeof(offset), "%llu",
		    (unsigned long long)d->offset);
	printf("%s\t%s\t%s\t%s\t%s\n", cell[0], offset, d->key, d->kind, cell[1]);
	free(cell[0]);
	free(cell[1]);
	return ferror(stdout) ? -1 : 0;
}

static int
same_size(int w, int h, int want_w, int want_h)
{
	if (want_w != 0 && (w != want_w || h != want_h))
		return fail("%dx%d pixels (the index says %dx%d)", w, h, want_w,
		    want_h);
	return 0;
}

static int
decode(void *arg, int thread, const char *ext, const void *data, size_t n,
    int w, int h)
{
	struct decoders *d = arg;
	struct image *png, jpeg;
	struct region unused;
	int real_w, real_h, result;

	if (strcmp(ext, "png") == 0) {
		if ((png = png_decode(data, n)) == NULL)
			return -1;
		result = same_size(png->w, png->h, w, h);
		image_free(png);
		return result;
	}
	if (d->jpeg[thread] == NULL)
		d->jpeg[thread] = jpeg_decoder_new();
	if (jpeg_size(d->jpeg[thread], data, n, &real_w, &real_h) != 0 ||
	    same_size(real_w, real_h, w, h) != 0)
		return -1;
	return jpeg_decode(d->jpeg[thread], data, n, (struct region){ 0, 0,
	    real_w, real_h }, real_w, real_h, &jpeg, &unused);
}

static void
verified(void *arg, uint64_t bytes)
{
	struct decoders *d = arg;
	double sum = (double)(atomic_fetch_add(&d->bytes, bytes) + bytes);
	char size[32];

	if (progress_due())
		progress_line("%s verified, %.0f MB/s", text_bytes(size, sum),
		    sum / (clock_seconds() - started) / 1e6);
}

static int
verify_file(const struct verify *v, const char *path)
{
	struct damage d = { 0 };
	struct hash128 hash;
	struct shard *s = shard_open(path, &d);
	int wrong;

	if (s == NULL)
		return found(v->arg, path, &d) != 0 ? -1 : 1;
	wrong = verify_shard(v, path, s, 0, &hash);
	shard_close(s);
	return wrong;
}

static int
do_verify(const char *const *operand, size_t n)
{
	static const enum verify_depth depth[] = { VERIFY_FULL, VERIFY_FAST,
		VERIFY_DECODE };
	struct decoders d = { 0 };
	const struct verify v = { depth[verify], found, decode, verified, &d };
	int workers = threads > 0 ? (int)threads : cpus();
	int wrong = 0;

	if ((input != NULL) == (n > 0))
		options_wrong("--verify: %s (wanted a set, -i DIR, or shards)",
		    n > 0 ? "a set and shards" : "nothing to verify");
	stop_handle();
	started = clock_seconds();
	d.jpeg = xcalloc((size_t)workers, sizeof(*d.jpeg));
	printf("#shard\toffset\tkey\tkind\tdetail\n");
	progress_start((enum progress_mode)progress);
	if (input != NULL)
		wrong = verify_set(&v, input, workers);
	for (size_t i = 0; i < n && wrong >= 0; i++) {
		int more = verify_file(&v, operand[i]);

		wrong = more < 0 ? -1 : wrong + more;
	}
	progress_end();
	for (int i = 0; i < workers; i++)
		jpeg_decoder_free(d.jpeg[i]);
	free(d.jpeg);
	if (wrong > 0)
		fail("%s: %d thing%s wrong", Q(input ? input : operand[0]), wrong,
		    wrong == 1 ? "" : "s");
	if (verbose && wrong == 0)
		note("nothing wrong: %.3f s, %.1f MB/s",
		    clock_seconds() - started, (double)d.bytes /
		    (clock_seconds() - started) / 1e6);
	return wrong < 0 ? EXIT_FAILED : wrong > 0 ? EXIT_DAMAGE : EXIT_DONE;
}

/* ---- --list, --cat, --done: over all shards ---- */

/* Do ${each} with every shard; -1 or -2, damage, fails, 1 ends. */
static int
each_shard(const char *const *operand, size_t n,
    int (*each)(const struct shard *s, const struct class_list *classes))
{
	struct class_list none = { 0 };
	struct manifest *m = NULL;
	size_t shards = n;
	int result = 0;

	if (input != NULL) {
		struct damage d = { 0 };

		if ((m = manifest_read(input, &d)) == NULL) {
			char *path = path_join(input, MANIFEST_NAME);

			result = damage_say(path, &d);
			free(path);
			return result;
		}
		shards = m->shards;
	}
	for (size_t k = 0; k < shards && result == 0; k++) {
		char *path = m != NULL ? path_join(input, m->shard[k].name) :
		    xstrdup(operand[k]);
		struct damage d = { 0 };
		struct shard *s = shard_open(path, &d);

		if (s == NULL || (m != NULL &&
		    manifest_check_shard(m, k, s, &d) != 0)) {
			result = damage_say(path, &d);
		} else {
			result = each(s, m ? &m->classes : &none);
		}
		shard_close(s);
		free(path);
	}
	manifest_free(m);
	return result;
}

static int
exit_of(int result)
{
	return result >= 0 ? EXIT_DONE : result == -2 ? EXIT_DAMAGE :
	    EXIT_FAILED;
}

static int
list_shard(const struct shard *s, const struct class_list *names)
{
	char *path = table_escape(path_base(s->path));

	for (uint32_t i = 0; i < s->footer.samples; i++) {
		struct shard_sample e = shard_entry(s, i);
		char key[KEY_MAX + 1];
		char *class = e.label >= 0 && (size_t)e.label < names->n ?
		    table_escape(names->name[e.label]) : NULL;

		printf("%s\t%d\t%s\t%u\t%u\t%u\t%u/%u\t%u\t%s\t%llu\t%llu\n",
		    shard_key(s, &e, key), e.label, class ? class : "", e.frames,
		    e.width, e.height, e.fps_num, e.fps_den, e.flags, path,
		    (unsigned long long)e.blk * USTAR_BLOCK,
		    (unsigned long long)e.blocks * USTAR_BLOCK);
		free(class);
	}
	free(path);
	return ferror(stdout) ? 1 : 0;	/* stdout_done says so */
}

/* What --cat wants. */
static char *cat_key;
static int64_t cat_frame;		/* -1: the clip */

/* The members of a sample as they stand, and the end of a tar. */
static int
cat_clip(const struct shard *s, const struct shard_sample *e)
{
	static const char zeros[SHARD_END];
	uint64_t at = (uint64_t)e->blk * USTAR_BLOCK;
	uint64_t left = (uint64_t)e->blocks * USTAR_BLOCK;
	char block[64 << 10];

	for (size_t n; left > 0; left -= n, at += n) {
		n = left < sizeof(block) ? (size_t)left : sizeof(block);
		if (shard_read(s, block, n, at) != 0)
			return -1;
		fwrite(block, 1, n, stdout);
	}
	fwrite(zeros, 1, sizeof(zeros), stdout);
	return 1;
}

static int
cat_shard(const struct shard *s, const struct class_list *names)
{
	int64_t i = shard_find(s, cat_key);
	struct shard_sample e;
	struct buffer b = { 0 };
	int result;

	(void)names;
	if (i < 0)
		return 0;
	e = shard_entry(s, (uint32_t)i);
	if (cat_frame < 0)
		return cat_clip(s, &e);
	if (cat_frame >= e.frames)
		return fail("%s: frame %lld (wanted 0 to %u)", cat_key,
		    (long long)cat_frame, e.frames - 1);
	result = shard_member(s, &e, (uint32_t)cat_frame * e.streams, &b);
	if (result == 0)
		fwrite(b.data, 1, b.n, stdout);
	buffer_free(&b);
	return result == 0 ? 1 : result;
}

static int
do_cat(const char *const *operand, size_t n)
{
	char *colon;
	int result;

	cat_key = xstrdup(cat);
	cat_frame = -1;
	colon = strrchr(cat_key, ':');
	if (colon != NULL)
		*colon++ = '\0';
	if (colon != NULL && *colon != '\0' &&
	    text_int(colon, 0, FRAME_MAX, &cat_frame) != 0)
		options_wrong("--cat: %s (wanted KEY:FRAME, or KEY: for the clip)",
		    Q(cat));
	if (isatty(STDOUT_FILENO))
		options_wrong("--cat: refusing to write %s to a terminal",
		    cat_frame < 0 ? "a tar" : "a frame");
	result = each_shard(operand, n, cat_shard);
	if (result == 0)
		fail("%s: no sample of this key", Q(cat_key));
	free(cat_key);
	return result == 0 ? EXIT_FAILED : exit_of(result);
}

static int
sources_of(const struct shard *s, const struct class_list *names)
{
	struct buffer b = { 0 };
	int result = 0;

	(void)names;
	for (uint32_t i = 0; i < s->footer.samples && result == 0; i++) {
		struct shard_sample e = shard_entry(s, i);
		char key[KEY_MAX + 1];
		struct info *info;

		shard_key(s, &e, key);
		result = shard_member(s, &e, (uint32_t)shard_record_count(&e) -
		    1, &b);
		if (result != 0)
			break;
		if ((info = info_read(key, b.data, b.n)) == NULL) {
			result = -1;
			break;
		}
		if (!null && strchr(info->source, '\n') != NULL)
			result = fail("%s: %s holds a newline (-0 prints it)", key,
			    Q(info->source));
		else
			printf("%s%c", info->source, null ? '\0' : '\n');
		info_free(info);
	}
	buffer_free(&b);
	return result;
}

/* The shards of a finished set, or of one that was stopped. */
static int
do_done(void)
{
	struct journal *j;
	struct json *settings;
	const char *name;
	char **path;
	int bad = 0, result = 0;

	if (input == NULL)
		input = output;
	if (input == NULL)
		options_wrong("--done: no set (-o DIR)");
	if (manifest_exists(input))
		return exit_of(each_shard(NULL, 0, sources_of));
	if ((j = journal_read(input, &bad)) == NULL)
		return bad ? EXIT_FAILED : EXIT_DONE;	/* nothing is done */
	settings = json_parse("the settings", j->settings, strlen(j->settings));
	name = json_to_text(json_get(settings, "prefix"));
	path = xcalloc(j->shards, sizeof(*path));
	for (size_t k = 0; k < j->shards; k++)
		path[k] = xprintf("%s/%s-%06zu.tar", input, name ? name : "", k);
	input = NULL;
	result = each_shard((const char *const *)path, j->shards, sources_of);
	for (size_t k = 0; k < j->shards; k++)
		free(path[k]);
	free(path);
	json_free(settings);
	journal_free(j);
	return exit_of(result);
}

int
main(int argc, char **argv)
{
	const char *const *operand;
	size_t n;
	int first, modes, status;

	program_start(argv[0]);
	first = options_parse(&command, argc, argv);
	program_quiet(quiet);
	operand = (const char *const *)argv + first;
	n = (size_t)(argc - first);
	modes = (verify != CHECK_NO) + list + (cat != NULL) + done;
	if (modes > 1)
		options_wrong("only one of --verify, --list, --cat and --done");
	if ((list || cat != NULL) && (input != NULL) == (n > 0))
		options_wrong("--%s: %s (wanted a set, -i DIR, or shards)",
		    list ? "list" : "cat", n > 0 ? "a set and shards" :
		    "nothing to look at");
	for (size_t i = 0; modes > 0 && i < n; i++)
		if (file_is_dir(operand[i]))
			options_wrong("%s is a directory (a set is given by -i)",
			    Q(operand[i]));
	if (modes > 0 && output != NULL && !done)
		options_wrong("-o names a set to pack; the one to look at is "
		    "given by -i");
	if (verify != CHECK_NO) {
		status = do_verify(operand, n);
	} else if (list) {
		printf("#key\tlabel\tclass\tframes\twidth\theight\tfps\tflags\t"
		    "shard\toffset\tbytes\n");
		status = exit_of(each_shard(operand, n, list_shard));
	} else if (cat != NULL) {
		status = do_cat(operand, n);
	} else if (done) {
		status = do_done();
	} else {
		status = do_pack(operand, n);
	}
	if (stdout_done() != 0 && (status == EXIT_DONE ||
	    status == EXIT_SKIPPED))
		status = EXIT_FAILED;
	if (status != EXIT_DONE)
		stop_again();
	return status;
}
