/*
 * lossdump: print losses and gradients of softmax losses on back end cpu, for
 * tests/parity/losses.py.  Each case is a line of words: kind of target, gamma,
 * smoothing, 1 if classes are weighted; then scores, targets (labels or
 * shares), weights of classes, the mean loss, and its gradient.
 */
#include "backend/backend.h"
#include "base/mem.h"
#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = 6, C = 5 };

static void
print(const char *name, const double *v, int n)
{
	printf("%s", name);
	for (int i = 0; i < n; i++)
		printf(" %.9g", v[i]);
	putchar('\n');
}

static void
dump(struct device *d, int soft, double gamma, double smooth, int weighted)
{
	const struct op_impl *impl = d->backend->ops[OP_LOSS];
	struct op op = { .kind = OP_LOSS, .name = "loss", .nin = 1,
		.loss = { .weight = 1, .focus = gamma, .smooth = smooth } };
	double x[N * C], dx[N * C], shown[N * C];
	int label[N];
	float share[N * C], weight[C] = { 0.5f, 2, 1, 0.25f, 3 };
	struct target target = { .kind = soft ? TARGET_SOFT : TARGET_CLASS,
		.classes = C, .label = label, .soft = share,
		.class_weight = weighted ? weight : NULL };
	struct outcome o = { 0 };
	struct feed feed = { .target = &target, .outcome = &o };
	struct task k = { .device = d, .op = &op, .training = 1,
		.in = { { N, 1, 1, 1, C } }, .out = { N, 1, 1, 1, 1 },
		.needs_input_grad = { 1 }, .feed = &feed };

	for (int i = 0; i < N * C; i++) {
		x[i] = (float)(3 * rng_normal(1, 1, (uint32_t)i));
		share[i] = i % C == i / C % C ? 0.7f : i % C ==
		    (i / C + 2) % C ? 0.3f : 0;
	}
	for (int i = 0; i < N; i++)
		label[i] = i * 3 % C;
	k.x[0] = device_alloc(d, device_bytes(d, &k.in[0]));
	k.dx[0] = device_alloc(d, device_bytes(d, &k.in[0]));
	k.y = device_alloc(d, device_bytes(d, &k.out));
	k.scratch = xcalloc(impl->scratch(&k), 1);
	device_write(d, (void *)k.x[0], &k.in[0], x);
	impl->forward(&k);
	impl->backward(&k);
	device_read(d, dx, &k.in[0], k.dx[0]);
	printf("case %s %g %g %d\n", soft ? "soft" : "class", gamma, smooth,
	    weighted);
	print("x", x, N * C);
	for (int i = 0; i < N * C; i++)
		shown[i] = soft ? (double)share[i] : i < N ? label[i] : 0;
	print("target", shown, soft ? N * C : N);
	for (int c = 0; c < C; c++)
		shown[c] = (double)weight[c];
	print("weight", shown, C);
	print("loss", &o.loss, 1);
	print("dx", dx, N * C);
	device_free(d, (void *)k.x[0]);
	device_free(d, k.dx[0]);
	device_free(d, k.y);
	free(k.scratch);
}

int
main(void)
{
	struct device *d = device_open(backend_find("cpu"),
	    &(struct device_options){ .threads = 1 });

	for (int i = 0; i < 24 && d != NULL; i++)
		dump(d, i & 1, (double[]){ 0, 0.5, 2 }[i / 8], i & 2 ? 0.1 : 0,
		    i >> 2 & 1);
	device_close(d);
	return d == NULL;
}
