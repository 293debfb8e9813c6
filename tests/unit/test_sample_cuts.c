/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/kernel_side.c: a run says whether callstacks were cut in it, so that the
 * recorder looks again soon
 */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "sampler/kernel/unwind_request.h"
#include "sampler/merge/kernel_side.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/stacks/stack_unwinder.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/process_table.h"
#include "sampler/tracks/recording.h"
#include "symbolize/elf/elf_image.h"
#include "tests/unit/cfi_builder.h"
#include "tests/unit/fake_code_tables.h"
#include "tests/unit/fake_events.h"
#include "tests/unit/fake_ring.h"
#include "tests/unit/kernel_record.h"
#include "tests/unit/unit_test.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Stacks are made as those of that machine, and a recorder unwinds those of its own. */
#define IS_X86_64 (unwind_machine_own() == &unwind_machine_x86_64)

#define CODE   UINT64_C(0x7f0000000000) /* of the module that has a table */
#define LATE   UINT64_C(0x7e0000000000) /* of another one, whose table comes later */
#define PLAIN  0x2000                   /* CFA = sp + 16 */
#define ROOT   0x2100                   /* it has no caller */
#define WORDS  64
#define COPIED 8 /* words of a copy that is too short */

static const uint32_t sample_events[] = { 1 };

struct fixture {
        struct cfi_builder builder;
        struct elf_image_part segment;
        struct unwind_module module;
        struct code_tables tables;
        struct event_set events;
        struct trace_dictionary dictionary;
        struct process_table processes;
        struct loss_counter losses;
        struct recorder_pace pace;
        struct recording recording;
        struct kernel_side source;
        struct byte_buffer record;
        struct kernel_record_identity identity;
        uint64_t registers[24]; /* in the order of perf */
        uint64_t words[WORDS];  /* the stack */
};

static void run(struct fixture *f)
{
        struct error err = ERROR_NONE;

        ck_assert_msg(kernel_side_run(&f->source, UINT64_MAX, &err) == 0, "%s", err.text);
}

/* The thread is known, and where its code lies. */
static void map_code(struct fixture *f)
{
        const struct thread_track *thread;
        uint32_t row;

        kernel_record_add_comm(&f->record, &f->identity, "program", false);
        fake_ring_take(&f->events.rings[FAKE_TRACKER_0], &f->record);
        run(f);
        thread = process_table_find_thread(&f->processes, f->identity.tid);
        ck_assert_ptr_nonnull(thread);
        for (uint32_t module = MODULE_GOOD; module <= MODULE_LATE; module++) {
                uint64_t avma = module == MODULE_GOOD ? CODE : LATE;
                struct address_range range = { .start_avma = avma,
                                               .end_avma = avma + 0x100000,
                                               .module = module };

                struct trace_module name = { .inode = module };

                ck_assert_int_ge(trace_dictionary_add(&f->dictionary, TRACE_TABLE_MODULES, &name, &row), 0);
                ck_assert_uint_eq(row, module);
                ck_assert_int_eq(address_space_add(&thread->process->space, &range), 0);
        }
}

