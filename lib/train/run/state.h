#ifndef TRAIN_RUN_STATE_H
#define TRAIN_RUN_STATE_H

/*
 * The state of a run apart from its tensors, as a table of rows.  The table is
 * the metadata of a checkpoint: snapshot.c writes all rows, checkpoint.c reads
 * them.  Rank 0 sends the rows of the checkpoint it resumes from to the other
 * ranks, and a replay compares them with those of a checkpoint.  A new member
 * needs a row; without a mark, the row is saved, sent and compared.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "weights/safetensors.h"

/* Texts belong to the owner of the struct. */
struct state {
	uint64_t step, clips;		/* steps done, clips used */
	uint64_t seed;
	double epoch;			/* clips / samples */
	double loss;			/* moving average, for the log */
	double best;			/* best value of ${best_metric}; a loss
					 * is negated */
	uint64_t best_step;		/* its step; 0: none yet */
	const char *best_metric;	/* "top1", "loss", "map"; "" if
					 * ${best_step} is 0 */
	uint64_t skipped;		/* of ${step}, those skipped because
					 * they were not finite */
	int grown, grow_wants;		/* factor by which the batch has grown;
					 * averages or updates in a row above
					 * the threshold
					 * (train/learn/round.h) */
	double noise_trace, noise_gradient;	/* moving averages of tr(S) and
						 * |g|^2 without learners
						 * (train/learn/grown_batch.h);
						 * both 0: none yet */
	const char *build;		/* "vt 0.2.0+86a0a4f12345" */
	const char *results;		/* VERSION_RESULTS */
	const char *isa, *library;	/* "avx512", "oneDNN 2.6.3" or "none" */
	const char *precision;		/* "fp32", "bf16 by AMX" */
	const char *classes;		/* one name a line */
	const char *class_hash;		/* 16 hex digits */
	const char *choices;		/* stamp of the chosen algorithms,
					 * "ROWS:HASH" (train/loop/choices.h);
					 * NULL: the back end has no choices, or
					 * sums are not exact */
	const char *config;		/* settings, as --print-config */
	const char *corrupt;		/* indices of samples known as damaged
					 * (data/order.h); NULL: none */
	const char *dataset;		/* dataset_id, 32 hex digits */
	const char *settings_id;	/* hash of the dataset's settings, 32
					 * hex digits */
	uint64_t generation;		/* of the dataset */
	const char *extract;		/* settings of the dataset's extraction
					 * (ingest/extract_settings.h); NULL:
					 * unknown */
	const char *flips;		/* hash of the table of --flip-swap, or
					 * "none" */
	const char *class_weights;	/* hash of the weights of
					 * --class-weight, or "none" */
	const char *history;		/* hash of the schedule up to ${step} */
	const char *model, *network;	/* name and text of the .net file */
	int frames, crop, stride;	/* of the schedule's last cell; stride
					 * 0: none */
	int due;			/* DUE_*: the rest of the validation due
					 * at this step; 0: none */
	const char *init;		/* weights of --init; NULL: none
					 * (train/weights/init.h) */
	const char *order;		/* version of the summation order,
					 * "v1" */
	const char *tensors;		/* hashes of all tensors of a file, a
					 * JSON object; NULL: in no file */
};

#define CHECKPOINT_FORMAT "1"

/* The best metric before the first validation, below every metric. */
#define BEST_WORST (-1e300)

/* The rest of a validation that failed or was stopped: all, the second of two
 * measurements of statistics (--precise-bn) and the validation, or the
 * validation alone. */
enum { DUE_ALL = 1, DUE_SECOND, DUE_VALIDATION };

/* The type of a member, and its text. */
enum state_type {
	STATE_COUNT,			/* uint64_t: decimal */
	STATE_INT,			/* int of at least 1: decimal */
	STATE_REAL,			/* double: "%a", which is exact */
	STATE_TEXT,			/* const char * */
	STATE_NULLABLE,			/* const char *, NULL if absent */
	STATE_CONSTANT			/* no member: always ${missing} */
};

/* Marks that free a row of a use. */
enum {
	STATE_FREE_SEND = 1,		/* not sent to the other ranks */
	STATE_FREE_REPLAY = 2		/* not compared by a replay */
};

struct state_row {
	const char *key;		/* of the metadata */
	enum state_type type;
	size_t at;			/* offset of the member */
	int n;				/* numbers of an array, separated by
					 * blanks in the text */
	const char *missing;		/* the value that files omit; NULL: all
					 * files have the key */
	int flags;			/* STATE_FREE_* */
};

/* All rows in the byte order of their keys, as the format requires. */
extern const struct state_row state_rows[];
extern const size_t state_row_count;

/*
 * state_row_text(r, s):
 * Return the value of ${r} in ${s} as text, or NULL if files omit it.  The
 * caller frees the text.
 */
char *state_row_text(const struct state_row *r, const struct state *s);

/*
 * state_row_set(r, s, path, text):
 * Set the member of ${r} in ${s} from ${text}, which must remain valid if the
 * member is a text.  Return 0, or -1 after a message that names the file
 * ${path}.
 */
int state_row_set(const struct state_row *r, struct state *s, const char *path,
    const char *text);

/*
 * state_read(s, path, meta, n):
 * Set all members of ${s} from the ${n} metadata of file ${path}, to which its
 * texts point.  Return 0, or -1 after a message: a key is unknown, occurs
 * twice, is missing and must not be, or has a wrong value.
 */
int state_read(struct state *s, const char *path, const struct meta *meta,
    size_t n);

/*
 * state_pack(s, b):
 * Replace the content of ${b} by the rows of ${s} that ranks send.
 * state_unpack(s, b):
 * Set these members of ${s}.  Its texts point into ${b}.
 */
void state_pack(const struct state *s, struct buffer *b);
void state_unpack(struct state *s, const struct buffer *b);

/*
 * state_difference(a, b):
 * Return the key of the first row that a replay compares and that differs in
 * ${a} and ${b}, NULL if there is none.
 */
const char *state_difference(const struct state *a, const struct state *b);

#endif
