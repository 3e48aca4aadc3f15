#ifndef MEDIA_CUT_H
#define MEDIA_CUT_H

#include <stdint.h>

/*
 * cut_find(fd, size, format):
 * 1 if the ${size} bytes of ${fd} end before their own structure does, for
 * containers in which no duration tells: gif (no trailer), ogg (a page that
 * goes beyond the end, or no end of stream), asf (the header states the size
 * of the file) and fragmented mov (a fragment that goes beyond the end).  0
 * otherwise, also for a ${format} that is none of these, as FFmpeg calls them.
 */
int cut_find(int fd, int64_t size, const char *format);

#endif
