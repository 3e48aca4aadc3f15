/*
 * ISO/IEC 14496-12, 4.2: boxes of a size and a type.  Fragmented files (8.8)
 * are checked completely.  In others only the times of the index are checked:
 * the demuxer follows the rest of the index, and sizes are often wrong.
 */
#include <math.h>
#include <string.h>

#include "media/container/reader.h"

#define TYPE(a, b, c, d) ((uint32_t)(a) << 24 | (b) << 16 | (c) << 8 | (d))

static const uint32_t MOOF = TYPE('m', 'o', 'o', 'f'),
    MDAT = TYPE('m', 'd', 'a', 't'), MFHD = TYPE('m', 'f', 'h', 'd'),
    TRAF = TYPE('t', 'r', 'a', 'f'), TFHD = TYPE('t', 'f', 'h', 'd'),
    TFDT = TYPE('t', 'f', 'd', 't'), TRUN = TYPE('t', 'r', 'u', 'n'),
    SIDX = TYPE('s', 'i', 'd', 'x'), TREX = TYPE('t', 'r', 'e', 'x'),
    MOOV = TYPE('m', 'o', 'o', 'v'), MVEX = TYPE('m', 'v', 'e', 'x'),
    MFRA = TYPE('m', 'f', 'r', 'a'), TFRA = TYPE('t', 'f', 'r', 'a'),
    TRAK = TYPE('t', 'r', 'a', 'k'), TKHD = TYPE('t', 'k', 'h', 'd'),
    MDIA = TYPE('m', 'd', 'i', 'a'), MDHD = TYPE('m', 'd', 'h', 'd'),
    MINF = TYPE('m', 'i', 'n', 'f'), STBL = TYPE('s', 't', 'b', 'l'),
    STTS = TYPE('s', 't', 't', 's'), CTTS = TYPE('c', 't', 't', 's'),
    STSZ = TYPE('s', 't', 's', 'z'), STZ2 = TYPE('s', 't', 'z', '2'),
    EDTS = TYPE('e', 'd', 't', 's'), ELST = TYPE('e', 'l', 's', 't'),
    MVHD = TYPE('m', 'v', 'h', 'd'), FTYP = TYPE('f', 't', 'y', 'p');

#define FRAMES 8		/* mean frames by which the index may exceed its
				 * duration */
#define TENTH 10		/* or 1/TENTH of its duration, or a second */
#define EDITS 64		/* maximum entries of an edit list that are
				 * followed */
#define EDGES 2			/* frames at the ends of an edit that readers
				 * may hide */

#define FINE 600		/* ticks per second, each of which is too short
				 * for a frame */

#define MAX (1 << 24)		/* maximum samples in a run; a larger number is
				 * invalid */

struct mov_box { uint32_t type; int64_t at, data, end; };

/* State of the check, as far as the file was followed. */
struct mov {
	int fragments;			/* found so far; -1: not a fragmented
					 * file */
	int64_t number;			/* sequence number of the newest */
	uint32_t duration, size;	/* defaults of our track */
	/* the newest fragment: */
	int64_t bytes;			/* size of all samples; -1: unknown */
	int64_t jumped;			/* fragments missing before it */
	/* our track: */
	int64_t next;			/* expected time of the next sample; -1:
					 * unknown */
	int64_t mean;			/* mean duration of a sample, in
					 * ticks */
	uint64_t scale;			/* ticks per second */
	int64_t flat;			/* samples of the newest fragment, if
					 * all are flat (mov_is_flat) */
	int64_t indexed;		/* samples that the index of this one of
					 * several concatenated files shows */
};

/* The contents of a track fragment's headers; time is -1 if absent. */
struct mov_track { int ours; int64_t time; uint32_t duration, size; };

/*
 * Return ${a} + ${b}, or INT64_MAX / 2 on overflow: files may declare any
 * number.
 */
static int64_t
mov_sum(int64_t a, int64_t b)
{
	int64_t c;

	return __builtin_add_overflow(a, b, &c) ? INT64_MAX / 2 : c;
}

