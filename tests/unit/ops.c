/* tests/run: weight 52 */
/*
 * Operators on every back end: gradients of ref64 agree with finite
 * differences, and ref, cpu and cuda agree with ref64 on one list of cases.
 * Outputs hold NaN before, gradients are overwritten or accumulated, packed
 * weights are reused, and any number of threads gives the same bits.  A
 * stand-in driver runs the kernels of cuda on the host, in several orders.
 *
 * With the name of a back end as argument, only that one is compared with
 * ref64; with "standin", only cuda on the stand-in, or on a GPU (STANDIN=no).
 */
#include "backend/staging_buffer.h"
#include "backend/ref/round.h"
#include "net/poison.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/rng.h"
#include "bench/tasks.h"

#include "gpu/standin/standin.h"
#include "said.h"
#include "tap.h"

struct row {
	const char *what;
	struct op op;
	struct dims in;
};

struct test {
	const char *what;
	struct op op;
	struct dims in;
	struct dims more[2];		/* shapes of further inputs, if
					 * different */
};

#define INPUT(c, ...) { .kind = OP_INPUT, .out = c, .input = { .stream = 1, \
    .mean = { c, (double[]){ __VA_ARGS__ } }, .sd = \
    { c, (double[]){ .21, .22, .23, .24, .25, .26, .27, .28, .29, .3, .31, .32, \
    .33, .34, .35, .36, .37, .38, .39, .4 } } } }
#define CONV(...) { .kind = OP_CONV, .planar = 1, __VA_ARGS__ }

/* The target has the index of its kind. */
#define LOSS(what, how, ...) { .kind = OP_LOSS, \
    .loss.target = TARGET_##what, .loss.kind = LOSS_##how, __VA_ARGS__ }

