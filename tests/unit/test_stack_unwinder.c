/* SPDX-License-Identifier: MIT */
/*
 * sampler/stacks/stack_unwinder.c: each callstack goes as far as can be known, and its
 * state says how far that is
 */
#include "sampler/kernel/call_chain.h"
#include "sampler/kernel/raw_stack.h"
#include "sampler/kernel/unwind_request.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/stacks/stack_unwinder.h"
#include "sampler/stacks/waiting_stacks.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/process_table.h"
#include "symbolize/elf/elf_image.h"
#include "tests/unit/cfi_builder.h"
#include "tests/unit/fake_code_tables.h"
#include "tests/unit/unit_test.h"
#include "unwind/unwind_module.h"

#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

/* The stacks here are of one machine; test_stack_walk has all of them. */
#define IS_X86_64 (unwind_machine_own() == &unwind_machine_x86_64)

#define BIAS   UINT64_C(0x7f0000000000) /* of the module that has a table */
#define LATE   UINT64_C(0x7e0000000000) /* of another one, whose table may come later */
#define JIT    UINT64_C(0x7d0000000000) /* code that never has one */
#define KERNEL UINT64_C(0xffffffff81000000)
#define PLAIN  0x2000 /* CFA = sp + 16 */
#define ROOT   0x2100 /* it has no caller */
#define LARGE  0x2200 /* CFA = sp + 1 MiB */
#define WIDE   0x2300 /* CFA = sp + 256 */
#define WORDS  64
#define COPIED 8 /* words of a copy that is too short */

/* ---- a thread of ours, with a stack that is an array --------------------------------------------------- */

struct fixture {
        struct cfi_builder builder;
        struct elf_image_part segment;
        struct unwind_module module;
        struct code_tables tables;
        struct recorder_pace pace;
        struct loss_counter losses;
        struct process_track process;
        struct thread_track thread;
        struct stack_unwinder *unwinder;
        uint64_t registers[24]; /* in the order of perf */
        uint64_t now_ns;
        struct raw_stack raw;
        struct call_chain chain;
        _Alignas(16) uint64_t words[WORDS];
};

static struct fixture f;

static void map(uint64_t avma, uint32_t module)
{
        struct address_range range = { .start_avma = avma, .end_avma = avma + 0x100000, .module = module };

        ck_assert_int_eq(address_space_add(&f.process.space, &range), 0);
}

static void set_register(uint8_t number, uint64_t value)
{
        const struct unwind_machine *m = &unwind_machine_x86_64;
        size_t at = 0;

        for (unsigned bit = 0; bit < m->n_perf; bit++) {
                if (!(m->perf_registers >> bit & 1))
                        continue;
                if (m->perf_to_dwarf[bit] == number)
                        f.registers[at] = value;
                at++;
        }
}

static void set_up(enum unwind_mode mode)
{
        const struct unwind_request options = { .mode = mode };

        memset(&f, 0, sizeof(f));
        cfi_builder_init(&f.builder);
        cfi_builder_add_cie(&f.builder, &(struct cfi_builder_cie){ .version = 1 },
                            CFI_BYTES(0x0c, 7, 8, 0x90, 1));
        cfi_builder_add_fde(&f.builder, PLAIN, 0x40, CFI_BYTES(0x0e, 16));
        cfi_builder_add_fde(&f.builder, ROOT, 0x40, CFI_BYTES(0x07, 16));
        cfi_builder_add_fde(&f.builder, LARGE, 0x40, CFI_BYTES(0x0e, 0x80, 0x80, 0x40));
        cfi_builder_add_fde(&f.builder, WIDE, 0x40, CFI_BYTES(0x0e, 0x80, 0x02));
        f.segment = (struct elf_image_part){ .file_bytes = 0x100000 };
        f.module = (struct unwind_module){ .table = cfi_builder_table(&f.builder, &unwind_machine_x86_64),
                                           .segments = &f.segment,
                                           .n_segments = 1 };
        f.tables = (struct code_tables){ .module = &f.module,
                                         .late_answer = CODE_TABLES_COMING,
                                         .after_waiting = CODE_TABLES_COMING };
        f.thread.process = &f.process;
        f.process.held_ns = UINT64_MAX;
        f.thread.tid = (uint32_t)getpid(); /* a thread that can be read */
        address_space_init(&f.process.space);
        map(BIAS, MODULE_GOOD);
        map(LATE, MODULE_LATE);
        map(JIT, MODULE_JIT);
        ck_assert_int_eq(stack_unwinder_new(&options, &f.tables, &f.pace, &f.losses, &f.unwinder, NULL), 0);
        f.now_ns = 1000000000;
        f.raw.registers = (const uint8_t *)f.registers;
        f.raw.registers_bytes = sizeof(uint64_t) *
                                (size_t)__builtin_popcountll(unwind_machine_x86_64.perf_registers);
        ck_assert_uint_le(f.raw.registers_bytes, sizeof(f.registers));
}

