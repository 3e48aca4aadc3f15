#ifndef INGEST_INCOMING_KIND_H
#define INGEST_INCOMING_KIND_H

/*
 * The methods of a source of clips; each kind of source has this struct as its
 * first member.
 */

#include "ingest/incoming.h"

struct incoming {
	/* as incoming_next */
	int (*next)(struct incoming *in, const struct extraction **x);
	/* frees ${in} too */
	void (*free)(struct incoming *in);
	/* as incoming_settings */
	const char *settings;
};

#endif
