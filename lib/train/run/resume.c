/* Find the checkpoint to resume from. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
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
	struct rundir run = { .path = dir };
	uint64_t *steps;
	int n = rundir_checkpoints(dir, "", &steps), got = n < 0 ? -1 : 0;

	for (int i = 0; i < n && got != 1 && got != -1; i++) {
		char *path = rundir_checkpoint(&run, steps[i]);
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
	struct rundir run = { .path = dir };
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
		char *path = rundir_checkpoint(&run, steps[i]);
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
