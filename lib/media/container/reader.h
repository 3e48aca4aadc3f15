#ifndef MEDIA_CONTAINER_READER_H
#define MEDIA_CONTAINER_READER_H

/* What the files of this folder share; nobody else includes it. */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "media/container.h"

/* The bytes of a file: all of them in memory, or a window that moves. */
struct reader {
	int fd, id;
	int64_t size, start;
	ssize_t n;
	struct container_report *report;
	const uint8_t *data;		/* [n], from byte start of the file */
	uint8_t window[65536];
};

/* reader_byte(r, at): -1 beyond the end, or if it cannot be read. */
int reader_byte(struct reader *r, int64_t at);

/*
 * reader_bytes(r, at, n): the address of as many of the ${*n} bytes at ${at}
 * as the window holds, at least one; ${*n} becomes their number.  NULL beyond
 * the end.  Valid until the next call.
 */
const uint8_t *reader_bytes(struct reader *r, int64_t at, size_t *n);

/* reader_big, reader_little(r, at, n): ${n} bytes as a number, big or little
 * end first; what lies beyond the end counts as 0. */
uint64_t reader_big(struct reader *r, int64_t at, int n);
uint64_t reader_little(struct reader *r, int64_t at, int n);

/* reader_cut(r, at), reader_broken(r, at, fmt, ...): the report of a check. */
enum container_state reader_cut(struct reader *r, int64_t at);
enum container_state reader_broken(struct reader *r, int64_t at,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/*
 * reader_crc(r, at, n, crc): CRC-32 of the polynomial 0x04c11db7, lowest bit
 * first as in Matroska and zip, on top of ${crc}; 0 begins one.
 * reader_crc_high: highest bit first, without complements, as in Ogg.
 */
uint32_t reader_crc(struct reader *r, int64_t at, int64_t n, uint32_t crc);
uint32_t reader_crc_high(struct reader *r, int64_t at, int64_t n, uint32_t crc);

/* The checks, one for each format. */
typedef enum container_state container_checker(struct reader *r);

container_checker asf_check, avi_check, dv_check, flv_check, gif_check,
    ivf_check, matroska_check, mjpeg_check, mov_check, mpegts_check, mpegps_check,
    mpegvideo_check, mxf_check, nal_check, ogg_check, y4m_check;

#endif
