/*
 * The cpu back end plans each network in share/models, in every precision of
 * this processor, for training and for testing.  No operator runs on oneDNN's
 * slow reference implementation, which oneDNN calls ref.
 */
#include <glob.h>

#include "base/fail.h"
#include "base/mem.h"
#include "net/plan.h"

#include "tap.h"

/*
 * Write the name and algorithm of the first task that runs on ref; "" if none.
 */
static void
plain_loops(const struct plan *p, char text[400])
{
	*text = '\0';
	for (int i = 0; i < p->n && *text == '\0'; i++) {
		const struct task *t = &p->task[i];
		char how[200] = "";

		if (t->fused_into != i || t->impl->describe == NULL)
			continue;
		t->impl->describe(t, how, sizeof(how));
		if (strstr(how, "ref") != NULL)
			snprintf(text, 400, "%s: %s", t->op->name, how);
	}
}

static void
test(const char *path, struct device *d)
{
	static const enum plan_use uses[] = { PLAN_TEST, PLAN_ONCE };
	struct graph *g = graph_read(path, 11);
	struct dims in = { 2, 16, 64, 64, 3 };
	char text[400] = "it cannot be read";
	int planned = 0;

	for (size_t u = 0; g != NULL && u < 2; u++) {
		struct plan *p = plan_new(g, d, &in, uses[u]);

		if (p == NULL) {
			snprintf(text, sizeof(text), "it cannot be planned");
			break;
		}
		plain_loops(p, text);
		planned += *text == '\0';
		plan_free(p);
	}
	if (!ok(planned == 2, "%s in %s runs no operator on ref", path,
	    d->precision != NULL ? d->precision : "fp32"))
		diag("%s", text);
	graph_free(g);
}

int
main(void)
{
	static const enum precision precisions[] = { PRECISION_FP32,
		PRECISION_BF16 };
	const struct backend *b = NULL;
	glob_t nets;

	for (int i = 0; backends[i] != NULL; i++)
		if (strcmp(backends[i]->name, "cpu") == 0)
			b = backends[i];
	if (b == NULL) {
		skip("networks on the cpu back end", "built without oneDNN");
		return done();
	}
	if (glob("share/models/*.net", 0, NULL, &nets) != 0) {
		printf("Bail out! no networks in share/models\n");
		return 1;
	}
	for (int k = 0; k < 2; k++) {
		struct device *d = device_open(b,
		    &(struct device_options){ .threads = 2,
		    .precision = precisions[k] });

		if (d == NULL || d->o.precision != precisions[k])
			skip("bf16", "no such device here");
		else
			for (size_t i = 0; i < nets.gl_pathc; i++)
				test(nets.gl_pathv[i], d);
		device_close(d);
	}
	globfree(&nets);
	return done();
}
