/* SPDX-License-Identifier: MIT */
/*
 * Hostile files let many entries refer to one long list, line program or table of abbreviations.  The sizes
 * of the sections limit what an index reads of each kind, so that time and memory are linear in the file.
 */
#include "symbolize/index/code_index.h"

#include "base/error.h"
#include "symbolize/index/code_walk.h"
#include "symbolize/index/dwarf_ranges.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#define LINE_SHARERS_MAX   4 /* budget: each line program may be read this many times */
#define ABBREV_SHARERS_MAX 16
#define BUDGET_MIN         (UINT64_C(1) << 20)

struct indexed_unit {
        struct code_unit unit; /* its bytes are heap, owned */
        uint32_t number;       /* in the file's list */
        bool is_read;          /* also when that failed: it would fail again */
};

struct code_index {
        struct code_index_source source;
        struct dwarf_units file, supplement;
        struct indexed_unit *units; /* heap; those that cover code */
        size_t n_units;
        struct address_map directory;
        struct code_names names;
        struct code_walker walker;
        struct code_unit_builder builder;
};

static uint64_t size_of(const struct code_index *index, enum debug_section section)
{
        return index->source.sections->sections[section].n_bytes;
}

static void set_budgets(struct code_index *index)
{
        struct code_walker *w = &index->walker;

        w->range_budget = size_of(index, DEBUG_SECTION_INFO) + size_of(index, DEBUG_SECTION_RANGES) +
                          size_of(index, DEBUG_SECTION_RNGLISTS) + BUDGET_MIN;
        w->line_budget = LINE_SHARERS_MAX * size_of(index, DEBUG_SECTION_LINE) + BUDGET_MIN;
        w->other_line_budget = w->line_budget;
        w->abbrev_budget = ABBREV_SHARERS_MAX * size_of(index, DEBUG_SECTION_ABBREV) + BUDGET_MIN;
        w->origins.closure_budget = w->abbrev_budget * 16;
        w->origins.budget_bytes = w->abbrev_budget * 64;
}

/* Notes what @unit covers.  Returns 0 or -ENOMEM. */
static int add_unit(struct code_index *index, const struct dwarf_unit *unit)
{
        struct indexed_unit *indexed = &index->units[index->n_units];
        struct dwarf_ranges ranges;
        uint64_t low, high, lowest = UINT64_MAX;
        int r = 0;

        dwarf_ranges_init(&ranges, unit, &unit->extent, &index->walker.range_budget);
        while (r == 0 && dwarf_ranges_next(&ranges, &low, &high)) {
                uint64_t svma = low + index->source.bias;

                if (dwarf_unit_is_nowhere(unit, low) || svma < index->source.first_svma)
                        continue;
                r = address_map_add(&index->directory, svma, high + index->source.bias,
                                    (uint32_t)index->n_units);
                lowest = svma < lowest ? svma : lowest;
        }
        if (lowest == UINT64_MAX)
                return r;
        *indexed = (struct indexed_unit){ .unit.base_svma = lowest,
                                          .number = (uint32_t)(unit - index->file.units) };
        index->n_units++;
        return r;
}

static int make_directory(struct code_index *index)
{
        int r = 0;

        index->units = calloc(index->file.n_units + 1, sizeof(*index->units));
        if (!index->units)
                return -ENOMEM;
        for (size_t i = 0; i < index->file.n_units && r == 0; i++)
                r = add_unit(index, &index->file.units[i]);
        return r < 0 ? r : address_map_build(&index->directory);
}

int code_index_new(const struct code_index_source *source, struct code_index **ret_index, struct error *err)
{
        struct code_index *index = calloc(1, sizeof(*index));
        int r;

        if (!index)
                return error_set(err, -ENOMEM, "no memory for the index of a module");
        index->source = *source;
        code_names_init(&index->names);
        index->builder.names = &index->names;
        index->file.sections = source->sections;
        if (source->supplement) {
                index->supplement.sections = source->supplement;
                index->file.supplement = &index->supplement;
        }
        set_budgets(index);
        r = dwarf_units_load(&index->file);
        if (r == 0 && source->supplement)
                r = dwarf_units_load(&index->supplement);
        if (r == 0)
                r = make_directory(index);
        if (r < 0) {
                code_index_free(index);
                return error_set(err, r, "no memory for the units of a module");
        }
        *ret_index = index;
        return 0;
}

void code_index_free(struct code_index *index)
{
        if (!index)
                return;
        for (size_t i = 0; i < index->n_units; i++) {
                union {
                        /* cppcheck-suppress unusedStructMember ; the other name of `owned` */
                        const uint8_t *borrowed;
                        uint8_t *owned;
                } bytes = { .borrowed = index->units[i].unit.bytes };

                free(bytes.owned);
        }
        free(index->units);
        address_map_deinit(&index->directory);
        code_walker_deinit(&index->walker);
        code_unit_builder_deinit(&index->builder);
        code_names_deinit(&index->names);
        dwarf_units_deinit(&index->file);
        dwarf_units_deinit(&index->supplement);
        free(index);
}

