/* SPDX-License-Identifier: MIT */
#include "symbolize/line_table.h"

#include "base/array.h"
#include "base/error.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#define UNIT_RANGES_MAX 1000000 /* of one unit; more is damage */

/*
 * Linkers leave the units of discarded functions in, at address 0 or all ones.  Nothing real lies there,
 * but in a shared object such a range would cover the first functions.
 */
static bool is_discarded(uint64_t start)
{
        return start == 0 || start >= UINT64_MAX - 1;
}

static int add_unit(struct line_table *table, Dwarf_Die *die)
{
        uint32_t place = (uint32_t)table->n_units;
        Dwarf_Addr base, start, end;
        ptrdiff_t at = 0;
        int r;

        if (table->n_units >= ADDRESS_MAP_NONE ||
            array_reserve(&table->units, &table->units_capacity, table->n_units + 1, sizeof(*table->units)) <
                    0)
                return -ENOMEM;
        table->units[table->n_units++].die = *die;

        for (size_t i = 0; i < UNIT_RANGES_MAX; i++) {
                at = dwarf_ranges(die, at, &base, &start, &end);
                if (at <= 0)
                        break;
                if (is_discarded(start))
                        continue;
                r = address_map_add(&table->ranges, start + table->bias, end + table->bias, place);
                if (r < 0)
                        return r;
        }
        return 0;
}

int line_table_load(struct line_table *table, Dwarf *dwarf, uint64_t bias, struct error *err)
{
        Dwarf_CU *unit = NULL;
        Dwarf_Die die;
        Dwarf_Half version;
        uint8_t kind;
        int r = 0;

        table->dwarf = dwarf;
        table->bias = bias;
        /* A damaged unit ends the list: where the next one begins is not known then. */
        while (r == 0 && dwarf_get_units(dwarf, unit, &unit, &version, &kind, &die, NULL) == 0)
                if (kind == DW_UT_compile || kind == DW_UT_skeleton)
                        r = add_unit(table, &die);
        if (r == 0)
                r = address_map_build(&table->ranges);
        return r < 0 ? error_set(err, r, "no memory for the units of a module") : 0;
}

void line_table_deinit(struct line_table *table)
{
        free(table->units);
        address_map_deinit(&table->ranges);
        *table = (struct line_table){ .dwarf = NULL };
}

uint32_t line_table_find_unit(const struct line_table *table, uint64_t svma)
{
        return address_map_find(&table->ranges, svma);
}

struct line_position line_table_find(struct line_table *table, uint32_t unit, uint64_t svma)
{
        struct line_position position = { .file = NULL };
        Dwarf_Line *line = dwarf_getsrc_die(&table->units[unit].die, svma - table->bias);
        int number = 0, column = 0;

        if (!line)
                return position;
        position.file = dwarf_linesrc(line, NULL, NULL);
        if (dwarf_lineno(line, &number) == 0 && number > 0)
                position.line = (uint32_t)number;
        if (dwarf_linecol(line, &column) == 0 && column > 0)
                position.column = (uint32_t)column;
        return position;
}
