/*
 * PNG files round-trip; truncated, changed or hostile files are refused with a
 * reason.
 */
#include <stdint.h>

#include "base/fail.h"
#include "png_decode.h"
#include "said.h"
#include "tap.h"

static struct image *
pattern(int w, int h, int c)
{
	struct image *m = image_new(w, h, c);

	for (int i = 0; i < w * h * c; i++)
		m->data[i] = (uint8_t)(i * 31 + i / 7);
	return m;
}

static void
test_round_trip(int w, int h, int c)
{
	struct image *m = pattern(w, h, c), *back;
	struct buffer b = { 0 }, again = { 0 };
	int differ = 0;

	buffer_text(&b, "kept");
	is(png_encode(m, &b), 0, "png_encode encodes a picture");
	ok(memcmp(b.data, "kept\x89PNG", 8) == 0,
	    "png_encode appends to the buffer");
	back = png_decode(b.data + 4, b.n - 4);
	ok(back != NULL && back->w == w && back->h == h && back->c == 3,
	    "%d x %d of %d channels decode as RGB", w, h, c);
	for (int i = 0; back != NULL && i < w * h * 3; i++)
		differ += back->data[i] != m->data[c == 3 ? i : i / 3];
	is(differ, 0, "decoded pixels are those encoded");
	png_encode(m, &again);
	ok(again.n == b.n - 4 && memcmp(again.data, b.data + 4, again.n) == 0,
	    "encoding again gives the same bytes");
	image_free(back);
	image_free(m);
	buffer_free(&b);
	buffer_free(&again);
}

/* Truncated anywhere or changed anywhere: an error, never a crash. */
static void
test_damage(void)
{
	struct image *m = pattern(19, 11, 3), *back;
	struct buffer b = { 0 };
	char why[256];
	int passed = 0, silent = 0;

	png_encode(m, &b);
	said_begin(why, sizeof(why));
	for (size_t n = 0; n < b.n; n++) {
		said_begin(why, sizeof(why));
		back = png_decode(b.data, n);
		passed += back != NULL;
		silent += back == NULL && *said_now() == '\0';
		image_free(back);
	}
	for (size_t i = 0; i < b.n; i++) {
		b.data[i] ^= 0x20;
		said_begin(why, sizeof(why));
		back = png_decode(b.data, b.n);
		passed += back != NULL;
		silent += back == NULL && *said_now() == '\0';
		image_free(back);
		b.data[i] ^= 0x20;
	}
	back = png_decode(b.data, b.n / 2);
	said_end();
	is(passed, 0,
	    "a file that is truncated or changed in any byte is refused");
	is(silent, 0, "each refusal has a message");
	ok(back == NULL && strstr(why, "truncated") != NULL,
	    "the message says that the file is truncated");
	image_free(m);
	buffer_free(&b);
}

/* The size in a header is not trusted. */
static void
test_claims(void)
{
	/* 60000 x 60000 RGB with a right checksum and no data. */
	static const unsigned char huge[] = { 0x89, 'P', 'N', 'G', 13, 10, 26,
		10, 0, 0, 0, 13, 'I', 'H', 'D', 'R', 0, 0, 0xea, 0x60, 0, 0,
		0xea, 0x60, 8, 2, 0, 0, 0, 0x0f, 0xb0, 0xe2, 0x15,
		0, 0, 0, 0, 'I', 'D', 'A', 'T', 0x35, 0xaf, 0x06, 0x1e };
	char why[256] = "";

	said_begin(why, sizeof(why));
	ok(png_decode(huge, sizeof(huge)) == NULL, "a huge picture is refused");
	said_end();
	ok(strstr(why, "128 million") != NULL,
	    "a huge picture is refused before memory is allocated");
	diag("%s", why);
}

int
main(void)
{
	test_round_trip(1, 1, 3);
	test_round_trip(37, 23, 3);
	test_round_trip(64, 5, 1);
	test_damage();
	test_claims();
	return done();
}
