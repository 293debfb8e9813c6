/* SPDX-License-Identifier: MIT */
#include "native_module.h"

#include "argument.h"
#include "call_site.h"
#include "strand.h"
#include "task_steps.h"

#include <stddef.h>

struct zone_object {
        PyObject_HEAD PyObject *name; /* a str */
        PyObject *text;               /* NULL, or any object */
        unsigned long color;          /* 0xRRGGBB, 0 = none */
        uint64_t n_open;              /* an upper bound: entered and not left, on all strands */
};

static struct zone_object *self_of(PyObject *object)
{
        return (struct zone_object *)(void *)object;
}

static bool parse_color(PyObject *object, unsigned long *ret_color)
{
        int overflow = 0;
        long color = 0;

        if (object != Py_None && !PyLong_Check(object)) {
                PyErr_Format(PyExc_TypeError, "zone: the color is %R, and not an int, 0xRRGGBB", object);
                return false;
        }
        if (object != Py_None)
                color = PyLong_AsLongAndOverflow(object, &overflow);
        if (overflow != 0 || color < 0 || color > 0xffffff) {
                PyErr_Format(PyExc_ValueError, "zone: the color is %R, it can be 0 to 0xffffff", object);
                return false;
        }
        *ret_color = (unsigned long)color;
        return true;
}

/* One of the named arguments. */
static bool take_keyword(PyObject *key, PyObject *value, PyObject **ret_name, PyObject **ret_text,
                         unsigned long *ret_color)
{
        if (PyUnicode_CompareWithASCIIString(key, "text") == 0) {
                *ret_text = value == Py_None ? NULL : value;
                return true;
        }
        if (PyUnicode_CompareWithASCIIString(key, "color") == 0)
                return parse_color(value, ret_color);
        if (PyUnicode_CompareWithASCIIString(key, "name") == 0 && !*ret_name) {
                *ret_name = value;
                return true;
        }
        PyErr_Format(PyExc_TypeError, "zone() got an unexpected argument '%U'; it takes name, text and color",
                     key);
        return false;
}

static PyObject *zone_vectorcall(PyObject *type, PyObject *const *args, size_t n_args_and_flag,
                                 PyObject *keywords)
{
        Py_ssize_t n_args = PyVectorcall_NARGS(n_args_and_flag);
        Py_ssize_t n_keywords = keywords ? PyTuple_GET_SIZE(keywords) : 0;
        PyObject *name = n_args == 1 ? args[0] : NULL;
        PyObject *text = NULL;
        unsigned long color = 0;
        struct zone_object *zone;

        for (Py_ssize_t i = 0; i < n_keywords; i++) {
                if (!take_keyword(PyTuple_GET_ITEM(keywords, i), args[n_args + i], &name, &text, &color))
                        return NULL;
        }
        if (n_args > 1 || !name || !PyUnicode_Check(name)) {
                PyErr_SetString(PyExc_TypeError,
                                "zone() takes a name, a str; text and color are named arguments");
                return NULL;
        }
        zone = PyObject_New(struct zone_object, (PyTypeObject *)(void *)type);
        if (!zone)
                return NULL;
        zone->name = Py_NewRef(name);
        zone->text = Py_XNewRef(text);
        zone->color = color;
        zone->n_open = 0;
        return (PyObject *)zone;
}

static void zone_dealloc(PyObject *object)
{
        struct zone_object *zone = self_of(object);

        Py_DECREF(zone->name);
        Py_XDECREF(zone->text);
        PyObject_Free(object);
}

/*
 * Begins the zone while zones are recorded.  A text whose str() fails is left out: the zone has no text then.
 */
static void begin(struct zone_object *zone, PyCodeObject *code)
{
        struct strand_thread *t = strand_thread_here();
        struct hyprof_location *location;
        struct text_argument text;
        hyprof_zone handle;

        if (!t)
                return;
        task_steps_follow(t);
        location = call_site_find(zone->name, (uint32_t)zone->color, code);
        zone->n_open++;
        handle = strand_begin(t->current, zone, location, false);
        if (!zone->text || handle == 0)
                return;
        if (text_argument_take(&text, zone->text)) {
                hyprof_zone_text(handle, text.text, text.n_bytes);
                text_argument_drop(&text);
        } else {
                PyErr_WriteUnraisable((PyObject *)zone);
        }
}

static void end(struct zone_object *zone)
{
        if (strand_thread_self && strand_end(strand_thread_self->current, zone))
                zone->n_open--;
}

static PyObject *zone_enter(PyObject *object, PyObject *unused)
{
        (void)unused;
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_ZONES_)))
                begin(self_of(object), NULL);
        return Py_NewRef(object);
}

static PyObject *zone_exit(PyObject *object, PyObject *const *args, Py_ssize_t n_args)
{
        (void)args;
        (void)n_args;
        if (HYPROF_UNLIKELY_(self_of(object)->n_open != 0))
                end(self_of(object));
        Py_RETURN_NONE;
}

static PyObject *zone_begin_at(PyObject *object, PyObject *code)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_ZONES_)))
                begin(self_of(object), PyCode_Check(code) ? (PyCodeObject *)(void *)code : NULL);
        Py_RETURN_NONE;
}

