#ifndef DRAW_CAIRO_SVG_H
#define DRAW_CAIRO_SVG_H

#include "base/mem.h"

/*
 * svg_finish(svg, title, said):
 * Make cairo's SVG reproducible, and add ${title} and the lines of ${said},
 * both UTF-8, as its description.  Replace the bytes of ${svg}.
 */
void svg_finish(struct buffer *svg, const char *title, const char *said);

#endif
