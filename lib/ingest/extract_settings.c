/*
 * The settings of an extraction, to and from JSON.  Keys are in byte order, and
 * options without effect are written as 0, so equal settings give equal text.
 */
#include <string.h>

#include "base/json.h"
#include "ingest/extract_settings.h"
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
	json_put_text(&w, "format", png ? "png" : "jpeg");
	json_open(&w, "fps", '[');
	json_put_int(&w, NULL, o->fps.num);
	json_put_int(&w, NULL, o->fps.den);
	json_close(&w);
	json_put_int(&w, "height", o->height);
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
	    extract_settings_number(json_get(j, "height"), SIDE_MAX, &o.height) ==
	    0 && extract_settings_number(json_get(j, "width"), SIDE_MAX,
	    &o.width) == 0 && (o.width > 0) == (o.height > 0) &&
	    extract_settings_number(json_get(j, "short_side"), SIDE_MAX,
	    &o.short_side) == 0 && extract_settings_number(json_get(j,
	    "quality"), 100, &o.quality) == 0;

	if (good && strcmp(format, "png") == 0)
		o.format = EXTRACT_PNG;
	else if (good && strcmp(format, "jpeg") == 0 && o.quality > 0)
		o.format = EXTRACT_JPEG;
	else
		good = 0;
	json_free(j);
	if (!good)
		return -1;
	*to = o;
	return 0;
}
