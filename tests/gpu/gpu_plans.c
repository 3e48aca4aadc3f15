/* tests/run: weight 25 */
/*
 * cuDNN has a plan for every convolution of every network in share/models, for
 * descriptions of an H100 and an H200, which need not be present.  The
 * convolutions are those that the back end requests when it plans a step: at
 * the network's own clips in each precision, and at every shape of its
 * schedules in 16 bits.  cuDNN also has plans for odd channels.
 */
#include <glob.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "net/plan.h"
#include "sched/schedule.h"

#include "backend/cuda/cuda.h"
#include "gpu/standin/standin.h"
#include "said.h"
#include "tap.h"

/* The figures are those of the data sheets of NVIDIA's H100 SXM and H200, the
 * field names those of cuDNN. */
#define DEVICE(name, memory, clock) "{\"deviceName\":\"" name "\"," \
    "\"deviceVer\":900,\"driverVer\":13000,\"cudaDeviceId\":0," \
    "\"pciDeviceId\":0,\"isTccDriver\":0,\"supportCoopLaunch\":1," \
    "\"multiProcessorCount\":132,\"warpSize\":32,\"regsPerBlock\":65536," \
    "\"maxRegistersPerSM\":65536,\"maxCtasPerSM\":32," \
    "\"maxThreadsPerBlock\":1024,\"maxThreadsPerSM\":2048," \
    "\"maxSharedMemoryPerBlock\":49152," \
    "\"maxSharedMemoryPerBlockOptin\":232448," \
    "\"reservedSharedMemoryPerBlock\":1024," \
    "\"maxGridSize\":[2147483647,65535,65535]," \
    "\"maxBlockSize\":[1024,1024,64],\"totalGlobalMem\":" memory "," \
    "\"l2CacheSize\":52428800,\"smClockRateKHz\":1980000," \
    "\"memClockRateKHz\":" clock "}"
static const struct { const char *name, *json; } devices[] = {
	{ "H100", DEVICE("NVIDIA H100 80GB HBM3", "85520809984", "2619000") },
	{ "H200", DEVICE("NVIDIA H200", "150754820096", "3201000") },
};
enum { DEVICES = sizeof(devices) / sizeof(devices[0]) };

/* The clip shape of a network: the first row with a prefix of its name. */
static const struct { const char *begin; int t, side; } clips[] = {
	{ "x3d_s", 13, 160 }, { "x3d_m", 16, 224 }, { "slowfast_r50_16x8", 64,
	    224 }, { "slowfast", 32, 224 }, { "i3d_r50_32f", 32, 224 },
	{ "r2plus1d", 16, 112 }, { "resnet50", 1, 224 },
	{ "tsm_mobilenet_v2_online", 1, 224 }, { "tsm_tiny", 8, 112 },
	{ "tsn_tiny", 8, 112 }, { "", 8, 224 },
};

static const struct { const char *schedule, *net; } trains[] = {
	{ "imagenet_r50_54k", "resnet50" },
	{ "k400_slowfast_8x8_r50_multigrid", "slowfast_r50_8x8" },
	{ "k400_tsm_r50_8f_multigrid", "tsm_r50" },
	{ "motions", "tsm_r18" }, { "motions", "tsm_tiny" },
	{ "ssv2_slowfast_16x8_r50_multigrid", "slowfast_r50_16x8" },
};

/* ---- a driver that requests plans from cuDNN and stores each answer ---- */

struct asked { struct conv_shape shape; int refused; };

static struct driver *cudnn;
static struct driver_calls calls;
static const struct driver_calls *real;
static struct asked *asked;
static size_t n, cap;

static const struct asked *
known(const struct conv_shape *s)
{
	for (size_t i = 0; i < n; i++)
		if (memcmp(&asked[i].shape, s, sizeof(*s)) == 0)
			return &asked[i];
	return NULL;
}

static struct conv_plan *
ask(struct driver *d, const struct conv_shape *shape)
{
	struct conv_shape s;
	struct conv_plan *p;
	char said[512];

	memset(&s, 0, sizeof(s));	/* the padding bytes, too */
	s = *shape;
	if (known(&s) == NULL) {
		said_begin(said, sizeof(said));
		p = cudnn->call->conv_new(cudnn, &s);
		said_end();
		asked = array_reserve(asked, n, &cap, sizeof(*asked));
		asked[n].shape = s;
		asked[n++].refused = p == NULL;
		if (p != NULL)
			cudnn->call->conv_free(cudnn, p);
	}
	return real->conv_new(d, shape);
}

static struct device *
open_asking(struct device_options *o)
{
	struct driver *d = standin_open(&(struct standin_options){ .when =
		STANDIN_LATE });

	real = d->call;
	calls = *real;
	calls.conv_new = ask;
	d->call = &calls;
	return cuda_open_on(d, o);
}

