/* SPDX-License-Identifier: MIT */
/*
 * How a table is built.
 *
 * Each function's program is run once; each of its rows gets the number of its rule.  There are few different
 * rules, so each row stores only where it begins and that number.  A digest of a whole rule, kept up to date
 * instruction by instruction, identifies the rule; two rules with one digest of 64 bits would give wrong
 * stacks, never a wrong access.
 *
 * The functions come nearly in the order of their addresses, but not quite: they are sorted at the end, and
 * their rows copied in that order, without repetitions and with gaps where no entry describes the code.
 */
#include "base/array.h"
#include "base/error.h"
#include "base/large_memory.h"
#include "symbolize/elf/go_functions.h"
#include "unwind/cfi_program.h"
#include "unwind/plt_frames.h"
#include "unwind/unwind_machine.h"
#include "unwind/unwind_table.h"

#include <assert.h>
#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(CFI_REGISTERS_MAX == UNWIND_REGISTERS_MAX,
               "a CIE's return address is in a register that counts");

#define NO_RULE         0
#define SLOTS_MIN       1024 /* first size of the hash table of rules; a power of two */
#define BUCKET_BITS_MIN 9    /* buckets of 512 bytes of code hold a handful of rows */
#define RADIX_BITS      8
#define RADIX_SIZE      (1U << RADIX_BITS)

#define GO_RA_BYTES 8 /* of a return address, to which the stack pointer points after a call */

/* Bytes of a section per row and per function: somewhat less than is usual. */
#define ROW_BYTES_USUAL      5
#define FUNCTION_BYTES_USUAL 40

struct function {
        uint32_t start, end; /* relative to the table's base */
        uint32_t first_row, n_rows;
};

struct row {
        uint32_t pc;
        uint32_t rule;
};

struct slot {
        uint64_t key;
        uint32_t rule; /* NO_RULE = free */
};

struct builder {
        const struct unwind_table_source *source;
        struct unwind_table *table; /* owned until it is handed out */
        struct function *functions; /* heap, as all that follows */
        size_t n_functions, functions_capacity;
        struct row *rows;
        size_t n_rows, rows_capacity;
        struct slot *slots;
        size_t n_slots;
        size_t rules_capacity, saved_capacity, expressions_capacity;
        uint64_t n_instructions_left;
        /* The initial instructions of the reader's CIEs. */
        struct cfi_row initial[CFI_CIES_KEPT];
        size_t initial_off[CFI_CIES_KEPT];
        bool is_initial_good[CFI_CIES_KEPT];
        struct cfi_program program;
};

/* --------------------------------------------------------------------- rules */

/* Returns the place of a copy of an expression, or -1 if there is no more room. */
static int32_t add_expression(struct builder *b, const uint8_t *bytes, uint16_t n_bytes)
{
        struct unwind_table *t = b->table;
        size_t n_after = (size_t)t->n_expression_bytes + sizeof(n_bytes) + n_bytes;
        int32_t place = (int32_t)t->n_expression_bytes;

        if (n_after > UNWIND_TABLE_EXPRESSIONS_MAX ||
            array_reserve(&t->expressions, &b->expressions_capacity, n_after, 1) < 0)
                return -1;
        t->expressions[place] = (uint8_t)n_bytes;
        t->expressions[place + 1] = (uint8_t)(n_bytes >> 8);
        memcpy(t->expressions + place + sizeof(n_bytes), bytes, n_bytes);
        t->n_expression_bytes = (uint32_t)n_after;
        return place;
}

/*
 * The expression that linkers write for the PLT: sp + 8, and 8 more where the entry has pushed a number:
 * breg7 8; breg16 0; lit15; and; litN; ge; lit3; shl; plus.  Returns N, or 0 for anything else.
 */
static uint8_t match_plt(const uint8_t *bytes, size_t n_bytes)
{
        static const uint8_t head[] = { DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and };
        static const uint8_t tail[] = { DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus };

        if (n_bytes != sizeof(head) + 1 + sizeof(tail) || memcmp(bytes, head, sizeof(head)) != 0 ||
            memcmp(bytes + sizeof(head) + 1, tail, sizeof(tail)) != 0)
                return 0;
        bytes += sizeof(head);
        return *bytes > DW_OP_lit0 && *bytes <= DW_OP_lit15 ? (uint8_t)(*bytes - DW_OP_lit0) : 0;
}

