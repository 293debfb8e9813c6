/* SPDX-License-Identifier: MIT */
/*
 * symbolize/listing/code_listing.h - the instructions of a function, with the facts about each
 *
 * Way of the data:  listing_reader (child) -> [code_listing] -> pipe -> [code_listing] -> annotation
 *
 * A child that reads hostile files makes it.  So it is plain data, which travels as bytes, and the parent
 * checks every number in it.
 */
#ifndef SYMBOLIZE_LISTING_CODE_LISTING_H
#define SYMBOLIZE_LISTING_CODE_LISTING_H

#include "base/intern.h"
#include "symbolize/listing/branch_target.h"

#include <stddef.h>
#include <stdint.h>

#define CODE_LISTING_PARTS_MAX        64                  /* further ones are left out */
#define CODE_LISTING_INSTRUCTIONS_MAX (UINT32_C(1) << 18) /* the same */

struct byte_buffer;
struct error;
struct symbol;

/* One function at an instruction; strings are ids in `strings`, 0 = unknown. */
struct listing_symbol {
        uint32_t function;
        uint32_t file;
        uint32_t line;
        uint32_t column;
        uint32_t declared_file; /* where the function is declared */
        uint32_t declared_line; /* 0 = unknown */
        uint32_t instance;
};

struct listing_instruction {
        uint64_t svma;
        uint64_t target_svma; /* of a direct jump or call; else 0 */
        uint32_t n_bytes;
        uint32_t branch; /* enum branch_kind */
        uint32_t text;   /* string */
        /*
         * In `symbols`, the innermost inlined function first; the last one is the function that the code
         * belongs to.
         */
        uint32_t first_symbol, n_symbols;
        /* string: function that the target is in, unless that is this part; 0 = unknown */
        uint32_t target_name;
        uint32_t target_offset_bytes; /* in that function */
};

/* Code without gaps: a function, or a part of one. */
struct listing_part {
        uint64_t svma;     /* of its first byte */
        uint64_t file_off; /* of its first byte; without a file, its address */
        uint64_t n_bytes;
        uint32_t name; /* string */
        uint32_t first_instruction, n_instructions;
        uint32_t flags; /* LISTING_PART_* */
};

#define LISTING_PART_GUESSED UINT32_C(1) /* the module does not say where the function begins and ends */
#define LISTING_PART_CUT     UINT32_C(2) /* it continues after its last instruction here */

struct code_listing {
        struct intern strings;
        struct listing_part *parts; /* heap, like all below; by address */
        size_t n_parts, parts_capacity;
        struct listing_instruction *instructions;
        size_t n_instructions, instructions_capacity;
        struct listing_symbol *symbols;
        size_t n_symbols, symbols_capacity;
};

void code_listing_init(struct code_listing *l);
void code_listing_deinit(struct code_listing *l);

/* The id of a string, 0 for NULL and "".  Returns 0, -ENOMEM, -EOVERFLOW. */
int code_listing_add_string(struct code_listing *l, const char *text, uint32_t *ret_id);

/* Adds an empty part, to which instructions are then added.  Returns 0 or -ENOMEM. */
int code_listing_add_part(struct code_listing *l, const struct listing_part *part);

/*
 * code_listing_add() - the next instruction of the latest part
 * @symbols:  at it; may be none.  If they equal those of the instruction before, both share the rows
 * Returns 0, -ENOMEM, -EOVERFLOW.
 */
int code_listing_add(struct code_listing *l, const struct listing_instruction *instruction,
                     const struct symbol *symbols, uint32_t n_symbols);

/* Appends the whole listing to @out; @out tells whether memory ran out. */
void code_listing_encode(const struct code_listing *l, struct byte_buffer *out);

/*
 * code_listing_decode() - read a listing back from untrusted bytes
 * @l:  fresh; to be deinitialised in any case
 * Returns 0, -EBADMSG, -ENOMEM.
 */
int code_listing_decode(struct code_listing *l, const void *bytes, size_t n_bytes, struct error *err);

#endif /* SYMBOLIZE_LISTING_CODE_LISTING_H */
