/*
 * The inputs and the outputs among the options of a command.  No output is an
 * input or another output, and each replaces only what its option wrote
 * earlier.  Files are compared by device and inode, so also through links and
 * other spellings; a file that does not exist yet, by its directory and name.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/option_table.h"
#include "base/text.h"

#define Q text_quote

/* An output that was checked.  ${name} is "" if it exists; else ${at} is its
 * directory. */
struct option_output {
	const struct option_row *row;
	const char *path;
	char *name;		/* NULL: a device or a pipe */
	struct stat at;
	int ours;		/* empty, or written by this option */
};

static struct { struct option_output *item; size_t n, cap; int force; } outputs;

static int
option_files_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Set ${at}, and return the name as in struct option_output.  The caller frees
 * it. */
static char *
option_file_find(const char *path, struct stat *at)
{
	char *target, *dir, *name;

	if (stat(path, at) == 0)
		return xstrdup("");
	target = path_target(path);
	dir = path_dir(target);
	/* In a missing directory, compare the whole text. */
	memset(at, 0, sizeof(*at));
	name = xstrdup(stat(dir, at) == 0 ? path_base(target) : target);
	free(dir);
	free(target);
	return name;
}

const char *
option_file_value(const struct option_row *r, size_t k)
{
	const struct option_list *l = r->to;

	if (r->kind == OPTION_LIST)
		return k < l->n ? l->item[k] : NULL;
	return k == 0 ? *(const char **)r->to : NULL;
}

/* Return 1 if ${text} matches one of the patterns "a|b", each followed by
 * ${end}. */
static int
option_file_matches(const char *text, const char *choices, const char *end)
{
	int found = 0;

	while (!found && choices != NULL && *choices != '\0') {
		size_t m = strcspn(choices, "|");
		char *pattern = xprintf("%.*s%s", (int)m, choices, end);

		found = fnmatch(pattern, text, 0) == 0;
		free(pattern);
		choices += m + (choices[m] == '|');
	}
	return found;
}

