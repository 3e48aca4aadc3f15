#ifndef EVAL_SCORE_FILE_H
#define EVAL_SCORE_FILE_H

/*
 * Score files: the scores of an evaluation, from which all of its other outputs
 * can be made again (vt-eval(1), SCORE FILES).
 */

#include "base/table.h"
#include "eval/protocol.h"
#include "eval/results.h"
#include "shard/classes.h"

struct score_file {
	const char *path;		/* owned by the caller */
	struct protocol protocol;
	struct class_list class;
	struct evaluation e;
	struct table *table;		/* a row for each of e.sample */
	struct names *keys;		/* of the samples, in their order */
	uint32_t *from;			/* [samples] number of each sample of
					 * the first fused file; NULL: equal */
	struct label_interval *label;	/* the sets of e.sample */
};

/*
 * score_file_read(f, path):
 * Read the score file ${path}; "-" is standard input.  Warn if rows were
 * changed since the file was written.  Return 0, or after a message EXIT_FAILED
 * if the file cannot be read, EXIT_DAMAGE if it is malformed.
 * Call score_file_free in both cases.
 */
int score_file_read(struct score_file *f, const char *path);

/* score_file_free(f): Free everything and leave ${f} empty. */
void score_file_free(struct score_file *f);

/*
 * score_file_find(f, key):
 * Return the number of the sample with this key, or -1 if there is none.
 */
int64_t score_file_find(const struct score_file *f, const char *key);

/*
 * score_file_write(r, path):
 * Commit a score file: the protocol, and a row per sample with key, label, the
 * score of every class, the path and the part (eval/part.h).  Return 0, or -1
 * after a message.
 */
int score_file_write(const struct results *r, const char *path);

/*
 * score_write(text, score):
 * Write a score to ${text}[32]: 9 digits if it is a float, else 17.
 * score_read(text, score):
 * Read a number that is finite.  At most 9 digits are a float, so that a score
 * reads back with the same bits.  Return 0, or -1 without a message.
 */
char *score_write(char *text, double score);
int score_read(const char *text, double *score);

#endif