static const struct row rows[] = {
	{ "input", INPUT(3, .485, .456, .406), { 2, 3, 7, 5, 3 } },
	{ "input of 1 channel", INPUT(1, .5), { 2, 3, 7, 5, 1 } },
	{ "input of 2 channels", INPUT(2, .5, .4), { 1, 3, 4, 5, 2 } },
	{ "input of 10 channels", INPUT(10, .1, .2, .3, .4, .5, .6, .7, .8, .9,
	    1), { 2, 2, 7, 5, 10 } },
	{ "input of 20 channels", INPUT(20, .1, .2, .3, .4, .5, .6, .7, .8, .9, 1,
	    .1, .2, .3, .4, .5, .6, .7, .8, .9, 1), { 2, 2, 3, 5, 20 } },
	{ "input of one pixel", INPUT(3, .485, .456, .406), { 2, 3, 1, 1, 3 } },
	{ "conv 1x1", CONV(.k = { 1, 1, 1 }, .s = { 1, 1, 1 }, .out = 48),
	    { 2, 2, 5, 6, 32 } },
	{ "conv 1x1 stride 2", CONV(.k = { 1, 1, 1 }, .s = { 1, 2, 2 },
	    .out = 32), { 1, 4, 9, 8, 16 } },
	{ "conv 1x1 stride 2, many pixels", CONV(.k = { 1, 1, 1 },
	    .s = { 1, 2, 2 }, .out = 20), { 1, 2, 57, 59, 40 } },
	{ "conv 3x3 stride 2, many pixels", CONV(.k = { 1, 3, 3 },
	    .s = { 1, 2, 2 }, .p = { 0, 1, 1 }, .out = 9), { 1, 2, 79, 61, 18 } },
	{ "conv 1x1 of one row", CONV(.k = { 1, 1, 1 }, .s = { 1, 1, 1 },
	    .out = 33), { 1, 2, 1, 403, 5 } },
	{ "conv 3x3", CONV(.k = { 1, 3, 3 }, .s = { 1, 1, 1 },
	    .p = { 0, 1, 1 }, .out = 16), { 2, 2, 6, 7, 16 } },
	{ "conv 3x3, channels not a multiple of a block", CONV(.k = { 1, 3, 3 },
	    .s = { 1, 2, 2 }, .p = { 0, 1, 1 }, .out = 20), { 3, 1, 7, 9, 12 } },
	{ "conv 3x3, wide enough for Winograd, 7 images", CONV(.k = { 1, 3, 3 },
	    .s = { 1, 1, 1 }, .p = { 0, 1, 1 }, .out = 64), { 1, 7, 15, 14, 64 } },
	{ "conv 3x3, wide, with bias, without padding", CONV(.k = { 1, 3, 3 },
	    .s = { 1, 1, 1 }, .out = 44, .conv.bias = 1), { 1, 3, 21, 22, 40 } },
	{ "conv 3x3, wide, padded by 0 and 1", CONV(.k = { 1, 3, 3 },
	    .s = { 1, 1, 1 }, .p = { 0, 0, 1 }, .out = 80), { 3, 1, 22, 20, 33 } },
	{ "conv 3x3, wide, many tiles", CONV(.k = { 1, 3, 3 },
	    .s = { 1, 1, 1 }, .p = { 0, 1, 1 }, .out = 66),
	    { 1, 2, 33, 34, 70 } },
	{ "conv 3x3, wide, tiles half full", CONV(.k = { 1, 3, 3 },
	    .s = { 1, 1, 1 }, .p = { 0, 1, 1 }, .out = 40),
	    { 1, 29, 6, 6, 36 } },
	{ "conv 3x3, wide, 1 image", CONV(.k = { 1, 3, 3 }, .s = { 1, 1, 1 },
	    .p = { 0, 1, 1 }, .out = 80), { 1, 1, 14, 15, 64 } },
	{ "conv 1x1, 13 images", CONV(.k = { 1, 1, 1 }, .s = { 1, 1, 1 },
	    .out = 100), { 1, 13, 14, 15, 64 } },
	{ "conv 1x1 stride 3, odd channels, with bias", CONV(.k = { 1, 1, 1 },
	    .s = { 1, 3, 3 }, .out = 21, .conv.bias = 1), { 3, 1, 7, 8, 37 } },
	{ "conv 1x1 between more channels than one block reads",
	    CONV(.k = { 1, 1, 1 }, .s = { 1, 1, 1 }, .out = 528),
	    { 1, 3, 3, 5, 560 } },
	{ "conv 1x1 to more than a cache holds", CONV(.k = { 1, 1, 1 },
	    .s = { 1, 1, 1 }, .out = 64), { 1, 1, 129, 128, 5 } },
	{ "conv 1x1 of 1 image, many channels", CONV(.k = { 1, 1, 1 },
	    .s = { 1, 1, 1 }, .out = 272), { 1, 1, 7, 7, 208 } },
	{ "conv 5x5 stride 2 of pixels", CONV(.k = { 1, 5, 5 },
	    .s = { 1, 2, 2 }, .p = { 0, 2, 2 }, .out = 16), { 2, 2, 17, 12, 3 } },
	{ "conv 7x7 stride 2 of pixels", CONV(.k = { 1, 7, 7 },
	    .s = { 1, 2, 2 }, .p = { 0, 3, 3 }, .out = 64), { 1, 2, 21, 24, 3 } },
	{ "conv 7x7 stride 2 of pixels, side 158, 1 frame", CONV(
	    .k = { 1, 7, 7 }, .s = { 1, 2, 2 }, .p = { 0, 3, 3 }, .out = 8),
	    { 1, 1, 158, 158, 3 } },
	{ "conv 3x3 stride 2 of pixels, with bias, a row left over", CONV(
	    .k = { 1, 3, 3 }, .s = { 1, 2, 2 }, .p = { 0, 0, 1 }, .out = 5,
	    .conv.bias = 1), { 3, 1, 8, 9, 3 } },
	{ "conv 4x6 stride 2 of 4 channels", CONV(.k = { 1, 4, 6 },
	    .s = { 1, 2, 2 }, .p = { 0, 1, 3 }, .out = 24), { 1, 2, 10, 11, 4 } },
	{ "conv 5x5 of 1 channel", CONV(.k = { 1, 5, 5 }, .s = { 1, 2, 2 },
	    .p = { 0, 2, 2 }, .out = 16), { 2, 2, 17, 12, 1 } },
	{ "conv 5x5 of 2 channels", CONV(.k = { 1, 5, 5 }, .s = { 1, 2, 2 },
	    .p = { 0, 2, 2 }, .out = 16), { 2, 2, 17, 12, 2 } },
	{ "conv 7x7 of 10 channels", CONV(.k = { 1, 7, 7 }, .s = { 1, 2, 2 },
	    .p = { 0, 3, 3 }, .out = 24), { 2, 1, 15, 12, 10 } },
	{ "conv 3x3 with bias", CONV(.k = { 1, 3, 3 }, .s = { 1, 1, 1 },
	    .p = { 0, 1, 1 }, .out = 24, .conv.bias = 1), { 2, 2, 5, 5, 16 } },
	{ "conv over time", { .kind = OP_CONV, .k = { 3, 3, 3 },
	    .s = { 2, 1, 2 }, .p = { 1, 1, 1 }, .out = 6 },
	    { 2, 4, 4, 5, 4 } },
	{ "conv 3x1x1", { .kind = OP_CONV, .k = { 3, 1, 1 }, .s = { 1, 1, 1 },
	    .p = { 1, 0, 0 }, .out = 24 }, { 2, 5, 3, 2, 16 } },
	{ "conv 3x1x1 of 1 clip, with bias", { .kind = OP_CONV, .conv.bias = 1,
	    .k = { 3, 1, 1 }, .s = { 1, 1, 1 }, .p = { 1, 0, 0 }, .out = 40 },
	    { 1, 2, 3, 5, 32 } },
	{ "conv 5x1x1 stride 3 without padding", { .kind = OP_CONV,
	    .k = { 5, 1, 1 }, .s = { 3, 1, 1 }, .out = 16 },
	    { 2, 9, 3, 3, 16 } },
	{ "conv 1x1x1 stride 2 in time", { .kind = OP_CONV, .k = { 1, 1, 1 },
	    .s = { 2, 2, 2 }, .out = 16 }, { 2, 5, 5, 4, 16 } },
	{ "conv 3x3x3", { .kind = OP_CONV, .k = { 3, 3, 3 },
	    .s = { 1, 1, 1 }, .p = { 1, 1, 1 }, .out = 32 },
	    { 3, 3, 4, 5, 16 } },
	{ "conv 5x7x7 of pixels", { .kind = OP_CONV, .k = { 5, 7, 7 },
	    .s = { 1, 2, 2 }, .p = { 2, 3, 3 }, .out = 8 },
	    { 1, 4, 11, 12, 3 } },
	{ "conv 5x7x7 of pixels, stride 2", { .kind = OP_CONV,
	    .k = { 5, 7, 7 }, .s = { 2, 2, 2 }, .p = { 2, 3, 3 }, .out = 16 },
	    { 2, 5, 9, 11, 3 } },
	{ "conv 3x3x3, wide, stride 2", { .kind = OP_CONV, .k = { 3, 3, 3 },
	    .s = { 2, 2, 2 }, .p = { 1, 1, 1 }, .out = 64 },
	    { 2, 5, 15, 16, 48 } },
	{ "depthwise conv", CONV(.k = { 1, 3, 3 }, .s = { 1, 2, 2 },
	    .p = { 0, 1, 1 }, .out = 32, .conv.groups = 32), { 2, 1, 7, 6, 32 } },
	{ "depthwise conv over time", { .kind = OP_CONV,
	    .k = { 3, 3, 3 }, .s = { 1, 1, 1 }, .p = { 1, 1, 1 }, .out = 16,
	    .conv.groups = 16 }, { 2, 3, 5, 6, 16 } },
	{ "depthwise conv over time, stride 2", { .kind = OP_CONV,
	    .k = { 5, 3, 3 }, .s = { 2, 2, 2 }, .p = { 2, 1, 1 }, .out = 24,
	    .conv.groups = 24 }, { 1, 5, 6, 7, 24 } },
	{ "depthwise conv, 2x2 images", CONV(.k = { 1, 3, 3 },
	    .s = { 1, 1, 1 }, .p = { 0, 1, 1 }, .out = 40, .conv.groups = 40),
	    { 3, 3, 2, 2, 40 } },
	{ "depthwise conv, 4x4 to 2x2", CONV(.k = { 1, 5, 5 },
	    .s = { 1, 2, 2 }, .p = { 0, 2, 2 }, .out = 16, .conv.groups = 16,
	    .conv.bias = 1), { 2, 3, 4, 4, 16 } },
	{ "depthwise conv over time, 2x2 images", { .kind = OP_CONV,
	    .k = { 3, 3, 3 }, .s = { 2, 1, 1 }, .p = { 1, 1, 1 }, .out = 54,
	    .conv.groups = 54 }, { 2, 4, 2, 2, 54 } },
	{ "depthwise conv, odd channels, with bias", CONV(
	    .k = { 1, 3, 3 }, .s = { 1, 1, 1 }, .p = { 0, 1, 1 }, .out = 21,
	    .conv.groups = 21, .conv.bias = 1), { 3, 1, 5, 11, 21 } },
	{ "depthwise conv over time, wide, pairs of channels", {
	    .kind = OP_CONV, .k = { 3, 3, 3 }, .s = { 1, 1, 1 },
	    .p = { 1, 1, 1 }, .out = 54, .conv.groups = 54 },
	    { 2, 3, 13, 18, 54 } },
	{ "depthwise conv over time, wide, stride 1x2x2", {
	    .kind = OP_CONV, .k = { 3, 3, 3 }, .s = { 1, 2, 2 },
	    .p = { 1, 1, 1 }, .out = 40, .conv.groups = 40 },
	    { 2, 4, 15, 21, 40 } },
	{ "depthwise conv 5x1x1", { .kind = OP_CONV, .k = { 5, 1, 1 },
	    .s = { 1, 1, 1 }, .p = { 2, 0, 0 }, .out = 24, .conv.groups = 24 },
	    { 2, 6, 5, 9, 24 } },
	{ "depthwise conv, without padding, stride 3", CONV(
	    .k = { 1, 3, 3 }, .s = { 1, 3, 3 }, .out = 288, .conv.groups = 288),
	    { 1, 2, 10, 12, 288 } },
	{ "conv over time in groups", { .kind = OP_CONV, .k = { 3, 1, 1 },
	    .s = { 1, 1, 1 }, .p = { 1, 0, 0 }, .out = 32, .conv.groups = 2 },
	    { 2, 3, 3, 4, 32 } },
	{ "conv in groups of 1 and 3, over time", { .kind = OP_CONV,
	    .k = { 3, 1, 1 }, .s = { 1, 1, 1 }, .p = { 1, 0, 0 }, .out = 21,
	    .conv.groups = 7 }, { 1, 3, 3, 4, 7 } },
	{ "conv in groups of 4", CONV(.k = { 1, 3, 3 }, .s = { 1, 1, 1 },
	    .p = { 0, 1, 1 }, .out = 32, .conv.groups = 8), { 2, 1, 5, 4, 32 } },
	{ "conv in groups", CONV(.k = { 1, 3, 3 }, .s = { 1, 1, 1 },
	    .p = { 0, 1, 1 }, .out = 32, .conv.groups = 2), { 2, 1, 5, 4, 32 } },
	{ "conv 17x1x1 in groups", { .kind = OP_CONV, .k = { 17, 1, 1 },
	    .s = { 1, 1, 1 }, .p = { 8, 0, 0 }, .out = 32, .conv.groups = 2 },
	    { 1, 18, 2, 3, 32 } },
	{ "conv 1x3x3 padded by a frame, with bias", { .kind = OP_CONV,
	    .k = { 1, 3, 3 }, .s = { 1, 1, 1 }, .p = { 1, 1, 1 }, .out = 32,
	    .conv.bias = 1 }, { 2, 3, 5, 6, 32 } },
	{ "conv 1x3x3 padded by a frame, odd channels", { .kind = OP_CONV,
	    .k = { 1, 3, 3 }, .s = { 1, 2, 2 }, .p = { 1, 1, 1 }, .out = 21 },
	    { 1, 2, 5, 7, 20 } },
	{ "conv 3x1x1 padded by 4 frames, stride 2, with bias", {
	    .kind = OP_CONV, .k = { 3, 1, 1 }, .s = { 2, 1, 1 },
	    .p = { 4, 0, 0 }, .out = 24, .conv.bias = 1 }, { 2, 3, 3, 4, 16 } },
	{ "conv 1x5x5 of pixels padded by 2 frames, with bias", {
	    .kind = OP_CONV, .k = { 1, 5, 5 }, .s = { 1, 2, 2 },
	    .p = { 2, 2, 2 }, .out = 16, .conv.bias = 1 }, { 1, 2, 9, 11, 3 } },
	{ "depthwise conv padded by 2 frames, with bias", {
	    .kind = OP_CONV, .k = { 1, 3, 3 }, .s = { 1, 1, 1 },
	    .p = { 2, 1, 1 }, .out = 40, .conv.groups = 40, .conv.bias = 1 },
	    { 2, 2, 4, 5, 40 } },
	{ "conv in groups padded by 3 frames, with bias", { .kind = OP_CONV,
	    .k = { 3, 1, 1 }, .s = { 1, 1, 1 }, .p = { 3, 0, 0 }, .out = 32,
	    .conv.groups = 2, .conv.bias = 1 }, { 2, 2, 3, 4, 32 } },
	{ "conv 1x1 padded by a row and 2 columns, with bias", CONV(
	    .k = { 1, 1, 1 }, .s = { 1, 1, 1 }, .p = { 0, 1, 2 }, .out = 40,
	    .conv.bias = 1), { 2, 2, 5, 6, 32 } },
	{ "conv 3x3 stride 2 of pixels to 17 channels, 1 image", CONV(
	    .k = { 1, 3, 3 }, .s = { 1, 2, 2 }, .p = { 0, 1, 1 }, .out = 17),
	    { 1, 1, 9, 9, 3 } },
	{ "conv 3x3 to 51 channels, 1 image", CONV(.k = { 1, 3, 3 },
	    .s = { 1, 1, 1 }, .p = { 0, 1, 1 }, .out = 51),
	    { 1, 1, 6, 5, 18 } },
	{ "conv 3x3x3 of pixels, strides 2x3x1", { .kind = OP_CONV,
	    .k = { 3, 3, 3 }, .s = { 2, 3, 1 }, .p = { 1, 0, 2 }, .out = 20 },
	    { 2, 3, 8, 7, 3 } },
	{ "conv 4x4 of pixels in groups of 1 and 2, with bias", CONV(
	    .k = { 1, 4, 4 }, .s = { 1, 2, 3 }, .p = { 0, 3, 1 }, .out = 6,
	    .conv.groups = 3, .conv.bias = 1), { 2, 2, 9, 8, 3 } },
	{ "conv 3x3 of pixels to 2 channels", CONV(.k = { 1, 3, 3 },
	    .s = { 1, 1, 1 }, .p = { 0, 1, 1 }, .out = 2), { 2, 2, 5, 6, 3 } },
	{ "conv 1x1 to 3 channels, with bias", CONV(.k = { 1, 1, 1 },
	    .s = { 1, 1, 1 }, .out = 3, .conv.bias = 1), { 2, 2, 5, 6, 20 } },
	{ "depthwise conv of 3 channels to 3, with bias", CONV(
	    .k = { 1, 3, 3 }, .s = { 1, 2, 1 }, .p = { 0, 1, 1 }, .out = 3,
	    .conv.groups = 3, .conv.bias = 1), { 2, 2, 5, 6, 3 } },
	{ "depthwise conv of 2 channels, one pixel", { .kind = OP_CONV,
	    .k = { 3, 1, 1 }, .s = { 1, 1, 1 }, .p = { 1, 0, 0 }, .out = 2,
	    .conv.groups = 2 }, { 3, 4, 1, 1, 2 } },
	{ "depthwise conv of 3 channels, one pixel", { .kind = OP_CONV,
	    .k = { 3, 1, 1 }, .s = { 1, 1, 1 }, .p = { 1, 0, 0 }, .out = 3,
	    .conv.groups = 3 }, { 2, 4, 1, 1, 3 } },
	{ "conv 3x1x1 of 1 frame", { .kind = OP_CONV, .k = { 3, 1, 1 },
	    .s = { 1, 1, 1 }, .p = { 1, 0, 0 }, .out = 24 },
	    { 3, 1, 4, 5, 16 } },
	{ "conv 1x1x1 stride 3 of 1 frame", {
	    .kind = OP_CONV, .k = { 1, 1, 1 }, .s = { 3, 1, 1 },
	    .out = 16 }, { 3, 1, 4, 5, 16 } },
	{ "conv 1x9 stride 9 of one row", CONV(.k = { 1, 9, 1 },
	    .s = { 1, 9, 1 }, .out = 16), { 2, 2, 9, 20, 8 } },
	{ "conv 1x3 stride 2x1 of one row", CONV(.k = { 1, 3, 1 },
	    .s = { 1, 2, 1 }, .p = { 0, 1, 0 }, .out = 16),
	    { 2, 2, 1, 20, 16 } },
	{ "conv 3x3 stride 2x1 of one row", CONV(.k = { 1, 3, 3 },
	    .s = { 1, 2, 1 }, .p = { 0, 1, 1 }, .out = 32),
	    { 1, 2, 1, 32, 16 } },
	{ "conv 5x5 stride 4 of 3x2 pixels", CONV(.k = { 1, 5, 5 },
	    .s = { 1, 4, 4 }, .p = { 0, 2, 2 }, .out = 32),
	    { 1, 1, 3, 2, 16 } },
	{ "conv 3x1x1 stride 2 of 1 frame", { .kind = OP_CONV,
	    .k = { 3, 1, 1 }, .s = { 2, 1, 1 }, .p = { 1, 0, 0 }, .out = 64 },
	    { 1, 1, 3, 5, 64 } },
	{ "conv 5x1x1 stride 4 of 2 frames", { .kind = OP_CONV,
	    .k = { 5, 1, 1 }, .s = { 4, 1, 1 }, .p = { 2, 0, 0 }, .out = 64 },
	    { 2, 2, 3, 5, 64 } },
	{ "conv 1x3 stride 4 of 3 columns", CONV(.k = { 1, 1, 3 },
	    .s = { 1, 1, 4 }, .p = { 0, 0, 2 }, .out = 24),
	    { 2, 2, 4, 3, 16 } },
	{ "conv 1x1 of 14x14, 3 images", CONV(.k = { 1, 1, 1 },
	    .s = { 1, 1, 1 }, .out = 64), { 1, 3, 14, 14, 64 } },
	{ "bn", { .kind = OP_BN, .bn.gamma = 1, .bn.eps = 1e-5 }, { 2, 3, 4, 5, 16 } },
	{ "bn, odd channels", { .kind = OP_BN, .bn.gamma = 1, .bn.eps = 1e-5 },
	    { 3, 2, 3, 3, 21 } },
	{ "bn, one pixel per image", { .kind = OP_BN, .bn.gamma = 1, .bn.eps = 1e-3 },
	    { 4, 2, 1, 1, 20 } },
	{ "bn, fixed", { .kind = OP_BN, .bn.gamma = 1, .bn.eps = 1e-5, .bn.fixed = 1 },
	    { 2, 3, 4, 5, 16 } },
	{ "bn, fixed, odd channels", { .kind = OP_BN, .bn.gamma = 1, .bn.eps = 1e-5,
	    .bn.fixed = 1 }, { 3, 2, 3, 3, 21 } },
	{ "bn, fixed, one pixel per image", { .kind = OP_BN, .bn.gamma = 1,
	    .bn.eps = 1e-3, .bn.fixed = 1 }, { 4, 2, 1, 1, 20 } },
	{ "relu", { .kind = OP_RELU }, { 2, 2, 5, 3, 24 } },
	{ "relu of pixels", { .kind = OP_RELU }, { 2, 2, 5, 3, 3 } },
	{ "add of pixels", { .kind = OP_ADD, .nin = 2 }, { 2, 2, 5, 3, 2 } },
	{ "add of two", { .kind = OP_ADD, .nin = 2 }, { 2, 2, 5, 3, 24 } },
	{ "add of three", { .kind = OP_ADD, .nin = 3 }, { 1, 2, 5, 3, 17 } },
	{ "shift by blocks", { .kind = OP_SHIFT, .shift.fold = 4 },
	    { 2, 4, 3, 3, 64 } },
	{ "shift within a block", { .kind = OP_SHIFT, .shift.fold = 8 },
	    { 2, 4, 3, 3, 64 } },
	{ "shift of few channels", { .kind = OP_SHIFT, .shift.fold = 8 },
	    { 2, 3, 2, 3, 20 } },
	{ "shift of one frame", { .kind = OP_SHIFT, .shift.fold = 8 },
	    { 2, 1, 2, 3, 16 } },
	{ "maxpool 3x3 stride 2", { .kind = OP_MAXPOOL, .k = { 1, 3, 3 },
	    .s = { 1, 2, 2 }, .p = { 0, 1, 1 } }, { 2, 2, 7, 8, 20 } },
	{ "maxpool 2x2", { .kind = OP_MAXPOOL, .k = { 1, 2, 2 },
	    .s = { 1, 2, 2 } }, { 1, 2, 5, 6, 16 } },
	{ "maxpool over time", { .kind = OP_MAXPOOL, .k = { 3, 1, 1 },
	    .s = { 2, 1, 1 }, .p = { 1, 0, 0 } }, { 2, 5, 3, 3, 4 } },
	{ "avgpool over h and w", { .kind = OP_AVGPOOL,
	    .avgpool.axes = OVER_H | OVER_W }, { 2, 3, 5, 4, 20 } },
	{ "avgpool over t", { .kind = OP_AVGPOOL, .avgpool.axes = OVER_T },
	    { 2, 4, 1, 1, 5 } },
	{ "avgpool over t of planes", { .kind = OP_AVGPOOL, .avgpool.axes = OVER_T },
	    { 2, 3, 3, 4, 16 } },
	{ "avgpool over everything", { .kind = OP_AVGPOOL,
	    .avgpool.axes = OVER_T | OVER_H | OVER_W }, { 2, 3, 3, 4, 16 } },
	{ "avgpool over h", { .kind = OP_AVGPOOL, .avgpool.axes = OVER_H },
	    { 2, 2, 5, 4, 20 } },
	{ "avgpool over t and w", { .kind = OP_AVGPOOL, .avgpool.axes = OVER_T | OVER_W },
	    { 2, 3, 3, 4, 16 } },
	{ "avgpool over h and w of pixels", { .kind = OP_AVGPOOL,
	    .avgpool.axes = OVER_H | OVER_W }, { 2, 3, 5, 4, 3 } },
	{ "avgpool over t of pixels", { .kind = OP_AVGPOOL, .avgpool.axes = OVER_T },
	    { 2, 3, 5, 4, 2 } },
	{ "avgpool 3x3 stride 2", { .kind = OP_AVGPOOL, .k = { 1, 3, 3 },
	    .s = { 1, 2, 2 }, .p = { 0, 1, 1 } }, { 2, 2, 7, 8, 20 } },
	{ "avgpool 3x3 stride 2, cut at the edges", { .kind = OP_AVGPOOL,
	    .k = { 1, 3, 3 }, .s = { 1, 2, 2 }, .p = { 0, 1, 1 }, .avgpool.exclude_pad = 1 },
	    { 2, 2, 7, 8, 20 } },
	{ "maxpool 2x1x1", { .kind = OP_MAXPOOL, .k = { 2, 1, 1 },
	    .s = { 2, 1, 1 } }, { 2, 5, 3, 4, 20 } },
	{ "maxpool 3x3x3 stride 2x1x2", { .kind = OP_MAXPOOL, .k = { 3, 3, 3 },
	    .s = { 2, 1, 2 }, .p = { 1, 1, 1 } }, { 2, 4, 5, 4, 17 } },
	{ "maxpool over time that overlaps", { .kind = OP_MAXPOOL,
	    .k = { 3, 1, 1 }, .s = { 1, 1, 1 }, .p = { 1, 0, 0 } },
	    { 1, 4, 3, 3, 16 } },
	{ "avgpool 2x1x1", { .kind = OP_AVGPOOL, .k = { 2, 1, 1 },
	    .s = { 2, 1, 1 } }, { 2, 5, 3, 4, 20 } },
	{ "avgpool 3x1x1", { .kind = OP_AVGPOOL, .k = { 3, 1, 1 },
	    .s = { 1, 1, 1 }, .p = { 1, 0, 0 } }, { 2, 4, 3, 3, 16 } },
	{ "avgpool 3x2x2, cut at the edges", { .kind = OP_AVGPOOL,
	    .k = { 3, 2, 2 }, .s = { 2, 1, 2 }, .p = { 1, 1, 1 }, .avgpool.exclude_pad = 1 },
	    { 2, 4, 3, 4, 16 } },
	{ "shift from the past", { .kind = OP_SHIFT, .shift.fold = 8, .shift.past = 1 },
	    { 2, 4, 3, 3, 64 } },
	{ "shift from the past of whole blocks", { .kind = OP_SHIFT, .shift.fold = 2,
	    .shift.past = 1 }, { 2, 4, 2, 3, 64 } },
	{ "relu6", { .kind = OP_RELU6 }, { 2, 2, 5, 3, 24 } },
	{ "sigmoid", { .kind = OP_SIGMOID }, { 2, 2, 5, 3, 20 } },
	{ "sigmoid of one pixel", { .kind = OP_SIGMOID }, { 3, 1, 1, 1, 37 } },
	{ "swish", { .kind = OP_SWISH }, { 2, 2, 5, 3, 20 } },
	{ "scale by a constant", { .kind = OP_SCALE, .scale.factor.by = -0.75 },
	    { 2, 2, 5, 3, 20 } },
	{ "scale by 2/sqrt(c)", { .kind = OP_SCALE, .scale.factor.by = 2, .scale.factor.per = PER_ROOT },
	    { 2, 2, 5, 3, 20 } },
	{ "scale by 1/c", { .kind = OP_SCALE, .scale.factor.by = 1, .scale.factor.per = PER_CHANNELS },
	    { 2, 2, 5, 3, 20 } },
	{ "scale by a parameter", { .kind = OP_SCALE, .scale.factor.by = 1, .scale.trained = 1 },
	    { 2, 2, 25, 33, 20 } },
	{ "mul", { .kind = OP_MUL, .nin = 2 }, { 2, 2, 5, 3, 20 } },
	{ "every fourth frame", { .kind = OP_FRAMES, .frames.step = 4 },
	    { 2, 9, 3, 2, 20 } },
	{ "every third frame of pixels", { .kind = OP_FRAMES, .frames.step = 3,
	    .frames.first = 2 }, { 2, 8, 3, 4, 3 } },
	{ "frames from first to last", { .kind = OP_FRAMES, .frames.step = 3,
	    .frames.spread = 1 }, { 2, 10, 3, 2, 16 } },
	{ "softmax over c", { .kind = OP_SOFTMAX, .softmax.axes = OVER_C },
	    { 2, 2, 5, 7, 20 } },
	{ "softmax over many channels", { .kind = OP_SOFTMAX, .softmax.axes = OVER_C },
	    { 1, 2, 3, 3, 400 } },
	{ "softmax over few channels", { .kind = OP_SOFTMAX, .softmax.axes = OVER_C },
	    { 2, 2, 5, 7, 3 } },
	{ "softmax of one pixel", { .kind = OP_SOFTMAX, .softmax.axes = OVER_C },
	    { 5, 1, 1, 1, 37 } },
	{ "softmax over t", { .kind = OP_SOFTMAX, .softmax.axes = OVER_T },
	    { 2, 4, 2, 3, 20 } },
	{ "softmax over h and w", { .kind = OP_SOFTMAX,
	    .softmax.axes = OVER_H | OVER_W }, { 2, 2, 5, 3, 20 } },
	{ "softmax over everything", { .kind = OP_SOFTMAX,
	    .softmax.axes = OVER_T | OVER_H | OVER_W | OVER_C }, { 2, 2, 2, 3, 18 } },
	{ "dropout", { .kind = OP_DROPOUT, .dropout.rate = 0.5 }, { 3, 2, 1, 1, 37 } },
	{ "linear", { .kind = OP_LINEAR, .out = 10 }, { 3, 4, 1, 1, 64 } },
	{ "linear, odd sizes", { .kind = OP_LINEAR, .out = 3 },
	    { 2, 1, 1, 1, 37 } },
	{ "linear of many channels", { .kind = OP_LINEAR, .out = 10 },
	    { 2, 2, 1, 1, 400 } },
	{ "linear at every pixel", { .kind = OP_LINEAR, .out = 10 },
	    { 2, 2, 3, 4, 37 } },
	{ "linear at every pixel, few channels",
		{ .kind = OP_LINEAR, .out = 2 },
	    { 2, 2, 3, 2, 3 } },
	{ "loss", LOSS(CLASS, SOFTMAX), { 4, 1, 1, 1, 7 } },
	{ "loss of two classes", LOSS(CLASS, SOFTMAX), { 4, 1, 1, 1, 2 } },
	{ "loss, smoothed", LOSS(CLASS, SOFTMAX, .loss.smooth = 0.1),
	    { 6, 1, 1, 1, 7 } },
	{ "loss of weight 0.4", LOSS(CLASS, SOFTMAX, .loss.weight = 0.4),
	    { 6, 1, 1, 1, 20 } },
	{ "loss of shares", LOSS(SOFT, SOFTMAX), { 6, 1, 1, 1, 17 } },
	{ "loss of shares, smoothed", LOSS(SOFT, SOFTMAX, .loss.smooth = 0.2),
	    { 6, 1, 1, 1, 3 } },
	{ "focal loss", LOSS(CLASS, SOFTMAX, .loss.focus = 2), { 6, 1, 1, 1, 7 } },
	{ "focal loss of gamma 0.5, smoothed", LOSS(CLASS, SOFTMAX, .loss.focus = 0.5,
	    .loss.smooth = 0.1), { 6, 1, 1, 1, 17 } },
	{ "focal loss of shares", LOSS(SOFT, SOFTMAX, .loss.focus = 1,
	    .loss.weight = 0.4), { 6, 1, 1, 1, 5 } },
	{ "loss of a set", LOSS(SET, SIGMOID), { 6, 1, 1, 1, 17 } },
	{ "loss of a set of one, weighed", LOSS(CLASS, SIGMOID, .loss.weight = 3),
	    { 6, 1, 1, 1, 5 } },
};

