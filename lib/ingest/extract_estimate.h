#ifndef INGEST_EXTRACT_ESTIMATE_H
#define INGEST_EXTRACT_ESTIMATE_H

#include "ingest/extract_all.h"

/* An estimate for the whole list, and its 95 % confidence interval. */
struct extract_range { double value, low, high; };

struct extract_estimate {
	size_t sampled;			/* videos that were extracted */
	struct extract_range refused;	/* videos */
	struct extract_range frames, bytes;	/* of the stream */
	struct extract_range cpu;	/* seconds of processors */
	struct extract_range wall;	/* seconds, with ${cores} */
	int cores;			/* those that r->threads use here */
};

/*
 * extract_estimate(r, n, e):
 * Extract a random sample of ${n} videos of r->list, or all if it has no more,
 * and store nothing.  Set ${*e}.  The sample depends on the length of the list
 * alone.  r->stream, r->report and r->skip are not used.
 * Ratios to the bytes of the source files are scaled by the bytes of all files
 * of the list, or, if it has folders of frames, means by the number of rows
 * (Cochran, "Sampling Techniques", 3rd ed., sections 2.6 and 6.3).
 * Return 0, or -1 after a message, or if a signal arrived.
 */
int extract_estimate(const struct extract_run *r, size_t n,
    struct extract_estimate *e);

#endif
