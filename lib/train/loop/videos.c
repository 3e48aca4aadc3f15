/* Find the videos of a run, and the sets that were packed of them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "ingest/video_set.h"
#include "shard/manifest.h"
#include "train/loop/inputs.h"
#include "train/loop/videos.h"
#include "train/run/rundir.h"

#define Q text_quote
#define VIDEOS_HELD 40			/* of so many, a part validates */
#define VIDEOS_PART 0.2			/* unless the user says otherwise */
#define VIDEOS_SHARD (512 << 20)	/* bytes; vt-pack's default */

const char *const videos_name[2] = { "data", "val" };

/* ---- rank 0: the lists ---- */

/* Return 1 if a checkpoint of the run names its data. */
static int
videos_is_named(const struct videos *p)
{
	uint64_t *steps;
	int n = p->run != NULL ? rundir_checkpoints(p->run, "", &steps) : 0;

	if (p->run != NULL)
		free(steps);
	return n != 0;
}

static int
videos_may_replace(const struct videos *p, int which)
{
	int given = 0;

	for (size_t i = 0; i < p->o->override.n; i++)
		given |= strcmp(p->o->override.item[i], "data") == 0;
	return p->o->videos.cache == NULL && (which == 1 || given ||
	    !videos_is_named(p));
}

/* Return the samples and classes of ${v} for planned_videos. */
static char *
videos_plan(const struct video_set *v, int short_side)
{
	const struct list *l = video_set_list(v);
	struct buffer b = { 0 };

	buffer_printf(&b, "%d\n", short_side);
	for (size_t i = 0; i < l->n; i++) {
		const struct sample *s = &l->row[i].sample;
		char group[17] = "";	/* a hash has no tabs */

		if (s->group != NULL)
			hash64_text(hash64(s->group, strlen(s->group)), group);
		buffer_printf(&b, "%d\t%s\t%s\t%s\n", s->labels != NULL ?
		    -2 : s->label, s->key, l->row[i].unit, group);
	}
	buffer_text(&b, "\n");
	class_text(video_set_classes(v), &b);
	return b.data;
}

/*
 * Set the classes of training for the list of --val, from its videos or its
 * packed set, whose manifest is then ${*m}.  Return 0, or -1 after a message.
 */
static int
videos_classes(const struct videos *p, struct video_set_options *o,
    struct manifest **m)
{
	const struct videos_set *train = &p->of[0];

	o->whose = p->o->data;
	if (train->videos != NULL) {
		o->classes = video_set_classes(train->videos);
		return 0;
	}
	*m = manifest_read(train->path != NULL ? train->path : p->o->data,
	    NULL);
	if (*m == NULL)
		return -1;
	o->classes = &(*m)->classes;
	return 0;
}

/* Compare the list with the set that exists, and decide whether to pack. */
static int
videos_decide(struct videos *p, int which)
{
	struct videos_set *s = &p->of[which];
	struct error why = { "" };
	enum video_set_state is = p->run == NULL && p->o->videos.cache == NULL ?
	    VIDEO_SET_NONE : video_set_compare(s->videos, s->path, &why);

	if (is == VIDEO_SET_BAD)
		return EXIT_USAGE;
	if (is == VIDEO_SET_OTHER && !videos_may_replace(p, which)) {
		if (p->o->videos.cache != NULL)
			fail("%s: %s (other runs may use the set: wanted "
			    "another --cache)", Q(s->path), why.text);
		else
			fail("%s: --override=data verifies it again", why.text);
		return EXIT_USAGE;
	}
	if (is == VIDEO_SET_WHOLE) {
		detail("%s: packed before, from these %zu videos", Q(s->path),
		    video_set_list(s->videos)->n);
		video_set_free(s->videos);
		s->videos = NULL;
		return 0;
	}
	s->plan = videos_plan(s->videos, (int)p->o->videos.short_side);
	return 0;
}

/* List the videos ${path}, and find their set.  Return an exit status. */
static int
videos_list(struct videos *p, int which, const char *path)
{
	struct videos_set *s = &p->of[which];
	struct video_set_options o = { .path = path, .subset = which == 0 ?
		"train" : path == p->o->data ? "val" : NULL,
		.group = p->o->videos.group,
		.root = p->o->videos.root, .fps = p->o->videos.fps,
		.short_side = (int)p->o->videos.short_side,
		.skip = p->o->videos.skip, .shard_size = VIDEOS_SHARD };
	struct manifest *m = NULL;
	int status = 0;

	if (which == 1 && videos_classes(p, &o, &m) != 0)
		return EXIT_FAILED;
	s->videos = video_set_new(&o, &status);
	manifest_free(m);
	if (status != 0)
		return status;
	if (which == 0 && video_set_validates(s->videos)) {
		if (p->o->validation != NULL) {
			fail("%s: has rows of the subset val (wanted no --val)",
			    Q(path));
			return EXIT_USAGE;
		}
		p->divided = 1;
	}
	p->holds_out |= which == 0 && !p->divided &&
	    video_set_list(s->videos)->n >= VIDEOS_HELD;
	if (p->o->videos.cache != NULL) {
		char *name = video_set_name(s->videos);

		s->path = path_join(p->o->videos.cache, name);
		free(name);
	} else {
		s->path = p->run != NULL ? path_join(p->run,
		    videos_name[which]) : xstrdup(path);
	}
	return videos_decide(p, which);
}

