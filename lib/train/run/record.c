/* Record how a run was started: its inputs, and the "start" line of its log. */
#include <gnu/libc-version.h>
#include <math.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "base/cpus.h"
#include "base/file.h"
#include "base/json.h"
#include "base/version.h"
#include "train/run/record.h"

/* Write the "start" line (vt-checkpoint(5)). */
static void
record_log_start(struct rundir *r, const struct record *p)
{
	struct json_writer arguments = { 0 }, versions = { 0 };
	struct utsname u = { 0 };
	char processors[64];

	uname(&u);
	json_open(&arguments, NULL, '[');
	for (int i = 0; p->argument[i] != NULL; i++)
		json_put_text(&arguments, NULL, p->argument[i]);
	json_close(&arguments);
	json_open(&versions, NULL, '{');
	json_put_text(&versions, "comm", p->comm);
	json_put_text(&versions, "device", p->device);
	json_put_text(&versions, "kernel", u.release);
	json_put_text(&versions, "libc", gnu_get_libc_version());
	json_put_text(&versions, "vt", version_text);
	json_close(&versions);
	const struct json_member start[] = {
		{ "arguments", JSON_RAW, 0, arguments.out.data },
		JSON_MEMBER_TEXT("build", p->build),
		JSON_MEMBER_TEXT("config", p->settings),
		JSON_MEMBER_TEXT("dataset_id", p->dataset),
		JSON_MEMBER_TEXT("host", u.nodename),
		JSON_MEMBER_TEXT("isa", p->isa),
		JSON_MEMBER_TEXT("library", p->comm),
		JSON_MEMBER_TEXT("model", p->model),
		JSON_MEMBER("parameters", p->parameters),
		JSON_MEMBER_TEXT("precision", p->precision),
		JSON_MEMBER_TEXT("processors", cpus_text(processors)),
		JSON_MEMBER("ranks", p->ranks),
		JSON_MEMBER("samples", p->samples),
		JSON_MEMBER("unpacked_s", p->videos[0] != NULL ? p->decoding :
		    NAN),
		JSON_MEMBER_TEXT("val_id", p->val),
		{ "versions", JSON_RAW, 0, versions.out.data } };

	runlog_event(&r->log, "start", p->step, start,
	    sizeof(start) / sizeof(start[0]));
	buffer_free(&arguments.out);
	buffer_free(&versions.out);
}

int
record_write(struct rundir *r, const struct record *p)
{
	const struct { const char *name, *text; } file[] = {
		{ "config", p->settings }, { "schedule.tsv", p->schedule },
		{ "network.net", p->network }, { "classes.txt", p->classes },
		{ CHOICES_FILE, p->choices }, { VIDEOS_DATA, p->videos[0] },
		{ VIDEOS_VAL, p->videos[1] },
	};
	int bad = 0;

	for (size_t i = 0; i < sizeof(file) / sizeof(file[0]) && !bad; i++) {
		char *path = rundir_path(r, file[i].name);

		if (file[i].text != NULL)
			bad = commit_text(path, file[i].text);
		free(path);
	}
	if (bad || runlog_open(&r->log, r->path, p->step) != 0)
		return -1;
	record_log_start(r, p);
	return p->tensorboard ? events_open(&r->events, r->path, p->step) : 0;
}
