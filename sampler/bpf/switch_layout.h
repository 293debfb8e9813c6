/* SPDX-License-Identifier: MIT */
/*
 * sampler/bpf/switch_layout.h - the data between the BPF program and the recorder, the same on both sides
 *
 * Way of the data:  switch_events.bpf -> [switch_layout] -> switch_ring -> switch_record
 *
 * Each CPU has a ring of its own, in plain memory that both sides have mapped: the
 * program is never interrupted by itself there, so it needs no lock and no call to
 * put a record in.  Compiled for BPF too: __u32 and the like come from <linux/types.h>.
 */
#ifndef SAMPLER_BPF_SWITCH_LAYOUT_H
#define SAMPLER_BPF_SWITCH_LAYOUT_H

#include <linux/types.h>

#define SWITCH_RING_HEAD_BYTES 4096 /* of struct switch_ring_head, before the records */
#define SWITCH_PIECE_BYTES     4096 /* a user's stack is read in pieces that end where pages do */
#define SWITCH_COPY_BYTES_MAX  65536
#define SWITCH_USER_FRAMES     127 /* where the kernel follows the frame pointers */
#define SWITCH_KERNEL_FRAMES   48
#define SWITCH_REGISTERS_MAX   34 /* words of struct pt_regs that are copied on the machine that has most */
#define SWITCH_NAME_BYTES      16
#define SWITCH_CONTEXT_KERNEL  (-128) /* PERF_CONTEXT_KERNEL: the kernel's part of a callstack follows */
#define SWITCH_STACK_PERIOD_NS 1000000
/* the stack of an interrupt only says of what kind it is, which changes less often */
#define SWITCH_INTERRUPT_PERIOD_NS 10000000
/* stacks of a thread, at different places, that may follow each other faster */
#define SWITCH_STACK_BURST 4
/* added to the time of a late stack, so that no rounding of times changes the order */
#define SWITCH_LATE_NS         1000
#define SWITCH_LONG_WAIT_NS    1000000 /* a longer wait always has its stack, where the kernel has the hook */
#define SWITCH_IDLE_NS         20000   /* a shorter pause of a CPU does not count as idle */
#define SWITCH_IDLE_BUSY       1       /* in the place of a time: the CPU is not idle */
#define SWITCH_THREAD_SLOTS    16384   /* a power of two */
#define SWITCH_PROCESSES_MAX   16384
#define SWITCH_WAKE_RING_BYTES 4096
#define SWITCH_WAKE_SHARES     4 /* shares of a ring: the reader is woken each time that one more is full */

/* At the beginning of each ring.  Positions count bytes since the ring began. */
struct switch_ring_head {
        __u64 head;   /* written by the program: records before it are whole */
        __u64 n_lost; /* by the program */
        /* written by the reader before the program is attached: nothing of this CPU is wanted */
        __u64 is_off;
        /* by the program, with switch_settings.idle: the idle time since a wanted thread came last */
        __u64 idle_ns;
        __u64 idle_since_ns; /* the CPU is idle since then; SWITCH_IDLE_BUSY; 0 = no switch was seen yet */
        __u64 unused[3];
        __u64 tail; /* written by the reader: what lies before it may be overwritten */
};

enum switch_record_kind {
        SWITCH_RECORD_SWITCH = 1,
        SWITCH_RECORD_WAKEUP = 2,
        SWITCH_RECORD_GIL = 3,     /* before the switch of a thread that waits for the lock of its Python */
        SWITCH_RECORD_NUMBER = 4,  /* of a new thread in a PID namespace */
        SWITCH_RECORD_LATE = 5,    /* the stack of a long wait, after the thread came back */
        SWITCH_RECORD_SYSCALL = 6, /* one of many system calls, with the stack of its caller */
};

enum switch_record_flag {
        SWITCH_FLAG_OUT = 1,        /* of a switch: who went is wanted */
        SWITCH_FLAG_INTERRUPT = 1,  /* of a wake-up: an interrupt woke the thread, not a thread */
        SWITCH_FLAG_IN = 2,         /* who comes is wanted */
        SWITCH_FLAG_PREEMPTED = 4,  /* who went could have run on */
        SWITCH_FLAG_SAME_STACK = 8, /* the stack is as in this thread's last copy, which is not old */
        SWITCH_FLAG_STACK = 16,     /* struct switch_stack and the copy follow */
        SWITCH_FLAG_COPY_FULL = 32, /* the copy ended because it has no more room */
        SWITCH_FLAG_32_BIT = 64,    /* the registers are of a 32-bit program */
        SWITCH_FLAG_FRAMES =
                128, /* addresses of the user's frames follow, in place of the copy of the stack */
};

/* Every record begins so; records are multiples of 8 bytes. */
struct switch_record_head {
        __u32 n_bytes; /* all of it */
        __u8 kind;
        __u8 flags;
        __u16 state;   /* of a switch: prev_state, as the kernel has it */
        __u64 time_ns; /* CLOCK_MONOTONIC */
};

