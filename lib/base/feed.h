#ifndef BASE_FEED_H
#define BASE_FEED_H

/*
 * The input of a network, one microbatch at a time: streams of bytes, and
 * targets for its losses.  A network's operators declare the input that it
 * needs (struct input_spec).  A loader provides it in the same order, and a
 * back end reads it.
 */

#include <stddef.h>
#include <stdint.h>

/* A shape: clips, frames, rows, columns, channels. */
struct dims { int n, t, h, w, c; };

/* One view of the clips, such as RGB frames of 3 channels. */
struct stream {
	int t, h, w, c;
	uint8_t *bytes;			/* [n][t][h][w][c] */
};

enum target_kind {
	TARGET_CLASS,			/* one class per clip, or none */
	TARGET_SET,			/* any number of classes per clip */
	TARGET_SOFT			/* a distribution, of sum 1 */
};

/* The targets of the clips of a microbatch, for one loss. */
struct target {
	enum target_kind kind;
	int classes;
	int *label;			/* TARGET_CLASS: [n]; -1: no class,
					 * no loss */
	float *soft;			/* [n][classes], for the other kinds.
					 * TARGET_SET: 0 or 1, or between if
					 * clips are mixed.  TARGET_SOFT:
					 * soft labels. */
	float *weight;			/* [n] factor of each clip's loss;
					 * NULL: all 1 */
	const float *class_weight;	/* [classes] factor of each class in
					 * softmax losses; NULL: all 1 */
};

/*
 * target_weight(t, i):
 * Return the weight of clip ${i} in the loss, 0 if it has no class.
 * target_soft_label(t, i, c):
 * Return the soft label of class ${c} for clip ${i}, in [0, 1].
 * target_class_weight(t, c):
 * Return the weight of class ${c} in softmax losses.
 */
double target_weight(const struct target *t, int i);
double target_soft_label(const struct target *t, int i, int c);
double target_class_weight(const struct target *t, int c);

/*
 * Combination of the scores of a clip's views into scores of the clip
 * (graph/metric.h).
 * SCORES: their mean, as in TSM (test_models.py).
 * PROBABILITIES: the mean of their softmax or sigmoid, as in PySlowFast for
 * Kinetics and Something-Something (utils/meters.py).
 * MAX: the maximum probability of each class, as in PySlowFast for Charades.
 */
enum ensemble { ENSEMBLE_SCORES, ENSEMBLE_PROBABILITIES, ENSEMBLE_MAX };

/* The input that a network needs.  Streams and targets are matched by name. */
struct input_spec {
	int streams, targets;
	struct stream_spec {
		char name[64];
		int c;
	} *stream;
	struct target_spec {
		char name[64];
		int classes;
		unsigned kinds;		/* bits 1 << TARGET_*: the kinds that
					 * its losses accept */
	} *target;
};

/* The names of a stream and a target whose file gives none. */
#define STREAM_DEFAULT "rgb"
#define TARGET_DEFAULT "class"

/*
 * Streams that stack several stored frames.  Frame f of a clip has in a stream
 *
 * flow: the optical flow of L = c / 2 pairs of frames.  Channel 2 j is the
 * displacement to the right from frame f + j to frame f + j + 1, and channel
 * 2 j + 1 the displacement downwards (Simonyan and Zisserman 2014, section 3.1;
 * the order of the TSN program, dataset.py).
 *
 * rgbdiff: D = c / 3 differences of RGB frames.  Channels 3 j to 3 j + 2 are
 * frame f + j + 1 minus frame f + j, plus 128, clamped to a byte (Wang et al.
 * 2016, section 3.2).
 */
#define STREAM_FLOW "flow"
#define STREAM_RGBDIFF "rgbdiff"

/*
 * stream_unit(name):
 * Return the channels of one stored frame in a stack: 2 for flow, 3 for
 * rgbdiff, 0 if the stream ${name} is not a stack.
 *
 * input_spec_span(needs):
 * Return the largest number of consecutive stored frames that one frame of a
 * clip reads: L for flow, D + 1 for rgbdiff, 1 without a stack.
 */
int stream_unit(const char *name);
int input_spec_span(const struct input_spec *needs);

/* The default input: stream "rgb" of 3 channels, and target "class" with any
 * number of classes. */
extern const struct input_spec input_spec_default;

/*
 * input_spec_shapes(needs, n, t, side, shape):
 * Set ${shape}[needs->streams] to the shapes of the streams, for ${n} clips of
 * ${t} frames of ${side} x ${side} pixels.
 */
void input_spec_shapes(const struct input_spec *needs, int n, int t, int side,
    struct dims *shape);

#endif
