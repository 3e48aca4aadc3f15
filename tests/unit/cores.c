/*
 * The number of threads of a rank is its share of the processors that the
 * launcher bound it to, and of the CPU quota of its control groups.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/mem.h"
#include "comm/cores.h"

#include "tap.h"

enum { MAX = 8 };

/*
 * Return the place of a rank on ${host} bound to processors ${first} to
 * ${last}.
 */
static struct rank_place
at(const char *host, int first, int last)
{
	struct rank_place p = { 0 };

	snprintf(p.host, sizeof(p.host), "%s", host);
	for (int i = first; i <= last; i++)
		CPU_SET(i, &p.cpus);
	return p;
}

/*
 * Quotas in trees of files like /proc and /sys: ${groups} is /proc/self/cgroup,
 * and ${file}, below /sys/fs/cgroup, has the content beside it.
 */
static void
test_quotas(void)
{
	static const struct { const char *what, *groups, *file[6]; double want; }
	row[] = {
		{ "version 2", "0::/a\n", { "a/cpu.max", "150000 100000" }, 1.5 },
		{ "version 2 without a limit", "0::/a\n",
		    { "a/cpu.max", "max 100000" }, -1 },
		{ "an ancestor has less", "0::/a/b/c\n", { "a/cpu.max",
		    "100000 50000", "a/b/c/cpu.max", "900000 100000" }, 2 },
		{ "a container's own root", "0::/\n",
		    { "cpu.max", "50000 100000" }, 0.5 },
		{ "a path of the container's host", "0::/docker/1f/job\n",
		    { "job/cpu.max", "300000 100000", "cpu.max",
		    "400000 100000" }, 3 },
		{ "version 1", "4:cpu,cpuacct:/a\n2:memory:/b\n0::/\n",
		    { "cpu,cpuacct/a/cpu.cfs_quota_us", "250000",
		    "cpu,cpuacct/a/cpu.cfs_period_us", "100000" }, 2.5 },
		{ "version 1 without a limit", "1:cpu:/a\n",
		    { "cpu/a/cpu.cfs_quota_us", "-1",
		    "cpu/a/cpu.cfs_period_us", "100000" }, -1 },
		{ "version 1, an ancestor", "1:cpu:/a/b\n",
		    { "cpu/a/cpu.cfs_quota_us", "70000",
		    "cpu/a/cpu.cfs_period_us", "10000",
		    "cpu/a/b/cpu.cfs_quota_us", "-1" }, 7 },
		{ "cpu of version 2 beside version 1",
		    "3:memory:/m\n0::/a\n", { "unified/a/cpu.max",
		    "600000 100000" }, 6 },
		{ "another controller", "3:cpuset:/a\n",
		    { "cpuset/a/cpu.cfs_quota_us", "100000",
		    "cpuset/a/cpu.cfs_period_us", "100000" }, -1 },
		{ "no groups", "", { NULL }, -1 },
	};
	char root[] = "/tmp/vt-cores.XXXXXX";

	if (mkdtemp(root) == NULL)
		exit(1);
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		char *text = xprintf("mkdir -p %s/proc/self && printf '%s' "
		    ">%s/proc/self/cgroup", root, row[i].groups, root);
		int made = system(text) == 0;

		free(text);
		for (int k = 0; k < 6 && row[i].file[k] != NULL; k += 2) {
			text = xprintf("f=%s/sys/fs/cgroup/%s; mkdir -p "
			    "\"${f%%/*}\" && echo %s >\"$f\"", root,
			    row[i].file[k], row[i].file[k + 1]);
			made &= system(text) == 0;
			free(text);
		}
		ok(made && cpus_quota(root, NULL) == row[i].want, "quota: %s",
		    row[i].what);
		text = xprintf("rm -r %s/*", root);
		made = system(text);
		free(text);
	}
	rmdir(root);
}

int
main(void)
{
	struct rank_place p[MAX];
	struct comm *self = comm_self();

	for (int r = 0; r < MAX; r++)
		p[r] = at("a", 0, 63);
	is(cores_share(p, 1, 0), 64, "one rank alone has all 64 processors");
	is(cores_share(p, 8, 3), 8, "eight unbound ranks have an eighth each");
	is(cores_share(p, 3, 2), 21,
	    "three unbound ranks have a third each, rounded down");
	for (int r = 0; r < 4; r++)
		p[r] = at("a", r / 2 * 32, r / 2 * 32 + 31);
	is(cores_share(p, 4, 1), 16,
	    "two ranks bound to one socket have half of it each");
	for (int r = 0; r < 4; r++)
		p[r] = at("a", r * 8, r * 8 + 7);
	is(cores_share(p, 4, 3), 8,
	    "ranks bound to separate processors have all of them");
	p[0] = at("a", 0, 3);
	p[1] = at("a", 0, 11);
	is(cores_share(p, 2, 1), 10,
	    "ranks that overlap share the common processors");
	p[1] = at("b", 0, 3);
	is(cores_share(p, 2, 1), 4, "ranks on other hosts do not count");
	for (int r = 0; r < MAX; r++)
		p[r] = at("a", 0, 1);
	is(cores_share(p, 8, 7), 1, "a rank has at least one thread");
	for (int r = 0; r < MAX; r++) {
		p[r] = at("a", 0, 63);
		p[r].quota = r < 6 ? 19.5 : 5;
		p[r].group = r < 6 ? 1 : 2;
	}
	is(cores_share(p, 1, 0), 19, "a quota is rounded down");
	is(cores_share(p, 8, 0), 3, "six ranks share the quota of their group");
	is(cores_share(p, 8, 7), 2, "two ranks share that of another");
	test_quotas();
	ok(cores_threads(self) >= 1, "this process has at least one thread");
	comm_free(self);
	return done();
}
