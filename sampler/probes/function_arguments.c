/* SPDX-License-Identifier: MIT */
#include "sampler/probes/function_arguments.h"

#include "base/array.h"
#include "base/error.h"
#include "sampler/bpf/probe_layout.h"
#include "sampler/probes/entry_place.h"
#include "symbolize/index/debug_files.h"
#include "symbolize/index/dwarf_ranges.h"

#include <dwarf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANGES_MAX      (UINT64_C(1) << 26) /* that are looked at in all */
#define MEMBER_DEPTH    8                   /* of base classes and structures without a name */
#define TYPE_DEPTH      12                  /* of the words for a type */
#define ENUMERATORS_MAX 1000
#define NAME_LENGTH     128
#define OFFSET_MAX      (INT64_C(1) << 30) /* of a member */

/* ---- functions ---------------------------------------------------------------------------------------- */

int function_arguments_open(struct function_arguments *a, struct debug_files *files, struct error *err)
{
        const struct debug_sections *supplement;
        int r = debug_files_find_sections(files, &a->units.sections, &a->bias, err);

        if (r <= 0)
                return r;
        r = debug_files_find_locations(files, err);
        if (r < 0)
                return r;
        a->entries.budget = DWARF_ENTRIES_BUDGET;
        a->range_budget = RANGES_MAX;
        supplement = debug_files_find_supplement(files);
        if (supplement) {
                a->supplement.sections = supplement;
                a->units.supplement = &a->supplement;
                r = dwarf_units_load(&a->supplement);
        }
        if (r == 0)
                r = dwarf_units_load(&a->units);
        a->is_read = calloc(a->units.n_units + 1, sizeof(*a->is_read));
        return r < 0 || !a->is_read ? error_set(err, -ENOMEM, "no memory for debug information") : 0;
}

void function_arguments_deinit(struct function_arguments *a)
{
        dwarf_units_deinit(&a->units);
        dwarf_units_deinit(&a->supplement);
        dwarf_entries_deinit(&a->entries);
        free(a->functions);
        free(a->is_read);
        *a = (struct function_arguments){ .n_functions = 0 };
}

/* Where a function begins: also one whose rarely executed part lies elsewhere, and that has a list for it. */
static bool find_begin(struct function_arguments *a, const struct dwarf_entry *function, uint64_t *ret_svma)
{
        const struct dwarf_extent extent = { .ranges = function->values[DWARF_ATTRIBUTE_RANGES].value };
        struct dwarf_ranges ranges;
        uint64_t high;

        if (dwarf_unit_address(function->unit, &function->values[DWARF_ATTRIBUTE_LOW_PC].value, ret_svma))
                return true;
        dwarf_ranges_init(&ranges, function->unit, &extent, &a->range_budget);
        return dwarf_ranges_next(&ranges, ret_svma, &high) == 1;
}

/* Notes the functions of a unit that have code.  A damaged entry ends it. */
static int read_unit(struct function_arguments *a, const struct dwarf_unit *unit)
{
        uint64_t offset = unit->first_die;

        while (offset < unit->end) {
                struct dwarf_entry entry = { .tag = 0 };
                struct described_function f = { .unit = unit, .offset = offset };
                int r = dwarf_entries_read(&a->entries, unit, offset, &entry);

                if (r == -ENOMEM)
                        return r;
                if (r < 0)
                        break;
                offset = entry.next;
                if (r == 0 || entry.tag != DW_TAG_subprogram || !find_begin(a, &entry, &f.svma))
                        continue;
                if (array_reserve(&a->functions, &a->capacity, a->n_functions + 1, sizeof(f)) < 0)
                        return -ENOMEM;
                a->functions[a->n_functions++] = f;
        }
        return 0;
}

/* A unit that does not say where its code is may have any. */
static bool may_have(struct function_arguments *a, const struct dwarf_unit *unit, uint64_t svma)
{
        struct dwarf_ranges ranges;
        uint64_t low, high;
        bool says = false;

        dwarf_ranges_init(&ranges, unit, &unit->extent, &a->range_budget);
        while (dwarf_ranges_next(&ranges, &low, &high) == 1) {
                if (svma >= low && svma < high)
                        return true;
                says = true;
        }
        return !says && unit->type != DW_UT_partial;
}

bool function_arguments_are_split(struct function_arguments *a, uint64_t svma)
{
        for (size_t i = 0; i < a->units.n_units; i++)
                if (a->units.units[i].dwo_name && may_have(a, &a->units.units[i], svma - a->bias))
                        return true;
        return false;
}

