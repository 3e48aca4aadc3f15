/*
 * Benchmark whole training steps on one microbatch: forward, backward and
 * update.  Use synthetic clips, and clips of a packed set with the loader
 * running at the same time.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/ram.h"
#include "bench/cases.h"
#include "bench/profile.h"

#define LOADERS 2		/* threads; the default of vt-train */
/*
 * Steps with more forward multiply-adds take too long on the reference back
 * end.
 */
#define REFERENCE_MACS 4e9
#define LOSS_TOLERANCE 1e-4	/* relative */
#define LOSS_TOLERANCE_16 1e-2	/* with 16-bit activations */
#define NORM_TOLERANCE 1e-2
#define NORM_TOLERANCE_16 5e-2

enum bench_step_phase { STEP, WAIT, FORWARD, BACKWARD, UPDATE, PHASES };

static const char *const phase_names[PHASES] = { "step", "wait", "forward",
	"backward", "update" };

struct bench_step_job {
	struct bench *b;
	const struct bench_inputs *o;
	struct bench_shape shape;
	char prefix[160];		/* prefix of names: step/NET/SHAPE */
	struct fixture fixture;
	double loss, norm;		/* of the last step */
	size_t available;		/* device memory before the first
					 * allocation */
	size_t base;			/* resident memory before the first
					 * allocation; 0: unknown, because an
					 * earlier shape used memory */
	struct figure seconds[PHASES];
};

static void
bench_step_clear(struct bench_step_job *j)
{
	for (int i = 0; i < PHASES; i++)
		figure_free(&j->seconds[i]);
}

/* ---- one step ---- */

/*
 * Return 1, or 0 after a message if results are checked and the step diverged;
 * this ends the case.
 */
static int
bench_step_is_sound(struct bench_step_job *j)
{
	if (!j->b->check || (isfinite(j->loss) && isfinite(j->norm) &&
	    j->loss >= 0))
		return 1;
	bench_wrong(j->b, "%s: a loss of %g, a gradient of norm %g", j->prefix,
	    j->loss, j->norm);
	return 0;
}

/* Update the weights as a step of the trainer does. */
static void
bench_step_update(struct bench_step_job *j)
{
	struct fixture *r = &j->fixture;
	const struct losses losses = { r->outcome,
		(size_t)r->net->graph->heads, DBL_MAX, NULL };

	optim_begin(&r->optim, r->net, r->gradient, 1, FIXTURE_RATE, &losses);
	j->loss = fixture_loss(r);
	optim_finish(&r->optim, &j->norm);
}

static int
bench_step_run(void *arg, int counts)
{
	struct bench_step_job *j = arg;
	struct fixture *r = &j->fixture;
	double at[PHASES + 1];
	int status;

	/*
	 * On an asynchronous device, forward and backward are the times of the
	 * launches: only the update waits for the device.
	 */
	at[WAIT] = clock_seconds();
	if ((status = feeder_next(&r->feeder)) != 0)
		return status;
	at[FORWARD] = clock_seconds();
	feeder_begin(&r->feeder, r->outcome, 0);
	feeder_forward(&r->feeder, r->gradient);
	at[BACKWARD] = clock_seconds();
	feeder_backward(&r->feeder, NULL);
	feeder_done(&r->feeder);
	at[UPDATE] = clock_seconds();
	bench_step_update(j);
	at[PHASES] = clock_seconds();
	if (counts) {
		figure_add(&j->seconds[STEP], at[PHASES] - at[WAIT]);
		for (int i = WAIT; i < PHASES; i++)
			figure_add(&j->seconds[i], at[i + 1] - at[i]);
	}
	return bench_step_is_sound(j) ? 0 : EXIT_FAILED;
}

/* ---- rows ---- */

