#ifndef DRAW_CAIRO_SVG_H
#define DRAW_CAIRO_SVG_H

#include "base/mem.h"

/*
 * svg_finish(svg, title, said): make cairo's SVG the same for the same picture,
 * and let it say what is drawn: ${title}, and the lines of ${said} (UTF-8).
 */
void svg_finish(struct buffer *svg, const char *title, const char *said);

#endif
