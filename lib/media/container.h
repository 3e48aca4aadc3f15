#ifndef MEDIA_CONTAINER_H
#define MEDIA_CONTAINER_H

#include <stddef.h>
#include <stdint.h>

/*
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
 * container_check(fd, size, bytes, format, id, report):
 * Check the structure of the file ${fd} of ${size} bytes.  ${format} is
 * FFmpeg's name of its format.  ${bytes} is the file's content, or NULL: the
 * file is read.  ${id} is the AVStream id of the wanted stream; damage that
 * certainly belongs to other streams is ignored.  Set ${*report}, with the
 * first damage found.  No message is printed.
 */
void container_check(int fd, int64_t size, const uint8_t *bytes,
    const char *format, int id, struct container_report *report);

/*
 * container_jpegs(fd, size):
 * Return how the ${size} bytes of ${fd} begin:
 * - 0: not a JPEG picture;
 * - 1: one JPEG picture.  It may be cut off, or be followed by one of another
 *   size;
 * - 2: a JPEG picture, followed by anything else.
 */
int container_jpegs(int fd, int64_t size);

/*
 * container_is_dv(data, n):
 * Return 1 if the ${n} bytes of ${data} begin with a complete DV frame whose
 * DIF blocks are all in their place, 0 otherwise.
 */
int container_is_dv(const uint8_t *data, size_t n);

#endif
