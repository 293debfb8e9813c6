/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/fake_code_tables.h - instead of sampler/tables/code_tables.c: one module with a table
 *
 * Way of the data:  a test -> [fake_code_tables] -> stack_unwinder
 *
 * It defines the functions of code_tables.h, so one test alone includes it.  MODULE_LATE
 * shares the table when it has come.
 */
#ifndef TESTS_UNIT_FAKE_CODE_TABLES_H
#define TESTS_UNIT_FAKE_CODE_TABLES_H

#include "sampler/tables/code_tables.h"
#include "unwind/unwind_module.h"

#include <check.h>
#include <stdbool.h>
#include <stdint.h>

enum { MODULE_GOOD = 1, MODULE_LATE, MODULE_JIT };

struct code_tables {
        const struct unwind_module *module;
        enum code_tables_answer late_answer, after_waiting;
        uint32_t epoch;
        unsigned n_waits;
};

int code_tables_new(struct table_process *process, struct recorder_pace *pace, struct loss_counter *losses,
                    struct code_tables **ret_tables, struct error *err)
{
        (void)process, (void)pace, (void)losses, (void)ret_tables, (void)err;
        return -1;
}

void code_tables_free(struct code_tables *t)
{
        (void)t;
}

int code_tables_want(struct code_tables *t, uint32_t module, const struct trace_module *row, uint32_t pid,
                     const struct perf_mmap *mmap)
{
        (void)t, (void)module, (void)row, (void)pid, (void)mmap;
        return -1;
}

int code_tables_want_image(struct code_tables *t, uint32_t module, int image_fd)
{
        (void)t, (void)module, (void)image_fd;
        return -1;
}

int code_tables_want_jit(struct code_tables *t, uint32_t process, const struct jit_frames *frames)
{
        (void)t, (void)process, (void)frames;
        return 0;
}

void code_tables_forget_jit(struct code_tables *t, uint32_t process)
{
        (void)t, (void)process;
}

const struct unwind_table *code_tables_find_of_jit(const struct code_tables *t, uint32_t process,
                                                   uint64_t avma)
{
        (void)t, (void)process, (void)avma;
        return NULL;
}

int code_tables_find_landmarks(const struct code_tables *t, uint32_t module,
                               struct module_landmarks *ret_landmarks)
{
        (void)t, (void)module, (void)ret_landmarks;
        return 0;
}

void code_tables_set_patient(struct code_tables *t, bool is_patient)
{
        (void)t, (void)is_patient;
}

void code_tables_release(struct code_tables *t)
{
        (void)t;
}

int code_tables_take(struct code_tables *t)
{
        (void)t;
        return -1;
}

enum code_tables_answer code_tables_find(const struct code_tables *t, uint32_t module,
                                         const struct unwind_module **ret_module)
{
        *ret_module = t->module;
        return module == MODULE_GOOD   ? CODE_TABLES_READY
               : module == MODULE_LATE ? t->late_answer
                                       : CODE_TABLES_NONE;
}

static void answer(struct code_tables *t, enum code_tables_answer late_answer)
{
        t->epoch += t->late_answer != late_answer;
        t->late_answer = late_answer;
}

bool code_tables_wait(struct code_tables *t, uint32_t module, uint64_t limit_ns)
{
        ck_assert_uint_eq(module, MODULE_LATE);
        if (limit_ns > 0) {
                t->n_waits++;
                answer(t, t->after_waiting);
        }
        return t->late_answer != CODE_TABLES_COMING;
}

bool code_tables_wait_next(struct code_tables *t, uint64_t limit_ns)
{
        (void)t, (void)limit_ns;
        return false;
}

uint32_t code_tables_epoch(const struct code_tables *t)
{
        return t->epoch;
}

#endif /* TESTS_UNIT_FAKE_CODE_TABLES_H */
