#ifndef SHARD_STREAM_READ_H
#define SHARD_STREAM_READ_H

/*
 * Reader of the stream.  It accepts any tar that libarchive reads, but only the
 * members that a stream may contain.  It trusts nothing in the input.  One
 * thread at a time may use a reader.
 */

#include <stddef.h>
#include <stdint.h>

#include "shard/classes.h"
#include "shard/sample.h"
#include "shard/ustar.h"

enum stream_layout {
	STREAM_OWN,		/* a stream with its end marker */
	STREAM_ARCHIVED,	/* its members in an archive of another program:
				 * no end marker required, directories ignored
				 */
	STREAM_WEBDATASET	/* samples without KEY.json (shard/foreign.h) */
};

struct stream_limits {
	uint64_t member;	/* maximum size in bytes */
	enum stream_layout foreign;
	int skip;		/* 1: omit members that a stream may not
				 * contain, with a warning */
	const struct class_list *classes;	/* that name labels of
				 * STREAM_WEBDATASET and folders, or NULL; valid
				 * as long as the reader */
	void (*idle)(void *arg);	/* once a second without input, or
					 * NULL */
	void *arg;
};

enum member_kind { MEMBER_HEAD, MEMBER_FRAME, MEMBER_LABEL, MEMBER_INFO,
	MEMBER_END,
	MEMBER_TEXT };		/* a class name, of STREAM_WEBDATASET only */

/* A member of a stream. */
struct stream_member {
	enum member_kind kind;
	char name[USTAR_NAME + 1];
	char key[KEY_MAX + 1];	/* of FRAME, LABEL and INFO */
	int frame;
	char tag[9], ext[4];		/* of FRAME */
	uint64_t size;
	uint64_t offset;	/* of the header, in the input */
};

/*
 * stream_member_name(name, m):
 * Parse a member's name.  Set the kind and name of ${m}, and for a member of a
 * sample its key, frame, tag and ext.  Return NULL, or a static text that
 * describes the error.
 */
const char *stream_member_name(const char *name, struct stream_member *m);

/*
 * stream_frame_name(key, frame, kind, name):
 * Write the member name of a frame.
 */
void stream_frame_name(const char *key, unsigned frame,
    const struct stream_kind *kind, char name[USTAR_NAME + 1]);

/* The content of an end-of-stream marker. */
struct stream_marker {
	uint64_t samples, frames;
	char status[64], tool[64];
};

struct stream_reader;

/*
 * stream_read_open(path, limits):
 * Open a stream, "-" for standard input, or a folder of pictures if
 * ${limits}->foreign is set (shard/foreign.h).  ${limits} is copied.  Return
 * NULL after a message.
 */
struct stream_reader *stream_read_open(const char *path,
    const struct stream_limits *limits);

/* stream_read_close(r): Close the input and free ${r}.  NULL does nothing. */
void stream_read_close(struct stream_reader *r);

/* Results of stream_next, stream_data and stream_read_marker. */
enum {
	STREAM_MORE = 1,
	STREAM_DONE = 0,	/* the true end, after an end marker */
	STREAM_BAD = -1,	/* after a message, or after a signal */
	STREAM_TRUNCATED = -2,	/* truncated input; no message */
	STREAM_UNMARKED = -3,	/* a whole tar without end marker; no message */
	STREAM_GIVEN_UP = -4	/* after a message: the writer failed */
};

/*
 * stream_next(r, m):
 * Set ${*m} to the next member.  Several streams may follow each other in one
 * input.  Return any of the results above.
 */
int stream_next(struct stream_reader *r, struct stream_member *m);

/*
 * stream_data(r, to):
 * Read all ${m->size} bytes of the member that stream_next returned into ${to}.
 * Call this or stream_read_marker for each member. Return STREAM_MORE,
 * STREAM_BAD or STREAM_TRUNCATED.
 */
int stream_data(struct stream_reader *r, void *to);

/*
 * stream_member_next(r, m), stream_member_data(r, to):
 * The same for the members of the archive as they are.  For shard/foreign.c.
 */
int stream_member_next(struct stream_reader *r, struct stream_member *m);
int stream_member_data(struct stream_reader *r, void *to);

/*
 * stream_read_marker(r, mark):
 * Replaces stream_data for a MEMBER_END: parse the end-of-stream marker, and
 * compare its hash with the bytes before it.  Return STREAM_MORE, STREAM_BAD or
 * STREAM_TRUNCATED.
 */
int stream_read_marker(struct stream_reader *r, struct stream_marker *mark);

/*
 * stream_path(r): Return the quoted name of the input, valid as long as ${r}.
 * stream_is_stdin(r): Return 1 if the input is standard input.
 * stream_bytes(r): Return the number of bytes read so far.
 * stream_skipped(r): Return the number of members omitted.
 * stream_foreign(r): Return ${foreign} of the limits.
 */
const char *stream_path(const struct stream_reader *r);
int stream_is_stdin(const struct stream_reader *r);
uint64_t stream_bytes(const struct stream_reader *r);
uint64_t stream_skipped(const struct stream_reader *r);
enum stream_layout stream_foreign(const struct stream_reader *r);

/* stream_library(): Return the name and version of libarchive. */
const char *stream_library(void);

#endif
