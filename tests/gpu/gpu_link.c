/*
 * NCCL over one rank, by the calls that many ranks use (comm/fabric.h): sums,
 * messages, a split, and a CUDA graph with both.  The library is that of the
 * machine, on one GPU.  Without a GPU it is tests/tools/nccl, which reports
 * calls that NCCL leaves undefined; four ranks then also open a torus.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <unistd.h>

#include "backend/cuda/cuda.h"
#include "base/clock.h"
#include "base/mem.h"
#include "comm/fabric.h"

#include "gpu/standin/link.h"
#include "said.h"
#include "tap.h"
#include "tools/threads/threads.h"

enum { N = 100000, HALF = N / 2, RANKS = 4 };

static struct fabric_calls fabric;
static float host[N];

/* ---- data ---- */

/* Write new numbers to ${x}, and keep them in host[]. */
static void
set(struct device *d, float *x, float base)
{
	for (int i = 0; i < N; i++)
		host[i] = base + (float)i;
	device_upload(d, x, host, sizeof(host));
}

/* Return whether ${x} has the numbers of host[]; ${swapped}: its halves are
 * exchanged. */
static int
has(struct device *d, const float *x, int swapped)
{
	static float got[N];
	int at = swapped ? HALF : 0;

	device_download(d, got, x, sizeof(got));
	return memcmp(got, host + at, HALF * sizeof(float)) == 0 &&
	    memcmp(got + HALF, host + HALF - at, HALF * sizeof(float)) == 0;
}

/* ---- one rank ---- */

/* Send the halves of ${x} to this rank, which exchanges them in ${y}. */
static int
swap(struct fabric *f, struct device *d, float *y, float *x)
{
	const size_t bytes = HALF * sizeof(float);
	const struct message send[] = { { 0, x, bytes }, { 0, x + HALF, bytes } };
	const struct message receive[] = { { 0, y + HALF, bytes },
		{ 0, y, bytes } };

	return fabric_exchange(f, send, 2, receive, 2, device_stream(d));
}

static void
test_graph(struct fabric *f, struct device *d, float *y, float *x)
{
	struct captured_graph *r = NULL;

	if (device_capture(d)) {
		fabric_sum(f, x, N, WIRE_FP32, device_stream(d));
		swap(f, d, y, x);
		r = device_capture_end(d);
	}
	ok(r != NULL, "a graph captures a sum and messages");
	for (int i = 1; i < 3 && r != NULL; i++) {
		set(d, x, (float)(i * N));
		device_graph_launch(d, r);
		ok(fabric_wait(f, device_stream(d)) == 0 && has(d, x, 0) &&
		    has(d, y, 1), "launch %d of the graph sums and sends", i);
	}
	device_graph_free(d, r);
}

/* Return the free bytes of device memory; 0: unknown. */
static size_t
available(struct device *d)
{
	struct driver *driver = standin_of(d);

	return driver->call->available != NULL ?
	    driver->call->available(driver) : 0;
}

static void
test_fabric(struct device *d, float *y, float *x)
{
	size_t before = available(d);
	struct comm *c = comm_self();
	struct fabric *f = fabric_open(&fabric, c, 1, NULL);
	void *stream = device_stream(d);

	ok(f != NULL, "a link of one rank opens");
	for (int type = 0; f != NULL && type < WIRES; type++) {
		set(d, x, (float)type);
		ok(fabric_sum(f, x, type == WIRE_FP32 ? N : 2 * N, type,
		    stream) == 0 && fabric_wait(f, stream) == 0 &&
		    has(d, x, 0), "the sum of one rank in %s is its data",
		    wires[type].name);
	}
	if (f != NULL) {
		ok(swap(f, d, y, x) == 0 && fabric_wait(f, stream) == 0 &&
		    has(d, y, 1), "a rank receives its own messages");
		test_graph(f, d, y, x);
		if (before > 0)
			diag("%.0f MiB of device memory for a link",
			    ((double)before - (double)available(d)) / (1 << 20));
	}
	fabric_close(f);
	comm_free(c);
}

