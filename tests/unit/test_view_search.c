/* SPDX-License-Identifier: MIT */
/*
 * web/model/view_search.c: a number of hits is exact, or says that it is the least, where the index has no
 * room for all
 */
#include "analyze/walk/loaded_trace.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_event.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"
#include "timeline/timeline_builder.h"
#include "timeline/timeline_index.h"
#include "web/model/view_content.h"
#include "web/request/web_request.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Two of "alpha", one inside the other, and one of "beta". */
static void make_trace(struct trace_builder *b)
{
        trace_builder_init(b);
        (void)trace_builder_thread(b, 1, 1);
        (void)trace_builder_location(b, "alpha");
        (void)trace_builder_location(b, "beta");
        trace_builder_begin_run(b, 1);
        trace_builder_begin_zone(b, 1000, 1);
        trace_builder_begin_zone(b, 1010, 1);
        trace_builder_event(b, 1020, TRACE_OP_ZONE_END);
        trace_builder_event(b, 1030, TRACE_OP_ZONE_END);
        trace_builder_begin_zone(b, 1040, 2);
        trace_builder_event(b, 1050, TRACE_OP_ZONE_END);
        trace_builder_end_run(b);
        trace_builder_finish(b);
}

static void check_reply(struct view_content *c, const char *expected, const char *unexpected)
{
        static struct web_request request = {
                .kind = WEB_REQUEST_SEARCH, .what = UINT32_MAX, .wants_counts = true, .text = "LPH"
        };
        struct byte_buffer reply = { .data = NULL };

        ck_assert_int_eq(view_search_put(c, &request, &reply, NULL), 0);
        byte_buffer_add_u8(&reply, 0);
        ck_assert(!reply.failed);
        ck_assert_ptr_nonnull(strstr((const char *)reply.data, "\"n_hits\":2,"));
        ck_assert_msg(strstr((const char *)reply.data, expected) != NULL, "%s", (const char *)reply.data);
        ck_assert_msg(strstr((const char *)reply.data, unexpected) == NULL, "%s", (const char *)reply.data);
        byte_buffer_deinit(&reply);
}

START_TEST(a_number_says_whether_it_is_the_least)
{
        static const char exact[] = "\"is_least\":false", least[] = "\"is_least\":true";
        struct trace_builder b;
        struct loaded_trace trace;
        struct view_content c;
        struct timeline_index t;
        struct error err = ERROR_NONE;

        make_trace(&b);
        ck_assert_int_eq(loaded_trace_open(&trace, b.path, &err), 0);
        ck_assert_int_eq(loaded_trace_read_names(&trace, &err), 0);
        view_content_init(&c);
        ck_assert_int_eq(view_content_set_trace(&c, &trace, &err), 0);
        ck_assert_int_eq(
                timeline_index_init(&t, io_open_unnamed(NULL), trace.start_ns, trace.end_ns - trace.start_ns),
                0);
        ck_assert_int_eq(timeline_builder_build(&t, &trace, NULL, &err), 0);
        c.index = &t;
        c.is_whole = true;
        check_reply(&c, exact, least);
        t.n_left_out = 1;
        check_reply(&c, least, exact);
        t.n_left_out = 0;
        t.n_texts_left_out = 1;
        check_reply(&c, least, exact);
        timeline_index_deinit(&t);
        view_content_deinit(&c);
        loaded_trace_close(&trace);
        trace_builder_deinit(&b);
}
END_TEST