static void setup(void)
{
        set_up(UNWIND_AUTO);
}

static void teardown(void)
{
        stack_unwinder_forget(f.unwinder, &f.thread);
        stack_unwinder_free(f.unwinder);
        thread_track_deinit(&f.thread);
        address_space_deinit(&f.process.space);
        unwind_table_free(f.module.table);
        cfi_builder_deinit(&f.builder);
}

static void begin_anew(enum unwind_mode mode)
{
        teardown();
        set_up(mode);
}

static uint64_t address_of(int word)
{
        return (uint64_t)(uintptr_t)&f.words[word];
}

/* Where the thread stands, with the stack from @word on, of which @n words are copied. */
static void stand(uint64_t pc, int word, size_t n)
{
        f.raw.ip_avma = pc;
        f.raw.copy = (const uint8_t *)&f.words[word];
        f.raw.copy_bytes = n * sizeof(uint64_t);
        set_register(UNWIND_REGISTER_PC, pc);
        set_register(unwind_machine_x86_64.sp, address_of(word));
        f.now_ns += 100000000;
}

/*
 * Calls that return to BIAS + PLAIN + 1, + 2, ..., and at the end to the root: from word @word on, @n_calls
 * before the root, numbered so that the outermost has @first.
 */
static void call(int word, int n_calls, int first)
{
        for (int i = 0; i < n_calls; i++)
                f.words[word + 2 * i + 1] = BIAS + PLAIN + (uint64_t)(first + n_calls - 1 - i);
        f.words[word + 2 * n_calls + 1] = BIAS + ROOT + 1;
}

static enum trace_stack_state run(void)
{
        stack_unwinder_run(f.unwinder, &f.raw, &f.thread, f.now_ns, &f.chain);
        return f.chain.state;
}

static uint64_t count(enum trace_loss_reason reason)
{
        return f.losses.totals[reason];
}

/* ---- what is in the copy ------------------------------------------------------------------------------- */

START_TEST_IF(IS_X86_64, test_whole)
{
        const uint64_t chain[] = { PERF_CONTEXT_KERNEL, KERNEL, KERNEL + 1 };

        call(0, 3, 1);
        stand(BIAS + PLAIN, 0, WORDS);
        ck_assert_int_eq(run(), TRACE_STACK_COMPLETE);
        ck_assert_uint_eq(f.chain.n_frames, 5);
        ck_assert_uint_eq(f.chain.frames[0].avma, BIAS + PLAIN);
        ck_assert(!f.chain.frames[0].return_address && f.chain.frames[1].return_address);
        ck_assert_uint_eq(f.chain.frames[1].avma, BIAS + PLAIN + 3);
        ck_assert_uint_eq(f.chain.frames[4].avma, BIAS + ROOT + 1);

        /* From the kernel: its part is the kernel's. */
        f.raw.in_kernel = true;
        f.raw.ip_avma = KERNEL;
        f.raw.chain = (const uint8_t *)chain;
        f.raw.n_chain = 3;
        ck_assert_int_eq(run(), TRACE_STACK_COMPLETE);
        ck_assert_uint_eq(f.chain.n_frames, 7);
        ck_assert_uint_eq(f.chain.frames[1].avma, KERNEL + 1);
        ck_assert(f.chain.frames[1].in_kernel && !f.chain.frames[2].in_kernel);
        ck_assert_uint_eq(f.chain.frames[2].avma, BIAS + PLAIN);

        /* A kernel thread has nothing else. */
        f.raw.registers = NULL;
        ck_assert_int_eq(run(), TRACE_STACK_COMPLETE);
        ck_assert_uint_eq(f.chain.n_frames, 2);
        for (size_t reason = 0; reason < TRACE_LOSS_COUNT; reason++)
                ck_assert_uint_eq(f.losses.totals[reason], 0);
}
END_TEST

