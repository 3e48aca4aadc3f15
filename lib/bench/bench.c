/* The engine of vt-bench: repetition, output and requirements. */
#include <fnmatch.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/text.h"
#include "bench/bench.h"
#include "bench/machine.h"

/* ---- figures ---- */

void
figure_add(struct figure *f, double v)
{
	f->v = array_reserve(f->v, f->n, &f->cap, sizeof(*f->v));
	f->v[f->n++] = v;
}

void
figure_free(struct figure *f)
{
	free(f->v);
	*f = (struct figure){ 0 };
}

static int
bench_by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Return the value with index ${i}, from 0, in ascending order. */
static double
bench_ranked(const struct figure *f, size_t i)
{
	double *v, at;

	if (f->n == 0)
		return NAN;
	v = xcalloc(f->n, sizeof(*v));
	memcpy(v, f->v, f->n * sizeof(*v));
	qsort(v, f->n, sizeof(*v), bench_by_value);
	at = v[i];
	free(v);
	return at;
}

double
figure_min(const struct figure *f)
{
	return bench_ranked(f, 0);
}

double
figure_median(const struct figure *f)
{
	return f->n == 0 ? NAN : (bench_ranked(f, (f->n - 1) / 2) +
	    bench_ranked(f, f->n / 2)) / 2;
}

double
figure_quantile(const struct figure *f, double q)
{
	size_t rank = (size_t)ceil(q * (double)f->n);

	return bench_ranked(f, rank > 0 ? rank - 1 : 0);
}

double
figure_p99(const struct figure *f)
{
	return figure_quantile(f, 0.99);
}

/* ---- requirements ---- */

int
bench_require(struct bench *b, const char *text, struct error *why)
{
	const char *at = strpbrk(text, "<>");
	struct requirement r = { 0 };

	if (at == NULL || at == text || at[1] != '=' ||
	    text_real(at + 2, -1e300, 1e300, &r.bound) != 0)
		return error_set(why, "%s: not a requirement (wanted "
		    "NAME<=X or NAME>=X)", text_quote(text));
	r.name = xstrndup(text, (size_t)(at - text));
	r.least = *at == '>';
	b->require = array_reserve(b->require, b->requirements, &b->cap,
	    sizeof(*b->require));
	b->require[b->requirements++] = r;
	return 0;
}

static void
bench_hold_against(struct bench *b, const char *name, const char *unit,
    double v)
{
	for (size_t i = 0; i < b->requirements; i++) {
		struct requirement *r = &b->require[i];

		if (fnmatch(r->name, name, 0) != 0)
			continue;
		r->rows++;
		/* A NaN fails every requirement. */
		if (r->least ? v >= r->bound : v <= r->bound)
			continue;
		b->unmet++;
		fail("%s: %.4g %s (required %s %.4g)", text_quote(name), v,
		    unit, r->least ? ">=" : "<=", r->bound);
	}
}

/* ---- output ---- */

/*
 * Print the facts of the machine and the names of the columns before the first
 * line, so that a benchmark whose inputs are refused prints nothing.
 */
static void
bench_begin(struct bench *b)
{
	struct fact f[FACTS];
	int n;

	if (b->out == NULL || b->begun)
		return;
	b->begun = 1;
	n = machine_facts(f);
	if (b->json) {
		struct json_writer w = { 0 };

		json_open(&w, NULL, '{');
		for (int i = 0; i < n; i++)
			json_put_text(&w, f[i].key, f[i].value);
		json_put_text(&w, "type", "machine");
		json_close(&w);
		fprintf(b->out, "%s\n", w.out.data);
		buffer_free(&w.out);
	} else {
		fprintf(b->out, "# ");
		for (int i = 0; i < n; i++)
			fprintf(b->out, "%s%s: %s", i > 0 ? "; " : "", f[i].key,
			    f[i].value);
		fprintf(b->out, "\n#name\tunit\tn\tmin\tmedian\tp99\tnote\n");
	}
	fflush(b->out);
}

static void
bench_print_json(const struct bench *b, const char *name,
    const struct figure *f, const char *unit, const char *note)
{
	struct json_writer w = { 0 };

	json_open(&w, NULL, '{');
	json_put_real(&w, "median", figure_median(f));
	json_put_real(&w, "min", figure_min(f));
	json_put_int(&w, "n", (int64_t)f->n);
	json_put_text(&w, "name", name);
	if (note != NULL)
		json_put_text(&w, "note", note);
	json_put_real(&w, "p99", figure_p99(f));
	json_put_text(&w, "type", "figure");
	json_put_text(&w, "unit", unit);
	if (b->verbose) {
		json_open(&w, "values", '[');
		for (size_t i = 0; i < f->n; i++)
			json_put_real(&w, NULL, f->v[i]);
		json_close(&w);
	}
	json_close(&w);
	fprintf(b->out, "%s\n", w.out.data);
	buffer_free(&w.out);
}

