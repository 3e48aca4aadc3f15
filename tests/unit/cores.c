/* How many threads a rank computes with, wherever the launcher bound it. */
#include "comm/cores.h"

#include "tap.h"

enum { MOST = 8 };

/* Rank ${rank} of ${host} may run on processors first to last. */
static struct place
at(const char *host, int first, int last)
{
	struct place p = { 0 };

	snprintf(p.host, sizeof(p.host), "%s", host);
	for (int i = first; i <= last; i++)
		CPU_SET(i, &p.cpus);
	return p;
}

int
main(void)
{
	struct place p[MOST];
	struct comm *self = comm_self();

	for (int r = 0; r < MOST; r++)
		p[r] = at("a", 0, 63);
	is(cores_share(p, 1, 0), 64, "alone on 64 processors");
	is(cores_share(p, 8, 3), 8, "eight ranks that may run everywhere");
	is(cores_share(p, 3, 2), 21, "three ranks");
	for (int r = 0; r < 4; r++)
		p[r] = at("a", r / 2 * 32, r / 2 * 32 + 31);
	is(cores_share(p, 4, 1), 16, "two ranks bound to each of two sockets");
	for (int r = 0; r < 4; r++)
		p[r] = at("a", r * 8, r * 8 + 7);
	is(cores_share(p, 4, 3), 8, "ranks with processors of their own");
	p[0] = at("a", 0, 3);
	p[1] = at("a", 0, 11);
	is(cores_share(p, 2, 1), 10, "ranks that share some");
	p[1] = at("b", 0, 3);
	is(cores_share(p, 2, 1), 4, "other hosts do not count");
	for (int r = 0; r < MOST; r++)
		p[r] = at("a", 0, 1);
	is(cores_share(p, 8, 7), 1, "never less than one");
	ok(cores(self) >= 1, "this process has one");
	comm_free(self);
	return done();
}
