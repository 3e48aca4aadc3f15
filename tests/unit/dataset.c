/*
 * Shards and packed datasets: written files read back in any order and by
 * several threads, damage is found, and the identity depends on the content.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/rng.h"
#include "shard/dataset.h"
#include "shard/manifest.h"
#include "shard/reader.h"

#include "golden.h"
#include "said.h"
#include "tap.h"

#define SHARDS 5
#define SAMPLES 7		/* per shard */
#define FRAMES 40

static char *dir;

static void
test_golden(void)
{
	char *path = path_join(dir, "golden.tar"), *command, line[100] = "";
	struct buffer mine = { 0 }, theirs = { 0 };
	struct shard_sum sum;
	FILE *f;

	is(golden_make(path, &sum), 0, "golden.tar is made from its rule");
	is((long long)sum.bytes, GOLDEN_SIZE, "golden.tar has its size");
	file_read(path, &mine);
	ok(hash128_equal(sum.hash, hash128(mine.data, mine.n)),
	    "shard_finish returns the hash of the file");
	command = xprintf("sha256sum '%s'", path);
	if ((f = popen(command, "r")) != NULL &&
	    fgets(line, sizeof(line), f) != NULL)
		line[64] = '\0';
	pclose(f);
	is_text(line, GOLDEN_SHA256, "golden.tar has its SHA-256");
	file_read(golden_path("golden.tar"), &theirs);
	ok(mine.n == theirs.n && memcmp(mine.data, theirs.data, mine.n) == 0,
	    "golden.tar has the bytes of the stored file");
	unlink(path);
	free(path);
	free(command);
	buffer_free(&mine);
	buffer_free(&theirs);
}

/*
 * If set, a made dataset differs from the first in one label, or in one frame.
 */
static int other_label, other_frame;

/* Write the bytes of a frame; length and content depend on both numbers. */
static size_t
frame_bytes(uint32_t sample, int frame, unsigned char *to)
{
	struct rng_block b = rng_philox(1, sample, (uint32_t)frame, 0, 0);
	/* Some gaps between frames are below 64 KiB and some are not. */
	size_t n = frame % 10 == 3 ? 70000 + b.w[1] % 100 : 1 + b.w[1] % 3000;

	for (size_t i = 0; i < n; i++)
		to[i] = (unsigned char)(b.w[i % 4] >> i % 23);
	return n;
}

static void
make_shard(struct manifest *m, int k)
{
	static unsigned char data[80000];
	char name[32], key[32], *path;
	struct shard_writer *w;
	struct shard_sum sum;
	int bad = 0;

	sprintf(name, "t-%06d.tar", k);
	path = path_join(dir, name);
	w = shard_create(path, (uint32_t)k, m->samples, m->settings,
	    &m->streams);
	for (int i = 0; i < SAMPLES; i++) {
		uint32_t g = (uint32_t)m->samples + (uint32_t)i, blk = 0;
		struct sample s = { .key = key, .frames = FRAMES,
			.streams = &m->streams,
			.label = ((int)g + (other_label && g == 9)) % 3,
			.width = 64, .height = 48, .fps = { 25, 1 },
			.source_hash = g };
		struct shard_record r[FRAMES + 2];
		char member[64];

		sprintf(key, "c%d/clip_%u", (int)g % 3, g);
		for (int f = 0; f < FRAMES; f++) {
			size_t n = frame_bytes(g, f, data);

			data[0] ^= (unsigned char)(other_frame && g == 9);
			sprintf(member, "%s.%06d.jpg", key, f);
			bad |= golden_member(w, &blk, &r[f], member, data, n,
			    400 * (uint32_t)f);
		}
		sprintf(member, "%s.cls", key);
		bad |= golden_member(w, &blk, &r[FRAMES], member, "0", 1, 0);
		sprintf(member, "%s.json", key);
		bad |= golden_member(w, &blk, &r[FRAMES + 1], member, key,
		    strlen(key), 0);
		bad |= shard_add(w, &s, r, FRAMES + 2);
	}
	bad |= shard_finish(w, &sum);
	is(bad, 0, "a shard is written");
	manifest_add(m, name, &sum);
	free(path);
}

static void
make_set(void)
{
	struct manifest *m = manifest_new();

	class_add(&m->classes, "c0");
	class_add(&m->classes, "c1");
	class_add(&m->classes, "c two");
	m->options = xstrdup("{\"classes\":\"given\",\"shard_size\":1}");
	m->streams = (struct stream_list){ 1, { { "rgb", "jpg" } } };
	m->settings = manifest_settings_id(&m->classes, m->options,
	    &m->streams);
	for (int k = 0; k < SHARDS; k++)
		make_shard(m, k);
	is(manifest_write(dir, m), 0, "the manifest is written");
	manifest_free(m);
}