static const struct described_function *find_read(const struct function_arguments *a, uint64_t svma)
{
        for (size_t i = 0; i < a->n_functions; i++)
                if (a->functions[i].svma == svma)
                        return &a->functions[i];
        return NULL;
}

int function_arguments_find(struct function_arguments *a, uint64_t svma, struct dwarf_entry *ret_function)
{
        const struct described_function *f = find_read(a, svma - a->bias);

        for (size_t i = 0; !f && i < a->units.n_units; i++) {
                const struct dwarf_unit *unit = &a->units.units[i];

                if (a->is_read[i] || !may_have(a, unit, svma - a->bias))
                        continue;
                a->is_read[i] = true;
                if (read_unit(a, unit) < 0)
                        return -ENOMEM;
                f = find_read(a, svma - a->bias);
        }
        if (!f || dwarf_entries_read(&a->entries, f->unit, f->offset, ret_function) != 1)
                return 0;
        ret_function->values[DWARF_ATTRIBUTE_LOW_PC] = (struct dwarf_entry_value){
                .value = { .number = f->svma, .form = DW_FORM_addr },
        };
        return 1;
}

/* ---- types -------------------------------------------------------------------------------------------- */

/* The value that words mean so far. */
struct walk {
        struct function_arguments *a;
        struct probe_arg *arg;
        struct dwarf_entry type; /* without names of types; tag 0 = void */
        const char *why;         /* it cannot be read; NULL = it can */
};

static bool is_reference(const struct dwarf_entry *type)
{
        return type->tag == DW_TAG_reference_type || type->tag == DW_TAG_rvalue_reference_type;
}

static bool is_structure(const struct dwarf_entry *type)
{
        return type->tag == DW_TAG_structure_type || type->tag == DW_TAG_class_type ||
               type->tag == DW_TAG_union_type;
}

/* Takes the type of @of.  Returns false with the reason. */
static bool enter_type(struct walk *w, const struct dwarf_entry *of)
{
        struct dwarf_entry type = { .tag = 0 };
        int r = entry_place_type(&w->a->entries, of, &type);

        if (r < 0)
                w->why = "has a type that cannot be read";
        w->type = type;
        return r >= 0;
}

/* The value is a pointer to what is at @offset of a place in memory: that is read, too. */
static bool hop(struct walk *w, int64_t offset)
{
        struct probe_arg *arg = w->arg;

        if (arg->kind == PROBE_ARG_REGISTER && arg->n_hops == 0 && arg->offset == 0) {
                arg->kind = PROBE_ARG_MEMORY;
                arg->offset = offset;
                return true;
        }
        if (arg->kind == PROBE_ARG_CONSTANT) {
                w->why = "is the same in all calls";
                return false;
        }
        if (arg->n_hops == PROBE_HOPS_MAX) {
                w->why = "needs more pointers to be followed than hyprof does";
                return false;
        }
        arg->hops[arg->n_hops++] = (int32_t)offset;
        return true;
}

/* The value is @offset bytes further, in the same memory or register. */
static bool move(struct walk *w, int64_t offset)
{
        struct probe_arg *arg = w->arg;

        w->why = "is in a structure that cannot be taken apart";
        if (arg->n_hops > 0) {
                if (offset > OFFSET_MAX - arg->hops[arg->n_hops - 1])
                        return false;
                arg->hops[arg->n_hops - 1] += (int32_t)offset;
        } else if (arg->kind == PROBE_ARG_REGISTER) {
                if (offset >= 8 - arg->offset / 8)
                        return false;
                arg->offset += 8 * offset; /* bits to the right */
        } else if (arg->kind == PROBE_ARG_MEMORY) {
                if (offset > OFFSET_MAX - arg->offset)
                        return false;
                arg->offset += offset;
        } else {
                return false;
        }
        w->why = NULL;
        return true;
}

/* Where in its structure a member or a base class is: -1 if only the program knows it (virtual bases). */
static int64_t member_offset(const struct dwarf_entry *member)
{
        const struct dwarf_entry_value *v = &member->values[DWARF_ATTRIBUTE_MEMBER_LOCATION];
        struct dwarf_cursor c = { .r = byte_reader_of(v->value.text, v->n_bytes) };
        int64_t offset = 0;

        if (v->value.form == 0) /* of a union */
                return 0;
        if (!dwarf_entry_number(member, DWARF_ATTRIBUTE_MEMBER_LOCATION, &offset)) {
                /* DWARF 2 */
                if (v->n_bytes == 0 || bytes_u8(&c.r) != DW_OP_plus_uconst)
                        return -1;
                offset = (int64_t)dwarf_cursor_uleb(&c);
                if (!bytes_all_used(&c.r))
                        return -1;
        }
        return offset < 0 || offset > OFFSET_MAX ? -1 : offset;
}

