/* The libraries of CUDA, opened when they are needed. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "backend/cuda/runtime.h"
#include "base/fail.h"

#define TEXT_OF(x)	#x
#define TEXT(x)		TEXT_OF(x)
/* The names under which the versions that this is compiled for are found. */
#define CUDNN_FILE	"libcudnn.so." TEXT(CUDNN_MAJOR)
#define CUBLAS_FILE	"libcublasLt.so." TEXT(CUBLAS_VER_MAJOR)

struct entry { const char *name; void *to; };

/* Open ${file} and write the address of each entry; NULL after a message. */
static void *
load(const char *file, const struct entry *e, size_t n)
{
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL), *at;

	if (library == NULL)
		return fail_null("--device cuda needs %s: %s", file, dlerror());
	for (size_t i = 0; i < n; i++) {
		if ((at = dlsym(library, e[i].name)) == NULL) {
			fail("%s has no %s", file, e[i].name);
			dlclose(library);
			return NULL;
		}
		memcpy(e[i].to, &at, sizeof(at));
	}
	return library;
}

#define ENTRY(name)	{ #name, &c->name },

int
cudnn_load(struct cudnn *c)
{
	const struct entry e[] = { CUDNN_CALLS(ENTRY) };

	c->library = load(CUDNN_FILE, e, sizeof(e) / sizeof(e[0]));
	return c->library != NULL ? 0 : -1;
}

int
cublas_load(struct cublas *c)
{
	const struct entry e[] = { CUBLAS_CALLS(ENTRY) };

	c->library = load(CUBLAS_FILE, e, sizeof(e) / sizeof(e[0]));
	return c->library != NULL ? 0 : -1;
}

void
cudnn_unload(struct cudnn *c)
{
	if (c->library != NULL)
		dlclose(c->library);
	c->library = NULL;
}

void
cublas_unload(struct cublas *c)
{
	if (c->library != NULL)
		dlclose(c->library);
	c->library = NULL;
}
