/*
 * YUV4MPEG2: a line of parameters, then frames of one size, each after its own
 * line.  Sources: yuv4mpeg(5) of mjpegtools, and FFmpeg's pixel formats.
 */
#include <stdlib.h>
#include <string.h>

#include "media/container/reader.h"

#define LINE 256		/* maximum bytes of a line, including its end */

/*
 * Read the line at ${at}.  Return its bytes including the newline, or 0 if
 * there is none.
 */
static int
y4m_read_line(struct container_reader *r, int64_t at, char line[LINE])
{
	for (int n = 0; n < LINE; n++) {
		int c = reader_byte(r, at + n);

		if (c < 0)
			return 0;
		line[n] = (char)c;
		if (c == '\n') {
			line[n] = '\0';
			return n + 1;
		}
	}
	return 0;
}

/*
 * Return the bytes of a frame of ${w} by ${h} pixels with chroma ${c}, or 0 if
 * unknown.
 */
static int64_t
y4m_frame_bytes(int64_t w, int64_t h, const char *c)
{
	int64_t half = ((w + 1) / 2) * ((h + 1) / 2), pixels = w * h, n;
	const char *deep = strstr(c, "p1");

	if (strncmp(c, "mono", 4) == 0)
		return pixels * (c[4] != '\0' ? 2 : 1);
	if (strncmp(c, "444alpha", 8) == 0)
		n = 4 * pixels;
	else if (strncmp(c, "444", 3) == 0)
		n = 3 * pixels;
	else if (strncmp(c, "422", 3) == 0)
		n = pixels + 2 * ((w + 1) / 2) * h;
	else if (strncmp(c, "411", 3) == 0)
		n = pixels + 2 * ((w + 3) / 4) * h;
	else if (strncmp(c, "420", 3) == 0)
		n = pixels + 2 * half;
	else
		return 0;
	/* "420p10" has two bytes per sample; "420paldv" and "420mpeg2" have
	 * one. */
	return deep != NULL || strstr(c, "p9") != NULL ? 2 * n : n;
}

enum container_state
y4m_check(struct container_reader *r)
{
	char line[LINE], *word, *rest, chroma[32] = "420";
	int64_t w = 0, h = 0, size, at;
	int n = y4m_read_line(r, 0, line);

	if (n == 0)
		return reader_cut(r, 0);
	for (word = strtok_r(line, " ", &rest); word != NULL;
	    word = strtok_r(NULL, " ", &rest)) {
		if (*word == 'W')
			w = strtol(word + 1, NULL, 10);
		else if (*word == 'H')
			h = strtol(word + 1, NULL, 10);
		else if (*word == 'C' && strlen(word) < sizeof(chroma))
			strcpy(chroma, word + 1);
	}
	if (w < 1 || h < 1 || w > 65535 || h > 65535 ||
	    (size = y4m_frame_bytes(w, h, chroma)) == 0)
		return CONTAINER_WHOLE;		/* unknown structure: not
						 * checked */
	for (at = n; at < r->size; at += n + size) {
		n = y4m_read_line(r, at, line);
		if (n > 0 && (strncmp(line, "FRAME", 5) != 0 ||
		    (line[5] != '\0' && line[5] != ' ')))
			return reader_broken(r, at, "no frame begins here");
		if (n == 0 || size > r->size - at - n)
			return reader_cut(r, at);
	}
	return CONTAINER_WHOLE;
}
