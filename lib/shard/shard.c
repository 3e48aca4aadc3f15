/* Conversion of a shard's index structures to bytes and back.  vt-shard(5)
 * lists the same offsets. */
#include <string.h>

#include "base/bytes.h"
#include "shard/shard.h"

#define MAGIC "VTSHARD1"
#define END_MAGIC "VEND"

void
shard_entry_put(unsigned char to[SHARD_SAMPLE], const struct shard_entry *s)
{
	memset(to, 0, SHARD_SAMPLE);
	put64(to, s->key_hash);
	put32(to + 8, s->key_at);
	put16(to + 12, s->key_length);
	put16(to + 14, s->flags);
	put32(to + 16, s->blk);
	put32(to + 20, s->blocks);
	put32(to + 24, s->first);
	put32(to + 28, s->frames);
	to[32] = s->streams;
	to[33] = s->aux;
	put32(to + 36, (uint32_t)s->label);
	put16(to + 40, s->width);
	put16(to + 42, s->height);
	put32(to + 44, s->fps_num);
	put32(to + 48, s->fps_den);
	put64(to + 56, s->source);
}

void
shard_entry_get(const unsigned char from[SHARD_SAMPLE], struct shard_entry *s)
{
	*s = (struct shard_entry){
		.key_hash = get64(from),
		.key_at = get32(from + 8),
		.key_length = get16(from + 12),
		.flags = get16(from + 14),
		.blk = get32(from + 16),
		.blocks = get32(from + 20),
		.first = get32(from + 24),
		.frames = get32(from + 28),
		.streams = from[32],
		.aux = from[33],
		.label = (int32_t)get32(from + 36),
		.width = get16(from + 40),
		.height = get16(from + 42),
		.fps_num = get32(from + 44),
		.fps_den = get32(from + 48),
		.source = get64(from + 56),
	};
}

void
shard_record_put(unsigned char to[SHARD_RECORD], const struct shard_record *r)
{
	put32(to, r->blk);
	put32(to + 4, r->length);
	put32(to + 8, r->crc);
	put32(to + 12, r->time);
}

void
shard_record_get(const unsigned char from[SHARD_RECORD], struct shard_record *r)
{
	*r = (struct shard_record){ get32(from), get32(from + 4),
		get32(from + 8), get32(from + 12) };
}

/* Bytes that no field uses stay zero, so that later minor versions can use
 * them. */
void
shard_footer_put(unsigned char to[SHARD_FOOTER], const struct shard_footer *f)
{
	memset(to, 0, SHARD_FOOTER);
	memcpy(to, MAGIC, 8);
	put16(to + 8, f->major);
	put16(to + 10, f->minor);
	put32(to + 12, SHARD_FOOTER);
	put64(to + 16, f->index_at);
	put64(to + 24, f->index_length);
	put32(to + 32, f->samples);
	put32(to + 36, f->records);
	put64(to + 40, f->frames);
	for (int i = 0; i < SECTIONS; i++) {
		put64(to + 48 + 16 * i, f->section[i].at);
		put64(to + 56 + 16 * i, f->section[i].length);
	}
	put64(to + 128, f->data_length);
	memcpy(to + 136, f->data_hash.byte, 16);
	memcpy(to + 152, f->index_hash.byte, 16);
	memcpy(to + 168, f->settings.byte, 16);
	put32(to + 184, f->number);
	put64(to + 192, f->first);
	memcpy(to + 504, END_MAGIC, 4);
	put32(to + 508, crc32c(0, to, 508));
}

const char *
shard_footer_get(const unsigned char from[SHARD_FOOTER], struct shard_footer *f)
{
	if (memcmp(from, MAGIC, 8) != 0 || memcmp(from + 504, END_MAGIC,
	    4) != 0)
		return "no shard footer here: truncated, or not a shard";
	if (crc32c(0, from, 508) != get32(from + 508))
		return "the checksum of the footer is wrong";
	if (get16(from + 8) != 1 || get32(from + 12) != SHARD_FOOTER)
		return "a later version of the format (wanted major version 1)";
	*f = (struct shard_footer){
		.major = get16(from + 8),
		.minor = get16(from + 10),
		.index_at = get64(from + 16),
		.index_length = get64(from + 24),
		.samples = get32(from + 32),
		.records = get32(from + 36),
		.frames = get64(from + 40),
		.data_length = get64(from + 128),
		.number = get32(from + 184),
		.first = get64(from + 192),
	};
	for (int i = 0; i < SECTIONS; i++) {
		f->section[i].at = get64(from + 48 + 16 * i);
		f->section[i].length = get64(from + 56 + 16 * i);
	}
	memcpy(f->data_hash.byte, from + 136, 16);
	memcpy(f->index_hash.byte, from + 152, 16);
	memcpy(f->settings.byte, from + 168, 16);
	return NULL;
}
