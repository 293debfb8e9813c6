/* SPDX-License-Identifier: MIT */
/*
 * Most entries are types, variables and places of variables, so the speed of
 * the walk is that of stepping over them: see dwarf_abbrevs.h.
 */
#include "symbolize/index/code_walk.h"

#include "symbolize/elf/demangle.h"
#include "symbolize/index/code_names.h"
#include "symbolize/index/dwarf_ranges.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#define DEPTH_MAX 256 /* tracked nesting; deeper entries count as the deepest */
#define SLOTS_MIN 1024
/* Marks entries outside of any function; CODE_UNIT_NONE marks those in a function without code. */
#define NO_FUNCTION (CODE_UNIT_NONE - 1)
#define DISCARDED   (CODE_UNIT_NONE - 2) /* a function, or an inlined call, that the linker discarded */

struct walk {
        struct code_walker *walker;
        const struct dwarf_unit *unit;
        struct code_unit_builder *b;
        uint64_t bias, first_svma;
        struct dwarf_cursor c;
        uint64_t offset;               /* of the entry, in .debug_info */
        uint32_t depth;                /* of the entry at the cursor */
        uint32_t functions[DEPTH_MAX]; /* node that entries of a depth are in */
        bool has_plain_types;          /* types outside of functions hold declarations only */
};

void code_walker_deinit(struct code_walker *walker)
{
        dwarf_abbrevs_deinit(&walker->abbrevs);
        dwarf_origins_deinit(&walker->origins);
        for (size_t i = 0; i < CODE_OTHER_LINES; i++)
                dwarf_lines_deinit(&walker->others[i].lines);
        free(walker->known);
        *walker = (struct code_walker){ .known = NULL };
}

static struct code_origin *find_slot(struct code_origin *slots, size_t n_slots, uint64_t offset,
                                     const struct dwarf_units *file)
{
        size_t mask = n_slots - 1;
        size_t at = (size_t)(offset * UINT64_C(0x9e3779b97f4a7c15) >> 20) & mask;

        while (slots[at].file && (slots[at].offset != offset || slots[at].file != file))
                at = (at + 1) & mask;
        return &slots[at];
}

static int grow_known(struct code_walker *walker)
{
        size_t n_slots = walker->n_slots ? 2 * walker->n_slots : SLOTS_MIN;
        struct code_origin *slots = calloc(n_slots, sizeof(*slots));

        if (!slots)
                return -ENOMEM;
        for (size_t i = 0; i < walker->n_slots; i++)
                if (walker->known[i].file)
                        *find_slot(slots, n_slots, walker->known[i].offset,
                                   walker->known[i].file) = walker->known[i];
        free(walker->known);
        walker->known = slots;
        walker->n_slots = n_slots;
        return 0;
}

/* ---- names and declarations ---------------------------------------------------------------------------- */

/* The file table of a unit that another unit refers to, as happens with link-time optimisation and dwz. */
static const struct dwarf_lines *find_other_lines(struct code_walker *walker, const struct dwarf_unit *unit)
{
        size_t hash = (size_t)(unit->offset * UINT64_C(0x9e3779b97f4a7c15) >> 32);
        struct code_other_lines *other = &walker->others[hash % CODE_OTHER_LINES];

        if (other->sections != unit->file->sections || other->offset != unit->offset)
                (void)dwarf_lines_load(&other->lines, unit, &walker->other_line_budget);
        other->sections = unit->file->sections;
        other->offset = unit->offset;
        return &other->lines;
}