/*
 * Matches bregN offset; deref, with a short offset: the rule for leaving a stack that a function has
 * aligned.
 */
static bool match_deref(const uint8_t *bytes, size_t n_bytes, uint8_t *ret_number, int32_t *ret_offset)
{
        if (n_bytes != 3 || bytes[0] < DW_OP_breg0 || bytes[0] > DW_OP_breg31 || bytes[1] & 0x80 ||
            bytes[2] != DW_OP_deref)
                return false;
        *ret_number = (uint8_t)(bytes[0] - DW_OP_breg0);
        *ret_offset = bytes[1] & 0x40 ? (int32_t)bytes[1] - 0x80 : bytes[1];
        return true;
}

static void fill_cfa_expression(struct builder *b, const struct cfi_row *row, bool is_signal_frame,
                                struct unwind_rule *rule)
{
        const uint8_t *bytes = b->program.section->bytes + row->cfa_value;
        size_t n_bytes = row->cfa_n_expression_bytes;

        if (is_signal_frame) {
                rule->cfa = UNWIND_CFA_SIGNAL;
                return;
        }
        rule->cfa_register = match_plt(bytes, n_bytes);
        if (rule->cfa_register != 0 && b->table->machine == &unwind_machine_x86_64) {
                rule->cfa = UNWIND_CFA_PLT;
                rule->cfa_offset = 8;
        } else if (match_deref(bytes, n_bytes, &rule->cfa_register, &rule->cfa_offset)) {
                rule->cfa = UNWIND_CFA_DEREF;
        } else {
                rule->cfa_offset = add_expression(b, bytes, row->cfa_n_expression_bytes);
                rule->cfa = rule->cfa_offset < 0 ? UNWIND_CFA_NONE : UNWIND_CFA_EXPRESSION;
        }
}

static void fill_cfa(struct builder *b, const struct cfi_row *row, bool is_signal_frame,
                     struct unwind_rule *rule)
{
        const struct unwind_machine *machine = b->table->machine;

        if (is_signal_frame && !machine->is_return_address_saved) {
                rule->cfa = UNWIND_CFA_SIGNAL; /* ignores the entry: different kernels have different ones */
                return;
        }
        if (row->is_cfa_expression) {
                fill_cfa_expression(b, row, is_signal_frame, rule);
                return;
        }
        if (row->cfa_register >= UNWIND_REGISTERS_MAX)
                return; /* not a register that is kept */
        rule->cfa_offset = row->cfa_value;
        rule->cfa_register = (uint8_t)row->cfa_register;
        if (row->cfa_register == machine->sp)
                rule->cfa = UNWIND_CFA_SP;
        else if (row->cfa_register == machine->fp)
                rule->cfa = UNWIND_CFA_FP;
        else
                rule->cfa = UNWIND_CFA_REGISTER;
}

/* Shortens the place of a saved register, if it has a short form. */
static uint8_t shorten(const struct cfi_saved *saved, int16_t *ret_value)
{
        *ret_value = 0;
        switch ((enum cfi_saved_kind)saved->kind) {
        case CFI_SAVED_SAME:
                return UNWIND_SAVED_SAME;
        case CFI_SAVED_UNDEFINED:
                return UNWIND_SAVED_UNDEFINED;
        case CFI_SAVED_AT_CFA:
        case CFI_SAVED_IN_REGISTER:
                if (saved->value < INT16_MIN || saved->value > INT16_MAX)
                        return UNWIND_SAVED_ELSEWHERE;
                *ret_value = (int16_t)saved->value;
                return saved->kind == CFI_SAVED_AT_CFA ? UNWIND_SAVED_AT_CFA : UNWIND_SAVED_IN_REGISTER;
        case CFI_SAVED_CFA_PLUS:
        case CFI_SAVED_AT_EXPRESSION:
        case CFI_SAVED_BY_EXPRESSION:
        default:
                return UNWIND_SAVED_ELSEWHERE;
        }
}