static void
bench_step_print_phases(struct bench_step_job *j, const char *under)
{
	struct bench *b = j->b;
	const struct figure *step = &j->seconds[STEP];
	double clips = j->shape.n, images = clips * j->shape.t;

	for (int i = 0; i < PHASES; i++)
		if (i != WAIT || j->fixture.feeder.loader != NULL)
			bench_row(b, &j->seconds[i], "s", NULL, "%s%s/%s",
			    j->prefix, under, phase_names[i]);
	bench_rate(b, step, images, "images/s", NULL, "%s%s/images", j->prefix,
	    under);
	bench_rate(b, step, clips, "clips/s", NULL, "%s%s/clips", j->prefix,
	    under);
}

/*
 * Time the upload of a step's pixels separately, because training overlaps it
 * with the previous step.
 */
static void
bench_step_measure_upload(struct bench_step_job *j)
{
	struct figure f = { 0 };

	if (j->fixture.pinned == 0)
		return;
	for (int i = 0; i < j->b->runs; i++) {
		double start = clock_seconds();

		fixture_upload(&j->fixture);
		figure_add(&f, clock_seconds() - start);
	}
	bench_row(j->b, &f, "s", "of the pixels; training overlaps it with a "
	    "step", "%s/upload", j->prefix);
	figure_free(&f);
}

static void
bench_step_print_memory(struct bench_step_job *j)
{
	size_t available = device_available(j->o->device);
	char note[80];

	bench_value(j->b, (double)j->fixture.plan->arena, "bytes",
	    "activations and their gradients", "%s/activations", j->prefix);
	if (available < j->available && j->available < SIZE_MAX)
		bench_value(j->b, (double)(j->available - available), "bytes",
		    "of the device's memory, all that is allocated for steps",
		    "%s/device", j->prefix);
	if (j->base > 0 && ram_peak() > j->base) {
		snprintf(note, sizeof(note), "of %d steps, above the %zu of "
		    "program and libraries", j->b->warmup + j->b->runs,
		    j->base);
		bench_value(j->b, (double)(ram_peak() - j->base), "bytes",
		    note, "%s/peak", j->prefix);
	}
	if (ram_peak() > 0)
		bench_value(j->b, (double)ram_peak(), "bytes",
		    "the process's largest so far", "%s/resident", j->prefix);
}

/* ---- checking ---- */

/*
 * Run two steps from the initial weights on device ${d}.  Store their losses
 * and the first gradient norm.
 */
static int
bench_step_first_steps(struct bench_step_job *j, struct device *d,
    double loss[2], double *norm)
{
	struct fixture r = { 0 };
	int bad = fixture_open(&r, j->o->graph, d, &j->shape);

	if (bad == 0)
		bad = fixture_open_optim(&r);
	for (int i = 0; i < 2 && bad == 0; i++) {
		double n;

		fixture_pass(&r);
		optim_step(&r.optim, r.net, r.gradient, 1, FIXTURE_RATE, &n);
		loss[i] = fixture_loss(&r);
		if (i == 0)
			*norm = n;
	}
	fixture_close(&r);
	return bad;
}

static double
bench_step_error_of(double x, double key)
{
	return fabs(x - key) / (fabs(key) > 1e-6 ? fabs(key) : 1);
}

/*
 * Compare the losses of two steps and the first gradient norm with those of
 * ref64.
 */
