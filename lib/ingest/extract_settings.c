/*
 * The settings of an extraction, to and from JSON.  Keys are in byte order, and
 * options without effect are written as 0, so equal settings give equal text.
 */
#include <string.h>

#include "base/json.h"
#include "ingest/extract_settings.h"
#include "ingest/flow.h"
#include "shard/stream.h"

#define SIDE_MAX 16384		/* pixels of a side; the limit of vt-extract's
				 * options */

const struct extract_options extract_defaults = {
	.short_side = 256, .quality = 90, .max_frames = FRAME_MAX,
	.max_pixels = 64 << 20, .format = EXTRACT_JPEG,
};

char *
extract_settings(const struct extract_options *o)
{
	struct json_writer w = { 0 };
	int png = o->format == EXTRACT_PNG;

	json_open(&w, NULL, '{');
	json_put_bool(&w, "enlarge", o->enlarge);
	if (o->flow) {
		struct sample_flow flow = flow_kind();

		sample_flow_write(&w, &flow);
	}
	json_put_text(&w, "format", png ? "png" : "jpeg");
	json_put_pair(&w, "fps", o->fps.num, o->fps.den);
	json_put_int(&w, "height", o->height);
	if (o->levels > 0) {
		json_open(&w, "levels", '[');
		json_put_int(&w, NULL, o->short_side);
		for (int i = 0; i < o->levels; i++)
			json_put_int(&w, NULL, o->level[i]);
		json_close(&w);
	}
	json_put_int(&w, "quality", png ? 0 : o->quality);
	json_put_int(&w, "short_side", o->width > 0 ? 0 : o->short_side);
	json_put_int(&w, "width", o->width);
	json_close(&w);
	return w.out.data;
}

static int
extract_settings_number(const struct json *v, int largest, int *to)
{
	int64_t n;

	if (json_to_int(v, 0, largest, &n) != 0)
		return -1;
	*to = (int)n;
	return 0;
}

/* Read the levels, which are descending, if there are any. */
static int
extract_settings_levels(const struct json *v, struct extract_options *o)
{
	size_t n = json_size(v);

	o->levels = 0;
	if (v == NULL)
		return 0;
	if (!json_is(v, '[') || n < 2 || n > STREAM_MAX)
		return -1;
	for (size_t i = 0; i < n; i++) {
		int64_t side, largest = i == 0 ? o->short_side : i == 1 ?
		    o->short_side - 1 : o->level[i - 2] - 1;

		if (json_to_int(json_at(v, i), 1, largest, &side) != 0)
			return -1;
		if (i > 0)
			o->level[o->levels++] = (int)side;
	}
	return 0;
}

int
extract_settings_read(const char *text, struct extract_options *to)
{
	struct extract_options o = *to;
	struct json *j = json_parse("settings", text, strlen(text));
	const char *format = json_to_text(json_get(j, "format"));
	const struct json *fps = json_get(j, "fps");
	/*
	 * Both parts of the rate are set or neither, as are width and height.
	 */
	int good = format != NULL &&
	    json_to_bool(json_get(j, "enlarge"), &o.enlarge) == 0 &&
	    extract_settings_number(json_at(fps, 0), INT32_MAX, &o.fps.num) ==
	    0 && extract_settings_number(json_at(fps, 1), INT32_MAX,
	    &o.fps.den) == 0 && (o.fps.num > 0) == (o.fps.den > 0) &&
	    extract_settings_number(json_get(j, "height"), SIDE_MAX,
	    &o.height) == 0 && extract_settings_number(json_get(j, "width"),
	    SIDE_MAX, &o.width) == 0 && (o.width > 0) == (o.height > 0) &&
	    extract_settings_number(json_get(j, "short_side"), SIDE_MAX,
	    &o.short_side) == 0 && extract_settings_number(json_get(j,
	    "quality"), 100, &o.quality) == 0 &&
	    extract_settings_levels(json_get(j, "levels"), &o) == 0;

	if (good && strcmp(format, "png") == 0)
		o.format = EXTRACT_PNG;
	else if (good && strcmp(format, "jpeg") == 0 && o.quality > 0)
		o.format = EXTRACT_JPEG;
	else
		good = 0;
	/* Frames of a set with flow lack the last of their video. */
	o.pairs = json_get(j, "flow") != NULL;
	json_free(j);
	if (!good)
		return -1;
	*to = o;
	return 0;
}
