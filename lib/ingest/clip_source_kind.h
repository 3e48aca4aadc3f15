#ifndef INGEST_CLIP_SOURCE_KIND_H
#define INGEST_CLIP_SOURCE_KIND_H

/*
 * The methods of a source of clips; the first member of each kind of source is
 * a struct clip_source.
 */

#include "ingest/clip_source.h"

struct clip_source {
	/* clip_source_next(in, x) */
	int (*next)(struct clip_source *in, const struct extraction **x);
	/* clip_source_free(in); frees ${in} too */
	void (*free)(struct clip_source *in);
	const char *settings;		/* clip_source_settings(in) */
};

#endif
