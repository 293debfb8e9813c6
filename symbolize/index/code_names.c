/* SPDX-License-Identifier: MIT */
#include "symbolize/index/code_names.h"

#include "base/array.h"
#include "symbolize/elf/demangle.h"

#include <errno.h>
#include <stdbool.h>
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

static size_t hash_place(const char *name, const struct code_declaration *declaration)
{
        uint64_t h = (uint64_t)(uintptr_t)name * UINT64_C(0x9e3779b97f4a7c15);

        h ^= ((uint64_t)declaration->path << 32 | declaration->line) * UINT64_C(0xff51afd7ed558ccd);
        h = (h ^ declaration->instance) * UINT64_C(0xc4ceb9fe1a85ec53);
        return (size_t)(h >> 24);
}

static bool is_declared_at(const struct code_name *name, const struct code_declaration *declaration)
{
        return name->declaration.path == declaration->path && name->declaration.line == declaration->line &&
               name->declaration.instance == declaration->instance;
}

static uint32_t *find_slot(const struct code_names *names, const char *name,
                           const struct code_declaration *declaration)
{
        size_t mask = names->n_slots - 1, at = hash_place(name, declaration) & mask;

        while (names->slots[at] != 0) {
                const struct code_name *found = &names->names[names->slots[at]];

                if (found->linkage == name && is_declared_at(found, declaration))
                        break;
                at = (at + 1) & mask;
        }
        return &names->slots[at];
}

static int grow_slots(struct code_names *names)
{
        size_t n_slots = names->n_slots ? names->n_slots * 2 : SLOTS_MIN;
        uint32_t *slots = calloc(n_slots, sizeof(*slots));

        if (!slots)
                return -ENOMEM;
        free(names->slots);
        names->slots = slots;
        names->n_slots = n_slots;
        for (size_t i = 1; i < names->n_names; i++)
                *find_slot(names, names->names[i].linkage, &names->names[i].declaration) = (uint32_t)i;
        return 0;
}

int code_names_add_declared(struct code_names *names, const char *name,
                            const struct code_declaration *declaration, uint32_t *ret_id)
{
        uint32_t *slot;

        if (!name || !*name) {
                *ret_id = 0;
                return 0;
        }
        if (names->n_names * 2 >= names->n_slots && grow_slots(names) < 0)
                return -ENOMEM;
        slot = find_slot(names, name, declaration);
        if (*slot == 0) {
                if (names->n_names == 0)
                        names->n_names = 1;
                if (names->n_names >= UINT32_MAX ||
                    array_reserve(&names->names, &names->names_capacity, names->n_names + 1,
                                  sizeof(*names->names)) < 0)
                        return -ENOMEM;
                names->names[names->n_names] = (struct code_name){ .linkage = name,
                                                                   .declaration = *declaration };
                *slot = (uint32_t)names->n_names++;
        }
        *ret_id = *slot;
        return 0;
}

int code_names_add(struct code_names *names, const char *name, uint32_t *ret_id)
{
        return code_names_add_declared(names, name, &(struct code_declaration){ .path = 0 }, ret_id);
}

uint32_t code_names_count_instance(struct code_names *names, uint32_t id, uint32_t unit)
{
        struct code_name *name = &names->names[id];

        if (name->counted_in != unit)
                name->n_counted = 0;
        name->counted_in = unit;
        return name->n_counted++;
}

struct code_declaration code_names_declaration(const struct code_names *names, uint32_t id)
{
        struct code_declaration none = { .path = 0 };

        return id == 0 || id >= names->n_names ? none : names->names[id].declaration;
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
                        name->shown = demangle_symbol(name->linkage, names->mangling);
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
static int add_part(struct code_names *names, size_t *n_bytes, const char *part)
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
                        r = add_part(names, &n_bytes, comp_dir);
                if (r == 0)
                        r = add_part(names, &n_bytes, directory);
        }
        if (r == 0)
                r = add_part(names, &n_bytes, file);
        if (r == 0)
                r = intern_add(&names->paths, names->path, n_bytes + 1, ret_id);
        return r < 0 ? r : 0;
}
