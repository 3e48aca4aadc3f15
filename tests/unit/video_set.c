/*
 * The set that vt-train packs of videos: after kills it has the bytes of one
 * that was packed at once, and whole shards are not packed again.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/rng.h"
#include "ingest/extract_worker.h"
#include "ingest/video_set.h"
#include "media/png.h"
#include "shard/journal.h"
#include "shard/manifest.h"
#include "tap.h"

enum { CLASSES = 2, VIDEOS = 6, FRAMES = 4, SIDE = 64 };

static char root[] = "/tmp/vt-test.XXXXXX";
static char *videos;

/* Write a frame of noise, a function of its path. */
static void
make_frame(const char *path)
{
	struct image *m = image_new(SIDE, SIDE, 3);
	struct buffer b = { 0 };
	uint64_t seed = hash64(path + sizeof(root), strlen(path) - sizeof(root));

	for (size_t i = 0; i < SIDE * SIDE * 3; i++)
		m->data[i] = (uint8_t)rng_philox(seed, (uint32_t)i, 0, 0,
		    0).w[0];
	if (png_encode(m, &b) != 0 || commit_bytes(path, b.data, b.n) != 0)
		exit(1);
	buffer_free(&b);
	image_free(m);
}

/* Make folders of frames: videos/CLASS/VIDEO/FRAME.png. */
static void
make_videos(void)
{
	for (int c = 0; c < CLASSES; c++)
		for (int v = 0; v < VIDEOS; v++) {
			char *dir = xprintf("%s/c%d/v%d", videos, c, v);

			if (file_make_dir(dir, NULL) != 0)
				exit(1);
			for (int k = 0; k < FRAMES; k++) {
				char *path = xprintf("%s/%06d.png", dir, k + 1);

				make_frame(path);
				free(path);
			}
			free(dir);
		}
}

static struct video_set *
list_videos(void)
{
	const struct video_set_options o = { .path = videos, .short_side = 256,
		.shard_size = 1 };
	int status;

	return video_set_new(&o, &status);
}

static int
pack_to(const char *dir)
{
	struct video_set *v = list_videos();
	int status = v == NULL ? EXIT_FAILED : video_set_pack(v, dir, 2);

	video_set_free(v);
	return status;
}

/* Return the number of finished shards in ${dir}.part. */
static size_t
shards_of(const char *dir)
{
	char *part = xprintf("%s.part", dir);
	int bad;
	struct journal *j = file_is_dir(part) ? journal_read(part, &bad) : NULL;
	size_t n = j != NULL ? j->shards : 0;

	journal_free(j);
	free(part);
	return n;
}

/* Pack to ${dir} in a process of its own, and kill it when ${n} shards are
 * finished.  Return 1 if it was killed before it ended. */
static int
pack_and_kill(const char *dir, size_t n)
{
	pid_t pid;
	int status = 0;

	fflush(stdout);
	if ((pid = fork()) == 0)
		_exit(pack_to(dir));
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (shards_of(dir) >= n)
			kill(pid, SIGKILL);
		usleep(500);
	}
	return WIFSIGNALED(status);
}

/* Return the hash of SHARDS.xxh128 and classes.txt in ${dir}. */
static uint64_t
hash_set(const char *dir)
{
	char *sums = path_join(dir, SUMS_NAME);
	char *classes = path_join(dir, CLASSES_NAME);
	struct buffer b = { 0 };
	uint64_t hash = 0;

	if (file_read(sums, &b) == 0 && file_read(classes, &b) == 0)
		hash = hash64(b.data, b.n);
	buffer_free(&b);
	free(classes);
	free(sums);
	return hash;
}

static enum video_set_state
state_of(const char *dir)
{
	struct video_set *v = list_videos();
	struct error why = { "" };
	enum video_set_state is = video_set_compare(v, dir, &why);

	if (is == VIDEO_SET_OTHER)
		diag("%s", why.text);
	video_set_free(v);
	return is;
}

static ino_t
inode_of(const char *dir, const char *name)
{
	char *path = path_join(dir, name);
	struct stat st = { 0 };
	int bad = stat(path, &st);

	free(path);
	return bad ? 0 : st.st_ino;
}

int
main(int argc, char **argv)
{
	char *once, *killed, *other, *part, *frame, *command;
	ino_t first;

	program_start(argv[0]);
	program_quiet(1);
	if (argc == 3 && strcmp(argv[1], EXTRACT_WORKER) == 0)
		extract_worker_run(argv[2]);
	if (mkdtemp(root) == NULL)
		return 1;
	videos = path_join(root, "videos");
	once = path_join(root, "once");
	killed = path_join(root, "killed");
	other = path_join(root, "other");
	part = xprintf("%s.part", killed);
	make_videos();

	is(state_of(once), VIDEO_SET_NONE, "there is no set");
	is(pack_to(once), 0, "the videos are packed");
	is(state_of(once), VIDEO_SET_WHOLE, "the set is whole");
	ok(pack_and_kill(killed, 2), "a second packing is killed");
	is(state_of(part), VIDEO_SET_PART, "its set is unfinished");
	ok(!file_is_dir(killed), "the unfinished set has no final name");
	first = inode_of(part, "shard-000000.tar");
	ok(first != 0 && pack_and_kill(killed, shards_of(killed) + 2),
	    "it is killed again");
	is(pack_to(killed), 0, "it ends");
	ok(inode_of(killed, "shard-000000.tar") == first,
	    "the first shard is not packed again");
	ok(hash_set(once) != 0 && hash_set(once) == hash_set(killed),
	    "it has the bytes of the set that was packed at once");

	ok(pack_and_kill(other, 2), "a third packing is killed");
	/* A time alone changes nothing; content does. */
	frame = xprintf("%s/c0/v1/000001.png", videos);
	utimensat(AT_FDCWD, frame, NULL, 0);
	is(state_of(once), VIDEO_SET_WHOLE, "a file with another time");
	free(frame);
	frame = xprintf("%s/c1/v1/000002.png", videos);
	make_frame(frame);
	is(state_of(once), VIDEO_SET_WHOLE, "a file written again");
	command = xprintf("cp %s/c0/v0/000003.png %s", videos, frame);
	is(system(command), 0, "a file is replaced");
	is(state_of(once), VIDEO_SET_OTHER, "a file with other content");
	is(pack_to(once), 0, "the videos are packed again");
	ok(hash_set(once) != hash_set(killed), "the set is another one");
	is(pack_to(other), 0, "the unfinished one is packed, too");
	ok(hash_set(once) == hash_set(other), "none of its shards is kept");
	free(command);
	command = xprintf("rm -r %s/c0/v5", videos);
	is(system(command), 0, "a video is removed");
	is(state_of(once), VIDEO_SET_OTHER, "a list without it");
	free(command);
	command = xprintf("rm -r %s", root);
	is(system(command), 0, "the test is cleaned up");
	free(command);
	free(frame);
	free(part);
	free(other);
	free(killed);
	free(once);
	free(videos);
	return done();
}
