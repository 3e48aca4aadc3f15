/*
 * Damage video files systematically, and count the frames that were extracted
 * from them.
 *
 *   damage frames N       print raw 4:2:0 frames of 64x48 that show their number
 *   damage make FILE DIR STEPS EVERY SEED <PACKETS
 *                         write damaged copies of FILE to DIR: zeroed, removed
 *                         and truncated at STEPS places and at each EVERYth
 *                         packet; PACKETS are lines "POS,SIZE,K" (K: key frame)
 *   damage count <STREAM  print for each sample of a stream of vt-extract: key,
 *                         frames, frames in the right place, different frames
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "media/jpeg.h"
#include "shard/stream_read.h"

#define W 64
#define H 48
#define BITS 8			/* of a frame's number, one block each */

/* ---- frames ---- */

/*
 * Draw frame ${f}: moving stripes, with the number in eight blocks at the top
 * and their inverses at the bottom.
 */
static void
paint(uint8_t *y, uint8_t *u, uint8_t *v, int f)
{
	for (int i = 0; i < W * H; i++) {
		int r = i / W, c = i % W, block = c / 8;

		y[i] = (uint8_t)(60 + (c * 3 + f * 5) % 64 +
		    ((r + f) / 6 + c / 5) % 2 * 50);
		if (r < 8)
			y[i] = f >> block & 1 ? 220 : 30;
		else if (r >= H - 8)
			y[i] = f >> block & 1 ? 30 : 220;
	}
	for (int i = 0; i < W * H / 4; i++) {
		u[i] = (uint8_t)(96 + (i + f * 3) % 48);
		v[i] = (uint8_t)(150 - (i / W + f) % 32);
	}
}

static int
write_frames(int n)
{
	static uint8_t y[W * H], u[W * H / 4], v[W * H / 4];

	for (int f = 0; f < n; f++) {
		paint(y, u, v, f);
		if (fwrite(y, 1, sizeof(y), stdout) != sizeof(y) ||
		    fwrite(u, 1, sizeof(u), stdout) != sizeof(u) ||
		    fwrite(v, 1, sizeof(v), stdout) != sizeof(v))
			return fail_errno("standard output");
	}
	return stdout_done();
}

/* Return the number that frame ${m} shows, or -1 if it is unreadable. */
static int
read_number(const struct image *m)
{
	int number = 0;

	if (m->w < W || m->h < H)
		return -1;
	for (int b = 0; b < BITS; b++) {
		int top = 0, bottom = 0;

		for (int i = 0; i < 16; i++) {
			int x = 8 * b + 2 + i % 4, r = 2 + i / 4;

			top += m->data[3 * (r * m->w + x) + 1];
			bottom += m->data[3 * ((H - 1 - r) * m->w + x) + 1];
		}
		if (abs(top - bottom) < 16 * 60)
			return -1;
		number |= (top > bottom) << b;
	}
	return number;
}

/* ---- damage ---- */

struct file { const char *path; struct buffer bytes; const char *dir; };

static int
write_copy(const struct file *f, const char *kind, size_t at, size_t n,
    int keep)
{
	const char *dot = strrchr(f->path, '.');
	char *path = xprintf("%s/%s-%08zu-%06zu%s", f->dir, kind, at, n,
	    dot != NULL ? dot : "");
	FILE *out = fopen(path, "w");
	const char *data = f->bytes.data;
	int bad;

	if (n > f->bytes.n - at)
		n = f->bytes.n - at;
	if (out == NULL)
		return fail_errno("%s", path);
	fwrite(data, 1, at, out);
	for (size_t i = 0; keep && i < n; i++)
		putc(0, out);
	fwrite(data + at + n, 1, f->bytes.n - at - n, out);
	bad = ferror(out) | fclose(out);
	if (bad)
		fail_errno("%s", path);
	free(path);
	return bad ? -1 : 0;
}

/* Write three copies: with the range zeroed, with it removed, and truncated at
 * its start. */
