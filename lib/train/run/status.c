/* Tell the state of a run from its directory, without changing it. */
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/json.h"
#include "base/lock.h"
#include "base/text.h"
#include "train/run/resume.h"
#include "train/run/rundir.h"
#include "train/run/runlog.h"
#include "train/run/status.h"

static int
status_has_file(const char *dir, const char *name)
{
	char *path = path_join(dir, name);
	int is = file_size(path) >= 0;

	free(path);
	return is;
}

/* Return 1 if a process is training the run.  Ask before anything is read: a
 * run that ends between the two would have a log without an end. */
static int
status_is_running(const char *dir)
{
	char holder[256];

	return dir_locked(dir, RUNDIR_LOCK, holder, sizeof(holder));
}

/*
 * Return the state as a word, and set ${*status} to its exit status.
 * ${running} is that of status_is_running, ${got} is the result of
 * resume_newest.  A killed run has a log without an "end" line; then the files
 * in the directory decide.
 */
static const char *
status_state_of(const char *dir, int running, int got, int *status)
{
	int final = status_has_file(dir, "final.safetensors");
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
	    !status_has_file(dir, "config")) {
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
	int status = 0, running = status_is_running(dir);

	return strcmp(status_state_of(dir, running, 1, &status), "finished") ==
	    0 ? status : -1;
}

int
run_status(const char *dir, FILE *f)
{
	struct json_writer w = { 0 };
	struct resume r = { 0 };
	int status = 0, running = status_is_running(dir);
	int got = resume_newest(dir, &r);
	const char *state = status_state_of(dir, running, got, &status);

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