/* Returns 1 with the member's place, or one of -1; 0 if there is none of that name; -EBADMSG, -ENOMEM. */
/* NOLINTNEXTLINE(misc-no-recursion): at most MEMBER_DEPTH */
static int find_member(struct dwarf_entries *e, const struct dwarf_entry *structure, const char *name,
                       unsigned depth, int64_t *ret_offset, struct dwarf_entry *ret_member)
{
        struct dwarf_entry child = { .tag = 0 }, inner = { .tag = 0 };
        int r;

        while ((r = dwarf_entries_next_child(e, structure, &child)) == 1) {
                const char *said = child.tag == DW_TAG_member ? dwarf_entries_name(e, &child) : NULL;
                int64_t offset = member_offset(&child), below = 0;

                /* a declaration is a static member, which is in no structure */
                if ((child.tag != DW_TAG_member && child.tag != DW_TAG_inheritance) ||
                    dwarf_entry_has(&child, DWARF_ATTRIBUTE_DECLARATION))
                        continue;
                if (said && strcmp(said, name) == 0) {
                        *ret_offset = offset;
                        *ret_member = child;
                        return 1;
                }
                if (said || depth == 0 || entry_place_type(e, &child, &inner) != 1 || !is_structure(&inner))
                        continue;
                r = find_member(e, &inner, name, depth - 1, &below, ret_member);
                if (r == 1)
                        *ret_offset = offset < 0 || below < 0 ? -1 : offset + below;
                if (r != 0)
                        return r;
        }
        return r;
}

/* Goes on to a member: of what a pointer points to, or of a structure that is in memory. */
static bool enter_member(struct walk *w, const char *name)
{
        struct dwarf_entry member = { .tag = 0 }, pointer = w->type;
        bool is_behind = pointer.tag == DW_TAG_pointer_type || is_reference(&pointer);
        int64_t offset = 0;
        int r;

        if (is_behind && !enter_type(w, &pointer))
                return false;
        /* a reference to a pointer is followed twice */
        if (is_reference(&pointer) && w->type.tag == DW_TAG_pointer_type) {
                pointer = w->type;
                if (!hop(w, 0) || !enter_type(w, &pointer))
                        return false;
        }
        if (!is_structure(&w->type)) {
                w->why = "has no members";
                return false;
        }
        if (dwarf_entry_has(&w->type, DWARF_ATTRIBUTE_DECLARATION)) {
                w->why = "has a type whose members are described elsewhere";
                return false;
        }
        r = find_member(&w->a->entries, &w->type, name, MEMBER_DEPTH, &offset, &member);
        if (r != 1)
                w->why = r == 0 ? "has no member of this name" : "has a type that cannot be read";
        else if (offset < 0)
                w->why = "has no fixed place, like all members of virtual bases";
        else if (dwarf_entry_has(&member, DWARF_ATTRIBUTE_BIT_SIZE))
                w->why = "is a bit field";
        return !w->why && (is_behind ? hop(w, offset) : move(w, offset)) && enter_type(w, &member);
}

/* A pointer to, or an array of, what C calls char. */
static bool is_char(struct dwarf_entries *e, const struct dwarf_entry *of)
{
        struct dwarf_entry type = { .tag = 0 };
        int64_t n_bytes = 0;
        const char *name;

        if (entry_place_type(e, of, &type) != 1 || type.tag != DW_TAG_base_type ||
            !dwarf_entry_number(&type, DWARF_ATTRIBUTE_BYTE_SIZE, &n_bytes) || n_bytes != 1)
                return false;
        name = dwarf_entries_name(e, &type);
        return name && strcmp(name, "char") == 0;
}

static enum probe_style style_of(struct dwarf_entries *e, const struct dwarf_entry *type)
{
        const char *name = dwarf_entries_name(e, type);
        int64_t encoding = 0;

