/* The report of vt-extract as JSON Lines.  Keys are in byte order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "base/version.h"
#include "ingest/report.h"

static void
report_put_hex(struct json_writer *w, const char *key, const char *s)
{
	char *text = xmalloc(2 * strlen(s) + 1);

	json_put_text(w, key, text_hex(text, s, strlen(s)));
	free(text);
}

static void
report_put_damage(struct json_writer *w, const struct extraction *x)
{
	const struct video_account *a = &x->account;

	json_open(w, "damage", '{');
	json_put_int(w, "corrupt_frames", a->frames_corrupt);
	json_put_int(w, "corrupt_packets", a->packets_corrupt);
	json_put_int(w, "errors", a->errors);
	json_put_int(w, "places", x->damage);
	json_put_int(w, "refused_packets", a->refused);
	json_put_int(w, "times_mended", a->times_mended);
	json_close(w);
}

static void
report_put_line(struct buffer *b, struct json_writer *w)
{
	json_close(w);
	buffer_add(b, w->out.data, w->out.n);
	buffer_text(b, "\n");
	buffer_free(&w->out);
}

void
report_video(struct buffer *b, const char *path, const struct extraction *x)
{
	const struct sample *m = &x->sample;
	struct json_writer w = { 0 };
	char hash[17];

	json_open(&w, NULL, '{');
	json_put_int(&w, "bytes", (int64_t)m->source_bytes);
	json_put_fixed(&w, "claimed", x->info.declared_seconds);
	json_put_text(&w, "codec", x->info.codec);
	json_put_text(&w, "container", x->info.format);
	json_put_fixed(&w, "cpu", x->cpu);
	report_put_damage(&w, x);
	json_put_fixed(&w, "decoded", x->account.decoded);
	json_put_int(&w, "decoded_frames", x->account.frames);
	json_put_int(&w, "flags", m->flags);
	json_put_pair(&w, "fps", m->fps.num, m->fps.den);
	json_put_int(&w, "frames", x->kept ? m->frames : 0);
	json_put_int(&w, "gaps", x->account.gaps);
	json_put_int(&w, "height", m->height);
	json_put_bool(&w, "kept", x->kept);
	json_put_text(&w, "key", m->key);
	json_put_int(&w, "label", m->label);
	if (m->labels != NULL) {
		json_open(&w, "labels", '[');
		for (int k = 0; k < m->nlabels; k++)
			json_put_int(&w, NULL, m->labels[k].class);
		json_close(&w);
	}
	json_put_bytes(&w, "message", x->message.text);
	json_put_bytes(&w, "path", path);
	if (!text_is_utf8(path))
		report_put_hex(&w, "path_hex", path);
	json_put_text(&w, "pixels", x->info.pixels);
	json_put_int(&w, "source_height", x->info.height);
	json_put_int(&w, "source_width", x->info.width);
	json_put_fixed(&w, "spent", x->spent);
	json_put_text(&w, "status", m->status);
	json_put_text(&w, "type", "video");
	json_put_int(&w, "width", m->width);
	if (x->hashed)
		json_put_text(&w, "xxh3", hash64_text(m->source_hash, hash));
	report_put_line(b, &w);
}

void
report_summary(struct buffer *b, const char *status,
    const struct report_totals *s, const struct compare *c,
    struct compare_counts *n)
{
	struct json_writer w = { 0 };

	json_open(&w, NULL, '{');
	json_put_text(&w, "build", version_build);
	json_put_int(&w, "bytes", s->bytes);
	compare_put_duplicates(c, &w, n);
	json_put_int(&w, "frames", s->frames);
	compare_put_missing(c, &w, n);
	json_put_fixed(&w, "seconds", s->seconds);
	compare_put_shorter(c, &w, n);
	json_put_int(&w, "skipped", s->skipped);
	json_put_text(&w, "status", status);
	json_put_int(&w, "stored", s->stored);
	json_put_text(&w, "type", "summary");
	json_put_int(&w, "videos", s->videos);
	report_put_line(b, &w);
}