/* Print counts in full, and measured values with six digits. */
static void
bench_put_number(FILE *f, double v)
{
	fprintf(f, v == floor(v) && fabs(v) < 1e15 ? "%.0f" : "%.6g", v);
}

static void
bench_print_cells(const struct bench *b, const char *name,
    const struct figure *f, const char *unit, const char *note)
{
	struct buffer first = { 0 }, last = { 0 };

	table_put(&first, name);
	table_put(&last, note != NULL ? note : "");
	fprintf(b->out, "%s\t%s\t%zu", first.data, unit, f->n);
	for (int i = 0; i < 3; i++) {
		fputc('\t', b->out);
		bench_put_number(b->out, i == 0 ? figure_min(f) : i == 1 ?
		    figure_median(f) : figure_p99(f));
	}
	fprintf(b->out, "\t%s\n", last.data);
	if (b->verbose) {
		fputs("# runs", b->out);
		for (size_t i = 0; i < f->n; i++) {
			fputc(' ', b->out);
			bench_put_number(b->out, f->v[i]);
		}
		fputc('\n', b->out);
	}
	buffer_free(&first);
	buffer_free(&last);
}

static void
bench_print_row(struct bench *b, const char *name, const struct figure *f,
    const char *unit, const char *note)
{
	if (b->out == NULL)
		return;
	bench_begin(b);
	b->rows++;
	(b->json ? bench_print_json : bench_print_cells)(b, name, f, unit,
	    note);
	fflush(b->out);
	bench_hold_against(b, name, unit, figure_median(f));
}

void
bench_row(struct bench *b, const struct figure *f, const char *unit,
    const char *note, const char *fmt, ...)
{
	char name[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	bench_print_row(b, name, f, unit, note);
}

void
bench_rate(struct bench *b, const struct figure *f, double work,
    const char *unit, const char *note, const char *fmt, ...)
{
	struct figure rate = { 0 };
	char name[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < f->n; i++)
		figure_add(&rate, work / f->v[i]);
	bench_print_row(b, name, &rate, unit, note);
	figure_free(&rate);
}

void
bench_remark(struct bench *b, const char *fmt, ...)
{
	va_list ap;

	if (b->out == NULL || b->json)
		return;
	bench_begin(b);
	fputs("# ", b->out);
	va_start(ap, fmt);
	vfprintf(b->out, fmt, ap);
	va_end(ap);
	fputc('\n', b->out);
}

/* ---- running ---- */

int
bench_repeat(const struct bench *b, int (*run)(void *arg, int counts),
    void *arg)
{
	int status = 0;

	for (int i = 0; i < b->warmup + b->runs && status == 0; i++)
		status = run(arg, i >= b->warmup);
	return status;
}

void
bench_wrong(struct bench *b, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	b->wrong++;
	fail("wrong answer: %s", text);
}

int
bench_end(struct bench *b)
{
	bench_begin(b);
	if (b->out != NULL && b->json) {
		struct json_writer w = { 0 };

		json_open(&w, NULL, '{');
		json_put_bool(&w, "checked", b->check);
		json_put_int(&w, "figures", (int64_t)b->rows);
		json_put_text(&w, "type", "summary");
		json_put_int(&w, "unmet", b->unmet);
		json_put_int(&w, "wrong", b->wrong);
		json_close(&w);
		fprintf(b->out, "%s\n", w.out.data);
		buffer_free(&w.out);
	}
	/*
	 * A requirement that matches no row is a typing error, not a success.
	 */
	for (size_t i = 0; i < b->requirements && b->out != NULL; i++)
		if (b->require[i].rows == 0) {
			b->unmet++;
			fail("%s: no figure matches this name "
			    "(--require)", text_quote(b->require[i].name));
		}
	return b->wrong > 0 || b->unmet > 0 ? EXIT_FAILED : 0;
}

void
bench_close(struct bench *b)
{
	for (size_t i = 0; i < b->requirements; i++)
		free(b->require[i].name);
	free(b->require);
	b->require = NULL;
	b->requirements = b->cap = 0;
}
