/* Read and write score files. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/names.h"
#include "base/table.h"
#include "base/text.h"
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
	char text[32], hash[33];

	for (uint32_t i = 0; i < r->e->samples; i++) {
		const struct sample *m = &r->e->sample[i];
		size_t begin = rows.n;
		char *label = results_label(r, i, 0);

		/* Among samples that have one class and no set, "3|" is the set
		 * of class 3. */
		buffer_printf(&rows, "%s\t%s%s", m->key, label, mixed &&
		    m->labels != NULL && *label != '\0' &&
		    strchr(label, '|') == NULL ? "|" : "");
		free(label);
		buffer_printf(&list, "%s\n", rows.data + begin);
		for (int c = 0; c < r->e->classes; c++)
			buffer_printf(&rows, "\t%s", score_write(text,
			    results_scores(r, i)[c]));
		results_put_video(r, i, &rows);
		buffer_text(&rows, "\n");
	}
	protocol_join(&r->protocol, 1, &p);
	protocol_add(&p, "list-hash", "%s", hash128_text(hash128(list.data,
	    list.n), hash));
	protocol_write(&p, &b);
	protocol_free(&p);
	buffer_text(&b, "key\tlabel");
	for (int c = 0; c < r->e->classes; c++)
		table_put(&b, r->class[c]);
	buffer_text(&b, "\tpath\tbegin\tend\n");
	buffer_add(&b, rows.data, rows.n);
	bad = commit_bytes(path, b.data, b.n);
	buffer_free(&b);
	buffer_free(&list);
	buffer_free(&rows);
	return bad;
}

/* ---- reading ---- */

/* The state of reading. */
struct score_reader {
	struct score_file *f;
	int others;			/* columns behind the scores: path,
					 * begin, end; or path; or none */
	size_t labels, nlabels;		/* capacity and length of f->label */
	struct buffer list;		/* what list-hash covers */
};

/* Return 1 if the columns from the last but ${n} are ${name}, of ${n} names. */
static int
score_ends(const struct table *t, const char *const *name, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(t->name[t->columns - n + i], name[i]) != 0)
			return 0;
	return 1;
}

/*
 * Read the protocol, and the header "key\tlabel\tCLASS...\tpath\tbegin\tend",
 * without the last two in files of commit 72104f0.  Files whose protocol is in
 * lines "# NAME VALUE" have none of the three.
 */
static int
score_read_header(struct score_reader *r)
{
	static const char *const others[] = { "path", "begin", "end" };
	struct score_file *f = r->f;
	const struct table *t = f->table;
	char what[4200];
	int json = 0;

	for (size_t i = 0; i < t->comments; i++) {
		const struct table_comment *c = &t->comment[i];
		int object = text_starts(c->text, "# {");

		if (c->line > t->header && (object ||
		    text_starts(c->text, "#key\t")))
			return fail("%s:%d: a second header (wanted the scores "
			    "of one evaluation)", text_quote(f->path), c->line);
		snprintf(what, sizeof(what), "%s:%d", text_quote(f->path),
		    c->line);
		if (text_starts(c->text, "# ") &&
		    protocol_read(&f->protocol, what, c->text) != 0)
			return -1;
		json |= object;
	}
	snprintf(what, sizeof(what), "%s:%d", text_quote(f->path), t->header);
	if (t->columns < 3 || strcmp(t->name[0], "key") != 0 ||
	    strcmp(t->name[1], "label") != 0)
		return fail("%s: no table of scores (wanted the header key, "
		    "label, CLASS..., as vt-eval --scores writes it)", what);
	if (t->columns > 5 && score_ends(t, others, 3))
		r->others = 3;
	else if (json && t->columns > 3 && score_ends(t, others, 1))
		r->others = 1;
	f->e.classes = (int)t->columns - 2 - r->others;
	for (int c = 0; c < f->e.classes; c++) {
		if (table_unescape(t->name[2 + c]) != 0)
			return fail("%s: class %s: unknown escape", what,
			    text_quote(t->name[2 + c]));
		class_add(&f->class, t->name[2 + c]);
	}
	return class_check(what, &f->class, NULL);
}

/* Append the classes of a label to f->label.  Return their number, or -1. */
static int
score_read_label(struct score_reader *r, int line, char *text)
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
			    line, text_quote(text), f->e.classes - 1);
		f->label = array_reserve(f->label, r->nlabels, &r->labels,
		    sizeof(*f->label));
		f->label[r->nlabels++] = (struct label_interval){ (int)class,
			0, 0 };
	}
	return n;
}