        (void)dwarf_entry_number(type, DWARF_ATTRIBUTE_ENCODING, &encoding);
        switch (encoding) {
        case DW_ATE_boolean:
                return PROBE_STYLE_BOOL;
        case DW_ATE_signed:
                return PROBE_STYLE_SIGNED;
        case DW_ATE_signed_char:
                return name && strcmp(name, "char") == 0 ? PROBE_STYLE_CHARACTER : PROBE_STYLE_SIGNED;
        case DW_ATE_unsigned:
        case DW_ATE_unsigned_char:
        case DW_ATE_UTF:
                return PROBE_STYLE_UNSIGNED;
        case DW_ATE_float:
                return PROBE_STYLE_FLOATING;
        default:
                return PROBE_STYLE_GUESSED;
        }
}

/* The characters of an array, in all its dimensions; 0 = not known, or more than are read. */
static uint32_t count_characters(struct dwarf_entries *e, const struct dwarf_entry *array)
{
        struct dwarf_entry child = { .tag = 0 };
        int64_t all = 1;

        while (dwarf_entries_next_child(e, array, &child) == 1) {
                int64_t n = 0;

                if (child.tag != DW_TAG_subrange_type)
                        continue;
                if (dwarf_entry_number(&child, DWARF_ATTRIBUTE_UPPER_BOUND, &n))
                        n = n < PROBE_TEXT_BYTES ? n + 1 : 0;
                else
                        (void)dwarf_entry_number(&child, DWARF_ATTRIBUTE_N_ELEMENTS, &n);
                if (n <= 0 || n >= PROBE_TEXT_BYTES || all * n >= PROBE_TEXT_BYTES)
                        return 0;
                all *= n;
        }
        return all > 1 ? (uint32_t)all : 0; /* one stands for any number */
}

/* Is a number of the enumeration's type negative if its first bit is 1? */
static bool is_of_signed(struct dwarf_entries *e, const struct dwarf_entry *enumeration)
{
        struct dwarf_entry type = { .tag = 0 };

        return entry_place_type(e, enumeration, &type) == 1 && type.tag == DW_TAG_base_type &&
               style_of(e, &type) == PROBE_STYLE_SIGNED;
}

/* Adds the names of an enumeration's numbers.  Returns whether one of them is negative. */
static bool add_enumerators(struct dwarf_entries *e, const struct dwarf_entry *type, struct byte_buffer *out)
{
        struct dwarf_entry child = { .tag = 0 };
        bool is_signed = false;

        for (unsigned n = 0; n < ENUMERATORS_MAX && dwarf_entries_next_child(e, type, &child) == 1; n++) {
                const char *name = dwarf_entries_name(e, &child);
                int64_t value = 0;

                if (child.tag != DW_TAG_enumerator || !name || strlen(name) > NAME_LENGTH ||
                    !dwarf_entry_number(&child, DWARF_ATTRIBUTE_CONST_VALUE, &value))
                        continue;
                is_signed |= value < 0;
                if (!out)
                        continue;
                byte_buffer_add_format(out, "%s%" PRId64 " ", out->used_bytes > 0 ? "," : "", value);
                for (; *name; name++)
                        byte_buffer_add_u8(out, *name <= ' ' || *name == ',' ? '?' : (uint8_t)*name);
        }
        return is_signed;
}

/* The end of the words: a value that can be shown. */
static void finish(struct walk *w, struct byte_buffer *enumerators)
{
        struct dwarf_entries *e = &w->a->entries;
        struct probe_arg *arg = w->arg;
        struct dwarf_entry reference = w->type;
        int64_t n_bytes = 8;

        if (is_reference(&reference)) {
                if (!enter_type(w, &reference))
                        return;
                if (is_structure(&w->type) || w->type.tag == 0)
                        w->type = reference; /* its address says which one it is */
                else if (!hop(w, 0))
                        return;
        }
        (void)dwarf_entry_number(&w->type, DWARF_ATTRIBUTE_BYTE_SIZE, &n_bytes);
        switch (w->type.tag) {
        case DW_TAG_base_type:
                arg->style = (uint8_t)style_of(e, &w->type);
                break;
        case DW_TAG_enumeration_type:
                arg->style = PROBE_STYLE_ENUM;
                arg->is_signed = is_of_signed(e, &w->type);
                arg->is_signed |= add_enumerators(e, &w->type, enumerators);
                break;
        case DW_TAG_pointer_type:
                arg->style = is_char(e, &w->type) ? PROBE_STYLE_TEXT : PROBE_STYLE_HEX;
                break;
        case DW_TAG_reference_type:
        case DW_TAG_rvalue_reference_type:
        case DW_TAG_ptr_to_member_type:
        case DW_TAG_unspecified_type:
                arg->style = PROBE_STYLE_HEX;
                break;
        case DW_TAG_array_type:
                if (is_char(e, &w->type) && (arg->n_hops > 0 || arg->kind == PROBE_ARG_MEMORY)) {
                        arg->style = PROBE_STYLE_TEXT;
                        arg->text_max = count_characters(e, &w->type);
                        arg->is_address = arg->n_hops > 0;
                        arg->kind = arg->n_hops > 0 ? arg->kind : PROBE_ARG_SUM;
                        n_bytes = 8;
                        break;
                }
                w->why = "is an array";
                return;
        default:
                w->why = is_structure(&w->type) ? "is a structure: name one of its members"
                                                : "has a type that is not shown";
                return;
        }
        if (arg->style == PROBE_STYLE_GUESSED || (arg->style == PROBE_STYLE_FLOATING && n_bytes < 4) ||
            (n_bytes != 1 && n_bytes != 2 && n_bytes != 4 && n_bytes != 8))
                w->why = "has a type that is not shown";
        arg->size = (uint8_t)n_bytes;
        if (arg->style == PROBE_STYLE_SIGNED || arg->style == PROBE_STYLE_CHARACTER)
                arg->is_signed = true;
}

