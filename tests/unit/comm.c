/*
 * Communicators: split by color and key; nonblocking exchanges, several at
 * once; and a wait that exceeds its limit ends the run.  Ranks are threads, or
 * with an argument those of mpirun (tests/ranks/comm_mpi.sh).
 */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/mem.h"
#include "comm/watch.h"

#include "tap.h"
#include "tools/threads/threads.h"

enum { LONG = 300000 };		/* bytes; more than a transport buffers */

/* Return byte ${i} of message ${k} from rank ${from}. */
static char
letter(int from, int k, size_t i)
{
	return (char)(1 + from * 31 + k * 7 + (int)(i % 11));
}

static char *
text_of(int from, int k, size_t n)
{
	char *t = xcalloc(n + 1, 1);

	for (size_t i = 0; i < n; i++)
		t[i] = letter(from, k, i);
	return t;
}

static int
differs(const char *got, int from, int k, size_t n)
{
	char *want = text_of(from, k, n);
	int bad = memcmp(got, want, n) != 0;

	free(want);
	return bad;
}

/*
 * Split into even and odd ranks in reverse order.  Then split again without
 * every third rank.
 */
static int
splits(struct comm *c)
{
	struct comm *half = NULL, *some = NULL, *again;
	int color = c->rank % 2, size = (c->size + 1 - color) / 2, bad = 0;
	int64_t *all = xcalloc((size_t)c->size, sizeof(*all)), v = c->rank;

	bad += comm_split(&half, c, color, -c->rank, COMM_WAITS) != 0;
	bad += half->size != size || half->rank != size - 1 - c->rank / 2;
	bad += comm_allgather(half, &v, sizeof(v), all) != 0;
	for (int r = 0; r < size; r++)
		bad += all[r] != 2 * (size - 1 - r) + color;
	/* A split communicator can be duplicated. */
	bad += (again = comm_dup(half, COMM_WAITS)) == NULL;
	bad += again->rank != half->rank || comm_barrier(again) != 0;
	comm_free(again);
	comm_free(half);

	/* Equal keys keep the order of the ranks. */
	bad += comm_split(&some, c, c->rank % 3 == 0 ? -1 : 5, 0,
	    COMM_WAITS) != 0;
	bad += (some == NULL) != (c->rank % 3 == 0);
	if (some != NULL) {
		bad += some->rank != c->rank - c->rank / 3 - 1;
		bad += comm_max(some, &v) != 0;
		bad += v != c->size - 1 - (c->size % 3 == 1);
		comm_free(some);
	}
	free(all);
	return bad;
}

/*
 * Four ring exchanges at once, completed in another order than started, twice.
 */
static int
rounds(struct comm *c)
{
	static const size_t bytes[] = { LONG, 5, 0, LONG / 2 };
	struct exchange x[4] = { { NULL, NULL } };
	char *out[4], *in[4];
	int to = (c->rank + 1) % c->size, bad = 0;
	int from = (c->rank + c->size - 1) % c->size;

	for (int time = 0; time < 2; time++) {
		for (int k = 0; k < 4; k++) {
			struct message send = { to, out[k] = text_of(c->rank, k,
			    bytes[k]), bytes[k] };
			struct message receive = { from, in[k] = xcalloc(bytes[k]
			    + 1, 1), bytes[k] };

			bad += comm_start(c, &x[k], &send, 1, &receive, 1) != 0;
		}
		for (int k = 3; k >= 0; k--) {
			if (k == 1)
				while (comm_test(&x[k]) == 0)
					clock_sleep(1e-4);
			else
				bad += comm_wait(&x[k]) != 0;
			bad += comm_test(&x[k]) != 1;
			bad += differs(in[k], from, k, bytes[k]);
			free(in[k]);
			free(out[k]);
		}
	}
	for (int k = 0; k < 4; k++)
		exchange_free(&x[k], c);
	return bad;
}

/*
 * Use two communicators at once, half of the ranks in the other order, with two
 * messages between the same ranks.
 */
static int
both(struct comm *c)
{
	struct comm *other = comm_dup(c, COMM_WAITS);
	struct exchange x[2] = { { NULL, NULL } };
	char in[2][2][8], *out[2][2];
	int to = (c->rank + 1) % c->size, bad = 0;
	int from = (c->rank + c->size - 1) % c->size;

	for (int i = 0; i < 2; i++) {
		int k = c->rank % 2 ? 1 - i : i;
		struct message send[2], receive[2];

		for (int p = 0; p < 2; p++) {
			out[k][p] = text_of(c->rank, 10 * k + p, 8);
			send[p] = (struct message){ to, out[k][p], 8 };
			receive[p] = (struct message){ from, in[k][p], 8 };
		}
		bad += comm_start(k ? other : c, &x[k], send, 2, receive, 2);
	}
	for (int k = 0; k < 2; k++) {
		bad += comm_wait(&x[k]) != 0;
		for (int p = 0; p < 2; p++) {
			bad += differs(in[k][p], from, 10 * k + p, 8);
			free(out[k][p]);
		}
	}
	exchange_free(&x[0], c);
	exchange_free(&x[1], other);
	comm_free(other);
	return bad;
}

/*
 * Rank 0 tests an exchange before its message is sent.  A barrier on a second
 * communicator tells the sender that rank 0 has tested.
 */
