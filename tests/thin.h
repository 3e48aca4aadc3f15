#ifndef TESTS_THIN_H
#define TESTS_THIN_H

/* Networks of share/models with an eighth of their channels. */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "graph/graph.h"

enum { THIN = 8, LEAST = 8 };

/* A number after one of these says channels, but in what is read. */
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

/* The text of a network, with fewer channels. */
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