START_TEST_IF(IS_X86_64, test_cannot_be_walked)
{
        stand(BIAS + PLAIN, 0, WORDS);
        f.words[1] = 5; /* no code */
        ck_assert_int_eq(run(), TRACE_STACK_BAD_MEMORY);
        ck_assert_uint_eq(f.chain.n_frames, 1);
        ck_assert_uint_eq(count(TRACE_LOSS_STACK_BAD_MEMORY), 1);

        stand(JIT, 0, WORDS);
        ck_assert_int_eq(run(), TRACE_STACK_NO_TABLE);
        ck_assert_uint_eq(count(TRACE_LOSS_STACK_NO_TABLE), 1);

        call(0, 1, 1);
        stand(BIAS + PLAIN, 0, WORDS);
        f.raw.is_32_bit = true;
        ck_assert_int_eq(run(), TRACE_STACK_NO_TABLE);
        ck_assert_uint_eq(f.chain.n_frames, 1);
        ck_assert_uint_eq(f.chain.frames[0].avma, BIAS + PLAIN);
        ck_assert_uint_eq(count(TRACE_LOSS_STACK_32_BIT), 1);
        ck_assert_uint_eq(count(TRACE_LOSS_STACK_NO_TABLE), 1); /* as before */
        f.raw.is_32_bit = false;

        f.raw.registers_bytes = 8;
        ck_assert_int_eq(run(), TRACE_STACK_NO_REGISTER);
        ck_assert_uint_eq(count(TRACE_LOSS_STACK_NO_REGISTER), 1);
}
END_TEST

/* In execve(2): what the registers say is of the program before, and nothing of it is left. */
START_TEST_IF(IS_X86_64, test_between_programs)
{
        const uint64_t chain[] = { PERF_CONTEXT_KERNEL, KERNEL, KERNEL + 1 };
        const uint64_t gone = JIT + 0x10000000;

        stand(gone, 0, 0);
        f.raw.in_kernel = true;
        f.raw.ip_avma = KERNEL;
        f.raw.chain = (const uint8_t *)chain;
        f.raw.n_chain = 3;
        ck_assert_int_eq(run(), TRACE_STACK_COMPLETE);
        ck_assert_uint_eq(f.chain.n_frames, 2);
        for (size_t reason = 0; reason < TRACE_LOSS_COUNT; reason++)
                ck_assert_uint_eq(f.losses.totals[reason], 0);

        /* Before that its code is there still, and it stands in it. */
        set_register(UNWIND_REGISTER_PC, BIAS + PLAIN);
        ck_assert_int_eq(run(), TRACE_STACK_NO_COPY);
        ck_assert_uint_eq(f.chain.n_frames, 3);
        ck_assert_uint_eq(f.chain.frames[2].avma, BIAS + PLAIN);

        /* A program that stands outside of all code. */
        stand(gone, 0, WORDS);
        f.raw.ip_avma = KERNEL;
        ck_assert_int_eq(run(), TRACE_STACK_BAD_MEMORY);
        f.raw.in_kernel = false;
        f.raw.copy_bytes = 0;
        ck_assert_int_ne(run(), TRACE_STACK_COMPLETE);
}
END_TEST

/* loop test: code that is made at run time: by its frame pointer, unless that is not wanted. */
START_LOOP_TEST_IF(IS_X86_64, test_frame_pointer_between, 0, 2)
{
        bool is_wanted = _i == 0;

        begin_anew(is_wanted ? UNWIND_AUTO : UNWIND_DWARF);
        f.words[4] = 0;
        f.words[5] = BIAS + PLAIN + 1;
        f.words[7] = BIAS + ROOT + 1;
        set_register(unwind_machine_x86_64.fp, address_of(4));
        stand(JIT + 4, 0, WORDS);
        ck_assert_int_eq(run(), is_wanted ? TRACE_STACK_COMPLETE : TRACE_STACK_NO_TABLE);
        ck_assert_uint_eq(f.chain.n_frames, is_wanted ? 3 : 1);
}
END_TEST

/* A new mapping may put other code at an address that is remembered. */
START_TEST_IF(IS_X86_64, test_mappings_change)
{
        begin_anew(UNWIND_DWARF);
        call(0, 3, 1);
        stand(BIAS + PLAIN, 0, WORDS);
        ck_assert_int_eq(run(), TRACE_STACK_COMPLETE);
        map(BIAS, MODULE_JIT);
        ck_assert_int_eq(run(), TRACE_STACK_NO_TABLE);
        map(BIAS, MODULE_GOOD);
        ck_assert_int_eq(run(), TRACE_STACK_COMPLETE);
}
END_TEST

/* ---- tables that come later ---------------------------------------------------------------------------- */