/* Appends all registers that are not "same" to the table's list. */
static int fill_saved(struct builder *b, const struct cfi_row *row, struct unwind_rule *rule)
{
        struct unwind_table *t = b->table;
        uint32_t first = t->n_saved;

        if (first > UNWIND_TABLE_SAVED_MAX - UNWIND_REGISTERS_MAX)
                return -EOVERFLOW;
        if (array_reserve(&t->saved, &b->saved_capacity, (size_t)first + UNWIND_REGISTERS_MAX,
                          sizeof(*t->saved)) < 0)
                return -ENOMEM;
        for (unsigned i = 0; i < UNWIND_REGISTERS_MAX; i++) {
                const struct cfi_saved *saved = &row->saved[i];
                struct unwind_saved entry = { .number = (uint8_t)i, .value = saved->value };

                entry.kind = (uint8_t)saved->kind;
                if (saved->kind == CFI_SAVED_SAME)
                        continue;
                if (saved->n_expression_bytes > 0)
                        entry.value = add_expression(b, b->program.section->bytes + saved->value,
                                                     saved->n_expression_bytes);
                if (saved->kind >= CFI_SAVED_AT_EXPRESSION &&
                    (saved->n_expression_bytes == 0 || entry.value < 0))
                        entry = (struct unwind_saved){ .number = (uint8_t)i, .kind = UNWIND_SAVED_UNDEFINED };
                t->saved[t->n_saved++] = entry;
        }
        rule->saved = first << UNWIND_SAVED_COUNT_BITS | (t->n_saved - first);
        return 0;
}

static int fill_rule(struct builder *b, const struct cfi_row *row, const struct cfi_cie *cie,
                     struct unwind_rule *rule)
{
        const struct unwind_machine *machine = b->table->machine;

        fill_cfa(b, row, cie->is_signal_frame, rule);
        if (rule->cfa == UNWIND_CFA_NONE || rule->cfa == UNWIND_CFA_SIGNAL)
                return 0;
        rule->ra = shorten(&row->saved[cie->ra_register], &rule->ra_value);
        rule->fp = shorten(&row->saved[machine->fp], &rule->fp_value);
        if (rule->ra == UNWIND_SAVED_SAME) {
                rule->ra = UNWIND_SAVED_IN_REGISTER;
                rule->ra_value = (int16_t)cie->ra_register;
        }
        if (rule->ra == UNWIND_SAVED_ELSEWHERE && cie->ra_register != machine->ra)
                rule->cfa = UNWIND_CFA_NONE; /* a walk would look up the wrong register in the list */
        return fill_saved(b, row, rule);
}

/* Adds a new rule.  Returns its id, NO_RULE if there is no more room, -ENOMEM. */
static int add_rule(struct builder *b, const struct unwind_rule *rule)
{
        struct unwind_table *t = b->table;

        if (t->n_rules >= UNWIND_TABLE_RULES_MAX)
                return NO_RULE;
        if (array_reserve(&t->rules, &b->rules_capacity, (size_t)t->n_rules + 1, sizeof(*t->rules)) < 0)
                return -ENOMEM;
        t->rules[t->n_rules] = *rule;
        return (int)t->n_rules++;
}

static uint64_t key_of(const struct builder *b, const struct cfi_row *row, const struct cfi_cie *cie)
{
        uint64_t key = row->digest + (uint64_t)cie->ra_register;

        key = (key ^ (uint64_t)row->is_cfa_expression << 63 ^ (uint64_t)cie->is_signal_frame << 62) *
              UINT64_C(0x9e3779b97f4a7c15);
        key ^= key >> 32;
        if (!row->is_cfa_expression)
                return (key ^ (uint64_t)row->cfa_register << 32 ^ (uint32_t)row->cfa_value) *
                       UINT64_C(0xd6e8feb86659fd93);
        for (uint32_t i = 0; i < row->cfa_n_expression_bytes; i++)
                key = (key ^ b->program.section->bytes[(uint32_t)row->cfa_value + i]) *
                      UINT64_C(0xd6e8feb86659fd93);
        return key;
}

