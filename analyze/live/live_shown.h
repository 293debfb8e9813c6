/* SPDX-License-Identifier: MIT */
/*
 * analyze/live/live_shown.h - different names for different functions of one name, while a trace is written
 *
 * Way of the data:  trace_dictionary, live_names -> [live_shown] (function_labels) -> live_labels, live_rows
 *
 * Names come while the trace grows, and any of them may bring another function of a known name, so each
 * renewal examines the names of all frames.  It settles a copy of the names: the given names stay.
 */
#ifndef ANALYZE_LIVE_LIVE_SHOWN_H
#define ANALYZE_LIVE_LIVE_SHOWN_H

#include "base/text_view.h"

#include <stdint.h>

struct live_names;
struct live_shown;
struct trace_dictionary;

/*
 * live_shown_renew() - read all names again, after live_names_step() has reported new ones
 * @shown: its former value is freed, and with it the texts that it gave; NULL if no name states where its
 *         function is.  Returns 0 or -ENOMEM.
 */
int live_shown_renew(const struct trace_dictionary *dictionary, const struct live_names *names,
                     struct live_shown **shown);

/* NULL is fine. */
void live_shown_free(struct live_shown *s);

/* Function @i of a frame, borrowed; empty if the frame has none or is newer.  The struct may be NULL. */
struct text_view live_shown_function(const struct live_shown *s, uint32_t frame, uint32_t i);

#endif /* ANALYZE_LIVE_LIVE_SHOWN_H */
