#ifndef TESTS_THIN_H
#define TESTS_THIN_H

/*
 * Read networks of share/models with an eighth of their channels, so that tests
 * on the stand-in for a GPU take seconds.
 */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "graph/graph.h"

enum { THIN = 8, LEAST = 8 };

/*
 * Return the length of the key at ${at} if it is a key for a number of
 * channels, else 0.  The line "input" has such keys too, but its channels stay.
 */
static inline int
says_channels(const char *at)
{
	static const char *const keys[] = { " out=", " mid=", " wide=",
		" few=", " groups=" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strncmp(at, keys[i], strlen(keys[i])) == 0 &&
		    isdigit((unsigned char)at[strlen(keys[i])]))
			return (int)strlen(keys[i]);
	return 0;
}

/*
 * Return the text of a network with all channels divided by THIN, at least
 * LEAST.  The caller frees it.
 */
static inline char *
thin(const char *text)
{
	struct buffer b = { 0 };
	int reads = 0;

	while (*text != '\0') {
		int key = says_channels(text);

		reads = text[0] == '\n' ? strncmp(text + 1, "input", 5) == 0 :
		    reads;
		if (key > 0 && !reads) {
			long n;
			char *end;

			buffer_add(&b, text, (size_t)key);
			n = strtol(text + key, &end, 10) / THIN;
			buffer_printf(&b, "%ld", n < LEAST ? LEAST : n);
			text = end;
		} else {
			buffer_add(&b, text++, 1);
		}
	}
	return b.data;
}

/*
 * Return the thin graph of share/models/${name}.net.  On failure, end the test
 * with "Bail out!".  The caller frees it.
 */
static inline struct graph *
read_thin(const char *name, int classes)
{
	struct buffer text = { 0 };
	struct graph *g = NULL;
	char path[128], *less = NULL;

	snprintf(path, sizeof(path), "share/models/%s.net", name);
	if (file_read_text(path, &text) == 0) {
		less = thin(text.data);
		g = graph_parse(name, less, classes);
	}
	if (g == NULL) {
		printf("Bail out! %s\n", path);
		exit(1);
	}
	buffer_free(&text);
	free(less);
	return g;
}

#endif
