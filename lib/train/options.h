#ifndef TRAIN_OPTIONS_H
#define TRAIN_OPTIONS_H

/*
 * Rows that the option tables of several commands have alike; ${to} is where a
 * value goes.  OPTION_CONFIG and its kin are in base/options.h.
 */

#include "base/options.h"
#include "train/views.h"

/* --choices: by the library's rule, or by trying which is the fastest; auto: the
 * fastest, where sums have no fixed order. */
enum choosing { CHOOSE_AUTO, CHOOSE_RULE, CHOOSE_FASTEST };

#define OPTION_SAMPLER(to) \
	{ 0, "sampler", OPTION_CHOICE, to, "RULE", \
	    "choice of frames: tsm, dense, pyslowfast, ... (tsm)", \
	    VIEWS_SAMPLERS, 0, 0, 0 }
#define OPTION_DEVICE(to) \
	{ 0, "device", OPTION_TEXT, to, "NAME", \
	    "back end: cpu, cuda, or the slow ref and ref64 (cpu)", \
	    "cpu|cuda|ref|ref64", 0, 0, 0 }
#define OPTION_PRECISION(to) \
	{ 0, "precision", OPTION_CHOICE, to, "TYPE", \
	    "of activations, gradients: fp32, bf16, fp16 (fp32)", \
	    "fp32|bf16|fp16", 0, 0, 0 }
#define OPTION_CHOICES(to) \
	{ 0, "choices", OPTION_CHOICE, to, "HOW", \
	    "of algorithms, on a GPU: auto, rule or fastest", \
	    "auto|rule|fastest", 0, 0, 0 }
#define OPTION_FUSE(to) \
	{ 0, "fuse", OPTION_FLAG, to, NULL, \
	    "fp16 convolutions with the norms beside them (yes)", \
	    NULL, 0, 0, 0 }
#define OPTION_RANK_THREADS(to) \
	{ 'j', "threads", OPTION_INT, to, "N", \
	    "to compute in a rank; 0: its share of the cores (0)", \
	    NULL, 0, 1024, 0 }
#define OPTION_LOADER_THREADS(to) \
	{ 0, "loader-threads", OPTION_INT, to, "N", \
	    "to load clips in a rank (2)", NULL, 1, 1024, 0 }
#define OPTION_LOADER_MEMORY(to) \
	{ 0, "loader-memory", OPTION_SIZE, to, "BYTES", \
	    "pixels loaded ahead in each rank, at most (512M)", \
	    NULL, 1, 9e15, 0 }
#define OPTION_JSON(to) \
	{ 0, "json", OPTION_FLAG, to, NULL, \
	    "JSON Lines on standard output, not a table", NULL, 0, 0, 0 }

#endif
