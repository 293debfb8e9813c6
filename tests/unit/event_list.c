/* SPDX-License-Identifier: MIT */
#include "tests/unit/event_list.h"

#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/event_decoder.h"
#include "format/event_encoder.h"
#include "format/trace_reader.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* The event outlives the body that its text lies in. */
static void keep_text(struct listed_event *listed)
{
        listed->text = NULL;
        if (!listed->event.text)
                return;
        listed->text = calloc(1, listed->event.operand[0] + 1);
        ck_assert_ptr_nonnull(listed->text);
        memcpy(listed->text, listed->event.text, listed->event.operand[0]);
        listed->event.text = listed->text;
}

static void add_body(struct event_list *list, const struct trace_dictionary *dictionary, const uint8_t *body,
                     size_t n_bytes)
{
        struct error err = ERROR_NONE;
        struct event_decoder decoder;
        struct event_run run;
        struct listed_event listed;
        int r;

        ck_assert_msg(event_decoder_init(&decoder, dictionary, body, n_bytes, &err) == 0, "%s", err.text);
        while ((r = event_decoder_next_run(&decoder, &run, &err)) == 1) {
                listed.thread = run.thread;
                while ((r = event_decoder_next(&decoder, &listed.event, &err)) == 1) {
                        ck_assert_int_eq(array_reserve(&list->events, &list->capacity, list->n_events + 1,
                                                       sizeof(*list->events)),
                                         0);
                        keep_text(&listed);
                        list->events[list->n_events++] = listed;
                }
                ck_assert_msg(r == 0, "%s", err.text);
        }
        ck_assert_msg(r == 0, "%s", err.text);
}

void event_list_take(struct event_list *list, const struct trace_dictionary *dictionary,
                     struct event_encoder *encoder)
{
        struct byte_buffer body = { .data = NULL };
        uint64_t first_ns, last_ns;
        uint32_t n_events;

        ck_assert_int_eq(event_encoder_take(encoder, &body, &first_ns, &last_ns, &n_events), 0);
        if (n_events > 0)
                add_body(list, dictionary, body.data, body.used_bytes);
        byte_buffer_deinit(&body);
}

void event_list_read(struct event_list *list, struct trace_reader *reader)
{
        struct error err = ERROR_NONE;
        struct trace_item item;
        int r;

        while ((r = trace_reader_next(reader, &item, &err)) == 1)
                if (item.header.kind == TRACE_CHUNK_EVENTS)
                        add_body(list, trace_reader_dictionary(reader), item.body, item.body_bytes);
        ck_assert_msg(r == 0, "%s", err.text);
        ck_assert_int_eq(trace_reader_ending(reader, NULL, NULL), TRACE_ENDING_WHOLE);
}

void event_list_deinit(struct event_list *list)
{
        for (size_t i = 0; i < list->n_events; i++)
                free(list->events[i].text);
        free(list->events);
        *list = (struct event_list){ .events = NULL };
}

const struct trace_event *event_list_get(const struct event_list *list, uint32_t thread, size_t n)
{
        for (size_t i = 0; i < list->n_events; i++)
                if (thread == 0 || list->events[i].thread == thread)
                        if (n-- == 0)
                                return &list->events[i].event;
        return NULL;
}
