/* A picture while it is drawn, and the file that it becomes. */
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "draw/cairo/font.h"
#include "draw/cairo/page.h"
#include "draw/cairo/svg.h"
#include "draw/plot.h"

const struct color color_black = { .13, .13, .13 }, color_gray = { .40, .40,
	.40 },
    color_rule = { .62, .62, .62 }, color_faint = { .89, .89, .89 },
    color_paper = { 1, 1, 1 };
/* From the palette of Okabe and Ito: bluish green, darkened, and vermilion. */
const struct color color_right = { 0, .51, .37 }, color_wrong = { .835, .369,
	0 };

enum page_kind { PNG, SVG, PDF };

static const struct { const char *extension; enum page_kind kind; } kinds[] = {
	{ ".png", PNG }, { ".svg", SVG }, { ".pdf", PDF }
};

struct page {
	struct font *font[2];		/* regular, bold */
	double capital;			/* height of a capital letter at font
					 * size 1 */
	cairo_font_options_t *options;
	enum page_kind kind;
	const char *path;
	char *title;
	cairo_surface_t *surface;
	cairo_t *c;
	struct buffer out, said;	/* bytes of an SVG or PDF; all texts
					 * drawn, for the SVG's description */
};

/* ---- the file ---- */

/* Return the kind of file by the name's extension, or -1 after a message. */
static int
page_kind_of(const char *path)
{
	if (strcmp(path, "-") == 0)
		return PNG;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (text_ends(path, kinds[i].extension))
			return kinds[i].kind;
	return fail("%s: unknown picture format (wanted a name that ends "
	    "with .png, .svg or .pdf)", text_quote(path));
}

int
plot_ready(const char *path)
{
	struct font *f = NULL;
	int bad = page_kind_of(path) < 0 || (f = font_new(0)) == NULL;

	font_free(f);
	return bad ? -1 : 0;
}

void
plot_versions(FILE *f)
{
	fprintf(f, "cairo %s\n", cairo_version_string());
}

/*
 * Without hinting, kerning and letter widths do not depend on the resolution.
 */
static cairo_font_options_t *
page_exact_options(void)
{
	cairo_font_options_t *o = cairo_font_options_create();

	cairo_font_options_set_hint_style(o, CAIRO_HINT_STYLE_NONE);
	cairo_font_options_set_hint_metrics(o, CAIRO_HINT_METRICS_OFF);
	cairo_font_options_set_antialias(o, CAIRO_ANTIALIAS_GRAY);
	return o;
}

static cairo_text_extents_t
page_extents(struct page *p, const char *text, double size, int bold)
{
	cairo_font_face_t *face = font_face(p->font[bold != 0], text);
	cairo_matrix_t scaled, plain;
	cairo_scaled_font_t *f;
	cairo_text_extents_t e;

	cairo_matrix_init_scale(&scaled, size, size);
	cairo_matrix_init_identity(&plain);
	f = cairo_scaled_font_create(face, &scaled, &plain, p->options);
	cairo_scaled_font_text_extents(f, text, &e);
	cairo_scaled_font_destroy(f);
	cairo_font_face_destroy(face);
	return e;
}

struct page *
page_new(void)
{
	struct page *p = xcalloc(1, sizeof(*p));

	p->options = page_exact_options();
	for (int bold = 0; bold < 2; bold++)
		if ((p->font[bold] = font_new(bold)) == NULL) {
			page_done(p);
			return NULL;
		}
	p->capital = page_extents(p, "H", 100, 0).height / 100;
	return p;
}

static cairo_status_t
page_collect(void *out, const unsigned char *data, unsigned n)
{
	buffer_add(out, data, n);
	return CAIRO_STATUS_SUCCESS;
}