/* Operators whose inputs have several shapes. */
static const struct test joins[] = {
	{ "mul by one pixel of each clip", { .kind = OP_MUL, .nin = 2 },
	    { 2, 3, 5, 3, 20 }, { { 2, 1, 1, 1, 20 } } },
	{ "mul by one pixel of each frame", { .kind = OP_MUL, .nin = 2 },
	    { 2, 3, 5, 3, 16 }, { { 2, 3, 1, 1, 16 } } },
	{ "mul by one frame and row", { .kind = OP_MUL, .nin = 2 },
	    { 2, 3, 5, 3, 16 }, { { 2, 1, 1, 3, 16 } } },
	{ "mul by one column", { .kind = OP_MUL, .nin = 2 },
	    { 2, 3, 5, 3, 16 }, { { 2, 3, 5, 1, 16 } } },
	{ "concat of whole blocks", { .kind = OP_CONCAT, .nin = 2 },
	    { 2, 2, 3, 5, 32 }, { { 2, 2, 3, 5, 16 } } },
	{ "concat, odd channels", { .kind = OP_CONCAT, .nin = 3 },
	    { 2, 2, 3, 5, 20 }, { { 2, 2, 3, 5, 7 }, { 2, 2, 3, 5, 33 } } },
	{ "concat, the last one odd", { .kind = OP_CONCAT, .nin = 2 },
	    { 2, 2, 3, 5, 16 }, { { 2, 2, 3, 5, 5 } } },
	{ "concat with pixels", { .kind = OP_CONCAT, .nin = 3 },
	    { 2, 2, 3, 5, 3 }, { { 2, 2, 3, 5, 18 }, { 2, 2, 3, 5, 2 } } },
	{ "concat of pixels", { .kind = OP_CONCAT, .nin = 2 },
	    { 2, 2, 3, 5, 1 }, { { 2, 2, 3, 5, 2 } } },
	{ "concat of one pixel", { .kind = OP_CONCAT, .nin = 2 },
	    { 3, 1, 1, 1, 37 }, { { 3, 1, 1, 1, 5 } } },
	{ "bmm", { .kind = OP_BMM, .nin = 2 }, { 2, 2, 3, 4, 18 },
	    { { 2, 1, 3, 6, 20 } } },
	{ "bmm, the second transposed", { .kind = OP_BMM, .nin = 2,
	    .bmm.transpose = TRANSPOSE_B }, { 2, 2, 3, 4, 20 },
	    { { 2, 2, 3, 2, 20 } } },
	{ "bmm, the first transposed", { .kind = OP_BMM, .nin = 2,
	    .bmm.transpose = TRANSPOSE_A }, { 2, 2, 3, 4, 18 },
	    { { 2, 1, 4, 6, 20 } } },
	{ "bmm, both transposed", { .kind = OP_BMM, .nin = 2,
	    .bmm.transpose = TRANSPOSE_A | TRANSPOSE_B }, { 2, 2, 3, 3, 7 },
	    { { 2, 1, 5, 1, 18 } } },
	{ "bmm of few keys", { .kind = OP_BMM, .nin = 2,
	    .bmm.transpose = TRANSPOSE_B }, { 2, 2, 3, 4, 20 },
	    { { 2, 1, 1, 2, 20 } } },
	{ "bmm of few channels", { .kind = OP_BMM, .nin = 2 },
	    { 2, 2, 3, 4, 2 }, { { 2, 1, 1, 2, 3 } } },
	{ "bmm of many pixels", { .kind = OP_BMM, .nin = 2,
	    .bmm.transpose = TRANSPOSE_B }, { 1, 2, 15, 17, 20 },
	    { { 1, 2, 7, 8, 20 } } },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))
