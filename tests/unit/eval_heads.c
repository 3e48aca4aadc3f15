/*
 * vt-eval on a checkpoint of several heads uses the scores of the first head,
 * and the other heads change no bit of them.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/fail.h"
#include "comm/comm.h"
#include "eval/packed.h"
#include "media/png.h"
#include "train/optim/optim.h"
#include "train/run/snapshot.h"

#include "loader_set.h"
#include "said.h"
#include "tap.h"

#define TRUNK \
	"input x out=3\n" \
	"conv c in=x out=6 k=3,3 s=2,2\n" \
	"relu r in=c\n" \
	"avgpool p in=r over=thw\n" \
	"linear fc in=p out=classes std=1\n"
#define AUXILIARY "linear other in=p out=5 std=1\n"

static char dir[] = "/tmp/vt-heads.XXXXXX";

static int frames_of(int i) { return 4 + i; }
static int side_of(int i) { return (void)i, 24; }

static void
frame(int sample, int number, int w, int h, struct buffer *to)
{
	struct image *m = image_new(w, h, 3);

	for (int i = 0; i < 3 * w * h; i++)
		m->data[i] = (uint8_t)(i * (sample + 3) + 7 * number);
	png_encode(m, to);
	image_free(m);
}

/* Save a checkpoint of the network ${text} before its first step. */
static void
save(const char *path, const char *text)
{
	struct device *d = device_open(backend_find("ref"),
	    &(struct device_options){ .threads = 1 });
	struct graph *g = graph_parse("net", text, 3);
	struct net *n = net_new(g, d);
	struct optim o = { 0 };
	struct snapshot *s;
	struct hash128 hash;
	struct state st = { .best_metric = "", .grown = 1, .build = "vt 0", .results = "1",
		.isa = "base", .library = "none", .precision = "fp32",
		.settings_id = "0", .classes = "a\nb\nc\n", .class_hash = "0",
		.config = "", .dataset = "0", .history = "0", .model = "net",
		.network = text, .frames = 3, .crop = 16, .order = "v1",
		.flips = "none", .class_weights = "none" };

	net_init(n, 5);
	optim_open(&o, n, NULL);
	ok(snapshot_take(&s, n, &o.slots, &st) == 0 &&
	    snapshot_write(s, path, &hash, NULL) == 0, "a checkpoint is written");
	snapshot_free(s);
	optim_close(&o);
	net_free(n);
	device_close(d);
	graph_free(g);
}

/*
 * Evaluate the dataset by a network ${text}.  Return the scores, which the
 * caller frees; NULL after a message in ${said}.
 */
static double *
scores(const char *text, struct comm *comm, char said[512])
{
	char *path = path_join(dir, "x.safetensors");
	struct model m = { 0 };
	struct packed p = { .path = dir, .model = &m };
	double *found = NULL;
	int status;

	save(path, text);
	*said = '\0';
	said_begin(said, 512);
	status = model_read(&m, path, "ref");
	if (status == 0)
		status = packed_open(&p);
	if (status == 0)
		status = model_start(&m, 1, PRECISION_FP32);
	said_end();
	if (status == 0) {
		p.views = (struct view_options){ .threads = 1, .clips = 1,
			.crops = 1, .n = 2, .t = 3, .side = 16,
			.memory = 1 << 20, .needs = &m.graph->needs };
		ok(evaluator_plan(m.net, &p.views) != NULL &&
		    net_reserve(m.net) == 0 && evaluator_run(m.net, p.data,
		    &p.views, comm, NULL, &p.e) == 0,
		    "the dataset is evaluated");
		found = p.e.scores;
		p.e.scores = NULL;
	} else {
		is(status, EXIT_USAGE,
		    "an error has the exit status of wrong use");
	}
	packed_close(&p);
	model_close(&m);
	free(path);
	return found;
}

int
main(int argc, char **argv)
{
	const struct set set = { .dir = dir, .ext = "png", .shards = 1,
		.samples = 5, .classes = 3, .frames = frames_of,
		.width = side_of, .height = side_of, .frame = frame };
	struct comm *comm = comm_open(&argc, &argv, 600);
	static const struct { const char *what, *loss; } other[] = {
		{ "another target", "loss m in=fc\n"
		    "loss n in=other target=verb\n" },
		{ "another target, with smoothing and weight", "loss m in=fc\n"
		    "loss n in=other target=verb smooth=0.1 weight=0.3\n" },
		{ "sets of classes", "loss m in=fc\n"
		    "loss n in=other target=tags kind=sigmoid\n" },
	};
	double *alone, *beside;
	char said[512], *command;

	program_start("eval_heads");
	if (mkdtemp(dir) == NULL || set_make(&set) != 0)
		return 1;
	alone = scores(TRUNK "loss m in=fc\n", comm, said);
	ok(alone != NULL && alone[0] != alone[3],
	    "a network of one head has scores");
	for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++) {
		char *text = xprintf(TRUNK AUXILIARY "%s", other[i].loss);

		beside = scores(text, comm, said);
		ok(beside != NULL && memcmp(alone, beside,
		    15 * sizeof(*alone)) == 0,
		    "a second head of %s changes no bit of the scores",
		    other[i].what);
		free(beside);
		free(text);
	}
	beside = scores(TRUNK AUXILIARY "loss n in=other target=verb\n"
	    "loss m in=fc\n", comm, said);
	ok(beside == NULL && strstr(said, "the first head of net has 5 classes of "
	    "the target verb (wanted the 3 of class, which have names)") != NULL,
	    "a first head of another target is refused: %s", said);
	free(alone);
	comm_close(comm);
	command = xprintf("rm -rf '%s'", dir);
	if (system(command) != 0)
		diag("cannot remove %s", dir);
	free(command);
	return done();
}