int
page_size(struct page *p, double w, double h, const char *path,
    const char *title)
{
	int kind = page_kind_of(path);

	if (kind < 0)
		return -1;
	p->kind = (enum page_kind)kind;
	p->path = path;
	p->title = font_text(title != NULL ? title : "");
	w = ceil(w);
	h = ceil(h);
	switch (p->kind) {
	case PNG:
		p->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24,
		    (int)w * PAGE_SCALE, (int)h * PAGE_SCALE);
		cairo_surface_set_device_scale(p->surface, PAGE_SCALE,
		    PAGE_SCALE);
		break;
	case SVG:
		p->surface = cairo_svg_surface_create_for_stream(page_collect,
		    &p->out, w, h);
		cairo_svg_surface_set_document_unit(p->surface,
		    CAIRO_SVG_UNIT_PX);
		break;
	case PDF:	/* unit of PDF: a point, 1/72 inch */
		p->surface = cairo_pdf_surface_create_for_stream(page_collect,
		    &p->out, w * .75, h * .75);
		cairo_surface_set_device_scale(p->surface, .75, .75);
		cairo_pdf_surface_set_metadata(p->surface,
		    CAIRO_PDF_METADATA_TITLE, p->title);
		/* A fixed date, so that equal pictures give equal files. */
		cairo_pdf_surface_set_metadata(p->surface,
		    CAIRO_PDF_METADATA_CREATE_DATE, "2000-01-01T00:00:00Z");
		break;
	}
	if (cairo_surface_status(p->surface) != CAIRO_STATUS_SUCCESS)
		return fail("%s: a picture of %.0f x %.0f pixels: %s",
		    text_quote(path), w * PAGE_SCALE, h * PAGE_SCALE,
		    cairo_status_to_string(cairo_surface_status(p->surface)));
	p->c = cairo_create(p->surface);
	cairo_set_font_options(p->c, p->options);
	page_fill(p, 0, 0, w, h, color_paper);
	return 0;
}

static int
page_write_file(struct page *p)
{
	cairo_status_t status = cairo_status(p->c);

	/* A PNG is encoded from memory; other surfaces write at the end. */
	if (p->kind != PNG)
		cairo_surface_finish(p->surface);
	if (status == CAIRO_STATUS_SUCCESS)
		status = p->kind != PNG ? cairo_surface_status(p->surface) :
		    cairo_surface_write_to_png_stream(p->surface, page_collect,
		    &p->out);
	if (status != CAIRO_STATUS_SUCCESS)
		return fail("%s: drawing: %s", text_quote(p->path),
		    cairo_status_to_string(status));
	if (p->kind == SVG)
		svg_describe(&p->out, p->title, p->said.n > 0 ? p->said.data :
		    "");
	if (strcmp(p->path, "-") != 0)
		return commit_bytes(p->path, p->out.data, p->out.n);
	return fwrite(p->out.data, 1, p->out.n, stdout) == p->out.n ? 0 :
	    fail_errno("standard output");
}

int
page_done(struct page *p)
{
	int bad = -1;

	if (p->c != NULL) {
		bad = page_write_file(p);
		cairo_destroy(p->c);
	}
	if (p->surface != NULL)
		cairo_surface_destroy(p->surface);
	cairo_font_options_destroy(p->options);
	font_free(p->font[0]);
	font_free(p->font[1]);
	buffer_free(&p->out);
	buffer_free(&p->said);
	free(p->title);
	free(p);
	return bad;
}

cairo_t *
page_cairo(struct page *p)
{
	return p->c;
}

/* ---- text ---- */

double
page_text_width(struct page *p, const char *text, double size, int bold)
{
	char *clean = font_text(text);
	double w = page_extents(p, clean, size, bold).x_advance;

	free(clean);
	return w;
}

/* Return 1 if ${text} is not wider than ${s} allows. */
static int
page_fits(struct page *p, const char *text, const struct text_style *s)
{
	return s->width == 0 ||
	    page_extents(p, text, s->size, s->bold).x_advance <= s->width;
}

/* Shorten a path.  The caller frees the result. */
static char *
page_path_fit(struct page *p, const char *path, const struct text_style *s)
{
	char *cut = NULL;

	for (const char *at = path; *at != '\0';) {
		const char *slash = strchr(at + 1, '/');

		if (slash != NULL)
			at = slash;
		else
			/* Step over whole UTF-8 characters. */
			do
				at++;
			while (((unsigned char)*at & 0xc0) == 0x80);
		free(cut);
		cut = xprintf("\xe2\x80\xa6%s", at);
		if (page_fits(p, cut, s))
			break;
	}
	return cut != NULL ? cut : xstrdup("");
}

