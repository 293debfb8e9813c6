/* SPDX-License-Identifier: MIT */
#include "task_steps.h"

#include <hyprof/hyprof.h>
#include <string.h>

#define STRAND_NAME "_hyprof_strand"

/* Found in asyncio by hyprof/_tasks.py.  Owned, guarded by the GIL. */
static struct {
        PyObject *task_types;   /* a tuple; NULL = asyncio is not there yet */
        PyObject *current_task; /* asyncio.current_task */
        PyObject *running_loop; /* asyncio._get_running_loop */
        bool takes_all;         /* calls are recorded: a task's first step gives it a strand */
        bool is_looking;
} watch;

uint32_t task_steps_start_number;

static void free_capsule(PyObject *capsule)
{
        struct strand *s = PyCapsule_GetPointer(capsule, STRAND_NAME);

        /* The thread that runs the last step of a task drops the task only then. */
        if (strand_thread_self && strand_thread_self->current == s)
                strand_switch(strand_thread_self, &strand_thread_self->own);
        strand_free(s);
}

/* The strand in the __dict__ of a task or greenlet, or NULL.  May set an exception. */
static struct strand *find_strand(PyObject *dict)
{
        PyObject *capsule = PyDict_GetItemString(dict, STRAND_NAME);

        return capsule ? PyCapsule_GetPointer(capsule, STRAND_NAME) : NULL;
}

static struct strand *add_strand(PyObject *dict, const char *base)
{
        struct strand *s = strand_new(base);
        PyObject *capsule = s ? PyCapsule_New(s, STRAND_NAME, free_capsule) : NULL;

        if (!capsule) {
                if (s)
                        strand_free(s);
                return NULL;
        }
        if (PyDict_SetItemString(dict, STRAND_NAME, capsule) < 0)
                s = NULL;
        Py_DECREF(capsule);
        return s;
}

/* A new str, or NULL with an exception set. */
static PyObject *name_of_coroutine(PyObject *task)
{
        PyObject *coroutine = PyObject_CallMethod(task, "get_coro", NULL);
        PyObject *name = coroutine ? PyObject_GetAttrString(coroutine, "__qualname__") : NULL;

        Py_XDECREF(coroutine);
        return name;
}

/* The name that the program gave the task, else its coroutine's.  A new object or NULL. */
static PyObject *name_of_task(PyObject *task)
{
        PyObject *name = PyObject_CallMethod(task, "get_name", NULL);
        const char *text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
        PyObject *better;

        if (text && strncmp(text, "Task-", 5) != 0)
                return name;
        better = name_of_coroutine(task);
        if (!better)
                return name;
        Py_XDECREF(name);
        return better;
}

static struct strand *make_task_strand(PyObject *task, PyObject *dict)
{
        PyObject *name = name_of_task(task);
        const char *text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
        struct strand *s;

        PyErr_Clear();
        s = add_strand(dict, text ? text : "task");
        if (s)
                s->is_task = true;
        Py_XDECREF(name);
        return s;
}

/* The strand of a task; NULL if it has none, and is to get none. */
static struct strand *strand_of_task(PyObject *task, bool is_to_get_one)
{
        PyObject *dict = PyObject_GenericGetDict(task, NULL);
        struct strand *s = dict ? find_strand(dict) : NULL;

        if (dict && !s && is_to_get_one)
                s = make_task_strand(task, dict);
        Py_XDECREF(dict);
        PyErr_Clear();
        return s;
}

static bool is_task(PyObject *object)
{
        if ((PyObject *)Py_TYPE(object) == PyTuple_GET_ITEM(watch.task_types, 0))
                return true;
        return PyObject_IsInstance(object, watch.task_types) == 1;
}

/* The task of which a loop's @callback is a step; a new reference, or NULL. */
static PyObject *task_of(PyObject *callback)
{
        PyObject *self = PyCFunction_CheckExact(callback) ? Py_XNewRef(PyCFunction_GET_SELF(callback))
                                                          : PyObject_GetAttrString(callback, "__self__");

        if (self && is_task(self))
                return self;
        Py_XDECREF(self);
        PyErr_Clear();
        return NULL;
}

PyObject *task_steps_begin(PyObject *module, PyObject *callback)
{
        struct strand_thread *t;
        struct strand *s;
        PyObject *task;

        (void)module;
        if (!hyprof_is_recording() || !watch.task_types)
                Py_RETURN_FALSE;
        t = strand_thread_here();
        if (!t)
                Py_RETURN_FALSE;
        task = task_of(callback);
        t->is_in_step = true;
        t->task = task; /* the loop holds it for the step */
        s = task ? strand_of_task(task, watch.takes_all) : NULL;
        if (s)
                t->task = NULL;
        strand_switch(t, s ? s : &t->own);
        Py_XDECREF(task);
        Py_RETURN_TRUE;
}

