/* Read and write score files. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/table.h"
#include "base/text.h"
#include "eval/part.h"
#include "eval/score_file.h"

/* ---- numbers ---- */

/* Return the number of digits before the exponent, without leading zeros. */
static int
score_digits(const char *text)
{
	int n = 0;

	for (; *text != '\0' && *text != 'e' && *text != 'E'; text++)
		n += n > 0 ? *text >= '0' && *text <= '9' :
		    *text >= '1' && *text <= '9';
	return n;
}

int
score_read(const char *text, double *score)
{
	if (text_real(text, -DBL_MAX, DBL_MAX, score) != 0)
		return -1;
	if (score_digits(text) <= 9 && *score >= -FLT_MAX && *score <= FLT_MAX)
		*score = strtof(text, NULL);
	return 0;
}

char *
score_write(char *text, double score)
{
	/* %.16e is for doubles of few digits that are not floats. */
	static const char *const form[] = { "%.9g", "%.17g", "%.16e" };
	double back;

	for (int i = 0; i < 3; i++) {
		snprintf(text, 32, form[i], score);
		if (score_read(text, &back) == 0 && back == score)
			break;
	}
	return text;
}

/* ---- writing ---- */

int
score_file_write(const struct results *r, const char *path)
{
	struct buffer rows = { 0 }, list = { 0 }, b = { 0 };
	const char *labels = protocol_get(r->protocol, "labels");
	int bad, mixed = labels != NULL && strcmp(labels, "mixed") == 0;
	struct protocol p = { 0 };
	char text[32], hash[33], *source;

	for (uint32_t i = 0; i < r->e->samples; i++) {
		size_t begin = rows.n;
		char *label = results_label(r, i, 0);

		/* Among samples that have one class and no set, "3|" is the set
		 * of class 3. */
		buffer_printf(&rows, "%s\t%s%s", r->e->sample[i].key, label,
		    mixed && r->e->sample[i].labels != NULL && *label != '\0' &&
		    strchr(label, '|') == NULL ? "|" : "");
		free(label);
		buffer_printf(&list, "%s\n", rows.data + begin);
		for (int c = 0; c < r->e->classes; c++)
			buffer_printf(&rows, "\t%s", score_write(text,
			    results_scores(r, i)[c]));
		source = results_path(r, i);
		buffer_printf(&rows, "\t%s", source);
		free(source);
		part_cells(r->e->sample[i].key, r->e->sample[i].source, &rows);
		buffer_text(&rows, "\n");
	}
	protocol_join(&r->protocol, 1, &p);
	protocol_add(&p, "list-hash", "%s", hash128_text(hash128(list.data,
	    list.n), hash));
	protocol_write(&p, &b);
	protocol_free(&p);
	buffer_text(&b, "key\tlabel");
	for (int c = 0; c < r->e->classes; c++) {
		char *name = table_escape(r->class[c]);

		buffer_printf(&b, "\t%s", name);
		free(name);
	}
	buffer_text(&b, "\tpath\tbegin\tend\n");
	buffer_add(&b, rows.data, rows.n);
	bad = commit_bytes(path, b.data, b.n);
	buffer_free(&b);
	buffer_free(&list);
	buffer_free(&rows);
	return bad;
}

/* ---- reading ---- */

/* The state of reading: the current line, and capacities of arrays. */
struct score_reader {
	struct score_file *f;
	int line, others;		/* ${others}: columns behind the scores:
					 * path, begin, end; or path; or none */
	size_t samples, scores, lines, labels, nlabels;
	struct buffer list;		/* what list-hash covers */
};

/*
 * Return the next cell of a line and advance ${*at} behind it; NULL behind the
 * last one.
 */
static char *
score_cell(char **at)
{
	char *cell = *at, *tab;

	if (cell == NULL)
		return NULL;
	tab = strchr(cell, '\t');
	if (tab != NULL)
		*tab++ = '\0';
	*at = tab;
	return cell;
}

/* Point to the tab before the last ${n} cells of a line; NULL if it has not
 * that many. */
static char *
score_last(char *line, int n)
{
	char *at = line != NULL ? line + strlen(line) : NULL;

	for (; at != NULL && n > 0; n--)
		at = memrchr(line, '\t', (size_t)(at - line));
	return at;
}

/* Read the line "key\tlabel\tCLASS...\tpath\tbegin\tend", without the last two
 * in files of commit 72104f0.  Files whose protocol is in lines "# NAME VALUE"
 * have "#key\tlabel\tCLASS...". */
