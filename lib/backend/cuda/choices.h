#ifndef BACKEND_CUDA_CHOICES_H
#define BACKEND_CUDA_CHOICES_H

/*
 * How convolutions are done, as data: an engine and its knobs for each shape, by
 * a key that is the shape in words.  Those of this run are for one version of
 * cuDNN and one kind of device; those that are known from others for any.
 *
 * A pattern (driver.h) may have no engine: cuDNN has none, or plain convolutions
 * were faster, or they were wanted.  It is done without then.
 */

#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"

enum { KNOBS = 16, KEY = 256, NO_ENGINE = -1 };

struct choice {
	int64_t engine;
	int knobs;
	int64_t knob[KNOBS], value[KNOBS];
	double seconds;			/* as measured, of what is done instead
					 * where there is no engine; 0: it was
					 * not */
};

/* choices_new(version, device): of none, for these. */
struct choices;
struct choices *choices_new(size_t version, const char *device);
void choices_free(struct choices *c);

/*
 * choices_find(c, key): what this run has chosen; choices_known(c, key): what was
 * measured before.  NULL: nothing; else good until the next call that adds some.
 * choices_add(c, key, v): this run has chosen; choices_measured(c, key, v): it has
 * measured, but not chosen.  Both take copies.
 */
const struct choice *choices_find(const struct choices *c, const char *key);
const struct choice *choices_known(const struct choices *c, const char *key);
void choices_add(struct choices *c, const char *key, const struct choice *v);
void choices_measured(struct choices *c, const char *key,
    const struct choice *v);

/*
 * choices_text, choices_take: device_choices and device_choose.  The table has a
 * row for each, in the order in which they came:
 *
 *	#cudnn	device	convolution	engine	knobs	seconds
 *
 * with - for no engine, and for no knobs.
 */
char *choices_text(const struct choices *c, enum choices_kind which);
int choices_take(struct choices *c, enum choices_kind which, const char *what,
    const char *text);

#endif
