/*
 * The list of back ends in this build.  Only here do build options select them.
 */
#include <string.h>

#include "backend/backend.h"
#include "base/fail.h"
#include "base/text.h"

extern const struct backend ref_backend_float, ref_backend_double;
#ifdef VT_HAVE_DNNL
extern const struct backend backend_cpu;
#define CPU &backend_cpu,
#else
#define CPU
#endif
#ifdef VT_HAVE_CUDA
extern const struct backend backend_cuda;
#define CUDA &backend_cuda,
#else
#define CUDA
#endif

const struct backend *const backends[] = {
	CPU CUDA &ref_backend_float, &ref_backend_double, NULL
};

static const struct { const char *name, *needs; } known[] = {
	{ "cpu", "oneDNN: make DNNL=yes" },
	{ "cuda", "the CUDA back end, the CUDA Toolkit and cuDNN: make "
		"CUDA=yes" },
};

const struct fabric_calls *
backend_fabric(const struct backend *b)
{
	return b->fabric != NULL ? b->fabric() : NULL;
}

const char *
backend_library(const struct backend *b)
{
	return b->library != NULL ? b->library() : "none";
}

const struct backend *
backend_find(const char *name)
{
	for (int i = 0; backends[i] != NULL; i++)
		if (strcmp(backends[i]->name, name) == 0)
			return backends[i];
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i].name, name) == 0)
			return fail_null("this build has no back end %s; it "
			    "needs %s", name, known[i].needs);
	return fail_null("no back end %s (wanted cpu, cuda, ref or ref64)",
	    text_quote(name));
}
