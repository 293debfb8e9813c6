/* SPDX-License-Identifier: MIT */
/*
 * sampler/probes/entry_place.h - where a parameter is at the first instruction of its function
 *
 * Way of the data:  dwarf_entries -> [entry_place] -> function_arguments
 *
 * By its location there, or the entry of a list of locations.  A place in the function's own frame is written
 * only later: then the parameter is where the calling convention of C and C++ has it.  For x86-64.
 */
#ifndef SAMPLER_PROBES_ENTRY_PLACE_H
#define SAMPLER_PROBES_ENTRY_PLACE_H

#include "symbolize/index/dwarf_entries.h"

struct probe_arg;

/*
 * entry_place_find() - fills kind, register and offset of @ret_arg
 * Returns NULL, or why it cannot be read: words that come after "argument 'n' ".
 */
const char *entry_place_find(struct dwarf_entries *e, const struct dwarf_entry *function,
                             const struct dwarf_entry *parameter, struct probe_arg *ret_arg);

/* The type without its names, const and volatile.  Returns 1, 0 for void, -EBADMSG, -ENOMEM. */
int entry_place_type(struct dwarf_entries *e, const struct dwarf_entry *of, struct dwarf_entry *ret_type);

#endif /* SAMPLER_PROBES_ENTRY_PLACE_H */
