/* What became of each video, as JSON Lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "base/version.h"
#include "ingest/ledger.h"

static void
ledger_put_hex(struct json_writer *w, const char *key, const char *s)
{
	char *text = xmalloc(2 * strlen(s) + 1);

	json_put_text(w, key, text_hex(text, s, strlen(s)));
	free(text);
}

static void
ledger_put_damage(struct json_writer *w, const struct extraction *x)
{
	json_open(w, "damage", '{');
	json_put_int(w, "corrupt_frames", x->frames_corrupt);
	json_put_int(w, "corrupt_packets", x->packets_corrupt);
	json_put_int(w, "errors", x->errors);
	json_put_int(w, "places", x->damage);
	json_put_int(w, "refused_packets", x->refused);
	json_put_int(w, "times_mended", x->times_mended);
	json_close(w);
}

/* To a tenth of a millisecond: what the clock of a video is good for. */
static void
ledger_put_seconds(struct json_writer *w, const char *key, double v)
{
	char text[40];

	snprintf(text, sizeof(text), "%.4f", v);
	json_put_raw(w, key, text);
}

static void
ledger_put_line(struct buffer *b, struct json_writer *w)
{
	json_close(w);
	buffer_add(b, w->out.data, w->out.n);
	buffer_text(b, "\n");
	buffer_free(&w->out);
}

void
ledger_video(struct buffer *b, const struct list_row *row, const char *key,
    int label, const struct extraction *x)
{
	const char *path = row->path;
	struct json_writer w = { 0 };
	char hash[17];

	json_open(&w, NULL, '{');
	json_put_int(&w, "bytes", (int64_t)x->bytes);
	ledger_put_seconds(&w, "claimed", x->claimed);
	json_put_text(&w, "codec", x->codec);
	json_put_text(&w, "container", x->container);
	ledger_put_damage(&w, x);
	ledger_put_seconds(&w, "decoded", x->decoded);
	json_put_int(&w, "decoded_frames", x->decoded_frames);
	json_put_int(&w, "flags", x->flags);
	json_open(&w, "fps", '[');
	json_put_int(&w, NULL, x->fps.num);
	json_put_int(&w, NULL, x->fps.den);
	json_close(&w);
	json_put_int(&w, "frames", x->kept ? x->frames : 0);
	json_put_int(&w, "gaps", x->gaps);
	json_put_int(&w, "height", x->height);
	json_put_bool(&w, "kept", x->kept);
	json_put_text(&w, "key", key);
	json_put_int(&w, "label", label);
	if (row->several) {
		json_open(&w, "labels", '[');
		for (int k = 0; k < row->nset; k++)
			json_put_int(&w, NULL, row->set[k].class);
		json_close(&w);
	}
	json_put_bytes(&w, "message", x->message);
	json_put_bytes(&w, "path", path);
	if (!text_is_utf8(path))
		ledger_put_hex(&w, "path_hex", path);
	json_put_text(&w, "pixels", x->pixels);
	json_put_int(&w, "source_height", x->source_height);
	json_put_int(&w, "source_width", x->source_width);
	ledger_put_seconds(&w, "spent", x->spent);
	json_put_text(&w, "status", extract_status_name(x->status));
	json_put_text(&w, "type", "video");
	json_put_int(&w, "width", x->width);
	if (x->hashed) {
		snprintf(hash, sizeof(hash), "%016llx",
		    (unsigned long long)x->hash);
		json_put_text(&w, "xxh3", hash);
	}
	ledger_put_line(b, &w);
}

void
ledger_summary(struct buffer *b, const char *status,
    const struct ledger_sum *s)
{
	struct json_writer w = { 0 };

	json_open(&w, NULL, '{');
	json_put_text(&w, "build", version_build);
	json_put_int(&w, "bytes", s->bytes);
	json_put_int(&w, "frames", s->frames);
	ledger_put_seconds(&w, "seconds", s->seconds);
	json_put_int(&w, "skipped", s->skipped);
	json_put_text(&w, "status", status);
	json_put_int(&w, "stored", s->stored);
	json_put_text(&w, "type", "summary");
	json_put_int(&w, "videos", s->videos);
	ledger_put_line(b, &w);
}