/*
 * Read the head of the box at ${at}, which must end by ${end}.  Return 0, or -1
 * if no box begins there or it is too large; then only its type and end are
 * valid.
 */
static int
mov_read_box(struct container_reader *r, int64_t at, int64_t end,
    struct mov_box *b)
{
	uint64_t size = reader_big(r, at, 4);
	int head = 8;

	b->at = at;
	b->type = (uint32_t)reader_big(r, at + 4, 4);
	if (size == 1) {
		size = reader_big(r, at + 8, 8);
		head = 16;
	} else if (size == 0 && end == r->size) {
		size = (uint64_t)(end - at);		/* extends to the end of
							 * the file */
	}
	b->data = at + head;
	b->end = size > INT64_MAX ? INT64_MAX : mov_sum(at, (int64_t)size);
	for (int i = 0; i < 32; i += 8)			/* printable, or (c) */
		if ((b->type >> i & 255) < ' ')
			b->type = 0;
	return at + head > end || size < (uint64_t)head || b->type == 0 ||
	    size > (uint64_t)(end - at) ? -1 : 0;
}

/*
 * Return 1 if a sample of ${ticks} was probably not timed by its writer.  One
 * tick may be a frame if there are few ticks in a second.
 */
static int
mov_is_flat(uint64_t ticks, uint64_t scale)
{
	return ticks == 0 || (ticks == 1 && scale >= FINE);
}

/* 8.8.8: add the times and sizes of a run of samples. */
static void
mov_read_run(struct container_reader *r, const struct mov_box *b, struct mov *m,
    struct mov_track *t)
{
	uint64_t flags = reader_big(r, b->data, 4);
	int64_t n = (int64_t)reader_big(r, b->data + 4, 4), time = 0;
	int64_t at = b->data + 8 + (flags & 1 ? 4 : 0) + (flags & 4 ? 4 : 0);
	int fields = 0;

	n = n < MAX ? n : MAX;
	for (uint64_t f = flags & 0xf00; f != 0; f &= f - 1)
		fields++;
	if (fields > 0 && n > (b->end - at) / (4 * fields))
		n = (b->end - at) / (4 * fields);
	for (int64_t i = 0; i < n; i++, at += 4 * fields) {
		time += flags & 0x100 ? (int64_t)reader_big(r, at, 4) :
		    t->duration;
		if (m->bytes >= 0)
			m->bytes += flags & 0x200 ? (int64_t)reader_big(r,
			    at + (flags & 0x100 ? 4 : 0), 4) : t->size;
		if (fields == 0) {			/* all samples are
							 * alike */
			time += (n - 1) * t->duration;
			if (m->bytes >= 0)
				m->bytes += (n - 1) * t->size;
			break;
		}
	}
	if (!(flags & 0x200) && t->size == 0)
		m->bytes = -1;
	if (!t->ours)
		return;
	r->report->samples += n;
	r->report->shown += n;
	m->flat = n > 1 && time <= n && mov_is_flat((uint64_t)(time / n),
	    m->scale) ? m->flat + n : 0;
	if (n > 0 && time > 0)
		m->mean = time / n;
	m->next = m->next >= 0 ? mov_sum(m->next, time) : -1;
}

/*
 * 8.8.6 to 8.8.12.  Report missing fragments only if a sequence number is
 * skipped and the track's time jumps.  Either alone is legal: frames of a
 * variable rate make time jump, and fragments of other tracks take numbers.
 */
static enum container_state
mov_check_track(struct container_reader *r, const struct mov_box *traf,
    struct mov *m)
{
	struct mov_track t = { .time = -1, .duration = m->duration,
		.size = m->size };
	struct mov_box b;

