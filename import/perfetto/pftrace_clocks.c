/* SPDX-License-Identifier: MIT */
#include "import/perfetto/pftrace_clocks.h"

#include "base/array.h"
#include "base/error.h"
#include "import/file/protobuf_pull.h"
#include "import/perfetto/pftrace_fields.h"
#include "import/rows/import_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SNAPSHOT_CLOCKS_MAX 128
#define NAME_BYTES          32

struct reading {
        uint32_t id;
        uint64_t ticks, unit;
        bool is_incremental;
};

struct snapshot {
        struct reading readings[SNAPSHOT_CLOCKS_MAX];
        size_t n_readings;
        uint32_t primary;
};

void pftrace_clocks_init(struct pftrace_clocks *c, struct import_rows *rows)
{
        *c = (struct pftrace_clocks){ .rows = rows };
}

void pftrace_scope_deinit(struct pftrace_scope *scope)
{
        free(scope->clocks);
        *scope = (struct pftrace_scope){ .clocks = NULL };
}

static bool is_of_sequence(uint32_t id)
{
        return id >= PFTRACE_BUILTIN_END && id < PFTRACE_SEQUENCE_END;
}

static enum import_clock_kind kind_of(uint32_t id)
{
        switch (id) {
        case PFTRACE_REALTIME:
                return IMPORT_CLOCK_REALTIME;
        case PFTRACE_MONOTONIC:
                return IMPORT_CLOCK_MONOTONIC;
        case PFTRACE_MONOTONIC_RAW:
                return IMPORT_CLOCK_RAW;
        case PFTRACE_BOOTTIME:
                return IMPORT_CLOCK_BOOTTIME;
        case PFTRACE_TSC:
                return IMPORT_CLOCK_TSC;
        default:
                return IMPORT_CLOCK_OWN;
        }
}

static bool is_host_ns(uint32_t id)
{
        return id == PFTRACE_REALTIME || id == PFTRACE_MONOTONIC || id == PFTRACE_MONOTONIC_RAW ||
               id == PFTRACE_BOOTTIME;
}

/* The coarse clocks are the same clocks, read at the last tick of the kernel. */
static uint32_t fine_clock(uint32_t id)
{
        return id == PFTRACE_REALTIME_COARSE    ? PFTRACE_REALTIME
               : id == PFTRACE_MONOTONIC_COARSE ? PFTRACE_MONOTONIC
                                                : id;
}

/* NULL: there are too many. */
static struct pftrace_clock *find_known(struct pftrace_clocks *c, uint32_t id)
{
        for (uint32_t i = 0; i < c->n_known; i++)
                if (c->known[i].id == id)
                        return &c->known[i];
        if (c->n_known == PFTRACE_CLOCKS_MAX)
                return NULL;
        c->known[c->n_known] = (struct pftrace_clock){ .id = id };
        return &c->known[c->n_known++];
}

/* ------------------------------------------------------------------ snapshots */

static int read_reading(struct text_view message, struct reading *ret)
{
        struct byte_reader reader = protobuf_pull_of(message);
        struct protobuf_field field;
        int r;

        *ret = (struct reading){ .unit = 1 };
        while ((r = protobuf_pull_next(&reader, &field)) == 1) {
                if (field.number == PFTRACE_READING_ID)
                        ret->id = field.value <= UINT32_MAX ? (uint32_t)field.value : 0;
                else if (field.number == PFTRACE_READING_TIME)
                        ret->ticks = field.value;
                else if (field.number == PFTRACE_READING_INCREMENTAL)
                        ret->is_incremental = field.value != 0;
                else if (field.number == PFTRACE_READING_UNIT && field.value != 0)
                        ret->unit = field.value;
        }
        return r;
}

static int read_snapshot(struct text_view message, struct snapshot *ret)
{
        struct byte_reader reader = protobuf_pull_of(message);
        struct protobuf_field field;
        int r;

        ret->n_readings = 0;
        ret->primary = 0;
        while ((r = protobuf_pull_next(&reader, &field)) == 1) {
                if (field.number == PFTRACE_SNAPSHOT_PRIMARY && field.value < PFTRACE_BUILTIN_END)
                        ret->primary = (uint32_t)field.value;
                if (field.number != PFTRACE_SNAPSHOT_CLOCK || ret->n_readings == SNAPSHOT_CLOCKS_MAX)
                        continue;
                r = read_reading(field.bytes, &ret->readings[ret->n_readings]);
                if (r < 0)
                        return r;
                ret->n_readings += ret->readings[ret->n_readings].id != 0;
        }
        return r;
}

/* Which clock of the machine those of the sequence are counted in. */
static const struct reading *choose_base(const struct pftrace_clocks *c, const struct snapshot *snapshot)
{
        const uint32_t order[] = { c->primary, PFTRACE_MONOTONIC, PFTRACE_BOOTTIME, PFTRACE_MONOTONIC_RAW,
                                   PFTRACE_REALTIME };

        for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
                for (size_t j = 0; j < snapshot->n_readings; j++)
                        if (order[i] != 0 && snapshot->readings[j].id == order[i])
                                return &snapshot->readings[j];
        return NULL;
}