/* A declaration is a file and a line; either one alone says nothing. */
static int find_declaration(struct walk *w, const struct dwarf_origin *origin, struct code_declaration *ret)
{
        const struct dwarf_line_file *file;
        const struct dwarf_lines *lines;
        int r;

        *ret = (struct code_declaration){ .line = origin->line > UINT32_MAX ? 0 : (uint32_t)origin->line };
        if (ret->line == 0 || !origin->file_unit) {
                ret->line = 0;
                return 0;
        }
        if (origin->file_unit == w->unit) {
                r = code_unit_builder_find_path(w->b, origin->file, &ret->path);
        } else {
                lines = find_other_lines(w->walker, origin->file_unit);
                file = dwarf_lines_find_file(lines, origin->file);
                r = file ? code_names_add_path(w->b->names, file->name, dwarf_lines_directory(lines, file),
                                               lines->comp_dir, &ret->path)
                         : 0;
        }
        if (ret->path == 0)
                ret->line = 0;
        else if (origin->column <= UINT32_MAX)
                ret->instance = (uint32_t)origin->column;
        return r == -ENOMEM ? r : 0;
}

/*
 * The id of a function.  Compilers give no linkage name to a function that only one unit sees, such as a
 * lambda or a template of one: functions with the same name and line are numbered in the order of the unit.
 */
static int add_function_name(struct walk *w, const struct dwarf_origin *origin, bool is_of_unit,
                             uint32_t *ret_name)
{
        struct code_declaration declaration;
        int r = find_declaration(w, origin, &declaration);

        if (r < 0)
                return r;
        if (origin->is_linkage && declaration.instance == 0)
                declaration.instance = declaration.line != 0 ? demangle_find_rust_hash(origin->name) : 0;
        r = code_names_add_declared(w->b->names, origin->name, &declaration, ret_name);
        if (r < 0 || *ret_name == 0 || declaration.line == 0 || declaration.instance != 0 ||
            origin->is_linkage || !is_of_unit)
                return r;
        declaration.instance = code_names_count_instance(w->b->names, *ret_name, w->walker->run);
        return declaration.instance == 0
                       ? 0
                       : code_names_add_declared(w->b->names, origin->name, &declaration, ret_name);
}

/* The place for what is known of an entry.  Returns NULL without memory. */
static struct code_origin *find_known(struct code_walker *walker, uint64_t offset,
                                      const struct dwarf_units *file)
{
        if (2 * walker->n_known >= walker->n_slots && grow_known(walker) < 0)
                return NULL;
        return find_slot(walker->known, walker->n_slots, offset, file);
}

static void remember(struct walk *w, struct code_origin *slot, uint64_t offset,
                     const struct dwarf_units *file)
{
        slot->offset = offset;
        slot->file = file;
        w->walker->n_known++;
}

/* The name of the entry that @v refers to. */
static int find_origin_name(struct walk *w, const struct dwarf_value *v, uint32_t *ret_name)
{
        struct code_walker *walker = w->walker;
        const struct dwarf_units *file;
        uint64_t offset = dwarf_unit_reference(w->unit, v, &file);
        struct code_origin *slot;
        int r;

        *ret_name = 0;
        if (offset == DWARF_NO_OFFSET)
                return 0;
        slot = find_known(walker, offset, file);
        if (!slot)
                return -ENOMEM;
        if (!slot->file) {
                struct dwarf_origin origin;

                dwarf_origins_find(&walker->origins, w->unit, &walker->abbrevs, file, offset, &origin);
                r = add_function_name(w, &origin,
                                      file == w->unit->file && offset >= w->unit->offset &&
                                              offset < w->unit->end,
                                      &slot->name);
                if (r < 0)
                        return r;
                remember(w, slot, offset, file);
        }
        *ret_name = slot->name;
        return 0;
}

/* The name of the entry that is walked, which refers to no other; others may refer to it. */
static int find_own_name(struct walk *w, const struct dwarf_origin *own, uint32_t *ret_name)
{
        struct code_origin *slot;
        int r;

        if (own->is_linkage)
                return add_function_name(w, own, true, ret_name);
        slot = find_known(w->walker, w->offset, w->unit->file);
        if (!slot)
                return -ENOMEM;
        if (!slot->file) {
                r = add_function_name(w, own, true, &slot->name);
                if (r < 0)
                        return r;
                remember(w, slot, w->offset, w->unit->file);
        }
        *ret_name = slot->name;
        return 0;
}

