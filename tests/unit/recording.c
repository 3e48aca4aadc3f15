/*
 * Recordings: samples that share a group, a video, hashes, a session or a time
 * are of one recording, and held-out samples are whole recordings that have a
 * part of each class.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/holdout.h"
#include "shard/recording.h"
#include "tap.h"

static const struct stream_list streams = { 1, { { "rgb", "jpg" } } };

/* Return a dataset of the samples s[n] with ${classes} classes A, B, ... */
static struct dataset *
set_of(const struct sample *s, uint32_t n, int classes)
{
	struct class_list names = { 0 };
	struct dataset_content c = { .path = "set", .sample = s, .samples = n,
		.classes = &names, .streams = &streams, .extract = "{}" };
	struct dataset *d;
	char name[2] = "A";

	for (int k = 0; k < classes; k++, name[0]++)
		class_add(&names, name);
	d = dataset_of(&c);
	class_list_free(&names);
	return d;
}

/* Return the first sample of the recording of each as digits, up to 36. */
static const char *
firsts(const struct sample *s, uint32_t n, int classes)
{
	static char text[64];
	struct dataset *d = set_of(s, n, classes);
	struct recordings r = { 0 };

	if (recordings_add(&r, d, 0) != 0)
		return "";
	recordings_find(&r);
	for (uint32_t i = 0; i < n; i++)
		text[i] = "0123456789abcdefghijklmnopqrstuvwxyz"
		    [r.sample[i].first];
	text[n] = '\0';
	recordings_free(&r);
	dataset_free(d);
	return text;
}

static void
test_names(void)
{
	static const struct { const char *key, *time; } row[] = {
		{ "walk/walk_20200626_154313_00a", "20200626154313" },
		{ "a/2020-06-26T15-43-13", "20200626154313" },
		{ "2020-06-26=2015=3A43=3A13=2E500", "20200626154313" },
		{ "VID_20200626154313", "20200626154313" },
		{ "cam1_2018-03-05=2E13-10-00=2E13-15-01", "20180305131000" },
		{ "20200626_1543", NULL }, { "120200626154313", NULL },
		{ "20201326_154313", NULL }, { "20200626_254313", NULL },
		{ "IMG-20190304-WA0001", NULL }, { "202006261543131", NULL },
		{ "", NULL },
	};
	char time[15];

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		int found = recording_time(row[i].key, time) == 0;

		ok(found == (row[i].time != NULL) && (!found ||
		    strcmp(time, row[i].time) == 0), "the time in '%s' is %s",
		    row[i].key, row[i].time != NULL ? row[i].time : "none");
	}
	is((int)recording_session("Bow/v_Bow_g12_c03"), 13,
	    "a session ends before _c03");
	is((int)recording_session("Bow/v_Bow_g12_clip"), 0,
	    "_g12_clip names no session");
	is((int)recording_session("a_g_g1_c2"), 6,
	    "the first _g need not be the session");
}

static void
test_rules(void)
{
	const struct sample by_name[] = {
		{ .key = "A/v_A_g01_c01", .label = 0 },
		{ .key = "A/v_A_g02_c01", .label = 0 },
		{ .key = "A/v_A_g01_c02", .label = 0 },
		{ .key = "B/x_20200626_154313_1", .label = 1 },
		{ .key = "A/y_2020-06-26_15-43-13", .label = 0 },
		{ .key = "A/v_A_g02_c07", .label = 1 },
	};
	const struct sample by_content[] = {
		{ .key = "a", .source = "film", .phash = 1 },
		{ .key = "b", .source_bytes = 9, .source_hash = 7, .phash = 2 },
		{ .key = "c", .source = "film", .source_bytes = 9,
			.source_hash = 8, .phash = 3 },
		{ .key = "d", .source_bytes = 9, .source_hash = 7 },
		{ .key = "e", .phash = 1 }, { .key = "f", .phash = 4 },
		{ .key = "g" },
	};
	const struct sample groups[] = {
		{ .key = "x_20200626_154313_1", .group = "p" },
		{ .key = "x_20200626_154313_2", .group = "q" },
		{ .key = "y", .group = "p" },
		{ .key = "x_20200626_154313_3" },
	};
	const struct sample common[] = {
		{ .key = "a", .phash = 5 }, { .key = "b", .phash = 5 },
		{ .key = "c", .phash = 5 }, { .key = "d", .phash = 6 },
		{ .key = "e", .phash = 6 },
	};

	is_text(firsts(by_name, 6, 2), "010335",
	    "sessions of one class, and times of any, are recordings");
	is_text(firsts(by_content, 7, 1), "0101056",
	    "parts of a video, copies, and equal looks are recordings");
	is_text(firsts(groups, 4, 1), "0103", "groups replace names");
	is_text(firsts(common, 5, 1), "01233",
	    "a hash that more than half of a class shares joins nothing");
}

