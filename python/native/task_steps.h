/* SPDX-License-Identifier: MIT */
/*
 * python/native/task_steps.h - which task of asyncio, or greenlet, a thread runs
 *
 * Way of the data:  asyncio, greenlet -> [task_steps] -> strand
 *
 * A task becomes a strand, and so a fiber, with its first zone while a recorder is there, and stays one in
 * all of its later steps.  Its strand lies in the task's __dict__ and is freed with it.  Loops that run their
 * callbacks by asyncio's Handle report the beginning and the end of a step (hyprof/_tasks.py); with other
 * loops (uvloop), each zone asks which task runs, and a task counts as running until the next zone on that
 * thread.
 */
#ifndef PYTHON_NATIVE_TASK_STEPS_H
#define PYTHON_NATIVE_TASK_STEPS_H

#include "python_api.h"

#include "strand.h"

/* Methods of the module; _native.pyi says what they take. */
PyObject *task_steps_begin(PyObject *module, PyObject *callback);
PyObject *task_steps_end(PyObject *module, PyObject *unused);
PyObject *task_steps_watch(PyObject *module, PyObject *args);
PyObject *task_steps_set_all(PyObject *module, PyObject *flag);
PyObject *task_steps_switch_greenlet(PyObject *module, PyObject *greenlet);

/*
 * task_steps_look() - have asyncio or greenlet been imported meanwhile?
 * Then they are watched from now on.  Imports modules of hyprof; keeps a pending exception.
 */
void task_steps_look(struct strand_thread *t);

/* The slow half of task_steps_follow(). */
void task_steps_follow_task(struct strand_thread *t);

/*
 * Before a zone begins: lets the thread go on as the task that runs, if there is one.  Keeps a pending
 * exception.
 */
static inline void task_steps_follow(struct strand_thread *t)
{
        /* Since 3.12 a task may run its first step inside of another's. */
        if (PYTHON_API_HAS_MONITORING || t->task || !t->is_in_step)
                task_steps_follow_task(t);
}

/* How many times the recording of calls has started.  Guarded by the GIL. */
extern uint32_t task_steps_start_number;

/*
 * Before a call begins: does the same, once after each start, since the step of the running task may have
 * begun before calls were recorded.
 */
static inline void task_steps_catch_up(struct strand_thread *t)
{
        if (__builtin_expect(t->start_number == task_steps_start_number, 1))
                return;
        t->start_number = task_steps_start_number;
        task_steps_follow_task(t);
}

#endif /* PYTHON_NATIVE_TASK_STEPS_H */
