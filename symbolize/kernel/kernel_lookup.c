/* SPDX-License-Identifier: MIT */
#include "symbolize/kernel/kernel_lookup.h"

#include "base/byte_buffer.h"

#include <errno.h>

void kernel_lookup_open(struct kernel_lookup *k, int kallsyms_fd, const struct index_cache *cache,
                        const struct index_cache_name *name)
{
        *k = (struct kernel_lookup){ .fd = kallsyms_fd };
        if (!cache || kallsyms_fd < 0)
                return;
        k->has_head = kernel_head_read(&k->head, kallsyms_fd);
        if (!k->has_head || index_cache_map(cache, name, -1, &k->entry) != 1)
                return;
        if (!saved_kernel_open(&k->saved, &k->head, k->entry.bytes, k->entry.n_bytes))
                k->saved = (struct saved_kernel){ .n_symbols = 0 };
}

void kernel_lookup_close(struct kernel_lookup *k)
{
        kernel_symbols_deinit(&k->all);
        kernel_head_deinit(&k->head);
        index_cache_unmap(&k->entry);
        *k = (struct kernel_lookup){ .fd = -1 };
}

static void load(struct kernel_lookup *k)
{
        k->is_loaded = true;
        if (k->fd >= 0 && kernel_symbols_load(&k->all, k->fd, NULL) < 0)
                kernel_symbols_deinit(&k->all);
}

const char *kernel_lookup_find_made(struct kernel_lookup *k, uint64_t address)
{
        if (!k->is_loaded)
                load(k);
        return kernel_symbols_find_made(&k->all, address);
}

const char *kernel_lookup_find(struct kernel_lookup *k, uint64_t address)
{
        if (!k->is_loaded && k->saved.n_symbols > 0 && saved_kernel_covers(&k->saved, address))
                return saved_kernel_find(&k->saved, address);
        if (!k->is_loaded)
                load(k);
        return kernel_symbols_find(&k->all, address);
}

int kernel_lookup_save(const struct kernel_lookup *k, struct byte_buffer *out)
{
        if (!k->is_loaded || !k->has_head || k->saved.n_symbols > 0)
                return -ENODATA;
        index_cache_add_identity(out, -1);
        return saved_kernel_write(&k->all, &k->head, out);
}