/* ---- networks ---- */

/* Return whether a step of ${g} can be planned. */
static int
plan(const struct backend *b, const struct graph *g, enum precision p, int group,
    int t, int side)
{
	struct device *d = device_open(b, &(struct device_options){
		.threads = 1, .precision = p });
	struct dims *in = graph_inputs(g, group, t, side);
	struct plan *made = plan_new(g, d, in, PLAN_ONCE);
	int good = made != NULL;

	plan_free(made);
	free(in);
	device_close(d);
	return good;
}

static int
own_clips(const struct backend *b, const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	struct graph *g = graph_read(path, 400);
	int i = 0, bad = g == NULL;

	while (strncmp(name, clips[i].begin, strlen(clips[i].begin)) != 0)
		i++;
	for (int p = PRECISION_FP32; p <= PRECISION_FP16 && !bad; p++)
		bad = !plan(b, g, (enum precision)p, 8, clips[i].t,
		    clips[i].side);
	graph_free(g);
	return bad;
}

static int
schedule_shapes(const struct backend *b, size_t k)
{
	char path[128];
	struct schedule *s;
	struct graph *g;
	int bad = 0;

	snprintf(path, sizeof(path), "share/schedules/%s.tsv",
	    trains[k].schedule);
	s = schedule_read(path);
	snprintf(path, sizeof(path), "share/models/%s.net", trains[k].net);
	g = graph_read(path, 400);
	if (s == NULL || g == NULL)
		return 1;
	for (int i = 0; i < s->stages; i++)
		for (int c = 0; c < s->stage[i].cells; c++)
			for (int p = PRECISION_BF16; p <= PRECISION_FP16; p++) {
				const struct cell *at = &s->stage[i].cell[c];

				bad += !plan(b, g, (enum precision)p, at->group,
				    at->frames, at->crop);
			}
	graph_free(g);
	schedule_free(s);
	return bad;
}

/* ---- convolutions that no network has ---- */

/*
 * The convolutions of tests/unit/ops.c that cuDNN computes, with channels and
 * extents that networks do not have.
 */
static const struct {
	int n, in, out, groups, from[3], kernel[3], stride[3], pad[3];
} odd[] = {
#define IMAGES(n, in, out, g, h, w, k, s, p) { n, in, out, g, { h, w }, \
	{ k, k }, { s, s }, { p, p } }
	IMAGES(4, 32, 48, 1, 5, 6, 1, 1, 0), IMAGES(4, 16, 32, 1, 9, 8, 1, 2, 0),
	IMAGES(2, 40, 20, 1, 57, 59, 1, 2, 0),
	IMAGES(2, 18, 9, 1, 79, 61, 3, 2, 1), IMAGES(2, 5, 33, 1, 1, 403, 1, 1, 0),
	IMAGES(4, 16, 16, 1, 6, 7, 3, 1, 1), IMAGES(3, 12, 20, 1, 7, 9, 3, 2, 1),
	IMAGES(7, 64, 64, 1, 15, 14, 3, 1, 1),
	IMAGES(3, 40, 44, 1, 21, 22, 3, 1, 0),
	IMAGES(2, 70, 66, 1, 33, 34, 3, 1, 1), IMAGES(29, 36, 40, 1, 6, 6, 3, 1, 1),
	IMAGES(3, 37, 21, 1, 7, 8, 1, 3, 0), IMAGES(3, 560, 528, 1, 3, 5, 1, 1, 0),
	IMAGES(1, 5, 64, 1, 129, 128, 1, 1, 0),
	IMAGES(1, 208, 272, 1, 7, 7, 1, 1, 0), IMAGES(3, 10, 24, 1, 15, 12, 7, 2, 3),
	IMAGES(2, 32, 32, 8, 5, 4, 3, 1, 1), IMAGES(2, 32, 32, 2, 5, 4, 3, 1, 1),
	{ 3, 33, 80, 1, { 22, 20 }, { 3, 3 }, { 1, 1 }, { 0, 1 } },
	{ 2, 16, 24, 1, { 5, 6 }, { 3, 1 }, { 1, 1 }, { 1, 0 } },
	{ 1, 32, 40, 1, { 2, 15 }, { 3, 1 }, { 1, 1 }, { 1, 0 } },
	{ 2, 16, 16, 1, { 9, 9 }, { 5, 1 }, { 3, 1 }, { 0, 0 } },
	{ 2, 32, 32, 2, { 3, 12 }, { 3, 1 }, { 1, 1 }, { 1, 0 } },
	{ 1, 21, 21, 7, { 3, 12 }, { 3, 1 }, { 1, 1 }, { 1, 0 } },
	{ 2, 4, 6, 1, { 4, 4, 5 }, { 3, 3, 3 }, { 2, 1, 2 }, { 1, 1, 1 } },
	{ 2, 16, 16, 1, { 5, 5, 4 }, { 1, 1, 1 }, { 2, 2, 2 }, { 0, 0, 0 } },
	{ 3, 16, 32, 1, { 3, 4, 5 }, { 3, 3, 3 }, { 1, 1, 1 }, { 1, 1, 1 } },
	{ 1, 3, 8, 1, { 4, 11, 12 }, { 5, 7, 7 }, { 1, 2, 2 }, { 2, 3, 3 } },
	{ 2, 48, 64, 1, { 5, 15, 16 }, { 3, 3, 3 }, { 2, 2, 2 }, { 1, 1, 1 } },
