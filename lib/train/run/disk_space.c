/* Check that the checkpoints of a run fit on the disk. */
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "train/run/disk_space.h"
#include "train/run/rundir.h"

/* Return the bytes of a checkpoint: parameters, optimizer state, and an
 * estimate of the header. */
static double
disk_space_checkpoint_bytes(const struct slots *s)
{
	const struct graph *g = s->net->graph;
	double bytes = 4096;

	for (int p = 0; p < g->nparam; p++) {
		size_t count = g->param[p].count;

		bytes += (double)(count * s->net->device->elem) + 256;
		for (int i = 0; i < s->n; i++)
			if (slot_has(s, i, p))
				bytes +=
				    (double)((slot_shaped(s->slot[i].kind) ?
				    count : 1) * s->slot[i].size) *
				    s->slot[i].copies;
	}
	return bytes;
}

/* Return the free bytes on the disk of ${dir}, or of its nearest existing
 * parent.  Return -1 if unknown. */
static double
disk_space_free_bytes(const char *dir)
{
	char *path = path_absolute(dir), *slash;
	struct statvfs s;
	int bad;

	while ((bad = statvfs(path, &s)) != 0 &&
	    (slash = strrchr(path, '/')) != NULL && slash != path)
		*slash = '\0';
	free(path);
	return bad ? -1 : (double)s.f_bavail * (double)s.f_frsize;
}

/* Return the bytes of the existing checkpoints, which the run will remove. */
static double
disk_space_used_bytes(const char *dir)
{
	struct rundir r = { .path = dir };
	double bytes = 0;
	uint64_t *steps;
	int n = rundir_checkpoints(dir, "", &steps);

	for (int i = 0; i < n; i++) {
		char *path = rundir_checkpoint(&r, steps[i]);
		int64_t size = file_size(path);

		bytes += size > 0 ? (double)size : 0;
		free(path);
	}
	free(steps);
	return bytes;
}

void
disk_space_check(const struct slots *s, const char *dir, int keep, int best,
    FILE *f)
{
	double each = disk_space_checkpoint_bytes(s),
	    left = disk_space_free_bytes(dir);
	double largest = each * (keep + 1 + (best != 0));
	char a[32], b[32], c[32];

	text_bytes(a, each);
	text_bytes(b, largest);
	text_bytes(c, left);
	if (f != NULL)
		fprintf(f, "%-22s %s each, %s at most, %s free\n",
		    "# checkpoints", a, b, left < 0 ? "?" : c);
	if (left >= 0 && left + disk_space_used_bytes(dir) < largest)
		warning("%s: checkpoints may take %s, and the disk has %s free "
		    "(--keep=%d keeps that many; older ones are removed "
		    "when it is full)", text_quote(dir), b, c, keep);
}