static void set_up(struct fixture *f)
{
        const struct unwind_request options = { .mode = UNWIND_AUTO };

        memset(f, 0, sizeof(*f));
        f->recording = (struct recording){ .dictionary = &f->dictionary,
                                           .events = &f->events,
                                           .sample_events = sample_events,
                                           .pace = &f->pace,
                                           .losses = &f->losses,
                                           .processes = &f->processes };
        recorder_pace_init(&f->pace, 0);
        f->pace.kernel_max_ns = UINT64_MAX;
        f->pace.throttle.share_max = 1;
        cfi_builder_init(&f->builder);
        cfi_builder_add_cie(&f->builder, &(struct cfi_builder_cie){ .version = 1 },
                            CFI_BYTES(0x0c, 7, 8, 0x90, 1));
        cfi_builder_add_fde(&f->builder, PLAIN, 0x40, CFI_BYTES(0x0e, 16));
        cfi_builder_add_fde(&f->builder, ROOT, 0x40, CFI_BYTES(0x07, 16));
        f->segment = (struct elf_image_part){ .file_bytes = 0x100000 };
        f->module = (struct unwind_module){ .table = cfi_builder_table(&f->builder, &unwind_machine_x86_64),
                                            .segments = &f->segment,
                                            .n_segments = 1 };
        f->tables = (struct code_tables){ .module = &f->module,
                                          .late_answer = CODE_TABLES_COMING,
                                          .after_waiting = CODE_TABLES_COMING };
        fake_events_open(&f->events,
                         PERF_RECORD_SAMPLE_TYPE | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
        f->events.layout.user_registers = unwind_machine_x86_64.perf_registers;
        trace_dictionary_init(&f->dictionary, 1000);
        process_table_init(&f->processes, &f->dictionary);
        ck_assert_int_eq(
                stack_unwinder_new(&options, &f->tables, &f->pace, &f->losses, &f->recording.unwinder, NULL),
                0);
        ck_assert_int_eq(kernel_side_init(&f->source, &f->recording), 0);
        f->identity = (struct kernel_record_identity){ .pid = (uint32_t)getpid(),
                                                       .tid = (uint32_t)getpid(),
                                                       .time_ns = 10,
                                                       .event = FAKE_EVENT_TRACKER };
        map_code(f);
}

static void tear_down(struct fixture *f)
{
        kernel_side_deinit(&f->source);
        process_table_deinit(&f->processes);
        stack_unwinder_free(f->recording.unwinder);
        trace_dictionary_deinit(&f->dictionary);
        event_set_close(&f->events);
        byte_buffer_deinit(&f->record);
        unwind_table_free(f->module.table);
        cfi_builder_deinit(&f->builder);
}

static void set_register(struct fixture *f, uint8_t number, uint64_t value)
{
        const struct unwind_machine *m = &unwind_machine_x86_64;
        size_t at = 0;

        for (unsigned bit = 0; bit < m->n_perf; bit++) {
                if (!(m->perf_registers >> bit & 1))
                        continue;
                if (m->perf_to_dwarf[bit] == number)
                        f->registers[at] = value;
                at++;
        }
}

/* A sample, twelve calls below the root, the first of them from @code; @n words of its stack are copied. */
static void put_sample(struct fixture *f, uint64_t code, size_t n)
{
        struct kernel_record_sample sample = {
                .period = 1,
                .ip_avma = CODE + PLAIN,
                .registers = f->registers,
                .n_registers = (size_t)__builtin_popcountll(unwind_machine_x86_64.perf_registers),
                .registers_abi = PERF_SAMPLE_REGS_ABI_64,
                .copy = (const uint8_t *)f->words,
                .copy_bytes = n * sizeof(uint64_t),
                .copy_valid = n * sizeof(uint64_t),
        };

        for (int i = 0; i < 12; i++)
                f->words[2 * i + 1] = CODE + PLAIN + 1;
        f->words[1] = code + PLAIN + 1;
        f->words[25] = CODE + ROOT + 1;
        set_register(f, UNWIND_REGISTER_PC, CODE + PLAIN);
        set_register(f, unwind_machine_x86_64.sp, (uint64_t)(uintptr_t)f->words);
        f->identity.time_ns += 100000000;
        sample.identity = f->identity;
        sample.identity.event = FAKE_EVENT_SPEC_0;
        kernel_record_add_sample(&f->record, &sample);
        fake_ring_take(&f->events.rings[FAKE_SAMPLES_0], &f->record);
}

START_TEST_IF(IS_X86_64, test_copy_is_too_short)
{
        static struct fixture f;

        set_up(&f);
        put_sample(&f, CODE, COPIED);
        run(&f);
        ck_assert(f.source.has_cuts);
        put_sample(&f, CODE, WORDS);
        run(&f); /* it is said of one run */
        ck_assert(!f.source.has_cuts);
        tear_down(&f);
}
END_TEST

/* It is known only when its table is there. */
START_TEST_IF(IS_X86_64, test_copy_that_waited_is_too_short)
{
        static struct fixture f;

        set_up(&f);
        put_sample(&f, LATE, COPIED);
        run(&f);
        run(&f);
        ck_assert(!f.source.has_cuts);
        answer(&f.tables, CODE_TABLES_READY);
        run(&f);
        ck_assert(f.source.has_cuts);
        tear_down(&f);
}
END_TEST