#define TESTS (ROWS + sizeof(joins) / sizeof(joins[0]))

static struct test tests[TESTS];

static void
list_tests(void)
{
	for (size_t i = 0; i < ROWS; i++)
		tests[i] = (struct test){ rows[i].what, rows[i].op, rows[i].in,
		    { { 0 } } };
	memcpy(tests + ROWS, joins, sizeof(joins));
}

/* An operator and its inputs. */
struct data {
	struct op op;
	struct dims in[OP_INPUTS], out;
	int training;
	struct param param[OP_PARAMS];
	double *x[OP_INPUTS], *w[OP_PARAMS], *dy, *before[OP_INPUTS];
	struct feed feed;
	struct stream stream[2];	/* inputs read the second one */
	struct target target[3];	/* one of each kind, with weights */
	int sums;			/* an accumulated gradient keeps what
					 * it was added to */
	int index;			/* index of the op in its graph */
	enum precision rounded;		/* precision of the output that
					 * backward reads */
};

struct result {
	double *y, *dx[OP_INPUTS], *dw[OP_PARAMS];
	struct outcome outcome;
};

/*
 * Return normal numbers, which repeat after a prime number of them.  Drawing
 * each took a quarter of the test's time.
 */
static double *
draw(size_t n, uint32_t stream)
{
	enum { PERIOD = 65537, APART = 4099 };
	static double normal[PERIOD];
	double *v = xcalloc(n, sizeof(*v));

	for (uint32_t i = 0; i < PERIOD && normal[PERIOD - 1] == 0; i++)
		normal[i] = rng_normal(99, 0, i);
	for (size_t i = 0; i < n; i++)
		v[i] = normal[(i + (size_t)stream * APART) % PERIOD];
	return v;
}

