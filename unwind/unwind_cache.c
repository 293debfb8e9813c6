/* SPDX-License-Identifier: MIT */
#include "unwind/unwind_cache.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "unwind/unwind_module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void unwind_cache_init(struct unwind_cache *cache, uint64_t n_bytes_max)
{
        *cache = (struct unwind_cache){ .n_bytes_max = n_bytes_max > 0 ? n_bytes_max
                                                                       : UNWIND_CACHE_BYTES_MAX };
        intern_init(&cache->keys, sizeof(struct unwind_cache_key), UNWIND_CACHE_MODULES_MAX);
}

void unwind_cache_deinit(struct unwind_cache *cache)
{
        for (uint32_t i = 0; i < cache->keys.n_items; i++)
                unwind_module_free(cache->modules[i]);
        free(cache->modules);
        intern_deinit(&cache->keys);
}

struct unwind_cache_key unwind_cache_key_of_build_id(const void *build_id, size_t n_bytes)
{
        struct unwind_cache_key key;

        memset(&key, 0, sizeof(key));
        key.build_id_bytes = n_bytes < sizeof(key.build_id) ? n_bytes : sizeof(key.build_id);
        memcpy(key.build_id, build_id, key.build_id_bytes);
        return key;
}

struct unwind_cache_key unwind_cache_key_of_file(uint64_t device, uint64_t inode, uint64_t file_bytes,
                                                 int64_t changed_ns)
{
        struct unwind_cache_key key;

        memset(&key, 0, sizeof(key));
        key.device = device;
        key.inode = inode;
        key.file_bytes = file_bytes;
        key.changed_ns = changed_ns;
        return key;
}

int unwind_cache_find(const struct unwind_cache *cache, const struct unwind_cache_key *key,
                      const struct unwind_module **ret_module)
{
        uint32_t id = intern_find(&cache->keys, key, sizeof(*key));

        if (id == 0)
                return 0;
        *ret_module = cache->modules[id - 1];
        return 1;
}

/* NULL if the file tells nothing or there is no room; neither ends a recording. */
static int build(struct unwind_cache *cache, const struct elf_image *image, struct unwind_module **ret_module,
                 struct error *err)
{
        struct unwind_module *module = NULL;
        uint64_t began_ns = clock_raw_ns();
        int r = unwind_module_build(image, &module, err);

        cache->n_built_ns += clock_raw_ns() - began_ns;
        if (r == -ENOMEM)
                return r;
        if (module && module->n_bytes > cache->n_bytes_max - cache->n_bytes) {
                cache->n_too_large++;
                unwind_module_free(module);
                module = NULL;
        }
        if (module)
                cache->n_bytes += module->n_bytes;
        *ret_module = module;
        return 0;
}

int unwind_cache_add(struct unwind_cache *cache, const struct unwind_cache_key *key,
                     const struct elf_image *image, const struct unwind_module **ret_module,
                     struct error *err)
{
        struct unwind_module *module = NULL;
        uint32_t id;
        int r;

        if (unwind_cache_find(cache, key, ret_module) == 1)
                return 0;
        r = array_reserve(&cache->modules, &cache->modules_capacity, (size_t)cache->keys.n_items + 1,
                          sizeof(struct unwind_module *));
        if (r < 0)
                return error_set(err, r, "no memory for %u modules", cache->keys.n_items + 1);
        if (image) {
                r = build(cache, image, &module, err);
                if (r < 0)
                        return r;
        }
        r = intern_add(&cache->keys, key, sizeof(*key), &id);
        if (r < 0) {
                if (module)
                        cache->n_bytes -= module->n_bytes;
                unwind_module_free(module);
                return error_set(err, r, "no room for %u modules", cache->keys.n_items + 1);
        }
        cache->modules[id - 1] = module;
        *ret_module = module;
        return 0;
}