static struct slot *find_slot(struct slot *slots, size_t n_slots, uint64_t key)
{
        size_t at = (size_t)(key >> 32) & (n_slots - 1);

        while (slots[at].rule != NO_RULE && slots[at].key != key)
                at = (at + 1) & (n_slots - 1);
        return &slots[at];
}

static int grow_slots(struct builder *b)
{
        size_t n_slots = b->n_slots == 0 ? SLOTS_MIN : 2 * b->n_slots;
        struct slot *slots = calloc(n_slots, sizeof(*slots));

        if (!slots)
                return -ENOMEM;
        for (size_t i = 0; i < b->n_slots; i++)
                if (b->slots[i].rule != NO_RULE)
                        *find_slot(slots, n_slots, b->slots[i].key) = b->slots[i];
        free(b->slots);
        b->slots = slots;
        b->n_slots = n_slots;
        return 0;
}

/* The id of the rule that a row states, or -ENOMEM. */
static int intern_rule(struct builder *b, const struct cfi_row *row, const struct cfi_cie *cie)
{
        uint64_t key = key_of(b, row, cie);
        struct slot *slot = find_slot(b->slots, b->n_slots, key);
        struct unwind_rule rule = { .cfa = UNWIND_CFA_NONE };
        int r;

        if (slot->rule != NO_RULE)
                return (int)slot->rule;
        r = fill_rule(b, row, cie, &rule);
        if (r == -EOVERFLOW || (r == 0 && rule.cfa == UNWIND_CFA_NONE))
                return NO_RULE;
        if (r < 0)
                return r;
        r = add_rule(b, &rule);
        if (r <= NO_RULE)
                return r;
        *slot = (struct slot){ .key = key, .rule = (uint32_t)r };
        return b->table->n_rules > b->n_slots / 2 && grow_slots(b) < 0 ? -ENOMEM : r;
}

/* ----------------------------------------------------------------- functions */

static bool lies_in_code(const struct builder *b, uint64_t start_svma, uint64_t end_svma)
{
        for (size_t i = 0; i < b->source->n_code; i++)
                if (start_svma >= b->source->code[i].start_svma && end_svma <= b->source->code[i].end_svma)
                        return end_svma - b->table->base_svma <= UINT32_MAX;
        return false;
}

static int add_row(struct builder *b, uint64_t svma, int rule)
{
        if (b->n_rows == b->rows_capacity &&
            array_reserve(&b->rows, &b->rows_capacity, b->n_rows + 1, sizeof(*b->rows)) < 0)
                return -ENOMEM;
        b->rows[b->n_rows++] = (struct row){ .pc = (uint32_t)(svma - b->table->base_svma),
                                             .rule = (uint32_t)rule };
        return 0;
}

/* Adds a function whose rows, from @first_row on, were added before. */
static int end_function(struct builder *b, uint64_t start_svma, uint64_t end_svma, size_t first_row)
{
        if (array_reserve(&b->functions, &b->functions_capacity, b->n_functions + 1, sizeof(*b->functions)) <
            0)
                return -ENOMEM;
        b->functions[b->n_functions++] =
                (struct function){ .start = (uint32_t)(start_svma - b->table->base_svma),
                                   .end = (uint32_t)(end_svma - b->table->base_svma),
                                   .first_row = (uint32_t)first_row,
                                   .n_rows = (uint32_t)(b->n_rows - first_row) };
        return 0;
}

/* The initial row of the functions of a CIE; NULL if it makes no sense. */
static const struct cfi_row *find_initial(struct builder *b, const struct cfi_section *section,
                                          const struct cfi_fde *fde)
{
        uint32_t place = fde->cie_place;

        if (b->initial_off[place] != fde->cie->off) {
                b->initial_off[place] = fde->cie->off;
                /* Reading a CIE again is charged as much as running it, because the file may be hostile. */
                b->n_instructions_left -= fde->cie->n_instruction_bytes < b->n_instructions_left
                                                  ? fde->cie->n_instruction_bytes
                                                  : b->n_instructions_left;
                b->is_initial_good[place] = cfi_program_run_cie(section, fde->cie, &b->initial[place]);
        }
        return b->is_initial_good[place] ? &b->initial[place] : NULL;
}