PyObject *task_steps_end(PyObject *module, PyObject *unused)
{
        struct strand_thread *t = strand_thread_self;

        (void)module;
        (void)unused;
        if (t) {
                t->is_in_step = false;
                t->task = NULL;
                strand_switch(t, &t->own);
        }
        Py_RETURN_NONE;
}

PyObject *task_steps_watch(PyObject *module, PyObject *args)
{
        PyObject *types, *current_task, *running_loop;

        (void)module;
        if (!PyArg_ParseTuple(args, "O!OO:task_steps_watch", &PyTuple_Type, &types, &current_task,
                              &running_loop))
                return NULL;
        if (!watch.task_types) {
                watch.current_task = Py_NewRef(current_task);
                watch.running_loop = Py_NewRef(running_loop);
                watch.task_types = Py_NewRef(types);
        }
        Py_RETURN_NONE;
}

PyObject *task_steps_set_all(PyObject *module, PyObject *flag)
{
        (void)module;
        watch.takes_all = PyObject_IsTrue(flag) == 1;
        task_steps_start_number += watch.takes_all;
        Py_RETURN_NONE;
}

PyObject *task_steps_switch_greenlet(PyObject *module, PyObject *greenlet)
{
        struct strand_thread *t = strand_thread_here();
        struct strand *s = NULL;
        PyObject *dict;

        (void)module;
        if (!t)
                Py_RETURN_NONE;
        if (greenlet == Py_None) { /* the thread's first one */
                strand_switch(t, &t->own);
                Py_RETURN_NONE;
        }
        dict = PyObject_GenericGetDict(greenlet, NULL);
        if (dict)
                s = find_strand(dict);
        if (dict && !s && hyprof_is_recording())
                s = add_strand(dict, "greenlet");
        Py_XDECREF(dict);
        PyErr_Clear();
        strand_switch(t, s ? s : &t->own);
        Py_RETURN_NONE;
}

static bool is_imported(const char *module)
{
        PyObject *modules = PyImport_GetModuleDict();

        return modules && PyDict_GetItemString(modules, module) != NULL;
}

/* False: it is still being imported, maybe. */
static bool call_watch(const char *module)
{
        bool is_watched;

        PyObject *m, *result;

        watch.is_looking = true;
        m = PyImport_ImportModule(module);
        result = m ? PyObject_CallMethod(m, "watch", NULL) : NULL;
        watch.is_looking = false;
        PyErr_Clear();
        is_watched = result == Py_True;
        Py_XDECREF(result);
        Py_XDECREF(m);
        return is_watched;
}

void task_steps_look(struct strand_thread *t)
{
        PyObject *type, *value, *traceback;

        if (watch.is_looking)
                return;
        PyErr_Fetch(&type, &value, &traceback);
        if (!watch.task_types && is_imported("asyncio"))
                (void)call_watch("hyprof._tasks");
        if (!t->watches_greenlets && is_imported("greenlet"))
                t->watches_greenlets = call_watch("hyprof._greenlets");
        PyErr_Restore(type, value, traceback);
}

/* The task that runs, by asking asyncio; a new reference or NULL. */
static PyObject *ask_task(void)
{
        PyObject *loop = PyObject_CallNoArgs(watch.running_loop);
        PyObject *task = loop && loop != Py_None ? PyObject_CallOneArg(watch.current_task, loop) : NULL;

        Py_XDECREF(loop);
        if (task == Py_None)
                Py_CLEAR(task);
        return task;
}

static void follow(struct strand_thread *t)
{
        PyObject *task = !PYTHON_API_HAS_MONITORING && t->task ? Py_NewRef(t->task) : ask_task();
        struct strand *s = task ? strand_of_task(task, true) : NULL;

        t->task = NULL;
        if (s)
                strand_switch(t, s);
        else if (t->current->is_task)
                strand_switch(t, &t->own);
        Py_XDECREF(task);
}

void task_steps_follow_task(struct strand_thread *t)
{
        PyObject *type, *value, *traceback;

        if (!watch.task_types || !t->watches_greenlets)
                task_steps_look(t);
        if (!watch.task_types)
                return;
        PyErr_Fetch(&type, &value, &traceback);
        follow(t);
        PyErr_Clear();
        PyErr_Restore(type, value, traceback);
}
