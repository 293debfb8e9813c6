/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/merged_program.h - a fake_program with three threads, and its streams as zone_merge writes them
 *
 * Way of the data:  fake_program -> zone_source -> zone_merge -> event_encoder ->
 *                   event_list -> [merged_program]
 *
 * Anything that is not as expected fails the test.
 */
#ifndef TESTS_UNIT_MERGED_PROGRAM_H
#define TESTS_UNIT_MERGED_PROGRAM_H

#include "format/event_encoder.h"
#include "format/trace_dictionary.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/stacks/stack_builder.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/process_table.h"
#include "sampler/tracks/recording.h"
#include "sampler/zones/zone_merge.h"
#include "sampler/zones/zone_source.h"
#include "tests/unit/event_list.h"
#include "tests/unit/fake_program.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MERGED_PROGRAM_PID     4500000 /* its threads have this number and the next; the kernel's are lower */
#define MERGED_PROGRAM_THREADS 3       /* each with the slot of the same number */

struct merged_program {
        struct trace_dictionary dictionary;
        struct loss_counter losses;
        struct process_table processes;
        struct recorder_pace pace;
        struct recording recording;
        struct zone_source zones;
        struct stack_builder stacks;
        struct event_encoder encoder;
        struct thread_sink sink;
        struct zone_merge merge;
        struct fake_program program;
        struct thread_track *threads[MERGED_PROGRAM_THREADS];
        struct event_list list;
        uint64_t start_ns; /* the events of a test are a few nanoseconds after this */
        unsigned n_flush_asked;
        void (*on_flush)(
                struct merged_program *f); /* or NULL: called while a cycle runs, between pieces of work */
};

/* It starts, and its threads have their slots. */
void merged_program_set_up(struct merged_program *f);
/* The same with another number of the process and of its first thread. */
void merged_program_set_up_as(struct merged_program *f, uint32_t pid);
void merged_program_tear_down(struct merged_program *f);

void merged_program_cycle(struct merged_program *f, uint64_t until_ns, bool final);
/* Appends what was written to `list`. */
void merged_program_read_back(struct merged_program *f);
/* Both, of all there is. */
void merged_program_finish(struct merged_program *f);

/* Event @n of a row in THREADS, 0 = of all; it must be there and have that op. */
const struct trace_event *merged_program_get(const struct merged_program *f, uint32_t thread, size_t n,
                                             enum trace_op op);
void merged_program_expect_no_more(const struct merged_program *f, uint32_t thread, size_t n);
/* A row, which must be there. */
const void *merged_program_row(const struct merged_program *f, enum trace_table table, uint64_t id);
void merged_program_expect_string(const struct merged_program *f, uint64_t id, const char *text);
/* The name of a location. */
void merged_program_expect_name(const struct merged_program *f, uint64_t location, const char *name);
/* Nothing was lost or put right. */
void merged_program_expect_no_loss(const struct merged_program *f);
/* The row in THREADS of a thread, counted from 0. */
uint32_t merged_program_thread_row(const struct merged_program *f, uint32_t i);

/* An event in slot 0, that many nanoseconds after the start: with as many of the words as its kind has. */
void merged_program_put(struct merged_program *f, uint64_t at_ns, enum client_abi_event kind,
                        uint32_t argument, uint64_t word_0, uint64_t word_1);
/* One with a text; before it the word, if its kind has one. */
void merged_program_put_text(struct merged_program *f, uint64_t at_ns, enum client_abi_event kind,
                             uint64_t word_0, const char *text);

#endif /* TESTS_UNIT_MERGED_PROGRAM_H */
