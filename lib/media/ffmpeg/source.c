/*
 * Give a demuxer the bytes of a file.  Read by pread, hash what was read, and
 * identify the format by the first bytes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/text.h"
#include "media/container.h"
#include "media/ffmpeg/ff.h"

#define BUFFER 65536
#define GAP (1 << 20)		/* maximum skip, in bytes, that is hashed at
				 * once */
#define KEPT (16 << 20)		/* files up to this size are kept in memory, so
				 * that the container check need not read them
				 * again */

/* Hash ${data}, the ${n} bytes after those already hashed, and keep them. */
static void
video_source_add(struct ff_source *s, const void *data, int64_t n)
{
	hasher_add(s->hasher, data, (size_t)n);
	/* The file may have grown since it was opened. */
	if (s->bytes != NULL && s->hashed + n <= s->size)
		memcpy(s->bytes + s->hashed, data, (size_t)n);
	s->hashed += n;
}

const uint8_t *
source_bytes(const struct ff_source *s)
{
	return s->hashed == s->size ? s->bytes : NULL;
}

int
source_hash_to(struct ff_source *s, int64_t end)
{
	char block[16384];
	ssize_t n = 1;

	while (s->hashed < end && n > 0) {
		int64_t left = end - s->hashed;

		n = TEMP_FAILURE_RETRY(pread(s->fd, block,
		    left < (int64_t)sizeof(block) ? (size_t)left :
		    sizeof(block), s->hashed));
		if (n > 0)
			video_source_add(s, block, n);
	}
	return n < 0 ? -1 : 0;
}

/*
 * Hash the bytes of ${data}, ${n} bytes at s->at, that are not hashed yet.  A
 * demuxer skips short ranges, such as samples of other streams.  Read these for
 * the hash, so that it keeps up.  After a longer skip source_hash_to reads the
 * rest.
 */
static void
video_source_hash(struct ff_source *s, const uint8_t *data, int64_t n)
{
	if (s->at > s->hashed && s->at - s->hashed <= GAP)
		source_hash_to(s, s->at);
	if (s->at <= s->hashed && s->at + n > s->hashed) {
		int64_t known = s->hashed - s->at;

		video_source_add(s, data + known, n - known);
	}
}

static int
video_source_read_some(void *opaque, uint8_t *to, int n)
{
	struct ff_source *s = opaque;
	ssize_t got;

	do
		got = pread(s->fd, to, (size_t)n, s->at);
	while (got < 0 && errno == EINTR);
	if (got < 0) {
		s->error = errno;
		return AVERROR(errno);
	}
	if (got == 0)
		return AVERROR_EOF;
	video_source_hash(s, to, got);
	s->at += got;
	return (int)got;
}

static int64_t
video_source_seek(void *opaque, int64_t to, int whence)
{
	struct ff_source *s = opaque;

	whence &= ~AVSEEK_FORCE;
	if (whence == AVSEEK_SIZE)
		return s->size;
	if (whence == SEEK_CUR)
		to += s->at;
	else if (whence == SEEK_END)
		to += s->size;
	else if (whence != SEEK_SET)
		return AVERROR(EINVAL);
	if (to < 0)
		return AVERROR(EINVAL);
	return s->at = to;
}

int
source_open(struct ff_source *s, int fd, int64_t size)
{
	unsigned char *buffer = ff.av_malloc(BUFFER);

	*s = (struct ff_source){ .fd = fd, .size = size };
	if (buffer == NULL)
		return -1;
	s->hasher = hasher_new();
	if (size > 0 && size <= KEPT)
		s->bytes = malloc((size_t)size);
	s->io = ff.avio_alloc_context(buffer, BUFFER, 0, s,
	    video_source_read_some, NULL, video_source_seek);
	if (s->io == NULL) {
		ff.av_free(buffer);
		return -1;
	}
	return 0;
}

void
source_close(struct ff_source *s)
{
	hasher_free(s->hasher);
	s->hasher = NULL;
	free(s->bytes);
	s->bytes = NULL;
	if (s->io == NULL)
		return;
	ff.av_freep(&s->io->buffer);
	ff.avio_context_free(&s->io);
}

/*
 * FFmpeg opens raw MJPEG as a list of pictures, and finds pictures after other
 * bytes.  Return the demuxer of raw MJPEG if ${s} begins with a picture, or
 * NULL after a message.
 */
static const AVInputFormat *
video_source_jpegs(struct ff_source *s, const char *path)
{
	uint8_t first[2] = { 0 };

	(void)pread(s->fd, first, sizeof(first), 0);
	if (first[0] != 0xff || first[1] != 0xd8)
		return fail_null("%s: not a video file: JPEG pictures after "
		    "other bytes (wanted FF D8 at byte 0): its beginning "
		    "may be cut off", text_quote(path));
	return ff.av_find_input_format("mjpeg");
}

const AVInputFormat *
source_format(struct ff_source *s, const char *path)
{
	const AVInputFormat *format = NULL;
	/* confidence, at most AVPROBE_SCORE_MAX, or an error */
	int score = ff.av_probe_input_buffer2(s->io, &format, "", NULL, 0, 0);

	if (s->error != 0) {
		errno = s->error;
		fail_errno("%s: cannot read", text_quote(path));
		return NULL;
	}
	if (score < 0 || format == NULL ||
	    (score <= AVPROBE_SCORE_RETRY &&
	    container_find(format->name) == NULL))
		return fail_null("%s: not a video file: no known container "
		    "begins like this", text_quote(path));
	if (strcmp(format->name, "jpeg_pipe") == 0 ||
	    strcmp(format->name, "mjpeg") == 0)
		return video_source_jpegs(s, path);
	if (container_find(format->name) == NULL)
		return fail_null("%s: not a video file but %s (%s)",
		    text_quote(path), format->name,
		    format->long_name ? format->long_name : "?");
	return format;
}
