#ifndef BASE_FEED_H
#define BASE_FEED_H

/*
 * What a network is fed, microbatch by microbatch: streams of bytes, and the
 * targets that its scores are compared with.  The operators of a network say
 * what it needs (struct needs), a loader brings that in the same order, and a
 * back end reads it.
 */

#include <stddef.h>
#include <stdint.h>

/* A shape: clips, frames, rows, columns, channels. */
struct dims { int n, t, h, w, c; };

/*
 * Clips that are not yet of their size (media/raw.h), which a device makes of them:
 * clip i is used[i] bytes from i times ${each} on.
 */
struct raw_stream { size_t each, *used; };

/* One view of the clips: their frames, or 2 L channels of optical flow. */
struct stream {
	int t, h, w, c;
	uint8_t *bytes;			/* [n][t][h][w][c], */
	const struct raw_stream *raw;	/* unless it says how they lie */
};

enum target_kind {
	TARGET_CLASS,			/* one class a clip, or none */
	TARGET_SET,			/* any number of classes */
	TARGET_SHARES			/* a distribution: shares sum to 1 */
};

/* What the clips are to be recognised as. */
struct target {
	enum target_kind kind;
	int classes;
	int *label;			/* class: [n]; -1: none, no loss */
	float *share;			/* set (0 or 1, or between where clips
					 * are mixed), shares: [n][classes] */
	float *weight;			/* [n] each clip's loss is multiplied by
					 * it; NULL: all are 1 */
};

/*
 * target_weight(t, i): what the loss of clip ${i} counts, 0 without a class.
 * target_share(t, i, c): the share of class ${c} in it.
 */
double target_weight(const struct target *t, int i);
double target_share(const struct target *t, int i, int c);

/*
 * How the scores of a clip's views become those of the clip (graph/ensemble.h).
 * SCORES: their mean, as TSM has it (test_models.py).
 * PROBABILITIES: the mean of their softmax, or sigmoid, as PySlowFast has it for
 * Kinetics and Something-Something (utils/meters.py).
 * MAX: the greatest probability of each class, as it has it for Charades.
 */
enum ensemble { ENSEMBLE_SCORES, ENSEMBLE_PROBABILITIES, ENSEMBLE_MAX };

/* What a network asks for. */
struct needs {
	int streams, targets;
	struct stream_need {
		char name[64];
		int c;
	} *stream;
	struct target_need {
		char name[64];
		int classes;
		unsigned kinds;		/* 1 << TARGET_* that its losses take */
	} *target;
};

/* What an input reads and a loss is taken of, where a file does not say. */
#define STREAM_DEFAULT "rgb"
#define TARGET_DEFAULT "class"

/* Those alone, of 3 channels and any number of classes. */
extern const struct needs needs_default;

/*
 * needs_shapes(needs, n, t, side, shape):
 * The shapes of the streams of ${n} clips of ${t} frames of ${side} by ${side},
 * into ${shape}[needs->streams].
 */
void needs_shapes(const struct needs *needs, int n, int t, int side,
    struct dims *shape);

#endif
