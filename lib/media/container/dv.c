/*
 * DV: frames of DIF blocks, IEC 61834-2 (25 Mb/s), SMPTE 314M (DVCPRO50) and
 * SMPTE 370M (DVCPRO HD).  A block has 80 bytes.  It begins with an identifier:
 * its section, sequence, channel, and number in the section.  A frame has 1, 2
 * or 4 channels of 10 or 12 sequences of 150 blocks.  A sequence has a header
 * block, 2 of subcode, 3 of VAUX, then 9 groups of one audio and 15 video
 * blocks.
 */
#include "media/container/reader.h"

#define BLOCK 80
#define BLOCKS 150		/* blocks per sequence */
#define GROUP 16		/* blocks per group: one of audio, then 15 of
				 * video */

enum { HEADER, SUBCODE, VAUX, SOUND, VIDEO };

/* Offsets in a frame of the bytes that give its layout; TOLD bytes suffice. */
enum { DSF = 3, STYPE = 5 * BLOCK + 48 + 3, TOLD = 6 * BLOCK };

struct dv_format { int sequences, channels; };

/* Return the layout of a frame.  625-line frames have 12 sequences, others 10.
 * The signal type ${stype} gives the channels; an unknown type has one. */
static struct dv_format
dv_layout(int dsf, int stype)
{
	struct dv_format l = { dsf & 0x80 ? 12 : 10, 1 };

	if ((stype & 0x1f) == 0x04 || (stype & 0x1f) == 0x18)
		l.channels = 2;
	else if ((stype & 0x1f) == 0x14)
		l.channels = 4;
	return l;
}

static int
dv_blocks(struct dv_format l)
{
	return l.channels * l.sequences * BLOCKS;
}

/*
 * Return 1 if ${id}, the first three bytes of a block, identifies block ${k} of
 * a frame.  Check the channel only if there are several: bit 3 is its lowest
 * bit.  Bit 2 is the inverse of its highest bit and is used by four channels
 * only.
 */
static int
dv_is_block(struct dv_format l, int k, uint32_t id)
{
	int sequence = k / BLOCKS % l.sequences;
	int channel = k / BLOCKS / l.sequences, group, section, number;

	k %= BLOCKS;
	if (k < 6) {
		section = k == 0 ? HEADER : k < 3 ? SUBCODE : VAUX;
		number = k < 3 ? k - (k > 0) : k - 3;
	} else {
		group = (k - 6) / GROUP;
		k = (k - 6) % GROUP;
		section = k == 0 ? SOUND : VIDEO;
		number = k == 0 ? group : group * (GROUP - 1) + k - 1;
	}
	return (int)(id >> 21) == section && (int)(id >> 12 & 15) == sequence &&
	    (int)(id & 255) == number &&
	    (l.channels < 2 || (int)(id >> 11 & 1) == (channel & 1)) &&
	    (l.channels < 4 || (int)(id >> 10 & 1) == !(channel >> 1));
}

enum container_state
dv_check(struct container_reader *r)
{
	struct dv_format l = dv_layout(reader_byte(r, DSF),
	    reader_byte(r, STYPE));
	int64_t frame = (int64_t)dv_blocks(l) * BLOCK;

	for (int64_t at = 0; at + 3 <= r->size; at += BLOCK) {
		int k = (int)(at % frame / BLOCK);

		if (!dv_is_block(l, k, (uint32_t)reader_big(r, at, 3)))
			return reader_broken(r, at, "not the DIF block %d of "
			    "sequence %d", k % BLOCKS,
			    k / BLOCKS % l.sequences);
	}
	return r->size % frame != 0 ? reader_cut(r, r->size -
	    r->size % frame) : CONTAINER_WHOLE;
}

int
container_is_dv(const uint8_t *data, size_t n)
{
	struct dv_format l;

	if (n < TOLD)
		return 0;
	l = dv_layout(data[DSF], data[STYPE]);
	if (n / BLOCK < (size_t)dv_blocks(l))
		return 0;
	for (int k = 0; k < dv_blocks(l); k++, data += BLOCK)
		if (!dv_is_block(l, k, (uint32_t)data[0] << 16 |
		    (uint32_t)data[1] << 8 | data[2]))
			return 0;
	return 1;
}
