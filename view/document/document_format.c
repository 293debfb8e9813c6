/* SPDX-License-Identifier: MIT */
#include "view/document/document_format.h"

#include "base/error.h"
#include "view/document/view_document.h"

#include <errno.h>

int document_print(const struct view_document *d, const struct document_options *options, FILE *out,
                   struct error *err)
{
        int r = -EINVAL;

        switch (options->format) {
        case DOCUMENT_TEXT:
                r = document_print_text(d, options, out);
                break;
        case DOCUMENT_MARKDOWN:
                r = document_print_markdown(d, out);
                break;
        case DOCUMENT_JSON:
                r = document_print_json(d, out);
                break;
        case DOCUMENT_CSV:
                return document_print_csv(d, options, out, err);
        }
        if (r == -ENOMEM)
                return error_set(err, r, "out of memory");
        return r;
}
