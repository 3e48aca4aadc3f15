/* The cache of captured CUDA graphs of a plan. */
#include <stdlib.h>

#include "base/mem.h"
#include "net/passes.h"

/*
 * Maximum of graphs.  A step of k microbatches uses about log2(k) gradient
 * buffers in turn, with two passes each.  If more keys occur, they differ each
 * time, and their graphs would only take memory.
 */
enum { PASSES = 32 };

struct passes_pass {
	struct pass_key key;
	int refused;			/* 1: it cannot be captured */
	struct replay *kept;
};

struct passes { struct passes_pass pass[PASSES]; int n; };

struct passes *
passes_new(void)
{
	return xcalloc(1, sizeof(struct passes));
}

/* Free all graphs.  They refer to an arena that was freed. */
static void
passes_forget(struct passes *p, struct device *d)
{
	while (p->n > 0)
		device_replay_free(d, p->pass[--p->n].kept);
}

void
passes_free(struct passes *p, struct device *d)
{
	if (p != NULL)
		passes_forget(p, d);
	free(p);
}

static int
passes_same(const struct pass_key *a, const struct pass_key *b)
{
	return a->arena == b->arena && a->w == b->w && a->dw == b->dw &&
	    a->final == b->final && a->form == b->form &&
	    a->backward == b->backward && a->renew == b->renew;
}

/* Return the entry of ${key}.  If there is none, add one and return NULL. */
static struct passes_pass *
passes_find(struct passes *p, struct device *d, const struct pass_key *key)
{
	int i = 0;

	if (p->n > 0 && p->pass[0].key.arena != key->arena)
		passes_forget(p, d);
	while (i < p->n && !passes_same(&p->pass[i].key, key))
		i++;
	if (i < p->n)
		return &p->pass[i];
	if (p->n < PASSES)
		p->pass[p->n++] = (struct passes_pass){ .key = *key };
	return NULL;
}

void
passes_run(struct passes *p, struct device *d, const struct pass_key *key,
    void (*run)(void *arg), void *arg)
{
	struct passes_pass *pass = passes_find(p, d, key);

	if (pass != NULL && pass->kept == NULL && !pass->refused) {
		if (device_capture(d)) {
			run(arg);
			pass->kept = device_captured(d);
		}
		pass->refused = pass->kept == NULL;
	}
	if (pass != NULL && pass->kept != NULL)
		device_replay(d, pass->kept);
	else
		run(arg);
}
