#ifndef INGEST_EXTRACT_SETTINGS_H
#define INGEST_EXTRACT_SETTINGS_H

/*
 * What the bytes of extracted frames depend on, as one canonical JSON object:
 * the head of a stream has it, then the manifest of a set, then the checkpoints
 * that are trained on it, so that a video can be shown to a network as those
 * were that it was trained on.
 */

#include "ingest/extract.h"

/* extract_settings(o): the caller's to free. */
char *extract_settings(const struct extract_options *o);

/*
 * extract_settings_read(text, o): size, rate, format and quality into ${o},
 * whose other members stay.  -1, without a message if ${text} is JSON, when it
 * holds something else; then ${o} stays, too.
 */
int extract_settings_read(const char *text, struct extract_options *o);

/* extract_defaults: what vt-extract does where nothing is said. */
extern const struct extract_options extract_defaults;

#endif
