/* SPDX-License-Identifier: MIT */
/*
 * sampler/python/python_late.c: the frames of a thread in memory, here our own; lists without an end; and
 * which of them fit a copy of the native stack
 */
#include "sampler/kernel/raw_stack.h"
#include "sampler/pace/pace.h"
#include "sampler/python/python_late.h"
#include "sampler/python/python_layout.h"
#include "sampler/python/python_objects.h"
#include "tests/unit/unit_test.h"
#include "unwind/unwind_machine.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VERSION_3_11 0x030b02f0
#define TID          77
#define N_FRAMES     40  /* on two pages */
#define FRAME_WORDS  120 /* apart */
#define SECOND_NS    UINT64_C(1000000000)

/* Words of what CPython 3.11 has in memory. */
enum {
        THREADS = 2,
        NEXT = 1,
        NATIVE_ID = 20,
        CFRAME = 7,
        LINK = 1,
        CODE = 4,
        PREVIOUS = 6,
        INSTRUCTION = 7,
        IS_ENTRY = 8
};

struct fixture {
        struct python_late *late;
        struct python_process process;
        struct python_late_sample read;
        uint64_t first_interpreter, interpreter[16], other[32], thread[32], link[4];
        uint64_t frames[N_FRAMES][FRAME_WORDS];
        uint64_t code[N_FRAMES][24]; /* of every other frame; the others' cannot be read */
        uint64_t path[N_FRAMES][16];
};

static struct fixture f;

/* Stands for what the kernel says of threads; NULL = it is asked itself. */
static const char *said_of_thread;

FILE *fopen(const char *restrict path, const char *restrict mode)
{
        char status[64];
        int flags = mode[0] == 'r' ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC, fd;

        (void)snprintf(status, sizeof(status), "/proc/%d/task/%d/status", (int)getpid(), TID);
        if (said_of_thread && strcmp(path, status) == 0)
                return fmemopen((void *)(uintptr_t)said_of_thread, strlen(said_of_thread), "r");
        fd = open(path, flags | O_CLOEXEC, 0600);
        return fd >= 0 ? fdopen(fd, mode) : NULL;
}

static void teardown(void)
{
        python_late_free(f.late);
}

static uint64_t avma_of(const void *at)
{
        return (uintptr_t)at;
}

/* Frame 0 is the outermost; every fourth one was called by C. */
static void setup(void)
{
        static const uint8_t head[PYTHON_LAYOUT_HEAD_BYTES];
        struct python_layout layout;
        struct stat status;

        memset(&f, 0, sizeof(f));
        ck_assert_int_eq(python_late_new(&f.late), 0);
        ck_assert_int_eq(python_layout_find(VERSION_3_11, head, &layout), 0);
        ck_assert_int_eq(stat("/proc/self/ns/pid", &status), 0);
        f.process = (struct python_process){ .pid = (uint32_t)getpid(),
                                             .owner_entry = layout.owner_entry,
                                             .interpreters_avma = avma_of(&f.first_interpreter),
                                             .namespace_device = status.st_dev,
                                             .namespace_inode = status.st_ino,
                                             .offsets = layout.walk,
                                             .objects = layout.objects };
        f.first_interpreter = avma_of(f.interpreter);
        f.interpreter[THREADS] = avma_of(f.other);
        f.other[NEXT] = avma_of(f.thread);
        f.other[NATIVE_ID] = TID + 1;
        f.thread[NATIVE_ID] = TID;
        f.thread[CFRAME] = avma_of(f.link);
        f.link[LINK] = avma_of(f.frames[N_FRAMES - 1]);
        for (size_t i = 0; i < N_FRAMES; i++) {
                f.code[i][layout.objects.code_file / 8] = avma_of(f.path[i]);
                f.path[i][layout.objects.text_length / 8] = 8 + i;
                f.path[i][layout.objects.text_state / 8] = 1 << 2 | 1 << 5 | 1 << 6;
                f.path[i][layout.objects.text_ascii / 8] = 3 * i;
                f.frames[i][CODE] = i % 2 == 0 ? avma_of(f.code[i]) : 0x1000 + 16 * i;
                f.frames[i][INSTRUCTION] = 0x2000 + i;
                f.frames[i][PREVIOUS] = i > 0 ? avma_of(f.frames[i - 1]) : 0;
                if (i % 4 == 0) {
                        uint8_t yes = 1;

                        memcpy((char *)f.frames[i] + layout.walk.frame_is_entry, &yes, sizeof(yes));
                }
        }
}