	for (int64_t at = traf->data; at < traf->end; at = b.end) {
		int64_t next;
		uint64_t flags;

		if (mov_read_box(r, at, traf->end, &b) != 0)
			return reader_broken(r, at, "no box begins here");
		flags = reader_big(r, b.data, 4);
		next = b.data + 4;
		if (b.type == TFHD) {
			t.ours = (int)reader_big(r, next, 4) == r->id;
			next += 4 + (flags & 1 ? 8 : 0) + (flags & 2 ? 4 : 0);
			if (flags & 8)
				t.duration = (uint32_t)reader_big(r, next, 4);
			next += flags & 8 ? 4 : 0;
			if (flags & 16)
				t.size = (uint32_t)reader_big(r, next, 4);
		} else if (b.type == TFDT) {
			t.time = (int64_t)reader_big(r, next,
			    flags >> 24 == 1 ? 8 : 4);
			if (t.time < 0)
				return reader_broken(r, b.at, "a time of "
				    "more than 63 bits");
			if (t.ours && m->next >= 0 && m->jumped > 0 &&
			    t.time - m->next > m->mean / 2)
				return reader_broken(r, traf->at, "%lld ticks "
				    "are missing before this fragment",
				    (long long)(t.time - m->next));
			if (t.ours && m->next >= 0 && m->flat > 0 &&
			    t.time - m->next > TENTH * m->flat)
				return reader_broken(r, traf->at, "frames of "
				    "at most 1 tick in a fragment of %lld",
				    (long long)(t.time - m->next));
			if (t.ours)
				m->next = t.time;
			m->flat = t.ours ? 0 : m->flat;
		} else if (b.type == TRUN) {
			mov_read_run(r, &b, m, &t);
		}
	}
	/* Without times, sequence numbers alone decide. */
	if (t.ours && t.time < 0 && m->jumped > 0)
		return reader_broken(r, traf->at, "%lld fragments are missing "
		    "before this one", (long long)m->jumped);
	return CONTAINER_WHOLE;
}

static enum container_state
mov_check_fragment(struct container_reader *r, const struct mov_box *moof,
    struct mov *m)
{
	enum container_state state = CONTAINER_WHOLE;
	struct mov_box b;

	m->bytes = 0;
	m->jumped = 0;
	for (int64_t at = moof->data; at < moof->end; at = b.end) {
		if (mov_read_box(r, at, moof->end, &b) != 0)
			return reader_broken(r, at, "no box begins here");
		if (b.type == MFHD) {
			int64_t number = (int64_t)reader_big(r, b.data + 4, 4);

			if (m->fragments > 0 && number > m->number)
				m->jumped = number - m->number - 1;
			m->number = number;
		} else if (b.type == TRAF) {
			state = mov_check_track(r, &b, m);
		}
		if (state != CONTAINER_WHOLE)
			return state;
	}
	m->fragments++;
	return CONTAINER_WHOLE;
}

/*
 * Read the defaults of our track from trex, which is in mvex, which is in moov.
 * ${within} is the type of the box whose content is [at, end).
 */
static void
mov_read_defaults(struct container_reader *r, int64_t at, int64_t end,
    uint32_t within, struct mov *m)
{
	struct mov_box b;

	for (; at < end && mov_read_box(r, at, end, &b) == 0; at = b.end)
		if (within == MOOV && b.type == MVEX) {
			m->fragments = 0;
			mov_read_defaults(r, b.data, b.end, MVEX, m);
		} else if (within == MVEX && b.type == TREX &&
		    (int)reader_big(r, b.data + 4, 4) == r->id) {
			m->duration = (uint32_t)reader_big(r, b.data + 12, 4);
			m->size = (uint32_t)reader_big(r, b.data + 16, 4);
		}
}

/*
 * A track's times: ticks per second, its duration, the sum of its samples'
 * durations, and the number of samples.  ${shown} is its duration in ticks of
 * the movie.  ${at} is the offset of the box with these durations.
 */
struct mov_times {
	int ours;
	uint64_t scale, duration, sum, samples;
	uint64_t movie, track;		/* ticks per second of the movie, and
					 * the track's duration in them */
	uint64_t flat, one;		/* flat samples, and those of 1 tick,
					 * without the last */
	int64_t at;
	struct mov_box times, offsets, edits;
};

