#ifndef MEDIA_CONTAINER_READER_H
#define MEDIA_CONTAINER_READER_H

/* Internal interface of media/container.  No other folder includes it. */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "media/container.h"

/* The bytes of a file: all of them in memory, or a window that moves. */
struct container_reader {
	int fd, id;			/* id: AVStream id of the wanted
					 * stream */
	int64_t size, start;		/* of the file; of ${data} in it */
	ssize_t n;			/* bytes in ${data} */
	struct container_report *report;
	const uint8_t *data;		/* the caller's bytes, or ${window} */
	uint8_t window[65536];
};

/*
 * reader_byte(r, at):
 * Return the byte at ${at}, or -1 if it is outside the file or cannot be read.
 */
int reader_byte(struct container_reader *r, int64_t at);

/*
 * reader_big(r, at, n), reader_little(r, at, n):
 * Return the ${n} bytes at ${at}, at most 8, as a number in big or little
 * endian.  Bytes that cannot be read count as 0.
 */
uint64_t reader_big(struct container_reader *r, int64_t at, int n);
uint64_t reader_little(struct container_reader *r, int64_t at, int n);

/*
 * reader_cut(r, at), reader_broken(r, at, fmt, ...):
 * Set the text of the report, with the offset ${at}.  Return CONTAINER_CUT or
 * CONTAINER_BROKEN.
 */
enum container_state reader_cut(struct container_reader *r, int64_t at);
enum container_state reader_broken(struct container_reader *r, int64_t at,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/*
 * reader_crc(r, at, n, crc, high):
 * Return ${crc} continued over the ${n} bytes at ${at}, or fewer at the end of
 * the file; 0 begins a checksum.  The polynomial is 0x04c11db7.  ${high} 0: the
 * lowest bit first, as Matroska and zip; 1: the highest bit first, without
 * complements, as Ogg.
 */
uint32_t reader_crc(struct container_reader *r, int64_t at, int64_t n,
    uint32_t crc, int high);

/*
 * The containers that are checked, in the order of FFmpeg's names: the name, 1
 * if a gap in its times may be a lost frame, and the check, each in a file of
 * this folder.
 */
#define CONTAINER_CHECKS(ROW) \
	ROW(asf, 1, asf_check) ROW(avi, 0, avi_check) \
	ROW(dhav, 1, dhav_check) ROW(flv, 1, flv_check) \
	ROW(gif, 0, gif_check) ROW(matroska, 1, matroska_check) \
	ROW(mov, 0, mov_check) ROW(mpeg, 1, mpegps_check) \
	ROW(mpegts, 1, mpegts_check) ROW(ogg, 0, ogg_check)

#define CONTAINER_DECLARE(name, timed, check) container_checker check;
CONTAINER_CHECKS(CONTAINER_DECLARE)

#endif
