/* SPDX-License-Identifier: MIT */
#include "symbolize/listing/module_listing.h"

#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "symbolize/images/image_finder.h"
#include "symbolize/images/image_spool.h"
#include "symbolize/images/module_images.h"
#include "symbolize/listing/listing_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* NULL without memory. */
static char *copy_path(const struct module_listing *m)
{
        const struct trace_module *row = trace_dictionary_row(m->dictionary, TRACE_TABLE_MODULES, m->module);
        struct text_view path = trace_dictionary_text(m->dictionary, row->path);

        return path.n_bytes != 0 ? strndup(path.bytes, path.n_bytes) : strdup("");
}

int module_listing_run(const struct module_listing *m, const struct listing_request *common,
                       listing_process_task *task, struct code_listing *ret_listing, bool *ret_is_kept,
                       struct error *err)
{
        struct spooled_image image = { .bytes = NULL };
        const struct trace_module_image *kept;
        struct module_images images;
        struct image_finder finder = { .dictionary = m->dictionary,
                                       .images = &images,
                                       .search = common->search };
        struct listing_request request = *common;
        char *path = copy_path(m);
        int r = path ? module_images_init(&images, m->dictionary, err) : -ENOMEM;

        if (r < 0) {
                free(path);
                return error_set(err, -ENOMEM, "no memory for the code");
        }
        kept = module_images_find(&images, m->dictionary, m->module);
        *ret_is_kept = m->spool && kept && kept->attachment != 0 &&
                       image_spool_map(m->spool, m->dictionary, kept->attachment, &image, NULL) == 1;
        if (*ret_is_kept) {
                request.image = image.bytes;
                request.image_bytes = image.n_bytes;
        }
        request.path = path;
        request.finder = &finder;
        request.module = m->module;
        r = listing_process_run_task(&request, task, ret_listing, err);
        if (*ret_is_kept)
                image_spool_unmap(&image);
        module_images_deinit(&images);
        free(path);
        return r;
}
