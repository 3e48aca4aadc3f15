/* Check the options of the optimizer. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#include "optimizer.h"

double
optimizer_options_scale(const struct optimizer_options *o)
{
	char *end;
	double x;

	if (o->loss_scale == NULL)
		return 0;
	if (strcmp(o->loss_scale, "dynamic") == 0)
		return -1;
	x = strtod(o->loss_scale, &end);
	if (*o->loss_scale == '\0' || *end != '\0' || !(x >= 1 && x <= 1e9))
		options_wrong("--loss-scale=%s (wanted dynamic, or a number from "
		    "1 to 1e9)", text_quote(o->loss_scale));
	return x;
}
