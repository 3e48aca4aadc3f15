/* The state of a dynamic loss scale. */
#include "train/optim/loss_scale.h"

const struct slot_kind loss_scale_slots[LOSS_SCALE_SLOTS] = {
	{ "optim/loss_scale", SLOT_ONCE, SLOT_F64, 65536, 0 },
	{ "optim/loss_scale_steps", SLOT_ONCE, SLOT_F64, 0, 0 },
};

double
loss_scale_now(const struct slots *s, int first)
{
	return *(const double *)s->slot[first].data;
}

int
loss_scale_lower(struct slots *s, int first)
{
	double *scale = s->slot[first].data, *steps = s->slot[first + 1].data;

	if (*scale <= 1)
		return 0;
	*scale /= 2;
	*steps = 0;
	return 1;
}

void
loss_scale_keep(struct slots *s, int first, int every)
{
	double *scale = s->slot[first].data, *steps = s->slot[first + 1].data;

	if (++*steps < every)
		return;
	*steps = 0;
	if (*scale < 0x1p64)
		*scale *= 2;
}
