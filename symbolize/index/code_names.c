/* SPDX-License-Identifier: MIT */
#include "symbolize/index/code_names.h"

#include "base/array.h"
#include "symbolize/elf/demangle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_MIN     1024
#define PATH_PART_MAX 65535 /* bytes */

void code_names_init(struct code_names *names)
{
        *names = (struct code_names){ .names = NULL };
        intern_init(&names->paths, 0, 0);
}

static void free_shown(struct code_name *name)
{
        union {
                const char *borrowed;
                char *owned;
        } shown = { .borrowed = name->shown };

        if (shown.borrowed != name->linkage)
                free(shown.owned);
}

void code_names_deinit(struct code_names *names)
{
        for (size_t i = 1; i < names->n_names; i++)
                free_shown(&names->names[i]);
        free(names->names);
        free(names->slots);
        free(names->path);
        intern_deinit(&names->paths);
        *names = (struct code_names){ .names = NULL };
}

static size_t hash_place(const char *name)
{
        uint64_t h = (uint64_t)(uintptr_t)name * UINT64_C(0x9e3779b97f4a7c15);

        return (size_t)(h >> 24);
}

static uint32_t *code_names_find_slot(const struct code_names *names, const char *name)
{
        size_t mask = names->n_slots - 1, at = hash_place(name) & mask;

        while (names->slots[at] != 0 && names->names[names->slots[at]].linkage != name)
                at = (at + 1) & mask;
        return &names->slots[at];
}

static int code_names_grow_slots(struct code_names *names)
{
        size_t n_slots = names->n_slots ? names->n_slots * 2 : SLOTS_MIN;
        uint32_t *slots = calloc(n_slots, sizeof(*slots));

        if (!slots)
                return -ENOMEM;
        free(names->slots);
        names->slots = slots;
        names->n_slots = n_slots;
        for (size_t i = 1; i < names->n_names; i++)
                *code_names_find_slot(names, names->names[i].linkage) = (uint32_t)i;
        return 0;
}

int code_names_add(struct code_names *names, const char *name, uint32_t *ret_id)
{
        uint32_t *slot;

        if (!name || !*name) {
                *ret_id = 0;
                return 0;
        }
        if (names->n_names * 2 >= names->n_slots && code_names_grow_slots(names) < 0)
                return -ENOMEM;
        slot = code_names_find_slot(names, name);
        if (*slot == 0) {
                if (names->n_names == 0)
                        names->n_names = 1;
                if (names->n_names >= UINT32_MAX ||
                    array_reserve(&names->names, &names->names_capacity, names->n_names + 1,
                                  sizeof(*names->names)) < 0)
                        return -ENOMEM;
                names->names[names->n_names] = (struct code_name){ .linkage = name };
                *slot = (uint32_t)names->n_names++;
        }
        *ret_id = *slot;
        return 0;
}

const char *code_names_linkage(const struct code_names *names, uint32_t id)
{
        return id == 0 || id >= names->n_names ? NULL : names->names[id].linkage;
}

const char *code_names_show(struct code_names *names, uint32_t id)
{
        struct code_name *name;

        if (id == 0 || id >= names->n_names)
                return NULL;
        name = &names->names[id];
        if (!name->shown) {
                if (names->shown_bytes < CODE_NAMES_SHOWN_MAX)
                        name->shown = demangle_symbol(name->linkage);
                if (name->shown)
                        names->shown_bytes += strlen(name->shown) + 1;
                else
                        name->shown = name->linkage;
        }
        return name->shown;
}

const char *code_names_path(const struct code_names *names, uint32_t id)
{
        return id == 0 || id > names->paths.n_items ? NULL : intern_get(&names->paths, id, NULL);
}

/* Appends @part and, before it, a slash if there is something already. */
static int code_names_add_part(struct code_names *names, size_t *n_bytes, const char *part)
{
        size_t part_bytes = part ? strnlen(part, PATH_PART_MAX + 1) : 0;

        if (part_bytes == 0)
                return 0;
        if (part_bytes > PATH_PART_MAX)
                return -EOVERFLOW;
        if (array_reserve(&names->path, &names->path_capacity, *n_bytes + part_bytes + 2, 1) < 0)
                return -ENOMEM;
        if (*n_bytes > 0 && names->path[*n_bytes - 1] != '/')
                names->path[(*n_bytes)++] = '/';
        memcpy(names->path + *n_bytes, part, part_bytes);
        *n_bytes += part_bytes;
        names->path[*n_bytes] = '\0';
        return 0;
}

int code_names_add_path(struct code_names *names, const char *file, const char *directory,
                        const char *comp_dir, uint32_t *ret_id)
{
        size_t n_bytes = 0;
        int r = 0;

        if (!file || !*file) {
                *ret_id = 0;
                return 0;
        }
        if (*file != '/') {
                /* Directory 0 is often that of the unit itself. */
                if (!directory || (*directory != '/' && directory != comp_dir))
                        r = code_names_add_part(names, &n_bytes, comp_dir);
                if (r == 0)
                        r = code_names_add_part(names, &n_bytes, directory);
        }
        if (r == 0)
                r = code_names_add_part(names, &n_bytes, file);
        if (r == 0)
                r = intern_add(&names->paths, names->path, n_bytes + 1, ret_id);
        return r < 0 ? r : 0;
}
