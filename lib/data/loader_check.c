/*
 * Check that a dataset has the streams and targets of a network, and that clips
 * can be mixed.
 */
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "data/loader.h"

/*
 * Check that ${network} reads only streams that ${what} has: rgb of 3 channels
 * and its differences if ${rgb}, flow if ${flow}.
 */
static int
loader_check_offer(const struct input_spec *needs, const char *network,
    const char *what, int rgb, int flow)
{
	for (int i = 0; i < needs->streams; i++) {
		const struct stream_spec *s = &needs->stream[i];

		if (strcmp(s->name, STREAM_FLOW) == 0 ? flow : rgb &&
		    (strcmp(s->name, STREAM_RGBDIFF) == 0 ||
		    (strcmp(s->name, STREAM_DEFAULT) == 0 && s->c == 3)))
			continue;
		return fail("%s reads the stream %s of %d channel%s, which "
		    "%s does not have (it has %s%s%s)%s", network, s->name,
		    s->c, s->c > 1 ? "s" : "", what, rgb ? STREAM_DEFAULT
		    " of 3" : "", rgb && flow ? ", and " : "",
		    flow ? STREAM_FLOW : rgb ? "" : "neither " STREAM_DEFAULT
		    " nor " STREAM_FLOW, strcmp(s->name, STREAM_FLOW) == 0 ?
		    ": vt-extract --flow=tvl1 VIDEO... | vt-pack -o SET "
		    "stores flow, and --data=SET reads it" : flow && !rgb ?
		    ": vt-extract --flow=tvl1 --rgb VIDEO... | vt-pack -o SET "
		    "stores both, and --data=SET reads them" : "");
	}
	return 0;
}

int
loader_check_streams(const struct stream_list *l, const char *what,
    const struct input_spec *needs, const char *network)
{
	int stream[2];

	return loader_check_offer(needs, network, what,
	    fill_find_sources(l, STREAM_DEFAULT, stream) != 0,
	    fill_find_sources(l, STREAM_FLOW, stream) != 0);
}

int
loader_check_transforms(const struct input_spec *needs,
    const struct transforms *t, const char *network)
{
	for (int i = 0; i < needs->streams && !transforms_none(t); i++)
		if (stream_unit(needs->stream[i].name) != 0)
			return fail("%s reads the stream %s (wanted rgb alone "
			    "for --rand-augment, --brightness, --contrast, "
			    "--saturation, --hue and --random-erase)", network,
			    needs->stream[i].name);
	return 0;
}

int
loader_check_mixing(const struct input_spec *needs, const struct schedule *s,
    const char *network)
{
	for (int i = 0; i < needs->targets; i++)
		if (!(needs->target[i].kinds &
		    (1 << TARGET_SOFT | 1 << TARGET_SET)))
			return fail("%s: a loss takes one class per clip "
			    "(wanted soft labels, which mixed clips have)",
			    network);
	for (int i = 0; i < s->stages; i++)
		for (int k = 0; k < s->stage[i].cells; k++)
			if (s->stage[i].cell[k].group < 2)
				return fail("%s: stage %d: microbatches of "
				    "one clip (wanted at least two clips to "
				    "mix: vt-schedule --bn-size)", s->path, i);
	return 0;
}

static int
loader_has_target(const struct dataset *d, const struct target_spec *t,
    const char *network)
{
	int named = strcmp(t->name, TARGET_DEFAULT) == 0;

	if (named && t->kinds & 1 << (dataset_has_label_sets(d) ? TARGET_SET :
	    TARGET_CLASS))
		return 0;
	if (named && dataset_has_label_sets(d))
		return fail("%s: its samples have sets of classes, and %s "
		    "has a loss of one class a clip (wanted a loss of "
		    "kind=sigmoid; vt-train --loss=sigmoid gives it one)",
		    text_quote(dataset_path(d)), network);
	return fail("%s has a loss of the target %s, which %s does not have "
	    "(it has " TARGET_DEFAULT ", one a clip)", network, t->name,
	    text_quote(dataset_path(d)));
}

int
loader_check_dataset(const struct dataset *d, const struct input_spec *needs,
    const char *network)
{
	int bad = loader_check_streams(dataset_streams(d),
	    text_quote(dataset_path(d)), needs, network);

	for (int i = 0; i < needs->targets && bad == 0; i++)
		bad = loader_has_target(d, &needs->target[i], network);
	return bad;
}

int
loader_check_testing(const struct dataset *d, const struct input_spec *needs,
    int target, const char *network)
{
	if (loader_check_streams(dataset_streams(d),
	    text_quote(dataset_path(d)), needs, network) != 0)
		return -1;
	return loader_has_target(d, &needs->target[target], network);
}
