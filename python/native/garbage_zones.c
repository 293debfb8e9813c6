/* SPDX-License-Identifier: MIT */
#include "native_module.h"

#include "strand.h"
#include "task_steps.h"

#include <stdio.h>

#define N_GENERATIONS 3

/* One for the process: a collection never begins inside of another.  Guarded by the GIL. */
static struct {
        struct hyprof_location *locations[N_GENERATIONS];
        hyprof_zone zone;
        bool is_open;
} garbage;

/* -1: it is not there. */
static long read_field(PyObject *facts, const char *name)
{
        PyObject *number = PyDict_Check(facts) ? PyDict_GetItemString(facts, name) : NULL;

        return number && PyLong_CheckExact(number) ? PyLong_AsLong(number) : -1;
}

static struct hyprof_location *find_location(long generation)
{
        size_t n = generation < 0 ? 0 : generation < N_GENERATIONS ? (size_t)generation : N_GENERATIONS - 1;
        char name[64];
        int n_bytes;

        if (!garbage.locations[n]) {
                n_bytes = snprintf(name, sizeof(name), "garbage collection, generation %zu", n);
                garbage.locations[n] = hyprof_location_of(name, (size_t)n_bytes, NULL, 0, NULL, 0, 0, 0);
        }
        return garbage.locations[n];
}

static void end(PyObject *facts)
{
        long n_collected = read_field(facts, "collected");

        if (!garbage.is_open)
                return;
        garbage.is_open = false;
        if (n_collected >= 0)
                hyprof_zone_value(garbage.zone, n_collected);
        if (strand_thread_self)
                (void)strand_end(strand_thread_self->current, &garbage);
}

static void begin(PyObject *facts)
{
        struct strand_thread *t = strand_thread_here();

        if (!t)
                return;
        task_steps_follow(t);
        garbage.zone = strand_begin(t->current, &garbage, find_location(read_field(facts, "generation")),
                                    false);
        garbage.is_open = true;
}

PyObject *garbage_zones_note(PyObject *module, PyObject *const *args, Py_ssize_t n_args)
{
        PyThreadState *thread = PyThreadState_Get();

        (void)module;
        if (n_args != 2 || !PyUnicode_Check(args[0]))
                Py_RETURN_NONE;
        PyThreadState_EnterTracing(thread);
        end(args[1]);
        if (PyUnicode_CompareWithASCIIString(args[0], "start") == 0 && HYPROF_WANTED_(HYPROF_FAMILY_ZONES_))
                begin(args[1]);
        PyThreadState_LeaveTracing(thread);
        Py_RETURN_NONE;
}