/* 8.3.2, 8.4.2, 8.6 and 8.7.3: read the boxes of ${in}, the track's box if
 * ${depth} is 0 or the box ${depth} levels below it. */
static void
mov_read_times(struct container_reader *r, const struct mov_box *in, int depth,
    struct mov_times *t)
{
	const uint32_t within[] = { MDIA, MINF, STBL, 0 };
	struct mov_box b;

	for (int64_t at = in->data; at < in->end &&
	    mov_read_box(r, at, in->end, &b) == 0; at = b.end) {
		int wide = reader_byte(r, b.data) == 1 ? 8 : 4;

		if (b.type == within[depth]) {
			mov_read_times(r, &b, depth + 1, t);
		} else if (b.type == EDTS && depth == 0) {
			mov_read_box(r, b.data, b.end, &t->edits);
		} else if (b.type == TKHD) {
			t->ours = (int)reader_big(r, b.data + 4 + 2 * wide,
			    4) == r->id;
			t->track = reader_big(r, b.data + 12 + 2 * wide, wide);
		} else if (b.type == MDHD) {
			t->scale = reader_big(r, b.data + 4 + 2 * wide, 4);
			t->duration = reader_big(r, b.data + 8 + 2 * wide,
			    wide);
			if (wide == 4 && t->duration == UINT32_MAX)
				t->duration = 0;		/* unknown */
		} else if (b.type == STSZ || b.type == STZ2) {
			t->samples = reader_big(r, b.data + 8, 4);
		} else if (b.type == CTTS) {
			t->offsets = b;
		} else if (b.type == STTS) {
			t->at = b.at;
			t->times = b;
			for (int64_t i = b.data + 8; i + 8 <= b.end; i += 8) {
				uint64_t n = reader_big(r, i, 4);
				uint64_t ticks = reader_big(r, i + 4, 4);

				if (__builtin_add_overflow(t->sum, n * ticks,
				    &t->sum))
					t->sum = UINT64_MAX;
				n -= n > 0 && i + 16 > b.end;
				t->flat += mov_is_flat(ticks, t->scale) ? n : 0;
				t->one += ticks == 1 ? n : 0;
			}
		}
	}
}

/* A table of runs: numbers of samples and their common value. */
struct mov_runs { int64_t at, end; uint64_t left; int64_t value; };

/* Return the next sample's value, or the last one after the end. */
static int64_t
mov_next_value(struct container_reader *r, struct mov_runs *u)
{
	for (; u->left == 0 && u->at + 8 <= u->end; u->at += 8) {
		u->left = reader_big(r, u->at, 4);
		u->value = (int32_t)reader_big(r, u->at + 4, 4);
	}
	u->left -= u->left > 0;
	return u->value;
}

/*
 * 8.6.6: return the number of samples that the edit list of ${t} certainly
 * shows: all samples if there is no list.
 */
static int64_t
mov_count_shown(struct container_reader *r, const struct mov_times *t)
{
	struct mov_runs times = { t->times.data + 8, t->times.end, 0, 0 },
	    offsets = { t->offsets.data + 8, t->offsets.end, 0, 0 };
	double from[EDITS], until[EDITS];
	int64_t n = (int64_t)reader_big(r, t->edits.data + 4, 4), shown = 0;
	int64_t time = 0, at = t->edits.data + 8;
	int wide = reader_byte(r, t->edits.data) == 1 ? 8 : 4, used = 0;

	if (t->edits.type != ELST || n == 0 || n > EDITS || t->movie == 0)
		return (int64_t)t->samples;
	for (; n > 0 && at + 2 * wide <= t->edits.end; n--,
	    at += 2 * wide + 4) {
		double length = (double)reader_big(r, at, wide) *
		    (double)t->scale / (double)t->movie;
		int64_t begin = (int64_t)reader_big(r, at + wide, wide);

		if (wide == 4)
			begin = (int32_t)begin;
		if (begin < 0)			/* nothing is shown */
			continue;
		from[used] = (double)begin;
		until[used++] = length > 0 ? (double)begin + length : 1e30;
	}
	for (uint64_t i = 0; i < t->samples; i++) {
		double shows = (double)(time + mov_next_value(r, &offsets));

		for (int k = 0; k < used; k++)
			shown += shows >= from[k] && shows < until[k];
		time += mov_next_value(r, &times);
	}
	if (shown >= (int64_t)t->samples)
		return (int64_t)t->samples;
	return shown < EDGES * used ? 0 : shown - EDGES * used;
}

