/* SPDX-License-Identifier: MIT */
/*
 * export/shared/wake_arrow.h - arrows from the thread that ended a wait to the thread that waited
 *
 * Way of the data:  trace_walk -> [wake_arrow] -> export_perfetto, export_chrome
 *
 * An arrow begins at the wake-up, on the waker's track, and ends where the woken thread runs again.  Waits
 * that a timer, a device or a thread that was not recorded ended have none.  Not thread-safe.
 */
#ifndef EXPORT_SHARED_WAKE_ARROW_H
#define EXPORT_SHARED_WAKE_ARROW_H

#include <stdbool.h>
#include <stdint.h>

struct byte_buffer;
struct loaded_trace;
struct thread_wait;
struct trace_filter;

/* The category of what is written for arrows, so that consumers can leave it out. */
#define WAKE_ARROW_CATEGORY "wake-up"

enum wake_arrow_end { WAKE_ARROW_WAKER, WAKE_ARROW_WOKEN };

/*
 * Whether a recorded thread ended the wait, and both ends pass the filter: the waker's thread, and the time.
 * The zones and CPUs of the waker do not matter.
 */
bool wake_arrow_is_wanted(const struct thread_wait *wait, const struct trace_filter *filter);

/*
 * wake_arrow_put_name() - append what an end is called: "wakes worker 4321", "woken by main 4320"
 * @trace:  loaded_trace_read_names() was called
 * @other:  the thread at the other end, with its TID; one without a name is called "thread"
 */
void wake_arrow_put_name(struct byte_buffer *b, const struct loaded_trace *trace, enum wake_arrow_end end,
                         uint32_t other);

#endif /* EXPORT_SHARED_WAKE_ARROW_H */
