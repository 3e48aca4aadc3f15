#ifndef INGEST_EXTRACT_SETTINGS_H
#define INGEST_EXTRACT_SETTINGS_H

/*
 * The settings that determine the bytes of extracted frames, as one canonical
 * JSON object.  It is stored in the head of a stream, in the manifest of a set
 * and in the checkpoints trained on it.  A video can then be extracted for a
 * network as its training data were.
 */

#include "ingest/extract.h"

/*
 * extract_settings(o):
 * Return the settings of ${o} as JSON text.  The caller frees it.
 */
char *extract_settings(const struct extract_options *o);

/*
 * extract_settings_read(text, o):
 * Parse ${text} and set size, rate, format and quality in ${o}; keep the other
 * fields.
 * Return 0, or -1 if ${text} does not contain such settings; a message is
 * printed only if it is not JSON.  After a failure ${o} is unchanged.
 */
int extract_settings_read(const char *text, struct extract_options *o);

/* The defaults of vt-extract's options. */
extern const struct extract_options extract_defaults;

#endif
