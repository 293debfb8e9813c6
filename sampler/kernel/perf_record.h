/* SPDX-License-Identifier: MIT */
/*
 * sampler/kernel/perf_record.h - raw bytes of one kernel record -> one typed, checked record
 *
 * Way of the data:  perf_ring -> [perf_record] -> merge
 */
#ifndef SAMPLER_KERNEL_PERF_RECORD_H
#define SAMPLER_KERNEL_PERF_RECORD_H

#include "sampler/kernel/raw_stack.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

/* The sample type that all of our events request; an unwinder and groups of counters add to it. */
#define PERF_RECORD_SAMPLE_TYPE                                                                           \
        (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | \
         PERF_SAMPLE_PERIOD)

#define PERF_RECORD_BUILD_ID_MAX 20

/* One type for PERF_RECORD_*; names of files and threads are borrowed from the record's bytes. */
enum perf_record_kind {
        PERF_RECORD_KIND_SAMPLE,
        PERF_RECORD_KIND_MMAP,
        PERF_RECORD_KIND_COMM,
        PERF_RECORD_KIND_FORK,
        PERF_RECORD_KIND_EXIT,
        PERF_RECORD_KIND_SWITCH,
        PERF_RECORD_KIND_WAKEUP, /* of BPF or a tracepoint, not a kind of the kernel's */
        /* of BPF: the state of a GIL; the next record is the switch of the thread that waits for it */
        PERF_RECORD_KIND_GIL,
        PERF_RECORD_KIND_LATE,    /* of BPF: where a thread waited that came onto its CPU just before */
        PERF_RECORD_KIND_NUMBER,  /* of BPF: a new thread in a PID namespace; its FORK may come after it */
        PERF_RECORD_KIND_SYSCALL, /* of BPF: a system call has returned; `sample`, without an event */
        PERF_RECORD_KIND_PROBE,   /* of BPF: a function begins or ends */
        PERF_RECORD_KIND_KERNEL_CODE, /* the kernel made code, or removed it: KSYMBOL */
        PERF_RECORD_KIND_LOST,
        PERF_RECORD_KIND_LOST_SAMPLES,
        PERF_RECORD_KIND_THROTTLE,
        PERF_RECORD_KIND_OTHER, /* of no interest */
};

/* The settings that determine the bytes of records; the same for all events whose records share a ring. */
struct perf_record_layout {
        uint64_t sample_type;
        uint64_t read_format;    /* with PERF_SAMPLE_READ */
        uint64_t user_registers; /* with PERF_SAMPLE_REGS_USER: attr.sample_regs_user */
};

struct perf_sample {
        uint64_t period;
        struct raw_stack stack;
        const uint8_t *
                counts; /* PERF_SAMPLE_READ: as read_format lays them out; NULL = none.  See group_counts.h */
        size_t counts_bytes;
        const uint8_t *raw; /* PERF_SAMPLE_RAW: the record of a tracepoint; NULL = none */
        size_t raw_bytes;
        uint32_t number; /* SYSCALL: of the call, with SYSCALL_32_BIT; it stands for `period` calls */
};

struct perf_mmap {
        uint64_t start_avma, length_bytes, file_offset_bytes;
        uint64_t time_ns; /* of the record; 0 = the mapping was not reported by a record */
        uint64_t inode;
        uint32_t device_major, device_minor; /* these and the inode are 0 if the build-id is there */
        int64_t written_ns;        /* of a file without a build-id, as file_versions tells; 0 = not known */
        uint32_t inode_generation; /* tells a file from one that had the same inode before; 0 = not known */
        uint8_t build_id[PERF_RECORD_BUILD_ID_MAX];
        uint8_t build_id_bytes; /* 0 = the kernel gives none */
        bool executable;
        bool writable;
        bool was_there; /* before the recording began */
        bool is_shared; /* MAP_SHARED: the mapping shows what others write into the file */
        const char *path;
        size_t path_bytes;
};

/* Code that the kernel made while it ran, as of BPF programs. */
struct perf_kernel_code {
        uint64_t start_avma;
        uint32_t n_bytes;
        bool is_bpf;
        bool is_removed;  /* else it was put there */
        const char *name; /* borrowed from the record's bytes */
        size_t name_bytes;
};

