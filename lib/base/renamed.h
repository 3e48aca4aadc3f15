#ifndef BASE_RENAMED_H
#define BASE_RENAMED_H

/*
 * Options that had another name in an earlier release.  On the command line and
 * in the environment, an old name is an error that gives the present one.
 * Files with old names are still read: configuration files, and the settings
 * stored in runs and checkpoints.
 */
struct renamed_option {
	const char *command, *old, *now;	/* old: a name or a letter */
};

/* All renamed options.  The last row has a NULL command. */
extern const struct renamed_option renamed_options[];

/*
 * renamed_now(command, old):
 * Return the present name of the option of ${command} that was called ${old},
 * or NULL if there was none.  The result is static.
 */
const char *renamed_now(const char *command, const char *old);

/*
 * renamed_settings(command, text):
 * Return a copy of the configuration file ${text} of ${command} with present
 * names.  The caller frees it.
 */
char *renamed_settings(const char *command, const char *text);

#endif
