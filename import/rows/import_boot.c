/* SPDX-License-Identifier: MIT */
#include "import/rows/import_boot.h"

#include "base/error.h"
#include "import/rows/import_clocks.h"
#include "import/rows/import_state.h"

#include <errno.h>
#include <stddef.h>

static bool begins_with_the_boot(enum import_clock_kind kind)
{
        return kind == IMPORT_CLOCK_RAW || kind == IMPORT_CLOCK_MONOTONIC || kind == IMPORT_CLOCK_BOOTTIME ||
               kind == IMPORT_CLOCK_TSC;
}

/* The first reading of a clock against one of both sorts; NULL = there is none. */
static const struct import_reading *find_reading(const struct import_clocks *c, uint32_t clock,
                                                 bool is_of_boot)
{
        for (size_t i = 0; i < c->n_readings; i++) {
                const struct import_reading *r = &c->readings[i];

                if (r->clock == clock && c->has_host[r->host] && begins_with_the_boot(r->host) == is_of_boot)
                        return r;
        }
        return NULL;
}

bool import_boot_differs(const struct import_clocks *c, uint32_t clock)
{
        const struct placed_clock *p = &c->clocks[clock - 1];
        const struct import_reading *real = find_reading(c, clock, false), *boot;
        double apart_ns, period_ns = p->clock.period_ns > 0 ? p->clock.period_ns : 1;
        uint64_t by_boot, by_real;

        if (!real)
                return false;
        by_real = import_line_time(&c->host[real->host], real->host_begin);
        if (begins_with_the_boot(p->clock.kind)) {
                by_boot = import_line_time(&c->host[p->clock.kind], real->ticks);
                period_ns = 0;
                boot = real;
        } else {
                boot = find_reading(c, clock, true);
                if (!boot)
                        return false;
                by_boot = import_line_time(&c->host[boot->host], boot->host_begin);
        }
        apart_ns = (double)by_real - (double)by_boot -
                   ((double)real->ticks - (double)boot->ticks) * period_ns;
        return apart_ns > (double)IMPORT_BOOT_APART_NS || -apart_ns > (double)IMPORT_BOOT_APART_NS;
}

/* The last event of a file that is placed by such a clock; 0 = none is. */
static uint64_t find_last(const struct import_rows *rows, const struct import_file *file)
{
        const struct import_clocks *c = &rows->clocks;
        uint64_t last_ns = 0;

        for (uint32_t id = file->first_clock; id < file->end_clock; id++) {
                const struct placed_clock *p = &c->clocks[id - 1];
                bool is_of_boot = begins_with_the_boot(p->clock.kind) || find_reading(c, id, true);
                uint64_t time_ns;

                if (!p->is_placed || p->first > p->last || p->is_of_other_boot || !is_of_boot)
                        continue;
                time_ns = import_clocks_time(c, id, p->last);
                last_ns = time_ns > last_ns ? time_ns : last_ns;
        }
        return last_ns;
}

int import_boot_check(struct import_rows *rows, struct error *err)
{
        const struct import_clocks *c = &rows->clocks;

        for (size_t i = 0; i < rows->n_files; i++) {
                struct import_file *file = &rows->files[i];
                uint64_t last_ns = find_last(rows, file), written_ns;

                if (last_ns == 0 || file->written_ns == 0 || !c->has_host[IMPORT_CLOCK_REALTIME])
                        continue;
                written_ns = import_line_time(&c->host[IMPORT_CLOCK_REALTIME], file->written_ns);
                if (last_ns > written_ns && last_ns - written_ns > IMPORT_BOOT_APART_NS)
                        return error_set(
                                err, -ESTALE,
                                "%s: its clock is of another boot than the recording: its last event "
                                "would be after the file was written",
                                file->path);
                file->late_ns = written_ns > last_ns ? written_ns - last_ns : 0;
        }
        return 0;
}
