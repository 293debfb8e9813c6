/* SPDX-License-Identifier: MIT */
/*
 * format/tt_run_key.h - the four numbers that name one run of a program on a chip of tt-metal, as one key
 *
 * Way of the data:  import_tt_device -> [tt_run_key] -> keys of kind "tt run" in the trace -> device_ops
 *
 * tt-metal gives a replayed trace its run host IDs again, and each chip counts for itself: only
 * all four numbers together name a run.  In the key:
 *
 *     bits  0..31   run host ID (program << 10 | device; in the op report: GLOBAL CALL COUNT)
 *     bits 32..39   chip
 *     bits 40..47   trace id + 1; 0 = not in a trace
 *     bits 48..62   trace id counter (which replay) + 1; 0 = none
 *     bit  63       0
 *
 * Numbers that do not fit make a key with bit 63 set and a hash of all four below it: it still joins, but
 * does not say its parts.  The key 0 stands for work outside of any program, whose run host ID is 0.
 */
#ifndef FORMAT_TT_RUN_KEY_H
#define FORMAT_TT_RUN_KEY_H

#include "base/content_hash.h"

#include <stdbool.h>
#include <stdint.h>

#define TT_RUN_KEY_KIND "tt run"
#define TT_RUN_KEY_HASH (UINT64_C(1) << 63)
#define TT_RUN_NONE     UINT64_MAX /* of `trace` and `replay` */

struct tt_run {
        uint64_t chip, run_host_id;
        uint64_t trace, replay; /* TT_RUN_NONE = not in a trace */
};

static inline uint64_t tt_run_key_encode(const struct tt_run *run)
{
        uint64_t trace = run->trace + 1, replay = run->replay + 1; /* NONE becomes 0 */

        if (run->run_host_id == 0)
                return 0;
        if (run->run_host_id <= UINT32_MAX && run->chip <= 0xff && trace <= 0xff && replay <= 0x7fff)
                return run->run_host_id | run->chip << 32 | trace << 40 | replay << 48;
        return content_hash(run, sizeof(*run)) | TT_RUN_KEY_HASH;
}

/* Returns false for 0, and for a hash. */
static inline bool tt_run_key_decode(uint64_t key, struct tt_run *ret_run)
{
        if ((key & UINT32_MAX) == 0 || key & TT_RUN_KEY_HASH)
                return false;
        *ret_run = (struct tt_run){
                .run_host_id = key & UINT32_MAX,
                .chip = key >> 32 & 0xff,
                .trace = (key >> 40 & 0xff) - 1,
                .replay = (key >> 48) - 1,
        };
        return true;
}

#endif /* FORMAT_TT_RUN_KEY_H */
