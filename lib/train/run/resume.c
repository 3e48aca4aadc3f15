/* Find the checkpoint to resume from, and tell the state of a run from its
 * directory, without changing it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/json.h"
#include "base/lock.h"
#include "base/text.h"
#include "train/run/resume.h"
#include "train/run/rundir.h"

int
resume_file(const char *path, struct resume *r)
{
	int bad;

	*r = (struct resume){ 0 };
	bad = checkpoint_read(path, &r->file, &r->state);
	if (bad)
		return bad;
	r->path = xstrdup(path);
	return 1;
}

void
resume_free(struct resume *r)
{
	if (r->path != NULL)
		safetensors_free(&r->file);
	free(r->path);
	r->path = NULL;
}

int
resume_newest(const char *dir, struct resume *r)
{
	uint64_t *steps;
	int n = rundir_checkpoints(dir, "", &steps), got = n < 0 ? -1 : 0;

	for (int i = 0; i < n && got != 1 && got != -1; i++) {
		char *path = rundir_checkpoint(dir, steps[i]);
		int bad = resume_file(path, r);

		r->skipped = i;
		r->newest = steps[0];
		/* A running process may have removed it meanwhile.  If any is
		 * damaged, the result is -2, not -3. */
		if (bad != -1 || access(path, F_OK) == 0)
			got = bad == -3 && got == -2 ? -2 : bad;
		free(path);
	}
	free(steps);
	/* An earlier start may have renamed all of them, and then failed to
	 * begin a run. */
	if (n == 0) {
		got = rundir_checkpoints(dir, ".bad", &steps) > 0 ? -2 : 0;
		free(steps);
	}
	if (got == -2)
		fail("%s: every checkpoint is damaged; a new run needs another "
		    "directory", text_quote(dir));
	if (got == -3)
		fail("%s: every checkpoint holds NaN or infinity; a new run "
		    "needs another directory", text_quote(dir));
	return got;
}

int
resume_rename_bad(const char *dir, const struct resume *r)
{
	uint64_t *steps;
	int n = rundir_checkpoints(dir, "", &steps), newer = 0;
	int bad = n < 0 ? -1 : 0;

	while (newer < n && steps[newer] > r->state.step)
		newer++;
	if (!bad && (newer != r->skipped ||
	    (n > 0 ? steps[0] : 0) != r->newest))
		bad = fail("%s: another process has just saved a checkpoint "
		    "there (start only one)", text_quote(dir));
	for (int i = 0; i < newer && !bad; i++) {
		char *path = rundir_checkpoint(dir, steps[i]);
		char *aside = xprintf("%s.bad", path);

		if (rename(path, aside) != 0)
			bad = fail_errno("%s: cannot rename to %s",
			    text_quote(path), text_quote(path_base(aside)));
		else
			warning("%s: damaged or not finite: renamed to %s, "
			    "resuming from an older one", text_quote(path),
			    text_quote(path_base(aside)));
		free(aside);
		free(path);
	}
	free(steps);
	return bad;
}

/* ---- the state of a run ---- */

static int
resume_has_file(const char *dir, const char *name)
{
	char *path = path_join(dir, name);
	int is = file_size(path) >= 0;

	free(path);
	return is;
}

/* Return 1 if a process is training the run.  Ask before anything is read: a
 * run that ends between the two would have a log without an end. */
static int
resume_is_running(const char *dir)
{
	char holder[256];

	return dir_locked(dir, RUNDIR_LOCK, holder, sizeof(holder));
}

/*
 * Return the state as a word, and set ${*status} to its exit status.
 * ${running} is that of resume_is_running, ${got} is the result of
 * resume_newest.  A killed run has a log without an "end" line; then the files
 * in the directory decide.
 */
static const char *
resume_state_of(const char *dir, int running, int got, int *status)
{
	int final = resume_has_file(dir, "final.safetensors");
	enum runlog_last last = runlog_last(dir, status);

	if (running) {
		*status = EXIT_AGAIN;
		return "running";
	}
	if (got < 0) {
		*status = checkpoint_status(got);
		return *status == EXIT_DIVERGED ? "diverged" : "failed";
	}
	if (got == 0 && last == RUNLOG_NONE && !final &&
	    !resume_has_file(dir, "config")) {
		*status = EXIT_USAGE;
		return "none";
	}
	if (last != RUNLOG_ENDED)
		*status = final ? EXIT_DONE : EXIT_AGAIN;
	if ((*status == EXIT_DONE || *status == EXIT_SKIPPED) && final)
		return "finished";
	if (*status == EXIT_DIVERGED)
		return "diverged";
	if (*status == EXIT_DONE || *status == EXIT_AGAIN) {
		*status = EXIT_AGAIN;
		return "unfinished";
	}
	return "failed";
}

int
run_finished(const char *dir)
{
	int status = 0, running = resume_is_running(dir);

	return strcmp(resume_state_of(dir, running, 1, &status), "finished") ==
	    0 ? status : -1;
}

int
run_status(const char *dir, FILE *f)
{
	struct json_writer w = { 0 };
	struct resume r = { 0 };
	int status = 0, running = resume_is_running(dir);
	int got = resume_newest(dir, &r);
	const char *state = resume_state_of(dir, running, got, &status);

	json_open(&w, NULL, '{');
	if (got == 1) {
		json_put_int(&w, "clips", (int64_t)r.state.clips);
		json_put_real(&w, "epoch", r.state.epoch);
		json_put_real(&w, "loss", r.state.loss);
	}
	json_put_text(&w, "state", state);
	json_put_int(&w, "status", status);
	if (got == 1)
		json_put_int(&w, "step", (int64_t)r.state.step);
	json_close(&w);
	fprintf(f, "%s\n", w.out.data);
	buffer_free(&w.out);
	resume_free(&r);
	if (status == EXIT_USAGE)
		fail("%s: not the directory of a run (wanted an --output of "
		    "vt-train)", text_quote(dir));
	return status;
}
