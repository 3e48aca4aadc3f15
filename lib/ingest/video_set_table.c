/* The table of the videos in a set that was made of them. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/table.h"
#include "base/text.h"
#include "ingest/folder.h"
#include "ingest/video_set_run.h"
#include "shard/manifest.h"

#define Q text_quote
#define CHUNK ((size_t)1 << 20)		/* bytes of a read */

/* ---- files ---- */

/* Call ${each} for the files of ${row}: the video, or the frames of its part of
 * a folder.  Return 0, or the first result that is not 0. */
static int
video_set_each_file(const struct list_row *row, int (*each)(const char *path,
    void *arg), void *arg)
{
	const struct list_part *p = &row->part;
	struct folder f = { 0 };
	struct error ignored = { "" }, *before;
	int bad;

	if (!file_is_dir(row->path))
		return each(row->path, arg);
	before = fail_into(&ignored);
	bad = folder_open(row->path, &f);
	fail_into(before);
	for (size_t i = (size_t)p->begin; !bad && i < f.n &&
	    (p->end <= 0 || i < (size_t)p->end); i++) {
		char *path = path_join(row->path, f.frame[i].name);

		bad = each(path, arg);
		free(path);
	}
	folder_close(&f);
	return bad;
}

static int
video_set_look_file(const char *path, void *arg)
{
	struct video_fact *f = arg;
	struct stat st;
	int64_t time;

	if (stat(path, &st) != 0)
		return -1;
	time = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	f->bytes += st.st_size;
	f->time = time > f->time ? time : f->time;
	return 0;
}

void
video_set_look(const struct list_row *row, struct video_fact *f)
{
	f->bytes = f->time = 0;
	if (video_set_each_file(row, video_set_look_file, f) != 0)
		f->bytes = f->time = -1;
}

static int
video_set_hash_file(const char *path, void *arg)
{
	struct hasher *h = arg;
	int fd = file_open(path, O_RDONLY);
	char *chunk = xmalloc(CHUNK);
	ssize_t n = fd < 0 ? -1 : 1;

	while (n > 0 && (n = TEMP_FAILURE_RETRY(read(fd, chunk, CHUNK))) > 0)
		hasher_add(h, chunk, (size_t)n);
	if (fd >= 0)
		close(fd);
	free(chunk);
	return n < 0 ? -1 : 0;
}

/* Hash the files of ${row} as extraction does.  Return 0, or -1. */
static int
video_set_hash(const struct list_row *row, uint64_t *hash)
{
	struct hasher *h = hasher_new();
	int bad = video_set_each_file(row, video_set_hash_file, h);

	*hash = hasher_64(h);
	hasher_free(h);
	return bad;
}

/* ---- rows ---- */

char *
video_set_label(const struct list_row *row)
{
	static const char unit[] = { [LIST_ALWAYS] = 'a', [LIST_SECONDS] = 's',
		[LIST_FRAMES] = 'f' };
	const struct sample *s = &row->sample;
	const struct list_part *p = &row->part;
	struct buffer b = { 0 };

	buffer_printf(&b, "%d", s->label);
	for (int k = 0; s->labels != NULL && k < s->nlabels; k++)
		buffer_printf(&b, " %d:%.17g-%.17g%c", s->labels[k].class,
		    row->label[k].from, row->label[k].to,
		    unit[row->label[k].unit]);
	if (p->unit != LIST_ALWAYS || p->frames > 0)
		buffer_printf(&b, " part %.17g-%.17g%c of %" PRId64, p->begin,
		    p->end, unit[p->unit], p->frames);
	if (s->group != NULL)
		buffer_printf(&b, " group %016" PRIx64, hash64(s->group,
		    strlen(s->group)));
	return b.data;
}

int
video_set_write(const struct video_set *v, const char *dir)
{
	char *path = path_join(dir, VIDEO_SET_TABLE);
	struct buffer b = { 0 };
	char hash[17];
	int bad;

	buffer_text(&b, "#key\tlabel\tbytes\tmtime_ns\txxh3\trefusal\t"
	    "settings\n");
	for (size_t i = 0; i < v->list.n; i++) {
		const struct video_fact *f = &v->fact[i];
		char *label = video_set_label(&v->list.row[i]);

		buffer_printf(&b, "%s\t%s\t%" PRId64 "\t%" PRId64 "\t%s",
		    v->list.row[i].sample.key, label, f->bytes, f->time,
		    f->hashed ? hash64_text(f->hash, hash) : "");
		table_put(&b, f->refusal != NULL ? f->refusal : "");
		table_put(&b, v->settings);
		buffer_text(&b, "\n");
		free(label);
	}
	bad = commit_bytes(path, b.data, b.n);
	buffer_free(&b);
	free(path);
	return bad;
}

