/* SPDX-License-Identifier: MIT */
/*
 * symbolize/index/saved_index.h - the facts about a module's addresses as bytes, which are used
 * where they lie
 *
 * Way of the data:  symbol_table, code_index -> [saved_index] -> cache on disk ->
 *                   [saved_index] -> module_symbols
 *
 * A header, arrays and texts, little endian; made by one version of hyprof for
 * itself.  Opening looks at the header alone.  Every place that a number leads to
 * is checked when it is followed: damage gives wrong names, never a crash.
 */
#ifndef SYMBOLIZE_INDEX_SAVED_INDEX_H
#define SYMBOLIZE_INDEX_SAVED_INDEX_H

#include "symbolize/index/code_names.h"
#include "symbolize/index/code_unit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAVED_INDEX_BYTES_MAX (UINT64_C(1) << 31) /* a larger one is not made */

struct byte_buffer;
struct code_index;
struct elf_image;
struct error;
struct symbol_table;

enum saved_part {
        SAVED_PART_UNITS,            /* base, place of the block, four counts */
        SAVED_PART_DIRECTORY_STARTS, /* addresses */
        SAVED_PART_FUNCTION_STARTS,  /* addresses */
        SAVED_PART_FUNCTIONS,        /* start, end, name, 1 if it has no size, other names */
        SAVED_PART_DIRECTORY_UNITS,  /* number of a unit */
        SAVED_PART_FUNCTION_NUMBERS, /* number of a function */
        SAVED_PART_NAMES,            /* place in the texts; path, line and instance of the declaration */
        SAVED_PART_PATHS,            /* place in the texts */
        /* starts before each bucket, as in an address_map; then how many there are */
        SAVED_PART_DIRECTORY_BUCKETS,
        SAVED_PART_FUNCTION_BUCKETS,
        SAVED_PART_COUNT
};

/* How addresses fall into buckets; found out when the index is opened. */
struct saved_buckets {
        uint64_t first_svma;
        uint32_t n_buckets; /* 0 = there are none */
        uint8_t shift;      /* a bucket has 2^this addresses, counted from the first */
};

struct saved_index {
        const uint8_t *parts[SAVED_PART_COUNT]; /* borrowed */
        uint32_t n_items[SAVED_PART_COUNT];
        struct saved_buckets directory, functions;
        const uint8_t *blocks; /* of units */
        size_t blocks_bytes;
        const char *texts; /* each with its NUL; the last byte is a NUL */
        size_t texts_bytes;
};

/* The parts of a saved index. */
struct saved_content {
        const struct elf_image *image;
        const struct symbol_table *functions;
        struct code_index *code;         /* complete; NULL = there is no debug information */
        struct code_names *symbol_names; /* where names of `functions` are made readable */
};

struct saved_function {
        uint64_t start_svma, end_svma;
        const char *name;    /* readable; NULL = damaged */
        const char *aliases; /* other names of the address, readable, one a line; NULL = none */
        bool has_no_size;    /* the debug information knows better which function there is */
};

/* Appends.  Returns 0, -EOVERFLOW over SAVED_INDEX_BYTES_MAX, -ENOMEM. */
int saved_index_write(const struct saved_content *content, struct byte_buffer *out, struct error *err);

/* Returns false if the bytes are not a whole index of @image, made by this version.  They are borrowed. */
bool saved_index_open(struct saved_index *index, const struct elf_image *image, const uint8_t *bytes,
                      size_t n_bytes);

/* False for an image without debug information: then only its functions were saved. */
bool saved_index_has_units(const struct saved_index *index);

bool saved_index_find_function(const struct saved_index *index, uint64_t svma,
                               struct saved_function *ret_function);

/* As code_index_find(). */
uint32_t saved_index_find(const struct saved_index *index, uint64_t svma, struct code_place *ret_places,
                          uint32_t n_max);

/* As code_index_find_extent(). */
bool saved_index_find_extent(const struct saved_index *index, uint64_t svma, uint64_t *ret_start_svma,
                             uint64_t *ret_end_svma);

/* All zero for 0 and offsets past the end. */
struct code_declaration saved_index_declaration(const struct saved_index *index, uint32_t id);

/* NULL for 0 and offsets past the end. */
const char *saved_index_name(const struct saved_index *index, uint32_t id);
const char *saved_index_path(const struct saved_index *index, uint32_t id);

#endif /* SYMBOLIZE_INDEX_SAVED_INDEX_H */
