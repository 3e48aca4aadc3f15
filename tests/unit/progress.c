/*
 * The progress line: one program at a time draws it on a terminal, and messages
 * replace it.  An estimate of a run's time is a sentence, with a range where the
 * times scatter.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/progress.h"
#include "train/loop/estimate.h"

#include "tap.h"

#define PATIENCE 120		/* seconds until a child counts as hanging */

static char seen[1 << 20];	/* the output on the terminal */
static size_t n_seen;
static int master;

static void
nap(void)
{
	poll(NULL, 0, 20);
}

/* Read new output of the terminal. */
static void
look(void)
{
	ssize_t n;

	while (n_seen < sizeof(seen) - 1 && (n = read(master, seen + n_seen,
	    sizeof(seen) - 1 - n_seen)) > 0)
		n_seen += (size_t)n;
	seen[n_seen] = '\0';
}

/*
 * Wait until ${text} appears in the output after offset ${from}.  Return its
 * address, or NULL after PATIENCE.
 */
static const char *
wait_for(const char *text, size_t from)
{
	double start = clock_seconds();
	const char *at;

	do {
		nap();
		look();
		at = strstr(seen + from, text);
	} while (at == NULL && clock_seconds() - start < PATIENCE);
	return at;
}

static volatile sig_atomic_t stop;

static void
on_term(int number)
{
	(void)number;
	stop = 1;
}

/*
 * Start a program ${name} with standard error on ${terminal}, which draws its
 * name until SIGTERM.  After ${least} seconds it prints ${message} unless NULL,
 * and then writes a byte to ${tell}.
 */
static pid_t
command(const char *terminal, const char *name, int tell, double least,
    const char *message)
{
	pid_t pid = fork();
	double start;
	int told = 0;

	if (pid != 0)
		return pid;
	signal(SIGTERM, on_term);
	dup2(open(terminal, O_RDWR | O_NOCTTY), STDERR_FILENO);
	program_start(name);
	progress_start(PROGRESS_AUTO);
	start = clock_seconds();
	while (!stop) {
		progress_line("[%s draws]", name);
		if (!told && clock_seconds() - start >= least) {
			if (message != NULL)
				warning("%s", message);
			told = write(tell, "x", 1) == 1;
		}
		nap();
	}
	progress_end();
	_exit(0);
}

static void
test_estimates(void)
{
	static const struct { struct estimate e; const char *want; } row[] = {
		{ { .steps = 1500, .training = 400, .fast = 0.9, .slow = 1.1 },
		    "about 7 min for 1500 steps" },
		{ { .steps = 1500, .training = 400, .fast = 0.3, .slow = 1.65 },
		    "2 to 11 min, as the timed steps vary: 7 min for 1500 steps" },
		{ { .steps = 1, .training = 90, .fast = 0.5, .slow = 2,
		    .validations = 1, .validating = 9, .validates = 1 },
		    "50 s to 3 min, as the timed steps vary: 90 s for 1 step and "
		    "9 s for 1 validation" },
		{ { .steps = 20, .training = 7200, .fast = 1, .slow = 1,
		    .validations = 1, .validating = 60 },
		    "about 2.0 h: 2.0 h for 20 steps and 60 s for precise BN" },
	};
	char text[256];

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		is_text(estimate_text(&row[i].e, text), row[i].want, row[i].want);
}

int
main(void)
{
	const char *terminal, *at;
	size_t before;
	pid_t first, second;
	int told[2];
	char c;

	test_estimates();
	setenv("TERM", "xterm", 1);
	master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
	/*
	 * Keep the terminal open: otherwise reads fail while no program has it
	 * open.
	 */
	if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0 ||
	    (terminal = ptsname(master)) == NULL ||
	    open(terminal, O_RDWR | O_NOCTTY) < 0 || pipe(told) != 0) {
		printf("1..0 # SKIP no pseudo-terminals here\n");
		return 0;
	}
	first = command(terminal, "first", told[1], 0, NULL);
	ok(wait_for("[first draws]", 0) != NULL, "the first program draws");
	ok(read(told[0], &c, 1) == 1, "the first program runs");
	second = command(terminal, "second", told[1], 1, "a message");
	ok(read(told[0], &c, 1) == 1,
	    "a second program has tried to draw for a second");
	at = wait_for("second: warning: a message", 0);
	ok(strstr(seen, "[second draws]") == NULL,
	    "the second program draws nothing");
	ok(at != NULL && at - seen >= 4 && memcmp(at - 4, "\r\033[K", 4) == 0,
	    "the message of the second program replaces the line");
	ok(wait_for("[first draws]", n_seen) != NULL,
	    "the line of the first program is drawn again");
	kill(first, SIGKILL);
	waitpid(first, NULL, 0);
	look();
	before = n_seen;
	ok(wait_for("[second draws]", before) != NULL,
	    "after the first is killed, the second program draws");
	kill(second, SIGTERM);
	waitpid(second, NULL, 0);
	look();
	ok(strstr(seen + before, "[first draws]") == NULL,
	    "the killed program draws no more");
	ok(n_seen >= 4 && memcmp(seen + n_seen - 4, "\r\033[K", 4) == 0,
	    "at the end the line is erased");
	return done();
}
