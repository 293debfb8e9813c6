/* SPDX-License-Identifier: MIT */
#include "unwind/unwind_cache.h"

#include "base/array.h"
#include "base/error.h"
#include "unwind/unwind_module.h"

#include <assert.h>
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

uint32_t unwind_cache_find(const struct unwind_cache *cache, const struct unwind_cache_key *key)
{
        return intern_find(&cache->keys, key, sizeof(*key));
}

int unwind_cache_add(struct unwind_cache *cache, const struct unwind_cache_key *key, uint32_t *ret_id,
                     struct error *err)
{
        int r = array_reserve(&cache->modules, &cache->modules_capacity, (size_t)cache->keys.n_items + 1,
                              sizeof(struct unwind_module *));

        if (r == 0)
                r = intern_add(&cache->keys, key, sizeof(*key), ret_id);
        if (r < 0)
                return error_set(err, r, "no room for %u modules", cache->keys.n_items + 1);
        if (r == 1)
                cache->modules[*ret_id - 1] = NULL;
        return r;
}

int unwind_cache_put(struct unwind_cache *cache, uint32_t id, struct unwind_module *module)
{
        assert(id > 0 && id <= cache->keys.n_items && !cache->modules[id - 1]);
        if (module->n_bytes > cache->n_bytes_max - cache->n_bytes) {
                cache->n_too_large++;
                unwind_module_free(module);
                return -EOVERFLOW;
        }
        cache->n_bytes += module->n_bytes;
        cache->modules[id - 1] = module;
        return 0;
}

const struct unwind_module *unwind_cache_get(const struct unwind_cache *cache, uint32_t id)
{
        return id > 0 && id <= cache->keys.n_items ? cache->modules[id - 1] : NULL;
}
