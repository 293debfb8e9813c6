/* SPDX-License-Identifier: MIT */
/*
 * python/native/profile_chain.h - on CPython 3.11, our profile and trace functions beside those of others
 *
 * Way of the data:  CPython -> [profile_chain] -> profile_hooks, and the other's function
 *
 * A thread has one profile function and one trace function.  Where another's is set (cProfile,
 * sys.setprofile, a debugger, a measurement of coverage), a link takes its place, which calls both; its
 * object stays where it is, so sys.getprofile() and sys.gettrace() answer as without us.  An audit hook
 * notices when another sets or clears its own, and ours are put back before the next line runs; it stays
 * until the process ends.
 *
 * All is guarded by the GIL.  There is one chain for the process.
 */
#ifndef PYTHON_NATIVE_PROFILE_CHAIN_H
#define PYTHON_NATIVE_PROFILE_CHAIN_H

#include "python_api.h"

#include <stdbool.h>

/* Functions of others that are known at a time; those of further ones stay alone. */
#define PROFILE_CHAIN_LINKS 6

/*
 * profile_chain_start() - from now on threads that are entered keep ours
 * @profile:  called for each event, with NULL as its object
 * @trace:    called at each line; NULL = lines are not asked for
 * Where an audit hook of the program refuses ours, they are not put back.
 */
void profile_chain_start(Py_tracefunc profile, Py_tracefunc trace);

/* Lines are no longer seen.  Ours are put back only where zones are open; they stay until they are left. */
void profile_chain_stop(void);

/*
 * profile_chain_enter() - sets ours on @thread, beside another's
 * Returns 1 if another's stays alone, else 0.
 */
unsigned profile_chain_enter(PyThreadState *thread);

/* Another's function on @thread is alone again, if there is one. */
void profile_chain_leave_profile(PyThreadState *thread);
void profile_chain_leave_trace(PyThreadState *thread);

/* Something else has made the interpreter forget that functions are set on @thread (greenlets do). */
void profile_chain_remind(PyThreadState *thread);

/* Another set its trace function, and ours is to be put back: by the profile function, at its next event. */
extern bool profile_chain_is_disturbed;

#endif /* PYTHON_NATIVE_PROFILE_CHAIN_H */