/* Return 1 if a part of the data validates in the run ${run}. */
static int
videos_held_out(const char *run)
{
	char *split = path_join(run, SPLIT_FILE);
	int has = file_size(split) >= 0;

	free(split);
	return has;
}

/*
 * Open the data ${path} if they are videos.  The set of a replayed run, or of
 * videos that are gone, is taken as it is.  Return an exit status.
 */
static int
videos_open_first(struct videos *p, int which, const char *path, int replays)
{
	char *made = p->run != NULL ? path_join(p->run, videos_name[which]) :
	    NULL;
	int status = 0;

	if (made != NULL && manifest_exists(made) && !manifest_exists(path) &&
	    (replays || access(path, F_OK) != 0)) {
		p->of[which].path = made;
		p->holds_out |= which == 0 && videos_held_out(p->run);
		return 0;
	}
	if (video_set_is(path))
		status = videos_list(p, which, path);
	free(made);
	return status;
}

/* ---- all ranks: the sets ---- */

/* Give all ranks the set of rank 0.  Return 0, or -1 if communication fails. */
static int
videos_share(struct videos *p, struct videos_set *s)
{
	struct comm *c = p->comm;
	struct { int made, due, divided, holds_out; } has = { s->path != NULL,
		s->plan != NULL, p->divided, p->holds_out };

	if (comm_broadcast(c, &has, sizeof(has), 0) != 0)
		return -1;
	p->divided = has.divided;
	p->holds_out = has.holds_out;
	if (has.made && (s->path = inputs_share(c, s->path)) == NULL)
		return -1;
	return has.due && (s->plan = inputs_share(c, s->plan)) == NULL ? -1 : 0;
}

/* Refuse options of videos if no data are videos. */
static int
videos_check_options(const struct videos *p)
{
	const char *given = p->o->videos.given;

	if (given != NULL && p->of[0].path == NULL && p->of[1].path == NULL)
		return fail("--%s is for videos (%s is a packed dataset)",
		    given, Q(p->o->data));
	return 0;
}

int
videos_open(struct videos *p, struct comm *c, struct settings *o,
    const char *run, int replays)
{
	*p = (struct videos){ .comm = c, .o = o, .run = run };
	for (int which = 0; which < 2; which++) {
		const char *path = which == 0 ? o->data : o->val;
		int status = 0;

		/* If a rank has no --val, identity_check names the difference
		 * later. */
		if (!inputs_all_have(c, path))
			continue;
		if (c->rank == 0)
			status = videos_open_first(p, which, path, replays);
		if ((status = comm_agree(c, status)) != 0)
			return status;
		if (videos_share(p, &p->of[which]) != 0)
			return EXIT_RANKS;
		if (which == 0 && p->divided && !replays) {
			o->val = o->data;
			o->validates = 1;
		} else if (which == 0 && p->holds_out && o->by_rule &&
		    o->validation == NULL) {
			o->holdout = VIDEOS_PART;
			o->validates = 1;
		}
	}
	return comm_agree(c, videos_check_options(p) != 0 ? EXIT_USAGE : 0);
}

void
videos_close(struct videos *p)
{
	for (int which = 0; which < 2; which++) {
		free(p->of[which].path);
		free(p->of[which].plan);
		video_set_free(p->of[which].videos);
	}
}

int
videos_due(const struct videos *p)
{
	return p->of[0].plan != NULL || p->of[1].plan != NULL;
}

/* Count the refused videos of the sets, on rank 0.  Return 0, or -1 after a
 * message, also if they must not be left out. */
static int
videos_count_skipped(struct videos *p)
{
	for (int which = 0; which < 2; which++) {
		const char *path = p->of[which].path;
		int n = path != NULL && p->of[which].plan == NULL ?
		    video_set_skipped(path) : 0;

		if (n < 0)
			return -1;
		if (n > 0 && !p->o->videos.skip)
			return fail("%s: lacks %d refused video%s ("
			    VIDEO_SET_TABLE " in it says why; "
			    "--on-error=skip leaves them out)", Q(path), n,
			    n == 1 ? "" : "s");
		if (n > 0)
			warning("%s: %d video%s left out (" VIDEO_SET_TABLE
			    " in it says why)", Q(path), n, n == 1 ? " is" :
			    "s are");
		p->skipped += (size_t)n;
	}
	return 0;
}

int
videos_use(struct videos *p, struct settings *to)
{
	struct comm *c = p->comm;
	int status = comm_agree(c, c->rank == 0 &&
	    videos_count_skipped(p) != 0 ? EXIT_FAILED : 0);

	if (status != 0)
		return status;
	if (p->of[0].path != NULL && p->of[0].plan == NULL)
		to->data = p->of[0].path;
	if (p->of[1].path != NULL && p->of[1].plan == NULL)
		to->val = p->of[1].path;
	return comm_broadcast(c, &p->skipped, sizeof(p->skipped), 0) != 0 ?
	    EXIT_RANKS : 0;
}
