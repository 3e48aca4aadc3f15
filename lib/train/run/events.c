/* Write event files of TensorBoard, without its protocol buffer library. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "train/run/events.h"

#define PREFIX "events.out.tfevents."
#define VERSION "brain.Event:2"

/*
 * ---- protocol buffers ----
 *
 * A message is a sequence of keys and values: key = field << 3 | wire type
 * (https://protobuf.dev/programming-guides/encoding/).
 */

/* Wire types. */
enum { VARINT, EIGHT_BYTES, BYTES, FOUR_BYTES = 5 };

/* Fields of Event, SessionLog, Summary and Summary.Value. */
enum { EVENT_WALL_TIME = 1, EVENT_STEP, EVENT_FILE_VERSION, EVENT_SUMMARY = 5,
	EVENT_SESSION_LOG = 7 };
enum { SESSION_STATUS = 1, SESSION_START = 1 };
enum { SUMMARY_VALUE = 1, VALUE_TAG = 1, VALUE_SIMPLE = 2 };

/* Append the low ${n} bytes of ${v}, in little endian. */
static void
events_put_little(struct buffer *b, uint64_t v, int n)
{
	unsigned char byte[8];

	for (int i = 0; i < n; i++)
		byte[i] = (unsigned char)(v >> 8 * i);
	buffer_add(b, byte, (size_t)n);
}

/* Append ${v} as a varint: seven bits in each byte, the lowest first.  The top
 * bit is set if more bytes follow. */
static void
events_put_varint(struct buffer *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		events_put_little(b, v | 0x80, 1);
	events_put_little(b, v, 1);
}

static void
events_put_key(struct buffer *b, int field, int kind)
{
	events_put_varint(b, (uint64_t)(field << 3 | kind));
}

static void
events_put_int(struct buffer *b, int field, uint64_t v)
{
	events_put_key(b, field, VARINT);
	events_put_varint(b, v);
}

static void
events_put_bytes(struct buffer *b, int field, const void *data, size_t n)
{
	events_put_key(b, field, BYTES);
	events_put_varint(b, n);
	buffer_add(b, data, n);
}

static void
events_put_double(struct buffer *b, int field, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	events_put_key(b, field, EIGHT_BYTES);
	events_put_little(b, bits, 8);
}

static void
events_put_float(struct buffer *b, int field, float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	events_put_key(b, field, FOUR_BYTES);
	events_put_little(b, bits, 4);
}

/* ---- records ---- */

static uint32_t
events_masked_crc(const void *data, size_t n)
{
	uint32_t crc = crc32c(0, data, n);

	return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

/* Write an event with the current time and the fields in ${rest}, as a
 * record. */
static void
events_write_event(struct events *e, const struct buffer *rest)
{
	struct buffer event = { 0 }, record = { 0 };

	events_put_double(&event, EVENT_WALL_TIME, clock_wall());
	buffer_add(&event, rest->data, rest->n);
	events_put_little(&record, event.n, 8);
	events_put_little(&record, events_masked_crc(record.data, 8), 4);
	buffer_add(&record, event.data, event.n);
	events_put_little(&record, events_masked_crc(event.data, event.n), 4);
	append_add(&e->file, record.data, record.n);
	buffer_free(&record);
	buffer_free(&event);
}

/* Write the version, and the start of a session at step ${first}. */
static void
events_write_head(struct events *e, uint64_t first)
{
	struct buffer b = { 0 }, session = { 0 };

	events_put_bytes(&b, EVENT_FILE_VERSION, VERSION, strlen(VERSION));
	events_write_event(e, &b);
	b.n = 0;
	events_put_int(&session, SESSION_STATUS, SESSION_START);
	events_put_int(&b, EVENT_STEP, first);
	events_put_bytes(&b, EVENT_SESSION_LOG, session.data, session.n);
	events_write_event(e, &b);
	buffer_free(&session);
	buffer_free(&b);
}

/* ---- the file ---- */

/* Return the newest TIME of the event files in ${dir}, 0 without any.  Readers
 * take files in the order of their names, so a new file needs a later TIME,
 * also if the clock was set back. */
static int64_t
events_newest(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	int64_t last = 0;

	while (d != NULL && (entry = readdir(d)) != NULL)
		if (text_starts(entry->d_name, PREFIX)) {
			int64_t v = strtoll(entry->d_name + strlen(PREFIX),
			    NULL, 10);

			last = v > last ? v : last;
		}
	if (d != NULL)
		closedir(d);
	return last;
}

int
events_open(struct events *e, const char *dir, uint64_t step)
{
	int64_t last = events_newest(dir), now = (int64_t)clock_wall();
	struct utsname u = { 0 };
	char *name, *path;
	int bad;

	uname(&u);
	name = xprintf(PREFIX "%010lld.%s", (long long)(now > last ? now :
	    last + 1), u.nodename);
	path = path_join(dir, name);
	bad = append_open(&e->file, path, O_CREAT | O_EXCL);
	free(path);
	free(name);
	if (bad != 0)
		return -1;
	events_write_head(e, step + 1);
	return 0;
}

void
events_add(struct events *e, uint64_t step, const struct event_scalar *v, int n)
{
	struct buffer b = { 0 }, summary = { 0 };

	if (e->file.path == NULL)
		return;
	for (int i = 0; i < n; i++) {
		struct buffer value = { 0 };

		events_put_bytes(&value, VALUE_TAG, v[i].tag, strlen(v[i].tag));
		events_put_float(&value, VALUE_SIMPLE, (float)v[i].value);
		events_put_bytes(&summary, SUMMARY_VALUE, value.data, value.n);
		buffer_free(&value);
	}
	events_put_int(&b, EVENT_STEP, step);
	events_put_bytes(&b, EVENT_SUMMARY, summary.data, summary.n);
	events_write_event(e, &b);
	buffer_free(&summary);
	buffer_free(&b);
}

int
events_close(struct events *e)
{
	return append_close(&e->file);
}
