/* SPDX-License-Identifier: MIT */
/*
 * w_fake_python KIND [SECONDS=1]
 *
 * A program that pretends to be CPython 3.11: it exports what an interpreter exports, and its lists make
 * no sense.  Truth: it
 * spends its time in _PyEval_EvalFrameDefault(), and has no Python function.
 *
 *   KIND     the thread's list of frames
 *   loop     a frame that is its own caller
 *   wild     addresses of nothing, and of the kernel
 *   threads  a list of threads without an end, none of which is this one
 *   newer    it says that it is 3.99
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
        PREVIOUS = 6
};

uint64_t _PyRuntime[256];
uint64_t Py_Version = 0x030b02f0;

static uint64_t interpreter[16], thread[32], link_to[4], frame[16], other[32];

static uint64_t address_of(const void *at)
{
        return (uintptr_t)at;
}

BURN_FUNCTION(_PyEval_EvalFrameDefault);

static void set_lists(const char *kind)
{
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
        } else if (strcmp(kind, "newer") == 0) {
                Py_Version = 0x036300f0;
        }
}

int main(int argc, char **argv)
{
        double seconds = burn_argument(argc, argv, 2, 1);

        set_lists(argc > 1 ? argv[1] : "loop");
        _PyEval_EvalFrameDefault(burn_rounds_of((int64_t)(seconds * 1e9)));
        return EXIT_SUCCESS;
}