/* As python_functions.c finds it. */
static uint64_t identity_of(uint32_t number)
{
        const struct python_reader reader = python_reader_of((uint32_t)getpid());
        struct python_code code;

        ck_assert_int_eq(python_code_read(&reader, &f.process.objects, avma_of(f.code[number]), &code), 0);
        return code.identity;
}

static int read_frames(uint32_t tid, uint64_t now_ns)
{
        return python_late_read(f.late, &f.process, tid, now_ns, &f.read);
}

START_TEST(test_a_thread_has_its_frames)
{
        ck_assert_int_eq(read_frames(TID, SECOND_NS), 1);
        ck_assert_uint_eq(f.read.sample.n_frames, N_FRAMES);
        ck_assert_uint_eq(f.read.sample.flags, 0);
        for (uint32_t i = 0; i < N_FRAMES; i++) {
                uint32_t number = N_FRAMES - 1 - i;

                ck_assert_uint_eq(f.read.frame_avma[i], avma_of(f.frames[number]));
                ck_assert_uint_eq(f.read.sample.frames[i].code, f.frames[number][CODE] | (number % 4 == 0));
                ck_assert_uint_eq(f.read.sample.frames[i].instruction, 0x2000 + number);
        }
        for (uint32_t i = 0; i < N_FRAMES; i++) {
                /* After a few that cannot be read no more are tried. */
                ck_assert_uint_eq(f.read.sample.frames[i].identity,
                                  i % 2 == 1 && i < 6 ? identity_of(N_FRAMES - 1 - i) : 0);
        }
}
END_TEST

/*
 * One that is none of Python's is looked for again, at ever longer intervals; a state that has another's
 * number is not taken.
 */
START_TEST(test_a_thread_that_comes_later)
{
        f.thread[NATIVE_ID] = TID + 2;
        ck_assert_int_eq(read_frames(TID, SECOND_NS), 0);
        ck_assert_int_eq(read_frames(TID, SECOND_NS + 10), 0);
        f.thread[NATIVE_ID] = TID;
        ck_assert_int_eq(read_frames(TID, SECOND_NS + 19), 0);
        ck_assert_int_eq(read_frames(TID, SECOND_NS + 20), 1);
        f.thread[NATIVE_ID] = TID + 2;
        ck_assert_int_eq(read_frames(TID, SECOND_NS + 2 * PYTHON_RETRY_NS), 0);
        ck_assert_int_eq(read_frames(TID, SECOND_NS + 9 * PYTHON_RETRY_NS), 0);
        f.thread[NATIVE_ID] = TID;
        ck_assert_int_eq(read_frames(TID, SECOND_NS + 10 * PYTHON_RETRY_NS - 1), 0);
        ck_assert_int_eq(read_frames(TID, SECOND_NS + 10 * PYTHON_RETRY_NS), 1);
}
END_TEST

