/* SPDX-License-Identifier: MIT */
#include "symbolize/index/dwarf_origins.h"

#include "symbolize/index/dwarf_units.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ lambdas */

/*
 * Finds where a lambda is declared if its function does not say so.
 *
 * gcc gives the operator() of a lambda neither a linkage name nor a declaration, but the type of its object
 * has a declaration.  The way there: the function's object pointer, the type of that parameter, the type
 * that it points to.
 */

struct dwarf_closure {
        uint64_t file, line, column; /* of its type; 0 = unknown */
};

/*
 * Parameters and types are entries that the walk steps over as fast as it can, so the few that matter here
 * are read by the table of abbreviations as it lies in the file.
 */

#define CLOSURE_HOPS_MAX \
        6 /* from a function to the type of its object: parameter, const, pointer, const, type */

enum closure_attribute { OBJECT_POINTER, TYPE, DECL_FILE, DECL_LINE, DECL_COLUMN, ATTRIBUTE_COUNT };

struct closure_entry {
        uint64_t tag;
        struct dwarf_value values[ATTRIBUTE_COUNT];
};

static enum closure_attribute closure_attribute_of(uint64_t name)
{
        switch (name) {
        case DW_AT_object_pointer:
                return OBJECT_POINTER;
        case DW_AT_type:
                return TYPE;
        case DW_AT_decl_file:
                return DECL_FILE;
        case DW_AT_decl_line:
                return DECL_LINE;
        case DW_AT_decl_column:
                return DECL_COLUMN;
        default:
                return ATTRIBUTE_COUNT;
        }
}

static struct dwarf_value closure_value(struct dwarf_cursor *c, uint64_t form, int64_t implicit,
                                        struct dwarf_encoding encoding)
{
        int n_bytes = dwarf_form_bytes(form, encoding);
        struct dwarf_step step = { .form = (uint16_t)form, .implicit = implicit };

        if (form > UINT16_MAX || n_bytes > 8) {
                dwarf_form_skip(c, form, encoding);
                return (struct dwarf_value){ .form = 0 };
        }
        step.fixed_bytes = n_bytes < 0 ? DWARF_STEP_VARIES : (uint8_t)n_bytes;
        return dwarf_value_read(c, &step, encoding);
}

/*
 * Reads the attributes of one abbreviation.  Their values go into @entry; NULL = the abbreviation is that of
 * another entry, and is only stepped over.
 */
static bool read_attributes(const struct dwarf_unit *unit, struct dwarf_cursor *abbrevs,
                            struct dwarf_cursor *c, uint64_t *budget, struct closure_entry *entry)
{
        while (!dwarf_cursor_ended(abbrevs) && *budget > 0) {
                uint64_t name = dwarf_cursor_uleb(abbrevs), form = dwarf_cursor_uleb(abbrevs);
                int64_t implicit = form == DW_FORM_implicit_const ? dwarf_cursor_sleb(abbrevs) : 0;
                struct dwarf_value value;

                (*budget)--;
                if (name == 0 && form == 0)
                        return !abbrevs->r.short_read && !c->r.short_read;
                if (!entry)
                        continue;
                value = closure_value(c, form, implicit, unit->encoding);
                if (closure_attribute_of(name) != ATTRIBUTE_COUNT)
                        entry->values[closure_attribute_of(name)] = value;
        }
        return false;
}

static bool read_closure_entry(const struct dwarf_unit *unit, uint64_t offset, uint64_t *budget,
                               struct closure_entry *ret_entry)
{
        const struct debug_sections *sections = unit->file->sections;
        struct dwarf_cursor c = dwarf_cursor_at(sections, DEBUG_SECTION_INFO, offset);
        struct dwarf_cursor abbrevs = dwarf_cursor_at(sections, DEBUG_SECTION_ABBREV, unit->abbrev_offset);
        uint64_t wanted = dwarf_cursor_uleb(&c);

        *ret_entry = (struct closure_entry){ .tag = 0 };
        while (!dwarf_cursor_ended(&abbrevs) && *budget > 0) {
                uint64_t code = dwarf_cursor_uleb(&abbrevs), tag = dwarf_cursor_uleb(&abbrevs);

                if (code == 0)
                        return false;
                dwarf_cursor_skip(&abbrevs, 1); /* whether it has children */
                if (!read_attributes(unit, &abbrevs, &c, budget, code == wanted ? ret_entry : NULL))
                        return false;
                ret_entry->tag = tag;
                if (code == wanted)
                        return true;
        }
        return false;
}

/* Whether the entry that @v refers to is in the unit, and where. */
static bool closure_refers(const struct dwarf_unit *unit, const struct dwarf_value *v, uint64_t *ret_offset)
{
        const struct dwarf_units *file = unit->file;
        uint64_t offset = v->form != 0 ? dwarf_unit_reference(unit, v, &file) : DWARF_NO_OFFSET;

        *ret_offset = offset;
        return offset != DWARF_NO_OFFSET && file == unit->file && offset >= unit->first_die &&
               offset < unit->end;
}

