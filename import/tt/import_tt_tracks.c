/* SPDX-License-Identifier: MIT */
#include "import/tt/import_tt_tracks.h"

#include "base/array.h"
#include "base/error.h"
#include "format/tt_run_key.h"
#include "import/tt/import_tt_cells.h"
#include "import/tt/import_tt_device.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CHIPS_MAX      (UINT32_C(1) << 12)
#define NAME_BYTES_MAX (UINT32_C(64) << 20) /* of all distinct names */
#define NEO            "QUASAR_NEO"

struct lane_key {
        uint32_t core, processor; /* in `core_keys`, `names` */
};

/* NEO processors count as another chip here: their clock is another one. */
struct chip_key {
        uint64_t number, is_neo;
};

struct import_tt_chip {
        uint32_t track, clock;
        uint32_t operations; /* track; 0 = not asked yet */
};

void import_tt_tracks_init(struct import_tt_tracks *t, struct import_rows *rows, struct error *err)
{
        *t = (struct import_tt_tracks){ .rows = rows, .err = err };
        intern_init(&t->chip_keys, sizeof(struct chip_key), CHIPS_MAX);
        intern_init(&t->core_keys, sizeof(struct import_tt_core), IMPORT_TT_LANES_MAX);
        intern_init(&t->lane_keys, sizeof(struct lane_key), IMPORT_TT_LANES_MAX);
        intern_init(&t->names, 0, IMPORT_TT_NAMES_MAX);
        t->names.items_bytes_max = NAME_BYTES_MAX;
}

void import_tt_tracks_deinit(struct import_tt_tracks *t)
{
        for (uint32_t i = 0; i < t->lane_keys.n_items && i < t->lanes_capacity; i++)
                free(t->lanes[i].open);
        intern_deinit(&t->chip_keys);
        intern_deinit(&t->core_keys);
        intern_deinit(&t->lane_keys);
        intern_deinit(&t->names);
        free(t->chips);
        free(t->core_tracks);
        free(t->lanes);
        free(t->strings);
        import_tt_sync_deinit(&t->sync);
}

int import_tt_tracks_find_name(struct import_tt_tracks *t, struct text_view text, uint32_t *ret_id,
                               uint32_t *ret_string)
{
        uint32_t id;
        int code;

        text = import_tt_trim(text);
        *ret_id = *ret_string = 0;
        if (text.n_bytes == 0)
                return 0;
        code = intern_add(&t->names, text.bytes, text.n_bytes, &id);
        if (code == -EOVERFLOW) {
                import_rows_left_out(t->rows, "names beyond the first million", 1);
                return 0;
        }
        if (code == 1)
                code = array_extend(&t->strings, &t->strings_capacity, id - 1, id, sizeof(*t->strings));
        if (code < 0)
                return error_set(t->err, code, "out of memory for the names of zones");
        if (t->strings[id - 1] == 0) {
                code = import_rows_string(t->rows, text, &t->strings[id - 1], t->err);
                if (code < 0)
                        return code;
        }
        *ret_id = id;
        *ret_string = t->strings[id - 1];
        return 0;
}

int import_tt_tracks_find_word(struct import_tt_tracks *t, const char *word, uint32_t *string)
{
        if (*string != 0)
                return 0;
        return import_rows_string(t->rows, (struct text_view){ word, strlen(word) }, string, t->err);
}

int import_tt_tracks_find_key(struct import_tt_tracks *t, uint64_t value, struct import_key *ret_key)
{
        int code = value != 0 ? import_tt_tracks_find_word(t, TT_RUN_KEY_KIND, &t->key_kind) : 0;

        *ret_key = (struct import_key){ .kind = value != 0 ? t->key_kind : 0, .value = value };
        return code;
}

/* ---- tracks -------------------------------------------------------------------------------------------- */

int import_tt_tracks_add_tsc(struct import_tt_tracks *t)
{
        struct import_clock clock = { .kind = IMPORT_CLOCK_TSC,
                                      .period_ns = t->sync.tsc_period_ns,
                                      .name = { "TSC", 3 } };

        return t->sync.tsc_period_ns > 0 ? import_rows_clock(t->rows, &clock, &t->tsc, t->err) : 0;
}

static int add_clock(struct import_tt_tracks *t, const struct chip_key *key, uint32_t *ret_clock)
{
        char name[128];
        double mhz = key->is_neo ? IMPORT_TT_NEO_CLOCK_MHZ : t->mhz;
        struct import_clock clock = { .kind = IMPORT_CLOCK_OWN, .period_ns = mhz > 0 ? 1000 / mhz : 0 };
        uint64_t root = 0;
        int n, code;

        if (key->is_neo)
                n = snprintf(name, sizeof(name), "chip %" PRIu64 " NEO", key->number);
        else if (import_tt_sync_find(&t->sync, key->number, &root) == IMPORT_TT_THROUGH)
                n = snprintf(name, sizeof(name), "chip %" PRIu64 ", by the clock of chip %" PRIu64,
                             key->number, root);
        else
                n = snprintf(name, sizeof(name), "chip %" PRIu64, key->number);
        clock.name = (struct text_view){ name, (size_t)n };
        code = import_rows_clock(t->rows, &clock, ret_clock, t->err);
        if (code == 0 && !key->is_neo)
                code = import_tt_sync_give(&t->sync, key->number, *ret_clock, t->rows, t->err);
        return code;
}