static void
make(struct data *d, const struct test *t, int training)
{
	static int label[16];
	static uint64_t clip[16];
	static uint8_t pixels[65536];
	static float share[2][16 * 64], weight[16], class_weight[64];
	double sum;

	*d = (struct data){ .op = t->op, .training = training, .index = 3 };
	strcpy(d->op.name, "op");
	if (d->op.kind == OP_CONV && d->op.conv.groups == 0)
		d->op.conv.groups = 1;
	if (d->op.nin == 0 && d->op.kind != OP_INPUT)
		d->op.nin = 1;
	for (int j = 0; j < d->op.nin; j++)
		d->in[j] = j > 0 && j < 3 && t->more[j - 1].n > 0 ?
		    t->more[j - 1] : t->in;
	if (d->op.kind == OP_INPUT)
		d->out = t->in;
	else
		op_types[d->op.kind].infer(&d->op, d->in, &d->out);
	if (op_types[d->op.kind].params != NULL)
		d->op.nparam = op_types[d->op.kind].params(&d->op, t->in.c,
		    d->param);
	for (int j = 0; j < d->op.nin; j++) {
		d->x[j] = draw(dims_count(&d->in[j]), 10 + (uint32_t)j);
		d->before[j] = draw(dims_count(&d->in[j]), 20 + (uint32_t)j);
	}
	for (int j = 0; j < d->op.nparam; j++) {
		d->w[j] = draw(d->param[j].count, 30 + (uint32_t)j);
		for (size_t i = 0; i < d->param[j].count; i++)
			if (d->param[j].kind == PARAM_VAR)
				d->w[j][i] = 0.5 + fabs(d->w[j][i]);
	}
	d->dy = draw(dims_count(&d->out), 40);
	if (d->op.kind == OP_LOSS && d->op.loss.weight == 0)
		d->op.loss.weight = 1;
	/* The gradient of the mean, times the weight of the loss. */
	for (size_t i = 0; i < dims_count(&d->out) && d->op.kind == OP_LOSS; i++)
		d->dy[i] = d->op.loss.weight / d->out.n;
	for (int i = 0; i < 16; i++) {
		label[i] = i % 5 == 4 ? -1 : i * 3 % t->in.c;
		clip[i] = 1000000007ull * (uint64_t)i;
	}
	for (size_t i = 0; i < sizeof(pixels); i++)
		pixels[i] = (uint8_t)(i * 131 >> 3);
	/* Clips 0, 2 and 4 have weights that differ from 1; clip 3 has 0. */
	for (int i = 0; i < 16 && d->op.kind == OP_LOSS; i++) {
		weight[i] = i % 2 ? i != 3 : 0.5f * (float)i + 0.25f;
		sum = 0;
		for (int c = 0; c < t->in.c; c++) {
			int k = i * t->in.c + c;

			share[0][k] = (i + c) % 3 == 0;
			share[1][k] = (float)(1 + (i * 7 + c * 5) % 4);
			sum += share[1][k];
		}
		for (int c = 0; c < t->in.c; c++)
			share[1][i * t->in.c + c] /= (float)sum;
	}
	for (int c = 0; c < 64; c++)
		class_weight[c] = 0.25f + 0.5f * (float)(c % 4);
	d->stream[1] = (struct stream){ t->in.t, t->in.h, t->in.w, t->in.c,
		pixels };
	d->target[TARGET_CLASS] = (struct target){ .classes = t->in.c,
		.label = label, .weight = d->op.kind == OP_LOSS &&
		d->op.loss.smooth > 0 ? weight : NULL };
	for (int k = 0; k < 2; k++)
		d->target[TARGET_SET + k] = (struct target){ .kind =
			TARGET_SET + k, .classes = t->in.c, .soft = share[k],
			.weight = weight };
	for (int k = 0; k < 3 && d->op.kind == OP_LOSS && (d->op.loss.smooth > 0 ||
	    d->op.loss.weight != 1); k++)
		d->target[k].class_weight = class_weight;
	d->feed = (struct feed){ .clip = clip, .seed = 5 };
}

static void
release(struct data *d)
{
	for (int j = 0; j < OP_INPUTS; j++) {
		free(d->x[j]);
		free(d->before[j]);
	}
	for (int j = 0; j < OP_PARAMS; j++)
		free(d->w[j]);
	free(d->dy);
}

/* Return a device copy of an activation; filled with NaN if ${host} is NULL. */
static void *
activation(struct device *b, const struct dims *d, const double *host)
{
	void *p = device_alloc(b, device_bytes(b, d));

	if (host != NULL)
		device_write(b, p, d, host);
	else
		poison_fill(b, p, device_bytes(b, d));
	return p;
}

/* Nonzero numbers in the padding of the last block of channels. */
static long stray;

/*
 * Return the bytes of an element of an activation.  On cpu, images of one pixel
 * stay fp32. ref stores rounded numbers in their full size.
 */
static size_t
stored(struct device *b, const struct dims *d)
{
	int cpu = strcmp(b->backend->name, "cpu") == 0;

	return b->o.precision != PRECISION_FP32 && (cpu ? d->h * d->w > 1 :
	    strncmp(b->backend->name, "ref", 3) != 0) ?
	    sizeof(uint16_t) : b->elem;
}

static double *
fetch(struct device *b, const struct dims *d, void *p)
{
	double *host = xcalloc(dims_count(d), sizeof(*host));
	size_t bytes = device_bytes(b, d), size = stored(b, d);
	void *raw = xmalloc(bytes);

	device_read(b, host, d, p);
	device_download(b, raw, p, bytes);
	for (size_t i = 0; i < dims_count(d); i++)
		stray -= host[i] != 0;
	for (size_t i = 0; i < bytes / size; i++)
		stray += size == sizeof(uint16_t) ?
		    (uint32_t)((uint16_t *)raw)[i] << 17 != 0 :	/* -0 == 0 */
		    size == sizeof(float) ? ((float *)raw)[i] != 0 :
		    ((double *)raw)[i] != 0;
	free(raw);
	device_free(b, p);
	return host;
}

static void
round_output(struct device *b, const struct data *d, void *y)
{
	size_t n = dims_count(&d->out);
	double *host = xcalloc(n, sizeof(*host));

	device_read(b, host, &d->out, y);
	for (size_t i = 0; i < n; i++)
		host[i] = round_to(host[i], d->rounded);
	device_write(b, y, &d->out, host);
	free(host);
}

/*
 * The treatment of gradients.  WRITTEN and ADDED: input gradients are
 * overwritten or accumulated.  UNWANTED: there are none.  FROZEN: there are
 * none for parameters.  FORWARD: there is no backward pass.
 * The backward pass has only the inputs that it declares to read; others hold
 * NaN.
 */
enum { WRITTEN, ADDED, UNWANTED, FROZEN, FORWARD };

/*
 * Load the streams and targets of ${f} into a staging buffer on the device, in
 * ${*memory}.  Return it; the caller frees both.
 */
static struct staging_buffer *
bring(struct device *b, const struct data *d, const struct feed *f,
    void **memory, struct task *t)
{
	struct target_spec target[3];
	const struct input_spec needs = { .streams = 2, .targets = 3,
		.target = target };
	struct dims input[2] = { { .n = d->out.n < 16 ? d->out.n : 16 } };
	struct staging_buffer *staging;

	for (int i = 0; i < 3; i++)
		target[i].classes = d->target[i].classes;
	if (d->op.kind == OP_INPUT)
		input[1] = d->out;
	staging = staging_buffer_new(b, &needs, input, 1);
	*memory = device_alloc(b, staging_buffer_bytes(staging));
	t->feed = staging_buffer_load(staging, *memory, NULL, f, &t->values);
	return staging;
}

/* Shape and algorithm of the operator that run() executed last. */
static char last_run[380];

/*
 * Run one operator forward and, in training, backward.  Return 0 if the back
 * end does not support it.
 */
static int
run(struct device *b, const struct data *d, int gradients,
    struct result *r)
{
	int accumulate = gradients == ADDED;
	const struct op_impl *impl = b->ops[d->op.kind];
	struct feed feed = d->feed;
	struct task t = { .device = b, .op = &d->op,
		.index = d->index, .fused_into = 3, .alias_of = 3, .materialized = 1,
		.impl = impl,
		.training = d->training, .reads = impl->reads,
		.needs_weight_grad = d->training && d->op.nparam > 0 &&
		gradients != FROZEN, .repeats = !accumulate, .weights_changed = 1, .out = d->out };
	int has_dx = d->training && gradients != UNWANTED &&
	    gradients != FORWARD && d->op.kind != OP_INPUT &&
	    !(d->op.kind == OP_CONV && d->in[0].c <= 3);	/* none */
	struct staging_buffer *staging;
	void *memory;
	size_t n;

	*r = (struct result){ 0 };
	feed.stream = d->stream;
	feed.target = d->target;
	feed.outcome = device_alloc(b, sizeof(*feed.outcome));
	poison_fill(b, feed.outcome, sizeof(*feed.outcome));
	for (int j = 0; j < d->op.nin; j++) {
		t.in[j] = d->in[j];
		t.accumulate[j] = accumulate;
		t.needs_input_grad[j] = has_dx;
	}
	if (impl->prepare != NULL && impl->prepare(&t) != 0) {
		task_release(&t);
		device_free(b, feed.outcome);
		return 0;
	}
	impl = t.impl;
	task_text(&t, last_run, sizeof(last_run));
	for (int j = 0; j < d->op.nin; j++) {
		t.x[j] = activation(b, &d->in[j], d->x[j]);
		if (has_dx)
			t.dx[j] = activation(b, &d->in[j],
			    accumulate ? d->before[j] : NULL);
	}
	for (int j = 0; j < d->op.nparam; j++) {
		size_t n = round_up(d->param[j].count, PARAM_ALIGN);
		double *w = xcalloc(n, sizeof(*w));

		memcpy(w, d->w[j], d->param[j].count * sizeof(*w));
		t.w[j] = device_alloc(b, n * b->elem);
		device_put(b, (void *)t.w[j], w, n);
		free(w);
		if (!t.needs_weight_grad)
			continue;
		t.dw[j] = device_alloc(b, n * b->elem);
		poison_fill(b, t.dw[j], n * b->elem);
	}
	staging = bring(b, d, &feed, &memory, &t);
	t.y = activation(b, &d->out, NULL);
	t.dy = activation(b, &d->out, d->dy);
	n = impl->saved ? impl->saved(&t) : 1;
	t.saved = device_alloc(b, n);
	poison_fill(b, t.saved, n);
	n = impl->scratch ? impl->scratch(&t) : 1;
	t.scratch = device_alloc(b, n);
	poison_fill(b, t.scratch, n);
	n = impl->packed_bytes ? impl->packed_bytes(&t) : 0;
	t.packed_weights = device_alloc(b, n > 0 ? n : 1);
	if (n > 0 && t.repeats) {
		/*
		 * An earlier microbatch with the same weights, which packs
		 * them.
		 */
		poison_fill(b, t.packed_weights, n);
		impl->forward(&t);
		if (d->training)
			impl->backward(&t);
		t.weights_changed = 0;
		poison_fill(b, (void *)t.w[0], d->param[0].count * b->elem);
		poison_fill(b, t.y, device_bytes(b, &d->out));
		if (t.needs_weight_grad)
			poison_fill(b, t.dw[0], d->param[0].count * b->elem);
		if (has_dx)
			poison_fill(b, t.dx[0], device_bytes(b, &d->in[0]));
	}
	n = impl->scratch ? impl->scratch(&t) : 1;
	poison_fill(b, t.scratch, n);
	impl->forward(&t);
	if (d->rounded != PRECISION_FP32)
		round_output(b, d, t.y);
	for (int j = 0; j < d->op.nin; j++)
		if (!(task_reads(&t) & READS_X))
			poison_fill(b, (void *)t.x[j], device_bytes(b, &d->in[j]));
	poison_fill(b, t.scratch, n);
	if (d->training && gradients != FORWARD && impl->backward != NULL)
		impl->backward(&t);
	r->y = fetch(b, &d->out, t.y);
	staging_buffer_return_outcome(staging, &feed);
	staging_buffer_free(staging);
	device_free(b, memory);
	if (d->op.kind == OP_LOSS)
		device_download(b, &r->outcome, feed.outcome,
		    sizeof(r->outcome));
	device_free(b, feed.outcome);
	for (int j = 0; j < d->op.nin; j++) {
		device_free(b, (void *)t.x[j]);
		if (has_dx)
			r->dx[j] = fetch(b, &d->in[j], t.dx[j]);
		for (size_t i = 0; has_dx && accumulate && !d->sums && i <
		    dims_count(&d->in[j]); i++)
			r->dx[j][i] -= d->before[j][i];
	}
	for (int j = 0; j < d->op.nparam; j++) {
		if (t.needs_weight_grad) {
			r->dw[j] = xcalloc(d->param[j].count, sizeof(double));
			device_get(b, r->dw[j], t.dw[j], d->param[j].count);
		}
		device_free(b, (void *)t.w[j]);
		device_free(b, t.dw[j]);
	}
	device_free(b, (void *)t.dy);
	device_free(b, t.saved);
	device_free(b, t.scratch);
	device_free(b, t.packed_weights);
	task_release(&t);
	return 1;
}

