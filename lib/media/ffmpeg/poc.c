/*
 * Find missing frames in raw H.264 and HEVC, which have no time stamps.  Each
 * frame carries its position in output order (picture order count, 8.2.1 and
 * 8.3.1).  It restarts at each instantaneous refresh and grows in even steps.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "media/ffmpeg/ff.h"

int
poc_begin(struct ff_poc *o, const AVFormatContext *f, const AVStream *st)
{
	enum AVCodecID id = st->codecpar->codec_id;

	if (strcmp(f->iformat->name, "h264") != 0 &&
	    strcmp(f->iformat->name, "hevc") != 0)
		return 0;
	o->codec = avcodec_alloc_context3(NULL);
	o->parser = av_parser_init((int)id);
	if (o->codec == NULL || o->parser == NULL)
		return -1;
	o->codec->codec_id = id;
	o->codec->codec_type = AVMEDIA_TYPE_VIDEO;
	o->parser->flags |= PARSER_FLAG_COMPLETE_FRAMES;
	return 0;
}

static int
poc_by_number(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* End a group: count the frames missing between its counts. */
static void
poc_end_group(struct ff_poc *o)
{
	int least = 0;

	if (o->n > 0)
		qsort(o->number, o->n, sizeof(*o->number), poc_by_number);
	for (size_t i = 1; i < o->n; i++) {
		int d = o->number[i] - o->number[i - 1];

		if (d > 0 && (least == 0 || d < least))
			least = d;
	}
	if (least > 0 && (o->step == 0 || least < o->step))
		o->step = least;
	for (size_t i = 1; i < o->n && o->step > 0; i++) {
		int d = o->number[i] - o->number[i - 1];

		/* Equal counts: the refresh between the two is missing. */
		o->lost += d == 0 ? 1 : d / o->step - 1;
	}
	o->n = 0;
}

int
poc_packet(struct ff_poc *o, const AVPacket *p)
{
	uint8_t *out;
	int size;

	if (o->parser == NULL || o->unsure)
		return 0;
	errno = 0;
	av_parser_parse2(o->parser, o->codec, &out, &size, p->data, p->size,
	    p->pts, p->dts, p->pos);
	if (errno == ENOMEM)
		return -1;
	/* Encoders pair the counts of fields in different ways. */
	if (o->parser->picture_structure == AV_PICTURE_STRUCTURE_TOP_FIELD ||
	    o->parser->picture_structure == AV_PICTURE_STRUCTURE_BOTTOM_FIELD)
		o->unsure = 1;
	if (o->parser->key_frame == 1 && o->parser->output_picture_number == 0)
		poc_end_group(o);
	o->number = array_reserve(o->number, o->n, &o->cap, sizeof(*o->number));
	o->number[o->n++] = o->parser->output_picture_number;
	return 0;
}

int64_t
poc_end(struct ff_poc *o)
{
	poc_end_group(o);
	return o->unsure ? 0 : o->lost;
}

void
poc_free(struct ff_poc *o)
{
	if (o->parser != NULL)
		av_parser_close(o->parser);
	avcodec_free_context(&o->codec);
	free(o->number);
}
