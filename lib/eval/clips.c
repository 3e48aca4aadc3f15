/* Open the source of clips and the network for vt-eval on videos. */
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "eval/clips.h"
#include "ingest/extract_settings.h"

/*
 * The callback need of extraction (ingest/extract.h): mark the frames that the
 * views show, and those of their stacks.  Other frames are neither resized nor
 * encoded.  ${views} is a struct view_options.
 */
static void
eval_clips_need(const void *views, const struct extraction *x, int frames,
    struct fraction fps, char *wanted)
{
	const struct view_options *v = views;
	const struct frame_source s =
		{ .frames = frames, .width = x->sample.width,
			.height = x->sample.height, .fps = fps.den > 0 ?
		(double)fps.num / fps.den : 0 };
	struct clip_request r = { .frame = xcalloc((size_t)v->t,
		sizeof(*r.frame)) };
	int span = input_spec_span(v->needs);

	for (int i = 0; i < v->clips * v->crops; i += v->crops) {
		microbatch_choose_view(v, i, &s, &r);
		for (int k = 0; k < v->t * span; k++)
			if (r.frame[k / span] + k % span < frames)
				wanted[r.frame[k / span] + k % span] = 1;
	}
	free(r.frame);
}

/*
 * Extract videos with the settings of the training data: size, rate and
 * compression, and the streams that the network reads.  The scores of a video
 * then equal those of the same video as a sample of a packed dataset, bit for
 * bit.
 * Without the compression, probabilities of tsm_tiny, trained on frames of
 * quality 90, moved by 0.006 in the mean over 92 clips and by at most 0.02, and
 * one clip got another class.  Where JPEG is decoded at half size or less, they
 * moved by 0.016 and 0.07.
 */
static void
eval_clips_set_extraction(struct clips *c, const struct model *m,
    const struct view_options *v)
{
	const struct input_spec *needs = &m->graph->needs;
	const char *as = m->state.extract;
	struct extract_options o = extract_defaults;

	for (int i = 0; i < needs->streams; i++)
		if (strcmp(needs->stream[i].name, STREAM_FLOW) == 0)
			o.flow = EXTRACT_TVL1;
		else
			o.rgb = 1;
	if (as == NULL)
		detail("%s does not record its extraction settings: using the "
		    "defaults of vt-extract%s", text_quote(m->path), o.flow ?
		    " and --flow=tvl1" : "");
	else if (extract_settings_read(as, &o) != 0)
		warning("%s: extraction settings %s (wanted those of "
		    "vt-extract): using its defaults",
		    text_quote(m->path), as);
	/* In a set with flow, each frame begins a pair. */
	o.pairs |= o.flow != EXTRACT_NO_FLOW;
	/* Limits are the user's; they do not change the frames of a clip. */
	o.allow_truncated = c->how.allow_truncated;
	o.max_damage = c->how.max_damage;
	o.max_pixels = c->how.max_pixels;
	o.max_frames = c->how.max_frames;
	o.memory = &c->budget;
	o.no_phash = 1;		/* predictions do not compare videos */
	o.need = eval_clips_need;
	o.need_of = v;
	c->how = o;
}

int
clips_open(struct clips *c, struct model *m, const struct view_options *v)
{
	struct stream_list streams;
	int status;

	spool_budget_open(&c->budget, c->memory);
	eval_clips_set_extraction(c, m, v);
	extract_streams(&c->how, &streams);
	if (c->video != NULL && loader_check_streams(&streams, "a video",
	    &m->graph->needs, m->graph->name) != 0)
		return EXIT_USAGE;
	c->source = c->video != NULL ? clip_source_videos(c->video, c->videos,
	    &c->how, c->decoders) : clip_source_stream(c->stream, &c->budget);
	if (c->source == NULL)
		return EXIT_FAILED;
	status = model_start(m, c->threads, c->precision);
	if (status == 0)
		c->scorer = scorer_new(m, v, c->threads, &status);
	return c->scorer != NULL ? 0 : status;
}

void
clips_close(struct clips *c)
{
	scorer_free(c->scorer);
	clip_source_free(c->source);
	spool_budget_close(&c->budget);
	*c = (struct clips){ 0 };
}
