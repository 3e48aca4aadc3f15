#!/bin/sh
# tests/unit/comm.c passes on MPI's communicator, on 2, 3 and 5 ranks. Where ranks
# may not read each other's memory, messages have the same bits and one note says so.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
have_mpi || skip_all "no MPI"

for np in 2 3 5; do
	check_same "$np ranks: split, start, test and wait work" \
		"$(sed -n 's/^	{ "\(.*\)", .* },$/\1/p' tests/unit/comm.c)" \
		"$(timeout -k 5 300 mpirun -np $np "$BUILD/tests/comm" mpi 2>"$T/err" || cat "$T/err")"
done

# As the default filter of Docker does.
cat >"$T/refuse.c" <<'C'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	struct sock_filter rule[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { 4, rule };

	if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
		return 77;
	execvp(argv[1], argv + 1);
	return 77;
}
C
# summed COMMAND...: sum vectors of 1 MiB on two ranks, and check the sums.
summed() {
	timeout -k 5 120 "$@" mpirun -np 2 "$BUILD/vt-bench" allreduce --min=1M --max=1M --runs=1
}
if cc -o "$T/refuse" "$T/refuse.c" 2>/dev/null && "$T/refuse" true; then
	check_exit "ranks that may not read each other's memory" 0 summed "$T/refuse"
	check_same "one note says so, and MPI nothing" "1 note: ranks may not read each other's memory here" \
		"$(wc -l <"$T/err" | tr -d ' ') $(sed 's/^vt-bench: //; s/,.*//' "$T/err")"
	OMPI_MCA_btl_vader_single_copy_mechanism=none
	export OMPI_MCA_btl_vader_single_copy_mechanism
	check_exit "the user's own choice" 0 summed "$T/refuse"
	check_same "it needs no note" "" "$(cat "$T/err")"
	unset OMPI_MCA_btl_vader_single_copy_mechanism
	check_exit "ranks that may read" 0 summed env
	check_same "there is no note" "" "$(cat "$T/err")"
else
	skip "ranks that may not read each other's memory" "no compiler, or no seccomp"
fi
plan
