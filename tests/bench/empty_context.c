/* SPDX-License-Identifier: MIT */
/*
 * tests/bench/empty_context.c - the yardstick of bench_python.sh: a context manager that does nothing
 *
 * A module of Python with one class, as fast as one can be: no garbage collection, called by vectorcall.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

struct empty {
        PyObject_HEAD PyObject *name;
};

static PyObject *empty_vectorcall(PyObject *type, PyObject *const *args, size_t n_args, PyObject *keywords)
{
        struct empty *e;

        (void)keywords;
        if (PyVectorcall_NARGS(n_args) != 1) {
                PyErr_SetString(PyExc_TypeError, "empty() takes a name");
                return NULL;
        }
        e = PyObject_New(struct empty, (PyTypeObject *)(void *)type);
        if (e)
                e->name = Py_NewRef(args[0]);
        return (PyObject *)e;
}

static void empty_dealloc(PyObject *object)
{
        Py_DECREF(((struct empty *)(void *)object)->name);
        PyObject_Free(object);
}

static PyObject *empty_enter(PyObject *object, PyObject *unused)
{
        (void)unused;
        return Py_NewRef(object);
}

static PyObject *empty_exit(PyObject *object, PyObject *const *args, Py_ssize_t n_args)
{
        (void)object;
        (void)args;
        (void)n_args;
        Py_RETURN_NONE;
}

static PyMethodDef empty_methods[] = {
        { "__enter__", empty_enter, METH_NOARGS, NULL },
        { "__exit__", (PyCFunction)(void (*)(void))empty_exit, METH_FASTCALL, NULL },
        { NULL, NULL, 0, NULL },
};

static PyTypeObject empty_type = {
        PyVarObject_HEAD_INIT(NULL, 0).tp_name = "empty_context.empty",
        .tp_basicsize = sizeof(struct empty),
        .tp_dealloc = empty_dealloc,
        .tp_flags = Py_TPFLAGS_DEFAULT,
        .tp_methods = empty_methods,
        .tp_vectorcall = empty_vectorcall,
        .tp_new = PyType_GenericNew,
};

static struct PyModuleDef definition = { PyModuleDef_HEAD_INIT, .m_name = "empty_context", .m_size = -1 };

PyMODINIT_FUNC PyInit_empty_context(void);

PyMODINIT_FUNC PyInit_empty_context(void)
{
        PyObject *module = PyModule_Create(&definition);

        if (module && (PyType_Ready(&empty_type) < 0 ||
                       PyModule_AddObjectRef(module, "empty", (PyObject *)&empty_type) < 0))
                Py_CLEAR(module);
        return module;
}
