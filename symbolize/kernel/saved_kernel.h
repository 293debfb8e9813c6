/* SPDX-License-Identifier: MIT */
/*
 * symbolize/kernel/saved_kernel.h - the functions of a kernel as bytes, for the next
 * recording under the same kernel, and their names: saved ones, or those that the kernel lists now
 *
 * Way of the data:  kernel_symbols -> [saved_kernel] -> index_cache -> [saved_kernel] -> symbolizer
 *
 * To list its symbols takes a kernel longer than everything else that a short
 * recording does.  Those of the kernel itself are the same whenever it is booted, except for the address at
 * which it lies; the first lines of the list tell that address.  Modules are not kept: they come and go.
 *
 * A header, arrays and texts, little endian; made by one version of hyprof for itself.  Every place
 * that a number leads to is checked when it is followed: damage gives wrong names, never a crash.
 */
#ifndef SYMBOLIZE_KERNEL_SAVED_KERNEL_H
#define SYMBOLIZE_KERNEL_SAVED_KERNEL_H

#include "symbolize/images/index_cache.h"
#include "symbolize/kernel/kernel_symbols.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_buffer;

/* The identity of the running kernel. */
struct kernel_head {
        uint64_t build;              /* a hash of its build-id and its other notes */
        struct kernel_symbols first; /* the first ones of the list */
};

struct saved_kernel {
        const uint8_t *starts; /* borrowed, like all here: of each symbol, from `base_address`; ascending */
        const uint8_t *places; /* of each name in `texts` */
        const char *texts;     /* each with its NUL; the last byte is a NUL */
        size_t texts_bytes;
        uint32_t n_symbols;
        uint64_t base_address; /* of the first symbol, now */
};

/*
 * kernel_head_read() - the beginning of the list, and the kernel's notes
 * @kallsyms_fd:  open on /proc/kallsyms; its position stays
 * Returns whether both are known.  Either way, the caller ends with kernel_head_deinit().
 */
bool kernel_head_read(struct kernel_head *head, int kallsyms_fd);
void kernel_head_deinit(struct kernel_head *head);

/* Appends what @all has of the kernel itself.  Returns 0, -ENODATA if that does not fit the form, -ENOMEM. */
int saved_kernel_write(const struct kernel_symbols *all, const struct kernel_head *head,
                       struct byte_buffer *out);

/*
 * Returns false if the bytes are not of the kernel with this head, as this version writes them.  They are
 * borrowed.
 */
bool saved_kernel_open(struct saved_kernel *k, const struct kernel_head *head, const uint8_t *bytes,
                       size_t n_bytes);

/*
 * Whether the address lies in the kernel itself, so that saved_kernel_find() knows as much as the whole list.
 */
bool saved_kernel_covers(const struct saved_kernel *k, uint64_t address);

/* As kernel_symbols_find(), for an address that is covered. */
const char *saved_kernel_find(const struct saved_kernel *k, uint64_t address);

/*
 * Names for addresses of the running kernel.  The whole list is read when an address is not covered by the
 * saved part: in a module, or in code that the kernel made while it ran.
 */
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
 * kernel_lookup_open() - read the beginning of the list; the rest is read when needed
 * @cache:  where an entry is looked for; NULL = nowhere, and nothing can be saved
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

#endif /* SYMBOLIZE_KERNEL_SAVED_KERNEL_H */
