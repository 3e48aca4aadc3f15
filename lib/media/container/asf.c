/*
 * ASF specification.  A header declares the size of the file (3.2) and the
 * number of its packets (5), which have one size (5.2).  Packets carry
 * fragments of the objects of a stream, which are video frames (5.2.3).  Object
 * numbers skip where an encoder dropped a frame, so skips are not damage.
 */
#include <string.h>

#include "media/container/reader.h"

#define STREAMS 128
#define DATA_HEAD 50	/* size of the data object's header, in bytes */

/* The newest object of a stream: its number, size and bytes found so far. */
struct asf_object { int seen; uint32_t number; uint64_t size, got; };

/* A packet that is being parsed. */
struct asf_packet {
	int64_t at, end;	/* the next field; the end of the payloads */
	int several;		/* 1 if it has several payloads */
	int property;		/* sizes of payload fields, 2 bits each */
};

static const uint8_t guid_properties[16] = { 0xa1, 0xdc, 0xab, 0x8c, 0x47,
	0xa9, 0xcf, 0x11, 0x8e, 0xe4, 0x00, 0xc0, 0x0c, 0x20, 0x53, 0x65 };
static const uint8_t guid_data[16] = { 0x36, 0x26, 0xb2, 0x75, 0x8e, 0x66,
	0xcf, 0x11, 0xa6, 0xd9, 0x00, 0xaa, 0x00, 0x62, 0xce, 0x6c };
static const uint8_t guid_index[16] = { 0x90, 0x08, 0x00, 0x33, 0xb1, 0xe5,
	0xcf, 0x11, 0x89, 0xf4, 0x00, 0xa0, 0xc9, 0x03, 0x49, 0xcb };

static int
asf_is_guid(struct container_reader *r, int64_t at, const uint8_t guid[16])
{
	for (int i = 0; i < 16; i++)
		if (reader_byte(r, at + i) != guid[i])
			return 0;
	return 1;
}

/*
 * Return the next field of ${p}, of 0, 1, 2 or 4 bytes by the low bits of
 * ${code}.
 */
static uint64_t
asf_field(struct container_reader *r, struct asf_packet *p, int code)
{
	static const int bytes[4] = { 0, 1, 2, 4 };
	int n = bytes[code & 3];
	uint64_t v = reader_little(r, p->at, n);

	p->at += n;
	return v;
}

/*
 * Check that the payload at p->at continues the newest object of its stream, or
 * begins the next one.
 */
static enum container_state
asf_check_payload(struct container_reader *r, struct asf_packet *p,
    int length_code, struct asf_object *all)
{
	int64_t start = p->at;
	int stream = reader_byte(r, p->at++);
	struct asf_object *o = &all[stream & 127];
	uint32_t number = (uint32_t)asf_field(r, p, p->property >> 4);
	uint64_t offset = asf_field(r, p, p->property >> 2);
	uint64_t extra = asf_field(r, p, p->property), n;
	uint64_t size = extra >= 8 ? reader_little(r, p->at, 4) : 0;

	p->at += (int64_t)extra;
	n = p->several ? asf_field(r, p, length_code) :
	    (uint64_t)(p->end - p->at > 0 ? p->end - p->at : 0);
	if (p->at > p->end || n > (uint64_t)(p->end - p->at))
		return reader_broken(r, start, "a payload extends beyond "
		    "its packet");
	p->at += (int64_t)n;
	if ((stream & 127) != r->id || extra < 8)
		return CONTAINER_WHOLE;
	if (offset == 0) {
		if (o->seen && o->got != o->size)
			return reader_broken(r, start, "%llu of %llu bytes of "
			    "a frame", (unsigned long long)o->got,
			    (unsigned long long)o->size);
		*o = (struct asf_object){ 1, number, size, 0 };
	} else if (!o->seen || o->number != number || o->got != offset) {
		return reader_broken(r, start, "part of a frame is missing");
	}
	o->got += n;
	return CONTAINER_WHOLE;
}

static enum container_state
asf_check_packet(struct container_reader *r, int64_t at, int64_t size,
    struct asf_object *all)
{
	struct asf_packet p = { .at = at };
	int correction = reader_byte(r, at), flags, count = 1, lengths = 0;
	enum container_state state = CONTAINER_WHOLE;
	uint64_t length, padding;

	if (correction & 0x80)
		p.at += 1 + (correction & 15);
	flags = reader_byte(r, p.at++);
	p.property = reader_byte(r, p.at++);
	if (p.property < 0 || p.property >> 6 != 1)
		return reader_broken(r, at, "no packet begins here");
	length = asf_field(r, &p, flags >> 5);
	(void)asf_field(r, &p, flags >> 1);			/* sequence */
	padding = asf_field(r, &p, flags >> 3);
	if (length == 0 || length > (uint64_t)size)
		length = (uint64_t)size;
	if (padding > length)
		return reader_broken(r, at, "more padding than the packet has");
	p.end = at + (int64_t)(length - padding);
	p.at += 6;					/* time, duration */
	p.several = flags & 1;
	if (p.several) {
		lengths = reader_byte(r, p.at++);
		count = lengths & 63;
		lengths >>= 6;
	}
	while (count-- > 0 && state == CONTAINER_WHOLE)
		state = asf_check_payload(r, &p, lengths, all);
	return state;
}

/*
 * Check the packets of the data object at ${at}.  A writer to a pipe states
 * neither their number nor the object's size.  Its packets extend to the index
 * or the end of the file.
 */
static enum container_state
asf_check_data(struct container_reader *r, int64_t at, int64_t size,
    uint64_t stated)
{
	struct asf_object all[STREAMS] = { { 0 } };
	uint64_t length = reader_little(r, at + 16, 8);
	int64_t end = length < (uint64_t)(r->size - at) ? at + (int64_t)length :
	    r->size;
	enum container_state state;

	if (stated == 0 && length <= DATA_HEAD)
		end = r->size;
	at += DATA_HEAD;
	for (uint64_t i = 0; stated == 0 ? at < end &&
	    !asf_is_guid(r, at, guid_index) : i < stated; i++, at += size) {
		if (size > r->size - at)
			return reader_cut(r, at);
		state = asf_check_packet(r, at, size, all);
		if (state != CONTAINER_WHOLE)
			return state;
	}
	if (all[r->id & 127].got < all[r->id & 127].size)
		return reader_cut(r, at);
	r->report->complete = stated > 0;
	return CONTAINER_WHOLE;
}

enum container_state
asf_check(struct container_reader *r)
{
	int64_t at = 30, header = (int64_t)reader_little(r, 16, 8), packet = 0;
	uint64_t size, packets = 0, file = 0;

	if (header < 30 || header > r->size)
		return reader_cut(r, 0);
	for (; at < header; at += (int64_t)size) {
		size = reader_little(r, at + 16, 8);
		if (size < 24 || size > (uint64_t)(header - at))
			return reader_broken(r, at, "no object begins here");
		if (!asf_is_guid(r, at, guid_properties))
			continue;
		packet = (int64_t)reader_little(r, at + 92, 4);
		if (!(reader_little(r, at + 88, 4) & 1)) {	/* broadcast */
			file = reader_little(r, at + 40, 8);
			packets = reader_little(r, at + 56, 8);
		}
		if (reader_little(r, at + 96, 4) != (uint64_t)packet)
			packet = 0;			/* of several sizes: not
							 * checked */
	}
	if (file > (uint64_t)r->size)
		return reader_cut(r, r->size);
	if (packet == 0 || !asf_is_guid(r, header, guid_data))
		return CONTAINER_WHOLE;
	return asf_check_data(r, header, packet, packets);
}
