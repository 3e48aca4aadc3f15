#ifndef INGEST_FLOW_H
#define INGEST_FLOW_H

/*
 * Optical flow of the stored frames of a video: frame by frame in, encoded
 * pairs out.
 */

#include <stdint.h>

#include "base/spool.h"
#include "ingest/extract.h"

/*
 * Displacements are stored as bytes from -FLOW_BOUND to FLOW_BOUND pixels, as
 * the programs of TSN store them (L. Wang et al., "Temporal segment networks",
 * ECCV 2016).
 */
#define FLOW_BOUND 20

/* flow_kind(): Return what samples and settings say about the flow. */
struct sample_flow flow_kind(void);

/*
 * The solvers and buffers of one extractor, reused from video to video.  One
 * thread at a time may use it.
 */
struct flow_maker;

/*
 * flow_new(threads, o):
 * Return a maker whose pairs are computed by ${threads} threads, with the
 * format and quality of ${o}.  The caller frees it with flow_free; NULL does
 * nothing there.
 */
struct flow_maker *flow_new(int threads, const struct extract_options *o);
void flow_free(struct flow_maker *f);

/*
 * flow_begin(f, spool):
 * Begin a video.  Its pairs go to ${spool}, which must remain valid until
 * flow_end.
 *
 * flow_add(f, p, frame):
 * Add the next frame, of the size of the first: ${p}, of which luma is used,
 * and its encoded bytes ${frame}, NULL if only the flow is stored.  The caller
 * may reuse both.
 *
 * flow_end(f):
 * Store what is left.  For each frame but the last, the spool then has these
 * items, in order: the bytes of the frame, if there are any, then the motion
 * from it to the next frame in x and in y.  They do not depend on the number of
 * threads.
 *
 * flow_add and flow_end return 0, or -1 after a message.
 */
void flow_begin(struct flow_maker *f, struct spool *spool);
int flow_add(struct flow_maker *f, const struct planes *p,
    const struct buffer *frame);
int flow_end(struct flow_maker *f);

#endif