/* In a container, Python knows its threads by the numbers that they have there. */
START_TEST(test_a_thread_that_has_another_number_inside)
{
        f.process.namespace_inode++;
        f.thread[NATIVE_ID] = 5;
        said_of_thread = "Name:\tworker\nNSpid:\t77\t12\t5\nNSpgid:\t77\t12\t6\n";
        ck_assert_int_eq(read_frames(TID, SECOND_NS), 1);
        ck_assert_uint_eq(f.read.sample.n_frames, N_FRAMES);
        said_of_thread = "Name:\tworker\nNSpid:\t77\n"; /* of the next thread of that number */
        python_late_forget(f.late, (uint32_t)getpid());
        ck_assert_int_eq(read_frames(TID, SECOND_NS + 1), 0);
        f.thread[NATIVE_ID] = TID;
        python_late_forget(f.late, (uint32_t)getpid());
        ck_assert_int_eq(read_frames(TID, SECOND_NS + 2), 1);
}
END_TEST

/* Since 3.12 a frame of its own stands for C; since 3.14 there are two kinds of them. */
START_TEST(test_frames_that_stand_for_c)
{
        f.process.owner_entry = 3;
        f.process.offsets.frame_is_entry = PYTHON_NO_OFFSET;
        for (uint8_t owner = 3; owner <= 4; owner++) {
                memcpy((char *)f.frames[N_FRAMES - owner] + f.process.offsets.frame_owner, &owner, 1);
        }
        ck_assert_int_eq(read_frames(TID, SECOND_NS), 1);
        ck_assert_uint_eq(f.read.sample.n_frames, N_FRAMES - 2);
        ck_assert_uint_eq(f.read.frame_avma[0], avma_of(f.frames[N_FRAMES - 1]));
        ck_assert_uint_eq(f.read.frame_avma[1], avma_of(f.frames[N_FRAMES - 2]));
        ck_assert_uint_eq(f.read.sample.frames[0].code & 1, 0);
        ck_assert_uint_eq(f.read.sample.frames[1].code & 1, 1);
        ck_assert_uint_eq(f.read.sample.frames[2].code & 1, 0);
}
END_TEST

/* A thread without a lock runs a copy of the instructions: its place is said as that in the code object. */
START_TEST(test_instructions_of_a_copy)
{
        uint64_t copies[4] = { 3, 0, 0x7000, 0x8000 };
        uint32_t which = 1;

        f.process.offsets.frame_copy = 72;
        f.process.offsets.code_copies = 0;
        f.process.offsets.code_instructions = 200;
        f.code[N_FRAMES - 2][0] = avma_of(copies);
        f.frames[N_FRAMES - 2][INSTRUCTION] = 0x7010;
        memcpy((char *)f.frames[N_FRAMES - 2] + 72, &which, sizeof(which));
        which = PYTHON_COPIES_MAX; /* makes no sense */
        memcpy((char *)f.frames[N_FRAMES - 4] + 72, &which, sizeof(which));
        which = 2; /* its code object cannot be read */
        memcpy((char *)f.frames[N_FRAMES - 5] + 72, &which, sizeof(which));
        ck_assert_int_eq(read_frames(TID, SECOND_NS), 1);
        ck_assert_uint_eq(f.read.sample.frames[0].instruction, 0x2000 + N_FRAMES - 1);
        ck_assert_uint_eq(f.read.sample.frames[1].instruction, avma_of(f.code[N_FRAMES - 2]) + 200 + 0x10);
        ck_assert_uint_eq(f.read.sample.frames[3].instruction, 0x2000 + N_FRAMES - 4);
        ck_assert_uint_eq(f.read.sample.frames[4].instruction, 0x2000 + N_FRAMES - 5);
}
END_TEST

