/* The cache of captured CUDA graphs of a plan. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "net/capture_cache.h"

/*
 * Maximum of graphs.  A step of k microbatches uses about log2(k) gradient
 * buffers in turn, with two passes each.  If more keys occur, they differ each
 * time, and their graphs would only take memory.
 */
enum { PASSES = 32 };

struct capture_cache_pass {
	struct capture_key key;
	int refused;			/* 1: it cannot be captured */
	struct captured_graph *kept;
};

struct capture_cache {
	struct capture_cache_pass pass[PASSES];
	int n, full;			/* full: a pass was left out, and
					 * said */
};

struct capture_cache *
capture_cache_new(void)
{
	return xcalloc(1, sizeof(struct capture_cache));
}

/* Free all graphs.  They refer to an arena that was freed. */
static void
capture_cache_clear(struct capture_cache *p, struct device *d)
{
	while (p->n > 0)
		device_graph_free(d, p->pass[--p->n].kept);
}

void
capture_cache_free(struct capture_cache *p, struct device *d)
{
	if (p != NULL)
		capture_cache_clear(p, d);
	free(p);
}

static int
capture_cache_same(const struct capture_key *a, const struct capture_key *b)
{
	return a->arena == b->arena && a->w == b->w && a->dw == b->dw &&
	    a->final == b->final && a->feed_key == b->feed_key &&
	    a->backward == b->backward &&
	    a->weights_changed == b->weights_changed;
}

/* Return the entry of ${key}.  If there is none, add one and return NULL. */
static struct capture_cache_pass *
capture_cache_find(struct capture_cache *p, struct device *d,
const struct capture_key *key)
{
	int i = 0;

	if (p->n > 0 && p->pass[0].key.arena != key->arena)
		capture_cache_clear(p, d);
	while (i < p->n && !capture_cache_same(&p->pass[i].key, key))
		i++;
	if (i < p->n)
		return &p->pass[i];
	if (p->n < PASSES) {
		p->pass[p->n++] = (struct capture_cache_pass){ .key = *key };
	} else if (!p->full) {
		p->full = 1;
		detail("a plan has more than %d different passes: the others "
		    "run without CUDA graphs", PASSES);
	}
	return NULL;
}

/*
 * Capture the pass.  NCCL requires that all ranks launch an exchange by a
 * graph, or none does (NCCL User Guide, "Using NCCL with CUDA Graphs").
 */
static struct captured_graph *
capture_cache_capture(struct device *d, const struct peers *peers,
    void (*run)(void *arg), void *arg)
{
	struct captured_graph *kept = NULL;

	if (device_capture(d)) {
		run(arg);
		kept = device_capture_end(d);
	}
	if (peers == NULL || peers->agree(peers, kept != NULL))
		return kept;
	device_graph_free(d, kept);
	return NULL;
}

void
capture_cache_run(struct capture_cache *p, struct device *d,
    const struct capture_key *key, const struct peers *peers,
    void (*run)(void *arg), void *arg)
{
	struct capture_cache_pass *pass = capture_cache_find(p, d, key);

	if (pass != NULL && pass->kept == NULL && !pass->refused) {
		pass->kept = capture_cache_capture(d, peers, run, arg);
		pass->refused = pass->kept == NULL;
	}
	if (pass != NULL && pass->kept != NULL)
		device_graph_launch(d, pass->kept);
	else
		run(arg);
}
