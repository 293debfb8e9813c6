/* SPDX-License-Identifier: MIT */
#include "profile_chain.h"

#include "strand.h"

#include <string.h>

#if !PYTHON_API_HAS_MONITORING

bool profile_chain_is_disturbed;

/*
 * The link alone records the other function of a thread, so no state of ours has to live as long as the
 * thread.
 */
struct link {
        Py_tracefunc function; /* calls both */
        Py_tracefunc other;    /* NULL = free; once set it stays, as threads may use it */
};

static struct link profile_links[PROFILE_CHAIN_LINKS], trace_links[PROFILE_CHAIN_LINKS];

static struct {
        Py_tracefunc profile;
        Py_tracefunc trace;
        bool is_on;
        bool has_audit_hook;
} own;

static struct link *find_link(struct link *links, Py_tracefunc function)
{
        for (unsigned i = 0; i < PROFILE_CHAIN_LINKS; i++) {
                if (links[i].function == function)
                        return &links[i];
        }
        return NULL;
}

static struct link *take_link(struct link *links, Py_tracefunc other)
{
        for (unsigned i = 0; i < PROFILE_CHAIN_LINKS; i++) {
                if (!links[i].other)
                        links[i].other = other;
                if (links[i].other == other)
                        return &links[i];
        }
        return NULL;
}

/* Makes @function of a thread call @ours as well.  Returns false if the other function stays alone. */
static bool put_beside(struct link *links, Py_tracefunc ours, Py_tracefunc *function)
{
        struct link *link;

        if (*function == ours || find_link(links, *function))
                return true;
        if (!*function) {
                *function = ours;
                return true;
        }
        link = take_link(links, *function);
        if (link)
                *function = link->function;
        return link != NULL;
}

static void take_off(struct link *links, Py_tracefunc ours, Py_tracefunc *function)
{
        struct link *link = find_link(links, *function);

        if (*function == ours)
                *function = NULL;
        else if (link)
                *function = link->other;
}

/* True while recording, or while the running thread still has open zones, whose ends must be seen. */
static bool are_ends_wanted(void)
{
        return own.is_on || (strand_thread_self && strand_thread_self->current->n_entries > 0);
}

static bool put_profile(PyThreadState *thread)
{
        return !are_ends_wanted() || put_beside(profile_links, own.profile, &thread->c_profilefunc);
}

/* The other function may drop its object while it runs. */
static int call_other(const struct link *link, PyObject *self, PyFrameObject *frame, int event,
                      PyObject *value)
{
        int result;

        Py_XINCREF(self);
        result = link->other(self, frame, event, value);
        Py_XDECREF(self);
        return result;
}

/* Our zones exclude the time of the other function, and a call that it refuses gets no zone. */
static int call_profiles(const struct link *link, PyObject *self, PyFrameObject *frame, int event,
                         PyObject *value)
{
        int result;

        if (event == PyTrace_RETURN)
                (void)own.profile(NULL, frame, event, value);
        result = call_other(link, self, frame, event, value);
        if (event != PyTrace_RETURN && result == 0)
                (void)own.profile(NULL, frame, event, value);
        return result;
}

/* Our trace function: for lines, or for one event, to put our profile function back. */
static int look_back(PyObject *self, PyFrameObject *frame, int event, PyObject *value)
{
        PyThreadState *thread = PyThreadState_Get();

        (void)self;
        (void)put_profile(thread);
        if (own.trace)
                return own.trace(NULL, frame, event, value);
        if (thread->c_tracefunc == look_back)
                thread->c_tracefunc = NULL;
        return 0;
}

static bool put_trace(PyThreadState *thread)
{
        return put_beside(trace_links, look_back, &thread->c_tracefunc);
}

static int call_traces(const struct link *link, PyObject *self, PyFrameObject *frame, int event,
                       PyObject *value)
{
        PyThreadState *thread = PyThreadState_Get();
        int result;

        (void)put_profile(thread);
        result = call_other(link, self, frame, event, value);
        if (own.trace) {
                if (result == 0)
                        (void)own.trace(NULL, frame, event, value);
                (void)put_trace(thread);
        }
        return result;
}

/* clang-format off */
#define LINK_FUNCTIONS(n)                                                                               \
        static int profile_link_##n(PyObject *self, PyFrameObject *frame, int event, PyObject *value)   \
        {                                                                                               \
                return call_profiles(&profile_links[n], self, frame, event, value);                     \
        }                                                                                               \
        static int trace_link_##n(PyObject *self, PyFrameObject *frame, int event, PyObject *value)     \
        {                                                                                               \
                return call_traces(&trace_links[n], self, frame, event, value);                         \
        }
/* clang-format on */

LINK_FUNCTIONS(0)
LINK_FUNCTIONS(1)
LINK_FUNCTIONS(2)
LINK_FUNCTIONS(3)
LINK_FUNCTIONS(4)
LINK_FUNCTIONS(5)

static struct link profile_links[PROFILE_CHAIN_LINKS] = {
        { .function = profile_link_0 }, { .function = profile_link_1 }, { .function = profile_link_2 },
        { .function = profile_link_3 }, { .function = profile_link_4 }, { .function = profile_link_5 },
};
static struct link trace_links[PROFILE_CHAIN_LINKS] = {
        { .function = trace_link_0 }, { .function = trace_link_1 }, { .function = trace_link_2 },
        { .function = trace_link_3 }, { .function = trace_link_4 }, { .function = trace_link_5 },
};

/*
 * The thread is about to set the function that the audit event names.  The next trace event puts our
 * profile function back, and the next profile event our trace function; each comes before another line of
 * Python.
 */
static int on_audit(const char *event, PyObject *args, void *unused)
{
        PyThreadState *thread;

        (void)args;
        (void)unused;
        if (strncmp(event, "sys.set", 7) != 0 || !are_ends_wanted())
                return 0;
        thread = PyThreadState_Get();
        if (PyThreadState_GetInterpreter(thread) != PyInterpreterState_Main())
                return 0;
        if (strcmp(event, "sys.setprofile") == 0) {
                (void)put_trace(thread);
        } else if (strcmp(event, "sys.settrace") == 0) {
                (void)put_profile(thread);
                profile_chain_is_disturbed = own.trace != NULL;
        }
        return 0;
}

void profile_chain_start(Py_tracefunc profile, Py_tracefunc trace)
{
        own.profile = profile;
        own.trace = trace;
        own.is_on = true;
        if (own.has_audit_hook)
                return;
        own.has_audit_hook = true;
        if (PySys_AddAuditHook(on_audit, NULL) < 0)
                PyErr_Clear();
}

void profile_chain_stop(void)
{
        own.is_on = false;
        own.trace = NULL;
}

void profile_chain_remind(PyThreadState *thread)
{
        PyThreadState_EnterTracing(thread);
        PyThreadState_LeaveTracing(thread);
}

unsigned profile_chain_enter(PyThreadState *thread)
{
        bool has_both = put_profile(thread);

        if (own.trace && !put_trace(thread))
                has_both = false;
        profile_chain_remind(thread);
        return has_both ? 0 : 1;
}

void profile_chain_leave_profile(PyThreadState *thread)
{
        take_off(profile_links, own.profile, &thread->c_profilefunc);
        profile_chain_remind(thread);
}

void profile_chain_leave_trace(PyThreadState *thread)
{
        take_off(trace_links, look_back, &thread->c_tracefunc);
        profile_chain_remind(thread);
}

#endif
