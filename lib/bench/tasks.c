/* The work, traffic and time of single tasks. */
#include <stdio.h>

#include "base/clock.h"
#include "bench/tasks.h"

double
task_work(const struct task *t, int backward)
{
	const struct op_type *type = &op_types[t->op->kind];
	int passes = !backward || t->needs_weight_grad;

	if (type->macs == NULL)
		return 0;
	if (backward)		/* one per input, one for weights */
		for (int j = 0; j < t->op->nin; j++)
			passes += t->needs_input_grad[j];
	return 2 * type->macs(t->op, t->in, &t->out) * passes;
}

double
task_traffic(const struct task *t, int backward)
{
	double y = (double)device_bytes(t->device, &t->out), sum = y;
	int reads = task_reads(t);

	if (t->op->kind == OP_INPUT)		/* reads bytes */
		sum += (double)dims_count(&t->out);
	if (backward && (reads & READS_Y))
		sum += y;
	for (int j = 0; j < t->op->nin; j++) {
		double x = (double)device_bytes(t->device, &t->in[j]);

		if (!backward || (reads & READS_X))
			sum += x;
		if (backward && t->needs_input_grad[j])
			sum += t->accumulate[j] ? 2 * x : x;
	}
	return sum;
}

double
task_seconds(struct task *t, void (*pass)(struct task *))
{
	struct event *done = device_event_new(t->device, 1);
	double start = clock_seconds();

	pass(t);
	device_event_record(t->device, done, 0);
	device_event_wait(t->device, done, 0);
	start = clock_seconds() - start;
	device_event_free(t->device, done);
	return start;
}

/*
 * Print the kernel of an operator with a window, its stride if it is not 1, and
 * its groups.
 */
static void
task_window(const struct op *op, char *buf, size_t size)
{
	size_t n = (size_t)snprintf(buf, size, " %dx%dx%d", op->k[0], op->k[1],
	    op->k[2]);

	if (op->s[0] > 1 || op->s[1] > 1 || op->s[2] > 1)
		n += (size_t)snprintf(buf + n, size - n, " stride %dx%dx%d",
		    op->s[0], op->s[1], op->s[2]);
	if (op->kind == OP_CONV && op->conv.groups > 1)
		snprintf(buf + n, size - n, " groups %d", op->conv.groups);
}

void
task_text(const struct task *t, char *buf, size_t size)
{
	const struct op *op = t->op;
	const struct op_impl *impl = t->impl;
	const char *name = op_types[op->kind].name;
	char in[64], out[64], window[64] = "", made[160] = "";

	if (op->kind == OP_CONV || op->kind == OP_MAXPOOL ||
	    (op->kind == OP_AVGPOOL && op->avgpool.axes == 0))
		task_window(op, window, sizeof(window));
	if (impl->describe != NULL)
		impl->describe(t, made, sizeof(made));
	snprintf(buf, size, "%s%s %s%s%s%s%s", name != NULL ? name : "loss",
	    window, op->nin > 0 ? dims_text(&t->in[0], in) : "",
	    op->nin > 0 ? " to " : "", dims_text(&t->out, out),
	    *made != '\0' ? ": " : "", made);
}
