#ifndef BASE_RENAMED_H
#define BASE_RENAMED_H

/*
 * Options that had another name in an earlier release.  On the command line
 * and in the environment an old name is refused with the present one.  Files
 * that have it are still read: configuration files, and the settings stored in
 * runs and checkpoints.
 */
struct renamed_option {
	const char *command, *old, *now;	/* letters have one character */
};

/* All of them; the last one has a NULL command. */
extern const struct renamed_option renamed_options[];

/*
 * renamed_now(command, old): return the present name of an option of ${command}
 * that was called ${old}, or NULL if no option was.  The result is static.
 */
const char *renamed_now(const char *command, const char *old);

/*
 * renamed_settings(command, text): return the configuration file ${text} of
 * ${command} with present names.  The caller frees it.
 */
char *renamed_settings(const char *command, const char *text);

#endif
