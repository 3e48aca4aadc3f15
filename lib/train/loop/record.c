/* Take the run directory, and record in it how the run was started: its inputs,
 * and the "start" and "end" lines of its log. */
#include <gnu/libc-version.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/cpus.h"
#include "base/exit.h"
#include "base/file.h"
#include "base/isa.h"
#include "base/json.h"
#include "base/version.h"
#include "train/loop/session.h"
#include "train/run/snapshot.h"

/*
 * Make and lock the directory.  A checkpoint was read without the lock, so
 * resume_rename_bad checks that it is still the newest.  Then complete what a
 * killed run left undone: the file "latest".  Of a new run, write to init.tsv
 * how the weights of --init were matched.
 */
static int
record_take_directory(struct session *s)
{
	const struct begun *b = &s->begun;
	int inside = strcmp(s->t.o.resume, "auto") == 0 || !b->found, bad = 0;
	char *path;

	s->run.keep = (int)s->t.o.keep;
	if (rundir_open(&s->run, s->t.o.output) != 0)
		return -1;
	s->t.run = &s->run;
	if (inside && resume_rename_bad(s->t.o.output, &b->from) != 0)
		return -1;
	if (inside && b->found && rundir_latest(&s->run, b->from.state.step,
	    b->hash, NULL) != 0)
		return -1;
	if (b->init_table.n > 0) {
		path = path_join(s->run.path, "init.tsv");
		bad = commit_bytes(path, b->init_table.data, b->init_table.n);
		free(path);
	}
	return bad;
}

/* Write the "start" line (vt-checkpoint(5)). */
static void
record_log_start(struct session *s, const char *settings, char *const *argument)
{
	struct json_writer arguments = { 0 }, versions = { 0 };
	struct utsname u = { 0 };
	char processors[64];

	uname(&u);
	json_open(&arguments, NULL, '[');
	for (int i = 0; argument[i] != NULL; i++)
		json_put_text(&arguments, NULL, argument[i]);
	json_close(&arguments);
	json_open(&versions, NULL, '{');
	json_put_text(&versions, "comm", comm_library());
	json_put_text(&versions, "device", s->backend->library != NULL ?
	    s->backend->library() : s->backend->name);
	json_put_text(&versions, "kernel", u.release);
	json_put_text(&versions, "libc", gnu_get_libc_version());
	json_put_text(&versions, "vt", version_text);
	json_close(&versions);
	const struct json_member start[] = {
		{ "arguments", JSON_RAW, 0, arguments.out.data },
		JSON_MEMBER_TEXT("build", version_build),
		JSON_MEMBER_TEXT("config", settings),
		JSON_MEMBER_TEXT("dataset_id", s->text.dataset),
		JSON_MEMBER_TEXT("host", u.nodename),
		JSON_MEMBER_TEXT("isa", isa_name(isa_best())),
		JSON_MEMBER_TEXT("library", comm_library()),
		JSON_MEMBER_TEXT("model", s->graph->name),
		JSON_MEMBER("parameters", graph_parameters(s->graph)),
		JSON_MEMBER_TEXT("precision", s->device->precision),
		JSON_MEMBER_TEXT("processors", cpus_text(processors)),
		JSON_MEMBER("ranks", s->comm->size),
		JSON_MEMBER("samples", dataset_samples(s->t.train)),
		JSON_MEMBER_TEXT("val_id", s->t.val != NULL ?
		    s->text.val_id : NULL),
		{ "versions", JSON_RAW, 0, versions.out.data } };

	runlog_event(&s->run.log, "start", s->t.state.step, start,
	    sizeof(start) / sizeof(start[0]));
	buffer_free(&arguments.out);
	buffer_free(&versions.out);
}

/* Write the inputs.  Open the log, truncated after the lines of this step, add
 * the "start" line, and open an event file if it is wanted. */
static int
record_write(struct session *s, const char *settings, char *const *argument)
{
	char *choices = device_algorithms_text(s->device, ALGORITHMS_SELECTED);
	char *recipe = options_recipe("model");
	const struct { const char *name, *text; } file[] = {
		{ "config", settings }, { "schedule.tsv", s->text.schedule },
		{ "network.net", s->text.network },
		{ "classes.txt", s->text.classes }, { CHOICES_FILE, choices },
		{ SPLIT_FILE, s->text.split }, { RUNDIR_RECIPE, recipe },
	};
	uint64_t step = s->t.state.step;
	int bad = 0;

	for (size_t i = 0; i < sizeof(file) / sizeof(file[0]) && !bad; i++) {
		char *path = path_join(s->run.path, file[i].name);

		if (file[i].text != NULL)
			bad = commit_text(path, file[i].text);
		free(path);
	}
	free(choices);
	free(recipe);
	if (bad || runlog_open(&s->run.log, s->run.path, step) != 0)
		return -1;
	record_log_start(s, settings, argument);
	return s->t.o.tensorboard ? events_open(&s->run.events, s->run.path,
	    step) : 0;
}

/* The handler for on_exit(3): write the "end" line of the log with the exit
 * status. */
static void
record_end_log(int status, void *session)
{
	struct session *s = session;

	runlog_end(&s->run.log, status, s->t.state.step);
}

int
session_record(struct session *s, const char *settings,
    char *const *argument)
{
	if (record_take_directory(s) != 0 || (schedule_seek(s->t.schedule,
	    dataset_samples(s->t.train), s->t.state.step).cell != NULL &&
	    rundir_unfinish(&s->run) != 0) ||
	    record_write(s, settings, argument) != 0)
		return EXIT_FAILED;
	on_exit(record_end_log, s);
	snapshot_check_space(&s->t.optim.slots, s->t.o.output, (int)s->t.o.keep,
	    s->t.val != NULL && s->t.best != BEST_NONE, NULL);
	return 0;
}

int
session_end(struct session *s, int status)
{
	int bad;

	if (s->t.run == NULL)
		return status;
	if (status == 0 && s->use.skipped > 0)
		status = EXIT_SKIPPED;
	record_end_log(status, s);
	bad = runlog_close(&s->run.log);
	bad |= events_close(&s->run.events);
	return bad && (status == 0 || status == EXIT_AGAIN ||
	    status == EXIT_SKIPPED) ? EXIT_FAILED :
	    status;
}