static int
score_read_row(struct score_reader *r, uint32_t i)
{
	struct score_file *f = r->f;
	char **cell = f->table->cell[i], *label = cell[1];
	double *score = f->e.scores + (size_t)i * (size_t)f->e.classes;
	struct sample *m = &f->e.sample[i];
	int line = f->table->line[i], n;

	if (!key_is_valid(cell[0]))
		return fail("%s:%d: %s is not the key of a sample",
		    text_quote(f->path), line, text_quote(cell[0]));
	/* Flags of sets that show; score_set_labels finds the others. */
	*m = (struct sample){ .key = cell[0], .label = -1, .flags =
	    *label == '\0' || strchr(label, '|') != NULL ? SHARD_LABELS : 0 };
	/* The key has the part. */
	if (r->others > 0 && *cell[2 + f->e.classes] != '\0')
		m->source = cell[2 + f->e.classes];
	buffer_printf(&r->list, "%s\t%s\n", cell[0], label);
	/* nlabels is -1 for a sample without a label. */
	n = strcmp(label, "-1") == 0 ? 0 : score_read_label(r, line, label);
	m->nlabels = n == 0 && *label != '\0' ? -1 : n;
	for (int c = 0; c < f->e.classes && n >= 0; c++)
		if (score_read(cell[2 + c], &score[c]) != 0)
			return fail("%s:%d: score of class %s: %s is not a "
			    "finite number", text_quote(f->path), line,
			    text_quote(f->class.name[c]),
			    text_quote(cell[2 + c]));
	f->e.label_sets |= (m->flags & SHARD_LABELS) != 0;
	return n < 0 ? -1 : 0;
}

/* Set f->keys, and refuse a key that occurs twice. */
static int
score_index_keys(struct score_file *f)
{
	f->keys = names_new();
	for (uint32_t i = 0; i < f->e.samples; i++) {
		const char *key = f->e.sample[i].key;

		if (names_add(f->keys, key) < 0)
			return fail("%s:%d: sample %s is in line %d, too",
			    text_quote(f->path), f->table->line[i], key,
			    f->table->line[names_find(f->keys, key)]);
	}
	return 0;
}

int64_t
score_file_find(const struct score_file *f, const char *key)
{
	return names_find(f->keys, key);
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

/* Read the rows of f->table. */
static int
score_read_rows(struct score_reader *r)
{
	struct score_file *f = r->f;
	struct evaluation *e = &f->e;

	if (f->table->rows == 0)
		return fail("%s: no scores (wanted a file of vt-eval --scores)",
		    text_quote(f->path));
	e->samples = (uint32_t)f->table->rows;
	e->sample = xcalloc(e->samples, sizeof(*e->sample));
	e->scores = xcalloc((size_t)e->samples * (size_t)e->classes,
	    sizeof(*e->scores));
	for (uint32_t i = 0; i < e->samples; i++)
		if (score_read_row(r, i) != 0)
			return -1;
	return score_index_keys(f);
}

/* Make f->table of ${text}, which it takes. */
static int
score_read_table(struct score_file *f, struct buffer *text)
{
	int line = 1;

	if (text->n == 0 || text->data[text->n - 1] == '\n') {
		f->table = table_take(text_quote(f->path), text->data);
		return f->table != NULL ? 0 : -1;
	}
	for (const char *s = text->data; (s = strchr(s, '\n')) != NULL; s++)
		line++;
	buffer_free(text);
	return fail("%s:%d: the last line has no end: the file is cut off",
	    text_quote(f->path), line);
}

int
score_file_read(struct score_file *f, const char *path)
{
	struct score_reader r = { .f = f };
	struct buffer text = { 0 };
	const char *written;
	char hash[33];
	int bad;

	*f = (struct score_file){ .path = path };
	if (file_read_text(path, &text) != 0) {
		buffer_free(&text);
		return EXIT_FAILED;
	}
	bad = score_read_table(f, &text) != 0 || score_read_header(&r) != 0 ||
	    score_read_rows(&r) != 0;
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
	table_free(f->table);
	names_free(f->keys);
	free(f->from);
	free(f->label);
	*f = (struct score_file){ 0 };
}