static void
release_result(struct result *r)
{
	free(r->y);
	for (int j = 0; j < OP_INPUTS; j++)
		free(r->dx[j]);
	for (int j = 0; j < OP_PARAMS; j++)
		free(r->dw[j]);
}

/*
 * Return the largest difference over the largest value; NaN counts as infinite.
 */
static double
difference(const double *a, const double *b, size_t n)
{
	double largest = 0, scale = 1e-30;

	for (size_t i = 0; i < n; i++) {
		double d = fabs(a[i] - b[i]);

		largest = d <= largest ? largest : isnan(d) ? INFINITY : d;
		scale = fabs(b[i]) > scale ? fabs(b[i]) : scale;
	}
	return largest / (scale > 1e-6 ? scale : 1);
}

static double
worst(const struct data *d, const struct result *a, const struct result *b)
{
	double w = difference(a->y, b->y, dims_count(&d->out)), v;

	for (int j = 0; j < d->op.nin && a->dx[j] != NULL; j++) {
		v = difference(a->dx[j], b->dx[j], dims_count(&d->in[j]));
		w = v > w ? v : w;
	}
	for (int j = 0; j < d->op.nparam && a->dw[j] != NULL; j++) {
		v = difference(a->dw[j], b->dw[j], d->param[j].count);
		w = v > w ? v : w;
	}
	v = difference(&a->outcome.loss, &b->outcome.loss, 1);
	if (a->outcome.top1 != b->outcome.top1 ||
	    a->outcome.top5 != b->outcome.top5)
		v = INFINITY;
	return v > w ? v : w;
}

/* ---- finite differences, on ref64 ---- */

static struct device *key;		/* an open ref64 */

/* f = sum y dy; its gradient is what the backward pass returns. */
static double
value(const struct data *d)
{
	struct result r;
	double sum = 0;

	run(key, d, FORWARD, &r);
	for (size_t i = 0; i < dims_count(&d->out); i++)
		sum += r.y[i] * d->dy[i];
	release_result(&r);
	return sum;
}

/* Return the worst error of up to 25 of the ${n} derivatives ${dv} of ${v}. */
static double
check_gradient(const struct data *d, double *v, const double *dv, size_t n)
{
	const double h = 1e-5;
	double worst_error = 0, scale = 1e-3;
	size_t step = n / 25 + 1;

	for (size_t i = 0; i < n; i++)
		scale = fabs(dv[i]) > scale ? fabs(dv[i]) : scale;
	for (size_t i = 0; i < n; i += step) {
		double was = v[i], up, down, error;

		v[i] = was + h;
		up = value(d);
		v[i] = was - h;
		down = value(d);
		v[i] = was;
		error = fabs((up - down) / (2 * h) - dv[i]) / scale;
		worst_error = error > worst_error ? error : worst_error;
	}
	return worst_error;
}

static void
test_gradients(const struct test *t)
{
	struct data d;
	struct result r;
	double w = 0, v;

	make(&d, t, 1);
	if (d.op.kind == OP_CONV && dims_count(&d.out) / (size_t)d.out.c *
	    d.param[0].count > 1000000) {
		release(&d);		/* similar cases are small */
		return;
	}
	run(key, &d, WRITTEN, &r);
	for (int j = 0; j < d.op.nin && r.dx[j] != NULL; j++) {
		v = check_gradient(&d, d.x[j], r.dx[j], dims_count(&d.in[j]));
		w = v > w ? v : w;
	}
	for (int j = 0; j < d.op.nparam; j++)
		if (d.param[j].kind < PARAM_MEAN) {
			v = check_gradient(&d, d.w[j], r.dw[j],
			    d.param[j].count);
			w = v > w ? v : w;
		}
	if (!ok(w < 1e-6,
	    "ref64: gradients of %s agree with finite differences",
	    t->what))
		diag("worst error %g", w);
	release_result(&r);
	release(&d);
}

/* ---- back ends against ref64 ---- */

/* Return the result of ref64 for a case, computed once for all back ends. */
static const struct result *
key_result(const struct test *t, const struct data *d)
{
	static struct result known[TESTS][2];
	struct result *r = &known[t - tests][d->training];

	if (r->y == NULL)
		run(key, d, WRITTEN, r);
	return r;
}

static void
test_backend(struct device *b, const struct test *t, double tolerance)
{
	struct data d;
	struct result got;
	double w = 0, v;
	char said[256], text[sizeof(last_run)];
	int supported = 1;

	for (int training = 0; training < 2 && supported; training++)
		for (int dx = WRITTEN; dx <= (training ? UNWANTED : WRITTEN) &&
		    supported; dx++) {
			make(&d, t, training);
			said_begin(said, sizeof(said));
			supported = run(b, &d, dx, &got);
			said_end();
			if (supported) {
				snprintf(text, sizeof(text), "%s", last_run);
				v = worst(&d, &got, key_result(t, &d));
				w = v > w ? v : w;
				release_result(&got);
			}
			release(&d);
		}
	if (!supported) {
		ok(t->op.kind != OP_CONV && t->op.k[0] > 1 &&
		    strstr(said, "the cpu back end") != NULL,
		    "%s: %s is refused by name", b->backend->name, t->what);
		diag("%s", said);
		return;
	}
	if (!ok(w <= tolerance, "%s: %s", b->backend->name, t->what))
		diag("worst relative difference from ref64 %g: %s", w, text);
}

/* ---- frozen parameters ---- */

/*
 * Count outputs and input gradients that change if there are no gradients of
 * parameters.
 */
static int
test_frozen(struct device *b, const struct test *t)
{
	struct data d;
	struct result got, want;
	int bad = 0;

	make(&d, t, 1);
	if (d.op.kind == OP_BN)
		d.op.bn.fixed = 1;
	if (run(b, &d, FROZEN, &got)) {
		run(b, &d, WRITTEN, &want);
		bad += memcmp(got.y, want.y, dims_count(&d.out) *
		    sizeof(*got.y)) != 0;
		for (int j = 0; j < d.op.nin && got.dx[j] != NULL; j++)
			bad += memcmp(got.dx[j], want.dx[j],
			    dims_count(&d.in[j]) * sizeof(*got.y)) != 0;
		for (int j = 0; j < d.op.nparam; j++)
			bad += got.dw[j] != NULL;
		release_result(&got);
		release_result(&want);
	}
	release(&d);
	if (bad > 0)
		diag("%s", t->what);
	return bad;
}

static const char *
name_of(const struct device *b)
{
	static char text[32];

	snprintf(text, sizeof(text), "%s%s", b->backend->name,
	    b->o.precision == PRECISION_BF16 ? " in bf16" :
	    b->o.precision == PRECISION_FP16 ? " in fp16" : "");
	return text;
}

static void
test_all_frozen(const struct backend *backend, enum precision p)
{
	struct device *b = device_open(backend, &(struct device_options){
	    .threads = 2, .precision = p });
	char said[256];
	int bad = 0;

	if (b == NULL)
		return;
	said_begin(said, sizeof(said));
	for (size_t i = 0; i < TESTS && b->o.precision == p; i++)
		if (op_types[tests[i].op.kind].params != NULL)
			bad += test_frozen(b, &tests[i]);
	said_end();
	ok(bad == 0, "%s: frozen parameters change no bit of input gradients",
	    name_of(b));
	device_close(b);
}

/* Check that each of ${n} devices gives the same bits. */
struct way { const struct backend *backend; int threads; };

static void
test_same(const struct way *way, int n, enum precision p, const char *what)
{
	static struct result first[TESTS];
	const char *worst_of = "";
	double w = 0;
	char said[256];

	said_begin(said, sizeof(said));
	for (int k = 0; k < n; k++) {
		struct device *b = device_open(way[k].backend,
		    &(struct device_options){ .threads = way[k].threads,
			.precision = p });

		for (size_t i = 0; i < TESTS; i++) {
			struct data d;
			struct result r;

			make(&d, &tests[i], 1);
			if (run(b, &d, ADDED, &r)) {
				if (k == 0) {
					first[i] = r;
				} else {
					double v = worst(&d, &r, &first[i]);

					worst_of = v > w ? tests[i].what :
					    worst_of;
					w = v > w ? v : w;
					release_result(&r);
				}
			}
			release(&d);
		}
		device_close(b);
	}
	said_end();
	for (size_t i = 0; i < TESTS; i++)
		release_result(&first[i]);
	if (!ok(w == 0, "%s%s: %s give the same bits", way[0].backend->name,
	    p == PRECISION_BF16 ? " in bf16" : "", what))
		diag("%s differs by %g", worst_of, w);
}

static void
test_threads(const struct backend *b, enum precision p)
{
	const struct way ways[] = { { b, 1 }, { b, 2 }, { b, 3 }, { b, 5 } };

	test_same(ways, 4, p, "1, 2, 3 and 5 threads");
}

/* Work is done when it is launched, or late, or in another order. */
static void
test_orders(enum precision p)
{
	struct way ways[STANDIN_WHENS];

	for (int i = 0; i < STANDIN_WHENS; i++)
		ways[i] = (struct way){ standin_backend((enum standin_when)i),
			1 };
	test_same(ways, STANDIN_WHENS, p, "all orders of execution");
}