/* Read frames and compare them.  Return 1 if any is wrong. */
static int
read_some(const struct dataset *d, uint32_t i, const int *frame, int n)
{
	static _Thread_local unsigned char want[80000];
	struct buffer b = { 0 }, memory = { 0 };
	size_t at[200];
	int wrong = dataset_frames_read(d, i, 0,
	    &(struct frame_read){ frame, n, &b, at, &memory }, NULL) != 0;

	for (int k = 0; k < n && !wrong; k++) {
		size_t bytes = frame_bytes(i, frame[k], want);

		wrong += at[k + 1] - at[k] != bytes ||
		    memcmp(b.data + at[k], want, bytes) != 0;
	}
	buffer_free(&b);
	buffer_free(&memory);
	return wrong;
}

static int
read_all(const struct dataset *d, uint64_t seed)
{
	struct rng r = rng_clip(seed, 0);
	int frame[150], wrong = 0;

	for (int turn = 0; turn < 300; turn++) {
		uint32_t i = rng_below(&r, SHARDS * SAMPLES);
		int n = 1 + (int)rng_below(&r, 150);

		for (int k = 0; k < n; k++)
			frame[k] = (int)rng_below(&r, FRAMES);
		wrong += read_some(d, i, frame, n);
	}
	return wrong;
}

static void *
reader(void *arg)
{
	return (void *)(intptr_t)read_all(arg, (uint64_t)pthread_self());
}

static void
test_reading(void)
{
	struct dataset *d = dataset_open(dir, NULL);
	struct rlimit limit, few;
	struct buffer b = { 0 };
	struct sample s;
	pthread_t thread[4];
	void *result;
	int frame[FRAMES], wrong = 0;

	ok(d != NULL, "dataset_open opens a dataset");
	if (d == NULL)
		return;
	is(dataset_samples(d), SHARDS * SAMPLES,
	    "dataset_samples returns the number of samples");
	is(dataset_classes(d), 3,
	    "dataset_classes returns the number of classes");
	is_text(dataset_class(d, 2), "c two", "dataset_class returns a name");
	is_text(dataset_ext(d, 0), "jpg",
	    "dataset_ext returns the kind of frames");
	s = dataset_sample(d, 23);
	is_text(s.key, "c2/clip_23", "dataset_sample returns the key");
	is(s.label, 2, "dataset_sample returns the label");
	is(s.frames, FRAMES, "dataset_sample returns the number of frames");
	is(s.width == 64 && s.height == 48 && s.fps.num == 25, 1,
	    "dataset_sample returns size and rate");
	is(dataset_json_read(d, 23, &b), 0,
	    "dataset_json_read reads the .json member");
	is_text(b.data, "c2/clip_23", "the .json member has the written text");
	for (int f = 0; f < FRAMES; f++)
		frame[f] = f;
	for (uint32_t i = 0; i < SHARDS * SAMPLES; i++)
		wrong += read_some(d, i, frame, FRAMES);
	is(wrong, 0, "every frame of every sample reads back");
	is(read_all(d, 5), 0, "frames in any order, with repeats, read back");
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, reader, d);
	for (int i = 0; i < 4; i++) {
		pthread_join(thread[i], &result);
		wrong += (int)(intptr_t)result;
	}
	is(wrong, 0, "four threads read at the same time");
	dataset_free(d);

	/* So few open files that shards must be closed and reopened. */
	getrlimit(RLIMIT_NOFILE, &limit);
	few = limit;
	few.rlim_cur = 8;
	setrlimit(RLIMIT_NOFILE, &few);
	d = dataset_open(dir, NULL);
	few.rlim_cur = 5;
	setrlimit(RLIMIT_NOFILE, &few);
	ok(d != NULL && read_all(d, 6) == 0,
	    "frames read back with few open files");
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, reader, d);
	for (int i = 0; i < 4; i++) {
		pthread_join(thread[i], &result);
		wrong += (int)(intptr_t)result;
	}
	is(wrong, 0, "four threads read with few open files");
	setrlimit(RLIMIT_NOFILE, &limit);
	dataset_free(d);
	buffer_free(&b);
}

/* Change a bit of the byte at ${at}. */
static void
flip(const char *path, off_t at)
{
	int fd = open(path, O_RDWR);
	unsigned char c = 0;

	if (pread(fd, &c, 1, at) != 1)
		diag("cannot read");
	c ^= 0x10;
	if (pwrite(fd, &c, 1, at) != 1)
		diag("cannot write");
	close(fd);
}

