/* cuDNN and cuBLASLt, loaded by name when a device is opened (runtime.h). */
#include <stdio.h>
#include <string.h>

#include "backend/cuda/runtime.h"
#include "base/fail.h"
#include "base/library.h"

#define TEXT_OF(x)	#x
#define TEXT(x)		TEXT_OF(x)
/* Shared library names of the major versions that this is compiled for. */
#define CUDNN_FILE	"libcudnn.so." TEXT(CUDNN_MAJOR)
#define CUBLAS_FILE	"libcublasLt.so." TEXT(CUBLAS_VER_MAJOR)

#define ENTRY(name)	{ #name, &c->name },

int
cudnn_load(struct cudnn *c, struct error *why)
{
	const struct library_entry e[] = { CUDNN_CALLS(ENTRY) };

	return library_open(CUDNN_FILE, "--device cuda", e,
	    sizeof(e) / sizeof(e[0]), why) != NULL ? 0 : -1;
}

void
cudnn_keep_compiler(void)
{
	char file[32];

	snprintf(file, sizeof(file), "libnvrtc.so.%d", CUDART_VERSION / 1000);
	library_pin(file);
}

int
cublas_load(struct cublas *c, struct error *why)
{
	const struct library_entry e[] = { CUBLAS_CALLS(ENTRY) };

	return library_open(CUBLAS_FILE, "--device cuda", e,
	    sizeof(e) / sizeof(e[0]), why) != NULL ? 0 : -1;
}
