/* Warnings of environment variables that have no effect. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/environ.h"
#include "base/fail.h"
#include "base/isa.h"
#include "base/text.h"

extern char **environ;

static const char *const known[] = {
	"VT_ISA", "VT_SHARE_DIR",
	"VT_FLIP_BIT", "VT_FAULTS", "VT_PYTHON", "VT_SHARED",	/* tests */
};

/* Warn if nothing reads ${variable}, with the most similar name at a distance
 * below 3. */
static void
environ_check_variable(const char *variable)
{
	const char *best = NULL;
	int least = 3;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		int d = text_distance(known[i], variable);

		if (d == 0)
			return;
		if (d < least) {
			least = d;
			best = known[i];
		}
	}
	warning("the environment sets %s, which nothing reads%s%s%s",
	    text_quote(variable), best != NULL ? " (similar: " : "",
	    best != NULL ? best : "", best != NULL ? ")" : "");
}

static void
environ_check_isa(void)
{
	const char *isa = getenv("VT_ISA");

	for (int i = ISA_BASE; isa != NULL && i < ISAS; i++)
		if (strcmp(isa, isa_name((enum isa)i)) == 0)
			return;
	if (isa != NULL)
		warning("VT_ISA=%s: no such instruction set (wanted base, "
		    "avx2 or avx512)", text_quote(isa));
}

void
environ_check(void)
{
	for (char **e = environ; e != NULL && *e != NULL; e++) {
		char name[80];
		size_t length = strcspn(*e, "=");

		if (!text_starts(*e, "VT_") || length >= sizeof(name))
			continue;
		memcpy(name, *e, length);
		name[length] = '\0';
		environ_check_variable(name);
	}
	environ_check_isa();
}