static int
not_yet(struct comm *c)
{
	struct comm *aside = comm_dup(c, COMM_WAITS);
	struct exchange x = { NULL, NULL };
	int last = c->size - 1, word = 0, bad = 0;
	struct message p = { c->rank == 0 ? last : 0, &word, sizeof(word) };

	if (c->rank == 0)
		bad += comm_start(c, &x, NULL, 0, &p, 1) != 0 ||
		    comm_test(&x) != 0;
	bad += comm_barrier(aside) != 0;
	if (c->rank == last) {
		word = 77;
		bad += comm_exchange(c, &p, 1, NULL, 0) != 0;
	}
	if (c->rank == 0)
		bad += comm_wait(&x) != 0 || word != 77;
	exchange_free(&x, c);
	comm_free(aside);
	return bad;
}

/* A nonblocking all-gather of unequal sizes. */
static int
gathers(struct comm *c)
{
	size_t *start = xcalloc((size_t)c->size + 1, sizeof(*start));
	struct exchange x = { NULL, NULL };
	char *all, *mine = text_of(c->rank, 3, 100);
	int bad = 0;

	for (int r = 0; r < c->size; r++)
		start[r + 1] = start[r] + (size_t)(r * r) % 100;
	all = xcalloc(start[c->size] + 1, 1);
	memcpy(all + start[c->rank], mine, start[c->rank + 1] - start[c->rank]);
	bad += comm_allgatherv_start(c, &x, all, start) != 0;
	bad += comm_wait(&x) != 0;
	for (int r = 0; r < c->size; r++)
		bad += differs(all + start[r], r, 3, start[r + 1] - start[r]);
	exchange_free(&x, c);
	free(mine);
	free(all);
	free(start);
	return bad;
}

static const struct { const char *what; int (*run)(struct comm *); } tests[] = {
	{ "split by color and key", splits },
	{ "four exchanges at once", rounds },
	{ "two communicators at once", both },
	{ "an exchange that is not complete", not_yet },
	{ "a nonblocking all-gather", gathers },
};
#define TESTS (sizeof(tests) / sizeof(tests[0]))

struct job { size_t test; int bad; };

static void
rank_main(struct comm *c, void *arg)
{
	struct job *j = arg;

	__atomic_fetch_add(&j->bad, tests[j->test].run(c), __ATOMIC_RELAXED);
}

/* Run all tests on the ranks of mpirun.  A fault on any rank aborts. */
static int
ranks_of_mpi(int argc, char **argv)
{
	struct comm *c = comm_open(&argc, &argv, 600);

	for (size_t i = 0; c != NULL && i < TESTS; i++) {
		int64_t bad = c->size == 1 && tests[i].run != splits ? 0 :
		    tests[i].run(c);

		if (comm_max(c, &bad) != 0 || bad != 0)
			comm_abort(c, EXIT_FAILED);
		if (c->rank == 0)
			puts(tests[i].what);
	}
	comm_close(c);
	return c == NULL;
}

/* ---- a wait that exceeds its limit ---- */

static void
late(struct comm *c, void *arg)
{
	struct exchange x = { NULL, NULL };
	struct comm *part;
	char word;
	struct message p = { 1, &word, 1 };

	(void)arg;
	comm_watch(c, 0.5);
	watch_phase(c->watch, NULL, 1);	/* set-up has another limit */
	comm_split(&part, c, 0, 0, "waiting for a word");
	if (c->rank == 0) {
		comm_start(part, &x, NULL, 0, &p, 1);
		/*
		 * An exchange may take longer than the limit if nobody waits
		 * for it.
		 */
		clock_sleep(2);
		fputs("then ", stderr);
		comm_wait(&x);
	}
	clock_sleep(600);
}

static void
deadline(void)
{
	char said[4096] = "";
	size_t n = 0;
	ssize_t got;
	int end[2], status = 0;
	pid_t child;

	if (pipe(end) != 0 || (child = fork()) < 0) {
		ok(0, "a child process is made");
		return;
	}
	if (child == 0) {
		dup2(end[1], STDERR_FILENO);
		close(end[0]);
		comm_threads(2, late, NULL);
		_exit(0);
	}
	close(end[1]);
	while ((got = read(end[0], said + n, sizeof(said) - 1 - n)) > 0)
		n += (size_t)got;
	close(end[0]);
	waitpid(child, &status, 0);
	is(WIFEXITED(status) ? WEXITSTATUS(status) : -1, EXIT_RANKS,
	    "a wait that exceeds its limit ends the run");
	if (!ok(strstr(said, "then ") != NULL && strstr(said,
	    "waiting for a word") != NULL, "the limit counts from the wait, "
	    "and the message names the communicator"))
		diag("%s", said);
}

int
main(int argc, char **argv)
{
	struct comm *self;

	if (argc > 1)
		return ranks_of_mpi(argc, argv);
	deadline();		/* forks, so run it before threads exist */
	for (size_t i = 0; i < TESTS; i++)
		for (int size = 2; size <= 7; size++) {
			struct job j = { i, 0 };

			comm_threads(size, rank_main, &j);
			ok(j.bad == 0, "%d ranks: %s", size, tests[i].what);
		}
	self = comm_self();
	is(splits(self) + gathers(self), 0,
	    "one rank: splits and all-gathers work");
	comm_free(self);
	return done();
}
