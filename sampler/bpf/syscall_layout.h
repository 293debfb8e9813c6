/* SPDX-License-Identifier: MIT */
/*
 * sampler/bpf/syscall_layout.h - the sums of system calls that the BPF program keeps, the same on both sides
 *
 * Way of the data:  syscall_hooks in switch_events.bpf -> [syscall_layout] -> syscall_sums
 *
 * There is one sum for each thread and system call, and no record for each call.  Compiled for BPF too.
 */
#ifndef SAMPLER_BPF_SYSCALL_LAYOUT_H
#define SAMPLER_BPF_SYSCALL_LAYOUT_H

#include <linux/types.h>

#define SYSCALL_SUMS_MAX   65536   /* threads times their system calls; later ones share sums by call alone */
#define SYSCALL_NUMBER_MAX 511     /* larger numbers are no calls, and count under this one */
#define SYSCALL_32_BIT     512     /* added to the number of a call of a 32-bit program */
#define SYSCALL_NUMBERS    1024    /* of both kinds */
#define SYSCALL_ERRNO_MAX  4095    /* results from -4095 to -1 are errors */
#define SYSCALL_SAMPLE_NS  1000000 /* from one stack to the next of a thread's calls of one kind, about */
#define SYSCALL_SAMPLE_GAP (1u << 20) /* calls, at most, from one sample to the next */

struct syscall_key {
        __u32 thread; /* counted from 1 in the order of first calls, since the kernel uses TIDs again */
        __u32 number;
};

struct syscall_sum {
        __u64 n_calls, n_errors;   /* that have returned */
        __u64 time_ns, longest_ns; /* from entry to return, waits included */
        __u64 n_bytes;    /* sum of the positive results: bytes, of the calls that return a number of bytes */
        __u64 sampled_ns; /* when a stack was copied last */
        __u64 n_since;    /* calls since then */
        __u32 gap, left;  /* calls between samples, on average; calls left until the next sample */
        __u32 pid, tid;   /* 0 = of several threads */
};

/* A variable of the program's. */
struct syscall_state {
        __u64 n_threads;
        __u64 n_missed;   /* calls that are in no sum, for want of memory for a thread */
        __u32 unborn_pid; /* calls of this process do not count before an execve(2) succeeds; 0 = none */
        __u32 unused;
};

#endif /* SAMPLER_BPF_SYSCALL_LAYOUT_H */
