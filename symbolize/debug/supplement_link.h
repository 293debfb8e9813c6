/* SPDX-License-Identifier: MIT */
/*
 * symbolize/debug/supplement_link.h - what a file says of the one that dwz made of its common parts
 *
 * Way of the data:  debug_file -> [supplement_link] -> debug_file_search
 *
 * .gnu_debugaltlink, dwz's own: a name and a build-id.  .debug_sup of DWARF 5: a
 * name and a checksum, which the other file has in a section of the same name.
 */
#ifndef SYMBOLIZE_DEBUG_SUPPLEMENT_LINK_H
#define SYMBOLIZE_DEBUG_SUPPLEMENT_LINK_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct debug_file_reference;

/* Everything but `said_by`, borrowed from @elf.  Returns 1, or 0 if the file refers to none. */
int supplement_link_read(Elf *elf, struct debug_file_reference *ret_reference);

/* True if the file is one that others refer to by this checksum. */
bool supplement_link_has_checksum(Elf *elf, const uint8_t *checksum, size_t checksum_bytes);

#endif /* SYMBOLIZE_DEBUG_SUPPLEMENT_LINK_H */
