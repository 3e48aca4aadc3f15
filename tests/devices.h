#ifndef TESTS_DEVICES_H
#define TESTS_DEVICES_H

/*
 * Skip a back end that has no device on this machine.  Include this file after
 * tap.h.
 */

#include "backend/backend.h"
#include "base/fail.h"

#include "said.h"

/*
 * Return 1 if a device of ${b} can be opened.  Otherwise print a skipped test
 * and return 0.
 */
static int
has_device(const struct backend *b)
{
	char said[256];
	struct device *d;
	int there;

	said_begin(said, sizeof(said));
	d = device_open(b, &(struct device_options){ .threads = 1 });
	said_end();
	there = d != NULL;
	device_close(d);
	if (!there)
		skip(b->name, "no such device here");
	return there;
}

#endif
