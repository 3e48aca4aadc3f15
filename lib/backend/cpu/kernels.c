/*
 * Select the copy of each table of kernels that fits this processor
 * (base/isa.h).  AMX kernels exist only where the processor has AMX; their
 * tables are NULL elsewhere.
 */
#include "backend/cpu/direct_kernels.h"
#include "backend/cpu/grouped_kernels.h"
#include "backend/cpu/bf16/amx.h"
#include "backend/cpu/bf16/norm_kernels.h"
#include "backend/cpu/bf16/gemm_kernels.h"
#include "backend/cpu/kernels.h"
#include "backend/cpu/norm_kernels.h"
#include "backend/cpu/outer_kernels.h"
#include "backend/cpu/winograd_kernels.h"

const struct kernels *
kernels_pick(void)
{
	return ISA_PICK(&kernels);
}

const struct norm_kernels *
norm_kernels_pick(void)
{
	return ISA_PICK(&norm_kernels);
}

const struct outer_kernels *
outer_kernels_pick(void)
{
	return ISA_PICK(&outer_kernels);
}

const struct winograd_kernels *
winograd_kernels_pick(void)
{
	return ISA_PICK(&winograd_kernels);
}

const struct direct_kernels *
direct_kernels_pick(void)
{
	return ISA_PICK(&direct_kernels);
}

const struct grouped_kernels *
grouped_kernels_pick(void)
{
	return ISA_PICK(&grouped_kernels);
}

const struct bf16_kernels *
bf16_kernels_pick(void)
{
	return ISA_PICK(&bf16_kernels);
}

const struct bf16_norm_kernels *
bf16_norm_kernels_pick(void)
{
	return ISA_PICK(&bf16_norm_kernels);
}

const struct amx_kernels *
amx_kernels_pick(void)
{
	return AMX_PICK(&amx_kernels);
}

const struct gemm_kernels *
gemm_kernels_pick(void)
{
	return AMX_PICK(&gemm_kernels);
}