/* Returns 0 with the function added or counted as left out, or -ENOMEM. */
static int add_function(struct builder *b, const struct cfi_section *section, const struct cfi_fde *fde)
{
        const struct cfi_row *initial;
        struct cfi_program *p = &b->program;
        uint64_t svma;
        size_t first_row = b->n_rows;

        if (fde->start_svma == fde->end_svma || !lies_in_code(b, fde->start_svma, fde->end_svma)) {
                b->table->n_outside++;
                return 0;
        }
        initial = find_initial(b, section, fde);
        if (!initial) {
                b->table->n_damaged++;
                return 0;
        }
        cfi_program_start(p, section, fde, initial);
        p->n_instructions_left = b->n_instructions_left;
        while (b->n_rows < UNWIND_TABLE_ROWS_MAX && cfi_program_next(p, &svma) == 1) {
                int rule = intern_rule(b, &p->row, fde->cie);

                if (rule < 0 || add_row(b, svma, rule) < 0)
                        return -ENOMEM;
        }
        b->n_instructions_left = p->n_instructions_left;
        if (p->is_damaged) {
                b->table->n_damaged++;
                b->n_rows = first_row;
                return 0;
        }
        if (b->n_rows == first_row)
                return 0;
        return end_function(b, fde->start_svma, fde->end_svma, first_row);
}

/*
 * Reserves the size that usual sections stay below: growing step by step would move all of the memory, also
 * out of large pages.
 */
static int reserve(struct builder *b, const struct cfi_section *section)
{
        int r = array_reserve(&b->rows, &b->rows_capacity, b->n_rows + section->n_bytes / ROW_BYTES_USUAL + 1,
                              sizeof(*b->rows));

        if (r == 0)
                r = array_reserve(&b->functions, &b->functions_capacity,
                                  b->n_functions + section->n_bytes / FUNCTION_BYTES_USUAL + 1,
                                  sizeof(*b->functions));
        return r;
}

static int add_section(struct builder *b, const struct cfi_section *section)
{
        struct cfi_reader reader;
        struct cfi_fde fde;

        if (reserve(b, section) < 0)
                return -ENOMEM;
        cfi_reader_init(&reader, section);
        for (size_t i = 0; i < CFI_CIES_KEPT; i++)
                b->initial_off[i] = SIZE_MAX;
        while (b->n_functions < UNWIND_TABLE_FDES_MAX && b->n_rows < UNWIND_TABLE_ROWS_MAX &&
               b->n_instructions_left > 0 && cfi_reader_next(&reader, &fde) == 1)
                if (add_function(b, section, &fde) < 0)
                        return -ENOMEM;
        b->table->n_damaged += (uint32_t)reader.n_damaged;
        return 0;
}

/*
 * Adds functions that are known by their code, with one rule each.  Such functions are returned to and
 * never called, so each rule begins one byte earlier, where return addresses are looked up.  These
 * functions thus begin before the entry of a section for the same code, and take precedence over it.
 */
static int add_known(struct builder *b, const struct unwind_rule *rule,
                     const struct unwind_code_range *ranges, size_t n_ranges)
{
        int id;

        if (n_ranges == 0)
                return 0;
        id = add_rule(b, rule);
        if (id <= NO_RULE)
                return id;
        for (size_t i = 0; i < n_ranges; i++) {
                uint64_t svma = ranges[i].start_svma, end_svma = ranges[i].end_svma;

                if (svma == 0 || !lies_in_code(b, svma - 1, end_svma))
                        continue;
                if (add_row(b, svma - 1, id) < 0 || end_function(b, svma - 1, end_svma, b->n_rows - 1) < 0)
                        return -ENOMEM;
        }
        return 0;
}

/*
 * Signal trampolines without an entry, the function that a context returns to at its end, which has no
 * caller, and functions of Go whose callers are on another stack.
 */
