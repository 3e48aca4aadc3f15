#ifndef BACKEND_CPU_CONV_LIBRARY_H
#define BACKEND_CPU_CONV_LIBRARY_H

/*
 * A pass of a convolution by oneDNN: its calls, which by_library.c makes, and
 * the jobs of its phases (library.c).
 *
 * A kernel with extent in time is a sum over its taps: frame by frame, each
 * tap a convolution over h and w of the input frame it falls on.  oneDNN's own
 * convolutions over three dimensions want time inside of the channel blocks,
 * where no other operator has it.
 */

#include "backend/cpu/conv/conv.h"

/* A window of channels: out of CONV_FORWARD, in of CONV_DATA. */
struct library_piece {
	struct dnnl_conv *conv;
	int channel;
	size_t at, bytes;	/* of its first tap's weights; of one tap */
};

/* Images of a job, or a window of rows of one; clips of a gradient over time. */
struct library_part {
	int first, images;
	int in_row, in_rows, out_row, out_rows;
	int top;		/* rows of padding above */
	int call;
};

struct library {
	int in, out, groups;		/* as the library is told */
	int pieces, parts;
	struct library_piece *piece;
	struct library_part *part;
	size_t plain;			/* bytes of weights and bias filled up with
					 * zeros; 0 if there is nothing to fill */
	size_t weights;			/* bytes of all taps, in order */
	size_t scratch;			/* of a call */
	int more;			/* the call that adds */
	int *tap;			/* calls of the taps' gradients */
};

/*
 * library_frames(t, tap, from):
 * The number of frames of a clip's output that tap ${tap} contributes to, the
 * first of them in ${*from}.  Frame f reads input frame f s - p + tap.
 */
int library_frames(const struct cpu_conv_pass *p, int tap, int *from);

/* Jobs of LIBRARY_ROWS output channels, or of LIBRARY_GRAIN numbers. */
enum { LIBRARY_ROWS = 16, LIBRARY_GRAIN = 16384 };

/*
 * Jobs of a phase (struct conv_phase): weights with more channels made from the
 * graph's, or gradients taken from them; a slice of the order of weights; the
 * bias with more channels; images of a forward or data pass; a frame of either
 * over time; a part of a weight gradient, and one tap of it over time; the sum
 * of the parts.
 */
void library_fill(int i, int thread, void *run);
void library_order(int i, int thread, void *run);
void library_bias(int i, int thread, void *run);
void library_images(int i, int thread, void *run);
void library_frame_forward(int i, int thread, void *run);
void library_frame_data(int i, int thread, void *run);
void library_part(int i, int thread, void *run);
void library_part_tap(int i, int thread, void *run);
void library_add(int i, int thread, void *run);

#endif
