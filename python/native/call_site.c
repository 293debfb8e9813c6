/* SPDX-License-Identifier: MIT */
#include "call_site.h"

#include "argument.h"

#define N_SITES 1024

/* A site owns its objects, so that their addresses are not reused by others.  Guarded by the GIL. */
struct site {
        PyObject *name;
        PyCodeObject *code; /* NULL = a name alone */
        int offset;         /* of the instruction; -1 = the first line */
        uint32_t color;
        struct hyprof_location *location;
};

static struct site sites[N_SITES];

static struct site *find_place(PyObject *name, PyCodeObject *code, int offset)
{
        uintptr_t bits = (uintptr_t)name / 16 + (uintptr_t)code / 16 * 31 + (uintptr_t)(unsigned)offset * 7;

        return &sites[(bits ^ bits >> 10) % N_SITES];
}

/* The texts of a code object are str, unless the program made them something else. */
static struct hyprof_location *make_location(PyObject *name, uint32_t color, PyCodeObject *code, int line)
{
        struct text_argument title, function = { .text = NULL }, file = { .text = NULL };
        struct hyprof_location *location = NULL;

        if (!text_argument_take(&title, name))
                return NULL;
        if (!code || (text_argument_take(&function, code->co_qualname) &&
                      text_argument_take(&file, code->co_filename)))
                location = hyprof_location_of(title.text, title.n_bytes, function.text, function.n_bytes,
                                              file.text, file.n_bytes, line > 0 ? (uint32_t)line : 0, color);
        text_argument_drop(&file);
        text_argument_drop(&function);
        text_argument_drop(&title);
        return location;
}

static struct hyprof_location *find_at(PyObject *name, uint32_t color, PyCodeObject *code, int offset)
{
        struct site *site = find_place(name, code, offset);
        struct site last = *site;
        struct hyprof_location *location;
        int line = 0;

        if (site->location && site->name == name && site->code == code && site->offset == offset &&
            site->color == color)
                return site->location;
        if (code)
                line = offset < 0 ? code->co_firstlineno : PyCode_Addr2Line(code, offset);
        location = make_location(name, color, code, line);
        if (!location) {
                PyErr_Clear();
                return NULL;
        }
        Py_INCREF(name);
        Py_XINCREF(code);
        *site = (struct site){
                .name = name, .code = code, .offset = offset, .color = color, .location = location
        };
        Py_XDECREF(last.name);
        Py_XDECREF(last.code);
        return location;
}

struct hyprof_location *call_site_find(PyObject *name, uint32_t color, PyCodeObject *code)
{
        struct hyprof_location *location;
        PyFrameObject *frame;
        PyCodeObject *here;

        if (code)
                return find_at(name, color, code, -1);
        frame = PyEval_GetFrame();
        if (!frame)
                return find_at(name, color, NULL, 0);
        here = PyFrame_GetCode(frame);
        location = find_at(name, color, here, PyFrame_GetLasti(frame));
        Py_DECREF(here);
        return location;
}

struct hyprof_location *call_site_find_name(PyObject *name)
{
        return find_at(name, 0, NULL, 0);
}