static int add_all_known(struct builder *b)
{
        const struct unwind_table_source *s = b->source;
        const struct unwind_rule of_signal = { .cfa = UNWIND_CFA_SIGNAL };
        const struct unwind_rule root = { .cfa = UNWIND_CFA_SP, .ra = UNWIND_SAVED_UNDEFINED };
        int r = add_known(b, &of_signal, s->sigreturns, s->n_sigreturns);

        if (r >= 0)
                r = add_known(b, &root, s->context_starts, s->n_context_starts);
        for (size_t i = 0; r >= 0 && i < s->n_go_code; i++) {
                const struct unwind_rule of_go = { .cfa = s->go_code[i].cfa };

                r = add_known(b, &of_go, &s->go_code[i].range, 1);
        }
        return r;
}

/* The rule of a row of stubs, added if new.  Returns its id, NO_RULE, or -ENOMEM. */
static int add_plt_rule(struct builder *b, const struct plt_frames_row *row, int *ids)
{
        const struct unwind_machine *m = b->source->machine;
        const struct unwind_rule rule = {
                .cfa = UNWIND_CFA_SP,
                .cfa_register = m->sp,
                .cfa_offset = row->cfa_offset,
                .ra = row->is_ra_saved ? UNWIND_SAVED_AT_CFA : UNWIND_SAVED_IN_REGISTER,
                .ra_value = (int16_t)(row->is_ra_saved ? -PLT_RA_BYTES : m->ra),
        };
        int *id = &ids[row->cfa_offset];

        if (*id == NO_RULE)
                *id = add_rule(b, &rule);
        return *id;
}

/*
 * Adds the stubs of one section as one function.  A section that describes the stubs was added before, and
 * takes precedence.
 */
static int add_plt(struct builder *b, const struct plt_section *section, int *ids)
{
        size_t first_row = b->n_rows;
        struct plt_frames_row row;
        struct plt_frames frames;
        uint64_t end_svma;

        if (__builtin_add_overflow(section->svma, section->n_bytes, &end_svma) ||
            !lies_in_code(b, section->svma, end_svma))
                return 0;
        plt_frames_init(&frames, b->source->machine, section);
        while (b->n_rows < UNWIND_TABLE_ROWS_MAX && plt_frames_next(&frames, &row) == 1) {
                int id = add_plt_rule(b, &row, ids);

                if (id < 0 || add_row(b, row.svma, id) < 0)
                        return -ENOMEM;
        }
        if (frames.at == 0) {
                b->n_rows = first_row;
                return 0;
        }
        return end_function(b, section->svma, section->svma + frames.at, first_row);
}

static int add_plts(struct builder *b)
{
        int ids[PLT_CFA_OFFSET_MAX + 1] = { NO_RULE };

        for (size_t i = 0; i < b->source->n_plts; i++)
                if (add_plt(b, &b->source->plts[i], ids) < 0)
                        return -ENOMEM;
        return 0;
}

/*
 * The rule for code where the stack has grown by @frame_bytes since the call.  Returns its id, NO_RULE, or
 * -ENOMEM.
 */
static int add_go_rule(struct builder *b, int64_t frame_bytes)
{
        uint64_t key = (uint64_t)frame_bytes * UINT64_C(0x9e3779b97f4a7c15);
        struct slot *slot = find_slot(b->slots, b->n_slots, key);
        struct unwind_rule rule = { .cfa = UNWIND_CFA_SP,
                                    .cfa_register = b->source->machine->sp,
                                    .ra = UNWIND_SAVED_AT_CFA,
                                    .ra_value = -GO_RA_BYTES };
        int id;

        if (slot->rule != NO_RULE)
                return (int)slot->rule;
        if (frame_bytes < 0 || frame_bytes > INT32_MAX - GO_RA_BYTES)
                return NO_RULE;
        rule.cfa_offset = (int32_t)frame_bytes + GO_RA_BYTES;
        id = add_rule(b, &rule);
        if (id <= NO_RULE)
                return id;
        *slot = (struct slot){ .key = key, .rule = (uint32_t)id };
        return b->table->n_rules > b->n_slots / 2 && grow_slots(b) < 0 ? -ENOMEM : id;
}

