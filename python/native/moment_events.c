/* SPDX-License-Identifier: MIT */
#include "native_module.h"

#include "argument.h"
#include "call_site.h"

#include <hyprof/hyprof.h>

/*
 * A recorder must never end a program: a failure that only the recorder causes is reported, and the event
 * is left out.
 */
static PyObject *leave_out(const char *function)
{
        PyObject *type, *value, *traceback, *name;

        PyErr_Fetch(&type, &value, &traceback);
        name = PyUnicode_FromFormat("hyprof.%s", function);
        PyErr_Restore(type, value, traceback);
        PyErr_WriteUnraisable(name);
        Py_XDECREF(name);
        Py_RETURN_NONE;
}

static PyObject *is_recording(PyObject *module, PyObject *unused)
{
        (void)module;
        (void)unused;
        return PyBool_FromLong(hyprof_is_recording());
}

/* message(text, severity, color) */
static PyObject *message(PyObject *module, PyObject *args)
{
        PyObject *words;
        int severity;
        unsigned int color;
        struct text_argument text;

        (void)module;
        if (!hyprof_is_recording())
                Py_RETURN_NONE;
        if (!PyArg_ParseTuple(args, "OiI:message", &words, &severity, &color) ||
            !text_argument_take(&text, words))
                return leave_out("message");
        hyprof_message(text.text, text.n_bytes, (enum hyprof_severity)severity, color);
        text_argument_drop(&text);
        Py_RETURN_NONE;
}

static PyObject *pause_events(PyObject *module, PyObject *unused)
{
        (void)module;
        (void)unused;
        hyprof_pause();
        Py_RETURN_NONE;
}

static PyObject *resume_events(PyObject *module, PyObject *unused)
{
        (void)module;
        (void)unused;
        hyprof_resume();
        Py_RETURN_NONE;
}

/* plot(name, value) */
static PyObject *plot(PyObject *module, PyObject *const *args, Py_ssize_t n_args)
{
        int64_t whole;
        double value;

        (void)module;
        if (n_args != 2 || !PyUnicode_Check(args[0])) {
                PyErr_SetString(PyExc_TypeError, "plot() takes a name, a str, and a number");
                return NULL;
        }
        if (!HYPROF_WANTED_(HYPROF_FAMILY_PLOTS_))
                Py_RETURN_NONE;
        if (PyLong_Check(args[1]) && number_argument_fits(&whole, args[1])) {
                hyprof_plot_int(call_site_find_name(args[0]), whole);
                Py_RETURN_NONE;
        }
        if (!number_argument_take(&value, args[1]))
                return leave_out("plot");
        hyprof_plot_double(call_site_find_name(args[0]), value);
        Py_RETURN_NONE;
}

static PyObject *frame(PyObject *module, PyObject *name)
{
        (void)module;
        if (name != Py_None && !PyUnicode_Check(name)) {
                PyErr_SetString(PyExc_TypeError, "frame() takes a name, a str, or nothing");
                return NULL;
        }
        if (HYPROF_WANTED_(HYPROF_FAMILY_FRAMES_))
                hyprof_frame_mark(name == Py_None ? NULL : call_site_find_name(name));
        Py_RETURN_NONE;
}

/* Frames with gaps between them: frame_begin(name), frame_end(name) */
static PyObject *bound_frame(PyObject *name, void (*emit)(struct hyprof_location *))
{
        if (!PyUnicode_Check(name)) {
                PyErr_SetString(PyExc_TypeError, "the name of a frame is a str");
                return NULL;
        }
        if (HYPROF_WANTED_(HYPROF_FAMILY_FRAMES_))
                emit(call_site_find_name(name));
        Py_RETURN_NONE;
}

static PyObject *frame_begin(PyObject *module, PyObject *name)
{
        (void)module;
        return bound_frame(name, hyprof_frame_begin);
}

static PyObject *frame_end(PyObject *module, PyObject *name)
{
        (void)module;
        return bound_frame(name, hyprof_frame_end);
}

/* flow(phase, number, the name of its space or None) */
static PyObject *flow(PyObject *module, PyObject *args)
{
        PyObject *number, *space;
        int phase;
        struct hyprof_location *name = NULL;
        unsigned long long id;

        (void)module;
        if (!PyArg_ParseTuple(args, "iO!O:flow", &phase, &PyLong_Type, &number, &space))
                return NULL;
        if (space != Py_None && !PyUnicode_Check(space)) {
                PyErr_SetString(PyExc_TypeError, "the space of a flow is a str, or nothing");
                return NULL;
        }
        if (!HYPROF_WANTED_(HYPROF_FAMILY_ZONES_))
                Py_RETURN_NONE;
        id = PyLong_AsUnsignedLongLongMask(number);
        if (space != Py_None)
                name = call_site_find_name(space);
        hyprof_emit_flow(name, id, (enum hyprof_flow_phase_)phase);
        Py_RETURN_NONE;
}

