/* SPDX-License-Identifier: MIT */
#include "code_table.h"

#include "argument.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX  100000
#define NAME_BYTES 400

/* Guarded by the GIL. */
Py_ssize_t code_table_index = -1;
uint32_t code_table_rule_number = 1;
static PyObject *filter_function;

static void free_entry(void *p)
{
        struct code_entry *entry = p;

        if (!entry)
                return;
        free(entry->lines);
        free(entry);
}

int code_table_init(void)
{
        if (code_table_index >= 0)
                return 0;
        code_table_index = PYTHON_API_REQUEST_CODE_EXTRA(free_entry);
        if (code_table_index >= 0)
                return 0;
        PyErr_SetString(PyExc_ImportError,
                        "hyprof: other modules use all of the interpreter's slots for code objects");
        return -1;
}

void code_table_set_filter(PyObject *filter)
{
        PyObject *last = filter_function;

        filter_function = filter;
        Py_XINCREF(filter);
        code_table_rule_number++;
        Py_XDECREF(last);
}

/* The dict of the globals that @frame sees; a new reference or NULL. */
static PyObject *globals_of(PyFrameObject *frame)
{
        if (frame)
                return PyFrame_GetGlobals(frame);
        Py_XINCREF(PyEval_GetGlobals());
        return PyEval_GetGlobals();
}

static bool ask_filter(PyCodeObject *code, PyFrameObject *frame)
{
        PyObject *type, *value, *traceback, *globals, *answer;
        bool is_included = true;

        if (!filter_function)
                return true;
        PyErr_Fetch(&type, &value, &traceback);
        globals = globals_of(frame);
        answer = PyObject_CallFunctionObjArgs(filter_function, (PyObject *)code, globals ? globals : Py_None,
                                              NULL);
        if (answer)
                is_included = PyObject_IsTrue(answer) == 1;
        Py_XDECREF(answer);
        Py_XDECREF(globals);
        PyErr_Clear();
        PyErr_Restore(type, value, traceback);
        return is_included;
}

struct code_entry *code_table_add(PyCodeObject *code, PyFrameObject *frame)
{
        uint32_t rule_number = code_table_rule_number;
        bool is_included = ask_filter(code, frame);
        void *extra = NULL;
        struct code_entry *entry;

        (void)PYTHON_API_CODE_EXTRA((PyObject *)code, code_table_index, &extra);
        entry = extra;
        if (!entry) {
                entry = calloc(1, sizeof(*entry));
                if (!entry)
                        return NULL;
                if (PYTHON_API_SET_CODE_EXTRA((PyObject *)code, code_table_index, entry) < 0) {
                        PyErr_Clear();
                        free_entry(entry);
                        return NULL;
                }
        }
        entry->rule_number = rule_number;
        entry->is_included = is_included;
        return entry;
}

/* A module's body is named after its file, since every one of them is called <module>. */
static struct hyprof_location *location_at(PyCodeObject *code, const char *suffix, int line)
{
        struct text_argument function, file;
        struct hyprof_location *location = NULL;
        PyObject *type, *value, *traceback;
        char name[NAME_BYTES];

        PyErr_Fetch(&type, &value, &traceback);
        if (text_argument_take(&function, code->co_qualname)) {
                if (text_argument_take(&file, code->co_filename)) {
                        const char *slash = strrchr(file.text, '/');
                        const char *last = slash ? slash + 1 : file.text;
                        bool is_module = strcmp(function.text, "<module>") == 0;

                        (void)snprintf(name, sizeof(name), "%s%s%s%s", is_module ? "<module " : "",
                                       is_module ? last : function.text, is_module ? ">" : "", suffix);
                        location = hyprof_location_of(name, strlen(name), function.text, function.n_bytes,
                                                      file.text, file.n_bytes, line > 0 ? (uint32_t)line : 0,
                                                      0);
                        text_argument_drop(&file);
                }
                text_argument_drop(&function);
        }
        PyErr_Clear();
        PyErr_Restore(type, value, traceback);
        return location;
}

struct hyprof_location *code_table_make_location(struct code_entry *entry, PyCodeObject *code)
{
        if (!hyprof_is_recording())
                return NULL;
        entry->location = location_at(code, "", code->co_firstlineno);
        return entry->location;
}

static bool grow_lines(struct code_entry *entry, uint32_t n)
{
        struct hyprof_location **lines = realloc(entry->lines, n * sizeof(struct hyprof_location *));

        if (!lines)
                return false;
        memset(lines + entry->n_lines, 0, (n - entry->n_lines) * sizeof(struct hyprof_location *));
        entry->lines = lines;
        entry->n_lines = n;
        return true;
}

struct hyprof_location *code_table_line(struct code_entry *entry, PyCodeObject *code, int line)
{
        int64_t at = (int64_t)line - code->co_firstlineno;
        char suffix[32];

        if (!hyprof_is_recording() || at < 0 || at >= LINES_MAX)
                return NULL;
        if ((uint64_t)at >= entry->n_lines && !grow_lines(entry, ((uint32_t)at / 32 + 1) * 32))
                return NULL;
        if (!entry->lines[at]) {
                (void)snprintf(suffix, sizeof(suffix), ":%d", line);
                entry->lines[at] = location_at(code, suffix, line);
        }
        return entry->lines[at];
}
