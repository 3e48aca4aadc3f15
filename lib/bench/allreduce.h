#ifndef BENCH_ALLREDUCE_H
#define BENCH_ALLREDUCE_H

/*
 * allreduce_traffic(bytes, ranks):
 * Return the bytes that each rank must send at least, 2 b (P - 1) / P for
 * vectors of b bytes on P ranks.  Half of it is the reduce-scatter, half the
 * all-gather.  Divided by the time it is the bus bandwidth, which is comparable
 * to the bandwidth of the links for any P.
 * Source: nccl-tests, doc/PERFORMANCE.md.
 */
double allreduce_traffic(double bytes, int ranks);

#endif