static int find_chip(struct import_tt_tracks *t, const struct chip_key *key, struct import_tt_chip *ret_chip)
{
        char name[128];
        struct import_track track = { .kind = IMPORT_TRACK_DEVICE,
                                      .number = key->number,
                                      .has_number = true };
        uint32_t id;
        int n, code = intern_add_row(&t->chip_keys, key, &t->chips, &t->chips_capacity, sizeof(*t->chips),
                                     &id);

        if (code < 0)
                return code;
        if (t->chips[id - 1].track == 0) {
                code = add_clock(t, key, &t->chips[id - 1].clock);
                if (code < 0)
                        return code;
                n = snprintf(name, sizeof(name), "chip %" PRIu64 "%s%s%s", key->number,
                             t->chip[0] ? ", " : "", t->chip, key->is_neo ? ", NEO" : "");
                track.name = (struct text_view){ name, (size_t)n };
                track.clock = t->chips[id - 1].clock;
                code = import_rows_track(t->rows, &track, &t->chips[id - 1].track, t->err);
                if (code < 0)
                        return code;
        }
        *ret_chip = t->chips[id - 1];
        return 0;
}

static int find_core(struct import_tt_tracks *t, const struct import_tt_core *key,
                     const struct import_tt_chip *chip, uint32_t *ret_core)
{
        char name[64];
        struct import_track track = { .kind = IMPORT_TRACK_CORE,
                                      .parent = chip->track,
                                      .clock = chip->clock };
        int n, code = intern_add_row(&t->core_keys, key, &t->core_tracks, &t->cores_capacity,
                                     sizeof(*t->core_tracks), ret_core);

        if (code < 0 || t->core_tracks[*ret_core - 1] != 0)
                return code < 0 ? code : 0;
        n = snprintf(name, sizeof(name), "core %" PRIu64 ",%" PRIu64, key->x, key->y);
        track.name = (struct text_view){ name, (size_t)n };
        return import_rows_track(t->rows, &track, &t->core_tracks[*ret_core - 1], t->err);
}

int import_tt_tracks_find_lane(struct import_tt_tracks *t, const struct import_tt_core *core,
                               struct text_view processor, uint32_t *ret_lane)
{
        bool is_neo = text_view_begins_with(processor, NEO);
        struct chip_key chip_key = { .number = core->chip, .is_neo = is_neo };
        struct import_tt_core core_key = *core;
        struct lane_key lane_key;
        struct import_track track = { .kind = IMPORT_TRACK_PROCESSOR, .name = processor };
        struct import_tt_chip chip;
        uint32_t string;
        int code = find_chip(t, &chip_key, &chip);

        /* The core of a NEO processor lies below the chip with the NEO's clock. */
        core_key.chip = core->chip ^ (is_neo ? UINT64_C(1) << 63 : 0);
        if (code == 0)
                code = find_core(t, &core_key, &chip, &lane_key.core);
        if (code == 0)
                code = import_tt_tracks_find_name(t, processor, &lane_key.processor, &string);
        if (code == 0)
                code = intern_add_row(&t->lane_keys, &lane_key, &t->lanes, &t->lanes_capacity,
                                      sizeof(*t->lanes), ret_lane);
        if (code < 0 || t->lanes[*ret_lane - 1].track != 0)
                return code < 0 ? code : 0;
        t->lanes[*ret_lane - 1].chip = core->chip;
        track.parent = t->core_tracks[lane_key.core - 1];
        track.clock = chip.clock;
        return import_rows_track(t->rows, &track, &t->lanes[*ret_lane - 1].track, t->err);
}

int import_tt_tracks_find_operations(struct import_tt_tracks *t, uint64_t chip, uint32_t *ret_track)
{
        struct chip_key key = { .number = chip };
        struct import_track track = { .kind = IMPORT_TRACK_OTHER, .name = { "operations", 10 } };
        struct import_tt_chip found;
        uint32_t *operations;
        int code = find_chip(t, &key, &found);

        if (code < 0)
                return code;
        operations = &t->chips[intern_find(&t->chip_keys, &key, sizeof(key)) - 1].operations;
        if (*operations == 0) {
                track.parent = found.track;
                track.clock = found.clock;
                code = import_rows_track(t->rows, &track, operations, t->err);
        }
        *ret_track = *operations;
        return code;
}
