/* Options of the optimizer. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "train/optim/optimizer_options.h"

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

void
optimizer_options_check(const struct optimizer_options *o)
{
	const struct optimizer *by = &optimizers[o->optimizer];

	if (o->set.nesterov && strcmp(by->name, "sgd") != 0)
		options_wrong("--nesterov and --optimizer=%s (it is for sgd)",
		    by->name);
	if (o->set.trust_clip && by->ratio == RATIO_NONE)
		options_wrong("--trust-clip and --optimizer=%s (it is for lars, "
		    "lars-outside and lamb)", by->name);
	if (o->clip > 0 && o->clip_value > 0)
		options_wrong("--clip-grad and --clip-value (wanted one of "
		    "them)");
	if (o->use_ema && o->ema == 0)
		options_wrong("--use-ema without --ema=DECAY: there is no average");
	optimizer_options_scale(o);
}
