/*
 * Errors that device.c must detect: "read" or "write" device memory, "give" it a
 * host address for a device address, "take" a device address for a host
 * address, or use "freed" memory.  "none" makes no error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"

int
main(int argc, char **argv)
{
	struct device *d = device_open(backend_find("ref"),
	    &(struct device_options){ .threads = 1 });
	volatile float *w = device_alloc(d, 8 * sizeof(*w));
	float host[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	const char *what = argc > 1 ? argv[1] : "";
	float sum = 0;

	device_upload(d, (void *)w, host, sizeof(host));
	device_add(d, (void *)w, (void *)w, 8);
	if (strcmp(what, "read") == 0)
		sum += w[1];
	else if (strcmp(what, "write") == 0)
		w[1] = 0;
	else if (strcmp(what, "give") == 0)
		device_add(d, (void *)w, host, 8);
	else if (strcmp(what, "take") == 0)
		device_download(d, (void *)w, (void *)w, sizeof(host));
	else if (strcmp(what, "freed") == 0)
		device_free(d, (void *)w);
	device_download(d, host, (void *)w, sizeof(host));
	for (int i = 0; i < 8; i++)
		sum += host[i];
	device_free(d, (void *)w);
	device_close(d);
	return sum != 72;
}