static void
test_damage(void)
{
	char *path = path_join(dir, "t-000001.tar");
	char *other = path_join(dir, "t-000002.tar");
	char *manifest = path_join(dir, MANIFEST_NAME), said[1000];
	char *kept = path_join(dir, "kept");
	struct dataset *d = dataset_open(dir, NULL);
	struct buffer b = { 0 }, memory = { 0 };
	size_t at[2];
	int zero = 0;

	said_begin(said, sizeof(said));
	flip(path, 600);
	is(dataset_frames_read(d, SAMPLES, 0,
	    &(struct frame_read){ &zero, 1, &b, at, &memory }, NULL), -2,
	    "a changed byte of a frame is found");
	said_end();
	ok(strstr(said, "t-000001.tar: key c1/clip_7, offset 512: frame 0") !=
	    NULL, "the message names shard, key, offset and frame");
	flip(path, 600);
	dataset_free(d);

	said_begin(said, sizeof(said));
	flip(path, (off_t)file_size(path) - 1300);
	ok(dataset_open(dir, NULL) == NULL, "a changed footer is found");
	flip(path, (off_t)file_size(path) - 1300);
	flip(path, (off_t)file_size(path) - 2500);
	ok(dataset_open(dir, NULL) == NULL, "a changed index is found");
	flip(path, (off_t)file_size(path) - 2500);
	rename(path, kept);
	ok(dataset_open(dir, NULL) == NULL, "a missing shard is found");
	is(link(other, path), 0, "one shard gets the name of another");
	ok(dataset_open(dir, NULL) == NULL,
	    "a shard under the name of another is found");
	said_begin(said, sizeof(said));
	rename(kept, path);
	flip(manifest, 100);
	ok(dataset_open(dir, NULL) == NULL, "a changed manifest is found");
	flip(manifest, 100);
	said_end();
	d = dataset_open(dir, NULL);
	ok(d != NULL, "the restored dataset opens");
	dataset_free(d);
	free(path);
	free(other);
	free(manifest);
	free(kept);
	buffer_free(&b);
	buffer_free(&memory);
}

/* Make a dataset in a folder ${name}.  Return its identity. */
static struct hash128
identity_of_set(const char *name)
{
	char *whole = dir;
	struct dataset *d;
	struct hash128 id;

	dir = path_join(whole, name);
	file_make_dir(dir, NULL);
	make_set();
	d = dataset_open(dir, NULL);
	id = dataset_id(d);
	dataset_free(d);
	free(dir);
	dir = whole;
	return id;
}

/*
 * Replace ${from} by ${to} everywhere in a file.  Return the number of
 * replacements.
 */
static int
edit(const char *path, const char *from, const char *to)
{
	struct buffer b = { 0 }, out = { 0 };
	const char *at;
	int n = 0;

	file_read(path, &b);
	for (at = b.data; strstr(at, from) != NULL; n++) {
		const char *hit = strstr(at, from);

		buffer_add(&out, at, (size_t)(hit - at));
		buffer_text(&out, to);
		at = hit + strlen(from);
	}
	buffer_text(&out, at);
	commit_bytes(path, out.data, out.n);
	buffer_free(&b);
	buffer_free(&out);
	return n;
}

/*
 * Equal datasets have the same identity.  Another label, frame or class name
 * changes it, though the settings are the same.
 */
static void
test_identity(void)
{
	struct dataset *d = dataset_open(dir, NULL);
	struct hash128 id = dataset_id(d), settings = dataset_settings_id(d);
	char *same = path_join(dir, "same"), *other = path_join(dir, "label");
	char *manifest = path_join(same, MANIFEST_NAME), said[1000];
	char *shard = path_join(same, "t-000001.tar");
	char *theirs = path_join(other, "t-000001.tar"), text[2][33];
	struct buffer b = { 0 }, original = { 0 };

	dataset_free(d);
	ok(hash128_equal(identity_of_set("same"), id),
	    "an equal dataset has the same identity");
	other_label = 1;
	ok(!hash128_equal(identity_of_set("label"), id),
	    "another label gives another identity");
	other_label = 0;
	other_frame = 1;
	ok(!hash128_equal(identity_of_set("frame"), id),
	    "another frame gives another identity");
	other_frame = 0;
	d = dataset_open(other, NULL);
	ok(hash128_equal(dataset_settings_id(d), settings),
	    "another label does not change the settings id");
	dataset_free(d);

	file_read(manifest, &original);
	edit(manifest, "\"version\":2", "\"version\":1");
	said_begin(said, sizeof(said));
	d = dataset_open(same, NULL);
	said_end();
	ok(d == NULL && strstr(said, "\"version\" is missing or another one "
	    "(wanted 2)") != NULL, "a manifest of another version is refused");
	edit(manifest, "\"version\":1", "\"version\":2");
	edit(manifest, hash128_text(id, text[0]), hash128_text(settings, text[1]));
	said_begin(said, sizeof(said));
	ok(dataset_open(same, NULL) == NULL,
	    "an identity that is not that of the shards is refused");
	said_end();

	/* An equal manifest does not make an equal dataset. */
	commit_bytes(manifest, original.data, original.n);
	d = dataset_open(same, NULL);
	ok(d != NULL, "the dataset with the original manifest opens");
	dataset_free(d);
	file_read(theirs, &b);
	commit_bytes(shard, b.data, b.n);
	said_begin(said, sizeof(said));
	ok(dataset_open(same, NULL) == NULL,
	    "a shard of another dataset with the same settings is refused");
	said_end();
	buffer_free(&b);
	buffer_free(&original);
	free(same);
	free(other);
	free(manifest);
	free(shard);
	free(theirs);
}

int
main(void)
{
	char temp[] = "/tmp/vt-dataset.XXXXXX", *command;

	if ((dir = mkdtemp(temp)) == NULL)
		return 1;
	test_golden();
	make_set();
	test_reading();
	test_identity();
	test_damage();
	command = xprintf("rm -r '%s'", dir);
	if (system(command) != 0)
		diag("cannot remove %s", dir);
	free(command);
	return done();
}