#undef IMAGES
};
enum { ODD = sizeof(odd) / sizeof(odd[0]) };

/* Forward, data gradient, weight gradient and accumulated data gradient, each
 * type. */
static void
test_odd(void)
{
	int refused = 0, all = 0;
	char said[512];

	for (size_t i = 0; i < ODD * GPU_TYPES * 4; i++) {
		size_t k = i / 4 / GPU_TYPES, way = i % 4;
		struct conv_shape s = { .type = (enum gpu_type)(i / 4 %
			GPU_TYPES), .pass = way == 3 ? CONV_DATA :
			(enum conv_pass)way, .accumulate = way == 3,
			.dims = odd[k].kernel[2] > 0 ? 3 : 2, .n = odd[k].n,
			.in = odd[k].in, .out = odd[k].out,
			.groups = odd[k].groups };
		struct conv_plan *p;

		for (int j = 0; j < s.dims; j++) {
			s.from[j] = odd[k].from[j];
			s.kernel[j] = odd[k].kernel[j];
			s.stride[j] = odd[k].stride[j];
			s.pad[j] = odd[k].pad[j];
			s.to[j] = (s.from[j] + 2 * s.pad[j] - s.kernel[j]) /
			    s.stride[j] + 1;
		}
		said_begin(said, sizeof(said));
		p = cudnn->call->conv_new(cudnn, &s);
		said_end();
		all++;
		if (p != NULL) {
			cudnn->call->conv_free(cudnn, p);
			continue;
		}
		refused++;
		diag("%s", said);
	}
	ok(refused == 0, "each of %d convolutions of unusual sizes "
	    "has a plan", all);
}

/* ---- all convolutions ---- */

static void
compare(const char *device)
{
	static const char *const pass[] = { "forward", "data", "weights" };
	static const char *const type[] = { "fp32", "bf16", "fp16" };
	int refused = 0, padded = 1;

	for (size_t i = 0; i < n; i++) {
		const struct conv_shape *s = &asked[i].shape;

		padded &= s->in % 8 == 0 && s->out % 8 == 0;
		if (!asked[i].refused)
			continue;
		diag("refused: %s%s %s %dx%d %d to %d in %d", pass[s->pass],
		    s->accumulate ? "+" : "", type[s->type], s->kernel[0],
		    s->kernel[1], s->in, s->out, s->groups);
		refused++;
	}
	ok(n > 0 && refused == 0, "%s: cuDNN has a plan for each of %zu "
	    "convolutions", device, n);
	ok(padded, "all convolutions have multiples of 8 channels");
}

static void
test(int device)
{
	struct backend b = *standin_backend(STANDIN_LATE);
	glob_t nets;
	int bad = 0;

	cudnn = runtime_open_described(devices[device].json);
	if (cudnn == NULL)
		exit(1);
	b.open = open_asking;
	if (glob("share/models/*.net", 0, NULL, &nets) != 0)
		exit(1);
	for (size_t i = 0; i < nets.gl_pathc; i++)
		bad += own_clips(&b, nets.gl_pathv[i]);
	globfree(&nets);
	is(bad, 0, "each network can be planned at its own clip shape");
	for (size_t k = 0; k < sizeof(trains) / sizeof(trains[0]); k++)
		bad += schedule_shapes(&b, k);
	is(bad, 0, "each network can be planned at each shape of its schedule");
	compare(devices[device].name);
	if (device == DEVICES - 1)
		test_odd();
	cudnn->call->close(cudnn);
	free(asked);
	asked = NULL;
	n = cap = 0;
}

int
main(void)
{
	char said[256];
	struct driver *d;

	said_begin(said, sizeof(said));
	d = runtime_open_described(devices[0].json);
	said_end();
	if (d == NULL) {
		skip("plans of cuDNN", "no CUDA here");
		return done();
	}
	d->call->close(d);
	for (int i = 0; i < DEVICES; i++)
		test(i);
	return done();
}
