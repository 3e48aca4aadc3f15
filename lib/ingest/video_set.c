/* List videos that are not packed. */
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "ingest/extract_settings.h"
#include "ingest/list_split.h"
#include "ingest/video_set_run.h"
#include "shard/class_infer.h"
#include "shard/manifest.h"

#define Q text_quote
#define MEMORY ((size_t)256 << 20)	/* of encoded frames; more go to a
					 * file */

/* Return 1 if a name in the folder ${dir} is that of a frame, 0 otherwise. */
static int
video_set_has_frame(const char *dir)
{
	static const char *const ends[] = { ".jpg", ".jpeg", ".png" };
	DIR *d = opendir(dir);
	struct dirent *e;
	int has = 0;

	while (d != NULL && !has && (e = readdir(d)) != NULL)
		for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
			has |= text_ends(e->d_name, ends[i]);
	if (d != NULL)
		closedir(d);
	return has;
}

/* Append the names in ${dir} to ${list} in byte order: as videos, or, with
 * ${inner}, as folders of videos, which may have further folders.  Count what
 * is skipped in ${l}. */
static int
video_set_add_folder(struct list *list, const char *dir, int inner,
    struct litter *l)
{
	struct dirent **entry;
	int n = scandir(dir, &entry, NULL, alphasort), bad = 0;

	if (n < 0)
		return fail_errno("%s: cannot read", Q(dir));
	for (int i = 0; i < n; i++) {
		char *path = path_join(dir, entry[i]->d_name);

		if (file_is_litter(entry[i]->d_name, l) || bad)
			;
		else if (file_is_dir(path) && (inner ||
		    !video_set_has_frame(path)))
			bad = video_set_add_folder(list, path, 0, l);
		else if (!inner)
			list_add(list, path);
		else
			warning("%s: skipped, since no folder names its class",
			    Q(path));
		free(path);
		free(entry[i]);
	}
	free(entry);
	return bad;
}

int
video_set_is(const char *path)
{
	DIR *d = file_is_dir(path) && !manifest_exists(path) ? opendir(path) :
	    NULL;
	struct litter l = { 0 };
	struct dirent *e;
	int is = d == NULL && file_size(path) >= 0;

	while (d != NULL && !is && (e = readdir(d)) != NULL) {
		char *inner = path_join(path, e->d_name);

		is = !file_is_litter(e->d_name, &l) && file_is_dir(inner);
		free(inner);
	}
	free(l.first);
	if (d != NULL)
		closedir(d);
	return is;
}

/* Return 1 if ${l} has a row of ${subset}, 0 otherwise. */
static int
video_set_has(const struct list *l, const char *subset)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->row[i].split != NULL &&
		    strcmp(l->row[i].split, subset) == 0)
			return 1;
	return 0;
}

/* Read the list, and keep the rows of the subset that is wanted.  Return 0, or
 * -1 after a message. */
static int
video_set_read_list(struct video_set *v)
{
	const struct list_how how = { .root = v->o.root, .group = v->o.group };
	int divided;

	if (list_read(&v->list, v->o.path, &how) != 0 ||
	    list_one_column(&v->list) != 0)
		return -1;
	divided = video_set_has(&v->list, "train");
	v->validates = divided && video_set_has(&v->list, "val");
	return divided && v->o.subset != NULL ? list_keep(&v->list,
	    v->o.subset) : 0;
}

/* Read the rows into ${v}, and set ${*root} to the base of their keys.  Return
 * 0, or an exit status after a message. */
static int
video_set_read(struct video_set *v, const char **root)
{
	const char *path = v->o.path;
	int folder = file_is_dir(path), bad;

	*root = folder ? path : v->o.root;
	if (folder && v->o.group != NULL) {
		fail("--group=%s: %s is a folder (wanted a list with that "
		    "column)", Q(v->o.group), Q(path));
		return EXIT_USAGE;
	}
	if (folder) {
		struct litter l = { 0 };

		bad = video_set_add_folder(&v->list, path, 1, &l);
		file_note_litter(path, &l);
	} else {
		bad = video_set_read_list(v);
	}
	if (!bad && v->list.n == 0)
		bad = fail("%s: no video (wanted %s)", Q(path), folder ?
		    "CLASS/VIDEO in it" : "one on each line");
	if (!bad && v->list.n > INT_MAX)
		bad = fail("%s: %zu videos (wanted at most %d)", Q(path),
		    v->list.n, INT_MAX);
	if (bad)
		return EXIT_FAILED;
	return folder ? list_label_folders(&v->list, path) : 0;
}

