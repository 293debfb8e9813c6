/* SPDX-License-Identifier: MIT */
/*
 * symbolize/kernel/kernel_symbols.h - /proc/kallsyms: the functions of the running kernel
 *
 * Way of the data:  /proc/kallsyms -> [kernel_symbols] -> symbolizer
 *
 * The kernel shows real addresses only to a file that was opened with the right
 * to see them.  So the file is opened early, and may be read late.
 */
#ifndef SYMBOLIZE_KERNEL_KERNEL_SYMBOLS_H
#define SYMBOLIZE_KERNEL_KERNEL_SYMBOLS_H

#include "base/byte_buffer.h"

#include <stddef.h>
#include <stdint.h>

#define KERNEL_SYMBOLS_PATH "/proc/kallsyms"
/* The list has no sizes: this limit keeps a function before a gap from filling the gap. */
#define KERNEL_SYMBOLS_FUNCTION_MAX (UINT64_C(1) << 20)
/* After the last function of a module there may be other code, but not in its page. */
#define KERNEL_SYMBOLS_PAGE_BYTES UINT64_C(4096)

struct error;

struct kernel_symbol {
        uint64_t address;
        size_t name_at; /* place in `names` */
        uint32_t rank;  /* of several names of one address the lowest counts */
        uint32_t order; /* of its line: of equal ranks, the lowest order counts */
};

/* Zero-initialised is empty and valid. */
struct kernel_symbols {
        struct byte_buffer names;      /* NUL-terminated: "vfs_read", "fuse_open [fuse]" */
        struct kernel_symbol *symbols; /* heap; ascending, one an address */
        size_t n_symbols, symbols_capacity;
};

void kernel_symbols_deinit(struct kernel_symbols *kernel);

/*
 * kernel_symbols_parse() - the text of /proc/kallsyms, into an empty table
 * Lines that are no symbol of code are passed over.  If all addresses are 0 they are
 * hidden: the table stays empty.  Returns 0 or -ENOMEM.
 */
int kernel_symbols_parse(struct kernel_symbols *kernel, const void *text, size_t text_bytes);

/*
 * kernel_symbols_load() - the same for a file
 * @fd:  open on /proc/kallsyms; read from its beginning, its position stays
 * Returns 0, -ENOMEM, -EFBIG, -errno.
 */
int kernel_symbols_load(struct kernel_symbols *kernel, int fd, struct error *err);

/*
 * The name of the function that holds @address, or NULL; borrowed from the table.  Only for the kernel itself
 * and its modules: the table does not tell where other code ends.
 */
const char *kernel_symbols_find(const struct kernel_symbols *kernel, uint64_t address);

/* The same for an address that is known to be in code which the kernel made while it ran, as BPF. */
const char *kernel_symbols_find_made(const struct kernel_symbols *kernel, uint64_t address);

#endif /* SYMBOLIZE_KERNEL_KERNEL_SYMBOLS_H */
