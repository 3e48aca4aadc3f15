/*
 * Fault injection by a library to preload: the k-th call of one kind fails, or
 * the process gets a signal at it.  seccomp turns the system calls in a table
 * into SIGSYS.  So calls from inside the C library (stdio, directories) are
 * caught like all others, and a program runs at nearly full speed.
 *
 *   FAULT=KIND:K:HOW    HOW is the name of an error, "short" for half a read or
 *                       write, or the name of a signal; K+ is that call and all
 *                       later ones
 *   FAULT=count         write the number of calls of each kind to FAULT_LOG
 *   FAULT=trace         write each rename, link, write and sync to FAULT_LOG
 *   FAULT_LOG=FILE      file to append to; gets "hit" when the fault occurs
 *   FAULT_RANK=N        only in this rank under mpirun
 *
 * Writes to standard error never fail, since commands report faults there.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "fault.h"

#ifndef __x86_64__
#error "how this processor makes system calls is not known here"
#endif

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *const names[KINDS] = {
	"open", "read", "write", "sync", "rename", "link", "unlink", "mkdir",
	"truncate", "close", "lock", "list", "stat", "mmap", "malloc", "thread"
};

static const struct { int number; enum kind kind; } table[] = {
	{ SYS_open, OPEN }, { SYS_openat, OPEN },
	{ SYS_read, READ }, { SYS_pread64, READ }, { SYS_readv, READ },
	{ SYS_write, WRITE }, { SYS_pwrite64, WRITE }, { SYS_writev, WRITE },
	{ SYS_fsync, SYNC }, { SYS_fdatasync, SYNC },
	{ SYS_rename, RENAME }, { SYS_renameat, RENAME },
	{ SYS_renameat2, RENAME }, { SYS_link, LINK }, { SYS_linkat, LINK },
	{ SYS_unlink, UNLINK }, { SYS_unlinkat, UNLINK }, { SYS_rmdir, UNLINK },
	{ SYS_mkdir, MKDIR }, { SYS_mkdirat, MKDIR },
	{ SYS_ftruncate, TRUNCATE }, { SYS_truncate, TRUNCATE },
	{ SYS_fallocate, TRUNCATE }, { SYS_close, CLOSE }, { SYS_flock, LOCK },
	{ SYS_getdents64, LIST }, { SYS_stat, STAT }, { SYS_lstat, STAT },
	{ SYS_fstat, STAT }, { SYS_newfstatat, STAT }, { SYS_access, STAT },
	{ SYS_mmap, MMAP }, { SYS_mremap, MMAP }, { SYS_mprotect, MMAP },
};

static const struct { const char *name; int error, signal; } ways[] = {
	{ "EACCES", EACCES, 0 }, { "EAGAIN", EAGAIN, 0 }, { "EINTR", EINTR, 0 },
	{ "EIO", EIO, 0 }, { "EMFILE", EMFILE, 0 }, { "ENOLCK", ENOLCK, 0 },
	{ "ENOMEM", ENOMEM, 0 }, { "ENOSPC", ENOSPC, 0 }, { "EPERM", EPERM, 0 },
	{ "short", -1, 0 }, { "KILL", 0, SIGKILL }, { "TERM", 0, SIGTERM },
	{ "INT", 0, SIGINT }, { "USR1", 0, SIGUSR1 },
};

static enum { OFF, FAIL, TALLY, TRACE } mode;
static int kind, way;			/* the calls that fail, and how */
static long first, last;
static long calls[KINDS];
static const char *log_path;

/*
 * raw(number, arguments): Make a system call from the one address that the
 * filter allows.  Return its result, or -errno.
 */
long raw(long, long, long, long, long, long, long);
extern const char raw_end[];
__asm__(".text\n"
	"raw:	mov %rdi, %rax\n"
	"	mov %rsi, %rdi\n"
	"	mov %rdx, %rsi\n"
	"	mov %rcx, %rdx\n"
	"	mov %r8, %r10\n"
	"	mov %r9, %r8\n"
	"	mov 8(%rsp), %r9\n"
	"	syscall\n"
	"raw_end: ret\n");

static void
say(const char *format, ...)
{
	char line[9000];
	va_list args;
	long n, fd;

	if (log_path == NULL)
		return;
	va_start(args, format);
	n = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	fd = raw(SYS_open, (long)log_path, O_WRONLY | O_APPEND | O_CREAT, 0666,
	    0, 0, 0);
	raw(SYS_write, fd, (long)line, n, 0, 0, 0);
	raw(SYS_close, fd, 0, 0, 0, 0, 0);
}