/* plot_config(name, format, flags, color), kept for recordings that begin later */
static PyObject *plot_config(PyObject *module, PyObject *args)
{
        PyObject *name;
        unsigned int format, flags, color;

        (void)module;
        if (!PyArg_ParseTuple(args, "UIII:plot_config", &name, &format, &flags, &color))
                return NULL;
        if (format > HYPROF_PLOT_WATTS)
                format = HYPROF_PLOT_NUMBER;
        hyprof_plot_config(call_site_find_name(name), (enum hyprof_plot_format)format, flags, color, NULL);
        Py_RETURN_NONE;
}

/* The pool of a name, or of None, which is the main one. */
static struct hyprof_location *pool_of(PyObject *name)
{
        return name && PyUnicode_Check(name) ? call_site_find_name(name) : NULL;
}

/* NOLINTBEGIN(performance-no-int-to-ptr): programs hand on addresses as numbers */
/* memory_alloc(address, bytes, pool or None) */
static PyObject *memory_alloc(PyObject *module, PyObject *args)
{
        unsigned long long address, n_bytes;
        PyObject *pool;

        (void)module;
        if (!PyArg_ParseTuple(args, "KKO:memory_alloc", &address, &n_bytes, &pool))
                return NULL;
        if (HYPROF_WANTED_(HYPROF_FAMILY_MEMORY_))
                hyprof_memory_alloc(pool_of(pool), (const void *)(uintptr_t)address, (size_t)n_bytes);
        Py_RETURN_NONE;
}

/* memory_free(address, pool or None) */
static PyObject *memory_free(PyObject *module, PyObject *args)
{
        unsigned long long address;
        PyObject *pool;

        (void)module;
        if (!PyArg_ParseTuple(args, "KO:memory_free", &address, &pool))
                return NULL;
        if (HYPROF_WANTED_(HYPROF_FAMILY_MEMORY_))
                hyprof_memory_free(pool_of(pool), (const void *)(uintptr_t)address);
        Py_RETURN_NONE;
}
/* NOLINTEND(performance-no-int-to-ptr) */

/* A picture of a frame: bytes, width, height, frames back, flipped.  False: these are too few bytes. */
static PyObject *picture(PyObject *module, PyObject *args)
{
        unsigned width, height, frames_back;
        int is_flipped;
        Py_buffer data;
        bool is_whole;

        (void)module;
        if (!PyArg_ParseTuple(args, "y*IIIp", &data, &width, &height, &frames_back, &is_flipped))
                return NULL;
        is_whole = (uint64_t)data.len >= (uint64_t)width * height * 4;
        if (is_whole)
                hyprof_frame_picture(data.buf, width, height, frames_back, is_flipped);
        PyBuffer_Release(&data);
        return PyBool_FromLong(is_whole);
}

static PyObject *thread_name(PyObject *module, PyObject *name)
{
        struct text_argument text;

        (void)module;
        if (!text_argument_take(&text, name))
                return NULL;
        hyprof_thread_name(text.text);
        text_argument_drop(&text);
        Py_RETURN_NONE;
}

/* app_info(text) or app_info(key, text) */
static PyObject *app_info(PyObject *module, PyObject *args)
{
        PyObject *first, *second = NULL;
        struct text_argument key = { .text = "" }, text;

        (void)module;
        if (!PyArg_ParseTuple(args, "O|O:app_info", &first, &second))
                return NULL;
        if (!hyprof_is_recording())
                Py_RETURN_NONE;
        if (!text_argument_take(&text, second ? second : first))
                return leave_out("app_info");
        if (second && !text_argument_take(&key, first)) {
                text_argument_drop(&text);
                return leave_out("app_info");
        }
        if (second)
                hyprof_program_value(key.text, text.text);
        else
                hyprof_program_info(text.text, text.n_bytes);
        text_argument_drop(&key);
        text_argument_drop(&text);
        Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
        { "is_recording", is_recording, METH_NOARGS, NULL },
        { "message", message, METH_VARARGS, NULL },
        { "pause", pause_events, METH_NOARGS, NULL },
        { "resume", resume_events, METH_NOARGS, NULL },
        { "plot", PYTHON_API_METHOD(plot), METH_FASTCALL, NULL },
        { "frame", frame, METH_O, NULL },
        { "frame_begin", frame_begin, METH_O, NULL },
        { "frame_end", frame_end, METH_O, NULL },
        { "flow", flow, METH_VARARGS, NULL },
        { "plot_config", plot_config, METH_VARARGS, NULL },
        { "memory_alloc", memory_alloc, METH_VARARGS, NULL },
        { "memory_free", memory_free, METH_VARARGS, NULL },
        { "picture", picture, METH_VARARGS, NULL },
        { "thread_name", thread_name, METH_O, NULL },
        { "app_info", app_info, METH_VARARGS, NULL },
        { NULL, NULL, 0, NULL },
};

int moment_events_add(PyObject *module)
{
        return PyModule_AddFunctions(module, methods);
}
