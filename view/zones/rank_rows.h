/* SPDX-License-Identifier: MIT */
/*
 * view/zones/rank_rows.h - the processes that have a zone beside each other: how even their work is, and
 * which of them the others waited for
 *
 * Way of the data:  zone_ranks -> [rank_rows] -> zone_view -> view_document
 */
#ifndef VIEW_ZONES_RANK_ROWS_H
#define VIEW_ZONES_RANK_ROWS_H

#include "view/document/view_column.h"

#include <stdint.h>

struct answer_part;
struct answer_words;
struct report;
struct view_document;

/*
 * rank_rows_add() - facts, and the table "ranks", the one with the most time first
 * Nothing if only one process has the zone.  @limit: rows; 0 = all
 */
void rank_rows_add(struct view_document *d, const struct report *report, uint32_t limit);

/* "; 4.7 s a process in the mean, rank2 was late: ...", nothing if only one process has the zone. */
void rank_rows_say(struct answer_words *a, const struct report *report);

/* "app 4711", in a merged trace "app@node1 4711" */
struct view_value rank_rows_name(struct view_document *d, const struct report *report, uint32_t process);

extern const struct answer_part rank_rows_facts_part, rank_rows_part;

#endif /* VIEW_ZONES_RANK_ROWS_H */
