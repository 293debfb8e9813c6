/* SPDX-License-Identifier: MIT */
/*
 * python/native/profile_hooks.c - calls as zones on CPython 3.11
 *
 * The profile function is set for each existing thread, and for each thread that `_thread.start_new_thread`
 * makes before that thread runs its first line: the caller makes its state while still holding the GIL.
 * Threads made by C code are found by looking through all threads once in a while.
 *
 * When the hooks are switched off, a thread keeps its profile function until its last call that is a zone
 * has returned, and until the calls of tasks and greenlets, which may go on in any thread, have returned as
 * well.
 */
#include "native_module.h"

#include "c_calls.h"
#include "code_table.h"
#include "profile_chain.h"
#include "strand.h"
#include "task_steps.h"

#include <hyprof/hyprof.h>

#if !PYTHON_API_HAS_MONITORING

#define CALLS_BETWEEN_LOOKS 4096

/* Guarded by the GIL. */
static struct {
        bool is_on;
        bool are_fibers_open; /* the hooks are off, but calls of tasks or greenlets are open */
        uint32_t n_calls;
} hooks;

static void hook_threads(void);

static const void *line_key(const PyFrameObject *frame)
{
        return (const char *)frame + 1;
}

static void begin_call(struct strand_thread *t, struct code_entry *entry, PyCodeObject *code,
                       const PyFrameObject *frame)
{
        struct hyprof_location *location = NULL;

        task_steps_catch_up(t);
        if (strand_resume(t->current, frame, code->co_flags))
                return;
        if (HYPROF_WANTED_(HYPROF_FAMILY_ZONES_))
                location = code_table_location(entry, code);
        strand_begin(t->current, frame, location, true);
}

static void on_call(PyFrameObject *frame)
{
        PyCodeObject *code = PyFrame_GetCode(frame);
        struct strand_thread *t = strand_thread_here();
        struct code_entry *entry = code_table_find(code, frame);

        if (t && entry && entry->is_included)
                begin_call(t, entry, code, frame);
        Py_DECREF(code);
        if (__builtin_expect(++hooks.n_calls == CALLS_BETWEEN_LOOKS, 0)) {
                hooks.n_calls = 0;
                hook_threads();
        }
}

static void on_return(PyFrameObject *frame)
{
        struct strand_thread *t = strand_thread_self;

        if (!t || t->current->n_entries == 0)
                return;
        if (t->current->entries[t->current->n_entries - 1].key != frame) {
                PyCodeObject *code = PyFrame_GetCode(frame);
                struct code_entry *entry = code_table_find(code, frame);
                bool is_ours = entry && entry->is_included;
                int co_flags = code->co_flags;

                Py_DECREF(code);
                if (is_ours)
                        (void)strand_leave(t->current, frame, co_flags);
                return;
        }
        strand_end(t->current, frame);
}

/* True if a return on this thread may end a call that is a zone. */
static bool are_returns_wanted(void)
{
        const struct strand_thread *t = strand_thread_self;

        if (hooks.is_on || hooks.are_fibers_open)
                return true;
        return t && (strand_has_call(t->current) || strand_has_call(&t->own));
}

/* A return after the hooks were switched off. */
static void end_late(PyFrameObject *frame)
{
        struct strand_thread *t = strand_thread_self;
        uint32_t n_entries = t ? t->current->n_entries : 0;

        on_return(frame);
        if (t && t->current->fiber && t->current->n_entries != n_entries)
                hooks.are_fibers_open = strand_is_fiber_call_open();
        if (!are_returns_wanted())
                profile_chain_leave_profile(PyThreadState_Get());
}

static void on_c_call(PyFrameObject *frame, PyObject *function)
{
        PyCodeObject *code = PyFrame_GetCode(frame);
        struct strand_thread *t = strand_thread_here();
        struct code_entry *entry = code_table_find(code, frame);

        if (t && entry && entry->is_included)
                c_calls_begin(t, function);
        Py_DECREF(code);
}

