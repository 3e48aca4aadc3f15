#ifndef SHARD_INFO_H
#define SHARD_INFO_H

/*
 * KEY.json, the last member of a sample: all that is known of it besides its
 * frames, and the mark that it is complete.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/mem.h"
#include "shard/key.h"
#include "shard/stream.h"

/*
 * The streams of a sample: frames, and later flow.  Frame f of a stream is
 * member KEY.FFFFFF.EXT if its tag is "rgb", else KEY.FFFFFF.TAG.EXT.
 */
#define STREAM_MAX 8
#define STREAM_UNTAGGED "rgb"
struct stream_kind { char tag[9], ext[4]; };
struct stream_list { int n; struct stream_kind kind[STREAM_MAX]; };

int stream_list_equal(const struct stream_list *a, const struct stream_list *b);

/* stream_list_write(w, key, l): as [{"ext":"jpg","tag":"rgb"}]. */
void stream_list_write(struct json_writer *w, const char *key,
    const struct stream_list *l);
/* stream_list_read(v, l): -1 without a message if ${v} is no such list. */
int stream_list_read(const struct json *v, struct stream_list *l);

/* stream_ext_known(ext): 1 for the kinds of frame there are, "jpg", "png". */
int stream_ext_known(const char *ext);

/*
 * info_write(s, streams, b): append the canonical JSON.  Paths are bytes and
 * JSON is UTF-8: what is not UTF-8 in s->source is written \xHH, and so a
 * backslash is written \\.
 */
void info_write(const struct stream_sample *s,
    const struct stream_list *streams, struct buffer *b);

/* What was read; strings and arrays belong to it. */
struct info {
	struct stream_sample sample;
	struct stream_list streams;
	char key[KEY_MAX + 1], ext[4];
	char *text;			/* all of it, in canonical form */
	char *status, *source;
	uint32_t *time;
	int (*labels)[3];
};

/*
 * info_read(what, text, n): NULL after a message that begins with ${what} if a
 * field is missing, of the wrong kind or out of range.
 */
struct info *info_read(const char *what, const char *text, size_t n);
void info_free(struct info *i);

#endif
