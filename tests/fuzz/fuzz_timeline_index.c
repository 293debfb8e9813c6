/* SPDX-License-Identifier: MIT */
/* timeline/timeline_directory.c, timeline_query.c: any file is an index or is refused; never a crash */
#include "base/content_hash.h"
#include "base/error.h"
#include "timeline/timeline_directory.h"
#include "timeline/timeline_hits.h"
#include "timeline/timeline_index.h"
#include "timeline/timeline_launches.h"
#include "timeline/timeline_query.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEAD_HASHED_BYTES 112 /* see docs/understand/timeline.md */
#define DIRECTORY_AT      88

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void store(uint8_t *at, uint64_t v)
{
        for (unsigned i = 0; i < sizeof(v); i++)
                at[i] = (uint8_t)(v >> 8 * i);
}

static uint64_t load(const uint8_t *at)
{
        uint64_t v = 0;

        for (unsigned i = 0; i < sizeof(v); i++)
                v |= (uint64_t)at[i] << 8 * i;
        return v;
}

/* An attacker knows the checksums: those of the head and the directory are made right. */
static void mend(uint8_t *bytes, size_t size)
{
        uint64_t at = load(bytes + DIRECTORY_AT), n_bytes = load(bytes + DIRECTORY_AT + 8);

        if (at <= size && n_bytes <= size - at)
                store(bytes + DIRECTORY_AT + 16, content_hash(bytes + at, n_bytes));
        store(bytes + HEAD_HASHED_BYTES, content_hash(bytes, HEAD_HASHED_BYTES));
}

static void ask(struct timeline_index *t)
{
        struct timeline_columns columns = { .n_max = 10000 };

        for (uint32_t lane = 0; lane < t->n_lanes && lane < 64; lane++) {
                struct timeline_search search = { .lanes = &lane, .n_lanes = 1, .at_ns = 1000, .what = 1 };
                struct timeline_found found;

                for (unsigned log2 = 0; log2 < 64; log2 += 9) {
                        struct timeline_view view = { lane, log2, 100, UINT64_MAX };

                        (void)timeline_query_view(t, &view, &columns, NULL);
                }
                (void)timeline_query_find(t, &search, &found, NULL);
                search.is_backwards = search.any = true;
                (void)timeline_query_find(t, &search, &found, NULL);
                (void)timeline_index_lane_facts(t, lane);
        }
        for (uint32_t i = 0; i < t->n_tracks; i++)
                (void)timeline_index_title(t, i);
        for (uint32_t i = 0; i < t->n_launches; i++) {
                const struct timeline_launch *launch = &t->launches[i], *found;
                const struct timeline_launch_search search = { launch->device_ns, launch->device_track,
                                                               launch->device_location, true };

                if (timeline_launches_find(t, &search, &found, 1) == 0)
                        abort();
        }
        timeline_columns_deinit(&columns);
}

/* Whatever its pages say, the steps from hit to hit come to an end. */
static void search(struct timeline_index *t)
{
        static const uint64_t bits = 0x5a;
        struct timeline_wanted wanted[TIMELINE_LANE_KIND_COUNT];
        struct timeline_hit_place place = { .at_ns = 0 };
        struct timeline_hit_counts counts = { .by_what = NULL };
        struct timeline_found found;

        for (size_t i = 0; i < TIMELINE_LANE_KIND_COUNT; i++)
                wanted[i] = (struct timeline_wanted){ &bits, 1, 8, UINT64_MAX };
        (void)timeline_hits_count(t, wanted, 1000, &counts, NULL);
        for (int i = 0; i < 16; i++)
                if (timeline_hits_step(t, wanted, &place, i > 10, &found, NULL) != 1 ||
                    timeline_hits_place(t, wanted, &found, &place, NULL) < 0)
                        break;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        int fd = memfd_create("index", MFD_CLOEXEC);
        struct error err = ERROR_NONE;
        struct timeline_index t;
        uint8_t *bytes = malloc(size + 1);

        if (fd < 0 || !bytes)
                abort();
        memcpy(bytes, data, size);
        if (size >= HEAD_HASHED_BYTES + 8)
                mend(bytes, size);
        if (write(fd, bytes, size) != (ssize_t)size)
                abort();
        if (timeline_directory_open(&t, fd, NULL, &err) == 0) {
                ask(&t);
                search(&t);
                t.pages.is_unchecked = true;
                ask(&t);
                search(&t);
        } else if (err.text[0] == '\0') {
                abort();
        }
        timeline_index_deinit(&t);
        free(bytes);
        return 0;
}
