#ifndef MEDIA_CONTAINER_H
#define MEDIA_CONTAINER_H

#include <stdint.h>

/*
 * Which containers are read, and which of them are checked.
 *
 * Check whether a container is complete.  A demuxer that meets a hole searches
 * for the next structure it knows, without a message.  So follow the structure
 * from the first byte to the last, and compare all redundant data with the
 * content: sizes, counts, sequence numbers and checksums.  Frames are not
 * decoded; damage that only a decoder can detect is not reported.
 */

enum container_state {
	CONTAINER_WHOLE,	/* no damage found, or the format has no
				 * redundant data */
	CONTAINER_CUT,		/* the file ends before its structure does */
	CONTAINER_BROKEN	/* bytes were lost or changed before its end */
};

struct container_report {
	enum container_state state;
	int complete;		/* 1 if the container declares its size and has
				 * it: ignore its declared duration */
	int appended;		/* number of files appended to the first one */
	int64_t repeats;	/* empty chunks that repeat the last frame */
	int64_t newest;		/* time stamp of the newest frame that packets
				 * announce: 33 bits, 90 kHz; -1 if unknown */
	int64_t samples, shown;	/* samples of the stream, and how many of them
				 * its edit lists show at least; 0 if unknown */
	char text[120];		/* the first damage and its place, if ${state}
				 * is not CONTAINER_WHOLE */
};

/*
 * A check of the structure of a file.  Return the state, and set the text of
 * the report unless the file is whole.
 */
struct container_reader;
typedef enum container_state container_checker(struct container_reader *r);

/* A container that is read. */
struct container {
	const char *name;	/* FFmpeg's first name of its demuxer */
	int timed;		/* 1 if a gap in its times may be a lost
				 * frame */
	container_checker *check;	/* NULL: FFmpeg's errors and the
					 * durations show damage */
};

/* All that are read, those that are checked first.  A NULL name ends them. */
extern const struct container containers[];

/*
 * container_find(names):
 * Return the row of FFmpeg's demuxer ${names}, of which the first counts: "mov"
 * in "mov,mp4,m4a".  Return NULL if the container is not read.
 */
const struct container *container_find(const char *names);

/*
 * container_check(c, fd, size, bytes, id, report):
 * Check the structure of the file ${fd} of ${size} bytes, of container ${c}.
 * ${bytes} is the file's content, or NULL: the file is read.  ${id} is the
 * AVStream id of the wanted stream; damage that certainly belongs to other
 * streams is ignored.  Set ${*report}, with the first damage found.  No message
 * is printed.
 */
void container_check(const struct container *c, int fd, int64_t size,
    const uint8_t *bytes, int id, struct container_report *report);

#endif
