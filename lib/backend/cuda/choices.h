#ifndef BACKEND_CUDA_CHOICES_H
#define BACKEND_CUDA_CHOICES_H

/*
 * The algorithm cache of convolutions: an engine and its knobs for each shape.
 * The key is the shape as text.  Selections of this run (CHOICES_MADE) are for
 * one version of cuDNN and one device type.  Measurements (CHOICES_KNOWN) may
 * also be of others.
 *
 * A fused pattern (driver.h) may have no engine: cuDNN has none, the unfused
 * operations were faster, or fusion was disabled.  It then runs unfused.
 */

#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"

enum { KNOBS = 16, KEY = 256, NO_ENGINE = -1 };

/* One selection. */
struct choice {
	int64_t engine;			/* NO_ENGINE: run it unfused */
	int knobs;
	int64_t knob[KNOBS], value[KNOBS];
	double seconds;			/* measured seconds, of the unfused
					 * operations if there is no engine; 0:
					 * unknown */
};

/*
 * choices_new(version, device):
 * Return an empty cache for this version of cuDNN and this device name, which
 * is copied.  The caller frees it by choices_free, to which ${c} may be NULL.
 */
struct choices;
struct choices *choices_new(size_t version, const char *device);
void choices_free(struct choices *c);

/*
 * choices_find(c, key):
 * Return the selection of this run for ${key}.
 *
 * choices_known(c, key):
 * Return the measurement for ${key} on this version and device.
 *
 * Both return NULL if absent.  The result is valid until the next call that
 * adds a row.
 *
 * choices_add(c, key, v):
 * Record ${v} as the selection of this run.
 *
 * choices_measured(c, key, v):
 * Record ${v} as a measurement.
 *
 * Both copy ${key} and ${v}, and replace an earlier row of the same key.
 */
const struct choice *choices_find(const struct choices *c, const char *key);
const struct choice *choices_known(const struct choices *c, const char *key);
void choices_add(struct choices *c, const char *key, const struct choice *v);
void choices_measured(struct choices *c, const char *key,
    const struct choice *v);

/*
 * choices_text(c, which), choices_take(c, which, what, text):
 * Implement device_choices and device_choose (backend.h).  The table has one
 * row per selection, in the order of their addition:
 *
 *	#cudnn	device	convolution	engine	knobs	seconds
 *
 * "-" stands for no engine and for no knobs.
 */
char *choices_text(const struct choices *c, enum choices_kind which);
int choices_take(struct choices *c, enum choices_kind which, const char *what,
    const char *text);

#endif
