#ifndef EVAL_OUTPUT_H
#define EVAL_OUTPUT_H

/*
 * Where an answer goes, line by line as it is known: standard output, or a file
 * that gets its name when the last line is on the disk.
 */

#include "base/file.h"

struct output { struct commit *commit; };	/* NULL: standard output */

/*
 * output_open(o, path): ${path} NULL or "-" is standard output.
 * output_write(o, lines): all of ${lines}, which is empty then.
 * output_done(o): there is no more: the file gets its name.
 * Each 0, or -1 after a message.  output_drop(o): if output_done was not called,
 * nothing is left.
 */
int output_open(struct output *o, const char *path);
int output_write(struct output *o, struct buffer *lines);
int output_done(struct output *o);
void output_drop(struct output *o);

#endif
