/* SPDX-License-Identifier: MIT */
#include "symbolize/index/dwarf_origins.h"

#include <stdlib.h>

#define HOPS_MAX 8 /* origins and specifications from a call to the name; more are a circle */

void dwarf_origins_deinit(struct dwarf_origins *origins)
{
        for (size_t i = 0; i < DWARF_ORIGINS_TABLES; i++) {
                dwarf_abbrevs_deinit(&origins->tables[i].abbrevs);
                origins->tables[i] = (struct dwarf_origin_table){ .sections = NULL };
        }
}

static const struct dwarf_abbrevs *find_table(struct dwarf_origins *origins, const struct dwarf_unit *unit)
{
        const struct debug_sections *sections = unit->file->sections;
        uint64_t hash = unit->abbrev_offset * UINT64_C(0x9e3779b97f4a7c15);
        struct dwarf_origin_table *table = &origins->tables[hash >> 58];

        if (table->sections != sections || table->offset != unit->abbrev_offset ||
            memcmp(&table->encoding, &unit->encoding, sizeof(table->encoding)) != 0) {
                uint64_t n_bytes;

                if (origins->budget_bytes == 0)
                        return NULL;
                table->sections = sections;
                table->offset = unit->abbrev_offset;
                table->encoding = unit->encoding;
                table->is_broken = dwarf_abbrevs_load(&table->abbrevs, sections, unit->abbrev_offset,
                                                      unit->encoding, SIZE_MAX) < 0;
                n_bytes = (table->abbrevs.n_abbrevs + table->abbrevs.n_steps + 1) * UINT64_C(8);
                origins->budget_bytes -= n_bytes < origins->budget_bytes ? n_bytes : origins->budget_bytes;
        }
        return table->is_broken ? NULL : &table->abbrevs;
}

_Static_assert(DWARF_ORIGINS_TABLES == 1 << (64 - 58),
               "the hash of a table is as many bits as there are tables");

/* One entry on the way to the name. */
struct hop {
        const struct dwarf_unit *unit;
        const struct dwarf_abbrevs *abbrevs;
        const struct dwarf_units *file;
        uint64_t offset;
        const char *plain; /* the name to use if there is no linkage name */
};

/*
 * Returns the name that ends the search, or NULL: then the hop is at the next entry, or `offset` is invalid.
 */
static const char *dwarf_origins_follow(struct dwarf_origins *origins, struct hop *hop)
{
        struct dwarf_value values[DWARF_WANTED_COUNT];
        const struct dwarf_abbrev *abbrev;
        struct dwarf_cursor c;
        const char *name;
        uint32_t seen;

        if (hop->file != hop->unit->file || hop->offset < hop->unit->first_die ||
            hop->offset >= hop->unit->end) {
                hop->unit = dwarf_units_find(hop->file, hop->offset);
                hop->abbrevs = hop->unit ? find_table(origins, hop->unit) : NULL;
        }
        if (!hop->abbrevs)
                goto nothing;
        c = dwarf_cursor_at(hop->file->sections, DEBUG_SECTION_INFO, hop->offset);
        abbrev = dwarf_abbrevs_find(hop->abbrevs, dwarf_cursor_uleb(&c));
        if (!abbrev)
                goto nothing;
        dwarf_values_read(&c, hop->abbrevs, abbrev, hop->unit->encoding, values, &seen);
        if (seen & 1U << DWARF_WANTED_LINKAGE_NAME) {
                name = dwarf_unit_text(hop->unit, &values[DWARF_WANTED_LINKAGE_NAME]);
                if (name)
                        return name;
        }
        if (!hop->plain && seen & 1U << DWARF_WANTED_NAME)
                hop->plain = dwarf_unit_text(hop->unit, &values[DWARF_WANTED_NAME]);
        if (seen & 1U << DWARF_WANTED_ORIGIN) {
                hop->offset = dwarf_unit_reference(hop->unit, &values[DWARF_WANTED_ORIGIN], &hop->file);
                return NULL;
        }
nothing:
        hop->offset = DWARF_NO_OFFSET;
        return NULL;
}

const char *dwarf_origins_find_name(struct dwarf_origins *origins, const struct dwarf_unit *unit,
                                    const struct dwarf_abbrevs *abbrevs, const struct dwarf_units *file,
                                    uint64_t offset)
{
        struct hop hop = { .unit = unit, .abbrevs = abbrevs, .file = file, .offset = offset };

        for (unsigned i = 0; i < HOPS_MAX && hop.offset != DWARF_NO_OFFSET; i++) {
                const char *name = dwarf_origins_follow(origins, &hop);

                if (name)
                        return name;
        }
        return hop.plain;
}