/*
 * Report an index whose samples of our track, in the box moov, last longer than
 * the track.  Such an index was changed, and an edit list may hide frames.  In
 * 508 files by many writers, no sum exceeds the duration by more than a frame.
 * Many sums are smaller, since the last sample may be displayed for any time.
 * Report those that are smaller because samples of at most a tick, which their
 * writer did not time, lack half of their share.
 * Some writers give the duration in ticks of the movie.  If the sum is the
 * duration in the header of the track, or else of the movie, the index is
 * right.
 */
static enum container_state
mov_compare_times(struct container_reader *r, const struct mov_times *t)
{
	uint64_t track = t->duration, more, mean, flat = t->flat;

	if (t->scale == 0 || t->samples == 0)
		return CONTAINER_WHOLE;
	if (t->scale >= FINE && t->movie > 0 && t->track < UINT32_MAX &&
	    t->track * t->scale / t->movie > track)
		track = t->track * t->scale / t->movie;
	mean = track / t->samples;
	if (t->one > flat && track / TENTH > t->sum)
		flat = t->one;
	more = t->sum > t->duration ? t->sum - t->duration : 0;
	if (t->movie > 0 && fabs((double)t->track / (double)t->movie -
	    (double)t->sum / (double)t->scale) <= 1)
		more = 0;
	if ((t->duration > 0 && more > t->scale && more > t->duration / TENTH &&
	    more > FRAMES * (t->duration / t->samples)) ||
	    (flat > 1 && flat > t->samples / TENTH && track > t->sum &&
	    track - t->sum > flat * mean / 2))
		return reader_broken(r, t->at, "frames of %.2f s in a track of "
		    "%.2f s", (double)t->sum / (double)t->scale,
		    (double)(more > 0 ? t->duration : track) /
		    (double)t->scale);
	return CONTAINER_WHOLE;
}

/* Check the index of our track in ${moov}, and count the samples that it
 * shows. */
static enum container_state
mov_check_times(struct container_reader *r, const struct mov_box *moov,
    struct mov *m)
{
	enum container_state state = CONTAINER_WHOLE;
	uint64_t scale = 0, duration = 0;
	struct mov_box b;

	for (int64_t at = moov->data; at < moov->end &&
	    mov_read_box(r, at, moov->end, &b) == 0; at = b.end) {
		struct mov_times t = { .movie = scale };
		int64_t shown;

		if (b.type == MVHD) {
			int wide = reader_byte(r, b.data) == 1 ? 8 : 4;

			scale = reader_big(r, b.data + 4 + 2 * wide, 4);
			duration = reader_big(r, b.data + 8 + 2 * wide, wide);
		}
		if (b.type != TRAK)
			continue;
		mov_read_times(r, &b, 0, &t);
		if (!t.ours)
			continue;
		if (t.scale == 0 && t.samples == 0)
			return reader_broken(r, b.at, "a track without its "
			    "media");
		if (t.track == 0)
			t.track = duration;
		m->scale = t.scale;
		if (t.samples > MAX)
			t.samples = MAX;
		if (m->fragments < 0)
			state = mov_compare_times(r, &t);
		/* Readers follow one of several indexes of a file. */
		shown = mov_count_shown(r, &t);
		if (shown > m->indexed) {
			r->report->shown += shown - m->indexed;
			m->indexed = shown;
		}
		r->report->samples += (int64_t)t.samples;
		if (state != CONTAINER_WHOLE)
			return state;
	}
	return state;
}

