/* SPDX-License-Identifier: MIT */
/*
 * import/iree/iree_model.h - from the records of an IREE profile, in any order, to what happened on tracks
 *
 * Way of the data:  iree_container, iree_lines -> [iree_model] -> import_rows
 *
 * Dispatches are named by functions that may be described later: those wait, at most IREE_HELD_MAX, for the
 * end of the session.  Counter samples have the times of dispatches, of which the last IREE_RECENT are known.
 * Not thread-safe.  Memory: about 40 MB at most, and the tables of iree_names and iree_tracks.
 */
#ifndef IMPORT_IREE_MODEL_H
#define IMPORT_IREE_MODEL_H

#include "import/iree/iree_record.h"

#include <stdbool.h>
#include <stdint.h>

#define IREE_HELD_MAX (UINT32_C(1) << 18)
#define IREE_RECENT   (UINT32_C(1) << 16) /* a power of two */

struct error;
struct import_rows;
struct iree_model;

/* Returns 0 or -ENOMEM.  @rows is borrowed. */
int iree_model_new(struct iree_model **ret_model, struct import_rows *rows, struct error *err);
void iree_model_free(struct iree_model *model);

/*
 * Takes a record of any kind but IREE_SCHEMA, _SESSION, _DIAGNOSTIC and IREE_N_KINDS.  Counts what is wrong
 * with it; returns 0, or a failure of import_rows.
 */
int iree_model_add(struct iree_model *model, const struct iree_record *record, struct error *err);

/* A row of a kind that is not known here, by its name. */
void iree_model_count_unknown(struct iree_model *model, struct text_view kind);

/* A session begins (all ids are new), or ends with a status of IREE's, 0 = OK. */
int iree_model_begin_session(struct iree_model *model, struct error *err);
int iree_model_end_session(struct iree_model *model, uint64_t status, struct error *err);

/*
 * All was read.  Gives out what waited, and the readings of the clocks.
 * Returns 0; -ENODATA with words if there was no record at all: nothing was recorded; or a failure of
 * import_rows.
 */
int iree_model_end(struct iree_model *model, struct error *err);

/* Whether a session began that has not ended. */
bool iree_model_is_in_session(const struct iree_model *model);

#endif /* IMPORT_IREE_MODEL_H */
