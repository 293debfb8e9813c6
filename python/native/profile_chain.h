/* SPDX-License-Identifier: MIT */
/*
 * python/native/profile_chain.h - on CPython 3.11, our profile and trace functions beside those of others
 *
 * Way of the data:  CPython -> [profile_chain] -> profile_hooks, and the other's function
 *
 * A thread has one profile function and one trace function.  Where another's is set (cProfile,
 * sys.setprofile, a debugger, a measurement of coverage), a link takes its place, which calls both; its
 * object stays where it is, so sys.getprofile() and sys.gettrace() answer as without us.  An audit hook
 * notices when other code sets or clears a function, and ours are put back before the next line runs; the
 * hook stays until the process ends.
 *
 * All is guarded by the GIL.  There is one chain for the process.
 */
#ifndef PYTHON_NATIVE_PROFILE_CHAIN_H
#define PYTHON_NATIVE_PROFILE_CHAIN_H

#include "python_api.h"

#include <stdbool.h>

/* How many different functions of others can run beside ours; further ones run alone. */
#define PROFILE_CHAIN_LINKS 6

/*
 * profile_chain_start() - from now on, entered threads keep our functions
 * @profile:  called for each event, with NULL as its object
 * @trace:    called at each line; NULL = lines are not asked for
 * Where an audit hook of the program refuses our audit hook, our functions are
 * not put back.
 */
void profile_chain_start(Py_tracefunc profile, Py_tracefunc trace);

/*
 * Lines are no longer seen.  Our functions stay on a thread until profile_chain_leave_*(); if other code
 * replaces them, they are put back only while the thread has open zones.
 */
void profile_chain_stop(void);

/*
 * profile_chain_enter() - sets our functions on @thread, beside those of others
 * Returns 1 if a function of others stays alone, else 0.
 */
unsigned profile_chain_enter(PyThreadState *thread);

/* Takes our function off @thread; a function of others that ran beside it runs alone again. */
void profile_chain_leave_profile(PyThreadState *thread);
void profile_chain_leave_trace(PyThreadState *thread);

/* For when other code (a greenlet) has made the interpreter forget that functions are set on @thread. */
void profile_chain_remind(PyThreadState *thread);

/*
 * Other code has set a trace function: our profile function puts our trace function back at its next event.
 */
extern bool profile_chain_is_disturbed;

#endif /* PYTHON_NATIVE_PROFILE_CHAIN_H */