/* A thread has a state in each interpreter that it ran: those with frames, the one made last first. */
START_TEST(test_a_thread_of_two_interpreters)
{
        static uint64_t main_interpreter[16], main_state[32], main_link[4];

        f.interpreter[0] = avma_of(main_interpreter); /* next */
        main_interpreter[THREADS] = avma_of(main_state);
        main_state[NATIVE_ID] = TID;
        main_state[CFRAME] = avma_of(main_link);
        main_link[LINK] = avma_of(f.frames[1]);
        ck_assert_int_eq(read_frames(TID, SECOND_NS), 1);
        ck_assert_uint_eq(f.read.sample.n_frames, N_FRAMES + 2);
        ck_assert_uint_eq(f.read.frame_avma[N_FRAMES], avma_of(f.frames[1]));
        ck_assert_uint_eq(f.read.sample.frames[N_FRAMES - 1].code & 1, 1);
        f.link[LINK] = 0; /* it has returned from there */
        ck_assert_int_eq(read_frames(TID, SECOND_NS + 1), 1);
        ck_assert_uint_eq(f.read.sample.n_frames, 2);
        f.link[LINK] = avma_of(f.frames[2]);
        main_link[LINK] = 0;
        ck_assert_int_eq(read_frames(TID, SECOND_NS + 2), 1);
        ck_assert_uint_eq(f.read.sample.n_frames, 3);
}
END_TEST

/* Many threads that are nowhere in a long list: after so many steps none is looked for, for a while. */
START_TEST(test_searches_are_bounded)
{
        f.other[NEXT] = avma_of(f.other);
        for (uint32_t i = 0; i < PACE_PYTHON_STEPS / PYTHON_THREADS_MAX; i++)
                ck_assert_int_eq(read_frames(1000 + i, SECOND_NS), 0);
        f.other[NEXT] = avma_of(f.thread);
        ck_assert_int_eq(read_frames(TID, SECOND_NS + 1), 0);
        ck_assert_int_eq(read_frames(TID, SECOND_NS + PYTHON_RETRY_NS), 1);
}
END_TEST

START_TEST(test_lists_without_an_end)
{
        f.frames[0][PREVIOUS] = avma_of(f.frames[N_FRAMES - 1]);
        ck_assert_int_eq(read_frames(TID, SECOND_NS), 1);
        ck_assert_uint_le(f.read.sample.n_frames, PYTHON_FRAMES_MAX);
        ck_assert_uint_eq(f.read.sample.flags, PYTHON_FLAG_CUT);
        f.thread[NEXT] = avma_of(f.other);
        ck_assert_int_eq(read_frames(TID + 5, SECOND_NS), 0);
}
END_TEST

START_TEST(test_memory_that_is_not_there)
{
        f.frames[N_FRAMES - 3][PREVIOUS] = 0xffffffffffffffb0;
        ck_assert_int_eq(read_frames(TID, SECOND_NS), 1);
        ck_assert_uint_eq(f.read.sample.n_frames, 3);
        ck_assert_uint_eq(f.read.sample.flags, PYTHON_FLAG_CUT);
        f.link[LINK] = 8;
        ck_assert_int_eq(read_frames(TID, SECOND_NS), 0);
        f.process.interpreters_avma = 8;
        ck_assert_int_eq(read_frames(TID + 9, SECOND_NS), 0);
}
END_TEST

/* Three groups; @registers and @copy: numbers of their innermost frames, of which 0 is no one's. */
static bool fits(uint64_t in_register, uint64_t second, uint64_t third, bool is_full)
{
        static struct python_late_sample late = {
                .sample = { .n_frames = 4,
                            .frames = { { .code = 16 }, { .code = 17 }, { .code = 17 }, { .code = 17 } } },
                .frame_avma = { 10, 20, 30, 40 }
        };
        const uint64_t copy[] = { 5, second, 7, third, 20 };
        const struct raw_stack raw = { .registers = (const uint8_t *)&in_register,
                                       .registers_bytes = sizeof(in_register),
                                       .copy = (const uint8_t *)copy,
                                       .copy_bytes = sizeof(copy),
                                       .copy_is_full = is_full };

        return python_late_fits(&late, &raw);
}

START_TEST(test_frames_fit_a_stack_that_has_their_addresses)
{
        ck_assert(fits(10, 30, 40, false));
        ck_assert(fits(10, 40, 30, true)); /* in any order: a callee keeps its caller's as well */
        ck_assert(!fits(20, 30, 40, false));
        ck_assert(!fits(30, 10, 8, false));
        ck_assert(fits(0, 10, 30, true));  /* the copy ends before the third */
        ck_assert(!fits(0, 10, 40, true)); /* the second is missing between */
        ck_assert(!fits(0, 30, 40, true));
}
END_TEST

