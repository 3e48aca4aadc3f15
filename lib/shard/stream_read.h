#ifndef SHARD_STREAM_READ_H
#define SHARD_STREAM_READ_H

/*
 * Reading the stream: any tar that libarchive reads, member by member, but only
 * the members a stream may hold.  Nothing in it is trusted.
 */

#include <stddef.h>
#include <stdint.h>

#include "shard/sample.h"
#include "shard/ustar.h"

struct stream_limits {
	uint64_t member;	/* the largest, in bytes */
	int foreign;		/* an archive of another program: there need be
				 * no end marker, and directories are passed */
	int skip;		/* leave out what is no member of a stream */
	void (*idle)(void *arg);	/* called while nothing comes; or NULL */
	void *arg;
};

enum member_kind { MEMBER_HEAD, MEMBER_FRAME, MEMBER_LABEL, MEMBER_INFO,
	MEMBER_END };

struct stream_member {
	enum member_kind kind;
	char name[USTAR_NAME + 1];
	char key[KEY_MAX + 1];	/* of FRAME, LABEL, INFO */
	int frame;
	char tag[9], ext[4];
	uint64_t size;
	uint64_t offset;	/* of the header in the input */
};

/*
 * stream_member_name(name, m):
 * Take the name apart into ${m}'s kind, name and, of a sample's member, key,
 * frame, tag and ext; NULL, or what is wrong with it.
 */
const char *stream_member_name(const char *name, struct stream_member *m);

/* stream_frame_name(key, frame, kind, name): write the name of a frame. */
void stream_frame_name(const char *key, unsigned frame,
    const struct stream_kind *kind, char name[USTAR_NAME + 1]);

/* What the end marker says. */
struct stream_mark {
	uint64_t samples, frames;
	char status[64], tool[64];
};

struct stream_reader;

/*
 * stream_read_open(path, limits): "-" is standard input. NULL after a
 * message.
 */
struct stream_reader *stream_read_open(const char *path,
    const struct stream_limits *limits);
void stream_read_close(struct stream_reader *r);

/* The results of stream_next and stream_data. */
enum {
	STREAM_MORE = 1,
	STREAM_DONE = 0,	/* the real end, after an end marker */
	STREAM_BAD = -1,	/* after a message; or a signal came */
	STREAM_CUT = -2,	/* it ends too early; without a message */
	STREAM_UNMARKED = -3	/* all of a tar, but no end marker; without, too */
};

/* stream_next(r, m): the next member; several streams may follow each other. */
int stream_next(struct stream_reader *r, struct stream_member *m);

/*
 * stream_data(r, to): the bytes of the member that stream_next gave, all of
 * them, which must be asked for.  STREAM_MORE, BAD or CUT.
 */
int stream_data(struct stream_reader *r, void *to);

/*
 * stream_mark(r, mark): in place of stream_data for a MEMBER_END: read the end
 * mark and compare the hash of the bytes before it.  STREAM_MORE, BAD or CUT.
 */
int stream_mark(struct stream_reader *r, struct stream_mark *mark);

const char *stream_path(const struct stream_reader *r);	/* quoted, for messages */
uint64_t stream_bytes(const struct stream_reader *r);	/* read so far */
uint64_t stream_skipped(const struct stream_reader *r);	/* members left out */
int stream_foreign(const struct stream_reader *r);	/* as limits had it */

/* stream_library(): name and version of the library that reads tars. */
const char *stream_library(void);

#endif
