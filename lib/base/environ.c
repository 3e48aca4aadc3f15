/* Environment variables of vt: names of options as variables, and warnings
 * of unknown ones. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/environ.h"
#include "base/fail.h"
#include "base/isa.h"
#include "base/text.h"

extern char **environ;

/* Variables that belong to no option. */
static const char *const others[] = {
	"VT_ISA", "VT_SHARE_DIR",
	"VT_FLIP_BIT", "VT_FAULTS", "VT_PYTHON", "VT_SHARED",	/* tests */
};

/* The options of all commands: a variable that this command does not read
 * may be intended for another one. */
static const struct { const char *name, *commands; } options[] = {
#include "base/option_names.h"
};

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

const char *
environ_name(const char *option, char buf[80])
{
	snprintf(buf, 80, "VT_%s", option);
	for (char *s = buf + 3; *s != '\0'; s++)
		*s = *s == '-' ? '_' : (char)toupper((unsigned char)*s);
	return buf;
}

/* Return 1 if ${name} is the variable ${wanted}.  Otherwise, if its distance
 * is less than ${*least}, remember it in ${best} as the most similar name. */
static int
environ_matches(const char *name, const char *wanted, char best[80], int *least)
{
	int d = text_distance(wanted, name);

	if (d < *least) {
		*least = d;
		snprintf(best, 80, "%s", name);
	}
	return d == 0;
}

/* Warn if no command reads ${variable}, with the most similar name at a
 * distance below 3. */
static void
environ_check_variable(const char *variable, const char *const *own, size_t n)
{
	char best[80] = "", buf[80];
	int least = 3, found = 0;

	for (size_t i = 0; i < LENGTH(others) && !found; i++)
		found = environ_matches(others[i], variable, best, &least);
	for (size_t i = 0; i < n && !found; i++)
		found = environ_matches(environ_name(own[i], buf), variable,
		    best, &least);
	for (size_t i = 0; i < LENGTH(options) && !found; i++)
		found = environ_matches(environ_name(options[i].name, buf),
		    variable, best, &least);
	if (!found)
		warning("the environment sets %s, which nothing reads%s%s%s",
		    text_quote(variable), *best ? " (similar: " : "", best,
		    *best ? ")" : "");
}

static void
environ_check_isa(void)
{
	const char *isa = getenv("VT_ISA");

	for (int i = ISA_BASE; isa != NULL && i < ISAS; i++)
		if (strcmp(isa, isa_name((enum isa)i)) == 0)
			return;
	if (isa != NULL)
		warning("VT_ISA=%s: no such instruction set (wanted base, avx2 or "
		    "avx512)", text_quote(isa));
}

void
environ_check(const char *const *own, size_t n)
{
	for (char **e = environ; e != NULL && *e != NULL; e++) {
		char name[80];
		size_t length = strcspn(*e, "=");

		/* A longer name cannot be an option. */
		if (!text_starts(*e, "VT_") || length >= sizeof(name))
			continue;
		memcpy(name, *e, length);
		name[length] = '\0';
		environ_check_variable(name, own, n);
	}
	environ_check_isa();
}
