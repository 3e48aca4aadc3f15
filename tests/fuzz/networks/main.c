/*
 * fuzz-networks [-px] [-n COUNT] [-s SEED] [-j JOBS] [-r TRIES] [-c CONFIG]...
 * [FILE]...: check random networks, and print each that shows a fault, reduced,
 * with the command that shows it again.  At the end print a table.  Exit 1 if
 * there was a fault.
 *
 *   -n COUNT    check this many networks (0: until a signal)
 *   -s SEED     begin with network number SEED (1)
 *   -j JOBS     check this many at a time (1)
 *   -r TRIES    check at most this many smaller networks of each fault (600),
 *               and five times as many of all faults
 *   -x          end at the first fault
 *   -p          print network SEED only
 *   -c CONFIG   check this configuration only; may be repeated.  "list" lists
 *               those of this machine
 *   FILE        check this printed network, and do not reduce it
 *
 * Each check runs in a process of its own: a fault may end it, and the
 * instruction set is chosen once in a process.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"

#include "fuzz/networks/check.h"
#include "fuzz/networks/shrink.h"

enum { SECONDS = 120 };

static const struct config {
	const char *name;
	int gpu;
	enum precision precision;
	const char *isa;
	/* Check one of ${every} networks: the stand-in is slow. */
	int every, first;
} configs[] = {
	{ "cpu-base-fp32", 0, PRECISION_FP32, "base", 1, 0 },
	{ "cpu-avx2-fp32", 0, PRECISION_FP32, "avx2", 1, 0 },
	{ "cpu-avx512-fp32", 0, PRECISION_FP32, "avx512", 1, 0 },
	{ "cpu-avx512-bf16", 0, PRECISION_BF16, "avx512", 1, 0 },
	{ "cpu-all-bf16", 0, PRECISION_BF16, "", 1, 0 },
	{ "cuda-fp32", 1, PRECISION_FP32, "", 3, 0 },
	{ "cuda-bf16", 1, PRECISION_BF16, "", 3, 1 },
	{ "cuda-fp16", 1, PRECISION_FP16, "", 3, 2 },
};
enum { CONFIGS = sizeof(configs) / sizeof(configs[0]) };

/* Counts, in memory that all processes share. */
struct tally {
	uint64_t next;
	long invalid, done, tries;	/* tries: of reductions */
	int stopped;			/* by a signal or -x */
	long ran[CONFIGS], refused[CONFIGS], vague[CONFIGS], found[CONFIGS];
	long faults[CONFIGS][CHECK_KINDS];
	long ops[CONFIGS][OP_KINDS];
};

static struct tally *tally;
static struct check *shared;		/* of this lane */
static int used[CONFIGS], errors, tries = 600, first_only;

#define COUNT(x) __atomic_add_fetch(&(x), 1, __ATOMIC_RELAXED)

static void
main_stop(int signal)
{
	(void)signal;
	tally->stopped = 1;
}

static void *
main_share(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die(2, "cannot share memory");
	return p;
}

/* ---- one check ---- */

/* Set the text of a crash: the last lines of standard error. */
static void
main_read_errors(struct check *c)
{
	char text[4096];
	ssize_t n = pread(errors, text, sizeof(text) - 1, 0);
	char *line;

	if (n <= 0)
		return;
	text[n] = '\0';
	/* The first line of a sanitizer or of the stand-in, or any. */
	if ((line = strstr(text, "ERROR")) == NULL &&
	    (line = strstr(text, "error:")) == NULL &&
	    (line = strstr(text, "Bail out")) == NULL)
		line = text;
	line[strcspn(line, "\n")] = '\0';
	snprintf(c->text + strlen(c->text), sizeof(c->text) - strlen(c->text),
	    ": %.300s", line);
}

/* Check ${n} in a process of its own. */
static struct check
main_check(const struct random_net *n, int config)
{
	const struct config *k = &configs[config];
	int status;
	pid_t child;

	*shared = (struct check){ .gpu = k->gpu, .precision = k->precision,
		.isa = k->isa };
	if (ftruncate(errors, 0) != 0)
		die(2, "cannot truncate a file");
	fflush(NULL);
	if ((child = fork()) < 0)
		die(2, "cannot fork");
	if (child == 0) {
		signal(SIGINT, SIG_IGN);
		dup2(errors, STDERR_FILENO);
		dup2(errors, STDOUT_FILENO);
		/* A loop takes processor time; a lock does not. */
		setrlimit(RLIMIT_CPU, &(struct rlimit){ SECONDS, SECONDS });
		alarm(20 * SECONDS);
		check_net(n, shared);
		_exit(0);
	}
	while (waitpid(child, &status, 0) < 0)
		;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 ||
	    shared->state == CHECK_DIED) {
		shared->state = CHECK_FOUND;
		shared->kind = CHECK_CRASH;
		if (WIFSIGNALED(status))
			snprintf(shared->where, sizeof(shared->where),
			    "signal %d", WTERMSIG(status));
		else
			snprintf(shared->where, sizeof(shared->where),
			    "status %d", WEXITSTATUS(status));
		snprintf(shared->text, sizeof(shared->text), "%s",
		    shared->where);
		main_read_errors(shared);
	}
	return *shared;
}

