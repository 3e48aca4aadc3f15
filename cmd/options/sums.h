#ifndef CMD_OPTIONS_SUMS_H
#define CMD_OPTIONS_SUMS_H

/* Options of the all-reduce (train/reduce/sums.h); vt-train(1) explains
 * them. */

#include "train/reduce/sums.h"

#include "common.h"

/* The rows of a struct sum_settings ${o}. */
#define OPTION_SUMS(o) \
	OPTION_HEADING("Sums over ranks"), \
	{ 0, "deterministic", OPTION_CHOICE, &(o).deterministic, "MODE", \
	    "sum exact (same bits on any ranks) or fast (%)", \
	    "exact|fast", 0, 0, 0 }, \
	{ 0, "allreduce", OPTION_TEXT, &(o).allreduce, "NAME", \
	    "fast: use native, ring, torus[:XxY], halving (%)", \
	    "auto|native|ring|torus|halving", 0, 0, RESUME_BITS }, \
	{ 0, "allreduce-table", OPTION_TEXT, &(o).table, "FILE", \
	    "fast: choose by the table of vt-bench --tune", \
	    NULL, 0, 0, OPTION_INPUT | FREE_RANK_0 }, \
	{ 0, "comm-dtype", OPTION_CHOICE, &(o).wire, "TYPE", \
	    "fast: send gradients as fp32, bf16 or fp16 (%)", \
	    "fp32|bf16|fp16", 0, 0, 0 }, \
	{ 0, "bucket", OPTION_SIZE, &(o).bucket, "BYTES", \
	    "sum gradients in buckets of BYTES (%: auto, from 4M)", \
	    NULL, 0, 9e15, RESUME_BITS }

#endif
