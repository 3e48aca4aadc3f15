#ifndef SHARD_SHARD_H
#define SHARD_SHARD_H

/*
 * The binary format of a shard, version 1.  vt-shard(5) describes it in full.
 *
 * A shard is a tar of samples and of an index to them.  All integers are
 * little-endian.  A block is 512 bytes, and "blk" is an offset in blocks.
 *
 *	members of sample 0 | ... | members of sample n-1 |
 *	header of "__vt__/.index" | index | two zero blocks
 *
 * The members of a sample are its frames: for each frame, one member of each
 * stream. KEY.cls follows if the sample has one label, and then
 * KEY.json. ustar_header makes the header of every member, and nothing
 * else lies between members.
 *
 * The index has five sections and a footer.  Each section begins at a multiple
 * of 8 bytes.  Zeros fill the gaps, up to a multiple of 512 bytes before the
 * footer:
 *
 *	samples	64 bytes each, in the order of the file
 *	records	16 bytes each: frame f of stream s of a sample with S streams
 *		is number first + f * S + s; its .cls and .json follow
 *	order	4 bytes each: sample numbers by (hash of the key, number)
 *	strings	the keys, one after the other
 *	meta	{"format":"vtshard","streams":[...],"version":1}
 *	footer	512 bytes, at 1536 before the end of the file: offsets of the
 *		sections, and hashes of the data and of the index
 */

#include <stdint.h>

#include "base/hash.h"
#include "shard/ustar.h"

#define SHARD_INDEX "__vt__/.index"
#define SHARD_PAD "__vt__/.pad"		/* filler before an aligned sample */
#define SHARD_SAMPLE 64			/* bytes of a sample entry */
#define SHARD_RECORD 16
#define SHARD_FOOTER 512
#define SHARD_END (2 * USTAR_BLOCK)	/* the two zero blocks */
#define SHARD_SMALLEST 2048

enum { SECTION_SAMPLES, SECTION_RECORDS, SECTION_ORDER, SECTION_STRINGS,
	SECTION_META, SECTIONS };

/*
 * The structures below are the bytes of the file, on a little-endian machine.
 * Bytes that no field uses are 0, so that later minor versions can use them.
 */

/* An entry of the samples section: the part of struct sample that training
 * needs, and the location of its members. */
struct shard_entry {
	uint64_t key_hash;		/* XXH3-64 of the key */
	uint32_t key_at;		/* offset in the strings section */
	uint16_t key_length;
	uint16_t flags;			/* SHARD_TRUNCATED ... */
	uint32_t blk, blocks;		/* first header; headers and data */
	uint32_t first;			/* number of its first record */
	uint32_t frames;		/* of each stream */
	uint8_t streams, aux;		/* aux: 1 for .json, 2 with .cls */
	uint16_t unused;
	int32_t label;			/* -1: none, or a set of labels */
	uint16_t width, height;		/* of stream 0, in pixels */
	uint32_t fps_num, fps_den;	/* 0/0: unknown */
	uint32_t unused_too;
	uint64_t source;		/* XXH3-64 of the video file */
};

/* An entry of the records section: one member. */
struct shard_record {
	uint32_t blk, length;		/* of the data, without header */
	uint32_t crc;			/* CRC32C of the data */
	uint32_t time;			/* 0.1 ms since the first frame */
};

struct shard_section { uint64_t at, length; };	/* at: offset in the index */

/* The footer of the index. */
struct shard_footer {
	char magic[8];
	uint16_t major, minor;
	uint32_t length;			/* SHARD_FOOTER */
	uint64_t index_at, index_length;	/* in the file; with footer */
	uint32_t samples, records;
	uint64_t frames;			/* of one stream, all samples */
	struct shard_section section[SECTIONS];
	uint64_t data_length;			/* up to the index's header */
	struct hash128 data_hash, index_hash;	/* index: without the footer */
	struct hash128 settings;		/* manifest_settings_id */
	uint32_t number, unused;		/* of the shard in the set */
	uint64_t first;				/* number of its first sample */
	unsigned char unused_too[304];
	char end_magic[4];
	uint32_t crc;				/* CRC32C of all before it */
};

_Static_assert(sizeof(struct shard_entry) == SHARD_SAMPLE &&
    sizeof(struct shard_record) == SHARD_RECORD &&
    sizeof(struct shard_footer) == SHARD_FOOTER &&
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the layout of the file");

/* shard_footer_put(to, f): Write the bytes of the footer, with magic, length
 * and checksum. */
void shard_footer_put(unsigned char to[SHARD_FOOTER],
    const struct shard_footer *f);

/*
 * shard_footer_get(from, f):
 * Set ${*f} from the bytes of a footer.  Return NULL, or a static text that
 * describes the error: not a footer, a wrong checksum, or a version that this
 * program cannot read.
 */
const char *shard_footer_get(const unsigned char from[SHARD_FOOTER],
    struct shard_footer *f);

/*
 * shard_record_count(s):
 * Return the number of members: frames of all streams, .cls and .json.
 */
static inline uint64_t
shard_record_count(const struct shard_entry *s)
{
	return (uint64_t)s->frames * s->streams + s->aux;
}

#endif
