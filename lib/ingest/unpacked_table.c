/* The table of facts about videos that are not packed, for a later start. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/text.h"
#include "ingest/extract_settings.h"
#include "ingest/unpacked_run.h"

#define Q text_quote

static const char *const count_name[] = { "frames", "width", "height",
	"fps_num", "fps_den" };
enum { COUNTS = sizeof(count_name) / sizeof(count_name[0]) };

char *
unpacked_table(const struct unpacked *u)
{
	char *settings = extract_settings(&u->how);
	struct buffer b = { 0 };

	buffer_printf(&b, "#key\tsettings\tkept\txxh3\tbytes\tframes\twidth\t"
	    "height\tfps_num\tfps_den\tflags\tseconds\n");
	for (size_t i = 0; i < u->list.n; i++) {
		const struct unpacked_fact *f = &u->fact[i];

		if (f->state != UNPACKED_UNKNOWN)
			buffer_printf(&b, "%s\t%s\t%d\t%016" PRIx64 "\t%" PRIu64
			    "\t%d\t%d\t%d\t%d\t%d\t%u\t%.3f\n",
			    u->list.row[i].sample.key, settings,
			    f->state == UNPACKED_KEPT, f->hash, f->bytes,
			    f->frames, f->width, f->height, f->num, f->den,
			    f->flags, f->seconds);
	}
	free(settings);
	return b.data;
}

/* Read row ${r} into ${f}.  Return 0, or -1 after a message. */
static int
unpacked_read_row(const struct table *t, size_t r, struct unpacked_fact *f)
{
	int32_t *const count[COUNTS] = { &f->frames, &f->width, &f->height,
		&f->num, &f->den };
	const char *hash = table_text(t, r, "xxh3");
	int64_t v;
	char *end;

	for (int i = 0; i < COUNTS; i++) {
		if (table_int(t, r, count_name[i], 0, INT32_MAX, &v) != 0)
			return -1;
		*count[i] = (int32_t)v;
	}
	if (hash == NULL || table_int(t, r, "bytes", 0, INT64_MAX, &v) != 0)
		return -1;
	f->bytes = (uint64_t)v;
	f->hash = strtoull(hash, &end, 16);
	if (strlen(hash) != 16 || *end != '\0')
		return fail("%s: line %d: xxh3: %s (wanted 16 hexadecimal "
		    "digits)", t->path, t->line[r], Q(hash));
	if (table_int(t, r, "flags", 0, UINT16_MAX, &v) != 0)
		return -1;
	f->flags = (uint32_t)v;
	if (table_int(t, r, "kept", 0, 1, &v) != 0)
		return -1;
	f->state = v ? UNPACKED_KEPT : UNPACKED_SKIPPED;
	return table_real(t, r, "seconds", 0, 1e9, &f->seconds);
}

static int
unpacked_by_key(const void *a, const void *b, void *rows)
{
	const struct list_row *row = rows;

	return strcmp(row[*(const size_t *)a].sample.key,
	    row[*(const size_t *)b].sample.key);
}

/* Return the row with the key ${key}, or SIZE_MAX.  ${order}[list.n] has the
 * rows sorted by key. */
static size_t
unpacked_find(const struct unpacked *u, const size_t *order, const char *key)
{
	size_t low = 0, high = u->list.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int c = strcmp(u->list.row[order[middle]].sample.key, key);

		if (c == 0)
			return order[middle];
		if (c < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return SIZE_MAX;
}

int
unpacked_remember(struct unpacked *u, const char *name, const char *text,
    int accept)
{
	struct table *t = table_parse(Q(name), text);
	size_t *order = xcalloc(u->list.n, sizeof(*order));
	char *settings = extract_settings(&u->how);
	int bad = t == NULL;

	u->accept = accept;
	for (size_t i = 0; i < u->list.n; i++)
		order[i] = i;
	qsort_r(order, u->list.n, sizeof(*order), unpacked_by_key, u->list.row);
	for (size_t r = 0; !bad && r < t->rows; r++) {
		const char *key = table_text(t, r, "key");
		const char *made = table_text(t, r, "settings");
		size_t i = key != NULL ? unpacked_find(u, order, key) :
		    SIZE_MAX;

		bad = key == NULL || made == NULL;
		if (!bad && i != SIZE_MAX && strcmp(made, settings) == 0)
			bad = unpacked_read_row(t, r, &u->known[i]) != 0;
	}
	free(settings);
	free(order);
	table_free(t);
	return bad ? -1 : 0;
}
