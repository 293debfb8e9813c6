/* SPDX-License-Identifier: MIT */
#include "import/iree/import_ireeprof.h"

#include "base/error.h"
#include "import/file/import_source.h"
#include "import/iree/iree_container.h"
#include "import/iree/iree_lines.h"
#include "import/iree/iree_model.h"
#include "import/rows/import_rows.h"

#include <errno.h>

bool import_ireeprof_recognise(struct text_view head)
{
        return text_view_begins_with(head, IREE_CONTAINER_MAGIC) || iree_lines_recognise(head);
}

int import_ireeprof_read(struct import_source *source, struct import_rows *rows, struct error *err)
{
        struct iree_model *model;
        struct text_view head;
        int r = import_source_head(source, &head, err);

        if (r < 0)
                return r;
        r = iree_model_new(&model, rows, err);
        if (r < 0)
                return r;
        r = text_view_begins_with(head, IREE_CONTAINER_MAGIC) ? iree_container_read(source, model, rows, err)
                                                              : iree_lines_read(source, model, rows, err);
        if (r == 0)
                r = iree_model_end(model, err);
        iree_model_free(model);
        return r == -ENODATA ? error_prefix_once(err, r, import_source_path(source)) : r;
}
