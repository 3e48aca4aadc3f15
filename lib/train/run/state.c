/* The table of the state of a run, and what walks its rows. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "train/run/state.h"

/* Each rank sets these from settings, data and program, which the identity
 * compares: between the ranks and with the checkpoint. */
#define OWN (STATE_FREE_SEND | STATE_FREE_REPLAY)
/* A replay does not validate. */
#define VALIDATION STATE_FREE_REPLAY

#define ROW(key, type, member, missing, flags) \
	{ "vt." key, STATE_##type, offsetof(struct state, member), 1, missing, \
	flags }
#define CONSTANT(key, text) \
	{ "vt." key, STATE_CONSTANT, 0, 1, text, OWN }

const struct state_row state_rows[] = {
	ROW("best", REAL, best, NULL, VALIDATION),
	ROW("best_metric", TEXT, best_metric, "", VALIDATION),
	ROW("best_step", COUNT, best_step, NULL, VALIDATION),
	ROW("build", TEXT, build, NULL, OWN),
	ROW("choices", NULLABLE, choices, "", OWN),
	ROW("class_weights", TEXT, class_weights, "none", OWN),
	ROW("class_xxh3", TEXT, class_hash, NULL, OWN),
	ROW("classes", TEXT, classes, NULL, OWN),
	ROW("config", TEXT, config, NULL, OWN),
	ROW("corrupt", NULLABLE, corrupt, "", 0),
	ROW("crop", INT, crop, NULL, OWN),
	ROW("dataset_id", TEXT, dataset, NULL, OWN),
	ROW("due", INT, due, "0", VALIDATION),
	ROW("epoch", REAL, epoch, NULL, 0),
	ROW("extract", NULLABLE, extract, "", OWN),
	ROW("flips", TEXT, flips, "none", OWN),
	CONSTANT("format", CHECKPOINT_FORMAT),
	ROW("frames", INT, frames, NULL, OWN),
	ROW("generation", COUNT, generation, NULL, OWN),
	ROW("grow_wants", INT, grow_wants, "0", 0),
	ROW("grown", INT, grown, "1", 0),
	ROW("history_xxh128", TEXT, history, NULL, OWN),
	/* A replay compares the tensors that result. */
	ROW("init", NULLABLE, init, "", STATE_FREE_REPLAY),
	ROW("isa", TEXT, isa, NULL, OWN),
	ROW("library", TEXT, library, NULL, OWN),
	ROW("loss_ema", REAL, loss, NULL, 0),
	ROW("model", TEXT, model, NULL, OWN),
	ROW("network", TEXT, network, NULL, OWN),
	ROW("noise_gradient", REAL, noise_gradient, "0x0p+0", 0),
	ROW("noise_trace", REAL, noise_trace, "0x0p+0", 0),
	ROW("precision", TEXT, precision, NULL, OWN),
	ROW("results", TEXT, results, NULL, OWN),
	CONSTANT("rng", "philox4x32-10"),
	ROW("samples", COUNT, clips, NULL, 0),
	ROW("seed", COUNT, seed, NULL, OWN),
	ROW("settings_id", TEXT, settings_id, NULL, OWN),
	ROW("skipped", COUNT, skipped, "0", 0),
	ROW("step", COUNT, step, NULL, 0),
	ROW("stride", INT, stride, "0", OWN),
	/* A replay compares the tensors. */
	ROW("tensors", TEXT, tensors, NULL, OWN),
	ROW("tree", TEXT, order, NULL, OWN),
};
const size_t state_row_count = sizeof(state_rows) / sizeof(state_rows[0]);

enum { ROWS = sizeof(state_rows) / sizeof(state_rows[0]) };

/* Append number ${i} of a row. */
static void
state_add_number(struct buffer *b, const struct state_row *r, const void *at,
    int i)
{
	const char *blank = i > 0 ? " " : "";

	if (r->type == STATE_COUNT)
		buffer_printf(b, "%s%" PRIu64, blank,
		    ((const uint64_t *)at)[i]);
	else if (r->type == STATE_INT)
		buffer_printf(b, "%s%d", blank, ((const int *)at)[i]);
	else
		buffer_printf(b, "%s%a", blank, ((const double *)at)[i]);
}

char *
state_row_text(const struct state_row *r, const struct state *s)
{
	const void *at = (const char *)s + r->at;
	struct buffer b = { 0 };
	const char *text;

	if (r->type == STATE_CONSTANT)
		return xstrdup(r->missing);
	if (r->type == STATE_TEXT || r->type == STATE_NULLABLE) {
		text = *(const char *const *)at;
		return text == NULL || (r->missing != NULL && strcmp(text,
		    r->missing) == 0) ? NULL : xstrdup(text);
	}
	for (int i = 0; i < r->n; i++)
		state_add_number(&b, r, at, i);
	if (r->missing != NULL && strcmp(b.data, r->missing) == 0)
		buffer_free(&b);
	return b.data;
}

/* Read number ${i} of a row at ${*text}, and advance ${*text} behind it.
 * Return the wanted form if it is wrong, else NULL. */
