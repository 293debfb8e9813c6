/* SPDX-License-Identifier: MIT */
#include "symbolize/inline_table.h"

#include "base/array.h"
#include "base/error.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define DEPTH_MAX       256   /* of nested entries; deeper ones are left out */
#define NODE_RANGES_MAX 65536 /* of one function */
#define ORIGINS_MAX     8     /* abstract origins and specifications from a call to the name */

struct walk {
        struct inline_table *table;
        uint64_t bias;
        int failed; /* -ENOMEM, or 0 */
};

static uint32_t add_node(struct walk *walk, Dwarf_Die *die, uint32_t parent)
{
        struct inline_table *table = walk->table;
        uint32_t place = (uint32_t)table->n_nodes;
        Dwarf_Addr base, start, end;
        ptrdiff_t at = 0;

        if (table->n_nodes >= INLINE_TABLE_NO_PARENT ||
            array_reserve(&table->nodes, &table->nodes_capacity, table->n_nodes + 1, sizeof(*table->nodes)) <
                    0) {
                walk->failed = -ENOMEM;
                return parent;
        }
        table->nodes[table->n_nodes++] = (struct inline_table_node){ dwarf_dieoffset(die), parent };
        for (size_t i = 0; i < NODE_RANGES_MAX && walk->failed == 0; i++) {
                at = dwarf_ranges(die, at, &base, &start, &end);
                if (at <= 0)
                        break;
                walk->failed = address_map_add(&table->ranges, start + walk->bias, end + walk->bias, place);
        }
        return place;
}

/* True for entries that functions and inlined calls can lie in; the others are not looked into. */
static bool holds_code(int tag)
{
        switch (tag) {
        case DW_TAG_compile_unit:
        case DW_TAG_partial_unit:
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_subprogram:
        case DW_TAG_inlined_subroutine:
        case DW_TAG_lexical_block:
        case DW_TAG_try_block:
        case DW_TAG_catch_block:
        case DW_TAG_with_stmt:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
        case DW_TAG_union_type:
                return true;
        default:
                return false;
        }
}

/* Where the walk stands at one depth of the tree. */
struct level {
        Dwarf_Die die;
        uint32_t parent; /* node that functions here are inlined into */
};

/* Steps to the next entry at the same depth.  A sibling that leads back is damage, and would be a circle. */
static bool step(Dwarf_Die *die)
{
        Dwarf_Off here = dwarf_dieoffset(die);

        return dwarf_siblingof(die, die) == 0 && dwarf_dieoffset(die) > here;
}

static uint32_t visit(struct walk *walk, struct level *level, int tag)
{
        if (tag == DW_TAG_subprogram)
                return add_node(walk, &level->die, INLINE_TABLE_NO_PARENT);
        if (tag == DW_TAG_inlined_subroutine)
                return add_node(walk, &level->die, level->parent);
        return level->parent;
}

static void walk_unit(struct walk *walk, Dwarf_Die *unit)
{
        struct level levels[DEPTH_MAX];
        size_t depth = 0;

        if (dwarf_child(unit, &levels[0].die) != 0)
                return;
        levels[0].parent = INLINE_TABLE_NO_PARENT;
        while (walk->failed == 0) {
                struct level *level = &levels[depth];
                int tag = dwarf_tag(&level->die);
                uint32_t node = visit(walk, level, tag);

                if (holds_code(tag) && depth + 1 < DEPTH_MAX &&
                    dwarf_child(&level->die, &levels[depth + 1].die) == 0) {
                        levels[++depth].parent = node;
                        continue;
                }
                while (!step(&levels[depth].die))
                        if (depth-- == 0)
                                return;
        }
}

int inline_table_load(struct inline_table *table, Dwarf_Die *unit, uint64_t bias, struct error *err)
{
        struct walk walk = { .table = table, .bias = bias };

        walk_unit(&walk, unit);
        if (walk.failed == 0)
                walk.failed = address_map_build(&table->ranges);
        return walk.failed < 0 ? error_set(err, walk.failed, "no memory for inlined functions") : 0;
}

void inline_table_deinit(struct inline_table *table)
{
        free(table->nodes);
        address_map_deinit(&table->ranges);
        *table = (struct inline_table){ .nodes = NULL };
}

/* The name of a function, from itself or from the entry that it is an instance of. */
static const char *find_name(const Dwarf_Die *die)
{
        const char *plain = NULL;
        Dwarf_Die at = *die;

        for (unsigned i = 0; i < ORIGINS_MAX; i++) {
                Dwarf_Attribute attribute;

                if (dwarf_attr(&at, DW_AT_linkage_name, &attribute) ||
                    dwarf_attr(&at, DW_AT_MIPS_linkage_name, &attribute)) {
                        const char *name = dwarf_formstring(&attribute);

                        if (name)
                                return name;
                }
                if (!plain && dwarf_attr(&at, DW_AT_name, &attribute))
                        plain = dwarf_formstring(&attribute);
                if (!dwarf_attr(&at, DW_AT_abstract_origin, &attribute) &&
                    !dwarf_attr(&at, DW_AT_specification, &attribute))
                        break;
                if (!dwarf_formref_die(&attribute, &at))
                        break;
        }
        return plain;
}

static uint32_t find_number(Dwarf_Die *die, unsigned name)
{
        Dwarf_Attribute attribute;
        Dwarf_Word number;

        if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &number) != 0 ||
            number > INT32_MAX)
                return 0;
        return (uint32_t)number;
}

static const char *find_call_file(Dwarf_Die *unit, Dwarf_Die *die)
{
        Dwarf_Attribute attribute;
        Dwarf_Files *files;
        size_t n_files;

        if (!dwarf_attr(die, DW_AT_call_file, &attribute) || dwarf_getsrcfiles(unit, &files, &n_files) != 0)
                return NULL;
        return dwarf_filesrc(files, find_number(die, DW_AT_call_file), NULL, NULL);
}

size_t inline_table_find(const struct inline_table *table, Dwarf_Die *unit, uint64_t svma,
                         struct inline_call *ret_calls, size_t n_max)
{
        Dwarf *dwarf = dwarf_cu_getdwarf(unit->cu);
        uint32_t at = address_map_find(&table->ranges, svma);
        size_t n = 0;

        /* A parent stands before its children in `nodes`, so this ends. */
        for (; at != ADDRESS_MAP_NONE && n < n_max; at = table->nodes[at].parent) {
                Dwarf_Die die;

                if (!dwarf_offdie(dwarf, table->nodes[at].die, &die))
                        break;
                ret_calls[n++] = (struct inline_call){
                        .function = find_name(&die),
                        .call_file = find_call_file(unit, &die),
                        .call_line = find_number(&die, DW_AT_call_line),
                        .call_column = find_number(&die, DW_AT_call_column),
                };
        }
        return n;
}
