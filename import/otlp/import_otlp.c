/* SPDX-License-Identifier: MIT */
#include "import/otlp/import_otlp.h"

#include "import/file/import_source.h"
#include "import/otlp/otlp_json.h"
#include "import/otlp/otlp_protobuf.h"
#include "import/otlp/otlp_spans.h"
#include "import/rows/import_rows.h"

#include <stddef.h>

bool import_otlp_recognise(struct text_view head)
{
        return otlp_json_recognise(head) || otlp_protobuf_recognise(head) ||
               otlp_protobuf_recognise_framed(head);
}

int import_otlp_read(struct import_source *source, struct import_rows *rows, struct error *err)
{
        struct otlp_spans spans;
        struct text_view head;
        int e = import_source_head(source, &head, err);

        if (e < 0)
                return e;
        e = import_rows_file(rows, "otlp", (struct text_view){ NULL, 0 }, err);
        if (e < 0)
                return e;
        e = otlp_spans_init(&spans, rows, err);
        if (e == 0)
                e = otlp_protobuf_recognise(head)          ? otlp_protobuf_read(source, &spans, err)
                    : otlp_protobuf_recognise_framed(head) ? otlp_protobuf_read_framed(source, &spans, err)
                                                           : otlp_json_read(source, &spans, err);
        if (e == 0)
                otlp_spans_finish(&spans);
        otlp_spans_deinit(&spans);
        return e;
}