static const char *
state_number(const struct state_row *r, void *at, int i, const char **text)
{
	int digit = isdigit((unsigned char)**text);
	uint64_t n = 1;
	char *end;

	errno = 0;
	if (r->type == STATE_REAL) {
		((double *)at)[i] = strtod(*text, &end);
	} else {
		n = strtoull(*text, &end, 10);
		if (!digit || errno != 0)
			return "a number";
	}
	if (end == *text || (*end != '\0' && *end != ' '))
		return "a number";
	if (r->type == STATE_INT)
		((int *)at)[i] = (int)n;
	else if (r->type == STATE_COUNT)
		((uint64_t *)at)[i] = n;
	*text = end + (*end == ' ');
	return r->type == STATE_INT && (n < 1 || n > INT32_MAX) ?
	    "1 or more" : NULL;
}

int
state_row_set(const struct state_row *r, struct state *s, const char *path,
    const char *text)
{
	void *at = (char *)s + r->at;
	const char *wanted = NULL, *next = text;

	if (r->type == STATE_TEXT || r->type == STATE_NULLABLE)
		*(const char **)at = text;
	else if (r->type == STATE_CONSTANT)
		wanted = strcmp(text, r->missing) != 0 ? r->missing : NULL;
	else
		for (int i = 0; i < r->n && wanted == NULL; i++)
			wanted = state_number(r, at, i, &next);
	if (wanted == NULL && r->type <= STATE_REAL && *next != '\0')
		wanted = "no further number";
	return wanted == NULL ? 0 : fail("%s: %s is %s (wanted %s)",
	    text_quote(path), r->key, text_quote(text), wanted);
}

/* Set the member of ${r} to the value that files omit, which may be 0. */
static void
state_row_omitted(const struct state_row *r, struct state *s)
{
	void *at = (char *)s + r->at;
	const char *text;

	if (r->type == STATE_TEXT || r->type == STATE_NULLABLE)
		*(const char **)at = r->type == STATE_TEXT ? r->missing : NULL;
	for (int i = 0; i < r->n && r->type <= STATE_REAL; i++) {
		text = r->missing;
		state_number(r, at, i, &text);
	}
}

/* Set the rows of ${s} without ${mark} from ${meta}[n]. */
static int
state_set(struct state *s, const char *path, const struct meta *meta, size_t n,
    int mark)
{
	const char *value[ROWS] = { NULL };

	for (size_t k = 0; k < n; k++) {
		size_t i = 0;

		while (i < ROWS && strcmp(state_rows[i].key, meta[k].key) != 0)
			i++;
		if (i == ROWS)
			return fail("%s: unknown key %s in its metadata",
			    text_quote(path), text_quote(meta[k].key));
		if (value[i] != NULL)
			return fail("%s: key %s occurs twice in its metadata",
			    text_quote(path), meta[k].key);
		value[i] = meta[k].value;
	}
	for (size_t i = 0; i < ROWS; i++) {
		const struct state_row *r = &state_rows[i];

		if (r->flags & mark)
			continue;
		if (value[i] == NULL && (r->missing == NULL ||
		    r->type == STATE_CONSTANT))
			return fail("%s: no %s in its metadata",
			    text_quote(path), r->key);
		if (value[i] == NULL)
			state_row_omitted(r, s);
		else if (state_row_set(r, s, path, value[i]) != 0)
			return -1;
	}
	return 0;
}

int
state_read(struct state *s, const char *path, const struct meta *meta, size_t n)
{
	*s = (struct state){ 0 };
	return state_set(s, path, meta, n, 0);
}

/* Keys and values, each with a zero byte behind it. */
void
state_pack(const struct state *s, struct buffer *b)
{
	b->n = 0;
	for (size_t i = 0; i < ROWS; i++) {
		const struct state_row *r = &state_rows[i];
		char *text = r->flags & STATE_FREE_SEND ? NULL :
		    state_row_text(r, s);

		if (text != NULL) {
			buffer_add(b, r->key, strlen(r->key) + 1);
			buffer_add(b, text, strlen(text) + 1);
		}
		free(text);
	}
}

void
state_unpack(struct state *s, const struct buffer *b)
{
	struct meta meta[ROWS];
	size_t n = 0;

	for (const char *at = b->data; at < b->data + b->n; n++) {
		meta[n].key = at;
		meta[n].value = at + strlen(at) + 1;
		at = meta[n].value + strlen(meta[n].value) + 1;
	}
	/* state_pack wrote it, so it has no error. */
	state_set(s, "the state of rank 0", meta, n, STATE_FREE_SEND);
}

const char *
state_difference(const struct state *a, const struct state *b)
{
	const char *key = NULL;

	for (size_t i = 0; i < ROWS && key == NULL; i++) {
		const struct state_row *r = &state_rows[i];
		char *x, *y;

		if (r->flags & STATE_FREE_REPLAY)
			continue;
		x = state_row_text(r, a);
		y = state_row_text(r, b);
		if (strcmp(x != NULL ? x : "", y != NULL ? y : "") != 0)
			key = r->key;
		free(x);
		free(y);
	}
	return key;
}
