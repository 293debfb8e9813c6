/* SPDX-License-Identifier: MIT */
#include "export/tables/flows_table.h"

#include "analyze/stats/flow_links.h"
#include "analyze/walk/loaded_trace.h"
#include "base/text_view.h"
#include "export/tables/sqlite_writer.h"
#include "format/trace_dictionary.h"
#include "format/trace_spec.h"

#include <string.h>

struct writing {
        const struct loaded_trace *trace;
        struct sqlite_insert insert;
};

static void put_point(struct writing *w, const struct flow_links *links, const struct flow_point *point)
{
        sqlite_insert_signed(&w->insert, (int64_t)(point->time_ns - w->trace->start_ns));
        sqlite_insert_number(&w->insert, point->thread);
        sqlite_insert_id(&w->insert, flow_links_zone(links, point));
}

static int take_link(void *context, const struct flow_links *links, const struct flow_link *link,
                     struct error *err)
{
        struct writing *w = context;
        const char *kind = link->to.phase == TRACE_FLOW_END ? "end" : "step";

        (void)err;
        sqlite_insert_number(&w->insert, link->number);
        sqlite_insert_string(&w->insert, trace_dictionary_text(w->trace->dictionary, link->begin.space));
        sqlite_insert_number(&w->insert, link->begin.id);
        sqlite_insert_string(&w->insert, (struct text_view){ .bytes = kind, .n_bytes = strlen(kind) });
        put_point(w, links, &link->from);
        put_point(w, links, &link->to);
        sqlite_insert_number(&w->insert, link->to.time_ns - link->begin.time_ns);
        sqlite_insert_end_row(&w->insert);
        return 0;
}

int flows_table_write(struct sqlite_writer *writer, struct loaded_trace *trace,
                      const struct trace_filter *filter, struct error *err)
{
        struct writing writing = { .trace = trace };
        struct flow_links links;
        int r;

        sqlite_insert_open(&writing.insert, writer, "flows", 11);
        r = flow_links_take(&links, trace, filter, take_link, &writing, err);
        sqlite_insert_close(&writing.insert);
        flow_links_deinit(&links);
        return r;
}
