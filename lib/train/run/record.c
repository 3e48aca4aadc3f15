/* Record how a run was started: its inputs, and the "start" line of its log. */
#include <gnu/libc-version.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/file.h"
#include "base/json.h"
#include "base/version.h"
#include "train/run/record.h"

static void
record_put_versions(struct json_writer *w, const struct record *p,
    const struct utsname *u)
{
	json_open(w, "versions", '{');
	json_put_text(w, "comm", p->comm);
	json_put_text(w, "device", p->device);
	json_put_text(w, "kernel", u->release);
	json_put_text(w, "libc", gnu_get_libc_version());
	json_put_text(w, "vt", version_text);
	json_close(w);
}

/* Write the "start" line, with its keys in byte order (vt-checkpoint(5)). */
static void
record_log_start(struct rundir *r, const struct record *p)
{
	struct json_writer w = { 0 };
	struct utsname u = { 0 };
	char now[32], processors[64];

	uname(&u);
	json_open(&w, NULL, '{');
	json_open(&w, "arguments", '[');
	for (int i = 0; p->argument[i] != NULL; i++)
		json_put_text(&w, NULL, p->argument[i]);
	json_close(&w);
	json_put_text(&w, "build", p->build);
	json_put_text(&w, "config", p->settings);
	json_put_text(&w, "dataset_id", p->dataset);
	json_put_text(&w, "host", u.nodename);
	json_put_text(&w, "isa", p->isa);
	json_put_text(&w, "library", p->comm);
	json_put_text(&w, "model", p->model);
	json_put_int(&w, "parameters", (int64_t)p->parameters);
	json_put_text(&w, "precision", p->precision);
	json_put_text(&w, "processors", cpus_text(processors));
	json_put_int(&w, "ranks", p->ranks);
	json_put_int(&w, "samples", p->samples);
	json_put_int(&w, "step", (int64_t)p->step);
	json_put_text(&w, "time", clock_utc(now));
	json_put_text(&w, "type", "start");
	if (p->videos[0] != NULL)
		json_put_real(&w, "unpacked_s", p->decoding);
	if (p->val != NULL)
		json_put_text(&w, "val_id", p->val);
	record_put_versions(&w, p, &u);
	json_close(&w);
	runlog_line(&r->log, &w);
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