/* ---- faults ---- */

struct main_fault { struct check c; int config; };

static int
main_fails(const struct random_net *n, void *arg)
{
	const struct main_fault *f = arg;
	struct check c;

	if (COUNT(tally->tries) > 5 * tries)
		return 0;
	c = main_check(n, f->config);
	return !tally->stopped && c.state == CHECK_FOUND && c.kind == f->c.kind &&
	    (c.kind != CHECK_TASK || strcmp(c.where, f->c.where) == 0);
}

/* Print ${n} as a file. */
static void
main_print(const struct random_net *n)
{
	static char text[NET_LINES * NET_LINE];

	printf("# clips %d\n# frames %d\n# side %d\n", n->clips, n->frames,
	    n->side);
	if (n->repeats)
		printf("# repeats 1\n");
	if (n->soft)
		printf("# soft 1\n");
	if (n->freeze[0] != '\0')
		printf("# freeze %s\n", n->freeze);
	printf("# seed %llu\n%s", (unsigned long long)n->seed,
	    random_net_text(n, text, sizeof(text)));
}

/* Print the commands that show ${c} with the file ${name} of ${n}. */
static void
main_print_commands(const struct random_net *n, const struct check *c,
    const struct config *k, const char *name)
{
	printf("build/tests/fuzz-networks -c %s %s\n", k->name, name);
	if (k->gpu)
		return;
	printf("vt-schedule -f --batch=%d --frames=%d --crop=%d --bn-size=%d "
	    "--lr=0.001 --epochs=1 --milestones=none -o fuzz.tsv\n",
	    2 * n->clips, n->frames, n->side, n->clips);
	if (k->isa[0] != '\0')
		printf("VT_ISA=%s ", k->isa);
	printf("vt-train %s -q -i SET -m ./%s --schedule=fuzz.tsv%s%s%s",
	    c->kind == CHECK_TASK ? "--parity" : "-o fuzz-out --log-every=1",
	    name, k->precision == PRECISION_BF16 ? " --precision=bf16" : "",
	    n->freeze[0] != '\0' ? " --freeze=" : "", n->freeze);
	if (c->kind == CHECK_TASK)
		printf(" -j%d\n", 1 + (int)(n->seed % 3));
	else if (c->kind == CHECK_THREADS || c->kind == CHECK_REFUSAL)
		printf("    # with each of -j1 to -j3\n");
	else
		printf("    # also with --device=ref\n");
}

static void
main_report(const struct random_net *n, const struct check *c, int config)
{
	struct main_fault f = { *c, config };
	struct random_net small = *n;
	char name[64];

	printf("# network %llu, %s, after %ld networks: %s: %s\n",
	    (unsigned long long)n->seed, configs[config].name, tally->done,
	    check_names[c->kind], c->text);
	fflush(stdout);
	shrink_net(&small, main_fails, &f, tries);
	f.c = main_check(&small, config);
	snprintf(name, sizeof(name), "fuzz-%llu.net",
	    (unsigned long long)n->seed);
	flockfile(stdout);
	printf("# reduced: %s: %s\n", check_names[f.c.kind], f.c.text);
	printf("cat >%s <<N\n", name);
	main_print(&small);
	printf("N\n");
	main_print_commands(&small, &f.c, &configs[config], name);
	funlockfile(stdout);
	fflush(stdout);
}

static void
main_count(const struct random_net *n, const struct check *c, int config)
{
	unsigned kinds = random_net_kinds(n);

	if (c->state == CHECK_REFUSED)
		COUNT(tally->refused[config]);
	if (c->state != CHECK_FINE && c->state != CHECK_FOUND)
		return;
	COUNT(tally->ran[config]);
	for (int k = 0; k < OP_KINDS; k++)
		if (kinds & 1u << k)
			COUNT(tally->ops[config][k]);
	if (c->vague)
		COUNT(tally->vague[config]);
	if (c->state == CHECK_FOUND) {
		COUNT(tally->found[config]);
		COUNT(tally->faults[config][c->kind]);
	}
}

/* Check network ${n} in all configurations. */
static void
main_check_all(const struct random_net *n, int reduce, int sample)
{
	for (int k = 0; k < CONFIGS && !tally->stopped; k++) {
		struct check c;

		if (!used[k] || (sample && n->seed % (uint64_t)configs[k].every !=
		    (uint64_t)configs[k].first))
			continue;
		c = main_check(n, k);
		if (tally->stopped)
			return;
		if (c.state == CHECK_INVALID) {
			COUNT(tally->invalid);
			if (!reduce)
				printf("# %s\n", c.text);
			break;
		}
		main_count(n, &c, k);
		if (c.state == CHECK_FOUND && reduce)
			main_report(n, &c, k);
		tally->stopped |= c.state == CHECK_FOUND && first_only;
		if (!reduce)
			printf("# %s: %s%s%s\n", configs[k].name,
			    c.state == CHECK_FOUND ? check_names[c.kind] :
			    c.state == CHECK_REFUSED ? "refused" : "fine",
			    c.text[0] != '\0' ? ": " : "", c.text);
	}
	if (COUNT(tally->done) % 1000 == 0 && reduce) {
		printf("# %ld networks\n", tally->done);
		fflush(stdout);
	}
}