/* ---- arguments ---------------------------------------------------------------------------------------- */

/* The parameter of that name.  Returns 1, 0, -EBADMSG, -ENOMEM. */
static int find_parameter(struct dwarf_entries *e, const struct dwarf_entry *function, const char *name,
                          struct dwarf_entry *ret_parameter)
{
        struct dwarf_entry child = { .tag = 0 };
        int r;

        while ((r = dwarf_entries_next_child(e, function, &child)) == 1) {
                const char *said = child.tag == DW_TAG_formal_parameter ? dwarf_entries_name(e, &child)
                                                                        : NULL;

                if (said && strcmp(said, name) == 0) {
                        *ret_parameter = child;
                        return 1;
                }
        }
        return r;
}

static int refuse_name(struct dwarf_entries *e, const struct dwarf_entry *function, const char *name,
                       struct error *err)
{
        struct dwarf_entry child = { .tag = 0 }, origin = { .tag = 0 };
        char list[NAME_LENGTH] = "";

        /* one that the compiler removed is in the description that all copies of the function share */
        if (dwarf_entries_follow(e, function, DWARF_ATTRIBUTE_ORIGIN, &origin) == 1 &&
            find_parameter(e, &origin, name, &child) == 1)
                return error_set(err, -ENOENT, "argument '%s' was optimised out at its entry", name);
        child.tag = 0;
        while (dwarf_entries_next_child(e, function, &child) == 1) {
                const char *said = child.tag == DW_TAG_formal_parameter ? dwarf_entries_name(e, &child)
                                                                        : NULL;
                size_t n = strlen(list);

                if (said && n + strlen(said) + 3 < sizeof(list))
                        (void)snprintf(list + n, sizeof(list) - n, "%s%s", n > 0 ? ", " : "", said);
        }
        return list[0] ? error_set(err, -ENOENT, "no argument '%s'; it has: %s", name, list)
                       : error_set(err, -ENOENT, "no argument '%s'; it has none", name);
}

/* The next name of the words: "p" of "p->size", then "size".  Returns false at their end. */
static bool next_name(const char **words, char name[NAME_LENGTH])
{
        size_t n = strcspn(*words, "-.");

        if (n == 0 || n >= NAME_LENGTH)
                return false;
        memcpy(name, *words, n);
        name[n] = '\0';
        *words += n;
        if (**words == '.')
                ++*words;
        else if (strncmp(*words, "->", 2) == 0)
                *words += 2;
        else
                return **words == '\0';
        return **words != '\0';
}

int function_arguments_resolve(struct function_arguments *a, const struct dwarf_entry *function,
                               const char *words, struct probe_arg *ret_arg,
                               struct byte_buffer *ret_enumerators, struct error *err)
{
        struct walk w = { .a = a, .arg = ret_arg };
        const char *rest = words;
        char name[NAME_LENGTH];
        struct dwarf_entry parameter = { .tag = 0 };

