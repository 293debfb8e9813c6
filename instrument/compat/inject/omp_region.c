/* SPDX-License-Identifier: MIT */
#include "instrument/compat/inject/omp_region.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 512

bool omp_region_parse(const char *domain, struct omp_region_name *ret_name)
{
        static const char mark[] = "$omp$";
        const char *what = domain ? strstr(domain, mark) : NULL;
        const char *file = what ? strchr(what, '@') : NULL;
        const char *line = file ? strchr(file, ':') : NULL;
        struct omp_region_name name;

        if (!line)
                return false;
        name.function = (struct inject_text){ .at = domain, .n_bytes = (size_t)(what - domain) };
        what += sizeof(mark) - 1;
        name.what = (struct inject_text){ .at = what, .n_bytes = strcspn(what, ":@") };
        file++;
        name.file = (struct inject_text){ .at = file, .n_bytes = (size_t)(line - file) };
        name.line = (uint32_t)strtoul(line + 1, NULL, 10);
        *ret_name = name;
        return true;
}

static size_t folder_bytes(struct inject_text path)
{
        const char *slash = memrchr(path.at, '/', path.n_bytes);

        return slash ? (size_t)(slash + 1 - path.at) : 0;
}

struct hyprof_location *omp_region_location(const char *what, const struct omp_region_name *name)
{
        size_t skip = folder_bytes(name->file);
        char text[NAME_BYTES];
        int n;

        if (name->line == 0)
                return NULL;
        n = snprintf(text, sizeof(text), "omp %s %.*s:%u", what, (int)(name->file.n_bytes - skip),
                     name->file.at + skip, name->line);
        return hyprof_location_of(text, n < NAME_BYTES ? (size_t)n : NAME_BYTES - 1, name->function.at,
                                  name->function.n_bytes, name->file.at, name->file.n_bytes, name->line, 0);
}