/* ---- all networks ---- */

static void
main_lane(uint64_t end)
{
	static struct random_net n;
	uint64_t seed;

	shared = main_share(sizeof(*shared));
	errors = memfd_create("errors", 0);
	while (!tally->stopped && ((seed = __atomic_fetch_add(&tally->next, 1,
	    __ATOMIC_RELAXED)) < end || end == 0)) {
		random_net_make(&n, seed);
		main_check_all(&n, 1, 1);
	}
}

/* Find the configurations of this machine. */
static void
main_probe(int *there)
{
	static struct random_net n = { .clips = 1, .frames = 1, .side = 8,
		.lines = 3, .line = { "input x out=3", "avgpool m in=x over=thw",
		    "linear fc in=m out=classes" } };

	for (int k = 0; k < CONFIGS; k++)
		there[k] = main_check(&n, k).state != CHECK_ABSENT;
}

static void
main_table(void)
{
	long found = 0;

	printf("# %ld networks, %ld of them invalid\n# %-10s", tally->done,
	    tally->invalid, "");
	for (int k = 0; k < CONFIGS; k++)
		if (used[k])
			printf(" %15s", configs[k].name);
	for (int o = 0; o < OP_KINDS; o++) {
		printf("\n# %-10s", op_types[o].name);
		for (int k = 0; k < CONFIGS; k++)
			if (used[k])
				printf(" %15ld", tally->ops[k][o]);
	}
#define ROW(what, field) do { \
		printf("\n# %-10s", what); \
		for (int k = 0; k < CONFIGS; k++) \
			if (used[k]) \
				printf(" %15ld", field); \
	} while (0)
	ROW("networks", tally->ran[k]);
	ROW("refused", tally->refused[k]);
	ROW("vague", tally->vague[k]);
	for (int i = 1; i < CHECK_KINDS; i++) {
		ROW(check_names[i], tally->faults[k][i]);
	}
	for (int k = 0; k < CONFIGS; k++)
		found += tally->found[k];
	printf("\n# each on the CPU with 1, 2 and 3 threads; found: %ld\n",
	    found);
}

static int
main_config(const char *name)
{
	for (int k = 0; k < CONFIGS; k++)
		if (strcmp(configs[k].name, name) == 0)
			return used[k] = 1;
	return 0;
}

int
main(int argc, char **argv)
{
	uint64_t count = 60, end;
	int jobs = 1, o, all = 1, list = 0, print = 0, there[CONFIGS];
	long found = 0;
	pid_t lane[64];

	program_start(argv[0]);
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	shared = main_share(sizeof(*shared));
	tally = main_share(sizeof(*tally));
	errors = memfd_create("errors", 0);
	tally->next = 1;
	while ((o = getopt(argc, argv, "n:s:j:c:r:px")) != -1)
		switch (o) {
		case 'n': count = strtoull(optarg, NULL, 10); break;
		case 's': tally->next = strtoull(optarg, NULL, 10); break;
		case 'j': jobs = atoi(optarg); break;
		case 'r': tries = atoi(optarg); break;
		case 'x': first_only = 1; break;
		case 'p': print = 1; break;
		case 'c':
			all = 0;
			if (strcmp(optarg, "list") == 0)
				list = 1;
			else if (!main_config(optarg))
				die(2, "no configuration %s (see -c list)", optarg);
			break;
		default: return 2;
		}
	if (print) {
		static struct random_net n;

		random_net_make(&n, tally->next);
		main_print(&n);
		return 0;
	}
	main_probe(there);
	for (int k = 0; k < CONFIGS; k++) {
		if (list && there[k])
			puts(configs[k].name);
		used[k] = (all || used[k]) && there[k];
	}
	if (list)
		return 0;
	signal(SIGINT, main_stop);
	signal(SIGTERM, main_stop);
	for (int i = optind; i < argc; i++) {
		static struct random_net n;

		if (random_net_read(&n, argv[i]) != 0)
			return 2;
		main_check_all(&n, 0, 0);
	}
	end = count > 0 ? tally->next + count : 0;
	jobs = optind < argc ? 0 : jobs > 64 ? 64 : jobs;
	fflush(stdout);
	for (int i = 0; i < jobs; i++)
		if ((lane[i] = fork()) == 0) {
			main_lane(end);
			fflush(stdout);
			_exit(0);
		}
	for (int i = 0; i < jobs; i++)
		while (waitpid(lane[i], NULL, 0) < 0)
			;
	if (jobs > 0)
		main_table();
	for (int k = 0; k < CONFIGS; k++)
		found += tally->found[k];
	return found > 0;
}
