#ifndef SHARD_SHARD_H
#define SHARD_SHARD_H

/*
 * A shard, version 1 (vt-shard(5) is the full description).
 *
 * A shard is a tar of samples and of an index to them.  All integers are
 * little-endian; a block is 512 bytes, and "blk" is an offset in blocks.
 *
 *	members of sample 0 | ... | members of sample n-1 |
 *	header of "__vt__/.index" | index | two zero blocks
 *
 * The members of a sample are its frames, for each frame one of each stream;
 * then KEY.cls, if it has one label; then KEY.json.  Every member has the
 * header that ustar_header makes, and nothing else comes between.
 *
 * The index is five sections, each at a multiple of 8 bytes, zeros between
 * and up to a multiple of 512, then the footer:
 *
 *	samples	64 bytes each, in the order of the file
 *	records	16 bytes each: frame f of stream s of a sample with S streams
 *		is number first + f * S + s; its .cls and .json follow
 *	order	4 bytes each: sample numbers by (hash of the key, number)
 *	strings	the keys, one after the other
 *	meta	{"format":"vtshard","streams":[...],"version":1}
 *	footer	512 bytes, at 1536 before the end of the file: where the
 *		sections are, and hashes of the data and of the index
 */

#include <stdint.h>

#include "base/hash.h"
#include "shard/ustar.h"

#define SHARD_INDEX "__vt__/.index"
#define SHARD_PAD "__vt__/.pad"		/* filler before an aligned sample */
#define SHARD_SAMPLE 64			/* bytes of a sample entry */
#define SHARD_RECORD 16
#define SHARD_FOOTER 512
#define SHARD_END (2 * USTAR_BLOCK)	/* the zero blocks */
#define SHARD_SMALLEST 2048

enum { SECTION_SAMPLES, SECTION_RECORDS, SECTION_ORDER, SECTION_STRINGS,
	SECTION_META, SECTIONS };

/* A sample in the index: part of struct sample, and where its members are. */
struct shard_entry {
	uint64_t key_hash;		/* XXH3-64 of the key */
	uint32_t key_at;		/* in the strings */
	uint16_t key_length;
	uint16_t flags;			/* shard/sample.h */
	uint32_t blk, blocks;		/* first header; headers and data */
	uint32_t first;			/* record */
	uint32_t frames;		/* of each stream */
	uint8_t streams, aux;		/* aux: .cls, if any, and .json */
	int32_t label;			/* -1: none, or several */
	uint16_t width, height;		/* of stream 0 */
	uint32_t fps_num, fps_den;	/* 0, 0: unknown */
	uint64_t source;		/* XXH3-64 of the video file */
};

struct shard_record {
	uint32_t blk, length;		/* of the data */
	uint32_t crc;			/* CRC32C of the data */
	uint32_t time;			/* 0.1 ms from the first frame */
};

struct shard_section { uint64_t at, length; };	/* at: in the index */

struct shard_footer {
	uint16_t major, minor;
	uint64_t index_at, index_length;	/* in the file; with footer */
	uint32_t samples, records;
	uint64_t frames;			/* of one stream, all samples */
	struct shard_section section[SECTIONS];
	uint64_t data_length;			/* all before the index's header */
	struct hash128 data_hash, index_hash;	/* without the footer */
	struct hash128 settings;		/* how its set was made */
	uint32_t number;			/* of the shard in the set */
	uint64_t first;				/* number of its first sample */
};

void shard_entry_put(unsigned char to[SHARD_SAMPLE],
    const struct shard_entry *s);
void shard_entry_get(const unsigned char from[SHARD_SAMPLE],
    struct shard_entry *s);

void shard_record_put(unsigned char to[SHARD_RECORD],
    const struct shard_record *r);
void shard_record_get(const unsigned char from[SHARD_RECORD],
    struct shard_record *r);

void shard_footer_put(unsigned char to[SHARD_FOOTER],
    const struct shard_footer *f);

/*
 * shard_footer_get(from, f): NULL, or what is wrong with the bytes: not a
 * footer, a wrong checksum, a version this program cannot read.
 */
const char *shard_footer_get(const unsigned char from[SHARD_FOOTER],
    struct shard_footer *f);

/* shard_record_count(s): frames of all streams, and aux members. */
static inline uint64_t
shard_record_count(const struct shard_entry *s)
{
	return (uint64_t)s->frames * s->streams + s->aux;
}

#endif