        *ret_arg = (struct probe_arg){ .kind = PROBE_ARG_UNKNOWN };
        if (!next_name(&rest, name))
                return error_set(err, -ENOENT, "'%s' is no argument: try NAME or NAME->MEMBER", words);
        if (function->unit->dwo_name)
                return error_set(err, -ENOENT, FUNCTION_ARGUMENTS_SPLIT);
        if (find_parameter(&a->entries, function, name, &parameter) != 1)
                return refuse_name(&a->entries, function, name, err);
        w.why = entry_place_find(&a->entries, function, &parameter, ret_arg);
        if (!w.why && enter_type(&w, &parameter)) {
                while (!w.why && *rest) {
                        if (!next_name(&rest, name))
                                w.why = "is not a name with members";
                        else
                                (void)enter_member(&w, name);
                }
                if (!w.why)
                        finish(&w, ret_enumerators);
        }
        return w.why ? error_set(err, -ENOENT, "argument '%s' %s", words, w.why) : 0;
}

/* ---- words -------------------------------------------------------------------------------------------- */

static bool ends_with_star(const struct byte_buffer *out)
{
        return out->used_bytes > 0 &&
               (out->data[out->used_bytes - 1] == '*' || out->data[out->used_bytes - 1] == '&');
}

/* Is it a pointer that is const itself?  Nothing is said of what it points to. */
static bool is_of_pointer(struct dwarf_entries *e, const struct dwarf_entry *type)
{
        struct dwarf_entry target = { .tag = 0 };

        return dwarf_entries_follow(e, type, DWARF_ATTRIBUTE_TYPE, &target) == 1 &&
               (target.tag == DW_TAG_pointer_type || target.tag == DW_TAG_restrict_type ||
                target.tag == DW_TAG_const_type);
}

/* NOLINTNEXTLINE(misc-no-recursion): at most TYPE_DEPTH */
static void add_type(struct dwarf_entries *e, const struct dwarf_entry *of, unsigned depth,
                     struct byte_buffer *out)
{
        struct dwarf_entry type = { .tag = 0 };
        const char *name;
        int r = depth == 0 ? 0 : dwarf_entries_follow(e, of, DWARF_ATTRIBUTE_TYPE, &type);

        if (r != 1) {
                byte_buffer_add_format(out, depth == 0 ? "..." : r == 0 ? "void" : "(unknown)");
                return;
        }
        name = dwarf_entries_name(e, &type);
        switch (type.tag) {
        case DW_TAG_pointer_type:
                add_type(e, &type, depth - 1, out);
                byte_buffer_add_format(out, ends_with_star(out) ? "*" : " *");
                return;
        case DW_TAG_reference_type:
                add_type(e, &type, depth - 1, out);
                byte_buffer_add_format(out, " &");
                return;
        case DW_TAG_rvalue_reference_type:
                add_type(e, &type, depth - 1, out);
                byte_buffer_add_format(out, " &&");
                return;
        case DW_TAG_const_type:
                byte_buffer_add_format(out, is_of_pointer(e, &type) ? "" : "const ");
                add_type(e, &type, depth - 1, out);
                return;
        case DW_TAG_volatile_type:
        case DW_TAG_restrict_type:
        case DW_TAG_atomic_type:
                add_type(e, &type, depth - 1, out);
                return;
        default:
                byte_buffer_add_format(out, "%.*s", NAME_LENGTH, name ? name : "(no name)");
                return;
        }
}

/* The type may be that of what the parameter is an instance of. */
static void add_parameter(struct dwarf_entries *e, const struct dwarf_entry *parameter, const char *name,
                          struct byte_buffer *out)
{
        struct dwarf_entry at = *parameter, next;

        for (int i = 0; i < 2 && !dwarf_entry_has(&at, DWARF_ATTRIBUTE_TYPE); i++) {
                if (dwarf_entries_follow(e, &at, DWARF_ATTRIBUTE_ORIGIN, &next) != 1)
                        break;
                at = next;
        }
        add_type(e, &at, TYPE_DEPTH, out);
        byte_buffer_add_format(out, "%s%s", ends_with_star(out) ? "" : " ", name);
}

void function_arguments_describe(struct function_arguments *a, const struct dwarf_entry *function,
                                 struct byte_buffer *out)
{
        struct dwarf_entry child = { .tag = 0 };
        size_t start = out->used_bytes;

        while (dwarf_entries_next_child(&a->entries, function, &child) == 1) {
                const char *name = child.tag == DW_TAG_formal_parameter
                                           ? dwarf_entries_name(&a->entries, &child)
                                           : NULL;
                struct probe_arg arg;

                if (!name)
                        continue;
                if (out->used_bytes > start)
                        byte_buffer_add_format(out, ", ");
                add_parameter(&a->entries, &child, name, out);
                if (function_arguments_resolve(a, function, name, &arg, NULL, NULL) < 0)
                        byte_buffer_add_format(out, " (not readable)");
        }
}
