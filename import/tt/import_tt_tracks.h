/* SPDX-License-Identifier: MIT */
/*
 * import/tt/import_tt_tracks.h - chips, cores, processors, their clocks, and names: one of each
 *
 * Way of the data:  import_tt_device, import_tt_report -> [import_tt_tracks] -> import_rows
 *
 * A chip's clock and its readings are said when its first track is.  Not thread-safe.
 */
#ifndef IMPORT_IMPORT_TT_TRACKS_H
#define IMPORT_IMPORT_TT_TRACKS_H

#include "base/intern.h"
#include "base/text_view.h"
#include "import/rows/import_rows.h"
#include "import/tt/import_tt_sync.h"

#include <stddef.h>
#include <stdint.h>

struct import_tt_core {
        uint64_t chip, x, y; /* chip: up to INT64_MAX */
};

/* A zone that has begun. */
struct import_tt_zone {
        uint64_t begin, key;
        uint32_t name; /* in `names` */
        uint32_t string, file, line, text;
};

struct import_tt_lane {
        uint32_t track;
        uint64_t chip;
        struct import_tt_zone *open; /* heap; the innermost last */
        size_t n_open, capacity;
};

struct import_tt_tracks {
        struct import_rows *rows; /* borrowed */
        struct error *err;        /* borrowed; not NULL */
        double mhz;               /* nominal, of all chips; 0 = unknown */
        char chip[32];            /* "wormhole_b0"; may be empty */
        struct import_tt_sync sync;

        struct intern chip_keys, core_keys, lane_keys, names;
        struct import_tt_chip *chips; /* heap; by id - 1 in chip_keys, as all below */
        uint32_t *core_tracks;
        struct import_tt_lane *lanes;
        uint32_t *strings; /* of `names`: the ids of import_rows; 0 = not asked yet */
        size_t chips_capacity, cores_capacity, lanes_capacity, strings_capacity;
        uint32_t key_kind; /* string; 0 = not asked yet */
        uint32_t tsc;      /* clock; 0 = there is none */
};

/* The caller's storage.  _deinit() frees all, `sync` included. */
void import_tt_tracks_init(struct import_tt_tracks *tracks, struct import_rows *rows, struct error *err);
void import_tt_tracks_deinit(struct import_tt_tracks *tracks);

/*
 * These return 0, or -errno; -EOVERFLOW without words in `err` if there are too many.
 * @ret_id: equal for equal names; 0 for the empty one, and for those beyond IMPORT_TT_NAMES_MAX
 */
int import_tt_tracks_find_name(struct import_tt_tracks *tracks, struct text_view text, uint32_t *ret_id,
                               uint32_t *ret_string);

/* Says the clock by which the host read the chips, `tsc`, if its period is known; after `sync` is read. */
int import_tt_tracks_add_tsc(struct import_tt_tracks *tracks);

/* @string: 0 until it was asked for. */
int import_tt_tracks_find_word(struct import_tt_tracks *tracks, const char *word, uint32_t *string);

/* The key of a run; @value 0 = none. */
int import_tt_tracks_find_key(struct import_tt_tracks *tracks, uint64_t value, struct import_key *ret_key);

/* A processor of a core; @ret_lane: from 1, of `lanes`. */
int import_tt_tracks_find_lane(struct import_tt_tracks *tracks, const struct import_tt_core *core,
                               struct text_view processor, uint32_t *ret_lane);

/* The track of a chip's operations. */
int import_tt_tracks_find_operations(struct import_tt_tracks *tracks, uint64_t chip, uint32_t *ret_track);

#endif /* IMPORT_IMPORT_TT_TRACKS_H */