/* Two sets: equal paths are different videos, equal bytes are not. */
static void
test_sets(void)
{
	const struct sample one[] = { { .key = "a", .source = "1.mp4",
		.source_bytes = 4, .source_hash = 1 } };
	const struct sample other[] = {
		{ .key = "a", .source = "1.mp4", .source_bytes = 5 },
		{ .key = "b", .source_bytes = 4, .source_hash = 1 } };
	struct dataset *x = set_of(one, 1, 1), *y = set_of(other, 2, 1);
	struct recordings r = { 0 };

	ok(recordings_add(&r, x, 0) == 0 && recordings_add(&r, y, 0) == 0,
	    "samples of two sets");
	recordings_find(&r);
	ok(r.sample[1].first == 1 && r.sample[2].first == 0,
	    "of two sets, equal bytes are one recording, equal paths are not");
	recordings_free(&r);
	dataset_free(x);
	dataset_free(y);
}

enum { SAMPLES = 300, CLASSES = 3 };

/* Hold out a fifth of samples in recordings of up to 9 samples.  Class C has
 * one recording. */
static void
test_holdout(void)
{
	static struct sample s[SAMPLES];
	static char key[SAMPLES][24], group[SAMPLES][8], held[SAMPLES];
	struct buffer table = { 0 }, again = { 0 };
	int all[CLASSES] = { 0 }, out[CLASSES] = { 0 }, divided = 0;
	struct dataset *d;

	for (int i = 0; i < SAMPLES; i++) {
		s[i].label = i < 10 ? 2 : i % 2;
		snprintf(group[i], sizeof(group[i]), "%d", i < 10 ? 0 :
		    1 + (i * i) % 67);
		snprintf(key[i], sizeof(key[i]), "k%d", i * 7919 % 1000);
		s[i].key = key[i];
		s[i].group = group[i];
	}
	d = set_of(s, SAMPLES, CLASSES);
	ok(holdout_draw(d, 0.2, 0, held, &table) == 0, "a fifth is held out");
	for (int i = 0; i < SAMPLES; i++) {
		all[s[i].label]++;
		out[s[i].label] += held[i];
		for (int k = 0; k < i; k++)
			divided += held[i] != held[k] &&
			    strcmp(group[i], group[k]) == 0;
	}
	is(divided, 0, "no recording is divided");
	for (int c = 0; c < 2; c++)
		ok(out[c] >= all[c] / 5 && out[c] <= all[c] / 2,
		    "%d of %d samples of class %d", out[c], all[c], c);
	is(out[2], 0, "a class with one recording is not held out");
	ok(holdout_draw(d, 0.2, 0, held, &again) == 0 &&
	    strcmp(table.data, again.data) == 0, "the choice is repeatable");
	dataset_free(d);
	buffer_free(&again);
	d = set_of(s, 10, CLASSES);
	ok(holdout_draw(d, 0.2, 0, held, &again) != 0,
	    "one recording cannot be divided");
	dataset_free(d);
	buffer_free(&again);
	buffer_free(&table);
}

/* A part has the samples of its numbers, and lives longer than its set. */
static void
test_part(void)
{
	const struct sample s[] = { { .key = "a", .frames = 9 },
		{ .key = "b", .frames = 3 }, { .key = "c", .frames = 5 } };
	const uint32_t number[] = { 2, 1 };
	struct dataset *d = set_of(s, 3, 1);
	struct dataset *x = dataset_part(d, number, 2);
	struct dataset *y = dataset_part(d, number, 1);
	int frames, w, h;

	is((int)dataset_samples(x), 2, "a part of two samples");
	is_text(dataset_sample(x, 0).key, "c", "the first is the third");
	dataset_max(x, &frames, &w, &h);
	is(frames, 5, "the largest frames of the part");
	ok(!hash128_equal(dataset_id(x), dataset_id(d)) &&
	    !hash128_equal(dataset_id(x), dataset_id(y)),
	    "set and parts have identities of their own");
	dataset_free(d);
	dataset_free(x);
	is_text(dataset_sample(y, 0).key, "c", "a part keeps its set open");
	dataset_free(y);
}

int
main(void)
{
	test_names();
	test_rules();
	test_sets();
	test_holdout();
	test_part();
	return done();
}