START_TEST_IF(IS_X86_64, test_table_is_waited_for)
{
        f.tables.after_waiting = CODE_TABLES_READY;
        call(0, 3, 1);
        stand(LATE + PLAIN, 0, WORDS);
        ck_assert_int_eq(run(), TRACE_STACK_COMPLETE);
        ck_assert_uint_eq(f.tables.n_waits, 1);
}
END_TEST

/* Callers that were found without the table are neither believed nor remembered. */
START_TEST_IF(IS_X86_64, test_table_is_late)
{
        call(0, 5, 1);
        f.words[3] = LATE + PLAIN + 7;
        f.words[10] = 0;
        set_register(unwind_machine_x86_64.fp, address_of(8)); /* leads past some callers */
        stand(BIAS + PLAIN, 0, WORDS);
        ck_assert_int_eq(run(), TRACE_STACK_TABLE_LATE);
        ck_assert_uint_eq(f.chain.n_frames, 3);
        ck_assert_uint_eq(f.chain.frames[2].avma, LATE + PLAIN + 7);
        ck_assert_uint_eq(count(TRACE_LOSS_STACK_TABLE_LATE), 1);
        ck_assert_uint_eq(f.tables.n_waits, 1);

        f.pace.is_hurried = true;
        ck_assert_int_eq(run(), TRACE_STACK_TABLE_LATE);
        ck_assert_uint_eq(f.tables.n_waits, 1); /* there was no time */

        answer(&f.tables, CODE_TABLES_READY);
        ck_assert_int_eq(run(), TRACE_STACK_COMPLETE);
        ck_assert_uint_eq(f.chain.n_frames, 7);
}
END_TEST

/* A sample in such code, whose copy is gone when the table is there. */
static uint32_t wait_for_table(void)
{
        uint32_t ticket;

        call(0, 5, 1);
        f.words[3] = LATE + PLAIN + 7;
        stand(BIAS + PLAIN, 0, WORDS);
        ticket = stack_unwinder_run_waiting(f.unwinder, &f.raw, &f.thread, f.now_ns, &f.chain);
        ck_assert_int_eq(f.chain.state, TRACE_STACK_TABLE_LATE);
        memset(f.words, 0xff, sizeof(f.words));
        return ticket;
}

static bool resume(uint64_t now_ns, struct stack_unwinder_resumed *ret)
{
        return stack_unwinder_resume(f.unwinder, NULL, now_ns, ret, &f.chain);
}

/* A table must come when a stack has waited long for it, or when those that wait are many. */
START_TEST_IF(IS_X86_64, test_waits_too_long)
{
        unsigned n = 0;

        ck_assert(!stack_unwinder_is_overdue(f.unwinder, UINT64_MAX));
        (void)wait_for_table();
        ck_assert(!stack_unwinder_is_overdue(f.unwinder, 0));
        ck_assert(stack_unwinder_is_overdue(f.unwinder, UINT64_MAX));
        while (!stack_unwinder_is_overdue(f.unwinder, 0)) {
                (void)wait_for_table();
                n++;
        }
        ck_assert_uint_gt(n, 1000);
        ck_assert_uint_lt(n, WAITING_STACKS_BYTES_MAX / sizeof(f.words));
}
END_TEST

/* Whether code may be replaced before the stack is walked: its copy has return addresses into it. */
START_TEST_IF(IS_X86_64, test_waits_in_code)
{
        struct process_track other = { .held_ns = UINT64_MAX };
        const uint64_t at = LATE + PLAIN;

        ck_assert(!stack_unwinder_may_wait_in(f.unwinder, &f.process, 0, UINT64_MAX));
        (void)wait_for_table();
        ck_assert(stack_unwinder_may_wait_in(f.unwinder, &f.process, 0, UINT64_MAX));
        ck_assert(!stack_unwinder_may_wait_in(f.unwinder, &other, 0, UINT64_MAX));
        ck_assert(stack_unwinder_may_wait_in(f.unwinder, &f.process, at, at + 7)); /* the call */
        ck_assert(!stack_unwinder_may_wait_in(f.unwinder, &f.process, at + 8, at + 16));
        ck_assert(!stack_unwinder_may_wait_in(f.unwinder, &f.process, at, at + 6));
        ck_assert(stack_unwinder_may_wait_in(f.unwinder, &f.process, BIAS + PLAIN, BIAS + PLAIN + 1));
        for (unsigned n = 0; n * sizeof(f.words) <= WAITING_STACKS_SEARCHED_MAX; n++)
                (void)wait_for_table();
        ck_assert(stack_unwinder_may_wait_in(f.unwinder, &f.process, at + 8, at + 16));
}
END_TEST

