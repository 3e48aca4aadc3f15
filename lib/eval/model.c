/* Load a network from a checkpoint onto a device. */
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "eval/model.h"
#include "train/loop/choices.h"
#include "train/run/rundir.h"
#include "weights/known.h"

/*
 * The first head gives the scores, so its classes must be the named classes of
 * the checkpoint.  Other heads may have any target.
 */
static int
model_check_head(const struct model *m)
{
	const struct graph *g = m->graph;
	const struct target_spec *t =
	    &g->needs.target[g->op[g->head[0].loss].loss.target];

	if (strcmp(t->name, TARGET_DEFAULT) == 0)
		return 0;
	fail("%s: the first head of %s has %d classes of the target %s (wanted "
	    "the %zu of " TARGET_DEFAULT ", which have names)",
	    text_quote(m->path), g->name, g->head[0].classes, t->name,
	    m->class.n);
	return EXIT_USAGE;
}

/* Name the best checkpoint of the run ${dir}, if it is another one. */
static void
model_note_best(const struct model *m, const char *dir)
{
	char *best = path_join(dir, "best.safetensors");
	const struct state *s = &m->state;

	if (s->best_step > 0 && s->best_step != s->step && file_size(best) >= 0)
		note("%s, of step %" PRIu64 ", has the best %s of the "
		    "validations, %.4g", text_quote(best), s->best_step,
		    s->best_metric, fabs(s->best));
	free(best);
}

/* Return 1 if ${path} is a file of PyTorch: a zip archive or a pickle. */
static int
model_is_torch(const char *path)
{
	unsigned char first = 0;
	int fd = file_is_dir(path) ? -1 :
	    file_open(path, O_RDONLY | O_NONBLOCK);

	if (fd < 0)
		return 0;
	file_pread_some(fd, &first, 1, 0);
	file_close(fd);
	return first == 'P' || first == 0x80;
}

static int
model_read_weights(struct model *m, const char *path, const char *device)
{
	int status;

	if ((m->backend = backend_find(device)) == NULL)
		return EXIT_USAGE;
	if (m->ema) {
		fail("--use-ema: not for weights of another program");
		return EXIT_USAGE;
	}
	if ((m->path = known_is(path) ? known_path(path) :
	    rundir_find_checkpoint(path)) == NULL)
		return EXIT_FAILED;
	status = model_weights_read(m, known_is(path) ? path : m->path);
	return status == 0 ? model_check_head(m) : status;
}

int
model_read(struct model *m, const char *path, const char *device)
{
	int bad;

	if (m->network != NULL || m->classes != NULL || known_is(path) ||
	    model_is_torch(path))
		return model_read_weights(m, path, device);
	if ((m->path = rundir_find_checkpoint(path)) == NULL)
		return EXIT_FAILED;
	if (strcmp(m->path, path) != 0)
		note("scoring %s", text_quote(m->path));
	if ((bad = checkpoint_read(m->path, &m->file, &m->state)) != 0)
		return checkpoint_status(bad);
	if (strcmp(m->path, path) != 0)
		model_note_best(m, path);
	class_parse(m->state.classes, &m->class);
	if (m->ema && checkpoint_has_ema(&m->file, m->path) != 0)
		return EXIT_USAGE;
	if ((m->backend = backend_find(device)) == NULL)
		return EXIT_USAGE;
	m->graph = graph_parse(m->state.model, m->state.network,
	    (int)m->class.n);
	return m->graph != NULL ? model_check_head(m) : EXIT_DAMAGE;
}

/* Use the convolution algorithms that the run of the checkpoint saved. */
static int
model_take_choices(const struct model *m)
{
	char *dir = path_dir(m->path);
	int status = choices_take_saved(m->device, dir);

	free(dir);
	return status;
}

int
model_start(struct model *m, int threads, enum precision precision)
{
	struct device_options o = { .threads = threads,
		.precision = precision };
	int status;

	if ((m->device = device_open(m->backend, &o)) == NULL)
		return EXIT_USAGE;
	if (m->weights.match == NULL && (status = model_take_choices(m)) != 0)
		return status;
	if ((m->net = net_new(m->graph, m->device)) == NULL)
		return EXIT_FAILED;
	m->net->advice = "a smaller --microbatch, ";
	if (m->weights.match != NULL) {
		match_load_whole(m->weights.match, m->net);
		return 0;
	}
	return checkpoint_load(&m->file, m->path, m->net, m->ema) == 0 ? 0 :
	    EXIT_DAMAGE;
}

const struct buffer *
model_bytes(const struct model *m)
{
	const struct weights_file *w = &m->weights.weights;

	return w->file.data != NULL ? &w->file : w->s.file.data != NULL ?
	    &w->s.file : &m->file.file;
}

void
model_close(struct model *m)
{
	net_free(m->net);
	init_close(&m->weights);
	graph_free(m->graph);
	device_close(m->device);
	class_list_free(&m->class);
	safetensors_free(&m->file);
	free(m->path);
	*m = (struct model){ 0 };
}