int
fault_hit(enum kind k)
{
	long n = __atomic_add_fetch(&calls[k], 1, __ATOMIC_RELAXED);

	if (mode != FAIL || (int)k != kind || n < first || n > last)
		return 0;
	if (n == first)
		say("hit\n");
	if (ways[way].signal != 0)
		raw(SYS_kill, raw(SYS_getpid, 0, 0, 0, 0, 0, 0),
		    ways[way].signal, 0, 0, 0, 0);
	return ways[way].error;
}

static void
trace(enum kind k, long a, long b)
{
	char link[32], path[4096];
	long n;

	if (k == RENAME || k == LINK) {
		say("%s\t%s\t%s\n", names[k], (char *)a, (char *)b);
	} else if (k == SYNC || k == WRITE) {
		snprintf(link, sizeof(link), "/proc/self/fd/%ld", a);
		n = raw(SYS_readlink, (long)link, (long)path, sizeof(path) - 1,
		    0, 0, 0);
		say("%s\t%.*s\n", names[k], (int)(n > 0 ? n : 0), path);
	}
}

static void
on_call(int sig, siginfo_t *info, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	int number = info->si_syscall, failed = 0;
	long size = r[REG_RDX];
	size_t i = 0;

	(void)sig;
	while (table[i].number != number)
		i++;
	if (table[i].kind != WRITE || r[REG_RDI] != STDERR_FILENO) {
		if (mode == TRACE)
			trace(table[i].kind, r[REG_RDI], r[REG_RSI]);
		failed = fault_hit(table[i].kind);
	}
	if (failed < 0 && size > 1)
		size /= 2;
	r[REG_RAX] = failed > 0 ? -failed : raw(number, r[REG_RDI], r[REG_RSI],
	    size, r[REG_R10], r[REG_R8], r[REG_R9]);
}

/* Turn the calls in the table into signals, except those that raw() makes. */
static int
catch_calls(void)
{
	enum { HEAD = 4, CALLS = COUNT(table), END = HEAD + CALLS };
	uint64_t ours = (uint64_t)(uintptr_t)raw_end;
	struct sock_filter f[END + 2];
	struct sock_fprog program = { END + 2, f };
	struct sigaction a = { .sa_sigaction = on_call,
		.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART };

#define LOAD(field) (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, \
	    offsetof(struct seccomp_data, field))
#define IF_EQUAL(value, yes, no) (struct sock_filter) \
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (yes), (no))
	/* The low half of the address suffices to distinguish raw(). */
	f[0] = LOAD(instruction_pointer);
	f[1] = IF_EQUAL((uint32_t)ours, END - 2, 0);
	f[2] = LOAD(arch);
	f[3] = LOAD(nr);
	for (int i = 0; i < CALLS; i++)
		f[HEAD + i] = IF_EQUAL((uint32_t)table[i].number,
		    CALLS - i, 0);
	f[END] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
	    SECCOMP_RET_ALLOW);
	f[END + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
	    SECCOMP_RET_TRAP);
	return sigaction(SIGSYS, &a, NULL) != 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
}

static int
find(const char *text, size_t n, size_t size, const char *const *name,
    size_t stride)
{
	for (size_t i = 0; i < size; i++) {
		const char *s = *(const char *const *)((const char *)name +
		    i * stride);

		if (strlen(s) == n && strncmp(s, text, n) == 0)
			return (int)i;
	}
	return -1;
}

/* Parse KIND:K[+]:HOW.  Return 0, or -1 if it is malformed. */
static int
parse(const char *s)
{
	size_t n = strcspn(s, ":");
	char *end;

	if ((kind = find(s, n, KINDS, names, sizeof(names[0]))) < 0 ||
	    s[n] != ':')
		return -1;
	first = last = strtol(s + n + 1, &end, 10);
	if (*end == '+') {
		last = LONG_MAX;
		end++;
	}
	if (*end != ':' || first < 1)
		return -1;
	way = find(end + 1, strlen(end + 1), COUNT(ways), &ways[0].name,
	    sizeof(ways[0]));
	return way < 0 ? -1 : 0;
}

__attribute__((constructor)) static void
start(void)
{
	const char *want = getenv("FAULT"), *rank = getenv("FAULT_RANK");
	const char *mine = getenv("OMPI_COMM_WORLD_RANK");

	if (want == NULL || (rank != NULL && (mine == NULL ||
	    strcmp(rank, mine) != 0)))
		return;
	log_path = getenv("FAULT_LOG");
	mode = strcmp(want, "count") == 0 ? TALLY :
	    strcmp(want, "trace") == 0 ? TRACE : FAIL;
	if ((mode == FAIL && parse(want) != 0) || catch_calls() != 0) {
		fprintf(stderr, "fault: %s: cannot do that\n", want);
		_exit(125);
	}
}

__attribute__((destructor)) static void
end(void)
{
	for (int k = 0; k < KINDS && mode == TALLY; k++)
		say("%s %ld\n", names[k], calls[k]);
}