/*
 * The copy waits with the mappings of its time, and holds its process back from then on; nothing is counted.
 */
START_TEST_IF(IS_X86_64, test_waits_for_its_table)
{
        const uint64_t kernel[] = { PERF_CONTEXT_KERNEL, KERNEL, KERNEL + 1 };
        struct stack_unwinder_resumed resumed;
        uint32_t tickets[2];
        uint64_t first_ns;

        f.raw.in_kernel = true;
        f.raw.chain = (const uint8_t *)kernel;
        f.raw.n_chain = 3;
        tickets[0] = wait_for_table();
        first_ns = f.now_ns;
        ck_assert_uint_ne(tickets[0], 0);
        ck_assert_uint_eq(f.process.held_ns, first_ns);
        tickets[1] = wait_for_table();
        ck_assert_uint_ne(tickets[1], tickets[0]);
        ck_assert_uint_eq(f.process.held_ns, first_ns);
        ck_assert_uint_eq(f.tables.n_waits, 0); /* the collector goes on meanwhile */
        ck_assert(!resume(0, &resumed));
        ck_assert(stack_unwinder_has_waiting(f.unwinder));
        ck_assert(stack_unwinder_has_waiting_in_kernel(f.unwinder, KERNEL + 1, KERNEL + 2));
        ck_assert(!stack_unwinder_has_waiting_in_kernel(f.unwinder, KERNEL + 2, KERNEL + 16));
        ck_assert(!stack_unwinder_has_waiting_in_kernel(f.unwinder, KERNEL - 16, KERNEL));

        map(BIAS, MODULE_JIT); /* other code is there by then */
        answer(&f.tables, CODE_TABLES_READY);
        for (int i = 0; i < 2; i++) {
                ck_assert(resume(0, &resumed));
                ck_assert_ptr_eq(resumed.thread, &f.thread);
                ck_assert_ptr_ne(resumed.space, &f.process.space);
                ck_assert_uint_eq(address_space_find(resumed.space, BIAS)->module, MODULE_GOOD);
                ck_assert_uint_eq(resumed.ticket, tickets[i]);
                ck_assert_uint_eq(resumed.time_ns, i == 0 ? first_ns : f.now_ns);
                ck_assert(!resumed.is_cut);
                ck_assert_int_eq(f.chain.state, TRACE_STACK_COMPLETE);
                ck_assert_uint_eq(f.chain.n_frames, 2 + 7);
                ck_assert(f.chain.frames[1].in_kernel && !f.chain.frames[2].in_kernel);
                ck_assert_uint_eq(f.chain.frames[8].avma, BIAS + ROOT + 1);
        }
        ck_assert(!resume(0, &resumed));
        ck_assert(!stack_unwinder_has_waiting(f.unwinder));
        ck_assert(!stack_unwinder_has_waiting_in_kernel(f.unwinder, KERNEL + 1, KERNEL + 2));
        ck_assert_uint_eq(f.process.held_ns, UINT64_MAX);
        ck_assert_ptr_null(f.process.waiting_space);
        ck_assert_uint_eq(count(TRACE_LOSS_STACK_TABLE_LATE), 0);
}
END_TEST

/*
 * One that waited long enough is as it would have been at first; so are those of one process,
 * when that is asked for.
 */
START_TEST_IF(IS_X86_64, test_waits_for_a_table_in_vain)
{
        struct process_track other = { .held_ns = UINT64_MAX };
        struct stack_unwinder_resumed resumed;
        uint32_t ticket;

        for (int i = 0; i < 2; i++) {
                ticket = wait_for_table();
                ck_assert(!stack_unwinder_resume(f.unwinder, &other, UINT64_MAX, &resumed, &f.chain));
                ck_assert(stack_unwinder_resume(f.unwinder, i ? &f.process : NULL, UINT64_MAX, &resumed,
                                                &f.chain));
                ck_assert_uint_eq(resumed.ticket, ticket);
                ck_assert_int_eq(f.chain.state, TRACE_STACK_TABLE_LATE);
                ck_assert_uint_eq(f.chain.n_frames, 3);
                ck_assert_int_eq((int)count(TRACE_LOSS_STACK_TABLE_LATE), i + 1);
                ck_assert(!resume(UINT64_MAX, &resumed));
                ck_assert_uint_eq(f.process.held_ns, UINT64_MAX);
        }
        (void)wait_for_table(); /* and one that is there at the end */
}
END_TEST

