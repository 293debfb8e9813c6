/* SPDX-License-Identifier: MIT */
/*
 * unwind/unwind_table.h - from any address of a module to the rule that leads to its caller
 *
 * Way of the data:  cfi_program -> [unwind_table] -> stack_walk
 *
 * Made once a module, 6 bytes a row, and never changed after: any number of threads
 * may look things up in one.  docs/understand/unwinding.md has the layout.
 */
#ifndef UNWIND_UNWIND_TABLE_H
#define UNWIND_UNWIND_TABLE_H

#include "symbolize/elf/cfi_section.h"
#include "unwind/unwind_rule.h"

#include <stddef.h>
#include <stdint.h>

#define UNWIND_TABLE_ROWS_MAX         (UINT32_C(1) << 24) /* a program of 200 MB has 1.5 million */
#define UNWIND_TABLE_FDES_MAX         (UINT32_C(1) << 22)
#define UNWIND_TABLE_RULES_MAX        65535
#define UNWIND_TABLE_SAVED_MAX        (UINT32_C(1) << 20)
#define UNWIND_TABLE_EXPRESSIONS_MAX  (UINT32_C(1) << 22) /* bytes */
#define UNWIND_TABLE_INSTRUCTIONS_MAX (UINT64_C(1) << 28) /* run for one table at most */
#define UNWIND_TABLE_GAP_BYTES_MIN    16 /* a smaller gap is padding, and belongs to the function before */

struct error;
struct go_functions;
struct plt_section;
struct unwind_machine;

struct unwind_table {
        const struct unwind_machine *machine;
        uint64_t base_svma; /* what `pcs` are relative to */
        uint32_t *pcs;      /* heap; sorted: where each row begins; the next one's begin is its end */
        uint16_t *rule_ids; /* of the row; 0 = no rule: a gap */
        uint32_t n_rows;
        uint32_t *buckets;  /* the row that holds the first address of each 2^bucket_bits addresses */
        uint32_t n_buckets; /* and one more after the last */
        unsigned bucket_bits;
        struct unwind_rule *rules; /* by id */
        uint32_t n_rules;
        struct unwind_saved *saved; /* by `saved` of a rule */
        uint32_t n_saved;
        uint8_t *expressions; /* each is preceded by its length in 2 bytes, little endian */
        uint32_t n_expression_bytes;
        uint64_t entry_svma; /* where the program starts: code without a caller */
        size_t n_bytes;      /* all of it in memory */
        /* Counts of the files' functions, which lookups do not need. */
        uint32_t n_fdes, n_damaged; /* in the table; left out because they made no sense */
        uint32_t n_outside;         /* left out because they lie outside of the code */
};

struct unwind_code_range {
        uint64_t start_svma, end_svma;
};

#define UNWIND_GO_CODES_MAX 8

/* A function of Go's runtime that calls on another stack. */
struct unwind_go_code {
        struct unwind_code_range range;
        uint8_t cfa; /* enum unwind_cfa: how it is left */
};

struct unwind_table_source {
        const struct unwind_machine *machine;
        const struct cfi_section *sections; /* borrowed; if two describe a function, the first counts */
        size_t n_sections;
        const struct unwind_code_range *code; /* executable segments; borrowed */
        size_t n_code;
        const struct unwind_code_range *sigreturns; /* signal trampolines; borrowed */
        size_t n_sigreturns;
        const struct unwind_code_range *context_starts; /* what ends a context of makecontext(3); borrowed */
        size_t n_context_starts;
        struct unwind_go_code go_code[UNWIND_GO_CODES_MAX];
        size_t n_go_code;
        const struct plt_section *plts; /* stubs, where no section describes them; borrowed */
        size_t n_plts;
        const struct go_functions *go; /* functions of Go without a section; borrowed; NULL = none */
        uint64_t entry_svma;           /* 0 = none */
};

/*
 * unwind_table_build() - compiles the sections into a table
 * Returns 0, -ENODATA if they describe no code, -ENOMEM.
 */
int unwind_table_build(const struct unwind_table_source *source, struct unwind_table **ret_table,
                       struct error *err);

/* The memory that a table takes. */
size_t unwind_table_count_bytes(const struct unwind_table *table);

/* NULL is fine. */
void unwind_table_free(struct unwind_table *table);

/* The rule for an address, or NULL in a gap. */
const struct unwind_rule *unwind_table_find(const struct unwind_table *table, uint64_t svma);

/* The expression at a place that a rule or a saved register of the table names. */
const uint8_t *unwind_table_expression(const struct unwind_table *table, int32_t place, size_t *ret_bytes);

/* The rule of one register; NULL = the caller's value is still in it. */
const struct unwind_saved *unwind_table_saved(const struct unwind_table *table,
                                              const struct unwind_rule *rule, unsigned number);

#endif /* UNWIND_UNWIND_TABLE_H */
