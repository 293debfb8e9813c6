/* SPDX-License-Identifier: MIT */
#include "symbolize/process/symbol_findings.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int symbol_findings_init(struct symbol_findings *f, uint32_t n_modules, struct error *err)
{
        *f = (struct symbol_findings){ .n_modules = n_modules };
        f->items = calloc((size_t)n_modules + 1, sizeof(*f->items));
        f->paths = calloc((size_t)n_modules + 1, sizeof(*f->paths));
        if (f->items && f->paths)
                return 0;
        symbol_findings_deinit(f);
        return error_set(err, -ENOMEM, "no memory for %u modules", n_modules);
}

void symbol_findings_deinit(struct symbol_findings *f)
{
        for (uint32_t i = 0; f->paths && i <= f->n_modules; i++)
                free(f->paths[i]);
        free(f->paths);
        free(f->items);
        *f = (struct symbol_findings){ .items = NULL };
}

int symbol_findings_set(struct symbol_findings *f, const struct module_finding *finding, const char *path,
                        size_t path_bytes)
{
        char *copy = NULL;

        if (finding->module > f->n_modules)
                return 0;
        if (path) {
                copy = strndup(path, path_bytes);
                if (!copy)
                        return -ENOMEM;
        }
        free(f->paths[finding->module]);
        f->paths[finding->module] = copy;
        f->items[finding->module] = *finding;
        f->items[finding->module].path = copy;
        return 0;
}