/* If the thread's end is known, or too many wait: counted at once, and nothing is held back. */
START_TEST_IF(IS_X86_64, test_cannot_wait_for_a_table)
{
        unsigned n = 0;

        f.thread.exits = true;
        ck_assert_uint_eq(wait_for_table(), 0);
        ck_assert_uint_eq(count(TRACE_LOSS_STACK_TABLE_LATE), 1);
        ck_assert_uint_eq(f.process.held_ns, UINT64_MAX);

        f.thread.exits = false;
        while (wait_for_table() != 0)
                ck_assert_uint_le(++n, WAITING_STACKS_BYTES_MAX / sizeof(f.words));
        ck_assert_uint_gt(n, 1000);
        ck_assert_uint_eq(count(TRACE_LOSS_STACK_TABLE_LATE), 2);
}
END_TEST

/* Its copy is too short as well: then others of its thread complete it, under the number that it had. */
START_TEST_IF(IS_X86_64, test_waits_for_its_table_and_is_cut)
{
        struct stack_unwinder_resumed resumed;
        uint32_t ticket;

        call(0, 12, 1);
        f.words[3] = LATE + PLAIN + 7;
        stand(BIAS + PLAIN, 0, COPIED);
        ticket = stack_unwinder_run_waiting(f.unwinder, &f.raw, &f.thread, f.now_ns, &f.chain);
        answer(&f.tables, CODE_TABLES_READY);
        ck_assert(resume(0, &resumed));
        ck_assert(resumed.is_cut);
        ck_assert_uint_eq(resumed.ticket, ticket);
        ck_assert(!resume(0, &resumed));
        stack_unwinder_read_late(f.unwinder, &f.thread);
        ck_assert_uint_eq(stack_unwinder_close(f.unwinder, &f.thread, &f.chain), ticket);
        ck_assert_int_eq(f.chain.state, TRACE_STACK_APPROXIMATE);
        ck_assert_uint_eq(f.chain.n_frames, 14);
}
END_TEST

/* ---- stacks that are longer than their copy ------------------------------------------------------------ */

START_TEST_IF(IS_X86_64, test_joined_to_the_stack_before)
{
        call(10, 12, 1);
        stand(BIAS + PLAIN, 10, WORDS - 10);
        ck_assert_int_eq(run(), TRACE_STACK_COMPLETE);

        for (int i = 0; i < 5; i++) /* five calls more */
                f.words[2 * i + 1] = BIAS + PLAIN + 0x20 + (uint64_t)i;
        f.words[11] = BIAS + PLAIN + 12;
        stand(BIAS + PLAIN, 0, 16);
        ck_assert_int_eq(run(), TRACE_STACK_STITCHED);
        ck_assert_uint_eq(f.chain.n_frames, 1 + 5 + 12 + 1);
        ck_assert_uint_eq(f.chain.frames[18].avma, BIAS + ROOT + 1);
        ck_assert_uint_eq(count(TRACE_LOSS_STACK_TRUNCATED), 0);

        stack_unwinder_forget(f.unwinder, &f.thread);
        f.thread.tid = UINT32_MAX; /* nor is there memory to be read */
        stand(BIAS + PLAIN, 0, 16);
        ck_assert_int_eq(run(), TRACE_STACK_TRUNCATED);
        ck_assert_uint_eq(count(TRACE_LOSS_STACK_TRUNCATED), 1);
}
END_TEST

START_TEST_IF(IS_X86_64, test_goes_on_in_memory)
{
        call(0, 12, 1);
        stand(BIAS + PLAIN, 0, COPIED);
        ck_assert_int_eq(run(), TRACE_STACK_APPROXIMATE);
        ck_assert_uint_eq(f.chain.n_frames, 14);
        stand(BIAS + PLAIN, 0, COPIED); /* what is joined to it is no better */
        ck_assert_int_eq(run(), TRACE_STACK_APPROXIMATE);

        stack_unwinder_forget(f.unwinder, &f.thread);
        f.pace.is_hurried = true;
        stand(BIAS + PLAIN, 0, COPIED);
        ck_assert_int_eq(run(), TRACE_STACK_TRUNCATED);
        ck_assert_uint_eq(f.chain.n_frames, 5);
}
END_TEST

/*
 * A stack of more than a mebibyte, of which the first words are copied: a large frame is passed
 * over, many are followed.
 */
