/* Shared libraries opened on demand. */
#include <dlfcn.h>
#include <string.h>

#include "base/library.h"

/* RTLD_LOCAL keeps its symbols out of other lookups.  RTLD_NOW reports
 * missing dependencies here. */
void *
library_open(const char *file, const char *who, const struct library_entry *e,
    size_t n, struct error *why)
{
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL), *at;

	if (library == NULL) {
		error_set(why, "%s needs %s: %s", who, file, dlerror());
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		if ((at = dlsym(library, e[i].name)) == NULL) {
			error_set(why, "%s has no %s, which %s needs", file,
			    e[i].name, who);
			dlclose(library);
			return NULL;
		}
		/* ISO C has no conversion from an object pointer to a
		 * function pointer, so copy the bytes. */
		memcpy(e[i].to, &at, sizeof(at));
	}
	return library;
}

/* RTLD_NODELETE keeps the library loaded, so the handle is not needed. */
void
library_pin(const char *file)
{
	dlopen(file, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
}
