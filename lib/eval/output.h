#ifndef EVAL_OUTPUT_H
#define EVAL_OUTPUT_H

/*
 * The output of vt-eval, written line by line: standard output, or a file that
 * gets its name when its last line is durable.
 */

#include "base/file.h"

struct output { struct commit *commit; };	/* NULL: standard output */

/*
 * output_open(o, path):
 * Open ${path}; NULL or "-" is standard output.  Return 0, or -1 after a
 * message.
 */
int output_open(struct output *o, const char *path);

/*
 * output_write(o, lines):
 * Write all of ${lines} and empty it.  Return 0, or -1 after a message.
 */
int output_write(struct output *o, struct buffer *lines);

/*
 * output_done(o):
 * Commit the file: give it its name.  Return 0, or -1 after a message.
 */
int output_done(struct output *o);

/* output_drop(o): Discard the file.  After output_done this does nothing. */
void output_drop(struct output *o);

#endif
