/* Check the options of the optimizer. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#include "optimizer.h"

double
optimizer_options_scale(const struct optimizer_options *o)
{
	double x;

	if (o->loss_scale == NULL)
		return 0;
	if (strcmp(o->loss_scale, "dynamic") == 0)
		return -1;
	if (text_real(o->loss_scale, 1, 1e9, &x) != 0)
		options_wrong("--loss-scale=%s (wanted dynamic, or a number from "
		    "1 to 1e9)", text_quote(o->loss_scale));
	return x;
}