static int add_go_function(struct builder *b, const struct go_function *f)
{
        size_t first_row = b->n_rows;
        uint64_t end_svma = f->start_svma;
        struct go_values frame;

        go_functions_read_frame(b->source->go, f, &frame);
        while (b->n_rows < UNWIND_TABLE_ROWS_MAX && b->n_instructions_left > 0 && end_svma < f->end_svma &&
               go_functions_next_value(&frame)) {
                int id = add_go_rule(b, frame.value);

                b->n_instructions_left--;
                if (id < 0 || add_row(b, frame.start_svma, id) < 0)
                        return -ENOMEM;
                end_svma = frame.end_svma < f->end_svma ? frame.end_svma : f->end_svma;
        }
        return end_svma > f->start_svma ? end_function(b, f->start_svma, end_svma, first_row) : 0;
}

/*
 * Adds functions of a Go program without unwind information, as after -ldflags '-s -w': Go's linker makes
 * unwind information from the same table.  The table is wrong for functions that switch stacks, which are
 * among the known functions.
 */
static int add_go(struct builder *b)
{
        const struct go_functions *go = b->source->go;

        if (!go || !b->source->machine->is_return_address_saved)
                return 0;
        for (uint32_t i = 0; i < go->n_functions && b->n_functions < UNWIND_TABLE_FDES_MAX; i++) {
                struct go_function f;

                if (go_functions_get_code(go, i, &f) && lies_in_code(b, f.start_svma, f.end_svma) &&
                    add_go_function(b, &f) < 0)
                        return -ENOMEM;
        }
        return 0;
}

/* ------------------------------------------------------------------ the table */

/*
 * Sorts functions by their start; functions with the same start stay in the order in which they were added.
 */
static int sort_functions(struct builder *b)
{
        struct function *to = large_memory_new((b->n_functions + 1) * sizeof(*to));

        if (!to)
                return -ENOMEM;
        for (unsigned shift = 0; shift < 32; shift += RADIX_BITS) {
                size_t counts[RADIX_SIZE] = { 0 };
                size_t sum = 0;
                struct function *from = b->functions;

                for (size_t i = 0; i < b->n_functions; i++)
                        counts[from[i].start >> shift & (RADIX_SIZE - 1)]++;
                for (size_t i = 0; i < RADIX_SIZE; i++) {
                        size_t n = counts[i];

                        counts[i] = sum;
                        sum += n;
                }
                for (size_t i = 0; i < b->n_functions; i++)
                        to[counts[from[i].start >> shift & (RADIX_SIZE - 1)]++] = from[i];
                b->functions = to;
                to = from;
        }
        free(to);
        return 0;
}

static void emit(struct unwind_table *t, uint32_t pc, uint32_t rule)
{
        if (t->n_rows > 0 && t->rule_ids[t->n_rows - 1] == rule)
                return;
        t->pcs[t->n_rows] = pc;
        t->rule_ids[t->n_rows] = (uint16_t)rule;
        t->n_rows++;
}

/*
 * Copies the rows in the order of addresses; where functions overlap, the bytes belong to the one that
 * begins first.
 */
static uint32_t emit_all(struct builder *b)
{
        struct unwind_table *t = b->table;
        uint32_t end = 0; /* the code before it has its rows */

        for (size_t i = 0; i < b->n_functions; i++) {
                const struct function *f = &b->functions[i];
                const struct row *rows = b->rows + f->first_row;
                uint32_t k = 0;

                if (f->end <= end)
                        continue;
                if (i > 0 && f->start > end && f->start - end >= UNWIND_TABLE_GAP_BYTES_MIN)
                        emit(t, end, NO_RULE);
                while (k + 1 < f->n_rows && rows[k + 1].pc <= end)
                        k++;
                for (; k < f->n_rows; k++)
                        emit(t, rows[k].pc > end ? rows[k].pc : end, rows[k].rule);
                end = f->end;
        }
        emit(t, end, NO_RULE);
        return end;
}