static void
round_data(struct data *d, enum precision p)
{
	for (int j = 0; j < d->op.nin; j++)
		for (size_t i = 0; i < dims_count(&d->in[j]); i++) {
			d->x[j][i] = round_to(d->x[j][i], p);
			d->before[j][i] = round_to(d->before[j][i], p);
		}
	for (size_t i = 0; i < dims_count(&d->out); i++)
		d->dy[i] = round_to(d->dy[i], p);
}

/* ---- NaN ---- */

/*
 * Return the element in the window of output ${at} that receives its gradient:
 * the last NaN, or else the first maximum.
 */
static size_t
largest_of(const struct data *d, size_t at)
{
	const struct dims *in = &d->in[0], *out = &d->out;
	const struct op *op = &d->op;
	size_t best = SIZE_MAX, c = at % (size_t)out->c;
	int o[3], n, from[3];

	at /= (size_t)out->c;
	o[2] = (int)(at % (size_t)out->w);
	at /= (size_t)out->w;
	o[1] = (int)(at % (size_t)out->h);
	at /= (size_t)out->h;
	o[0] = (int)(at % (size_t)out->t);
	n = (int)(at / (size_t)out->t);
	for (int tap = 0; tap < op->k[0] * op->k[1] * op->k[2]; tap++) {
		const int k[3] = { tap / op->k[2] / op->k[1],
			tap / op->k[2] % op->k[1], tap % op->k[2] };
		size_t i;

		for (int a = 0; a < 3; a++)
			from[a] = o[a] * op->s[a] - op->p[a] + k[a];
		if (from[0] < 0 || from[0] >= in->t || from[1] < 0 ||
		    from[1] >= in->h || from[2] < 0 || from[2] >= in->w)
			continue;
		i = ((((size_t)n * (size_t)in->t + (size_t)from[0]) *
		    (size_t)in->h + (size_t)from[1]) * (size_t)in->w +
		    (size_t)from[2]) * (size_t)in->c + c;
		if (best == SIZE_MAX || d->x[0][i] > d->x[0][best] ||
		    isnan(d->x[0][i]))
			best = i;
	}
	return best;
}

/*
 * As in PyTorch, relu and relu6 pass the gradient of a NaN (threshold_backward,
 * hardtanh_backward).
 */
static void
expect(const struct data *d, double *y, double *dx)
{
	for (size_t i = 0; i < dims_count(&d->out); i++) {
		size_t from = d->op.kind == OP_MAXPOOL ? largest_of(d, i) : i;
		double x = d->x[0][from];

		y[i] = x;
		if (d->op.kind == OP_MAXPOOL) {
			dx[from] += d->dy[i];
			continue;
		}
		if (x < 0)
			y[i] = 0;
		if (d->op.kind == OP_RELU6 && x > 6)
			y[i] = 6;
		dx[i] = x <= 0 || (d->op.kind == OP_RELU6 && x >= 6) ? 0 :
		    d->dy[i];
	}
}

static int
differ(const double *got, const double *want, size_t n)
{
	int bad = 0;

	for (size_t i = 0; i < n; i++)
		bad += isnan(want[i]) ? !isnan(got[i]) : got[i] != want[i];
	return bad;
}

/* NaN and infinity in operators that compare. */
static void
test_nans(struct device *b)
{
	int bad = 0;

	for (size_t i = 0; i < TESTS; i++) {
		enum op_kind kind = tests[i].op.kind;
		struct result r, want = { 0 };
		struct data d;

		if (kind != OP_RELU && kind != OP_RELU6 && kind != OP_MAXPOOL)
			continue;
		make(&d, &tests[i], 1);
		round_data(&d, b->o.precision);
		for (size_t j = 0; j < dims_count(&d.in[0]); j++)
			d.x[0][j] = j % 7 == 3 ? NAN : j % 11 != 5 ?
			    (float)d.x[0][j] : j % 2 ? INFINITY : -INFINITY;
		for (size_t j = 0; j < dims_count(&d.out); j++)
			d.dy[j] = (double)(j % 5) - 2;
		want.y = xcalloc(dims_count(&d.out), sizeof(double));
		want.dx[0] = xcalloc(dims_count(&d.in[0]), sizeof(double));
		expect(&d, want.y, want.dx[0]);
		run(b, &d, WRITTEN, &r);
		bad += differ(r.y, want.y, dims_count(&d.out));
		bad += differ(r.dx[0], want.dx[0], dims_count(&d.in[0]));
		if (bad > 0)
			diag("%s: %d numbers", tests[i].what, bad);
		release_result(&r);
		release_result(&want);
		release(&d);
	}
	ok(bad == 0, "%s: NaN and its gradient pass through relu, relu6 and "
	    "maxpool", name_of(b));
}

/* ---- activations in 16 bits ---- */

/* Count numbers of ${got} that are not those of ${want}, rounded. */
static int
unlike(const double *got, const double *want, size_t n, enum precision p)
{
	int bad = 0;

	for (size_t i = 0; i < n; i++)
		bad += !(got[i] == round_to(want[i], p));
	return bad;
}

/*
 * From the same inputs and a rounded output, the 16-bit operator must store the
 * rounded results of the fp32 operator.  Gradients of parameters and losses
 * must be the same.
 */
static int
test_rounded(struct device *b, struct device *plain, const struct test *t,
    int mode, enum precision p)
{
	struct data d;
	struct result got, want;
	int loss = t->op.kind == OP_LOSS, bad;

	make(&d, t, 1);
	round_data(&d, p);
	d.sums = 1;
	run(b, &d, mode, &got);
	d.rounded = loss ? PRECISION_FP32 : p;
	run(plain, &d, mode, &want);
	bad = unlike(got.y, want.y, dims_count(&d.out), d.rounded);
	for (int j = 0; j < d.op.nin && got.dx[j] != NULL; j++)
		bad += unlike(got.dx[j], want.dx[j], dims_count(&d.in[j]), p);
	for (int j = 0; j < d.op.nparam; j++)
		bad += unlike(got.dw[j], want.dw[j], d.param[j].count,
		    PRECISION_FP32);
	if (bad > 0)
		diag("%s: %d numbers differ", t->what, bad);
	release_result(&got);
	release_result(&want);
	release(&d);
	return bad;
}

static void
test_precision(const char *name, enum precision p)
{
	struct device *b = device_open(backend_find(name),
	    &(struct device_options){ .threads = 1, .precision = p });
	struct device *plain = device_open(backend_find(name),
	    &(struct device_options){ .threads = 1 });
	int bad = 0;

	for (size_t i = 0; i < TESTS; i++)
		for (int mode = WRITTEN; mode <= ADDED; mode++)
			bad += test_rounded(b, plain, &tests[i], mode, p);
	test_nans(b);
	ok(bad == 0, "%s in %s: only activations and their gradients are "
	    "rounded", name, p == PRECISION_BF16 ? "bf16" :
	    "fp16");
	device_close(b);
	device_close(plain);
}

/*
 * Compare with bit arithmetic.  Also check doubles that must not be rounded
 * twice, via fp32.
 */
static void
test_rounding(void)
{
	uint32_t x = 12345;
	int bad = 0;

	for (int i = 0; i < 1000000; i++) {
		uint32_t to;
		float v, want;

		x = x * 1664525 + 1013904223;
		memcpy(&v, &x, sizeof(v));
		to = (x + 0x7fff + (x >> 16 & 1)) & 0xffff0000;
		memcpy(&want, &to, sizeof(want));
		bad += !isnan(v) && round_to(v, PRECISION_BF16) != want;
#ifdef __FLT16_MAX__
		v = ldexpf(v, -(int)(x >> 23 & 255) + 127 - 26 + i % 45);
		bad += !isnan(v) && round_to(v, PRECISION_FP16) != (_Float16)v;
#endif
	}
	is(bad, 0, "rounding to bf16 and fp16 is to nearest, ties to even");
	ok(round_to(1 + 0x1p-8 + 0x1p-40, PRECISION_BF16) == 1 + 0x1p-7 &&
	    round_to(65519.999, PRECISION_FP16) == 65504 &&
	    isinf(round_to(65520, PRECISION_FP16)) &&
	    round_to(0x1p-25, PRECISION_FP16) == 0 &&
	    round_to(0x1.001p-25, PRECISION_FP16) == 0x1p-24 &&
	    isnan(round_to(NAN, PRECISION_BF16)),
	    "rounding is right from double and at the ends of the formats");
}

/* Return the norm of the difference over the norm of ${b}. */
static double
by_norm(const double *a, const double *b, size_t n)
{
	double d = 0, s = 0;

	for (size_t i = 0; i < n; i++) {
		d += (a[i] - b[i]) * (a[i] - b[i]);
		s += b[i] * b[i];
	}
	d = sqrt(d) / (sqrt(s) > 1e-6 ? sqrt(s) : 1);
	return isnan(d) ? INFINITY : d;
}

/*
 * Return the result of ref64 in that precision for a case, computed once for
 * all back ends.  Input gradients are always overwritten or accumulated.
 */
static const struct result *
rounded_result(struct device *same, const struct test *t, const struct data *d,
    int mode)
{
	static struct result known[2][TESTS][3];
	struct result *r = &known[same->o.precision == PRECISION_FP16]
	    [t - tests][mode == ADDED ? 2 : d->training];

	if (r->y == NULL)
		run(same, d, mode == ADDED ? ADDED : WRITTEN, r);
	return r;
}

/*
 * Return the worst difference from ref64 in the same precision.  Both round
 * what they store; only the arithmetic differs.
 */
static double
off_rounded(struct device *b, struct device *same, const struct test *t,
    int training, int mode)
{
	struct data d;
	struct result got;
	const struct result *want;
	double w;

	make(&d, t, training);
	round_data(&d, b->o.precision);
	d.sums = 1;
	if (!run(b, &d, mode, &got)) {
		release(&d);
		return -1;
	}
	want = rounded_result(same, t, &d, mode);
	w = by_norm(got.y, want->y, dims_count(&d.out));
	for (int j = 0; j < d.op.nin && got.dx[j] != NULL; j++)
		if (mode != UNWANTED)
			w = fmax(w, by_norm(got.dx[j], want->dx[j],
			    dims_count(&d.in[j])));
	for (int j = 0; j < d.op.nparam && training; j++)
		w = fmax(w, by_norm(got.dw[j], want->dw[j], d.param[j].count));
	w = fmax(w, by_norm(&got.outcome.loss, &want->outcome.loss, 1));
	release_result(&got);
	release(&d);
	return w;
}