struct perf_record {
        enum perf_record_kind kind;
        uint32_t pid, tid; /* of whom it speaks */
        uint32_t cpu;
        uint64_t time_ns; /* CLOCK_MONOTONIC_RAW */
        uint64_t event;   /* PERF_SAMPLE_IDENTIFIER */
        union {
                struct perf_sample sample;
                struct perf_mmap mmap;
                struct perf_kernel_code kernel_code;
                struct {
                        const char *name;
                        size_t name_bytes;
                        bool exec; /* the name comes from execve(2): a new program in the same process */
                } comm;
                struct {
                        uint32_t parent_pid, parent_tid;
                } fork; /* and exit */
                struct {
                        bool out;       /* off the CPU; else on */
                        bool preempted; /* out, though it could have run on */
                        uint8_t wait;   /* out: enum trace_wait_state */
                        /* of a CPU-wide event: the thread that comes, or that went; 0 = the idle task */
                        uint32_t other_pid, other_tid;
                        bool is_other_known; /* perf reports threads that we cannot see as 0, too */
                        /* out: run time since it was switched in, as the scheduler counts; 0 = not known */
                        uint64_t ran_ns;
                        /* out: the thread that was on the CPU last left some time ago, without a record */
                        bool unseen;
                        /* unseen: how long the thread that came after it ran, at least */
                        uint64_t other_ran_ns;
                        /* in: for how long the CPU was idle since a recorded thread left it */
                        uint64_t idle_ns;
                        /* out: before the recording began: it says nothing about who is on a CPU */
                        bool was_out;
                        /* out: the thread waits where it waited last, see `stack` of that record */
                        bool same_stack;
                        struct raw_stack stack; /* out: where it waits; all zero = not known */
                } context_switch;
                struct {
                        /* with `by_interrupt`: who was interrupted; 0 = the idle task */
                        uint32_t waker_pid, waker_tid;
                        char waker_name[16]; /* NUL-terminated */
                        bool by_interrupt;
                        /* the waker, or the interrupt, is where it was at its previous wake-up */
                        bool same_stack;
                        struct raw_stack stack; /* of the waker, or the interrupt; all zero = not known */
                } wakeup;                       /* a waker made `tid` ready to run */
                struct {
                        uint64_t avma; /* of the lock of a Python interpreter */
                        uint64_t n_switches;
                        uint64_t interval_ns; /* after so long who waits looks again */
                        uint32_t holder_tid;  /* in the process's PID namespace; 0 = not known */
                } gil;
                struct raw_stack late_stack;
                struct {
                        uint32_t own_tid; /* of a new thread: its number for itself, in its PID namespace */
                        uint32_t parent_tid;
                } number;
                struct {
                        uint64_t frame_avma; /* where the return address lies, in this call */
                        uint32_t location;   /* id in LOCATIONS: of the function */
                        bool ends;           /* else it begins */
                        bool is_message;     /* neither: a static probe that stands for itself */
                        bool is_static;      /* a static probe, not a function: it has no frame of its own */
                        bool is_point;       /* a tracepoint of the kernel, */
                        bool is_syscall;     /* of a system call: */
                        uint32_t number;     /* its number, with SYSCALL_32_BIT, if it begins */
                        uint32_t device; /* id in DEVICES: of a span, from `begin_ns` to the record's time */
                        uint64_t begin_ns;
                        const char *text; /* its arguments; borrowed */
                        size_t text_bytes;
                } probe;
                uint64_t n_lost;
        };
};

/*
 * perf_mmap_is_anonymous() - is this memory of no file, where only the program knows what code is there?
 * A file without a name, or in memory, that is mapped shared counts as such memory: a compiler that never
 * has memory both writable and executable (.NET's double mapping) maps one twice.  Loaders map code
 * privately.
 */
bool perf_mmap_is_anonymous(const struct perf_mmap *mmap);

/* True for code of a file that can be written in place, or has no name: a JIT may have written it. */
bool perf_mmap_may_hold_jit_code(const struct perf_mmap *mmap);

/*
 * True for the kernel's page of uprobes: functions return to it while a uretprobe is on them, when the kernel
 * keeps their return addresses, and it has copies of probed instructions, which are executed there.
 */
bool perf_mmap_is_uprobes(const struct perf_mmap *mmap);

/*
 * Is the file called jit-PID.dump, in whatever folder?  A program maps its jitdump to say that it writes one.
 */
bool perf_mmap_is_jitdump(const struct perf_mmap *mmap);

/*
 * perf_record_decode() - decode a record of an event with sample_id_all
 * @layout:  of the events of this ring: PERF_RECORD_SAMPLE_TYPE and its additions
 * Returns 0, or -EBADMSG if the bytes are too few for the record's type.
 */
int perf_record_decode(const uint8_t *bytes, size_t n_bytes, const struct perf_record_layout *layout,
                       struct perf_record *ret_record, struct error *err);

/*
 * Reads the type, PERF_RECORD_*, without the rest of the record.  @n_bytes: at least those of a
 * perf_event_header.
 */
uint32_t perf_record_type(const uint8_t *bytes, size_t n_bytes);

/*
 * perf_record_maps_data() - is it a mapping of data, which are three of four of all mappings?
 * @ret_path:  its file, borrowed from the record's bytes
 * Looks at the record's header and path alone: decoding all of these would take longer than decoding the
 * records that matter.
 */
bool perf_record_maps_data(const uint8_t *bytes, size_t n_bytes, const char **ret_path,
                           size_t *ret_path_bytes);

/*
 * perf_record_decode_waking() - finds the thread that is woken, in a sample of sched:sched_waking
 * @tid_offset_bytes:   where in its record the field lies
 * @ret_in_interrupt:   an interrupt woke it, not the thread that was sampled
 * Returns 0 or -EBADMSG.
 */
int perf_record_decode_waking(const struct perf_sample *sample, size_t tid_offset_bytes, uint32_t *ret_tid,
                              bool *ret_in_interrupt);

#endif /* SAMPLER_KERNEL_PERF_RECORD_H */