/* Name the classes: those of the labels, or the numbers as vt-pack does. */
static void
video_set_name_classes(struct video_set *v)
{
	struct class_infer *infer = class_infer_new();

	for (size_t k = 0; k < v->classes.n; k++)
		class_add(&v->names, v->classes.name[k]);
	for (size_t i = 0; i < v->list.n && v->classes.n == 0; i++)
		class_infer_add(infer, &v->list.row[i].sample);
	if (v->classes.n == 0)
		class_infer_classes(infer, &v->names);
	class_infer_free(infer);
}

/* Return 0, or an exit status after a message. */
static int
video_set_gather(struct video_set *v)
{
	const struct class_list *given = v->o.classes;
	const char *root;
	int status = video_set_read(v, &root);

	if (status != 0)
		return status;
	for (size_t k = 0; given != NULL && k < given->n; k++)
		class_add(&v->classes, given->name[k]);
	if (list_number(&v->list, &v->classes, given != NULL ? v->o.whose :
	    NULL) != 0 || list_keys(&v->list, root, 0) != 0)
		return EXIT_FAILED;
	video_set_name_classes(v);
	return 0;
}

/* Set the settings of extraction and classes, as text. */
static void
video_set_describe(struct video_set *v)
{
	char *extract = extract_settings(&v->how);
	struct buffer b = { 0 };

	class_text(&v->names, &b);
	v->settings = xprintf("%s classes %016" PRIx64, extract, hash64(b.data,
	    b.n));
	buffer_free(&b);
	free(extract);
}

struct video_set *
video_set_new(const struct video_set_options *o, int *status)
{
	struct video_set *v = xcalloc(1, sizeof(*v));

	v->o = *o;
	spool_budget_open(&v->budget, MEMORY);
	v->how = extract_defaults;
	v->how.short_side = o->short_side;
	v->how.fps = o->fps;
	v->how.memory = &v->budget;
	*status = video_ready() != 0 ? EXIT_FAILED : video_set_gather(v);
	v->o.classes = NULL;
	if (*status != 0) {
		video_set_free(v);
		return NULL;
	}
	video_set_describe(v);
	v->fact = xcalloc(v->list.n, sizeof(*v->fact));
	for (size_t i = 0; i < v->list.n; i++)
		video_set_look(&v->list.row[i], &v->fact[i]);
	return v;
}

void
video_set_free(struct video_set *v)
{
	if (v == NULL)
		return;
	for (size_t i = 0; v->fact != NULL && i < v->list.n; i++)
		free(v->fact[i].refusal);
	free(v->fact);
	free(v->settings);
	list_free(&v->list);
	class_list_free(&v->classes);
	class_list_free(&v->names);
	spool_budget_close(&v->budget);
	free(v);
}

const struct list *
video_set_list(const struct video_set *v)
{
	return &v->list;
}

const struct class_list *
video_set_classes(const struct video_set *v)
{
	return &v->names;
}

int
video_set_validates(const struct video_set *v)
{
	return v->validates;
}

char *
video_set_name(const struct video_set *v)
{
	struct buffer b = { 0 };
	char *text = xmalloc(33);

	buffer_text(&b, v->settings);
	for (size_t i = 0; i < v->list.n; i++) {
		char *label = video_set_label(&v->list.row[i]);

		buffer_printf(&b, "\n%s\t%s", v->list.row[i].sample.key, label);
		free(label);
	}
	hash128_text(hash128(b.data, b.n), text);
	buffer_free(&b);
	return text;
}
