/* SPDX-License-Identifier: MIT */
/*
 * w_fake_python KIND [SECONDS=1]
 *
 * A program that pretends to be CPython 3.11: it exports what an interpreter exports, and its lists make
 * no sense.  Truth: it
 * spends its time in _PyEval_EvalFrameDefault(), and has no Python function, but for the kinds "lines" and
 * "late".
 *
 *   KIND     the thread's list of frames
 *   loop     a frame that is its own caller
 *   wild     addresses of nothing, and of the kernel
 *   threads  a list of threads without an end, none of which is this one
 *   newer    it says that it is 3.99
 *   late     its data makes no sense for the first half of the time, then it has functions "A", "B", ..
 *   lines    a ring of frames, whose code objects have tables of lines of a mebibyte, and change all the time
 */
#include "tests/workloads/burn.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Offsets of 3.11, in words. */
enum {
        INTERPRETERS = 5,
        CURRENT = 72,
        THREADS = 2,
        NEXT = 1,
        NATIVE_ID = 20,
        CFRAME = 7,
        LINK = 1,
        CODE = 4,
        PREVIOUS = 6,
        INSTRUCTION = 7,
        CODE_FILE = 14,
        CODE_NAME = 16,
        CODE_LINES = 17,
        CODE_WORDS = 24,
        LENGTH = 2,
        TEXT_STATE = 4
};

#define N_FRAMES    200
#define N_NAMES     64
#define LINES_BYTES (UINT64_C(1) << 20) /* as long as is read */

uint64_t _PyRuntime[256];
uint64_t Py_Version; /* none until main() begins, as while ld.so maps a file */

static uint64_t interpreter[16], thread[32], link_to[4], frame[16], other[32];

static uint64_t frames[N_FRAMES][16], codes[N_FRAMES][CODE_WORDS], names[N_NAMES][8];
static uint64_t lines[LINES_BYTES / sizeof(uint64_t) + 8];

static uint64_t address_of(const void *at)
{
        return (uintptr_t)at;
}

BURN_FUNCTION(_PyEval_EvalFrameDefault);

static void set_lists(const char *kind)
{
        Py_Version = strcmp(kind, "newer") == 0 ? 0x036300f0 : strcmp(kind, "late") == 0 ? 0 : 0x030b02f0;
        _PyRuntime[INTERPRETERS] = address_of(interpreter);
        interpreter[THREADS] = address_of(thread);
        thread[NATIVE_ID] = (uint64_t)syscall(SYS_gettid);
        thread[CFRAME] = address_of(link_to);
        link_to[LINK] = address_of(frame);
        frame[CODE] = 8;
        frame[PREVIOUS] = address_of(frame);
        if (strcmp(kind, "wild") == 0) {
                frame[CODE] = UINT64_C(0xffffffff81000000);
                frame[PREVIOUS] = UINT64_C(0xffff888000000000);
        } else if (strcmp(kind, "threads") == 0) {
                thread[NATIVE_ID] = 1;
                thread[NEXT] = address_of(other);
                other[NEXT] = address_of(thread);
        }
}

static void set_lines(void)
{
        lines[LENGTH] = LINES_BYTES;
        for (size_t i = 0; i < N_NAMES; i++) {
                names[i][LENGTH] = 1;
                names[i][TEXT_STATE] = 1 << 2 | 1 << 5 | 1 << 6;
                names[i][6] = 'A' + i;
        }
        for (size_t i = 0; i < N_FRAMES; i++) {
                codes[i][CODE_FILE] = address_of(names[0]);
                codes[i][CODE_LINES] = address_of(lines);
                frames[i][CODE] = address_of(codes[i]);
                frames[i][INSTRUCTION] = address_of(codes[i] + CODE_WORDS) + LINES_BYTES / 2;
                frames[i][PREVIOUS] = address_of(frames[(i + 1) % N_FRAMES]);
        }
        link_to[LINK] = address_of(frames[0]);
}

static void change_names(size_t round)
{
        for (size_t i = 0; i < N_FRAMES; i++)
                codes[i][CODE_NAME] = address_of(names[(i + round) % N_NAMES]);
}

static void burn_half(double seconds)
{
        _PyEval_EvalFrameDefault(burn_rounds_of((int64_t)(seconds * 1e9 / 2)));
}

int main(int argc, char **argv)
{
        double seconds = burn_argument(argc, argv, 2, 1);

        set_lists(argc > 1 ? argv[1] : "loop");
        if (argc > 1 && strcmp(argv[1], "lines") == 0) {
                uint64_t rounds = burn_rounds_of(1000000);

                set_lines();
                for (size_t round = 0; round < (size_t)(seconds * 1000); round++) {
                        change_names(round);
                        _PyEval_EvalFrameDefault(rounds);
                }
                return EXIT_SUCCESS;
        }
        burn_half(seconds);
        if (argc > 1 && strcmp(argv[1], "late") == 0) {
                set_lines();
                lines[LENGTH] = 0;
                change_names(0);
                Py_Version = 0x030b02f0;
        }
        burn_half(seconds);
        return EXIT_SUCCESS;
}
