/* tests/run: weight 4 */
/*
 * Whole networks on the cuda back end without a GPU: each task of a step beside
 * ref64, in every precision, with work done late and in another order.  The
 * networks are those of share/models with an eighth of their channels.  With a GPU
 * (make check-gpu) they are done on it.
 */
#include <ctype.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "net/parity.h"

#include "gpu/standin.h"
#include "tap.h"

enum { CLASSES = 5, ROWS = 600, THIN = 8, LEAST = 8 };

static const struct {
	const char *name;
	int t, side;
} nets[] = {
	{ "tsm_tiny", 4, 20 },
	{ "tsm_r18", 3, 33 },
	{ "tsm_r50_nl_gaussian", 2, 32 },
	{ "tsm_mobilenet_v2", 2, 32 },
	{ "slowfast_r50_8x8_nl", 8, 32 },
	{ "x3d_s", 4, 32 },
	{ "r2plus1d_18", 4, 17 },
};

/* A number after one of these says channels, but in what is read. */
static int
says_channels(const char *at)
{
	static const char *const keys[] = { " out=", " mid=", " wide=",
		" few=", " groups=" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strncmp(at, keys[i], strlen(keys[i])) == 0 &&
		    isdigit((unsigned char)at[strlen(keys[i])]))
			return (int)strlen(keys[i]);
	return 0;
}

/* The text of a network, with fewer channels. */
static char *
thin(const char *text)
{
	struct buffer b = { 0 };
	int reads = 0;

	while (*text != '\0') {
		int key = says_channels(text);

		reads = text[0] == '\n' ? strncmp(text + 1, "input", 5) == 0 :
		    reads;
		if (key > 0 && !reads) {
			long n;
			char *end;

			buffer_add(&b, text, (size_t)key);
			n = strtol(text + key, &end, 10) / THIN;
			buffer_printf(&b, "%ld", n < LEAST ? LEAST : n);
			text = end;
		} else {
			buffer_add(&b, text++, 1);
		}
	}
	return b.data;
}

static struct graph *
read_thin(const char *name)
{
	struct buffer text = { 0 };
	struct graph *g = NULL;
	char path[128], *less = NULL;

	snprintf(path, sizeof(path), "share/models/%s.net", name);
	if (file_read_text(path, &text) == 0) {
		less = thin(text.data);
		g = graph_parse(name, less, CLASSES);
	}
	if (g == NULL) {
		printf("Bail out! %s\n", path);
		exit(1);
	}
	buffer_free(&text);
	free(less);
	return g;
}

/* A plan of a step on a device. */
struct half { struct device *d; struct net *net; struct plan *plan; };

static struct half
half_open(const struct graph *g, const struct backend *b, enum precision p,
    const struct dims *in)
{
	struct half h = { .d = device_open(b, &(struct device_options){
		.threads = 1, .precision = p }) };

	if (h.d == NULL || (h.net = net_new(g, h.d)) == NULL)
		exit(1);
	net_init(h.net, 5);
	h.plan = net_plan(h.net, in, 1);
	if (h.plan == NULL || net_reserve(h.net) != 0)
		exit(1);
	return h;
}

static void
half_close(struct half *h)
{
	net_free(h->net);
	device_close(h->d);
}

static void
test(int k, enum standin_when when, enum precision p)
{
	static const char *const say[] = { "fp32", "bf16", "fp16" };
	static struct parity row[ROWS];
	struct graph *g = read_thin(nets[k].name);
	struct dims *in = graph_inputs(g, 2, nets[k].t, nets[k].side);
	struct half x = half_open(g, standin_backend(when), p, in);
	struct half key = half_open(g, backend_find("ref64"), p, in);
	struct parity_options o = { .by_norm = p != PRECISION_FP32 };
	int n = parity_run(x.net, x.plan, key.net, key.plan, &o, row), bad = 0;

	for (int i = 0; i < n; i++)
		if (!(parity_worst(&row[i]) <= parity_tolerance(p))) {
			diag("%s: %g %g %g", g->op[row[i].task].name,
			    row[i].forward, row[i].dx, row[i].dw);
			bad++;
		}
	ok(n > 0 && bad == 0, "%s in %s, %s: %d kinds of tasks, as ref64 has "
	    "them", nets[k].name, say[p], x.d->backend->name, n);
	half_close(&x);
	half_close(&key);
	free(in);
	graph_free(g);
}

int
main(void)
{
	for (int k = 0; k < (int)(sizeof(nets) / sizeof(nets[0])); k++)
		for (int p = PRECISION_FP32; p <= PRECISION_FP16; p++)
			test(k, k % 2 ? STANDIN_LATE : STANDIN_OTHERS,
			    (enum precision)p);
	return done();
}
