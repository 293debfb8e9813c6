/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/kernel_record.h - the bytes of kernel records, as a ring holds them
 *
 * Way of the data:  unit test -> [kernel_record] -> fake_ring, perf_record_decode()
 *
 * Each function appends one whole record to a buffer: header, body, and the
 * identity that sample_id_all puts after everything that is no sample.
 */
#ifndef TESTS_UNIT_KERNEL_RECORD_H
#define TESTS_UNIT_KERNEL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_buffer;
struct perf_kernel_code;
struct perf_mmap;

/* Who, when, where and of which event. */
struct kernel_record_identity {
        uint32_t pid, tid;
        uint64_t time_ns;
        uint32_t cpu;
        uint64_t event;
};

struct kernel_record_sample {
        struct kernel_record_identity identity;
        uint64_t ip_avma, period;
        bool in_kernel;
        const uint64_t *chain; /* NULL = an event without PERF_SAMPLE_CALLCHAIN */
        uint64_t n_chain;
        const uint64_t *counts; /* as read_format lays them out; NULL = without PERF_SAMPLE_READ */
        size_t n_counts;
        const uint64_t *registers; /* NULL = without PERF_SAMPLE_REGS_USER */
        size_t n_registers;
        uint64_t registers_abi; /* PERF_SAMPLE_REGS_ABI_*; of none there are no registers */
        const uint8_t *copy;    /* NULL = without PERF_SAMPLE_STACK_USER */
        size_t copy_bytes;      /* room for the copy, a multiple of 8 */
        uint64_t copy_valid;    /* of them are the stack's */
        const void *raw;        /* NULL = an event without PERF_SAMPLE_RAW */
        uint32_t raw_bytes;
};

void kernel_record_add_sample(struct byte_buffer *out, const struct kernel_record_sample *sample);
/* With the build-id if @mmap has one, else with device and inode; the path ends as NUL and padding. */
void kernel_record_add_mmap2(struct byte_buffer *out, const struct kernel_record_identity *identity,
                             const struct perf_mmap *mmap);
void kernel_record_add_comm(struct byte_buffer *out, const struct kernel_record_identity *identity,
                            const char *name, bool exec);
void kernel_record_add_kernel_code(struct byte_buffer *out, const struct kernel_record_identity *identity,
                                   const struct perf_kernel_code *code);
/* @identity is that of the new thread, though the kernel signs the record as the parent. */
void kernel_record_add_fork(struct byte_buffer *out, const struct kernel_record_identity *identity,
                            uint32_t parent_pid, uint32_t parent_tid);
/* Signed by a thread that has no number any more, as the kernel does at times. */
void kernel_record_add_exit(struct byte_buffer *out, const struct kernel_record_identity *identity);
void kernel_record_add_switch(struct byte_buffer *out, const struct kernel_record_identity *identity,
                              bool leaves, bool preempted);
/* By an event of a CPU: one thread goes as @other comes, or the other way round. */
void kernel_record_add_cpu_switch(struct byte_buffer *out, const struct kernel_record_identity *identity,
                                  bool leaves, uint32_t other_pid, uint32_t other_tid);
void kernel_record_add_lost_samples(struct byte_buffer *out, const struct kernel_record_identity *identity,
                                    uint64_t n_lost);
void kernel_record_add_lost(struct byte_buffer *out, const struct kernel_record_identity *identity,
                            uint64_t n_lost);
/* A record of any type without a body of interest: PERF_RECORD_THROTTLE, unknown types. */
void kernel_record_add_other(struct byte_buffer *out, const struct kernel_record_identity *identity,
                             uint32_t type);

#endif /* TESTS_UNIT_KERNEL_RECORD_H */
