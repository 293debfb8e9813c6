/* SPDX-License-Identifier: MIT */
/*
 * view/zones/group_rows.h - the groups of a zone's instances, by text, name, value, thread,
 * parent, process, recording or host, as rows of a document
 *
 * Way of the data:  zone_groups -> [group_rows] -> zone_view -> view_document
 */
#ifndef VIEW_ZONES_GROUP_ROWS_H
#define VIEW_ZONES_GROUP_ROWS_H

#include "base/text_view.h"
#include "view/document/view_column.h"

#include <stdbool.h>
#include <stdint.h>

struct answer_part;
struct report;
struct view_document;

/*
 * group_rows_add() - facts about the groups, and the table "groups", the largest total first
 * @limit:           rows; 0 = all
 * @has_histograms:  and the table "histogram", of the groups that are shown
 * Zones beyond the bound on groups are the last row, "[others]", and a warning.
 */
void group_rows_add(struct view_document *d, const struct report *report, uint32_t limit,
                    bool has_histograms);

extern const struct answer_part group_rows_facts_part, group_rows_part;

/* A text of the program's, with an ellipsis if it goes on; unknown if it is empty. */
struct view_value group_rows_text(struct text_view text, bool is_cut);

#endif /* VIEW_ZONES_GROUP_ROWS_H */
