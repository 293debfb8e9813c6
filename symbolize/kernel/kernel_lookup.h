/* SPDX-License-Identifier: MIT */
/*
 * symbolize/kernel/kernel_lookup.h - names for addresses of the running kernel: saved ones, or
 * those that it lists now
 *
 * Way of the data:  /proc/kallsyms, index_cache -> [kernel_lookup] -> symbolizer
 *
 * The whole list is read when an address is not covered by the saved part: in a module, or in code that the
 * kernel made while it ran.
 */
#ifndef SYMBOLIZE_KERNEL_KERNEL_LOOKUP_H
#define SYMBOLIZE_KERNEL_KERNEL_LOOKUP_H

#include "symbolize/images/index_cache.h"
#include "symbolize/kernel/kernel_symbols.h"
#include "symbolize/kernel/saved_kernel.h"

#include <stdbool.h>
#include <stdint.h>

struct byte_buffer;

struct kernel_lookup {
        int fd; /* of the list, borrowed; -1 = there is none */
        struct kernel_symbols all;
        bool is_loaded; /* `all`; empty after a failure: frames stay without names */
        bool has_head;
        struct kernel_head head;
        struct index_cache_entry entry;
        struct saved_kernel saved; /* in `entry`; no symbols = nothing is saved */
};

/*
 * kernel_lookup_open() - nothing of the list is read yet but its beginning
 * @cache:  where an entry is looked for; NULL = nowhere, then nothing can be saved either
 * @name:   the entry's
 */
void kernel_lookup_open(struct kernel_lookup *k, int kallsyms_fd, const struct index_cache *cache,
                        const struct index_cache_name *name);
void kernel_lookup_close(struct kernel_lookup *k);

/* The name of the function that holds @address, or NULL; borrowed until the close. */
const char *kernel_lookup_find(struct kernel_lookup *k, uint64_t address);

/* As kernel_symbols_find_made(). */
const char *kernel_lookup_find_made(struct kernel_lookup *k, uint64_t address);

/*
 * Appends the symbols that are worth an entry, with the identity of no file.  Returns 0, -ENODATA if
 * nothing is, -ENOMEM.
 */
int kernel_lookup_save(const struct kernel_lookup *k, struct byte_buffer *out);

#endif /* SYMBOLIZE_KERNEL_KERNEL_LOOKUP_H */
