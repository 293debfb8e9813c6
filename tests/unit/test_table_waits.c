/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/kernel_side.c: unwind tables while programs are started, and stacks that wait for one
 */
#include "base/clock.h"
#include "sampler/keep/kernel_code.h"
#include "sampler/kernel/call_chain.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/kernel/raw_stack.h"
#include "sampler/kernel/unwind_request.h"
#include "sampler/merge/kernel_side.h"
#include "sampler/stacks/stack_unwinder.h"
#include "sampler/tables/code_tables.h"
#include "sampler/tables/table_process.h"
#include "sampler/zones/zone_source.h"
#include "tests/unit/fake_kernel_side.h"
#include "tests/unit/own_code.h"
#include "tests/unit/unit_test.h"
#include "unwind/unwind_machine.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KERNEL UINT64_C(0xffffffffc0001000)

static const struct unwind_request by_tables = { .mode = UNWIND_AUTO };

/* A program and its table process: the unwinder waits for the table, and children or threads are started. */
static void start_programs(struct fake_kernel_side *f, struct table_process *process,
                           struct zone_source *zones, bool are_threads)
{
        struct kernel_record_identity child = fake_kernel_side_at(FAKE_PID + 2,
                                                                  clock_raw_ns() + 3600 * NS_PER_S),
                                      identity = child;
        char *path = own_code_path();
        struct perf_mmap own = {
                .start_avma = FAKE_CODE, .length_bytes = 0x1000, .executable = true, .path = path
        };
        uint32_t pid;

        fake_kernel_side_open(f, 0);
        f->recording.zones = zones;
        ck_assert_int_eq(table_process_start(process, NULL, 0, 0, NULL), 0);
        ck_assert_int_eq(code_tables_new(process, &f->pace, &f->losses, &f->recording.tables, NULL), 0);
        stack_unwinder_free(f->recording.unwinder);
        ck_assert_int_eq(stack_unwinder_new(&by_tables, f->recording.tables, &f->pace, &f->losses,
                                            &f->recording.unwinder, NULL),
                         0);
        for (int i = 0; i < 2; i++) {
                child.pid = are_threads ? FAKE_PID : FAKE_PID + 2;
                kernel_record_add_fork(&f->record, &child, FAKE_PID, FAKE_PID);
                fake_kernel_side_put(f, FAKE_TRACKER_0);
        }
        identity.pid = identity.tid = (uint32_t)getpid();
        own.path_bytes = strlen(path);
        own.build_id_bytes = 20; /* of whichever file; the table process compares it */
        kernel_record_add_mmap2(&f->record, &identity, &own);
        fake_kernel_side_put(f, FAKE_TRACKER_1);
        ck_assert_int_eq(kernel_side_scan(&f->source, &pid, NULL), 0);
        ck_assert_uint_eq(f->losses.totals[TRACE_LOSS_UNWIND_FILE_FAILED], 0);
        free(path);
}

static void stop_programs(struct fake_kernel_side *f, struct table_process *process)
{
        code_tables_free(f->recording.tables);
        table_process_stop(process);
        fake_kernel_side_close(f);
}

/* A stack that waits for the table of the first module; its kernel's part is at @kernel_avma. */
static void add_waiting(struct fake_kernel_side *f, uint64_t kernel_avma)
{
        uint64_t registers[64], words[8] = { 0 };
        const uint64_t kernel[] = { (uint64_t)PERF_CONTEXT_KERNEL, kernel_avma };
        const struct raw_stack raw = {
                .in_kernel = true,
                .ip_avma = kernel_avma,
                .chain = (const uint8_t *)kernel,
                .n_chain = 2,
                .registers = (const uint8_t *)registers,
                .registers_bytes = sizeof(uint64_t) *
                                   (size_t)__builtin_popcountll(unwind_machine_own()->perf_registers),
                .copy = (const uint8_t *)words,
                .copy_bytes = sizeof(words),
        };
        const struct address_range range = { .start_avma = FAKE_CODE,
                                             .end_avma = FAKE_CODE + 0x1000,
                                             .module = 1 };
        static struct call_chain chain;
        struct thread_track *thread;

        for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
                registers[i] = FAKE_CODE + 8;
        ck_assert_int_eq(process_table_add_thread(&f->processes, FAKE_PID, FAKE_PID, 0, 1, &thread), 0);
        ck_assert_int_eq(address_space_add(&thread->process->space, &range), 0);
        ck_assert_uint_ne(stack_unwinder_run_waiting(f->recording.unwinder, &raw, thread, 1000, &chain), 0);
}

/* The table of the first module comes when a stack has waited for it, before that stack is given up. */
static void expect_table(struct fake_kernel_side *f, const struct table_process *process)
{
        const struct unwind_module *found;

        add_waiting(f, KERNEL);
        while (process->n_waiting == 0 && stack_unwinder_has_waiting(f->recording.unwinder))
                fake_kernel_side_run(f, 0);
        ck_assert(process->n_waiting > 0 ||
                  code_tables_find(f->recording.tables, 1, &found) != CODE_TABLES_COMING);
}

/*
 * Where programs are started one after the other, their tables are not made yet; but at once if there is
 * but one process, and where zones would wait with the samples.
 */
START_LOOP_TEST(test_tables_wait_while_programs_start, 0, 3)
{
        static struct zone_source zones;
        struct table_process process;
        static struct fake_kernel_side f;

        zones = (struct zone_source){ .n_regions = _i == 2 };
        start_programs(&f, &process, &zones, _i == 0); /* threads of the same process are no programs */
        ck_assert_uint_eq(process.n_waiting, _i != 1);
        if (_i == 1)
                expect_table(&f, &process);
        stop_programs(&f, &process);
}
END_TEST

static void put_kernel_code(struct fake_kernel_side *f, uint64_t start_avma, bool is_removed)
{
        struct perf_record record = { .kind = PERF_RECORD_KIND_KERNEL_CODE,
                                      .pid = FAKE_PID,
                                      .tid = FAKE_PID };

        record.kernel_code = (struct perf_kernel_code){ .start_avma = start_avma,
                                                        .n_bytes = 0x100,
                                                        .is_bpf = true,
                                                        .is_removed = is_removed,
                                                        .name = "a",
                                                        .name_bytes = 1 };
        ck_assert_int_eq(kernel_side_take(&f->source, &record), 0);
}

/* A stack that waits has its kernel's part named before other code takes the place of that code. */
START_TEST(test_kernel_code_is_replaced)
{
        static struct zone_source zones;
        struct table_process process;
        static struct kernel_code code;
        static struct fake_kernel_side f;

        start_programs(&f, &process, &zones, false);
        code = (struct kernel_code){ .epoch = 0 };
        f.recording.kernel_code = &code;
        put_kernel_code(&f, KERNEL, false);
        put_kernel_code(&f, KERNEL + 0x1000, false);
        add_waiting(&f, KERNEL + 8);
        put_kernel_code(&f, KERNEL + 0x1000, true);
        put_kernel_code(&f, KERNEL + 0x1000, false); /* of another's place */
        put_kernel_code(&f, KERNEL, true);
        ck_assert(stack_unwinder_has_waiting(f.recording.unwinder));
        put_kernel_code(&f, KERNEL, false);
        ck_assert(!stack_unwinder_has_waiting(f.recording.unwinder));
        stop_programs(&f, &process);
        kernel_code_deinit(&code);
}
END_TEST