START_TEST_IF(IS_X86_64, test_goes_on_far_out)
{
        enum {
                FRAME_WORDS = 256 / sizeof(uint64_t),
                LARGE_WORDS = (1 << 20) / sizeof(uint64_t),
                N_FRAMES = 3000
        };

        static uint64_t stack[LARGE_WORDS + FRAME_WORDS * (N_FRAMES + 1)];

        f.raw.copy = (const uint8_t *)stack;
        f.raw.copy_bytes = 64;
        set_register(unwind_machine_x86_64.sp, (uint64_t)(uintptr_t)stack);
        set_register(UNWIND_REGISTER_PC, BIAS + LARGE);
        stack[LARGE_WORDS - 1] = BIAS + WIDE + 1;
        for (size_t i = 1; i <= N_FRAMES; i++)
                stack[LARGE_WORDS + FRAME_WORDS * i - 1] = BIAS + (i < N_FRAMES ? WIDE : ROOT) + 1;
        ck_assert_int_eq(run(), TRACE_STACK_APPROXIMATE);
        ck_assert_uint_eq(f.chain.n_frames, 1 + N_FRAMES + 1);
        ck_assert_uint_eq(f.chain.frames[N_FRAMES].avma, BIAS + WIDE + 1);
        ck_assert_uint_eq(f.chain.frames[N_FRAMES + 1].avma, BIAS + ROOT + 1);
}
END_TEST

/* The call in which the copy ends has returned meanwhile: what lies there now is of others. */
START_TEST_IF(IS_X86_64, test_memory_has_changed)
{
        uint64_t copy[COPIED];

        call(0, 12, 1);
        memcpy(copy, f.words, sizeof(copy));
        stand(BIAS + PLAIN, 0, COPIED);
        f.raw.copy = (const uint8_t *)copy;
        f.words[COPIED - 1] = BIAS + PLAIN + 0x30;
        ck_assert_int_eq(run(), TRACE_STACK_TRUNCATED);
        f.words[COPIED - 1] = copy[COPIED - 1];
        stand(BIAS + PLAIN, 0, COPIED);
        ck_assert_int_eq(run(), TRACE_STACK_APPROXIMATE);
}
END_TEST

/* One that waits is completed by what comes next; those before it by what it became. */
START_TEST_IF(IS_X86_64, test_joined_to_the_stack_after)
{
        uint32_t tickets[2];

        call(0, 20, 1);
        /* 24 words of the first, then of one that has returned a bit: both too short */
        for (int i = 0; i < 2; i++) {
                stand(BIAS + PLAIN + 0x30, i * 10, 24 - (size_t)i * 4);
                tickets[i] = stack_unwinder_run_waiting(f.unwinder, &f.raw, &f.thread, f.now_ns, &f.chain);
                ck_assert_uint_ne(tickets[i], 0);
                ck_assert_int_eq(f.chain.state, TRACE_STACK_TRUNCATED);
        }
        ck_assert_uint_ne(tickets[0], tickets[1]);
        ck_assert(cut_stacks_have_code(&f.thread.cuts, BIAS + PLAIN + 0x30, BIAS + PLAIN + 0x31));
        ck_assert(cut_stacks_have_code(&f.thread.cuts, BIAS + PLAIN, BIAS + PLAIN + 0x30));
        ck_assert(!cut_stacks_have_code(&f.thread.cuts, BIAS + PLAIN + 0x31, BIAS + PLAIN + 0x40));
        stand(BIAS + PLAIN, 28, WORDS - 28);
        ck_assert_uint_eq(stack_unwinder_run_waiting(f.unwinder, &f.raw, &f.thread, f.now_ns, &f.chain), 0);
        ck_assert_int_eq(f.chain.state, TRACE_STACK_COMPLETE);

        ck_assert_uint_eq(stack_unwinder_close(f.unwinder, &f.thread, &f.chain), tickets[1]);
        ck_assert_int_eq(f.chain.state, TRACE_STACK_STITCHED);
        ck_assert_uint_eq(f.chain.n_frames, 17);
        ck_assert_uint_eq(f.chain.frames[0].avma, BIAS + PLAIN + 0x30);
        ck_assert_uint_eq(stack_unwinder_close(f.unwinder, &f.thread, &f.chain), tickets[0]);
        ck_assert_int_eq(f.chain.state, TRACE_STACK_STITCHED);
        ck_assert_uint_eq(f.chain.n_frames, 22);
        for (uint32_t i = 1; i < 21; i++)
                ck_assert_uint_eq(f.chain.frames[i].avma, BIAS + PLAIN + 21 - i);
        ck_assert_uint_eq(stack_unwinder_close(f.unwinder, &f.thread, &f.chain), 0);
        ck_assert_uint_eq(count(TRACE_LOSS_STACK_TRUNCATED), 0);
}
END_TEST

