#ifndef BACKEND_CUDA_CONV_CACHE_H
#define BACKEND_CUDA_CONV_CACHE_H

/*
 * The algorithm cache of convolutions: an engine and its knobs for each shape.
 * The key is the shape as text. Selections of this run (ALGORITHMS_SELECTED)
 * are for one version of cuDNN and one device type. Measurements
 * (ALGORITHMS_MEASURED) may also be of others.
 */

#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"

enum { CONV_KNOBS = 16, CONV_KEY = 256 };

/* One selection. */
struct engine_config {
	int64_t engine;
	int knobs;
	int64_t knob[CONV_KNOBS], value[CONV_KNOBS];
	double seconds;			/* measured; 0: unknown */
};

/*
 * conv_cache_new(version, device):
 * Return an empty cache for this version of cuDNN and this device name, which
 * is copied.  The caller frees the cache by conv_cache_free, which does nothing
 * if ${c} is NULL.
 */
struct conv_cache;
struct conv_cache *conv_cache_new(size_t version, const char *device);
void conv_cache_free(struct conv_cache *c);

/*
 * conv_cache_find(c, which, key):
 * Return the selection of this run for ${key}, or the measurement on this
 * version and device.  NULL if absent.  Valid until the next call that adds a
 * row.
 *
 * conv_cache_add(c, which, key, v):
 * Record ${v} as the selection or measurement of ${key}.  Copy ${key} and
 * ${v}, and replace an earlier row of the same key.
 */
const struct engine_config *conv_cache_find(const struct conv_cache *c,
    enum choices_kind which, const char *key);
void conv_cache_add(struct conv_cache *c, enum choices_kind which,
    const char *key, const struct engine_config *v);

/*
 * conv_cache_text(c, which), conv_cache_read(c, which, what, text, e):
 * Implement device_algorithms_text and device_algorithms_read (backend.h). The
 * table has one row per selection, in the order of their addition:
 *
 *	#cudnn	device	convolution	engine	knobs	seconds
 *
 * "-" stands for no knobs.  Rows with the engine "-" are left out: commit
 * 72104f0 wrote them for fused norms.
 */
char *conv_cache_text(const struct conv_cache *c, enum choices_kind which);
int conv_cache_read(struct conv_cache *c, enum choices_kind which,
    const char *what, const char *text, struct error *e);

#endif
