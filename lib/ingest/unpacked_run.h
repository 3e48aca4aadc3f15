#ifndef INGEST_UNPACKED_RUN_H
#define INGEST_UNPACKED_RUN_H

/* The representation of videos that are not packed, for unpacked*.c. */

#include <pthread.h>

#include "ingest/extract.h"
#include "ingest/unpacked.h"

struct unpacked {
	struct unpacked_options o;
	char *path;
	struct list list;
	struct class_list classes;
	struct extract_options how;
	struct stream_list streams;	/* that ${how} makes */
	struct spool_budget budget;
	struct unpacked_fact *fact;	/* [list.n] */
	struct unpacked_fact *known;	/* [list.n] facts of an earlier start;
					 * state UNPACKED_UNKNOWN: none */
	int accept;			/* 1: known videos may have changed */
	/* of the dataset */
	uint32_t samples;
	struct sample *sample;		/* [samples] */
	size_t *row;			/* [samples] their rows */
	pthread_mutex_t lock;		/* protects the fields below */
	struct extractor **idle;	/* [idles] for threads that read
					 * frames */
	size_t idles, idle_cap;
};

#endif