/* Wait up to 60 s for ${link}.  Return whether it is ready. */
static int
ready(void *link)
{
	int done = 0;

	for (int i = 0; i < 60000 && link != NULL && done == 0; i++) {
		done = fabric.ready(link);
		if (done == 0)
			clock_sleep(0.001);
	}
	return done == 1;
}

/* Ranks may start two links' collectives in different orders. */
static void
test_queues(void)
{
	char said[512];
	struct comm *c = comm_self();
	struct fabric *f, *second;

	setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 1);
	f = fabric_open(&fabric, c, 1, NULL);
	said_begin(said, sizeof(said));
	second = fabric_open(&fabric, c, 1, NULL);
	said_end();
	unsetenv("CUDA_DEVICE_MAX_CONNECTIONS");
	ok(f != NULL && second == NULL && strstr(said, "block each other") !=
	    NULL, "two links are refused if streams share a queue");
	fabric_close(second);
	fabric_close(f);
	comm_free(c);
}

static void
test_split(struct device *d, float *x)
{
	void *id = xcalloc(1, fabric.id_bytes), *part = NULL;
	void *world = fabric.id(id) == 0 ? fabric.open(id, 0, 1) : NULL;

	set(d, x, 1);
	if (ready(world))
		part = fabric.split(world, 0, 0);
	ok(part != NULL && ready(world) && ready(part) && fabric.sum(part, x, N,
	    WIRE_FP32, device_stream(d)) == 0 && ready(part) && has(d, x, 0),
	    "a split gives a link, which sums");
	ok(part != NULL && fabric.finish(part) == 0 && fabric.finish(world) == 0
	    && ready(part) && ready(world), "both links finish");
	if (part != NULL)
		fabric.close(part);
	if (world != NULL)
		fabric.close(world);
	free(id);
}

/* ---- a torus ---- */

static void
torus(struct comm *c, void *arg)
{
	static const int hosts[RANKS] = { 0, 0, 2, 2 };
	struct fabric *f = fabric_open(&fabric, c, 2, hosts);

	if (f != NULL)
		atomic_fetch_add((atomic_int *)arg, 1);
	fabric_close(f);
}

/* Load tests/tools/nccl, under the name by which the product loads NCCL.
 * Return NULL if it is not next to this program. */
static void *
load_fake(void)
{
	char path[4096] = "";
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);

	if (n <= 0)
		return NULL;
	path[n] = '\0';
	strcpy(strrchr(path, '/') + 1, "libnccl.so.2");
	return dlopen(path, RTLD_NOW);
}

int
main(void)
{
	struct device *d;
	struct driver_calls calls;
	struct driver *driver;
	const atomic_int *misuses = NULL;
	atomic_int opened = 0;
	void *fake = NULL;
	float *x, *y;

	if (cuda_fabric() == NULL) {
		skip("a link of one rank", "no CUDA toolkit with NCCL");
		return done();
	}
	d = device_open(standin_backend(STANDIN_LATE),
	    &(struct device_options){ .threads = 1 });
	driver = standin_of(d);
	calls = *driver->call;
	fabric = *cuda_fabric();
	if (strcmp(calls.name, "the stand-in") == 0) {
		if ((fake = load_fake()) == NULL) {
			skip("a link of one rank", "no such device here");
			device_close(d);
			return done();
		}
		misuses = dlsym(fake, "nccl_misuses");
		calls.stream_native = link_stream_native;
		driver->call = &calls;
		fabric.idle = link_idle;
	}
	x = device_alloc(d, sizeof(host));
	y = device_alloc(d, sizeof(host));
	diag("%s", fabric.version());
	test_fabric(d, y, x);
	test_split(d, x);
	test_queues();
	if (fake != NULL) {
		comm_threads(RANKS, torus, &opened);
		is(opened, RANKS, "a torus of four ranks opens");
		is(*misuses, 0, "no call follows one that is in progress");
	}
	device_free(d, x);
	device_free(d, y);
	device_close(d);
	return done();
}
