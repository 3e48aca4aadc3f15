#ifndef MEDIA_PLOT_STYLE_H
#define MEDIA_PLOT_STYLE_H

/* What the pictures of plot.h have in common; for their files only. */

#include "media/canvas.h"

enum {
	UNIT = 2,		/* pixels of a hairline; text is this size */
	MARGIN = 16 * UNIT,	/* around everything */
	LINE = 17 * UNIT	/* from one line of text to the next */
};

static const struct ink paper = { 255, 255, 255 }, black = { 32, 32, 32 },
    grey = { 100, 100, 100 }, faint = { 226, 226, 226 }, rule = { 150, 150, 150 };

/* plot_head_height(title, note), plot_head(c, title, note): the lines above a
 * picture, where they are given. */
int plot_head_height(const char *title, const char *note);
void plot_head(struct canvas *c, const char *title, const char *note);

/* plot_text(c, x, y, text, hold, ink): one line in the ordinary size. */
void plot_text(struct canvas *c, int x, int y, const char *text,
    enum text_hold hold, struct ink ink);

#endif