/* Return 0 if this machine lacks the precision. */
static int
test_stored(const struct backend *backend, enum precision p, double tolerance)
{
	struct device *b = device_open(backend, &(struct device_options){
	    .threads = 2, .precision = p });
	struct device *same = device_open(backend_find("ref64"),
	    &(struct device_options){ .threads = 1,
		.precision = p });
	char said[256];
	int has = b->o.precision == p;

	for (size_t i = 0; i < TESTS && has; i++) {
		double w = off_rounded(b, same, &tests[i], 0, WRITTEN);

		said_begin(said, sizeof(said));
		for (int mode = WRITTEN; mode <= UNWANTED && w >= 0; mode++)
			w = fmax(w, off_rounded(b, same, &tests[i], 1, mode));
		said_end();
		if (!ok(w >= 0 && w <= tolerance, "%s: %s", name_of(b),
		    tests[i].what))
			diag("%g by norm from ref64 of that precision", w);
	}
	if (has) {
		ok(stray == 0, "%s: padding channels stay 0",
		    name_of(b));
		test_nans(b);
	} else {
		skip(name_of(b), "the processor has no bf16 here");
	}
	stray = 0;
	device_close(b);
	device_close(same);
	return has;
}

/* ---- dropout of many elements, and in large networks ---- */

/*
 * Find which of ${n} elements from ${at}, of 2^22 + 4096, dropout drops in op
 * number ${index}.
 */
static void
dropped(struct device *b, int index, size_t at, size_t n, char *mask)
{
	const struct test t = { "", { .kind = OP_DROPOUT, .dropout.rate = 0.5 },
		{ 1, 1, 1025, 256, 16 }, { { 0 } } };
	struct data d;
	struct result r;

	make(&d, &t, 1);
	d.index = index;
	run(b, &d, UNWANTED, &r);
	for (size_t i = 0; i < n; i++)
		mask[i] = r.y[at + i] == 0;
	release_result(&r);
	release(&d);
}

static void
test_dropout(struct device *b)
{
	enum { N = 4096 };
	static char first[N], late[N], other[N];
	const uint64_t clip = 0;	/* the number that make() gives to
					 * the first clip */
	int bad = 0;

	dropped(b, 3, 0, N, first);
	dropped(b, 3, (size_t)1 << 22, N, late);
	dropped(b, 3 + 4096, 0, N, other);
	for (uint32_t i = 0; i < N; i++)
		bad += first[i] != (rng_unit(rng_philox(5, (uint32_t)clip,
		    (uint32_t)(clip >> 32), 3u << 20 | i / 4, 3).w[i % 4]) <
		    0.5);
	ok(bad == 0,
	    "%s: dropout of the first elements is that of earlier versions",
	    b->backend->name);
	bad = 0;
	for (uint32_t i = 0; i < N; i++)
		bad += late[i] != (rng_unit(rng_philox(5, (uint32_t)clip,
		    (uint32_t)(clip >> 32), 3u << 20 | i / 4, 1 << 8 | 3).w[i %
		    4]) < 0.5);
	ok(bad == 0, "%s: dropout after 2^22 elements is not that of the first",
	    b->backend->name);
	ok(memcmp(first, other, N) != 0,
	    "%s: dropout of an op 4096 places later is another",
	    b->backend->name);
}

/* ---- updates of parameters ---- */

static void
test_update(struct device *b)
{
	enum { N = 100003 };
	double *w = draw(N, 1), *m = draw(N, 2), *g = draw(N, 3), *host[2];
	double bad = 0, squares[2][3];
	/*
	 * The second table has the size of the first; a cached copy of the
	 * first must not be used.
	 */
	const struct interval part[2][3] = {
		{ { 5, 0 }, { 5, 1024 }, { 1029, N - 1029 } },
		{ { 7, 0 }, { 7, 500 }, { 507, 2000 } } };

	for (int nesterov = 0; nesterov < 2; nesterov++) {
		struct device *be[2] = { b, key };

		for (int k = 0; k < 2; k++) {
			void *dw = device_alloc(be[k], N * be[k]->elem);
			void *dm = device_alloc(be[k], N * be[k]->elem);
			void *dg = device_alloc(be[k], N * be[k]->elem);
			struct update u = { .w = dw, .m = dm, .g = dg, .n = N,
				.lr = 0.1, .momentum = 0.9, .decay = 1e-4,
				.scale = 0.25, .nesterov = nesterov };
			struct track t = { .w = dg, .x = dm, .n = N,
				.rate = 0.1, .scale = 0.5 };

			device_put(be[k], dw, w, N);
			device_put(be[k], dm, m, N);
			device_put(be[k], dg, g, N);
			device_update(be[k], &u);
			device_add(be[k], dg, dw, N);
			device_track(be[k], &t);
			host[k] = xcalloc(2 * N, sizeof(double));
			device_get(be[k], host[k], dw, N);
			device_get(be[k], host[k] + N, dg, N);
			device_squares(be[k], squares[k], dm, part[nesterov],
			    3);
			device_free(be[k], dw);
			device_free(be[k], dm);
			device_free(be[k], dg);
		}
		bad = fmax(bad, difference(host[0], host[1], 2 * N));
		for (int i = 0; i < 3; i++)
			bad = fmax(bad, fabs(squares[0][i] - squares[1][i]) / N);
		bad = fmax(bad, fabs(squares[0][0]));
		free(host[0]);
		free(host[1]);
	}
	if (!ok(bad < 1e-6, "%s: update, add, track and squares agree with "
	    "ref64", b->backend->name))
		diag("worst difference from ref64 %g", bad);
	free(w);
	free(m);
	free(g);
}

/* Adam directions, steps with them, and clamping. */
static void
test_moments(struct device *b)
{
	enum { N = 70001 };
	double *v[4], *host[2], bad;
	struct device *be[2] = { b, key };

	for (int i = 0; i < 4; i++)
		v[i] = draw(N, 11 + (uint32_t)i);
	for (size_t i = 0; i < N; i++)
		v[2][i] *= v[2][i];	/* a mean square */
	for (int k = 0; k < 2; k++) {
		void *d[4];
		struct moments m = { .n = N, .beta1 = 0.9, .beta2 = 0.99,
			.eps = 1e-6, .decay = 0.01, .scale = 0.25,
			.bias_correction1 = 0.271, .bias_correction2 = 0.029701 };
		struct update u = { .n = N, .lr = 0.1, .decay = 0.02,
			.scale = 0.5 };

		host[k] = xcalloc(5 * N, sizeof(double));
		for (int i = 0; i < 4; i++) {
			d[i] = device_alloc(be[k], N * be[k]->elem);
			device_put(be[k], d[i], v[i], N);
		}
		m.w = u.w = d[0];
		m.m = d[1];
		m.v = d[2];
		m.g = d[3];
		u.g = d[3];
		device_moments(be[k], &m);
		device_get(be[k], host[k] + 4 * N, d[3], N);
		device_clamp(be[k], &(struct clamp){ .x = d[3], .n = N,
			.max = 1.5, .scale = 2 });
		device_update(be[k], &u);
		for (int i = 0; i < 4; i++) {
			device_get(be[k], host[k] + i * N, d[i], N);
			device_free(be[k], d[i]);
		}
	}
	bad = difference(host[0], host[1], 5 * N);
	for (size_t i = 3 * N; i < 4 * N; i++)
		bad = fmax(bad, fabs(host[1][i]) - 0.75);
	if (!ok(bad < 1e-5, "%s: moments, update and clamp agree with ref64",
	    b->backend->name))
		diag("worst difference from ref64 %g", bad);
	for (int i = 0; i < 4; i++)
		free(v[i]);
	free(host[0]);
	free(host[1]);
}

/*
 * Test a back end in fp32 on all cases.  Return 0 if there is no such device.
 */
static int
test_whole(const struct backend *backend)
{
	double tolerance = backend->elem == 8 ? 1e-12 : 1e-4;
	struct device *b = device_open(backend, &(struct device_options){
	    .threads = 2 });

	if (b == NULL)
		return 0;
	for (size_t i = 0; i < TESTS; i++)
		test_backend(b, &tests[i], tolerance);
	ok(stray == 0, "%s: padding of channel blocks stays 0",
	    backend->name);
	stray = 0;
	test_nans(b);
	if (backend->elem == sizeof(float))
		test_dropout(b);
	stray = 0;
	test_update(b);
	test_moments(b);
	device_close(b);
	test_all_frozen(backend, PRECISION_FP32);
	return 1;
}

/* Test the cuda back end on the stand-in, without a GPU. */
static void
test_standin(void)
{
	const struct backend *b = standin_backend(STANDIN_AT_ONCE);

	test_whole(b);
	test_stored(b, PRECISION_BF16, 1e-2);
	if (!standin_pretends()) {
		test_orders(PRECISION_FP32);
		test_orders(PRECISION_BF16);
	}
	test_all_frozen(b, PRECISION_BF16);
	test_stored(b, PRECISION_FP16, 2e-3);
}

/* Test the cpu back end in bf16. */
static void
test_half(void)
{
	const struct backend *cpu = backend_find("cpu");

	if (cpu != NULL && test_stored(cpu, PRECISION_BF16, 2e-2))
		test_threads(cpu, PRECISION_BF16);
}

static void
test_all(const struct backend *backend)
{
	if (test_whole(backend)) {
		test_threads(backend, PRECISION_FP32);
		test_all_frozen(backend, PRECISION_BF16);
	}
}

int
main(int argc, char **argv)
{
	list_tests();
	key = device_open(backend_find("ref64"), &(struct device_options){
	    .threads = 1 });
	if (argc > 1 && strcmp(argv[1], "standin") == 0) {
		test_standin();
		return done();
	}
	if (argc > 1) {
		test_all(backend_find(argv[1]));
		if (strcmp(argv[1], "cpu") == 0)
			test_half();
		return done();
	}
	for (size_t i = 0; i < TESTS; i++)
		if (tests[i].op.kind != OP_INPUT)
			test_gradients(&tests[i]);
	for (int k = 0; backends[k] != NULL; k++)
		test_all(backends[k]);
	test_standin();
	test_rounding();
	test_half();
	device_close(key);
	for (int p = PRECISION_BF16; p <= PRECISION_FP16; p++) {
		test_precision("ref", (enum precision)p);
		test_precision("ref64", (enum precision)p);
	}
	return done();
}
