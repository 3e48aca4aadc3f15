/* Videos and the network, made ready. */
#include <stdlib.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "eval/clips.h"
#include "ingest/extract_settings.h"

/* Frames that no view shows need not be resized and compressed: for extraction,
 * with the views as ${views}. */
static void
eval_clips_need(const void *views, const struct extraction *x, int frames,
    struct fraction fps, char *wanted)
{
	const struct view_options *v = views;
	const struct frame_source s = { .frames = frames, .width = x->sample.width,
		.height = x->sample.height, .fps = fps.den > 0 ?
		(double)fps.num / fps.den : 0 };
	struct clip_request r = { .frame = xcalloc((size_t)v->t,
		sizeof(*r.frame)) };

	for (int i = 0; i < v->clips * v->crops; i += v->crops) {
		view_choose(v, i, &s, &r);
		for (int k = 0; k < v->t; k++)
			wanted[r.frame[k]] = 1;
	}
	free(r.frame);
}

/*
 * Videos are shown as the frames were made that the network was trained on, in
 * their size, rate and compression: so the answer for a video is the one it
 * gets as a sample of a packed dataset, to the bit.  Without the compression
 * probabilities of tsm_tiny, trained on frames of quality 90, moved by 0.006 in
 * the mean over 92 clips and 0.02 at most, and one clip got another class; where
 * JPEG is decoded at half size or less, by 0.016 and 0.07.
 */
static void
eval_clips_set_extraction(struct clips *c, const struct model *m,
    const struct view_options *v)
{
	const char *as = m->state.extract;
	struct extract_options o = extract_defaults;

	if (as == NULL)
		detail("%s does not say how its frames were made: they are as "
		    "vt-extract makes them", text_quote(m->path));
	else if (extract_settings_read(as, &o) != 0)
		warning("%s: the frames of its data were made as %s, which is "
		    "not vt-extract's: they are as vt-extract makes them",
		    text_quote(m->path), as);
	o.allow_truncated = c->how.allow_truncated;
	o.max_damage = c->how.max_damage;
	o.max_pixels = c->how.max_pixels;
	o.max_frames = c->how.max_frames;
	o.memory = &c->budget;
	o.need = eval_clips_need;
	o.need_of = v;
	c->how = o;
}

int
clips_open(struct clips *c, struct model *m, const struct view_options *v)
{
	int status;

	spool_budget_open(&c->budget, c->memory);
	if (loader_shows(&m->graph->needs, m->graph->name, "a video") != 0)
		return EXIT_USAGE;
	eval_clips_set_extraction(c, m, v);
	/* Decoding goes on while weights and algorithms are made ready. */
	c->incoming = c->video != NULL ? incoming_videos(c->video, c->videos,
	    &c->how, c->decoders) : incoming_stream(c->stream, &c->budget);
	if (c->incoming == NULL)
		return EXIT_FAILED;
	status = model_start(m, c->threads, c->precision);
	if (status == 0)
		c->recogniser = recogniser_new(m, v, c->threads, &status);
	return c->recogniser != NULL ? 0 : status;
}

void
clips_close(struct clips *c)
{
	recogniser_free(c->recogniser);
	incoming_free(c->incoming);
	spool_budget_close(&c->budget);
	*c = (struct clips){ 0 };
}