static PyObject *zone_decorate(PyObject *object, PyObject *args, PyObject *keywords)
{
        PyObject *function, *module, *decorated;

        if (keywords || !PyArg_ParseTuple(args, "O:zone", &function))
                return NULL;
        module = PyImport_ImportModule("hyprof._decorate");
        if (!module)
                return NULL;
        decorated = PyObject_CallMethod(module, "decorate", "OO", object, function);
        Py_DECREF(module);
        return decorated;
}

/* The handle of the innermost open instance here; 0 = none. */
static hyprof_zone open_handle(const struct zone_object *zone)
{
        const struct strand *s = strand_thread_self ? strand_thread_self->current : NULL;

        if (zone->n_open == 0 || !s)
                return 0;
        for (uint32_t i = s->n_entries; i > 0; i--) {
                if (s->entries[i - 1].key == zone)
                        return s->entries[i - 1].zone;
        }
        return 0;
}

static PyObject *zone_tell(PyObject *object, PyObject *words, void (*tell)(hyprof_zone, const char *, size_t))
{
        hyprof_zone handle = open_handle(self_of(object));
        struct text_argument text;

        if (handle == 0)
                Py_RETURN_NONE;
        if (!text_argument_take(&text, words)) {
                PyErr_WriteUnraisable(object);
                Py_RETURN_NONE;
        }
        tell(handle, text.text, text.n_bytes);
        text_argument_drop(&text);
        Py_RETURN_NONE;
}

static PyObject *zone_add_text(PyObject *object, PyObject *words)
{
        return zone_tell(object, words, hyprof_zone_text);
}

static PyObject *zone_set_name(PyObject *object, PyObject *words)
{
        return zone_tell(object, words, hyprof_zone_name);
}

static PyObject *zone_add_value(PyObject *object, PyObject *number)
{
        hyprof_zone handle = open_handle(self_of(object));
        int64_t value;

        if (handle == 0)
                Py_RETURN_NONE;
        if (number_argument_take_whole(&value, number))
                hyprof_zone_value(handle, value);
        else
                PyErr_WriteUnraisable(object);
        Py_RETURN_NONE;
}

static PyObject *zone_set_color(PyObject *object, PyObject *number)
{
        unsigned long color = 0;

        if (!parse_color(number, &color))
                return NULL;
        hyprof_zone_color(open_handle(self_of(object)), (uint32_t)color);
        Py_RETURN_NONE;
}

static PyObject *get_name(PyObject *object, void *unused)
{
        (void)unused;
        return Py_NewRef(self_of(object)->name);
}

static PyObject *zone_repr(PyObject *object)
{
        return PyUnicode_FromFormat("hyprof.zone(%R)", self_of(object)->name);
}

static PyMethodDef zone_methods[] = {
        { "__enter__", zone_enter, METH_NOARGS, "Begins the zone on this thread, task or greenlet." },
        { "__exit__", PYTHON_API_METHOD(zone_exit), METH_FASTCALL, "Ends it; an exception goes on." },
        { "add_text", zone_add_text, METH_O, "Adds a line of text to the open zone." },
        { "add_value", zone_add_value, METH_O,
          "Adds a number to the open zone: bytes, items, an id.\n\n"
          "Fractions are cut off; what does not fit into 64 bits becomes the nearest number that does." },
        { "set_name", zone_set_name, METH_O, "Calls this one instance something else." },
        { "set_color", zone_set_color, METH_O, "Gives this one instance a color, 0xRRGGBB." },
        { "_begin", zone_begin_at, METH_O, "For decorators: begins it at the first line of a code object." },
        { "_end", PYTHON_API_METHOD(zone_exit), METH_FASTCALL, "For decorators: ends it." },
        { NULL, NULL, 0, NULL },
};

static PyGetSetDef zone_fields[] = {
        { "name", get_name, NULL, "What the zone is called.", NULL },
        { NULL, NULL, NULL, NULL, NULL },
};

PyDoc_STRVAR(
        zone_doc,
        "zone(name, *, text=None, color=None)\n--\n\n"
        "A piece of work: `with zone(\"parse\"):` or, before a function, `@zone(\"parse\")`.\n\n"
        "text: what this one is about; str() of it is taken while a recorder is there, and left out if that "
        "raises, with a report by sys.unraisablehook.\n"
        "color: 0xRRGGBB.");

static PyTypeObject zone_type = {
        PyVarObject_HEAD_INIT(NULL, 0).tp_name = "hyprof.zone",
        .tp_basicsize = sizeof(struct zone_object),
        .tp_dealloc = zone_dealloc,
        .tp_repr = zone_repr,
        .tp_call = zone_decorate,
        .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
        .tp_doc = zone_doc,
        .tp_methods = zone_methods,
        .tp_getset = zone_fields,
        .tp_vectorcall = zone_vectorcall,
};

/* For callers that do not use the vectorcall of types: subclasses of type, copy. */
static PyObject *zone_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
        Py_ssize_t n_args = PyTuple_GET_SIZE(args);
        PyObject *name = n_args == 1 ? PyTuple_GET_ITEM(args, 0) : NULL;

        if (n_args > 1 || keywords || !name) {
                PyErr_SetString(PyExc_TypeError, "zone() takes a name, a str");
                return NULL;
        }
        return zone_vectorcall((PyObject *)type, &name, 1, NULL);
}

int zone_object_add_type(PyObject *module)
{
        zone_type.tp_new = zone_new;
        if (PyType_Ready(&zone_type) < 0)
                return -1;
        return PyModule_AddObjectRef(module, "zone", (PyObject *)&zone_type);
}
