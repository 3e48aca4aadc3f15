/*
 * An all-reduce algorithm is chosen by a table of measurements or by rule, and
 * the size of a bucket follows from latency and bandwidth.
 */
#include "base/mem.h"
#include "comm/tuning.h"

#include "tap.h"

static const char text[] =
    "#ranks\thosts\texchange\tbytes\talgorithm\tus\n"
    "8\t2\tfp32\t1024\tnative\t5\n"
    "8\t2\tfp32\t1024\thalving\t10\n"
    "8\t2\tfp32\t1024\tring\t90\n"
    "8\t2\tfp32\t1048576\tring\t1000\n"
    "8\t2\tfp32\t1048576\ttorus\t700\n"
    "8\t2\tfp32\t1048576\thalving\t800\n"
    "8\t2\tbf16\t1024\ttorus\t3\n"
    "8\t1\tfp32\t1024\tring\t1\n";

static const int two[8] = { 0, 0, 0, 0, 4, 4, 4, 4 };

static struct summing
sum(const int *host, int ranks, int wire, size_t bytes, int native)
{
	return (struct summing){ ranks, host, &wires[wire], 4, bytes, native };
}

static const char *
chosen(const struct tuning *t, struct summing s)
{
	const struct algorithm *k = tuning_choose(t, &s);

	return k != NULL ? k->name : NULL;
}

static void
test_table(const struct tuning *t)
{
	const int one[8] = { 0 };

	is_text(chosen(t, sum(two, 8, WIRE_FP32, 2000, 1)), "native",
	    "table: the fastest at the nearest size");
	is_text(chosen(t, sum(two, 8, WIRE_FP32, 2000, 0)), "halving",
	    "table: the fastest of the available algorithms");
	is_text(chosen(t, sum(two, 8, WIRE_FP32, 1 << 30, 1)), "torus",
	    "table: above all sizes the largest counts");
	is_text(chosen(t, sum(two, 8, WIRE_BF16, 1 << 20, 0)), "torus",
	    "table: only rows of the communication dtype count");
	is_text(chosen(t, sum(one, 8, WIRE_FP32, 1 << 20, 0)), "ring",
	    "table: only rows of the number of hosts count");
	ok(chosen(t, sum(two, 4, WIRE_FP32, 4, 1)) == NULL,
	    "table: no row for this number of ranks");
}

static void
test_rule(void)
{
	int *each = xcalloc(128, sizeof(*each)), *one = xcalloc(128,
	    sizeof(*one));
	struct summing s;

	for (int r = 0; r < 128; r++)
		each[r] = r;
	s = sum(two, 8, WIRE_FP32, 1 << 20, 0);
	is_text(tuning_rule(&s)->name, "torus",
	    "rule: several hosts with several ranks take a torus");
	s.bytes = 4096;
	is_text(tuning_rule(&s)->name, "halving",
	    "rule: short vectors take halving");
	s = sum(each, 64, WIRE_FP32, 1 << 20, 0);
	is_text(tuning_rule(&s)->name, "ring",
	    "rule: one rank per host takes a ring");
	s = sum(one, 64, WIRE_FP32, 1 << 20, 0);
	is_text(tuning_rule(&s)->name, "ring", "rule: one host takes a ring");
	s = sum(each, 65, WIRE_FP32, 1 << 20, 0);
	is_text(tuning_rule(&s)->name, "halving",
	    "rule: more than 64 ranks take halving");
	free(each);
	free(one);
}

static void
test_bucket(const struct tuning *t)
{
	struct summing s = sum(two, 8, WIRE_FP32, 1 << 20, 0);
	const struct tuning none = { 0 };

	/* 1 KiB takes 90 us; further 1023 KiB take 910 us. */
	is((long long)tuning_bucket(t, &s, algorithm_find("ring"), 1),
	    (long long)(90.0 * 1023 * 1024 / 910),
	    "bucket: latency times bandwidth of the table");
	is((long long)tuning_bucket(t, &s, algorithm_find("torus"), 4),
	    8 << 18, "bucket: 256 KiB per step without a bandwidth");
	is((long long)tuning_bucket(&none, &s, algorithm_find("ring"), 1),
	    14 << 18, "bucket: more steps take more bytes");
}

static void
test_text(const struct tuning *t)
{
	static const char *const bad[] = {
		"#ranks\thosts\texchange\tbytes\talgorithm\n1\t1\tfp32\t4\tring\n",
		"#ranks\thosts\texchange\tbytes\talgorithm\tus\n"
		    "1\t2\tfp32\t4\tring\t1\n",
		"#ranks\thosts\texchange\tbytes\talgorithm\tus\n"
		    "1\t1\tint8\t4\tring\t1\n",
		"#ranks\thosts\texchange\tbytes\talgorithm\tus\n"
		    "1\t1\tfp32\t4\ttree\t1\n",
	};
	char *again = tuning_text(t);

	is_text(again, text, "a table prints as it was read");
	free(again);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct table *table = table_parse("bad", bad[i]);
		struct tuning u;

		is(tuning_parse(&u, table), -1, "a malformed table is refused");
		table_free(table);
	}
}

int
main(void)
{
	struct table *table = table_parse("text", text);
	struct tuning t;

	is(tuning_parse(&t, table), 0, "a table is read");
	table_free(table);
	test_table(&t);
	test_rule();
	test_bucket(&t);
	test_text(&t);
	tuning_free(&t);
	return done();
}