static int
damage(const struct file *f, const char *what, size_t at, size_t n)
{
	char *zero = xprintf("%szero", what), *gone = xprintf("%sremove", what);
	char *cut = xprintf("%scut", what);
	int bad = write_copy(f, zero, at, n, 1) | write_copy(f, gone, at, n, 0);

	if (at > 0)
		bad |= write_copy(f, cut, at, f->bytes.n - at, 0);
	free(zero);
	free(gone);
	free(cut);
	return bad;
}

/*
 * Damage single packets ("p") and ranges from a key frame to the next ("k").
 * Damage that begins and ends at packet boundaries is the hardest to detect.
 */
static int
damage_packets(const struct file *f, int every, int seed)
{
	size_t at, n, group = 0;
	char key;
	int bad = 0;

	for (int i = seed; scanf("%zu,%zu,%c%*[^\n]", &at, &n, &key) == 3; i++) {
		if (at >= f->bytes.n || n > f->bytes.n - at)
			continue;
		if (i % every == 0)
			bad |= damage(f, "p", at, n);
		if (key != 'K')
			continue;
		if (group > 0 && (every == 1 || i / every % 2 == 0))
			bad |= damage(f, "k", group, at - group);
		group = at;
	}
	return bad;
}

static int
make(struct file *f, int steps, int every, int seed)
{
	int bad = 0;

	if (file_read(f->path, &f->bytes) != 0)
		return -1;
	for (int i = 0; i < steps && !bad; i++) {
		size_t length[3] = { 40, 1000, f->bytes.n / 20 };
		size_t at = f->bytes.n * (size_t)(100 * i + seed * 37 % 100) /
		    ((size_t)steps * 100);

		for (int k = 0; k < 3; k++)
			bad |= damage(f, "", at, length[k]);
	}
	bad |= damage_packets(f, every, seed);
	buffer_free(&f->bytes);
	return bad;
}

/* ---- counting ---- */

static int
count(void)
{
	struct stream_limits limits = { .member = 1 << 24 };
	struct stream_reader *r = stream_read_open("-", &limits);
	struct jpeg_decoder *d = jpeg_decoder_new();
	struct stream_member m;
	struct stream_marker mark;
	struct image image;
	struct region part;
	char *data = xmalloc(limits.member);
	int frames = 0, good = 0, distinct = 0, result, seen[256] = { 0 };

	if (r == NULL)
		return -1;
	while ((result = stream_next(r, &m)) == STREAM_MORE) {
		if (m.kind == MEMBER_END) {
			if ((result = stream_read_marker(r, &mark)) != STREAM_MORE)
				break;
			continue;
		}
		if ((result = stream_data(r, data)) != STREAM_MORE)
			break;
		if (m.kind == MEMBER_FRAME) {
			int number = -1;

			if (jpeg_decode(d, data, m.size, &(struct jpeg_part){
			    { 0, 0, W, H }, W, H, 0 }, &image, &part, NULL) == 0)
				number = read_number(&image);
			good += number == frames++;
			if (number >= 0)
				distinct += seen[number]++ == 0;
		} else if (m.kind == MEMBER_INFO) {
			printf("%s\t%d\t%d\t%d\n", m.key, frames, good, distinct);
			frames = good = distinct = 0;
			memset(seen, 0, sizeof(seen));
		}
	}
	stream_read_close(r);
	jpeg_decoder_free(d);
	free(data);
	return result == STREAM_DONE ? stdout_done() : -1;
}

int
main(int argc, char **argv)
{
	program_start("damage");
	if (argc == 3 && strcmp(argv[1], "frames") == 0)
		return write_frames(atoi(argv[2])) != 0;
	if (argc == 7 && strcmp(argv[1], "make") == 0) {
		struct file f = { .path = argv[2], .dir = argv[3] };

		return make(&f, atoi(argv[4]), atoi(argv[5]),
		    atoi(argv[6])) != 0;
	}
	if (argc == 2 && strcmp(argv[1], "count") == 0)
		return count() != 0;
	return 2;
}