static int
score_read_header(struct score_reader *r, char *line)
{
	struct score_file *f = r->f;
	const char *key = score_cell(&line), *label = score_cell(&line);
	char what[4200], *name, *path = score_last(line, 1);
	char *part = score_last(line, 3);

	snprintf(what, sizeof(what), "%s:%d", text_quote(f->path), r->line);
	if (strcmp(key + (*key == '#'), "key") != 0 || label == NULL ||
	    strcmp(label, "label") != 0 || line == NULL)
		return fail("%s: no table of scores (wanted the header key, "
		    "label, CLASS..., as vt-eval --scores writes it)", what);
	if (part != NULL && strcmp(part, "\tpath\tbegin\tend") == 0) {
		r->others = 3;
		*part = '\0';
	} else if (*key != '#' && path != NULL && strcmp(path, "\tpath") == 0) {
		r->others = 1;
		*path = '\0';
	}
	while ((name = score_cell(&line)) != NULL) {
		if (table_unescape(name) != 0)
			return fail("%s: class %s: unknown escape", what,
			    text_quote(name));
		class_add(&f->class, name);
	}
	f->e.classes = (int)f->class.n;
	return class_check(what, &f->class, NULL);
}

/* Append the classes of a label to f->label.  Return their number, or -1. */
static int
score_read_label(struct score_reader *r, char *text)
{
	struct score_file *f = r->f;
	int n = 0;

	for (char *next; text != NULL && *text != '\0'; text = next, n++) {
		int64_t class;

		if ((next = strchr(text, '|')) != NULL)
			*next++ = '\0';
		if (text_int(text, 0, f->e.classes - 1, &class) != 0)
			return fail("%s:%d: label %s (wanted 0 to %d, several "
			    "separated by '|', or -1)", text_quote(f->path),
			    r->line, text_quote(text), f->e.classes - 1);
		f->label = array_reserve(f->label, r->nlabels, &r->labels,
		    sizeof(*f->label));
		f->label[r->nlabels++] = (struct label_interval){ (int)class,
			0, 0 };
	}
	return n;
}

/* Read the scores of a row. */
static int
score_read_scores(struct score_reader *r, char *at)
{
	struct evaluation *e = &r->f->e;
	size_t n = (size_t)e->classes;
	double *to;
	char *cell;
	int c;

	e->scores = array_reserve(e->scores, ((size_t)e->samples + 1) * n - 1,
	    &r->scores, sizeof(double));
	to = e->scores + (size_t)e->samples * n;
	for (c = 0; (cell = score_cell(&at)) != NULL && c < e->classes; c++)
		if (score_read(cell, &to[c]) != 0)
			return fail("%s:%d: score of class %s: %s is not a "
			    "finite number", text_quote(r->f->path), r->line,
			    text_quote(r->f->class.name[c]), text_quote(cell));
	if (c < e->classes || cell != NULL)
		return fail("%s:%d: %s %d scores (wanted one for each of "
		    "the %d classes)", text_quote(r->f->path), r->line,
		    cell != NULL ? "more than" : "only", c, e->classes);
	return 0;
}

static int
score_read_row(struct score_reader *r, char *line)
{
	struct score_file *f = r->f;
	struct evaluation *e = &f->e;
	char *key = score_cell(&line), *label = score_cell(&line);
	char *path = r->others > 0 ? score_last(line, r->others) : NULL;
	struct sample *m;
	int n;

	if (!key_is_valid(key))
		return fail("%s:%d: %s is not the key of a sample",
		    text_quote(f->path), r->line, text_quote(key));
	e->sample = array_reserve(e->sample, e->samples, &r->samples,
	    sizeof(*e->sample));
	f->line = array_reserve(f->line, e->samples, &r->lines,
	    sizeof(*f->line));
	m = &e->sample[e->samples];
	f->line[e->samples] = r->line;
	/* Flags of sets that show; score_set_labels finds the others. */
	*m = (struct sample){ .key = key, .label = -1, .flags = label != NULL &&
	    (*label == '\0' || strchr(label, '|') != NULL) ? SHARD_LABELS : 0 };
	if (path != NULL) {
		*path++ = '\0';
		/* The key has the part. */
		path[strcspn(path, "\t")] = '\0';
		m->source = *path != '\0' ? path : NULL;
		if (table_unescape(path) != 0)
			return fail("%s:%d: path %s: unknown escape",
			    text_quote(f->path), r->line, text_quote(path));
	}
	buffer_printf(&r->list, "%s\t%s\n", key, label != NULL ? label : "");
	/* nlabels is -1 for a sample without a label. */
	m->nlabels = n = label != NULL && strcmp(label, "-1") == 0 ? 0 :
	    score_read_label(r, label);
	if (n < 0 || score_read_scores(r, line) != 0)
		return -1;
	if (n == 0 && label != NULL && *label != '\0')
		m->nlabels = -1;
	e->label_sets |= (m->flags & SHARD_LABELS) != 0;
	e->samples++;
	return 0;
}