/* 8.16.3: return 1 if the file ends before the segments that ${sidx} lists. */
static int
mov_ends_before(struct container_reader *r, const struct mov_box *sidx)
{
	int wide = reader_byte(r, sidx->data) == 0 ? 4 : 8;
	int64_t at = sidx->data + 12 + wide, end;
	int n;

	end = mov_sum(sidx->end, (int64_t)reader_big(r, at, wide));
	at += wide + 2;
	n = (int)reader_big(r, at, 2);
	for (at += 2; n-- > 0 && at + 12 <= sidx->end; at += 12)
		end = mov_sum(end, (int64_t)(reader_big(r, at, 4) &
		    0x7fffffff));
	return end > r->size;
}

/* 8.8.9: check that fragments begin where the index at the end lists them. */
static enum container_state
mov_check_index(struct container_reader *r, const struct mov_box *mfra)
{
	struct mov_box b;

	for (int64_t at = mfra->data; at < mfra->end; at = b.end) {
		int wide, bytes;
		int64_t n;

		if (mov_read_box(r, at, mfra->end, &b) != 0)
			return reader_broken(r, at, "no box begins here");
		if (b.type != TFRA)
			continue;
		wide = reader_byte(r, b.data) == 1 ? 8 : 4;
		n = reader_byte(r, b.data + 11);
		bytes = 2 * wide + (int)(n >> 4 & 3) + (int)(n >> 2 & 3) +
		    (int)(n & 3) + 3;
		n = (int64_t)reader_big(r, b.data + 12, 4);
		for (at = b.data + 16; n-- > 0 && at + bytes <= b.end;
		    at += bytes) {
			int64_t moof = (int64_t)reader_big(r, at + wide, wide);

			if (moof < 0 || moof >= r->size ||
			    reader_big(r, moof + 4, 4) != MOOF)
				return reader_broken(r, at, "no fragment "
				    "begins at byte %lld", (long long)moof);
		}
	}
	return CONTAINER_WHOLE;
}

enum container_state
mov_check(struct container_reader *r)
{
	struct mov m = { .next = -1, .fragments = -1 };
	enum container_state state = CONTAINER_WHOLE;
	struct mov_box b;

	for (int64_t at = 0; at < r->size; at = b.end) {
		if (mov_read_box(r, at, r->size, &b) != 0) {
			/* The demuxer reads an index that was cut, too. */
			if (m.fragments < 0 && b.type == MOOV) {
				b.end = r->size;
				return mov_check_times(r, &b, &m);
			}
			if (m.fragments < 0)
				return CONTAINER_WHOLE;
			return b.type != 0 && b.end > r->size ?
			    reader_cut(r, at) : at + 8 > r->size ?
			    reader_cut(r, at) :
			    reader_broken(r, at, "no box begins here");
		}
		if (b.type == MOOV) {
			mov_read_defaults(r, b.data, b.end, MOOV, &m);
			state = mov_check_times(r, &b, &m);
		} else if (b.type == FTYP)
			m.indexed = 0;
		else if (b.type == MOOF)
			state = mov_check_fragment(r, &b, &m);
		else if (b.type == MDAT && m.fragments > 0 && m.bytes > 0 &&
		    m.bytes > b.end - b.data)
			state = reader_broken(r, at, "a fragment of %lld bytes "
			    "(wanted %lld)", (long long)(b.end - b.data),
			    (long long)m.bytes);
		else if (b.type == SIDX && mov_ends_before(r, &b))
			state = reader_cut(r, r->size);
		else if (b.type == MFRA)
			state = mov_check_index(r, &b);
		if (state != CONTAINER_WHOLE)
			return state;
	}
	return CONTAINER_WHOLE;
}