START_TEST(test_nothing_fits_what_was_not_copied)
{
        const struct python_late_sample late = { .sample = { .n_frames = 1 }, .frame_avma = { 10 } };
        const struct raw_stack raw = { .ip_avma = 10 };

        ck_assert(!python_late_fits(&late, &raw));
}
END_TEST

/* ---- a sample of before -------------------------------------------------------------------------------- */

#define N_INSTRUCTIONS 64
#define N_REGISTERS    64

/* All frames have code objects here; the registers and the stack of a sample are as the interpreter's. */
static struct sampled {
        uint64_t codes[N_FRAMES][64];
        uint64_t registers[N_REGISTERS], copy[N_FRAMES + FRAME_WORDS];
        struct raw_stack raw;
        const struct unwind_machine *machine;
} s;

static uint64_t instruction_of(uint32_t number)
{
        return avma_of(s.codes[number]) + f.process.objects.code_instructions + 2 * N_INSTRUCTIONS - 2;
}

/* A register that is neither the stack pointer nor the program counter. */
static void put_register(unsigned which, uint64_t value)
{
        unsigned at = 0, n = 0;

        for (uint64_t left = s.machine->perf_registers; left != 0; left &= left - 1, at++) {
                uint8_t number = s.machine->perf_to_dwarf[__builtin_ctzll(left)];

                if (number != s.machine->sp && number != UNWIND_REGISTER_PC && n++ == which)
                        s.registers[at] = value;
        }
}

static void put_stack_pointer(uint64_t value)
{
        unsigned at = 0;

        for (uint64_t left = s.machine->perf_registers; left != 0; left &= left - 1, at++)
                if (s.machine->perf_to_dwarf[__builtin_ctzll(left)] == s.machine->sp)
                        s.registers[at] = value;
}

/* It was in function @number; the thread is in the frame @now_in.  Returns what python_late_match() says. */
static bool match(uint32_t number, uint64_t instruction, uint32_t now_in)
{
        for (uint32_t i = 0; i < N_FRAMES; i++)
                s.copy[i] = avma_of(f.frames[i]); /* the groups' innermost frames are among them */
        s.copy[number] = 0;
        put_register(0, avma_of(f.frames[number]));
        put_register(1, instruction);
        f.link[LINK] = avma_of(f.frames[now_in]);
        ck_assert_int_eq(read_frames(TID, SECOND_NS), 1);
        return python_late_match(f.late, &f.process, &s.raw, &f.read);
}

static bool sampled_open(void)
{
        memset(&s, 0, sizeof(s));
        s.machine = unwind_machine_own();
        if (!s.machine)
                return false;
        for (uint32_t i = 0; i < N_FRAMES; i++) {
                s.codes[i][1] = 0x5000; /* the type */
                s.codes[i][2] = N_INSTRUCTIONS;
                s.codes[i][68 / 8] = (uint64_t)(FRAME_WORDS - 9) << 32; /* the stack's size, of 3.11 */
                f.frames[i][CODE] = avma_of(s.codes[i]);
        }
        s.raw = (struct raw_stack){ .registers = (const uint8_t *)s.registers,
                                    .registers_bytes = 8 * (size_t)__builtin_popcountll(
                                                                   s.machine->perf_registers),
                                    .copy = (const uint8_t *)s.copy,
                                    .copy_bytes = N_FRAMES * sizeof(uint64_t) };
        /* Code objects are known once they were seen. */
        ck_assert(match(N_FRAMES - 1, instruction_of(N_FRAMES - 1), N_FRAMES - 1));
        return true;
}

