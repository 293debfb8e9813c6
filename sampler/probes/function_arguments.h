/* SPDX-License-Identifier: MIT */
/*
 * sampler/probes/function_arguments.h - the parameters of a function by its debug information
 *
 * Way of the data:  debug_files -> dwarf_units, dwarf_entries -> [function_arguments] -> probe_finder
 *
 * Debug information is hostile: chains and depths are bounded, and a budget ends every search.
 */
#ifndef SAMPLER_PROBES_FUNCTION_ARGUMENTS_H
#define SAMPLER_PROBES_FUNCTION_ARGUMENTS_H

#include "base/byte_buffer.h"
#include "symbolize/index/dwarf_entries.h"

#include <stdbool.h>
#include <stdint.h>

struct debug_files;
struct error;
struct probe_arg;

/* Where the code of a function is described. */
struct described_function {
        uint64_t svma; /* as the debug information has it */
        const struct dwarf_unit *unit;
        uint64_t offset;
};

/* All zero is empty: there is no debug information. */
struct function_arguments {
        struct dwarf_units units, supplement;
        struct dwarf_entries entries;
        struct described_function *functions; /* heap; of the units that were read */
        size_t n_functions, capacity;
        bool *is_read; /* heap; by unit */
        uint64_t bias; /* address in the image = address in the debug information + this */
        uint64_t range_budget;
};

/* Returns 0, also where there is none; -EBADMSG, -EOVERFLOW, -ENOMEM.  @files: borrowed until the deinit. */
int function_arguments_open(struct function_arguments *a, struct debug_files *files, struct error *err);
void function_arguments_deinit(struct function_arguments *a);

static inline bool function_arguments_exist(const struct function_arguments *a)
{
        return a->units.n_units > 0;
}

/*
 * The function that begins at @svma of the image, with this as its low_pc.  Returns 1, 0 if it is not
 * described, -ENOMEM.
 */
int function_arguments_find(struct function_arguments *a, uint64_t svma, struct dwarf_entry *ret_function);

#define FUNCTION_ARGUMENTS_SPLIT "its arguments are described in a .dwo file, which is not read"

/* May the function there be described in another file (-gsplit-dwarf)? */
bool function_arguments_are_split(struct function_arguments *a, uint64_t svma);

/*
 * function_arguments_resolve() - where an argument is, and how to show it
 * @words:            "n", "p->size", "p->next->size"
 * @ret_enumerators:  of an enumeration, added: "1 RED,2 GREEN"; NULL = not wanted
 * Returns 0, or -ENOENT with the reason.
 */
int function_arguments_resolve(struct function_arguments *a, const struct dwarf_entry *function,
                               const char *words, struct probe_arg *ret_arg,
                               struct byte_buffer *ret_enumerators, struct error *err);

/* Adds "int n, char *name, double x (not readable)"; nothing without parameters. */
void function_arguments_describe(struct function_arguments *a, const struct dwarf_entry *function,
                                 struct byte_buffer *out);

#endif /* SAMPLER_PROBES_FUNCTION_ARGUMENTS_H */
