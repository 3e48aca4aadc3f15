#ifndef INGEST_INCOMING_KIND_H
#define INGEST_INCOMING_KIND_H

/*
 * The methods of a source of clips; each kind of source has this struct as its
 * first member.
 */

#include "ingest/incoming.h"

struct incoming {
	/* incoming_next(in, x) */
	int (*next)(struct incoming *in, const struct extraction **x);
	/* incoming_free(in); frees ${in} too */
	void (*free)(struct incoming *in);
	const char *settings;		/* incoming_settings(in) */
};

#endif