/*
 * find_closure() - the declaration of the type of an entry's object
 * @offset:  of the function's entry, in the unit
 * @budget:  abbreviations that may still be looked at; counted down: hostile tables are long
 * Returns false if there is none.
 */
static bool find_closure(const struct dwarf_unit *unit, uint64_t offset, uint64_t *budget,
                         struct dwarf_closure *ret_closure)
{
        struct closure_entry entry;

        *ret_closure = (struct dwarf_closure){ .line = 0 };
        if (!read_closure_entry(unit, offset, budget, &entry) ||
            !closure_refers(unit, &entry.values[OBJECT_POINTER], &offset))
                return false;
        for (unsigned i = 0; i < CLOSURE_HOPS_MAX; i++) {
                if (!read_closure_entry(unit, offset, budget, &entry))
                        return false;
                if (entry.tag == DW_TAG_structure_type || entry.tag == DW_TAG_class_type) {
                        (void)dwarf_value_constant(&entry.values[DECL_COLUMN], &ret_closure->column);
                        return dwarf_value_constant(&entry.values[DECL_FILE], &ret_closure->file) &&
                               dwarf_value_constant(&entry.values[DECL_LINE], &ret_closure->line);
                }
                if (!closure_refers(unit, &entry.values[TYPE], &offset))
                        return false;
        }
        return false;
}

/* ------------------------------------------------------------------ origins */

#define CLOSURE_FUNCTION "operator()"

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
        uint64_t offset; /* of the next entry; DWARF_NO_OFFSET ends the search */
};

void dwarf_origin_take(struct dwarf_origin *origin, const struct dwarf_unit *unit,
                       const struct dwarf_value *values, uint32_t seen)
{
        const char *linkage = NULL;

        if (seen & 1U << DWARF_WANTED_LINKAGE_NAME)
                linkage = dwarf_unit_text(unit, &values[DWARF_WANTED_LINKAGE_NAME]);
        if (linkage) {
                origin->name = linkage;
                origin->is_linkage = true;
        } else if (!origin->name && seen & 1U << DWARF_WANTED_NAME) {
                origin->name = dwarf_unit_text(unit, &values[DWARF_WANTED_NAME]);
        }
        if (!origin->file_unit && seen & 1U << DWARF_WANTED_DECL_FILE &&
            dwarf_value_constant(&values[DWARF_WANTED_DECL_FILE], &origin->file))
                origin->file_unit = unit;
        if (origin->line == 0 && seen & 1U << DWARF_WANTED_DECL_LINE)
                (void)dwarf_value_constant(&values[DWARF_WANTED_DECL_LINE], &origin->line);
}

void dwarf_origin_declare_closure(struct dwarf_origins *origins, struct dwarf_origin *origin,
                                  const struct dwarf_unit *unit, uint64_t offset)
{
        struct dwarf_closure closure;

        if (origin->line != 0 || origin->is_linkage || !origin->name ||
            strcmp(origin->name, CLOSURE_FUNCTION) != 0 ||
            !find_closure(unit, offset, &origins->closure_budget, &closure))
                return;
        origin->file_unit = unit;
        origin->file = closure.file;
        origin->line = closure.line;
        origin->column = closure.column;
}

/* Looks at one entry.  A linkage name ends the search: the entries that it refers to add nothing. */
static void follow(struct dwarf_origins *origins, struct hop *hop, struct dwarf_origin *origin)
{
        struct dwarf_value values[DWARF_WANTED_COUNT];
        const struct dwarf_abbrev *abbrev;
        struct dwarf_cursor c;
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
        dwarf_origin_take(origin, hop->unit, values, seen);
        if (origin->is_linkage)
                goto nothing;
        dwarf_origin_declare_closure(origins, origin, hop->unit, hop->offset);
        if (seen & 1U << DWARF_WANTED_ORIGIN) {
                hop->offset = dwarf_unit_reference(hop->unit, &values[DWARF_WANTED_ORIGIN], &hop->file);
                return;
        }
nothing:
        hop->offset = DWARF_NO_OFFSET;
}

void dwarf_origins_find(struct dwarf_origins *origins, const struct dwarf_unit *unit,
                        const struct dwarf_abbrevs *abbrevs, const struct dwarf_units *file, uint64_t offset,
                        struct dwarf_origin *ret_origin)
{
        struct hop hop = { .unit = unit, .abbrevs = abbrevs, .file = file, .offset = offset };

        *ret_origin = (struct dwarf_origin){ .name = NULL };
        for (unsigned i = 0; i < HOPS_MAX && hop.offset != DWARF_NO_OFFSET; i++)
                follow(origins, &hop, ret_origin);
}
