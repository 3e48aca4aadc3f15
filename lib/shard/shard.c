/* The footer of a shard: its magic, version and checksum. */
#include <stddef.h>
#include <string.h>

#include "shard/shard.h"

#define MAGIC "VTSHARD1"
#define END_MAGIC "VEND"

void
shard_footer_put(unsigned char to[SHARD_FOOTER], const struct shard_footer *f)
{
	struct shard_footer whole = *f;

	memcpy(whole.magic, MAGIC, sizeof(whole.magic));
	memcpy(whole.end_magic, END_MAGIC, sizeof(whole.end_magic));
	whole.length = SHARD_FOOTER;
	whole.crc = crc32c(0, &whole, offsetof(struct shard_footer, crc));
	memcpy(to, &whole, SHARD_FOOTER);
}

const char *
shard_footer_get(const unsigned char from[SHARD_FOOTER], struct shard_footer *f)
{
	memcpy(f, from, SHARD_FOOTER);
	if (memcmp(f->magic, MAGIC, sizeof(f->magic)) != 0 ||
	    memcmp(f->end_magic, END_MAGIC, sizeof(f->end_magic)) != 0)
		return "no shard footer here: truncated, or not a shard";
	if (f->crc != crc32c(0, f, offsetof(struct shard_footer, crc)))
		return "the checksum of the footer is wrong";
	if (f->major != 1 || f->length != SHARD_FOOTER)
		return "a later version of the format (wanted major version 1)";
	return NULL;
}
