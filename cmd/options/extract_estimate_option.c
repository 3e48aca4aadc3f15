/* Print an estimate of an extraction. */
#include <stdio.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/progress.h"
#include "base/text.h"

#include "extract_estimate_option.h"

#define VIDEOS 200		/* in a sample */

size_t
extract_estimate_videos(const char *text)
{
	int64_t n = VIDEOS;

	if (text == NULL)
		return 0;
	if (*text != '\0' && text_int(text, 2, INT32_MAX, &n) != 0)
		options_wrong("--estimate: %s (wanted videos, at least 2)",
		    text_quote(text));
	return (size_t)n;
}

static void
extract_estimate_row(const char *name, const struct extract_range *r, double unit,
    const char *format)
{
	printf("%s", name);
	for (int i = 0; i < 3; i++) {
		double v = i == 0 ? r->value : i == 1 ? r->low : r->high;

		putchar('\t');
		printf(format, v / unit);
	}
	putchar('\n');
}

int
extract_estimate_print(const struct extract_run *r, size_t n)
{
	struct extract_estimate e;
	char bytes[3][32], time[4][32];

	if (extract_estimate(r, n, &e) != 0)
		return -1;
	progress_clear();
	printf("#quantity\testimate\tlow\thigh\n");
	extract_estimate_row("refused", &e.refused, 1, "%.0f");
	extract_estimate_row("frames", &e.frames, 1, "%.0f");
	extract_estimate_row("bytes", &e.bytes, 1, "%.0f");
	extract_estimate_row("core_hours", &e.cpu, 3600, "%.6g");
	extract_estimate_row("hours", &e.wall, 3600, "%.6g");
	extract_estimate_row("cores", &(struct extract_range){ e.cores, e.cores,
	    e.cores }, 1, "%.0f");
	note("a stream of %s (%s to %s) and %s (%s to %s) on %d core%s, as loaded now, with "
	    "%s of processors, from %zu of %zu videos", text_bytes(bytes[0], e.bytes.value),
	    text_bytes(bytes[1], e.bytes.low),
	    text_bytes(bytes[2], e.bytes.high),
	    clock_text(time[0], e.wall.value), clock_text(time[1], e.wall.low),
	    clock_text(time[2], e.wall.high), e.cores,
	    e.cores == 1 ? "" : "s", clock_text(time[3], e.cpu.value),
	    e.sampled, r->list->n);
	return stdout_done();
}
