/*
 * Drawing in a build without cairo: each function reports that cairo is
 * missing.
 */
#include "base/fail.h"
#include "base/text.h"
#include "draw/plot.h"

int
plot_ready(const char *path)
{
	return fail("%s: this build has no cairo, which draws pictures: "
	    "install libcairo2-dev and build again with make CAIRO=yes",
	    text_quote(path));
}

void
plot_versions(FILE *f)
{
	(void)f;
}

int
plot_draw(const struct plot *p, int n, const char *path)
{
	(void)p;
	(void)n;
	return plot_ready(path);
}

int
plot_matrix(const struct plot_matrix *m, const char *path)
{
	(void)m;
	return plot_ready(path);
}

int
plot_sheet(const struct plot_sheet *s, const char *path)
{
	(void)s;
	return plot_ready(path);
}