/*
 * loop test: when nothing more comes, memory is read for the newest; for one that is closed before that as
 * well, unless there is no time; what stays cut is counted then.
 */
START_LOOP_TEST_IF(IS_X86_64, test_waits_in_vain, 0, 5)
{
        bool is_hurried = _i == 4, can_be_read = _i % 2 == 1;
        uint32_t ticket;

        if (!can_be_read && !is_hurried)
                f.thread.tid = UINT32_MAX;
        call(0, 12, 1);
        stand(BIAS + PLAIN, 0, COPIED);
        ticket = stack_unwinder_run_waiting(f.unwinder, &f.raw, &f.thread, f.now_ns, &f.chain);
        ck_assert_uint_ne(ticket, 0);
        ck_assert_uint_eq(count(TRACE_LOSS_STACK_TRUNCATED), 0);
        f.pace.is_hurried = is_hurried;
        if (_i < 2)
                stack_unwinder_read_late(f.unwinder, &f.thread);
        ck_assert_uint_eq(stack_unwinder_close(f.unwinder, &f.thread, &f.chain), ticket);
        ck_assert_int_eq(f.chain.state, can_be_read ? TRACE_STACK_APPROXIMATE : TRACE_STACK_TRUNCATED);
        ck_assert_uint_eq(f.chain.n_frames, can_be_read ? 14 : 5);
        ck_assert_uint_eq(count(TRACE_LOSS_STACK_TRUNCATED), can_be_read ? 0 : 1);

        stand(BIAS + PLAIN, 2, COPIED); /* and one that is given up with its thread */
        (void)stack_unwinder_run_waiting(f.unwinder, &f.raw, &f.thread, f.now_ns, &f.chain);
}
END_TEST

/* ---- others -------------------------------------------------------------------------------------------- */

START_TEST_IF(IS_X86_64, test_copy_of_the_program)
{
        struct stack_unwinder_copy copy;

        call(0, 3, 1);
        copy = (struct stack_unwinder_copy){ .space = &f.thread.process->space,
                                             .pc_avma = BIAS + PLAIN,
                                             .sp_avma = address_of(0),
                                             .bytes = (const uint8_t *)f.words,
                                             .n_bytes = sizeof(f.words) };
        ck_assert(stack_unwinder_run_copy(f.unwinder, &copy, &f.thread, &f.chain));
        ck_assert_int_eq(f.chain.state, TRACE_STACK_COMPLETE);
        ck_assert_uint_eq(f.chain.n_frames, 5);
        copy.n_bytes = 4 * sizeof(uint64_t); /* it is of the past: memory is not read */
        ck_assert(stack_unwinder_run_copy(f.unwinder, &copy, &f.thread, &f.chain));
        ck_assert_int_eq(f.chain.state, TRACE_STACK_TRUNCATED);

        begin_anew(UNWIND_FP);
        ck_assert(!stack_unwinder_run_copy(f.unwinder, &copy, &f.thread, &f.chain));
}
END_TEST

START_TEST(test_by_frame_pointers)
{
        const uint64_t chain[] = { PERF_CONTEXT_USER, BIAS + PLAIN, BIAS + ROOT };

        begin_anew(UNWIND_FP);
        f.raw = (struct raw_stack){ .ip_avma = BIAS + PLAIN, .chain = (const uint8_t *)chain, .n_chain = 3 };
        ck_assert_int_eq(run(), TRACE_STACK_FRAME_POINTERS);
        ck_assert_uint_eq(f.chain.n_frames, 2);
}
END_TEST

START_TEST_IF(IS_X86_64, test_attributes)
{
        struct unwind_request options = { .mode = UNWIND_AUTO };
        struct perf_event_attr attr = { .size = sizeof(attr) };

        unwind_request_fill_attr(&options, &attr);
        ck_assert_uint_eq(attr.sample_type,
                          PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
        ck_assert_uint_eq(attr.sample_stack_user, UNWIND_COPY_DEFAULT);
        ck_assert(attr.exclude_callchain_user);
        ck_assert_int_eq(unwind_request_complete(&options, false).mode, UNWIND_FP);

        options = (struct unwind_request){ .mode = UNWIND_FP, .copy_bytes = 4096 };
        attr = (struct perf_event_attr){ .size = sizeof(attr) };
        unwind_request_fill_attr(&options, &attr);
        ck_assert_uint_eq(attr.sample_type, PERF_SAMPLE_CALLCHAIN);
        ck_assert_uint_eq(attr.sample_stack_user, 0);
        ck_assert(!attr.exclude_callchain_user);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
