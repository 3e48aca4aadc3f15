#ifndef WEIGHTS_KNOWN_H
#define WEIGHTS_KNOWN_H

/*
 * Published weight files, the rows of share/weights/known.tsv (vt-weights(5)).
 * "known:NAME" names one of them in place of a file.  It is read from the
 * folder vt of the user's cache.  vt opens no network.
 */

#include "base/table.h"

/* A row.  Texts belong to ${table}, and are "" if the cell is empty; numbers
 * are then 0. */
struct known {
	const char *name, *network, *address;
	const char *sha256;		/* 64 digits, or the first of them */
	const char *classes_file;	/* list in share/classes, in the order
					 * of the outputs */
	const char *loss;		/* "sigmoid", or "": softmax */
	const char *views;		/* test protocol, of VIEWS_NAMES */
	int64_t bytes, classes;
	int64_t frames, stride, crop, side;	/* the clip; side: short side */
	int64_t clips, crops;
	struct table *table;
};

/* known_is(path): Return 1 if ${path} begins with "known:", 0 otherwise. */
int known_is(const char *path);

/*
 * known_find(path, k): Find the row of "known:NAME".
 * known_of_network(network, classes, k):
 * Find the first row of ${network} that states its clip; a row with ${classes}
 * classes goes first.
 * Return 0, or EXIT_USAGE after a message.  known_close(k) frees the row; after
 * a failure it is empty.
 */
int known_find(const char *path, struct known *k);
int known_of_network(const char *network, int classes, struct known *k);
void known_close(struct known *k);

/*
 * known_path(path):
 * Return the path of the file that "known:NAME" means, whether or not it
 * exists, or a copy of another ${path}.  The caller frees it.
 */
char *known_path(const char *path);

/*
 * known_read(path, b):
 * Append the file of "known:NAME" to ${b}, after a check of its length and
 * digest.  If only the first digits of the digest are published and they
 * differ, print a warning and go on: some published ones are wrong.
 * Return 0, or after a message: -1 if the file cannot be read, -2 if it is
 * another file, -3 if the name is unknown or the file absent.  The message then
 * has the commands that fetch it.
 */
int known_read(const char *path, struct buffer *b);

/*
 * known_list(b):
 * Append the table of vt-eval --known to ${b}: name, network, classes, top-1
 * and address of each row.  Return 0, or EXIT_USAGE after a message.
 */
int known_list(struct buffer *b);

#endif