/* Joins what the entry says itself with the rest from the entry that it refers to. */
static int join_names(struct walk *w, const struct dwarf_origin *own, uint32_t origin, uint32_t *ret_name)
{
        struct code_names *names = w->b->names;
        struct code_declaration of_origin = code_names_declaration(names, origin), declaration;
        const char *name = own->is_linkage ? own->name : code_names_linkage(names, origin);
        int r = find_declaration(w, own, &declaration);

        if (r < 0)
                return r;
        if (declaration.line == 0)
                declaration = of_origin;
        else
                declaration.instance = of_origin.instance;
        if (own->is_linkage && declaration.line != 0 && declaration.instance == 0)
                declaration.instance = demangle_find_rust_hash(own->name);
        return code_names_add_declared(names, name ? name : own->name, &declaration, ret_name);
}

static int find_name(struct walk *w, const struct dwarf_value *values, uint32_t seen, uint32_t *ret_name)
{
        struct dwarf_origin own = { .name = NULL };
        uint32_t origin;
        int r;

        dwarf_origin_take(&own, w->unit, values, seen);
        if (!(seen & 1U << DWARF_WANTED_ORIGIN)) {
                dwarf_origin_declare_closure(&w->walker->origins, &own, w->unit, w->offset);
                return find_own_name(w, &own, ret_name);
        }
        r = find_origin_name(w, &values[DWARF_WANTED_ORIGIN], &origin);
        if (r < 0)
                return r;
        if (origin == 0 && !own.is_linkage)
                return find_own_name(w, &own, ret_name);
        *ret_name = origin;
        return own.is_linkage || own.line != 0 ? join_names(w, &own, origin, ret_name) : 0;
}

/* ---- code ---------------------------------------------------------------------------------------------- */

/* @ret_n: of ranges in the module. */
static int add_ranges(struct walk *w, const struct dwarf_value *values, uint32_t seen, uint32_t node,
                      uint64_t *ret_n)
{
        struct dwarf_extent extent = { .ranges.form = 0 };
        struct dwarf_ranges ranges;
        uint64_t low, high;
        int r = 0;

        if (seen & 1U << DWARF_WANTED_LOW_PC)
                extent.low_pc = values[DWARF_WANTED_LOW_PC];
        if (seen & 1U << DWARF_WANTED_HIGH_PC)
                extent.high_pc = values[DWARF_WANTED_HIGH_PC];
        if (seen & 1U << DWARF_WANTED_RANGES)
                extent.ranges = values[DWARF_WANTED_RANGES];
        dwarf_ranges_init(&ranges, w->unit, &extent, &w->walker->range_budget);
        *ret_n = 0;
        while (r == 0 && dwarf_ranges_next(&ranges, &low, &high))
                if (!dwarf_unit_is_nowhere(w->unit, low) && low + w->bias >= w->first_svma) {
                        r = code_unit_builder_add_range(w->b, low + w->bias, high + w->bias, node);
                        ++*ret_n;
                }
        return r;
}

/* A call's file, line and column. */
static int find_call(struct walk *w, const struct dwarf_value *values, uint32_t seen, uint64_t *ret_place)
{
        uint64_t file = 0, line = 0, column = 0;

        if (seen & 1U << DWARF_WANTED_CALL_LINE)
                (void)dwarf_value_constant(&values[DWARF_WANTED_CALL_LINE], &line);
        if (seen & 1U << DWARF_WANTED_CALL_COLUMN)
                (void)dwarf_value_constant(&values[DWARF_WANTED_CALL_COLUMN], &column);
        if (seen & 1U << DWARF_WANTED_CALL_FILE &&
            dwarf_value_constant(&values[DWARF_WANTED_CALL_FILE], &file))
                return code_unit_builder_pack(w->b, file, line, column, ret_place);
        *ret_place = code_pack(0, line, column);
        return 0;
}