/* Since the sample the thread has called a function, stayed, or returned up to twice. */
START_LOOP_TEST(test_frames_of_before_are_found, 0, 4)
{
        uint32_t number = N_FRAMES - 2;

        if (!sampled_open())
                return;
        put_register(2, avma_of(f.frames[number + 1]));
        ck_assert(match(number, instruction_of(number), N_FRAMES - 1 - (uint32_t)_i));
        ck_assert_uint_eq(f.read.sample.n_frames, number + 1);
        for (uint32_t i = 0; i <= number; i++)
                ck_assert_uint_eq(f.read.frame_avma[i], avma_of(f.frames[number - i]));
}
END_TEST

/* Where a call begins the instruction is the caller's still; C calls no function that way. */
START_TEST(test_a_function_that_begins_is_the_innermost)
{
        uint32_t number = N_FRAMES - 1, entry = N_FRAMES - 4;

        if (!sampled_open())
                return;
        ck_assert(match(number, instruction_of(number - 1), number - 2));
        ck_assert_uint_eq(f.read.frame_avma[0], avma_of(f.frames[number]));
        ck_assert(!match(entry, instruction_of(entry - 1), entry - 2));
        ck_assert(match(entry, instruction_of(entry), entry - 2));
}
END_TEST

/* Another function than the one that ran is refused, and so is a stack that is not whole. */
START_TEST(test_frames_of_another_time_do_not_match)
{
        uint32_t number = N_FRAMES - 1;

        if (!sampled_open())
                return;
        ck_assert(!match(number, 0, number));                          /* no instruction */
        ck_assert(!match(number, instruction_of(number) + 2, number)); /* after the last one */
        f.frames[number][CODE] = avma_of(s.codes[number - 2]); /* another function has its place now */
        ck_assert(!match(number, instruction_of(number), number));
        ck_assert(!match(number, instruction_of(number), number - 1));
        f.frames[number][CODE] = avma_of(f.other); /* no code object */
        ck_assert(!match(number, instruction_of(number), number - 1));
        f.frames[number][CODE] = avma_of(s.codes[number]);
        f.frames[number - 2][CODE] = avma_of(f.other); /* nor one of a caller */
        ck_assert(!match(number, instruction_of(number), number - 3));
        f.frames[number - 2][CODE] = avma_of(s.codes[number - 2]);
        s.codes[number - 2][68 / 8] -= UINT64_C(1) << 32; /* a caller with a smaller frame */
        ck_assert(!match(number, instruction_of(number), number - 3));
        s.codes[number - 2][68 / 8] += UINT64_C(1) << 32;
        s.codes[number - 2][1] = 0x6000; /* an object of another type */
        ck_assert(!match(number, instruction_of(number), number - 3));
        s.codes[number - 2][1] = 0x5000;
        f.frames[number][PREVIOUS] = 0; /* it leads nowhere */
        ck_assert(!match(number, instruction_of(number), number - 1));
        f.frames[number][PREVIOUS] = avma_of(f.frames[number]); /* or in a circle */
        ck_assert(!match(number, instruction_of(number), number - 1));
        f.frames[number][PREVIOUS] = avma_of(f.frames[number - 1]);
        ck_assert(match(number, instruction_of(number), number - 1));
}
END_TEST

/* Frames that lie on the stack itself are as they were at the sample. */
START_TEST(test_frames_on_the_stack_are_of_the_sample)
{
        uint32_t number = N_FRAMES - 1;

        if (!sampled_open())
                return;
        memcpy(s.copy + N_FRAMES, f.frames[number], sizeof(f.frames[number]));
        s.raw.copy_bytes = sizeof(s.copy);
        f.frames[number][CODE] = avma_of(f.other);
        ck_assert(!match(number, instruction_of(number), number - 1));
        put_stack_pointer(avma_of(f.frames[number]) - N_FRAMES * sizeof(uint64_t));
        ck_assert(match(number, instruction_of(number), number - 1));
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