static int
score_read_line(struct score_reader *r, char *line)
{
	struct score_file *f = r->f;

	if (text_chomp(line) != 0)
		return fail("%s:%d: a carriage return within the line",
		    text_quote(f->path), r->line);
	if (f->class.n > 0 && (text_starts(line, "# {") ||
	    text_starts(line, "#key\t")))
		return fail("%s:%d: a second header (wanted the scores of one "
		    "evaluation)", text_quote(f->path), r->line);
	if (text_starts(line, "# ")) {
		char what[4200];

		snprintf(what, sizeof(what), "%s:%d", text_quote(f->path),
		    r->line);
		return protocol_read(&f->protocol, what, line);
	}
	if (*line == '\0')
		return 0;
	return f->class.n == 0 ? score_read_header(r, line) :
	    score_read_row(r, line);
}

static int
score_compare_keys(const void *a, const void *b)
{
	const struct sample *const *x = a, *const *y = b;
	int order = strcmp((*x)->key, (*y)->key);

	/* Both are in one array, so that equal keys stay in its order. */
	return order != 0 ? order : *x < *y ? -1 : *x > *y;
}

/* Sort f->by_key, and refuse a key that occurs twice. */
static int
score_index_keys(struct score_file *f)
{
	const struct sample *sample = f->e.sample;

	f->by_key = xcalloc(f->e.samples, sizeof(*f->by_key));
	for (uint32_t i = 0; i < f->e.samples; i++)
		f->by_key[i] = &sample[i];
	qsort(f->by_key, f->e.samples, sizeof(*f->by_key), score_compare_keys);
	for (uint32_t i = 1; i < f->e.samples; i++)
		if (strcmp(f->by_key[i - 1]->key, f->by_key[i]->key) == 0)
			return fail("%s:%d: sample %s is in line %d, too",
			    text_quote(f->path), f->line[f->by_key[i] - sample],
			    f->by_key[i]->key, f->line[f->by_key[i - 1] -
			    sample]);
	return 0;
}

int64_t
score_file_find(const struct score_file *f, const char *key)
{
	uint32_t first = 0, end = f->e.samples;

	while (first < end) {
		uint32_t middle = first + (end - first) / 2;
		int order = strcmp(key, f->by_key[middle]->key);

		if (order == 0)
			return f->by_key[middle] - f->e.sample;
		if (order < 0)
			end = middle;
		else
			first = middle + 1;
	}
	return -1;
}

/* Point the samples at their labels, which no longer move.  Return 0, or -1
 * after a message. */
static int
score_set_labels(struct score_file *f)
{
	const char *loss = protocol_get(&f->protocol, "loss");
	const char *labels = protocol_get(&f->protocol, "labels");
	struct label_interval *at = f->label;
	/* 1: every label is a set */
	int all = labels != NULL && strcmp(labels, "sets") == 0;

	if (loss == NULL)
		return fail("%s: no loss in its protocol (wanted a file of "
		    "vt-eval --scores)", text_quote(f->path));
	f->e.label_sets |= all;
	f->e.loss = strcmp(loss, "sigmoid") == 0 ? LOSS_SIGMOID : LOSS_SOFTMAX;
	/* An empty set needs an address, too. */
	if (at == NULL)
		at = f->label = xcalloc(1, sizeof(*f->label));
	for (uint32_t i = 0; i < f->e.samples; i++) {
		struct sample *m = &f->e.sample[i];

		if (m->nlabels < 0) {
			m->nlabels = 0;
			continue;
		}
		if (all || m->flags & SHARD_LABELS) {
			m->labels = at;
			m->flags = SHARD_LABELS;
			at += m->nlabels;
		} else {
			m->label = (at++)->class;
			m->nlabels = 0;
		}
	}
	return 0;
}

int
score_file_read(struct score_file *f, const char *path)
{
	struct score_reader r = { .f = f };
	char *line, *next, hash[33];
	const char *written;
	int bad = 0;

	*f = (struct score_file){ .path = path };
	if (file_read_text(path, &f->text) != 0)
		return EXIT_FAILED;
	for (line = f->text.data; !bad && *line != '\0'; line = next) {
		next = line + strcspn(line, "\n");
		r.line++;
		if (*next == '\0')
			bad = fail("%s:%d: the last line has no end: the "
			    "file is cut off", text_quote(path), r.line);
		else
			*next++ = '\0';
		bad = bad || score_read_line(&r, line) != 0;
	}
	if (!bad && f->e.samples == 0)
		bad = fail("%s: no scores (wanted a file of vt-eval --scores)",
		    text_quote(path));
	bad = bad || score_index_keys(f) != 0;
	written = protocol_get(&f->protocol, "list-hash");
	if (!bad && written != NULL && strcmp(written, hash128_text(
	    hash128(r.list.data, r.list.n), hash)) != 0)
		warning("%s: samples or labels were changed since the file was "
		    "written", text_quote(path));
	bad = bad || score_set_labels(f) != 0;
	buffer_free(&r.list);
	return bad ? EXIT_DAMAGE : 0;
}

void
score_file_free(struct score_file *f)
{
	protocol_free(&f->protocol);
	class_list_free(&f->class);
	evaluation_free(&f->e);
	free(f->line);
	free(f->by_key);
	free(f->label);
	buffer_free(&f->text);
	*f = (struct score_file){ 0 };
}
