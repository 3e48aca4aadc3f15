#ifndef MEDIA_CONTAINER_H
#define MEDIA_CONTAINER_H

#include <stddef.h>
#include <stdint.h>

/*
 * Is a container whole?  A demuxer that meets a hole looks for the next thing
 * it knows and says nothing, so the structure is followed here from the first
 * byte to the last, and whatever the format has to tell of a loss is held
 * against what is there: sizes, counts, sequence numbers and checksums.
 * Frames are not decoded, and what only a decoder could tell is not seen.
 */

enum container_state {
	CONTAINER_WHOLE,	/* or of a format that tells nothing */
	CONTAINER_CUT,		/* the file ends before its structure does */
	CONTAINER_BROKEN	/* bytes were lost or changed before its end */
};

struct container_report {
	enum container_state state;
	int complete;		/* it says how much there is, and that is there:
				 * no duration need be believed */
	int appended;		/* number of files appended to the first one */
	int64_t newest;		/* time stamp of a frame, of 33 bits at 90 kHz,
				 * that packets announce; -1: not known */
	char text[120];		/* what was found and where, if it is not whole */
};

/*
 * container_check(fd, size, bytes, format, id, report):
 * Check the structure of the file ${fd} of ${size} bytes, whose format is
 * ${format} in FFmpeg's terms.  ${bytes} is its content, or NULL: it is read.  ${id}
 * is the AVStream id of the wanted stream; damage that certainly belongs to other
 * streams is ignored.  ${report} has the first damage.
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
