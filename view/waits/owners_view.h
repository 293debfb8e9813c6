/* SPDX-License-Identifier: MIT */
/*
 * view/waits/owners_view.h - the tables of who had the CPU while threads were ready to run
 *
 * Way of the data:  report_owners -> [owners_view] -> threads_view, off_cpu_view
 */
#ifndef VIEW_WAITS_OWNERS_VIEW_H
#define VIEW_WAITS_OWNERS_VIEW_H

#include "analyze/path/ready_owners.h"

#include <stdint.h>

struct answer_part;
struct report;
struct view_document;

/* Parts of schemas: of rows by thread, by CPU. */
extern const struct answer_part owners_view_threads_part, owners_view_cpus_part;

/* "own-thread", as in JSON; static. */
const char *owners_view_key(enum ready_owner_kind kind);

/* Not there if no thread was ready to run, or stopped.  @report: loaded with wants_ready. */
void owners_view_add_threads(struct view_document *d, const struct report *report, uint32_t limit);
void owners_view_add_cpus(struct view_document *d, const struct report *report, uint32_t limit);

#endif /* VIEW_WAITS_OWNERS_VIEW_H */
