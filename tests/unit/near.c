/*
 * Perceptual hashes: near ones are found among 100,000 as by comparing all pairs,
 * videos keep their hash at other sizes and rates, and other videos have others.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "media/phash.h"
#include "shard/near.h"
#include "tap.h"

static uint64_t
draw(uint32_t i)
{
	struct rng_block b = rng_philox(3, i, 0, 0, 0);

	return (uint64_t)b.w[0] << 32 | b.w[1];
}

/* Hash 2 i + 1 differs from hash 2 i in i mod 10 bits, if i is below 1000. */
static void
plant(uint64_t *hash, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		hash[i] = draw(i);
	for (uint32_t i = 0; i < 1000 && 2 * i + 1 < n; i++) {
		hash[2 * i + 1] = hash[2 * i];
		for (uint32_t k = 0; k < i % 10; k++)
			hash[2 * i + 1] ^= (uint64_t)1 << (i + 7 * k) % 64;
	}
}

static void
search(void)
{
	enum { N = 100000, FEW = 3000 };
	uint64_t *hash = malloc(N * sizeof(*hash));
	struct near_pair *pairs;
	double start;
	size_t n, want = 0, good = 0;

	plant(hash, N);
	n = near_find(hash, FEW, &pairs);
	for (uint32_t i = 0; i < FEW; i++)
		for (uint32_t j = i + 1; j < FEW; j++)
			want += __builtin_popcountll(hash[i] ^ hash[j]) <=
			    NEAR_MAX;
	for (size_t i = 0; i < n; i++)
		good += pairs[i].a < pairs[i].b && pairs[i].distance ==
		    __builtin_popcountll(hash[pairs[i].a] ^ hash[pairs[i].b]);
	is((long long)n, (long long)want,
	    "as many pairs as by comparing all of 3000 hashes");
	is((long long)good, (long long)n, "pairs have their distances");
	free(pairs);
	start = clock_seconds();
	n = near_find(hash, N, &pairs);
	printf("# 100,000 hashes: %.3f s\n", clock_seconds() - start);
	is((long long)n, 700,
	    "the planted pairs of 0 to 6 bits are found among 100,000 hashes");
	free(pairs);
	is((long long)near_find(hash, 0, &pairs), 0, "no hashes have no pairs");
	free(pairs);
	free(hash);
}

/* A scene of a disc that moves over waves, at time t from 0 to 1. */
static uint8_t
pixel(int kind, double x, double y, double t)
{
	double cx = kind == 1 ? 0.2 + 0.6 * t : kind == 2 ? 0.8 - 0.6 * t : 0.5;
	double d = hypot(x - cx, y - 0.4);

	return (uint8_t)(d < 0.15 ? 230 : 110 + 60 * sin(9 * x + 3 * kind / 2) *
	    cos(7 * y * y));
}

static uint64_t
video(int kind, int frames, int w, int h, int rgb)
{
	struct phash p = { 0 };
	uint8_t *y = malloc((size_t)w * (size_t)h * 3);
	struct image m = { .w = w, .h = h, .c = 3, .data = y };

	for (int f = 0; f < frames; f++) {
		if (!phash_wants(&p))
			continue;
		for (int i = 0; i < w * h; i++) {
			uint8_t v = pixel(kind, (i % w + 0.5) / w,
			    (i / w + 0.5) / h, (f + 0.5) / frames);

			if (rgb)
				memset(y + 3 * i, v, 3);
			else
				y[i] = v;
		}
		if (rgb)
			phash_rgb(&p, &m);
		else
			phash_luma(&p, y, w, w, h);
	}
	free(y);
	return phash_end(&p);
}

static int
apart(uint64_t a, uint64_t b)
{
	return __builtin_popcountll(a ^ b);
}

int
main(void)
{
	uint64_t right = video(1, 60, 320, 240, 0);
	uint64_t left = video(2, 60, 320, 240, 0);
	uint64_t still = video(3, 1, 320, 240, 0);

	search();
	ok(right != 0 && left != 0 && still != 0, "scenes have hashes");
	ok(apart(right, video(1, 60, 160, 120, 0)) <= NEAR_MAX,
	    "half the size is near");
	ok(apart(right, video(1, 150, 320, 240, 0)) <= NEAR_MAX,
	    "another frame rate is near");
	is((long long)video(1, 60, 320, 240, 1), (long long)right,
	    "grey RGB has the hash of its luma");
	ok(apart(right, left) > NEAR_MAX,
	    "a movement to the other side is not near (%d)", apart(right, left));
	ok(apart(still, video(3, 1, 200, 150, 0)) <= NEAR_MAX,
	    "a still image of another size is near");
	ok(apart(still, video(1, 1, 320, 240, 0)) > NEAR_MAX,
	    "another still image is not near");
	is((long long)phash_end(&(struct phash){ 0 }), 0, "no frames have hash 0");
	ok(video(1, 5, 20, 10, 0) != 0, "frames smaller than the cells are hashed");
	return done();
}