/* Return the table of ${dir}, or NULL: with ${*bad} 1 after a message, or with
 * 0 if there is none. */
static struct table *
video_set_open_table(const char *dir, int *bad)
{
	char *path = path_join(dir, VIDEO_SET_TABLE);
	struct table *t = NULL;

	*bad = 0;
	if (file_size(path) >= 0)
		*bad = (t = table_read(path)) == NULL;
	free(path);
	return t;
}

/*
 * Compare row ${i} with that of ${t}.  A video that is gone is not compared: a
 * whole set does not need it, and extraction reports it.  Return 0 if they are
 * equal, 1 with the difference added to ${why}, or -1 after a message.
 */
static int
video_set_compare_row(const struct video_set *v, const struct table *t,
    size_t i, struct error *why)
{
	const struct list_row *row = &v->list.row[i];
	const struct video_fact *f = &v->fact[i];
	const char *key = table_text(t, i, "key");
	const char *label = table_text(t, i, "label");
	const char *known = table_text(t, i, "xxh3");
	const char *settings = table_text(t, i, "settings");
	char *mine, hash[17] = "";
	int64_t bytes, time;
	uint64_t now;
	int equal;

	if (key == NULL || label == NULL || known == NULL || settings == NULL ||
	    table_int(t, i, "bytes", -1, INT64_MAX, &bytes) != 0 ||
	    table_int(t, i, "mtime_ns", INT64_MIN, INT64_MAX, &time) != 0)
		return -1;
	if (strcmp(settings, v->settings) != 0)
		return error_set(why, "other settings or classes: %s (was %s)",
		    v->settings, settings), 1;
	if (strcmp(key, row->sample.key) != 0)
		return error_set(why, "other videos: row %zu is %s (was %s)",
		    i + 1, row->sample.key, key), 1;
	mine = video_set_label(row);
	equal = strcmp(mine, label) == 0;
	if (!equal)
		error_set(why, "%s: label or part %s (was %s)", Q(row->path),
		    mine, label);
	free(mine);
	if (!equal || (bytes == f->bytes && time == f->time) || f->bytes < 0)
		return !equal;
	if (*known != '\0' && video_set_hash(row, &now) == 0)
		snprintf(hash, sizeof(hash), "%016" PRIx64, now);
	if (*hash != '\0' && strcmp(hash, known) == 0)
		return 0;
	error_set(why, "%s: changed since the run began: XXH3-64 %s (was %s)",
	    Q(row->path), *hash != '\0' ? hash : "unknown", *known != '\0' ?
	    known : "unknown");
	return 1;
}

enum video_set_state
video_set_compare(struct video_set *v, const char *dir, struct error *why)
{
	int bad, whole = manifest_exists(dir), differs = 0;
	struct table *t = video_set_open_table(dir, &bad);

	if (t == NULL && !bad && whole)
		bad = fail("%s: a set that was packed by hand (it has no "
		    VIDEO_SET_TABLE "): wanted another directory, or --data=%s",
		    Q(dir), Q(dir));
	if (t == NULL)
		return bad ? VIDEO_SET_BAD : VIDEO_SET_NONE;
	for (size_t i = 0; i < t->rows && i < v->list.n && differs == 0; i++)
		differs = video_set_compare_row(v, t, i, why);
	if (differs == 0 && t->rows != v->list.n) {
		error_set(why, "%zu videos (there were %zu)", v->list.n,
		    t->rows);
		differs = 1;
	}
	table_free(t);
	return differs < 0 ? VIDEO_SET_BAD : differs ? VIDEO_SET_OTHER :
	    whole ? VIDEO_SET_WHOLE : VIDEO_SET_PART;
}

int
video_set_skipped(const char *dir)
{
	int bad, n = 0;
	struct table *t = video_set_open_table(dir, &bad);

	for (size_t i = 0; t != NULL && i < t->rows && n >= 0; i++) {
		const char *refusal = table_text(t, i, "refusal");

		n = refusal == NULL ? -1 : n + (*refusal != '\0');
	}
	table_free(t);
	return bad ? -1 : n;
}
