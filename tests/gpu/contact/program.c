/*
 * program NAME [ARGUMENT]...: run the main function of the part NAME, or of the
 * part whose name the program is called by, through a symbolic link.  The
 * Makefile's MAINS(X) has X(NAME) for each part, with _ for -.
 */
#include <stdio.h>
#include <string.h>

#define DECLARE(name) int main_##name(int argc, char **argv);
#define ENTRY(name) { #name, main_##name },

MAINS(DECLARE)

static const struct { const char *name; int (*main)(int argc, char **argv); }
    mains[] = { MAINS(ENTRY) };

enum { COUNT = sizeof(mains) / sizeof(mains[0]) };

/* Return the index of the part with that name, or COUNT if there is none. */
static size_t
program_find(const char *path)
{
	const char *slash = strrchr(path, '/');
	char name[80] = "";
	size_t i = 0;

	strncat(name, slash != NULL ? slash + 1 : path, sizeof(name) - 1);
	for (char *c = name; *c != '\0'; c++)
		if (*c == '-')
			*c = '_';
	while (i < COUNT && strcmp(mains[i].name, name) != 0)
		i++;
	return i;
}

int
main(int argc, char **argv)
{
	size_t i = program_find(argv[0]);

	if (i == COUNT && argc > 1) {
		argc--;
		argv++;
		i = program_find(argv[0]);
	}
	if (i < COUNT)
		return mains[i].main(argc, argv);
	fprintf(stderr, "usage: program NAME [ARGUMENT]..., NAME one of");
	for (i = 0; i < COUNT; i++)
		fprintf(stderr, " %s", mains[i].name);
	fprintf(stderr, "\n");
	return 2;
}
