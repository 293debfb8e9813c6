/* SPDX-License-Identifier: MIT */
/*
 * sampler/rights/perf_access.h - what this machine and this user can record
 *
 * Way of the data:  kernel settings -> [perf_access] -> event_set, `hyprof doctor`
 *
 * Found out by trying, not by reading settings: a container, a security module
 * or a capability can make the truth differ from what the settings say.  The
 * settings are read as well, to explain the outcome.
 */
#ifndef SAMPLER_RIGHTS_PERF_ACCESS_H
#define SAMPLER_RIGHTS_PERF_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_attr;

struct perf_access {
        int user_error;   /* 0, or -errno of opening a software event on one's own user code */
        int kernel_error; /* the same with kernel code */
        /* the same for samples of the cycle counter, user code; see perf_access_only_counts() */
        int hardware_error;
        int build_id_error;   /* for build-ids in mapping records (kernel 5.12) */
        int stack_copy_error; /* for copies of registers and stack with samples of the cycle counter */
        long paranoid;        /* kernel.perf_event_paranoid; LONG_MIN = cannot be read */
        long kptr_restrict;   /* kernel.kptr_restrict; likewise */
        long max_sample_hz;   /* kernel.perf_event_max_sample_rate; likewise */
        long mlock_kib;       /* kernel.perf_event_mlock_kb, for each CPU; likewise */
        bool kernel_symbols;  /* /proc/kallsyms shows addresses to this process */
        int map_files_error;  /* of opening a file in /proc/PID/map_files: the way to deleted files */
        bool is_root;         /* effective user 0 */
        bool has_perfmon;     /* CAP_PERFMON, or CAP_SYS_ADMIN, which held it before Linux 5.8 */
        bool locks_memory;    /* CAP_IPC_LOCK: rings are not counted */
        bool is_filtered;     /* a seccomp filter is active, as in containers */
};

/* Why an event cannot be opened, and what helps: one line each. */
struct perf_refusal {
        char reason[200];
        char remedy[200]; /* a command; "" = none is known */
};

/*
 * perf_access_shows_addresses() - whether the head of /proc/kallsyms has addresses; hidden ones are zeroes
 * @kallsyms:  `n_bytes`, and a 0 behind them
 * Up to Linux 6.14, x86-64's first symbols are of per-CPU memory: 0, then small numbers.
 */
bool perf_access_shows_addresses(const char *kallsyms, size_t n_bytes);

/*
 * perf_access_find_mapped_file() - finds the first mapping of a file; heaps and the like have no file
 * @maps:  the text of /proc/self/maps, with a 0 behind it
 */
bool perf_access_find_mapped_file(const char *maps, unsigned long *ret_start, unsigned long *ret_end);

/* Tries and reads everything; takes about a millisecond.  Never fails: unknown results are marked as such. */
void perf_access_read(struct perf_access *ret_access);

/*
 * kernel.perf_event_max_sample_rate as it is now: the kernel lowers it where interrupts take
 * long; LONG_MIN = unknown.
 */
long perf_access_max_sample_hz(void);

/*
 * Whether the processor's counters count and do not interrupt: the kernel says so (-EOPNOTSUPP, as of RISC-V
 * without Sscofpmf), or no interrupt came (-EIO).
 */
bool perf_access_only_counts(const struct perf_access *access);

/*
 * counter_probe_run() - let a counter run on this thread until its first interrupt stops it
 * Some virtual machines and boards have counters that advance and never interrupt: sampled by one of these, a
 * recording has no samples, and nothing says why.
 * @attr:    what to open, `disabled`, with a period
 * @period:  after so many counts the interrupt is due
 * Spins for some milliseconds; without an interrupt three times for 50 ms, since an emulated machine may be
 * that late or not be scheduled.  One spin takes 100 ms at most.
 * Returns 0 if it stopped, or did not count enough to be judged; -EIO if it counts on and
 * on; -errno of opening it.
 */
int counter_probe_run(const struct perf_event_attr *attr, uint64_t period);

/*
 * perf_access_explain() - finds the words for a refusal, the same wherever they are shown
 * @code:          -errno of perf_event_open(2)
 * @wants_kernel:  whether the event includes the kernel's code
 */
void perf_access_explain(const struct perf_access *access, int code, bool wants_kernel,
                         struct perf_refusal *ret_refusal);

/* The same for copies of stacks, where stack_copy_error is not 0. */
void perf_access_explain_copies(const struct perf_access *access, struct perf_refusal *ret_refusal);

#endif /* SAMPLER_RIGHTS_PERF_ACCESS_H */