static int
bench_step_check(struct bench_step_job *j)
{
	const struct backend *ref = backend_find("ref64");
	const enum precision p = j->o->device->o.precision;
	const int full = p == PRECISION_FP32;
	struct device *exact;
	double loss[2], key[2], norm, key_norm, worst;
	int bad;

	if (j->fixture.plan->macs > REFERENCE_MACS) {
		bench_remark(j->b, "%s: more than ref64 can repeat: the loss "
		    "was finite", j->prefix);
		return 0;
	}
	if (ref == NULL || (exact = device_open(ref, &(struct device_options){
	    .threads = 1, .precision = p })) == NULL)
		return EXIT_FAILED;
	bad = bench_step_first_steps(j, j->o->device, loss, &norm) ||
	    bench_step_first_steps(j, exact, key, &key_norm);
	device_close(exact);
	if (bad)
		return EXIT_FAILED;
	worst = fmax(bench_step_error_of(loss[0], key[0]),
	    bench_step_error_of(loss[1], key[1]));
	bench_value(j->b, worst, "relative", "losses of two steps from ref64's",
	    "%s/difference", j->prefix);
	if (!(worst <= (full ? LOSS_TOLERANCE :
	    LOSS_TOLERANCE_16)) ||
	    !(bench_step_error_of(norm, key_norm) <= (full ? NORM_TOLERANCE :
	    NORM_TOLERANCE_16)))
		bench_wrong(j->b, "%s: losses %.9g and %.9g, a gradient of "
		    "norm %.9g (ref64: %.9g, %.9g, %.9g)", j->prefix, loss[0],
		    loss[1], norm, key[0], key[1], key_norm);
	return 0;
}

/* ---- the case ---- */

/*
 * Measure the same steps on clips of a set.  ${alone} is the time of a step
 * without the loader.
 */
static int
bench_step_measure_data(struct bench_step_job *j, double alone)
{
	int status;

	bench_step_clear(j);
	status = fixture_open_loader(&j->fixture, j->o->data, &j->shape,
	    LOADERS);
	if (status != 0)
		return status;
	status = bench_repeat(j->b, bench_step_run, j);
	if (status == 0) {
		bench_step_print_phases(j, "/data");
		bench_value(j->b, figure_median(&j->seconds[STEP]) / alone,
		    "times", "a step with the loader to one without",
		    "%s/data/ratio", j->prefix);
	}
	fixture_close_loader(&j->fixture);
	return status;
}

static int
bench_step_measure(struct bench_step_job *j)
{
	struct bench *b = j->b;
	double alone;
	int status;

	if (fixture_open(&j->fixture, j->o->graph, j->o->device,
	    &j->shape) != 0 || fixture_prefetch(&j->fixture) != 0 ||
	    fixture_open_optim(&j->fixture) != 0)
		return EXIT_FAILED;
	if ((status = bench_repeat(b, bench_step_run, j)) != 0)
		return status;
	bench_step_print_phases(j, "");
	bench_step_measure_upload(j);
	bench_step_print_memory(j);
	alone = figure_median(&j->seconds[STEP]);
	if (j->o->kinds || j->o->convs)
		status = profile_measure(b, &j->fixture,
		    &(struct profile_options){ j->prefix, j->o->kinds,
		    j->o->convs });
	if (status == 0 && j->o->data != NULL)
		status = bench_step_measure_data(j, alone);
	return status == 0 && b->check ? bench_step_check(j) : status;
}

static int
bench_step(struct bench *b, const struct bench_inputs *o)
{
	int status = 0, wrong = b->wrong;

	if (o->schedule != NULL)
		return bench_cells(b, o);
	for (size_t i = 0; i < o->shapes.n && status == 0; i++) {
		struct bench_step_job j = { .b = b, .o = o,
		    .shape = o->shapes.item[i],
			.available = device_available(o->device),
			.base = i == 0 ? ram_resident() : 0 };
		char text[40];

		snprintf(j.prefix, sizeof(j.prefix), "step/%s/%s",
		    o->graph->name, shape_text(&j.shape, text));
		status = bench_step_measure(&j);
		bench_step_clear(&j);
		fixture_close(&j.fixture);
	}
	return b->wrong > wrong ? 0 : status;
}

static void
bench_step_require(const struct bench_inputs *in)
{
	if (in->schedule_path != NULL && (in->kinds || in->convs ||
	    in->data_path != NULL))
		options_wrong("step --schedule takes neither --kinds, --convs "
		    "nor --data");
}

const struct bench_case bench_case_step = { .run = bench_step,
	.check = bench_step_require, .shapes = "2x8x224", .device = 1 };