/* Finds the unit of @split that belongs to @skeleton, and completes it with what the skeleton says. */
static struct dwarf_unit *match_split(struct dwarf_units *split, const struct dwarf_unit *skeleton)
{
        for (size_t i = 0; i < split->n_units; i++) {
                struct dwarf_unit *unit = &split->units[i];

                if (unit->dwo_id != skeleton->dwo_id)
                        continue;
                unit->addresses = skeleton->addresses;
                unit->addr_base = skeleton->addr_base;
                unit->ranges_base = skeleton->split_ranges_base;
                unit->low_pc = skeleton->low_pc;
                return unit;
        }
        return NULL;
}

/* Reads functions from the split part of a unit, if that is found. */
static int walk_split(struct code_index *index, const struct dwarf_unit *skeleton)
{
        const struct code_index_source *source = &index->source;
        struct dwarf_units split = { .supplement = index->file.supplement };
        const struct dwarf_unit *unit;
        int r = 0;

        if (!source->find_split || source->find_split(source->context, skeleton->dwo_name, skeleton->comp_dir,
                                                      skeleton->dwo_id, &split.sections) <= 0)
                return 0;
        r = dwarf_units_load(&split);
        unit = r < 0 ? NULL : match_split(&split, skeleton);
        if (unit)
                r = code_walker_run(&index->walker, unit, source->bias, source->first_svma, &index->builder);
        dwarf_units_deinit(&split);
        return r;
}

static int read_unit(struct code_index *index, struct indexed_unit *indexed)
{
        const struct dwarf_unit *unit = &index->file.units[indexed->number];
        const struct code_index_source *source = &index->source;
        struct code_unit_builder *b = &index->builder;
        int r;

        indexed->is_read = true;
        (void)dwarf_lines_load(&b->lines, unit, &index->walker.line_budget);
        code_unit_builder_start(b, indexed->unit.base_svma);
        r = code_unit_builder_add_rows(b, source->bias, source->first_svma);
        if (r == 0)
                r = unit->dwo_name
                            ? walk_split(index, unit)
                            : code_walker_run(&index->walker, unit, source->bias, source->first_svma, b);
        return r < 0 ? r : code_unit_builder_finish(b, &indexed->unit);
}

/* The unit that covers @svma, read; NULL if none does. */
static const struct code_unit *find_unit(struct code_index *index, uint64_t svma)
{
        uint32_t number = address_map_find(&index->directory, svma);

        if (number == ADDRESS_MAP_NONE || !index->units)
                return NULL;
        if (!index->units[number].is_read)
                (void)read_unit(index, &index->units[number]);
        return &index->units[number].unit;
}

uint32_t code_index_find(struct code_index *index, uint64_t svma, struct code_place *ret_places,
                         uint32_t n_max)
{
        const struct code_unit *unit = find_unit(index, svma);

        return unit ? code_unit_find(unit, svma, ret_places, n_max) : 0;
}

bool code_index_find_extent(struct code_index *index, uint64_t svma, uint64_t *ret_start_svma,
                            uint64_t *ret_end_svma)
{
        const struct code_unit *unit = find_unit(index, svma);

        return unit && code_unit_find_extent(unit, svma, ret_start_svma, ret_end_svma);
}

uint64_t code_index_find_next(struct code_index *index, uint64_t svma, uint64_t end_svma)
{
        uint64_t next;

        for (uint64_t at = svma; at < end_svma; at = next) {
                const struct code_unit *unit = find_unit(index, at);
                uint64_t stop, start;

                next = address_map_find_next(&index->directory, at);
                stop = next < end_svma ? next : end_svma;
                if (unit && code_unit_find_next(unit, at == svma ? at : at - 1, stop, &start) && start < stop)
                        return start;
        }
        return end_svma;
}

int code_index_complete(struct code_index *index, struct error *err)
{
        for (size_t i = 0; i < index->n_units; i++)
                if (!index->units[i].is_read && read_unit(index, &index->units[i]) == -ENOMEM)
                        return error_set(err, -ENOMEM, "no memory for the index of a module");
        return 0;
}

struct code_names *code_index_names(struct code_index *index)
{
        return &index->names;
}

const struct address_map *code_index_directory(const struct code_index *index)
{
        return &index->directory;
}

const struct code_unit *code_index_unit(const struct code_index *index, uint32_t number)
{
        return &index->units[number].unit;
}

uint32_t code_index_count(const struct code_index *index)
{
        return (uint32_t)index->n_units;
}

size_t code_index_memory(const struct code_index *index)
{
        size_t n = index->n_units * sizeof(*index->units) +
                   index->directory.segments_capacity * sizeof(*index->directory.segments) +
                   4 * ((size_t)index->directory.n_buckets + 1) +
                   index->file.units_capacity * sizeof(*index->file.units) +
                   index->supplement.units_capacity * sizeof(*index->file.units) +
                   index->names.names_capacity * sizeof(*index->names.names) + 4 * index->names.n_slots +
                   index->names.shown_bytes + index->names.paths.items_capacity_bytes;

        for (size_t i = 0; i < index->n_units; i++)
                n += code_unit_bytes(&index->units[i].unit);
        return n;
}
