/*
 * Each allocation inside FFmpeg and libjpeg fails in turn: a video is refused
 * or has all of its frames, and a JPEG encoder ends the program.  FFmpeg
 * silently shortens an index that cannot grow.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "media/jpeg.h"
#include "media/video.h"
#include "../../share/demo/encode.h"
#include "said.h"
#include "tap.h"

#define FRAMES 30
#define RUNS 100		/* of each kind of file */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STARVES 0		/* sanitizers have their own allocator */
#else
#define STARVES 1

void *__libc_malloc(size_t);
void *__libc_memalign(size_t, size_t);
void *__libc_realloc(void *, size_t);

static long calls, victim;
static const char *library = "libav";

/*
 * Return 1 if this call must fail.  Calls of our code never fail, because it
 * would exit.
 */
static int
starved(const void *caller)
{
	Dl_info i;

	if (dladdr(caller, &i) == 0 || strstr(i.dli_fname, library) == NULL)
		return 0;
	if (++calls != victim)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *
malloc(size_t n)
{
	return starved(__builtin_return_address(0)) ? NULL : __libc_malloc(n);
}

int
posix_memalign(void **p, size_t to, size_t n)
{
	void *got = starved(__builtin_return_address(0)) ? NULL :
	    __libc_memalign(to, n);

	if (got == NULL)
		return ENOMEM;
	*p = got;
	return 0;
}

void *
realloc(void *p, size_t n)
{
	return starved(__builtin_return_address(0)) ? NULL :
	    __libc_realloc(p, n);
}

static char path[] = "/tmp/vt-test-XXXXXX.webm";

static int
write_video(const char *codec, const char *extension)
{
	struct encoder_options o = { codec, 64, 48, { 25, 1 }, 80, 8 };
	struct encoder *e;
	struct image *m = image_new(64, 48, 3);
	int bad;

	strcpy(strrchr(path, '.'), extension);	/* at most as long as ".webm" */
	e = encoder_open(path, &o);
	bad = e == NULL;
	for (int i = 0; i < FRAMES && !bad; i++) {
		for (int k = 0; k < 64 * 48 * 3; k++)
			m->data[k] = (uint8_t)(k * (i + 3) >> 5);
		bad = encoder_add(e, m);
	}
	image_free(m);
	if (bad)
		encoder_drop(e);
	return bad ? -1 : encoder_done(e);
}

/*
 * Return the frames decoded with allocation ${which} failing, or -1 if the
 * video is refused.
 */
static int
decode(long which)
{
	struct video_limits limits = { 1 << 20 };
	struct video_frame frame;
	struct video *v;
	int fd = open(path, O_RDONLY), n = 0, r = -1;
	char why[300];

	said_begin(why, sizeof(why));
	calls = 0;
	victim = which;
	v = video_open(fd, path, &limits);
	while (v != NULL && (r = video_next(v, &frame)) == 1)
		n++;
	victim = 0;
	if (v != NULL && r == 0 && (video_account(v)->truncated ||
	    video_account(v)->damage > 0))
		r = -1;
	video_free(v);
	close(fd);
	said_end();
	return r == 0 ? n : -1;
}

static void
test_kind(const char *codec, const char *extension)
{
	int fewer = 0, refused = 0;
	long all, first = 0;

	if (!encoder_known(codec)) {
		skip(codec, "this FFmpeg has no such encoder");
		return;
	}
	if (!ok(write_video(codec, extension) == 0,
	    "a video is written: %s in %s", codec,
	    extension))
		return;
	is(decode(0), FRAMES, "without a failure all frames are decoded");
	all = calls;
	ok(all > 100, "decoding makes %ld allocations", all);
	for (int i = 0; i < RUNS; i++) {
		long which = 1 + all * i / RUNS;
		int n = decode(which);

		refused += n < 0;
		if (n >= 0 && n < FRAMES && fewer++ == 0)
			first = which;
	}
	if (!ok(fewer == 0,
	    "one allocation fails, %d times: no video is shortened",
	    RUNS))
		diag("%d do, the first of them number %ld", fewer, first);
	ok(refused > 0, "the video is refused %d times", refused);
	unlink(path);
}

/* A JPEG encoder without memory ends the program after a message. */
static void
test_jpeg(void)
{
	int status, wrong = 0, tried = 0, ended = 0;

	library = "libjpeg";
	calls = victim = 0;
	jpeg_encoder_free(jpeg_encoder_new(90));
	for (long all = calls, i = 1; i <= all; i++, tried++) {
		pid_t child = fork();

		if (child == 0) {
			program_quiet(2);
			calls = 0;
			victim = i;
			jpeg_encoder_new(90);
			_exit(0);
		}
		waitpid(child, &status, 0);
		/* Some allocations are optional. */
		wrong += !WIFEXITED(status) || WEXITSTATUS(status) > 1;
		ended += WIFEXITED(status) && WEXITSTATUS(status) == 1;
	}
	ok(ended > 0, "JPEG: %d of %d allocations are required", ended, tried);
	is(wrong, 0, "JPEG: without a required one the program exits with 1");
	library = "libav";
}
#endif

int
main(void)
{
	program_start("alloc_failures");
#if STARVES
	test_jpeg();
	if (encoder_known("mpeg4")) {
		int fd = mkstemps(path, 5);

		close(fd);
		unlink(path);
		test_kind("libx264", ".mp4");
		test_kind("mpeg4", ".mkv");
		test_kind("mpeg4", ".avi");
		test_kind("libvpx", ".webm");
		test_kind("flv", ".flv");
		test_kind("mpeg2video", ".ts");
		return done();
	}
	skip("failing allocations", "no FFmpeg in this build");
#else
	skip("failing allocations", "a sanitizer has its own allocator");
#endif
	return done();
}
