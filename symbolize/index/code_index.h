/* SPDX-License-Identifier: MIT */
/*
 * symbolize/index/code_index.h - all that the debug information of a module says about its addresses
 *
 * Way of the data:  debug_files -> [code_index] -> module_symbols
 *
 * A directory of units comes first: which addresses each covers.  A unit is read,
 * in one pass, when the first address in it is asked for.  From then on a lookup
 * is two short searches in a bucket.  An object belongs to one thread at a time.
 */
#ifndef SYMBOLIZE_INDEX_CODE_INDEX_H
#define SYMBOLIZE_INDEX_CODE_INDEX_H

#include "symbolize/elf/address_map.h"
#include "symbolize/index/code_names.h"
#include "symbolize/index/code_unit.h"

#include <stddef.h>
#include <stdint.h>

struct code_index;
struct debug_sections;
struct error;

/* Where the debug information is; all borrowed until the index is freed. */
struct code_index_source {
        const struct debug_sections *sections;
        const struct debug_sections *supplement; /* that dwz made; NULL = there is none */
        /*
         * Finds the split part of a unit, as debug_files_find_split() does; NULL = there are no split units.
         */
        int (*find_split)(void *context, const char *name, const char *directory, uint64_t dwo_id,
                          const struct debug_sections **ret_sections);
        void *context;
        uint64_t bias; /* address in the module = address in the debug information + this */
        /* functions that begin below it were discarded by the linker */
        uint64_t first_svma;
};

/* Fills the directory.  @source: copied.  Returns 0 (damaged units are left out), -ENOMEM. */
int code_index_new(const struct code_index_source *source, struct code_index **ret_index, struct error *err);

/* NULL is fine. */
void code_index_free(struct code_index *index);

/*
 * code_index_find() - the chain of functions at an address, with the place in each
 * @ret_places:  innermost first, room for @n_max; ids are those of code_index_names()
 * Returns how many there are; 0 if nothing is known.
 */
uint32_t code_index_find(struct code_index *index, uint64_t svma, struct code_place *ret_places,
                         uint32_t n_max);

/* The extent of the function at an address, as code_unit_find_extent(). */
bool code_index_find_extent(struct code_index *index, uint64_t svma, uint64_t *ret_start_svma,
                            uint64_t *ret_end_svma);

/*
 * The first address above @svma and below @end_svma at which a function begins, else @end_svma.  Reads the
 * units that lie there.
 */
uint64_t code_index_find_next(struct code_index *index, uint64_t svma, uint64_t end_svma);

/* Reads all units.  Returns 0 or -ENOMEM. */
int code_index_complete(struct code_index *index, struct error *err);

struct code_names *code_index_names(struct code_index *index);

/* Which unit has an address: values are numbers of units. */
const struct address_map *code_index_directory(const struct code_index *index);

/* Unit @number of the directory, as far as it is read. */
const struct code_unit *code_index_unit(const struct code_index *index, uint32_t number);
uint32_t code_index_count(const struct code_index *index);

/* Bytes on the heap while reading: blocks of units, the directory, tables of names. */
size_t code_index_memory(const struct code_index *index);

#endif /* SYMBOLIZE_INDEX_CODE_INDEX_H */