/* Return the byte at which character ${i} of the UTF-8 ${text} begins. */
static size_t
page_byte_of(const char *text, size_t i)
{
	size_t at = 0;

	for (; i > 0 && text[at] != '\0'; i--)
		do
			at++;
		while (((unsigned char)text[at] & 0xc0) == 0x80);
	return at;
}

/* Shorten another text.  The caller frees the result. */
static char *
page_text_fit(struct page *p, const char *text, const struct text_style *s)
{
	char *cut = NULL;
	size_t all = 0;

	while (text[page_byte_of(text, all)] != '\0')
		all++;
	/* Leave ${n} characters, half of them at each end, without blanks at
	 * the cut. */
	for (size_t n = all; n-- > 0;) {
		size_t head = page_byte_of(text, (n + 1) / 2);
		size_t tail = page_byte_of(text, all - n / 2);

		while (head > 0 && text[head - 1] == ' ')
			head--;
		while (text[tail] == ' ')
			tail++;
		free(cut);
		cut = xprintf("%.*s\xe2\x80\xa6%s", (int)head, text,
		    text + tail);
		if (page_fits(p, cut, s))
			break;
	}
	return cut != NULL ? cut : xstrdup("");
}

void
page_text(struct page *p, double x, double y, const char *text,
    const struct text_style *s)
{
	char *clean = font_text(text), *cut = page_fits(p, clean, s) ? NULL :
	    (s->path ? page_path_fit : page_text_fit)(p, clean, s);
	const char *shown = cut != NULL ? cut : clean;
	cairo_font_face_t *face = font_face(p->font[s->bold != 0], shown);
	double w = page_extents(p, shown, s->size, s->bold).x_advance;

	cairo_save(p->c);
	cairo_translate(p->c, x, y);
	/* cairo's y axis points down, so a positive angle is clockwise. */
	cairo_rotate(p->c, -s->turn * M_PI / 180);
	cairo_set_font_face(p->c, face);
	cairo_set_font_size(p->c, s->size);
	page_color(p, s->color);
	/* Center capital letters vertically on (x, y). */
	cairo_move_to(p->c, s->hold == TEXT_LEFT ? 0 :
	    s->hold == TEXT_RIGHT ? -w : -w / 2, p->capital * s->size / 2);
	cairo_show_text(p->c, shown);
	cairo_restore(p->c);
	cairo_font_face_destroy(face);
	buffer_printf(&p->said, "%s\n", shown);
	free(clean);
	free(cut);
}

void
page_word(struct page *p, double x, double y, const char *text,
    enum text_hold hold, struct color color)
{
	page_text(p, x, y, text, &(struct text_style){ TEXT_SIZE, hold,
		.color = color });
}

double
page_head_height(const char *title, const char *note)
{
	return PAGE_MARGIN + (title != NULL ? 24 : 0) +
	    (note != NULL ? PAGE_LINE : 0);
}

double
page_head_width(struct page *p, const char *title, const char *note)
{
	return 2 * PAGE_MARGIN + fmax(title != NULL ?
	    page_text_width(p, title, TITLE_SIZE, 1) : 0, note != NULL ?
	    page_text_width(p, note, TEXT_SIZE, 0) : 0);
}

void
page_head(struct page *p, double w, const char *title, const char *note)
{
	const double width = w - 2 * PAGE_MARGIN;
	const struct text_style big = { TITLE_SIZE, TEXT_LEFT, .bold = 1,
		.color = color_black, .width = width };
	const struct text_style small = { TEXT_SIZE, TEXT_LEFT,
		.color = color_gray, .width = width };

	if (title != NULL)
		page_text(p, PAGE_MARGIN, PAGE_MARGIN + 8, title, &big);
	if (note != NULL)
		page_text(p, PAGE_MARGIN, PAGE_MARGIN + (title != NULL ? 24 :
		    0) + 5, note, &small);
}
