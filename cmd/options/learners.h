#ifndef CMD_OPTIONS_LEARNERS_H
#define CMD_OPTIONS_LEARNERS_H

/* Options of K-step averaging (train/learn/learners.h); vt-train(1) explains
 * them. */

#include "train/settings.h"

#include "common.h"

/* The rows of a struct learner_settings ${o}. */
#define OPTION_LEARNERS(o) \
	OPTION_HEADING("Learners"), \
	{ 0, "learners", OPTION_INT, &(o).n, "N", \
	    "average the weights of N learners (%: off)", \
	    NULL, 0, 65536, 0 }, \
	{ 0, "average-every", OPTION_INT, &(o).every, "K", \
	    "average learners every K local steps (%)", NULL, 1, 1e9, 0 }, \
	{ 0, "average-state", OPTION_CHOICE, &(o).state, "HOW", \
	    "average, reset or keep optimizer state (%)", \
	    "average|reset|keep", 0, 0, 0 }, \
	{ 0, "noise-scale", OPTION_FLAG, &(o).noise, NULL, \
	    "log the noise of gradients at each average", \
	    NULL, 0, 0, RESUME_GUARD }, \
	{ 0, "batch-growth-max", OPTION_INT, &(o).grow, "M", \
	    "grow the batch by its noise, to M times (%: off)", \
	    NULL, 0, 65536, 0 }, \
	{ 0, "batch-growth-factor", OPTION_INT, &(o).grow_by, "F", \
	    "multiply the batch by F at each growth (%)", NULL, 2, 65536, 0 }, \
	{ 0, "batch-growth-threshold", OPTION_REAL, &(o).grow_above, "X", \
	    "grow if noise scale / batch exceeds X (%)", NULL, 0, 1e9, 0 }, \
	{ 0, "batch-growth-patience", OPTION_INT, &(o).grow_after, "N", \
	    "grow after N such averages in a row (%)", NULL, 1, 1e6, 0 }

#endif
