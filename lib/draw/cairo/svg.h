#ifndef DRAW_CAIRO_SVG_H
#define DRAW_CAIRO_SVG_H

#include "base/mem.h"

/*
 * svg_describe(svg, title, said):
 * Add ${title} and the lines of ${said}, both UTF-8, to ${svg} as <title> and
 * <desc>.  Letters are drawn as outlines, which look the same everywhere but
 * cannot be searched or read aloud.
 */
void svg_describe(struct buffer *svg, const char *title, const char *said);

#endif
