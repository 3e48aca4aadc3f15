/*
 * A training step downloads only the losses, once: a device that works
 * asynchronously would otherwise be waited for.
 */

#include "base/mem.h"
#include "comm/comm.h"
#include "train/loop/trainer.h"

#include "loader_set.h"
#include "tap.h"
#include "devices.h"

enum { BATCH = 6, GROUP = 2, HEADS = 2 };

static struct backend counting;
static struct memory_ops memory;
static struct layout_ops layout;
static const struct backend *real;
static int reads, gets, fetches;
static int others, amid;	/* other downloads; those before the last
				 * download of losses */

static void
count_read(struct device *d, double *host, const struct dims *shape,
    const void *activation)
{
	reads++;
	real->layout->read(d, host, shape, activation);
}

static void
count_get(struct device *d, double *host, const void *w, size_t n)
{
	gets++;
	real->memory->get(d, host, w, n);
}

static void
count_fetch(struct device *d, void *host, const void *w, size_t bytes)
{
	if (bytes == BATCH / GROUP * HEADS * sizeof(struct outcome)) {
		fetches++;
		amid += others;
	} else {
		others++;
	}
	real->memory->download(d, host, w, bytes);
}

static int frames_of(int i) { return 4 + i % 3; }
static int side_of(int i) { return (void)i, 20; }

/* Train on back end ${b} over the schedule.  Return the exit status. */
static int
train(struct dataset *set, struct schedule *s,
    const struct backend *b)
{
	struct graph *g = graph_parse("t.net",
	    "input x out=3 mean=0.5 std=0.25\n"
	    "conv a in=x out=8 k=3,3 s=2,2\nbn b in=a\nrelu r in=b\n"
	    "avgpool p in=r over=thw\nlinear fc in=p out=classes\n"
	    "linear more in=p out=classes\n"
	    "loss main in=fc\nloss second in=more weight=0.5\n", 3);
	struct device *d = device_open(b, &(struct device_options){
	    .threads = 1 });
	struct trainer t = { .comm = comm_self(), .schedule = s, .train = set,
		.o = { .log_every = 1 }, .loading = {
		    .crop = crop_defaults,
		    .seed = 1, .threads = 1, .ranks = 1, .memory = 1 << 20,
		    .needs = &g->needs }, .optim = { .set = { .momentum = 0.9 },
		    .rule = group_rule_find("plain") } };
	int status;

	real = d->backend;
	counting = *real;
	memory = *real->memory;
	memory.get = count_get;
	memory.download = count_fetch;
	layout = *real->layout;
	layout.read = count_read;
	counting.memory = &memory;
	counting.layout = &layout;
	d->backend = &counting;
	t.net = net_new(g, d);
	net_init(t.net, 1);
	segments_open(&t.share, t.comm, g->elements, bucket_elements(
	    1 << 20, d->elem));
	status = optim_open(&t.optim, t.net, &t.share) != 0 ? -1 :
	    trainer_plan(&t);
	if (status == 0)
		status = trainer_open(&t);
	reads = gets = fetches = others = amid = 0;
	if (status == 0)
		status = trainer_run(&t);
	trainer_close(&t);
	optim_close(&t.optim);
	segments_close(&t.share);
	net_free(t.net);
	graph_free(g);
	comm_close(t.comm);
	d->backend = real;
	device_close(d);
	return status;
}

int
main(void)
{
	char root[] = "/tmp/vt-step.XXXXXX";
	struct set set = { .dir = "set", .ext = "png", .shards = 1, .samples = 12,
		.frames = frames_of, .width = side_of, .height = side_of,
		.frame = set_plain };
	struct table *rows = table_parse("test", "#stage\tepoch_begin\tepoch_end\tcycle\t"
	    "batch\tframes\tcrop\tbn\tlr\tstride_min\tstride_max\n"
	    "0\t0\t3\t0\t6\t2\t16\t2\t0.01\t0\t0\n");
	struct schedule *s = schedule_from_table(rows);
	struct dataset *d = set_open(&set, root);
	int steps = (int)schedule_steps(s, 12);

	for (int i = 0; backends[i] != NULL; i++) {
		const char *name = backends[i]->name;

		if (!has_device(backends[i]))
			continue;
		is(train(d, s, backends[i]), 0,
		    "a run on a device with counters succeeds");
		ok(reads == 0 && gets == 0, "%s: no activation or parameter is "
		    "read (%d, %d)", name, reads, gets);
		is(fetches, steps, "the losses of all microbatches and heads "
		    "are downloaded once per step");
		is(amid, 0,
		    "nothing else is downloaded before the run is saved");
	}
	schedule_free(s);
	table_free(rows);
	set_close(d, root);
	return done();
}
