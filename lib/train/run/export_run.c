/* Export a checkpoint for another program. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/text.h"
#include "backend/backend.h"
#include "shard/classes.h"
#include "train/run/checkpoint.h"
#include "train/run/export.h"
#include "train/run/export_run.h"
#include "train/run/rundir.h"

/* Write the parameters of ${n} to ${path}, with the values of the checkpoint in
 * fp32.  Return 0, or an exit status after a message. */
static int
export_write_net(const struct state *s, const struct net *n,
    const struct key_map *names, const char *path)
{
	char *step = xprintf("%" PRIu64, s->step);
	/* PyTorch's readers of safetensors look for the format "pt". */
	const struct meta meta[] = { { "format", "pt" },
		{ "vt.build", s->build }, { "vt.classes", s->classes },
		{ "vt.model", s->model }, { "vt.step", step } };
	struct export e;
	int status = EXIT_USAGE;

	if (export_new(n->graph, names, &e) == 0) {
		status = export_write(&e, n, s->step, meta,
		    sizeof(meta) / sizeof(meta[0]), path) == 0 ? 0 :
		    EXIT_FAILED;
		if (status == 0)
			note("%s: %zu tensors, names of %s, step %s",
			    text_quote(path), e.tensors, names->name, step);
		export_free(&e);
	}
	free(step);
	return status;
}

/* Load ${checkpoint} into a net on the ref back end, which keeps fp32, and
 * export it. */
static int
export_checkpoint(const char *checkpoint, const char *path,
    const struct key_map *names, int ema)
{
	static const struct device_options o = { .threads = 1 };
	struct device *d = device_open(backend_find("ref"), &o);
	struct safetensors file;
	struct state state;
	struct graph *g = NULL;
	struct net *n = NULL;
	struct class_list classes = { 0 };
	int status, bad = checkpoint_read(checkpoint, &file, &state);

	if (bad) {
		device_close(d);
		return checkpoint_status(bad);
	}
	if (ema && checkpoint_has_ema(&file, checkpoint) != 0) {
		safetensors_free(&file);
		device_close(d);
		return EXIT_USAGE;
	}
	class_parse(state.classes, &classes);
	g = graph_parse(state.model, state.network, (int)classes.n);
	if (g == NULL || (n = net_new(g, d)) == NULL ||
	    (ema ? checkpoint_load_ema(&file, checkpoint, n) :
	    checkpoint_load(&file, checkpoint, n)) != 0)
		status = EXIT_DAMAGE;
	else
		status = export_write_net(&state, n, names, path);
	class_list_free(&classes);
	net_free(n);
	graph_free(g);
	device_close(d);
	safetensors_free(&file);
	return status;
}

int
export_run(const char *run, const char *path, const char *names, int ema)
{
	struct key_map *n = key_map_open(names);
	char *checkpoint;
	int status = EXIT_FAILED;

	if (n == NULL)
		return EXIT_USAGE;
	if (!key_map_can_write(n)) {
		fail("--names=%s: names that are only read (wanted those of "
		    "another program)", text_quote(names));
		key_map_close(n);
		return EXIT_USAGE;
	}
	if ((checkpoint = rundir_find_checkpoint(run)) != NULL) {
		detail("%s: is exported", text_quote(checkpoint));
		status = export_checkpoint(checkpoint, path, n, ema);
	}
	free(checkpoint);
	key_map_close(n);
	return status;
}
