#ifndef BENCH_ALLREDUCE_H
#define BENCH_ALLREDUCE_H

/*
 * allreduce_traffic(bytes, ranks):
 * The bytes that each of ${ranks} must send, at least, so that all have the sum
 * of their vectors of ${bytes}: each element's ${ranks} parts meet somewhere,
 * (P - 1) / P of the vector leaves each rank for that, and as much again for
 * the sums to come back.  Divided by the time it is the bus bandwidth, which
 * can be held against that of the links whatever P is (after nccl-tests,
 * doc/PERFORMANCE.md).
 */
double allreduce_traffic(double bytes, int ranks);

#endif
