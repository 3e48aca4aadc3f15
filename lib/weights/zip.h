#ifndef WEIGHTS_ZIP_H
#define WEIGHTS_ZIP_H

/*
 * A zip archive in memory, as torch.save makes them: every member is stored as
 * it is, so that its bytes can be used where they lie.  libarchive, which
 * reads tar for us elsewhere, hands members out as copies, one after the
 * other, and also takes what is compressed; here a member is a pointer.
 * .ZIP File Format Specification 6.3.10, sections 4.3 and 4.5.3 (zip64).
 */

#include <stddef.h>
#include <stdint.h>

#include "base/names.h"

struct zip_member {
	size_t at, bytes;		/* in the archive */
	uint32_t crc;
};

struct zip {
	struct names *names;		/* of the members, by their numbers */
	struct zip_member *member;
	size_t members;
};

/*
 * zip_open(path, data, n, z): list the ${n} bytes at ${data}.  0; -2 after a
 * message: damaged, compressed, encrypted or split; then there is nothing to
 * close.
 */
int zip_open(const char *path, const void *data, size_t n, struct zip *z);
void zip_close(struct zip *z);

/* zip_find(z, name): NULL without a message. */
const struct zip_member *zip_find(const struct zip *z, const char *name);

#endif
