/* Divide a list of videos, and print it. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "ingest/list_write.h"

#include "split.h"

#define Q text_quote

void
split_resolve(const struct split_options *o, const char *subset,
    struct list_split *to)
{
	int known = subset == NULL;

	if (o->split == NULL) {
		if (o->stratify || o->seed != 0)
			options_wrong("--%s is for --split, which is missing",
			    o->stratify ? "stratify" : "split-seed");
		return;
	}
	if (list_split_parse(o->split, to) != 0)
		options_wrong("--split: %s (wanted two or three integers from 1 "
		    "to %d, such as 8:1:1)", Q(o->split), LIST_SPLIT_MAX);
	to->seed = (uint64_t)o->seed;
	to->stratify = o->stratify;
	for (int i = 0; i < to->n; i++)
		known |= subset != NULL &&
		    strcmp(subset, list_split_name(to, i)) == 0;
	if (!known)
		options_wrong("--subset: %s (wanted %s, of --split=%s)",
		    Q(subset), list_split_names(to), o->split);
	if (subset == NULL && !o->print)
		options_wrong("--split without --subset (wanted --subset=%s, or "
		    "--print-list)", list_split_names(to));
}

int
split_list(const struct split_options *o, const struct list_split *s,
    const char *subset, struct list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (o->group != NULL && l->row[i].group == NULL)
			return fail("%s%s: no %s (wanted only videos of "
			    "--annotations, for --group)", list_at(&l->row[i]),
			    Q(l->row[i].path), Q(o->group));
	if (o->split == NULL)
		return 0;
	list_split(l, s);
	return subset != NULL ? list_keep(l, subset) : 0;
}

int
split_print(const struct split_options *o, const char *root,
    const struct list *l)
{
	struct buffer b = { 0 };
	int result = list_write(l, root, o->group, &b);

	if (result == 0)
		fwrite(b.data, 1, b.n, stdout);
	buffer_free(&b);
	return result == 0 ? stdout_done() : -1;
}
