/* The copy of the kernels that this processor runs. */
#include "backend/cpu/kernels.h"

const struct kernels *
kernels_pick(void)
{
	return ISA_PICK(&kernels);
}