static int on_profile(PyObject *self, PyFrameObject *frame, int event, PyObject *value)
{
        (void)self;
        if (__builtin_expect(profile_chain_is_disturbed, 0)) {
                profile_chain_is_disturbed = false;
                hook_threads();
        }
        if (event == PyTrace_RETURN && hooks.is_on)
                on_return(frame);
        else if (event == PyTrace_RETURN)
                end_late(frame);
        else if (event == PyTrace_CALL && hooks.is_on)
                on_call(frame);
        else if (event == PyTrace_C_CALL && hooks.is_on && c_calls_are_wanted)
                on_c_call(frame, value);
        else if ((event == PyTrace_C_RETURN || event == PyTrace_C_EXCEPTION) && c_calls_are_wanted &&
                 strand_thread_self)
                c_calls_end(strand_thread_self, value);
        return 0;
}

static int on_trace(PyObject *self, PyFrameObject *frame, int event, PyObject *value)
{
        struct strand_thread *t = strand_thread_self;
        struct code_entry *entry;
        PyCodeObject *code;

        (void)self;
        (void)value;
        if (event != PyTrace_LINE || !hooks.is_on || !t)
                return 0;
        code = PyFrame_GetCode(frame);
        entry = code_table_find(code, frame);
        if (entry && entry->is_included) {
                struct strand *s = t->current;

                if (s->n_entries > 0 && s->entries[s->n_entries - 1].key == line_key(frame))
                        strand_end(s, line_key(frame));
                strand_begin(s, line_key(frame), code_table_line(entry, code, PyFrame_GetLineNumber(frame)),
                             true);
        }
        Py_DECREF(code);
        return 0;
}

/* Hooks all threads.  Returns the number of threads whose calls are not seen. */
static unsigned hook_all_threads(void)
{
        PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
        unsigned n_busy = 0;

        for (; thread; thread = PyThreadState_Next(thread))
                n_busy += profile_chain_enter(thread);
        return n_busy;
}

static void hook_threads(void)
{
        if (hooks.is_on)
                (void)hook_all_threads();
}

static PyObject *start_hooks(PyObject *module, PyObject *with_lines)
{
        int lines = PyObject_IsTrue(with_lines);

        (void)module;
        if (lines < 0)
                return NULL;
        profile_chain_start(on_profile, lines == 1 ? on_trace : NULL);
        hooks.is_on = true;
        hooks.n_calls = 0;
        return PyLong_FromUnsignedLong(hook_all_threads());
}

static PyObject *stop(PyObject *module, PyObject *unused)
{
        PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
        PyThreadState *self = PyThreadState_Get();

        (void)module;
        (void)unused;
        hooks.is_on = false;
        profile_chain_stop();
        for (; thread; thread = PyThreadState_Next(thread))
                profile_chain_leave_trace(thread);
        if (strand_thread_self)
                strand_end_calls(strand_thread_self->current);
        hooks.are_fibers_open = strand_is_fiber_call_open();
        if (!are_returns_wanted())
                profile_chain_leave_profile(self);
        return PyBool_FromLong(strand_is_call_open(NULL));
}

/*
 * This replaces _thread.start_new_thread, which is passed as @start.  It is written in C, so that the GIL
 * is not released before the new thread, which waits for it, has its hooks.
 */
static PyObject *calls_start_thread(PyObject *start, PyObject *args, PyObject *keywords)
{
        PyObject *identity = PyObject_Call(start, args, keywords);

        if (identity)
                hook_threads();
        return identity;
}

static PyMethodDef starter = { "start_new_thread", PYTHON_API_METHOD(calls_start_thread),
                               METH_VARARGS | METH_KEYWORDS, NULL };

/* The function that starts threads by @start, and hooks them. */
static PyObject *calls_starter(PyObject *module, PyObject *start)
{
        (void)module;
        return PyCFunction_New(&starter, start);
}

/* A greenlet that began before us runs again: the interpreter has forgotten the hook on its stack. */
static PyObject *calls_hook_again(PyObject *module, PyObject *unused)
{
        (void)module;
        (void)unused;
        profile_chain_remind(PyThreadState_Get());
        Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
        { "calls_start", start_hooks, METH_O, NULL },
        { "calls_stop", stop, METH_NOARGS, NULL },
        { "calls_starter", calls_starter, METH_O, NULL },
        { "calls_hook_again", calls_hook_again, METH_NOARGS, NULL },
        { NULL, NULL, 0, NULL },
};

int call_hooks_add(PyObject *module)
{
        return PyModule_AddFunctions(module, methods);
}

#endif