static int
option_output_is_ours(const struct option_output *o)
{
	char text[128] = "";
	int fd = file_open(o->path, O_RDONLY | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : TEMP_FAILURE_RETRY(read(fd, text,
	    sizeof(text) - 1));

	if (fd >= 0)
		close(fd);
	for (ssize_t i = 0; i < n; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	return n == 0 || (n > 0 && option_file_matches(text, o->row->choices,
	    "*"));
}

/* Return 1 if the file is in the directory ${path}, at any depth, or if a name
 * in it leads to the file. */
static int
option_output_is_in(const struct option_output *o, const char *path,
    const struct stat *dir)
{
	char *real = realpath(o->path, NULL), *slash;
	struct stat at;
	struct dirent *e;
	int found = 0;
	DIR *d;

	while (!found && real != NULL && (slash = strrchr(real, '/')) != NULL) {
		*slash = '\0';
		found = stat(slash == real ? "/" : real, &at) == 0 &&
		    option_files_same(&at, dir);
	}
	free(real);
	if (found || (d = opendir(path)) == NULL)
		return found;
	while (!found && (e = readdir(d)) != NULL)
		found = fstatat(dirfd(d), e->d_name, &at, 0) == 0 &&
		    option_files_same(&at, &o->at);
	closedir(d);
	return found;
}

/* Return 1 if the command writes the file ${path} itself, in its output
 * directory ${dir}: the name matches one of the patterns "a|b". */
static int
option_output_keeps(const struct option_output *dir, const char *path)
{
	char *target = path_target(path), *at = path_dir(target), *name;
	struct stat s;
	int found;

	name = option_file_find(at, &s);
	found = option_files_same(&s, &dir->at) &&
	    strcmp(name, dir->name) == 0 &&
	    option_file_matches(path_base(target), dir->row->choices, "");
	free(name);
	free(at);
	free(target);
	return found;
}

/* Refuse the output ${o} if it is the input ${path}, given by ${from}. */
static void
option_output_check_input(const struct option_output *o, const char *from,
    const char *path)
{
	struct stat at;

	if (outputs.force > 0 && o->name != NULL && option_output_keeps(o,
	    path))
		options_wrong("--%s: %s, %s, is a file of the output, which -f "
		    "replaces (wanted it in another directory)", o->row->name,
		    Q(path), from);
	if (!S_ISREG(o->at.st_mode) || stat(path, &at) != 0)
		return;
	if (option_files_same(&at, &o->at))
		options_wrong("--%s: %s is also an input, by %s (wanted "
		    "another file)", o->row->name, Q(o->path), from);
	if (S_ISDIR(at.st_mode) && !o->ours &&
	    option_output_is_in(o, path, &at))
		options_wrong("--%s: %s is also a file of the input %s, by %s "
		    "(wanted another file)", o->row->name, Q(o->path), Q(path),
		    from);
}

static void
option_output_check_other(const struct option_output *a,
    const struct option_output *b)
{
	if (a->name == NULL || b->name == NULL)
		return;		/* several outputs may be one device */
	if (option_files_same(&a->at, &b->at) && strcmp(a->name, b->name) == 0)
		options_wrong("--%s and --%s are both %s (wanted two files)",
		    b->row->name, a->row->name, Q(a->path));
	if (option_output_keeps(b, a->path))
		options_wrong("--%s: the command itself writes %s, by --%s "
		    "(wanted another file)", a->row->name, Q(a->path),
		    b->row->name);
}

/* /dev/stdout names standard output on purpose. */
static void
option_output_check_stdout(const struct option_output *o)
{
	struct stat at;

	if (fstat(STDOUT_FILENO, &at) == 0 && S_ISREG(at.st_mode) &&
	    option_files_same(&at, &o->at) && !text_starts(o->path, "/dev/") &&
	    !text_starts(o->path, "/proc/"))
		options_wrong("--%s: %s is also standard output (wanted "
		    "another file)", o->row->name, Q(o->path));
}

static void
option_output_check_old(const struct option_output *o)
{
	if (!S_ISREG(o->at.st_mode) || outputs.force > 0 ||
	    strcmp(o->row->arg, "DIR") == 0)
		return;
	if (o->row->flags & OPTION_NEW) {
		fail("%s: exists (-f replaces it)", Q(o->path));
		exit(EXIT_FAILED);
	}
	if (!o->ours)
		options_wrong("--%s: %s exists, and this option did not "
		    "write it (%s)", o->row->name, Q(o->path),
		    outputs.force < 0 ? "wanted another file" :
		    "-f replaces it");
}

/* Keep the output, for options_reads and later outputs. */
void
option_check_output(const struct option_table *t, const struct option_row *row,
    const char *path, char *const *operand, size_t n)
{
	struct option_output o = { .row = row, .path = path };

	if (*path == '\0' || strcmp(path, "-") == 0)
		return;
	o.name = option_file_find(path, &o.at);
	if (*o.name == '\0' && !S_ISREG(o.at.st_mode) &&
	    !S_ISDIR(o.at.st_mode)) {
		free(o.name);
		o.name = NULL;
	}
	o.ours = S_ISREG(o.at.st_mode) && option_output_is_ours(&o);
	option_output_check_input(&o, "standard input", "/dev/stdin");
	for (size_t i = 0; i < n; i++)
		option_output_check_input(&o, "an operand", operand[i]);
	for (int i = 0; i < t->rows; i++) {
		char from[80];
		const char *value;

		snprintf(from, sizeof(from), "--%s", t->row[i]->name);
		for (size_t k = 0; t->row[i]->flags & OPTION_INPUT &&
		    (value = option_file_value(t->row[i], k)) != NULL; k++)
			option_output_check_input(&o, from, value);
	}
	option_output_check_stdout(&o);
	for (size_t i = 0; i < outputs.n; i++) {
		option_output_check_other(&o, &outputs.item[i]);
		option_output_check_other(&outputs.item[i], &o);
	}
	option_output_check_old(&o);
	outputs.item = array_reserve(outputs.item, outputs.n, &outputs.cap,
	    sizeof(*outputs.item));
	outputs.item[outputs.n++] = o;
}

void
option_check_files(const struct option_table *t, char *const *operand,
    size_t n)
{
	int force = option_named(t, "force");
	const char *value;

	outputs.force = force < 0 ? -1 : *(int *)t->row[force]->to;
	for (int i = 0; i < t->rows; i++)
		for (size_t k = 0; t->row[i]->flags & OPTION_OUTPUT &&
		    (value = option_file_value(t->row[i], k)) != NULL; k++)
			option_check_output(t, t->row[i], value, operand, n);
}

void
options_reads(const char *path, const char *from)
{
	for (size_t i = 0; i < outputs.n; i++)
		option_output_check_input(&outputs.item[i], from, path);
}

int
options_is_output(const char *path)
{
	for (size_t i = 0; i < outputs.n; i++)
		if (strcmp(outputs.item[i].path, path) == 0)
			return 1;
	return 0;
}
