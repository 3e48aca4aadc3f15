/* Inference of class names from the keys of samples.  Each component keeps
 * one name per label until a second name excludes it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "shard/class_infer.h"

#define DEPTH 8			/* maximum number of components considered */

struct class_infer {
	int labels;			/* largest label + 1 */
	struct { char *name[DEPTH]; } *label;	/* [labels] */
	size_t cap;
	int useless[DEPTH];		/* a label has two names, or none */
};

struct class_infer *
class_infer_new(void)
{
	return xcalloc(1, sizeof(struct class_infer));
}

void
class_infer_free(struct class_infer *d)
{
	if (d == NULL)
		return;
	for (int i = 0; i < d->labels; i++)
		for (int k = 0; k < DEPTH; k++)
			free(d->label[i].name[k]);
	free(d->label);
	free(d);
}

static void
class_infer_reserve(struct class_infer *d, int label)
{
	for (; d->labels <= label; d->labels++) {
		d->label = array_reserve(d->label, (size_t)d->labels, &d->cap,
		    sizeof(*d->label));
		memset(&d->label[d->labels], 0, sizeof(*d->label));
	}
}

/*
 * Return the component at ${*key} without escapes and advance ${*key}.  The
 * last component names the sample itself: return NULL.  The caller frees the
 * result.
 */
static char *
class_infer_component(const char **key)
{
	size_t n = strcspn(*key, "/");
	char *name, *to;
	unsigned byte;

	if ((*key)[n] == '\0')
		return NULL;
	to = name = xmalloc(n + 1);
	for (const char *s = *key; s < *key + n; s++) {
		if (*s == '=' && sscanf(s + 1, "%2X", &byte) == 1 &&
		    s + 2 < *key + n) {
			*to++ = (char)byte;
			s += 2;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
	*key += n + 1;
	return name;
}

void
class_infer_least(struct class_infer *d, size_t n)
{
	if (n > 0 && n <= CLASSES_MAX)
		class_infer_reserve(d, (int)n - 1);
}

/* An empty key names no class. */
static void
class_infer_see(struct class_infer *d, const char *key, int label)
{
	if (label < 0 || label >= CLASSES_MAX)
		return;		/* too large: pack_check_label has refused it */
	class_infer_reserve(d, label);
	for (int k = 0; k < DEPTH; k++) {
		char *name = class_infer_component(&key),
		    **known = &d->label[label].name[k];

		if (name == NULL || (*known != NULL &&
		    strcmp(*known, name) != 0))
			d->useless[k] = 1;
		if (*known == NULL && !d->useless[k])
			*known = name;
		else
			free(name);
	}
}

/* The key of a sample with several classes names none of them, so use
 * numbers. */
void
class_infer_add(struct class_infer *d, const struct sample *s)
{
	class_infer_see(d, s->key, s->label);
	for (int i = 0; i < s->nlabels; i++)
		class_infer_see(d, "", s->labels[i].class);
}

void
class_infer_classes(const struct class_infer *d, struct class_list *to)
{
	struct error unused = { "" };

	/* class_check fails if two labels have the same name; then try the
	 * next component. */
	for (int k = 0; k < DEPTH; k++) {
		if (d->useless[k])
			continue;
		for (int i = 0; i < d->labels; i++)
			if (d->label[i].name[k] != NULL)
				class_add(to, d->label[i].name[k]);
			else
				class_add_numbers(to, to->n + 1);
		if (class_check("classes", to, &unused) == 0)
			return;
		class_list_free(to);
	}
	class_add_numbers(to, (size_t)d->labels);
}
