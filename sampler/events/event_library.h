/* SPDX-License-Identifier: MIT */
/*
 * sampler/events/event_library.h - the events of processors by the names of their
 * manuals, as libpfm4 knows them
 *
 * Way of the data:  libpfm4 -> [event_library] -> event_spec, `hyprof list`
 *
 * The only file that knows the library.  Each call looks at the processor anew, which takes about a
 * millisecond.
 */
#ifndef SAMPLER_EVENTS_EVENT_LIBRARY_H
#define SAMPLER_EVENTS_EVENT_LIBRARY_H

#include <stddef.h>

struct error;
struct event_spec;

/*
 * event_library_encode() - translates a name such as "skl::INST_RETIRED:ANY_P" or "UOPS_ISSUED:u" for the
 * kernel
 * @name:  NUL-terminated, with modifiers in the library's way
 * @spec:  changed on success only
 * Returns 1, 0 if the library knows no such event, or -EINVAL with words for one that it knows but refuses: a
 * mask that is missing or wrong.
 */
int event_library_encode(const char *name, struct event_spec *spec, struct error *err);

/* Takes an event of a PMU that the library found; returns 0, or -errno to stop. */
typedef int event_library_taker(void *context, const char *pmu, const char *event);

/* All events of the processor's own PMUs.  Returns 0, or what @take returned. */
int event_library_visit(event_library_taker *take, void *context);

#endif /* SAMPLER_EVENTS_EVENT_LIBRARY_H */
