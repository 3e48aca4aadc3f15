/* List of the pictures in a folder with one subfolder per class. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "shard/foreign.h"
#include "shard/foreign_folder.h"

#define Q text_quote

/* The order of bytes, the same in every locale. */
static int
foreign_folder_order(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void
foreign_folder_free(struct dirent **e, int n)
{
	for (int i = 0; i < n; i++)
		free(e[i]);
	if (n >= 0)
		free(e);
}

/* Report a file that is not a picture in a subfolder.  Return 0 if it is
 * skipped, or -1. */
static int
foreign_folder_refuse(const char *path, const char *why,
    const struct stream_limits *limits, uint64_t *skipped)
{
	if (!limits->skip)
		return fail("%s: %s; --skip-foreign omits such files", Q(path),
		    why);
	warning("%s: left out: %s", Q(path), why);
	++*skipped;
	return 0;
}

/* Add the pictures of subfolder ${class}. */
static int
foreign_folder_class(const char *path, const char *class, int label,
    const struct stream_limits *limits, struct foreign_files *to,
    uint64_t *skipped, struct litter *l)
{
	char *dir = path_join(path, class);
	struct dirent **e = NULL;
	int n = scandir(dir, &e, NULL, foreign_folder_order);
	int result = n < 0 ? fail_errno("%s: cannot list", Q(dir)) : 0;

	for (int i = 0; i < n && result == 0; i++) {
		if (file_is_litter(e[i]->d_name, l))
			continue;

		char *name = path_join(class, e[i]->d_name);
		char *file = path_join(path, name);
		struct stream_member m = { 0 };
		const char *why = file_is_dir(file) ?
		    "a folder in the folder of a class (wanted pictures)" :
		    foreign_member_name(e[i]->d_name, &m);

		if (why == NULL && m.kind != MEMBER_FRAME)
			why = "not a picture (wanted .jpg, .jpeg or .png)";
		if (why == NULL) {
			to->file = array_reserve(to->file, to->n, &to->cap,
			    sizeof(*to->file));
			to->file[to->n++] = (struct foreign_file){ name,
				label };
			name = NULL;
		} else {
			result = foreign_folder_refuse(file, why, limits,
			    skipped);
		}
		free(name);
		free(file);
	}
	foreign_folder_free(e, n);
	free(dir);
	return result;
}

int
foreign_files_list(const char *path, const struct stream_limits *limits,
    struct foreign_files *to, uint64_t *skipped)
{
	struct dirent **e = NULL;
	struct litter l = { 0 };
	int n = scandir(path, &e, NULL, foreign_folder_order);
	int result = n < 0 ? fail_errno("%s: cannot list", Q(path)) : 0;

	for (int i = 0; i < n && result == 0; i++) {
		if (file_is_litter(e[i]->d_name, &l))
			continue;

		const char *class = e[i]->d_name;
		char *dir = path_join(path, class);
		int label = (int)to->classes.n;

		if (!file_is_dir(dir)) {
			result = foreign_folder_refuse(dir, "not a folder "
			    "(wanted one folder per class, with pictures)",
			    limits, skipped);
		} else if (limits->classes != NULL && (label =
		    class_find(limits->classes, class)) < 0) {
			result = fail("%s: not in the list of classes "
			    "(--classes)", Q(dir));
		} else {
			class_add(&to->classes, class);
			result = foreign_folder_class(path, class, label,
			    limits, to, skipped, &l);
		}
		free(dir);
	}
	file_note_litter(path, &l);
	if (result == 0 && to->n == 0)
		result = fail("%s: no pictures (wanted CLASS/NAME.jpg or .png)",
		    Q(path));
	if (result == 0)
		result = class_check(Q(path), &to->classes, NULL);
	foreign_folder_free(e, n);
	return result;
}

void
foreign_files_free(struct foreign_files *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->file[i].name);
	free(f->file);
	class_list_free(&f->classes);
	*f = (struct foreign_files){ 0 };
}