struct switch_record_switch {
        struct switch_record_head head;
        __u32 prev_pid, prev_tid, next_pid, next_tid;
        /*
         * run time of prev since it was last switched in, by the scheduler; 0 = not known, or prev is not
         * wanted
         */
        __u64 prev_ran_ns;
        __u32 gone_pid,
                gone_tid;  /* came onto this CPU before prev and left it without a record; 0 = none did */
        __u64 gone_ran_ns; /* how long it ran, as the scheduler counts; 0 = not known */
        /* how long the CPU was idle since a wanted thread left it; 0 also without switch_settings.idle */
        __u64 idle_ns;
};

struct switch_record_wakeup {
        struct switch_record_head head;
        __u32 pid, tid; /* who can run now */
        /* with SWITCH_FLAG_INTERRUPT: the thread that was interrupted; 0 = the idle task */
        __u32 waker_pid, waker_tid;
        char waker_name[SWITCH_NAME_BYTES]; /* empty with SWITCH_FLAG_INTERRUPT */
};

/* The lock while the thread waits, as read from the program's memory, which is hostile. */
struct switch_record_gil {
        struct switch_record_head head;
        __u32 pid, tid;    /* who waits */
        __u64 gil_avma;    /* of the lock */
        __u64 n_switches;  /* so often its holder has changed */
        __u64 interval_us; /* after so long the thread wakes, asks for the lock, and waits on */
        __u32 holder_tid;  /* in the process's PID namespace; 0 = not known */
        __u32 unused;
};

/* An existing process has a new thread. */
struct switch_record_number {
        struct switch_record_head head;
        __u32 pid, tid;
        __u32 own_tid;    /* the thread's number for itself, in its PID namespace */
        __u32 parent_tid; /* who created it */
};

/*
 * The stack of a thread that left its CPU without a copy and stayed away for long: it was read when the
 * thread came back, before it ran on.
 */
struct switch_record_late {
        /* the time is SWITCH_LATE_NS after the switch that brought the thread back */
        struct switch_record_head head;
        __u32 pid, tid;
};

/*
 * A system call that has just returned; it stands for all calls of its thread with its number since the
 * last record.
 */
struct switch_record_syscall {
        struct switch_record_head head;
        __u32 pid, tid;
        __u32 number; /* with SYSCALL_32_BIT */
        __u32 unused;
        __u64 n_calls; /* that it stands for, with itself */
};

/* Follows a record with SWITCH_FLAG_STACK; behind it, the copy of the stack fills the rest of the record. */
struct switch_stack {
        __u32 copy_bytes;   /* 0 = a thread of the kernel's, or nothing could be read */
        __u32 kernel_bytes; /* of `kernel` */
        __u64 registers
                [SWITCH_REGISTERS_MAX]; /* struct pt_regs of this machine; all 0 = a thread of the kernel's */
        __u64 context;                  /* SWITCH_CONTEXT_KERNEL: with `kernel` a chain as perf has it */
        __u64 kernel[SWITCH_KERNEL_FRAMES];
};

enum switch_filter { SWITCH_FILTER_NONE, SWITCH_FILTER_CGROUP, SWITCH_FILTER_PROCESSES };

#define SWITCH_SERIAL_UNKNOWN (~0ULL)

/*
 * A variable of the program: it says whose switches are recorded, and is set before the program is
 * attached.
 */
struct switch_scope {
        __u64 cgroup_id;
        __u32 filter; /* enum switch_filter */
        /*
         * Depth of the cgroup, and the kernel's number of it, which no other cgroup ever has.  The program
         * finds them out when it meets a task of the cgroup.
         */
        __s32 cgroup_level;
        __u64 cgroup_serial; /* SWITCH_SERIAL_UNKNOWN = not yet */
        __u64 began_ns;      /* a CPU that is idle at its first switch is so since then */
};

/* Constants of the program, set before it is loaded: the verifier knows their values. */
struct switch_settings {
        __u64 ring_bytes;     /* of a CPU, a power of two; a record may extend past it */
        __u64 copy_bytes;     /* of a user's stack; less than SWITCH_COPY_BYTES_MAX */
        __u32 has_prev_state; /* sched_switch reports the state (Linux 5.18); else it is in the task */
        __u32 stacks;
        __u32 n_skipped_frames; /* of the kernel's stack: those of the tracing itself */
        __u32 frame_pointers;   /* the user's frames instead of a copy of the stack */
        __u32 python;           /* the table of Python's processes is there */
        __u32 late_stacks;      /* long waits have their stacks: the kernel has sched_exit_tp */
        __u32 idle;             /* the idle time of CPUs is counted */
        __u32 unused;
        __u64 late_bytes; /* of a CPU's second ring, for the stacks of long waits; a power of two */
};

#endif /* SAMPLER_BPF_SWITCH_LAYOUT_H */
