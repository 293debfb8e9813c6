/* SPDX-License-Identifier: MIT */
/*
 * sampler/switches/switch_record.h - a record of the BPF program -> the typed records that perf's records
 * become as well
 *
 * Way of the data:  switch_ring -> [switch_record] -> switch_source
 */
#ifndef SAMPLER_SWITCHES_SWITCH_RECORD_H
#define SAMPLER_SWITCHES_SWITCH_RECORD_H

#include "sampler/kernel/perf_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

#define SWITCH_RECORD_WORDS_MAX 34  /* registers in the order of perf */
#define SWITCH_RECORD_CHAIN_MAX 192 /* addresses of a chain that is put together */

/* The contents of one record: a thread had gone, a thread goes, and then one comes; or a thread was woken. */
struct switch_record {
        struct perf_record records[3]; /* in their order; time_ns is CLOCK_MONOTONIC still */
        unsigned n_records;
        uint64_t registers[SWITCH_RECORD_WORDS_MAX]; /* what raw_stack.registers points to */
        uint64_t chain[SWITCH_RECORD_CHAIN_MAX]; /* memory for raw_stack.chain, with frames of the user's */
};

/*
 * switch_record_decode() - decode one record
 * @bytes:       stay borrowed by the stacks in @ret_record
 * @cpu:         the CPU whose ring it comes from
 * @ret_record:  stays where it is as long as it is used: it points into itself
 * Returns 0, or -EBADMSG if the bytes are no record.
 */
int switch_record_decode(const uint8_t *bytes, size_t n_bytes, uint32_t cpu, struct switch_record *ret_record,
                         struct error *err);

/* prev_state of sched_switch -> an enum trace_wait_state. */
uint8_t switch_record_wait(uint32_t state, bool preempted);

#endif /* SAMPLER_SWITCHES_SWITCH_RECORD_H */
