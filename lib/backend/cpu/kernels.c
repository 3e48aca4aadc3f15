/*
 * Select the copy of each table of kernels that fits this processor
 * (base/isa.h).  AMX kernels exist only where the processor has AMX; their
 * tables are NULL elsewhere.
 */
#include "backend/cpu/direct_kernels.h"
#include "backend/cpu/grouped_kernels.h"
#include "backend/cpu/bf16/amx.h"
#include "backend/cpu/bf16/gemm_kernels.h"
#include "backend/cpu/exp_kernels.h"
#include "backend/cpu/kernels.h"
#include "backend/cpu/norm_kernels.h"
#include "backend/cpu/outer_kernels.h"
#include "backend/cpu/winograd_kernels.h"

/* Define NAME_pick(); a row ends with ";". */
#define KERNELS_PICK(name, PICK) \
	const struct name * \
	name ## _pick(void) \
	{ \
		return PICK(&name); \
	} \
	struct name

KERNELS_PICK(kernels, ISA_PICK);
KERNELS_PICK(exp_kernels, ISA_PICK);
KERNELS_PICK(norm_kernels, ISA_PICK);
KERNELS_PICK(outer_kernels, ISA_PICK);
KERNELS_PICK(winograd_kernels, ISA_PICK);
KERNELS_PICK(direct_kernels, ISA_PICK);
KERNELS_PICK(grouped_kernels, ISA_PICK);
KERNELS_PICK(bf16_kernels, ISA_PICK);
KERNELS_PICK(amx_kernels, AMX_PICK);
KERNELS_PICK(gemm_kernels, AMX_PICK);

const struct norm_kernels *
norm_bf16_kernels_pick(void)
{
	return ISA_PICK(&norm_bf16_kernels);
}