/*
 * Adds a function with code, or an inlined call.  @outer: the function around it.  Calls that were inlined
 * into a discarded function are dropped with it: some linkers give them the address 0 plus their offset,
 * which may be other code.
 */
static int add_function(struct walk *w, const struct dwarf_abbrev *abbrev, uint32_t outer, uint32_t *ret_node)
{
        struct dwarf_value values[DWARF_WANTED_COUNT];
        struct code_node node = { .parent = CODE_UNIT_NONE };
        uint64_t n_ranges = 0;
        uint32_t seen;
        int r = 0;

        dwarf_values_read(&w->c, &w->walker->abbrevs, abbrev, w->unit->encoding, values, &seen);
        if (seen == 0 || (abbrev->tag == DW_TAG_inlined_subroutine && outer == DISCARDED))
                return 0;
        if (abbrev->tag == DW_TAG_inlined_subroutine) {
                if (outer < DISCARDED)
                        node.parent = outer;
                r = find_call(w, values, seen, &node.call);
        }
        if (r == 0)
                r = find_name(w, values, seen, &node.name);
        if (r == 0)
                r = code_unit_builder_add_node(w->b, &node, ret_node);
        if (r == 0)
                r = add_ranges(w, values, seen, *ret_node, &n_ranges);
        if (r == 0 && n_ranges == 0 && abbrev->tag == DW_TAG_subprogram &&
            seen & (1U << DWARF_WANTED_HIGH_PC | 1U << DWARF_WANTED_RANGES)) {
                w->b->n_nodes--; /* nothing refers to it */
                *ret_node = DISCARDED;
        }
        return r;
}

static void step_over(struct walk *w, const struct dwarf_abbrev *abbrev)
{
        for (uint32_t i = 0; i < abbrev->n_steps; i++) {
                const struct dwarf_step *step = &w->walker->abbrevs.steps[abbrev->first_step + i];

                dwarf_cursor_skip(&w->c, step->skip_bytes);
                dwarf_form_skip(&w->c, step->form, w->unit->encoding);
        }
        dwarf_cursor_skip(&w->c, abbrev->tail_bytes);
}

/* True for entries that functions can lie in. */
static bool holds_code(const struct walk *w, uint16_t tag, uint32_t function)
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
                return true;
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
        case DW_TAG_union_type:
        case DW_TAG_enumeration_type:
        case DW_TAG_interface_type:
        case DW_TAG_variant_part:
        case DW_TAG_variant:
                return !w->has_plain_types || function != NO_FUNCTION;
        default:
                return false;
        }
}

/*
 * Continues after the children of the entry that ends at the cursor.  False if the file does not say
 * where that is.
 */
static bool jump_to_sibling(struct walk *w, const struct dwarf_abbrev *abbrev)
{
        const struct debug_section_bytes *info = &w->unit->file->sections->sections[DEBUG_SECTION_INFO];
        uint64_t here = (uint64_t)(w->c.r.at - info->bytes), target;
        struct dwarf_cursor c;

        if (abbrev->sibling_bytes == 0 || w->c.r.short_read)
                return false;
        c = dwarf_cursor_at(w->unit->file->sections, DEBUG_SECTION_INFO, here - abbrev->sibling_back);
        if (__builtin_add_overflow(w->unit->offset, dwarf_cursor_number(&c, abbrev->sibling_bytes), &target))
                return false;
        /* A sibling before this place is damage, and would make the walk a circle. */
        if (target < here || target - here > w->c.r.left)
                return false;
        dwarf_cursor_skip(&w->c, target - here);
        return true;
}

