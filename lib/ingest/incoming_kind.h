#ifndef INGEST_INCOMING_KIND_H
#define INGEST_INCOMING_KIND_H

/* What a source of clips is made of: the first member of its own struct. */

#include "ingest/incoming.h"

struct incoming {
	int (*next)(struct incoming *in, const struct extraction **x);
	void (*free)(struct incoming *in);
	const char *settings;
};

#endif
