/* oneDNN: its version, instruction set, engine and streams (dnnl.h). */
#include <stdio.h>
#include <stdlib.h>

#include "backend/cpu/dnnl_conv.h"
#include "base/fail.h"
#include "base/isa.h"
#include "base/mem.h"

#if DNNL_CPU_RUNTIME == DNNL_RUNTIME_OMP
extern void omp_set_num_threads(int n);
#endif

const char *
dnnl_library(void)
{
	static char text[48];
	const dnnl_version_t *v = dnnl_version();

	snprintf(text, sizeof(text), "oneDNN %d.%d.%d", v->major, v->minor,
	    v->patch);
	return text;
}

static int
dnnl_has(dnnl_cpu_isa_t isa)
{
	const unsigned bits = (unsigned)dnnl_get_effective_cpu_isa();

	return (bits & (unsigned)isa) == (unsigned)isa;
}

int
dnnl_has_amx(void)
{
	return dnnl_has(dnnl_cpu_isa_avx512_core_amx);
}

const char *
dnnl_bf16_text(void)
{
	return dnnl_has_amx() ? "bf16 by AMX" :
	    dnnl_has(dnnl_cpu_isa_avx512_core_bf16) ? "bf16 by avx512_bf16" :
	    "bf16 by fp32";
}

struct dnnl *
dnnl_open(int threads)
{
	struct dnnl *d = xcalloc(1, sizeof(*d));

	/* Limit oneDNN to the instruction set that our layouts assume. */
	if (isa_best() == ISA_AVX2)
		dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2);
	else if (isa_best() == ISA_BASE)
		dnnl_set_max_cpu_isa(dnnl_cpu_isa_sse41);
	else if (!isa_amx())
		dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx512_core_bf16);
	d->stream = xcalloc((size_t)threads, sizeof(*d->stream));
	if (dnnl_engine_create(&d->engine, dnnl_cpu, 0) != dnnl_success) {
		fail("%s has no CPU engine", dnnl_library());
		goto err;
	}
	for (; d->threads < threads; d->threads++)
		if (dnnl_stream_create(&d->stream[d->threads], d->engine,
		    dnnl_stream_default_flags) != dnnl_success) {
			fail("%s has no stream", dnnl_library());
			goto err;
		}
	return d;
err:
	dnnl_close(d);
	return NULL;
}

void
dnnl_close(struct dnnl *d)
{
	if (d == NULL)
		return;
	while (d->threads > 0)
		dnnl_stream_destroy(d->stream[--d->threads]);
	free(d->stream);
	if (d->engine != NULL)
		dnnl_engine_destroy(d->engine);
	free(d);
}

void
dnnl_one_thread(void)
{
#if DNNL_CPU_RUNTIME == DNNL_RUNTIME_OMP
	omp_set_num_threads(1);
#endif
}

void
dnnl_execute(struct dnnl *d, dnnl_primitive_t prim, int thread, int n,
    const dnnl_exec_arg_t *args)
{
	dnnl_stream_t s = d->stream[thread];

	dnnl_one_thread();
	if (dnnl_primitive_execute(prim, s, n, args) != dnnl_success ||
	    dnnl_stream_wait(s) != dnnl_success)
		die(1, "%s failed to run", dnnl_library());
}
