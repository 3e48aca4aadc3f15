#ifndef CMD_OPTIONS_COMMON_H
#define CMD_OPTIONS_COMMON_H

/*
 * Option rows that several commands share.  ${to} points at the value, and
 * ${modes} are the OPTION_MODE in which a row applies, 0 for all of them.
 * base/options.h has OPTION_CONFIG and others that all commands share.
 */

#include "base/options.h"
#include "train/loop/views.h"

/*
 * Why a row may differ: those of FREE_ between ranks and at a resume, those of
 * RESUME_ only at a resume.
 */
#define FREE_FACT	OPTION_FREE	/* a fact holds its content or result */
#define FREE_HOST	OPTION_FREE	/* a place or a resource of a host */
#define FREE_RANK_0	OPTION_FREE	/* rank 0 alone reads it */
#define RESUME_FACT	OPTION_FREE_RESUME	/* as FREE_FACT */
#define RESUME_BITS	OPTION_FREE_RESUME	/* all values give equal bits */
#define RESUME_GUARD	OPTION_FREE_RESUME	/* when a run saves, logs,
						 * checks itself, stops or
						 * fails */
#define RESUME_START	OPTION_FREE_RESUME	/* the work of one start of the
						 * command */
#define RESUME_VALIDATION OPTION_FREE_RESUME	/* a validation changes no
						 * weight */

#define OPTION_SAMPLER(to, modes) \
	{ 0, "sampler", OPTION_CHOICE, to, "RULE", \
	    "choose frames: tsm, dense, pyslowfast, ... (%)", \
	    VIEWS_SAMPLERS, 0, 0, OPTION_COMMON | (modes) }
#define OPTION_DEVICE(to, modes) \
	{ 0, "device", OPTION_TEXT, to, "NAME", \
	    "choose the back end: cpu, cuda, ref, ref64 (%)", \
	    "cpu|cuda|ref|ref64", 0, 0, OPTION_COMMON | (modes) }
#define OPTION_PRECISION(to, modes) \
	{ 0, "precision", OPTION_CHOICE, to, "TYPE", \
	    "store activations as fp32, bf16 or fp16 (%)", \
	    "fp32|bf16|fp16", 0, 0, OPTION_COMMON | (modes) | FREE_FACT }
#define OPTION_AUTOTUNE(to, modes) \
	{ 0, "autotune", OPTION_CHOICE, to, "HOW", \
	    "choose GPU algorithms: auto, rule, fastest (%)", \
	    "auto|rule|fastest", 0, 0, (modes) | RESUME_FACT }
#define OPTION_RANK_THREADS(to) \
	{ 'j', "threads", OPTION_INT, to, "N", \
	    "compute with N threads in a rank (%: all its cores)", \
	    NULL, 0, 1024, OPTION_COMMON | FREE_HOST }
#define OPTION_LOADER_MEMORY(to) \
	{ 0, "loader-memory", OPTION_SIZE, to, "BYTES", \
	    "prefetch at most BYTES of pixels in a rank (%)", \
	    NULL, 1, 9e15, FREE_HOST }
#define OPTION_JSON(to, modes) \
	{ 0, "json", OPTION_FLAG, to, NULL, \
	    "print JSON Lines, not a table", NULL, 0, 0, \
	    OPTION_COMMON | (modes) }

/* The rows that read plain lists of paths (ingest/list.h). */
#define LIST_OPTIONS(files, zero, modes) \
	{ 'T', "files-from", OPTION_LIST, files, "FILE", \
	    "read video paths from the lines of FILE; -: stdin", \
	    NULL, 0, 0, OPTION_COMMON | OPTION_INPUT | (modes) }, \
	{ '0', "null", OPTION_FLAG, zero, NULL, \
	    "end paths of -T with a zero byte, not a newline", \
	    NULL, 0, 0, (modes) }

/*
 * common_versions(f):
 * Print to ${f}, for --version of commands that run networks, a line each for
 * the MPI library, device collectives, processor, back ends, devices and
 * formats.
 */
void common_versions(FILE *f);

#endif
