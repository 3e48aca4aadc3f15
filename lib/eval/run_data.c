/* Find the validation data of a run, whole or held out. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/names.h"
#include "base/table.h"
#include "base/text.h"
#include "eval/run_data.h"
#include "shard/manifest.h"
#include "train/run/identity.h"
#include "train/run/rundir.h"

char *
run_data_find(const char *run)
{
	char *split = path_join(run, SPLIT_FILE);
	const char *name = file_size(split) >= 0 ? "data" : "val";
	char *made = path_join(run, name), *file = path_join(run, "config");
	struct buffer config = { 0 };
	char *found = NULL;

	if (manifest_exists(made)) {
		found = made;
		made = NULL;
	} else if (file_read_text(file, &config) == 0) {
		found = identity_value(config.data, name);
		if (found == NULL || !manifest_exists(found)) {
			fail("%s: names no packed set to validate on (wanted "
			    "--data=DIR, or videos)", text_quote(run));
			free(found);
			found = NULL;
		}
	}
	buffer_free(&config);
	free(file);
	free(made);
	free(split);
	return found;
}

/* Return the part of ${d} whose keys have part "val" in ${t}, NULL after a
 * message. */
static struct dataset *
run_data_part(struct dataset *d, const struct table *t)
{
	struct names *held = names_new();
	uint32_t *number = xcalloc(dataset_samples(d), sizeof(*number)), n = 0;
	struct dataset *part = NULL;
	size_t wanted;

	for (size_t i = 0; i < t->rows; i++) {
		const char *key = table_text(t, i, "key");
		const char *is = table_text(t, i, "part");

		if (key == NULL || is == NULL)
			goto out;
		if (strcmp(is, "val") == 0)
			names_add(held, key);
	}
	wanted = names_count(held);
	for (uint32_t i = 0; i < dataset_samples(d); i++)
		if (names_find(held, dataset_sample(d, i).key) >= 0)
			number[n++] = i;
	if (n == 0 || n != wanted)
		fail("%s: %u of the %zu samples that validate are in %s",
		    t->path, n, wanted, text_quote(dataset_path(d)));
	else
		part = dataset_part(d, number, n);
out:
	names_free(held);
	free(number);
	return part;
}

struct dataset *
run_data_open(const char *path, const char *run, int *bad)
{
	struct dataset *d = dataset_open(path, bad), *part = NULL;
	char *split = path_join(run, SPLIT_FILE);
	struct table *t = NULL;

	if (d == NULL || file_size(split) < 0) {
		free(split);
		return d;
	}
	*bad = -1;
	if ((t = table_read(split)) != NULL)
		part = run_data_part(d, t);
	table_free(t);
	dataset_free(d);
	free(split);
	return part;
}
