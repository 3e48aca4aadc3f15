/*
 * After an event, a second handle of a device (device_side_stream), used by another
 * thread, finds the data that the first one wrote.  A copy through the second
 * handle is complete when the call returns.  The stand-in for a GPU detects
 * unordered accesses.
 */
#include <pthread.h>

#include "base/mem.h"
#include "gpu/standin/standin.h"

#include "tap.h"

enum { N = 300000, HALF = N / 2 };

struct job {
	struct device *d, *side_stream;
	struct event *done;
	float *w;			/* device memory */
	float *host;			/* pinned host memory */
	int bad;
};

/* Download the upper half after its event, double it, and upload it. */
static void *
work(void *arg)
{
	struct job *j = arg;

	device_event_wait(j->d, j->done, HALF);
	device_download(j->side_stream, j->host, j->w + HALF, (N - HALF) *
	    sizeof(float));
	for (int i = 0; i < N - HALF; i++) {
		j->bad += j->host[i] != (float)(i + HALF);
		j->host[i] *= 2;
	}
	device_upload(j->side_stream, j->w + HALF, j->host, (N - HALF) *
	    sizeof(float));
	return NULL;
}

/* Convert ${n} numbers to 16 bits and back, with another scale each way.
 * Return the largest relative error. */
static double
back_and_forth(struct device *d, enum precision as, double scale)
{
	enum { SOME = 5000 };
	float own[SOME], *x = device_alloc(d, sizeof(own));
	void *narrow = device_alloc(d, SOME * 2);
	double largest = 0;

	for (int i = 0; i < SOME; i++)
		own[i] = (float)((i - SOME / 2) * 0.37);
	device_upload(d, x, own, sizeof(own));
	device_narrow(d, narrow, x, SOME, as, scale);
	device_widen(d, x, narrow, SOME, as, 3 / scale);
	device_download(d, own, x, sizeof(own));
	for (int i = 0; i < SOME; i++) {
		double want = 3.0 * (float)((i - SOME / 2) * 0.37);
		double apart = fabs(own[i] - want) / (fabs(want) + 1e-30);

		largest = apart > largest || isnan(apart) ? apart : largest;
	}
	device_free(d, narrow);
	device_free(d, x);
	return largest;
}

static void
test(const struct backend *b)
{
	struct device *d = device_open(b, &(struct device_options){
	    .threads = 1 });
	struct job j = { .d = d, .side_stream = device_side_stream(d),
		.done = device_event_new(d, 1) };
	float *own = xcalloc(N, sizeof(*own));
	pthread_t thread;

	j.w = device_alloc(d, N * sizeof(float));
	j.host = device_alloc_host(d, N * sizeof(float));
	device_event_record(d, j.done, N);
	pthread_create(&thread, NULL, work, &j);
	for (int i = 0; i < N; i++)
		own[i] = (float)i;
	device_upload(d, j.w + HALF, own + HALF, (N - HALF) * sizeof(float));
	device_event_record(d, j.done, HALF);
	device_upload(d, j.w, own, HALF * sizeof(float));
	device_event_record(d, j.done, 0);
	pthread_join(thread, NULL);
	device_download(d, own, j.w, N * sizeof(float));
	for (int i = 0; i < N; i++)
		j.bad += own[i] != (float)(i < HALF ? i : 2 * i);
	ok(d->backend->discrete, "%s: the device has memory of its own", b->name);
	is(j.bad, 0, "after an event, the second handle reads and writes the "
	    "right data");
	ok((device_stream(d) != NULL) == standin_absent(), "a GPU exposes its "
	    "stream to libraries, and the stand-in exposes none");
	near(back_and_forth(d, PRECISION_BF16, 1), 0, 1.0 / 256 + 1e-6,
	    "fp32 to bf16 and back: within the rounding of bf16");
	near(back_and_forth(d, PRECISION_FP16, 0.25), 0, 1.0 / 2048 + 1e-6,
	    "fp32 to fp16, scaled by a quarter, and back: within the rounding "
	    "of fp16");
	device_free_host(d, j.host);
	device_side_stream_free(d, j.side_stream);
	device_event_free(d, j.done);
	device_free(d, j.w);
	device_close(d);
	free(own);
}

int
main(void)
{
	for (int i = 0; i < standin_whens(); i++)
		test(standin_backend((enum standin_when)i));
	return done();
}