static int visit(struct walk *w, const struct dwarf_abbrev *abbrev)
{
        uint32_t outer = w->functions[w->depth < DEPTH_MAX ? w->depth : DEPTH_MAX - 1];
        uint32_t inner = outer;
        bool is_function = abbrev->tag == DW_TAG_subprogram || abbrev->tag == DW_TAG_inlined_subroutine;

        if (is_function && abbrev->has_code) {
                int r = add_function(w, abbrev, outer, &inner);

                if (r < 0)
                        return r;
        } else {
                step_over(w, abbrev);
                if (abbrev->tag == DW_TAG_subprogram)
                        inner = CODE_UNIT_NONE;
        }
        if (!abbrev->has_children || (!holds_code(w, abbrev->tag, outer) && jump_to_sibling(w, abbrev)))
                return 0;
        w->depth++;
        if (w->depth < DEPTH_MAX)
                w->functions[w->depth] = inner;
        return 0;
}

/* C and C++ compilers put functions of types outside of the types, and refer to the declaration there. */
static bool has_plain_types(uint16_t language)
{
        switch (language) {
        case DW_LANG_C:
        case DW_LANG_C89:
        case DW_LANG_C99:
        case DW_LANG_C11:
        case DW_LANG_C_plus_plus:
        case DW_LANG_C_plus_plus_03:
        case DW_LANG_C_plus_plus_11:
        case DW_LANG_C_plus_plus_14:
        case 0x2b: /* C++17, C++20, C17 of DWARF 6, used already */
        case 0x2c:
        case 0x2d:
                return true;
        default:
                return false;
        }
}

static int load_abbrevs(struct code_walker *walker, const struct dwarf_unit *unit)
{
        uint64_t n;

        if (walker->abbrev_budget == 0 ||
            dwarf_abbrevs_load(&walker->abbrevs, unit->file->sections, unit->abbrev_offset, unit->encoding,
                               SIZE_MAX) < 0)
                return -EBADMSG;
        n = walker->abbrevs.n_abbrevs + walker->abbrevs.n_steps + 1;
        walker->abbrev_budget -= n < walker->abbrev_budget ? n : walker->abbrev_budget;
        return 0;
}

/*
 * A table much larger than its contents is dropped: emptying it for each of many small units would take long.
 */
static void forget_known(struct code_walker *walker)
{
        if (walker->n_slots > SLOTS_MIN && walker->n_known * 16 < walker->n_slots) {
                free(walker->known);
                walker->known = NULL;
                walker->n_slots = 0;
        } else if (walker->n_known > 0) {
                memset(walker->known, 0, walker->n_slots * sizeof(*walker->known));
        }
        walker->n_known = 0;
}

int code_walker_run(struct code_walker *walker, const struct dwarf_unit *unit, uint64_t bias,
                    uint64_t first_svma, struct code_unit_builder *b)
{
        struct walk w = { .walker = walker, .unit = unit, .b = b, .bias = bias, .first_svma = first_svma };
        int r = 0;

        forget_known(walker);
        if (load_abbrevs(walker, unit) < 0)
                return 0;
        w.c = dwarf_cursor_at(unit->file->sections, DEBUG_SECTION_INFO, unit->first_die);
        w.c.r.left = (size_t)(unit->end - unit->first_die);
        w.has_plain_types = has_plain_types(unit->language);
        w.functions[0] = NO_FUNCTION;
        walker->run++;
        while (r == 0 && !dwarf_cursor_ended(&w.c)) {
                const struct dwarf_abbrev *abbrev;
                uint64_t code;

                w.offset = (uint64_t)(w.c.r.at - unit->file->sections->sections[DEBUG_SECTION_INFO].bytes);
                code = dwarf_cursor_uleb(&w.c);

                if (code == 0) {
                        if (w.depth <= 1)
                                break;
                        w.depth--;
                        continue;
                }
                abbrev = dwarf_abbrevs_find(&walker->abbrevs, code);
                if (!abbrev)
                        break;
                r = visit(&w, abbrev);
        }
        return r;
}
