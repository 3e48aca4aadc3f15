#ifndef WEIGHTS_ZIP_H
#define WEIGHTS_ZIP_H

/*
 * A zip archive in memory, as torch.save writes it: every member is stored
 * uncompressed, so its bytes can be used in place.  libarchive, which reads tar
 * for us elsewhere, copies members out one after the other and accepts
 * compressed ones; here a member is a pointer.
 * Source: .ZIP File Format Specification 6.3.10, sections 4.3 and 4.5.3
 * (zip64).
 */

#include <stddef.h>
#include <stdint.h>

#include "base/names.h"

struct zip_member {
	size_t at, bytes;		/* offset in the archive, and size */
	uint32_t crc;
};

struct zip {
	struct names *names;		/* names; index: position in
					 * ${member} */
	struct zip_member *member;
	size_t members;
};

/*
 * zip_open(path, data, n, z):
 * List the members of the archive, the ${n} bytes at ${data}.  Messages call it
 * ${path}.  Return 0; after a message, -2 if it is damaged or split, -3 if it
 * is compressed or encrypted.  ${z} is then closed.  The caller frees ${z} with
 * zip_close and keeps ${data}.
 */
int zip_open(const char *path, const void *data, size_t n, struct zip *z);

/* zip_close(z): Free the list of members and leave ${z} empty. */
void zip_close(struct zip *z);

/*
 * zip_find(z, name):
 * Return the member called ${name}, or NULL without a message.
 */
const struct zip_member *zip_find(const struct zip *z, const char *name);

#endif