static int fill_buckets(struct unwind_table *t, uint32_t end)
{
        uint32_t row = 0;

        t->bucket_bits = BUCKET_BITS_MIN;
        while (end >> t->bucket_bits > t->n_rows / 4 + 64)
                t->bucket_bits++;
        t->n_buckets = (end >> t->bucket_bits) + 1;
        t->buckets = malloc(((size_t)t->n_buckets + 1) * sizeof(*t->buckets));
        if (!t->buckets)
                return -ENOMEM;
        for (uint32_t i = 0; i < t->n_buckets; i++) {
                while (row + 1 < t->n_rows && t->pcs[row + 1] <= (uint64_t)i << t->bucket_bits)
                        row++;
                t->buckets[i] = row;
        }
        t->buckets[t->n_buckets] = t->n_rows - 1;
        return 0;
}

/* Gives back the memory that growing took in excess; a failure would do no harm. */
static void shrink(void *items, size_t n_bytes)
{
        void **array = items;
        void *smaller = n_bytes > 0 ? realloc(*array, n_bytes) : NULL;

        if (smaller)
                *array = smaller;
}

static int make_table(struct builder *b)
{
        struct unwind_table *t = b->table;
        /* All rows, a gap for each function, and the end. */
        size_t n_max = b->n_rows + b->n_functions + 1;

        if (sort_functions(b) < 0)
                return -ENOMEM;
        t->pcs = large_memory_new(n_max * sizeof(*t->pcs));
        t->rule_ids = large_memory_new(n_max * sizeof(*t->rule_ids));
        if (!t->pcs || !t->rule_ids || fill_buckets(t, emit_all(b)) < 0)
                return -ENOMEM;
        t->n_fdes = (uint32_t)b->n_functions;
        shrink(&t->pcs, t->n_rows * sizeof(*t->pcs));
        shrink(&t->rule_ids, t->n_rows * sizeof(*t->rule_ids));
        shrink(&t->rules, t->n_rules * sizeof(*t->rules));
        shrink(&t->saved, t->n_saved * sizeof(*t->saved));
        shrink(&t->expressions, t->n_expression_bytes);
        t->n_bytes = unwind_table_count_bytes(t);
        return 0;
}

/* The table is relative to where its code begins. */
static uint64_t find_base(const struct unwind_table_source *source)
{
        uint64_t base_svma = UINT64_MAX;

        for (size_t i = 0; i < source->n_code; i++)
                if (source->code[i].start_svma < base_svma)
                        base_svma = source->code[i].start_svma;
        return base_svma;
}

static int run(struct builder *b)
{
        struct unwind_table *t = b->table;
        const struct unwind_rule none = { .cfa = UNWIND_CFA_NONE };

        if (grow_slots(b) < 0 || add_rule(b, &none) < 0)
                return -ENOMEM;
        for (size_t i = 0; i < b->source->n_sections; i++)
                if (add_section(b, &b->source->sections[i]) < 0)
                        return -ENOMEM;
        if (add_all_known(b) < 0 || add_plts(b) < 0 || add_go(b) < 0)
                return -ENOMEM;
        if (b->n_functions == 0)
                return -ENODATA;
        assert(t->n_rules <= UNWIND_TABLE_RULES_MAX);
        return make_table(b);
}

int unwind_table_build(const struct unwind_table_source *source, struct unwind_table **ret_table,
                       struct error *err)
{
        struct builder *b = calloc(1, sizeof(*b));
        struct unwind_table *table = calloc(1, sizeof(*table));
        int r = -ENOMEM;

        if (!b || !table)
                goto end;
        table->machine = source->machine;
        table->base_svma = find_base(source);
        table->entry_svma = source->entry_svma;
        b->source = source;
        b->table = table;
        b->n_instructions_left = UNWIND_TABLE_INSTRUCTIONS_MAX;
        r = run(b);
        if (r == 0) {
                *ret_table = table;
                table = NULL;
        }
end:
        if (b) {
                free(b->functions);
                free(b->rows);
                free(b->slots);
        }
        free(b);
        unwind_table_free(table);
        if (r == -ENOMEM)
                return error_set(err, r, "no memory for a table of unwind rules");
        if (r < 0)
                return error_set(err, r, "there is no unwind information for any code");
        return 0;
}
