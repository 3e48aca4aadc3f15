#ifndef DRAW_CAIRO_FONT_H
#define DRAW_CAIRO_FONT_H

/*
 * Fonts by fontconfig: the first of a list of plain sans-serif families that is
 * installed, and for text it has no letters for, one that has.  Texts are drawn
 * letter after letter; scripts that join letters are legible, not beautiful.
 * With no font at all cairo's own strokes stand in, after a warning.
 */

#include <cairo.h>

struct font;

/* font_new(bold), font_free(f). */
struct font *font_new(int bold);
void font_free(struct font *f);

/* font_face(f, text): to draw ${text}, from font_text, with; the caller's, for
 * cairo_font_face_destroy. */
cairo_font_face_t *font_face(const struct font *f, const char *text);

/* font_text(text): ${text} as cairo takes it: what is not UTF-8 or not to be
 * drawn is a question mark; the caller's to free. */
char *font_text(const char *text);

#endif
