/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/fake_kernel_side.h - the kernel's side of a merge whose rings a test fills
 *
 * Way of the data:  kernel_record, made by a test -> [fake_kernel_side] -> kernel_side
 */
#ifndef TESTS_UNIT_FAKE_KERNEL_SIDE_H
#define TESTS_UNIT_FAKE_KERNEL_SIDE_H

#include "base/byte_buffer.h"
#include "format/trace_dictionary.h"
#include "sampler/merge/kernel_side.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/process_table.h"
#include "sampler/tracks/recording.h"
#include "tests/unit/fake_events.h"
#include "tests/unit/kernel_record.h"

#include <stddef.h>
#include <stdint.h>

#define FAKE_PID  4600000 /* numbers of the kernel are lower: /proc never has this one */
#define FAKE_CODE 0x400000

struct fake_kernel_side {
        struct event_set events;
        struct trace_dictionary dictionary;
        struct process_table processes;
        struct loss_counter losses;
        struct recorder_pace pace; /* a run may last for as long as it likes */
        struct recording recording;
        struct kernel_side source;
        struct byte_buffer record; /* on its way into a ring */
};

/* Call stacks go by frame pointers.  @n_rows_max: of a table of the dictionary; 0 = as many as usual */
void fake_kernel_side_open(struct fake_kernel_side *f, uint32_t n_rows_max);
void fake_kernel_side_close(struct fake_kernel_side *f);

/* A record of a thread of FAKE_PID. */
struct kernel_record_identity fake_kernel_side_at(uint32_t tid, uint64_t time_ns);

/* Puts the record that was just made into a ring. */
void fake_kernel_side_put(struct fake_kernel_side *f, size_t ring);

/* Takes all records up to a moment; the test has failed if that fails. */
void fake_kernel_side_run(struct fake_kernel_side *f, uint64_t until_ns);

#endif /* TESTS_UNIT_FAKE_KERNEL_SIDE_H */
