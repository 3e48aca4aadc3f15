/* Select fonts with fontconfig. */
#include <cairo-ft.h>
#include <fontconfig/fontconfig.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "draw/cairo/font.h"

/*
 * DejaVu comes first because Debian's fontconfig depends on it: most machines
 * then draw the same picture.
 */
#define FAMILIES "DejaVu Sans,Noto Sans,Liberation Sans,Arial,Helvetica," \
	"sans-serif"

struct font {
	int bold;
	FcPattern *found;
	FcCharSet *covers;		/* owned by ${found} */
	cairo_font_face_t *face;
};

/*
 * Return the best font that has ${letters}; with NULL, the best of FAMILIES.
 * The caller destroys it.
 */
static FcPattern *
font_match(int bold, FcCharSet *letters)
{
	FcPattern *p = FcNameParse((const FcChar8 *)FAMILIES), *found;
	FcResult result;

	FcPatternAddInteger(p, FC_WEIGHT, bold ? FC_WEIGHT_BOLD :
	    FC_WEIGHT_REGULAR);
	FcPatternAddInteger(p, FC_SLANT, FC_SLANT_ROMAN);
	FcPatternAddBool(p, FC_SCALABLE, FcTrue);
	if (letters != NULL)
		FcPatternAddCharSet(p, FC_CHARSET, letters);
	FcConfigSubstitute(NULL, p, FcMatchPattern);
	FcDefaultSubstitute(p);
	found = FcFontMatch(NULL, p, &result);
	FcPatternDestroy(p);
	return found;
}

struct font *
font_new(int bold)
{
	FcPattern *found = font_match(bold, NULL);
	struct font *f;

	if (found == NULL)
		return fail_null("no font is installed (install "
		    "fonts-dejavu-core)");
	f = xcalloc(1, sizeof(*f));
	f->bold = bold;
	f->found = found;
	if (FcPatternGetCharSet(f->found, FC_CHARSET, 0, &f->covers) !=
	    FcResultMatch)
		f->covers = NULL;
	f->face = cairo_ft_font_face_create_for_pattern(f->found);
	return f;
}

void
font_free(struct font *f)
{
	if (f == NULL)
		return;
	cairo_font_face_destroy(f->face);
	FcPatternDestroy(f->found);
	free(f);
}

/*
 * Return the set of letters of ${text} if ${f} lacks one of them, otherwise
 * NULL.  The caller destroys it.
 */
static FcCharSet *
font_uncovered(const struct font *f, const char *text)
{
	FcCharSet *letters = FcCharSetCreate();
	FcChar32 letter;
	int all = f->covers != NULL;

	for (int n; *text != '\0'; text += n) {
		n = text_utf8(text);
		FcUtf8ToUcs4((const FcChar8 *)text, &letter, n);
		all = all && FcCharSetHasChar(f->covers, letter);
		FcCharSetAddChar(letters, letter);
	}
	if (!all)
		return letters;
	FcCharSetDestroy(letters);
	return NULL;
}

/* Warn, once, if ${font} lacks one of ${letters}, so that it draws a box. */
static void
font_warn_missing(FcPattern *font, const FcCharSet *letters)
{
	static int warned;
	FcChar32 page[FC_CHARSET_MAP_SIZE], next, letter;
	FcCharSet *covers = NULL, *missing;
	char text[FC_UTF8_MAX_LEN + 1] = "";

	if (font != NULL)
		FcPatternGetCharSet(font, FC_CHARSET, 0, &covers);
	if (warned || covers == NULL || FcCharSetIsSubset(letters, covers))
		return;
	missing = FcCharSetSubtract(letters, covers);
	letter = FcCharSetFirstPage(missing, page, &next);
	for (int i = 0; i < FC_CHARSET_MAP_SIZE; i++)
		if (page[i] != 0) {
			letter += 32 * (FcChar32)i +
			    (FcChar32)__builtin_ctz(page[i]);
			break;
		}
	FcUcs4ToUtf8(letter, (FcChar8 *)text);
	warning("no font has the letter %s (U+%04X): it is drawn as a box "
	    "(install a font of its script, such as fonts-noto-cjk)", text,
	    letter);
	FcCharSetDestroy(missing);
	warned = 1;
}

cairo_font_face_t *
font_face(const struct font *f, const char *text)
{
	FcCharSet *letters = font_uncovered(f, text);
	cairo_font_face_t *face;
	FcPattern *other;

	if (letters == NULL)
		return cairo_font_face_reference(f->face);
	other = font_match(f->bold, letters);
	font_warn_missing(other, letters);
	face = cairo_ft_font_face_create_for_pattern(other != NULL ? other :
	    f->found);
	if (other != NULL)
		FcPatternDestroy(other);
	FcCharSetDestroy(letters);
	return face;
}

char *
font_text(const char *text)
{
	struct buffer b = { 0 };

	buffer_text(&b, "");
	while (*text != '\0') {
		int n = text_utf8(text);
		const unsigned char *u = (const unsigned char *)text;
		/* C0, DEL and C1 control characters have no glyph. */
		int plain = n > 1 ? !(u[0] == 0xc2 && u[1] < 0xa0) :
		    n == 1 && u[0] >= ' ' && u[0] != 0x7f;

		buffer_add(&b, plain ? text : "?", plain ? (size_t)n : 1);
		text += n > 0 ? n : 1;
	}
	return b.data;
}
