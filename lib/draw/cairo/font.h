#ifndef DRAW_CAIRO_FONT_H
#define DRAW_CAIRO_FONT_H

/*
 * Fonts through fontconfig: the first installed one of a list of sans-serif
 * families.  For text that it has no glyphs for, use another font that has
 * them.  Text is drawn letter by letter, so scripts that join letters are
 * legible but not well shaped.
 */

#include <cairo.h>

struct font;

/*
 * font_new(bold):
 * Find a font, bold or regular.  Return NULL after a message if none is
 * installed.  The caller frees it with font_free; NULL does nothing there.
 */
struct font *font_new(int bold);
void font_free(struct font *f);

/*
 * font_face(f, text):
 * Return the font face for ${text}, which comes from font_text.  Warn once if
 * no font has all of its letters.  The caller frees it with
 * cairo_font_face_destroy.
 */
cairo_font_face_t *font_face(const struct font *f, const char *text);

/*
 * font_text(text):
 * Return a copy of ${text} that cairo accepts: invalid UTF-8 and control
 * characters become question marks.  The caller frees it.
 */
char *font_text(const char *text);

#endif
