/* SPDX-License-Identifier: MIT */
/*
 * sampler/rights/system_calls.h - the system calls that a recorder needs once everything
 * is open; all others fail
 *
 * Way of the data:  privileges -> [system_calls] -> seccomp(2)
 */
#ifndef SAMPLER_RIGHTS_SYSTEM_CALLS_H
#define SAMPLER_RIGHTS_SYSTEM_CALLS_H

#include <sys/types.h>

struct error;

/* The child that makes the filter.  pid 0 = there is none. */
struct system_calls_maker {
        pid_t pid; /* owned: to be reaped */
        int fd;    /* owned */
};

/*
 * system_calls_begin() - begin to make the filter, which is loaded later
 * libseccomp works in a child that has a second of processor time: without memory it may not come to an end.
 * To be called early, before the priority is raised and before there are threads.
 */
struct system_calls_maker system_calls_begin(void);

/*
 * system_calls_finish() - wait until the filter is made
 * Returns a descriptor that is the caller's to close, or -errno.
 */
int system_calls_finish(struct system_calls_maker *maker, struct error *err);

/*
 * system_calls_restrict() - for this process, its threads and children, for ever
 * @filter_fd:  of system_calls_finish()
 * A call that is not in the list fails with EPERM, or with ENOSYS if libc has another way then.  A filter
 * of addresses is not possible: the user's rights decide which files can be opened;
 * docs/understand/privileges.md has more.  no_new_privs is set already.  Returns 0 or -errno.
 */
int system_calls_restrict(int filter_fd, struct error *err);

#endif /* SAMPLER_RIGHTS_SYSTEM_CALLS_H */
