#ifndef EVAL_PART_H
#define EVAL_PART_H

/*
 * The part of a video that a sample shows, in rows of scores and predictions.
 */

#include "base/json.h"
#include "base/mem.h"

/*
 * part_read(key, path, begin, end):
 * Set ${*begin} and ${*end} to the part, in seconds, that the key of a sample
 * of the video ${path} ends with (vt-lists(5)); ${*end} to 0 if it
 * lasts to the end of the video.  Return 1; or 0 if the key names no part, or
 * one in frames, or was truncated.  ${key} and ${path} may be NULL.
 */
int part_read(const char *key, const char *path, double *begin, double *end);

/* part_cells(key, path, to): Append "\tBEGIN\tEND", empty where unknown. */
void part_cells(const char *key, const char *path, struct buffer *to);

/* part_members(key, path, w): Write "begin" and "end" where known. */
void part_members(const char *key, const char *path, struct json_writer *w);

#endif