static int put_scoped(struct pftrace_clocks *c, struct pftrace_scope *scope, const struct reading *reading,
                      const struct reading *base, struct error *err)
{
        const struct pftrace_clock *known = base ? find_known(c, base->id) : NULL;
        struct scoped_clock clock = { .id = reading->id,
                                      .unit = reading->unit,
                                      .last = reading->ticks,
                                      .is_incremental = reading->is_incremental };
        size_t i = 0;

        if (known) {
                clock.base = (uint32_t)(known - c->known) + 1;
                clock.offset = base->ticks - reading->ticks * reading->unit;
        }
        while (i < scope->n_clocks && scope->clocks[i].id != reading->id)
                i++;
        if (i == scope->n_clocks) {
                if (array_reserve(&scope->clocks, &scope->capacity, i + 1, sizeof(*scope->clocks)) < 0)
                        return error_set(err, -ENOMEM, "no memory for clocks");
                scope->n_clocks++;
        }
        scope->clocks[i] = clock;
        return 0;
}

/* Reads this clock against those of the machine that are in the same snapshot. */
static int put_readings(struct pftrace_clocks *c, const struct pftrace_clock *of, struct error *err)
{
        int r = 0;

        for (uint32_t i = 0; r == 0 && of->snapshot != 0 && i < c->n_known; i++) {
                const struct pftrace_clock *host = &c->known[i];
                struct import_reading reading = { .clock = of->clock,
                                                  .host = kind_of(host->id),
                                                  .ticks = of->last,
                                                  .host_begin = host->last,
                                                  .host_end = host->last };

                if (host == of || host->snapshot != of->snapshot || !is_host_ns(host->id))
                        continue;
                if (c->n_readings == PFTRACE_READINGS_MAX) {
                        c->n_readings_left_out++;
                        continue;
                }
                c->n_readings++;
                r = import_rows_reading(c->rows, &reading, err);
        }
        return r;
}

int pftrace_clocks_snapshot(struct pftrace_clocks *c, struct pftrace_scope *scope, struct text_view message,
                            struct error *err)
{
        const struct reading *base;
        struct snapshot snapshot;
        int r = read_snapshot(message, &snapshot);

        if (r < 0)
                return r;
        c->n_snapshots++;
        if (snapshot.primary != 0)
                c->primary = snapshot.primary;
        base = choose_base(c, &snapshot);
        for (size_t i = 0; r == 0 && i < snapshot.n_readings; i++) {
                const struct reading *reading = &snapshot.readings[i];
                struct pftrace_clock *known;

                if (is_of_sequence(reading->id)) {
                        r = put_scoped(c, scope, reading, base, err);
                        continue;
                }
                known = reading->id == fine_clock(reading->id) ? find_known(c, reading->id) : NULL;
                if (!known)
                        continue;
                known->last = reading->ticks;
                known->snapshot = c->n_snapshots;
        }
        for (uint32_t i = 0; r == 0 && i < c->n_known; i++)
                if (c->known[i].clock != 0 && c->known[i].snapshot == c->n_snapshots)
                        r = put_readings(c, &c->known[i], err);
        return r;
}

/* ------------------------------------------------------------------ times */

int pftrace_clocks_time(struct pftrace_clocks *c, struct pftrace_scope *scope, uint32_t id, uint64_t ticks,
                        uint32_t *ret_known, uint64_t *ret_time)
{
        struct scoped_clock *scoped = NULL;
        const struct pftrace_clock *known;

        if (id == 0)
                id = c->primary != 0 ? c->primary : PFTRACE_BOOTTIME;
        if (!is_of_sequence(id)) {
                known = find_known(c, fine_clock(id));
                if (!known)
                        return -EBADMSG;
                *ret_known = (uint32_t)(known - c->known);
                *ret_time = ticks;
                return 0;
        }
        for (size_t i = 0; i < scope->n_clocks; i++)
                if (scope->clocks[i].id == id)
                        scoped = &scope->clocks[i];
        if (!scoped || scoped->base == 0)
                return -EBADMSG;
        if (scoped->is_incremental)
                ticks = scoped->last += ticks;
        *ret_known = scoped->base - 1;
        *ret_time = ticks * scoped->unit + scoped->offset;
        return 0;
}

bool pftrace_clocks_convert(const struct pftrace_clocks *c, uint32_t from, uint32_t to, uint64_t *time)
{
        const struct pftrace_clock *a = &c->known[from], *b = &c->known[to];

        if (from == to)
                return true;
        if (a->snapshot == 0 || a->snapshot != b->snapshot)
                return false;
        *time = *time - a->last + b->last;
        return true;
}

int pftrace_clocks_use(struct pftrace_clocks *c, uint32_t known, uint32_t *ret_clock, struct error *err)
{
        struct pftrace_clock *of = &c->known[known];
        struct import_clock clock = { .kind = kind_of(of->id) };
        char name[NAME_BYTES];
        int r = 0;

        if (of->clock == 0) {
                if (clock.kind == IMPORT_CLOCK_OWN) {
                        clock.period_ns = 1;
                        clock.name.n_bytes = (size_t)snprintf(name, sizeof(name), "clock %u", of->id);
                        clock.name.bytes = name;
                }
                r = import_rows_clock(c->rows, &clock, &of->clock, err);
                if (r == 0)
                        r = put_readings(c, of, err);
        }
        *ret_clock = of->clock;
        return r;
}
