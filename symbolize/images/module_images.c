/* SPDX-License-Identifier: MIT */
#include "symbolize/images/module_images.h"

#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <stdlib.h>

int module_images_init(struct module_images *m, const struct trace_dictionary *dictionary, struct error *err)
{
        uint32_t n_modules = trace_dictionary_count(dictionary, TRACE_TABLE_MODULES);
        uint32_t n_rows = trace_dictionary_count(dictionary, TRACE_TABLE_MODULE_IMAGES);

        *m = (struct module_images){ .rows = NULL };
        if (n_rows == 0)
                return 0;
        m->rows = calloc((size_t)n_modules + 1, sizeof(*m->rows));
        if (!m->rows)
                return error_set(err, -ENOMEM, "no memory for %u modules", n_modules);
        m->n_modules = n_modules;
        for (uint32_t i = 1; i <= n_rows; i++) {
                const struct trace_module_image *row = trace_dictionary_row(dictionary,
                                                                            TRACE_TABLE_MODULE_IMAGES, i);

                m->rows[row->module] = i;
        }
        return 0;
}

void module_images_deinit(struct module_images *m)
{
        free(m->rows);
        *m = (struct module_images){ .rows = NULL };
}

const struct trace_module_image *module_images_find(const struct module_images *m,
                                                    const struct trace_dictionary *dictionary,
                                                    uint32_t module)
{
        if (module > m->n_modules || m->rows[module] == 0)
                return NULL;
        return trace_dictionary_row(dictionary, TRACE_TABLE_MODULE_IMAGES, m->rows[module]);
}
