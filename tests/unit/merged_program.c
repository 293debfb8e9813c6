/* SPDX-License-Identifier: MIT */
#include "tests/unit/merged_program.h"

#include "base/clock.h"
#include "instrument/client_abi.h"

#include <check.h>
#include <string.h>

static int flush_if_full(void *context)
{
        struct merged_program *f = context;

        f->n_flush_asked++;
        if (f->on_flush)
                f->on_flush(f);
        return 0;
}

void merged_program_cycle(struct merged_program *f, uint64_t until_ns, bool final)
{
        ck_assert_int_eq(zone_source_begin_cycle(&f->zones), 0);
        ck_assert_int_eq(zone_merge_run(&f->merge, until_ns, final), 0);
        zone_source_end_cycle(&f->zones);
}

void merged_program_set_up_as(struct merged_program *f, uint32_t pid)
{
        struct trace_sample_event sampled = { .rate = 1 };
        uint32_t id;

        memset(f, 0, sizeof(*f));
        f->recording = (struct recording){ .dictionary = &f->dictionary,
                                           .stop_fd = -1,
                                           .pace = &f->pace,
                                           .losses = &f->losses,
                                           .processes = &f->processes,
                                           .sink = &f->sink,
                                           .stacks = &f->stacks,
                                           .zones = &f->zones };
        recorder_pace_init(&f->pace, 0);
        trace_dictionary_init(&f->dictionary, 0);
        ck_assert_int_eq(trace_dictionary_add(&f->dictionary, TRACE_TABLE_SAMPLE_EVENTS, &sampled, &id), 0);
        f->stacks.dictionary = &f->dictionary;
        event_encoder_init(&f->encoder);
        f->sink = (struct thread_sink){ .encoder = &f->encoder,
                                        .dictionary = &f->dictionary,
                                        .losses = &f->losses };
        process_table_init(&f->processes, &f->dictionary);
        zone_source_init(&f->zones, &f->recording, CLIENT_ABI_FAMILIES, 0);
        zone_merge_init(&f->merge, &f->recording, flush_if_full, f);
        f->start_ns = clock_raw_ns() - NS_PER_S / 2;
        for (uint32_t i = 0; i < MERGED_PROGRAM_THREADS; i++)
                ck_assert_int_eq(process_table_add_thread(&f->processes, pid,
                                                          i == 0 ? pid : MERGED_PROGRAM_PID + i, 0,
                                                          f->start_ns, &f->threads[i]),
                                 0);
        fake_program_start(&f->program, pid);
        ck_assert_int_eq(zone_source_receive(&f->zones, pid, fake_program_fd(&f->program)), 0);
        for (uint32_t i = 0; i < MERGED_PROGRAM_THREADS; i++)
                fake_program_thread(&f->program, i, f->start_ns, f->threads[i]->tid);
        merged_program_cycle(f, f->start_ns, false);
        ck_assert_uint_eq(f->zones.n_regions, 1);
        ck_assert_uint_eq(f->zones.n_attached, 0);
}

void merged_program_set_up(struct merged_program *f)
{
        merged_program_set_up_as(f, MERGED_PROGRAM_PID);
}

void merged_program_read_back(struct merged_program *f)
{
        thread_sink_switch(&f->sink, NULL);
        event_list_take(&f->list, &f->dictionary, &f->encoder);
}

void merged_program_finish(struct merged_program *f)
{
        merged_program_cycle(f, UINT64_MAX, true);
        merged_program_read_back(f);
}

void merged_program_tear_down(struct merged_program *f)
{
        event_list_deinit(&f->list);
        zone_merge_deinit(&f->merge);
        stack_builder_deinit(&f->stacks);
        zone_source_deinit(&f->zones);
        process_table_deinit(&f->processes);
        event_encoder_deinit(&f->encoder);
        trace_dictionary_deinit(&f->dictionary);
        fake_program_end(&f->program);
}

const struct trace_event *merged_program_get(const struct merged_program *f, uint32_t thread, size_t n,
                                             enum trace_op op)
{
        const struct trace_event *event = event_list_get(&f->list, thread, n);

        ck_assert_msg(event != NULL, "there is no event %zu", n);
        ck_assert_msg(event->op == op, "event %zu has op %u, not %u", n, (unsigned)event->op, (unsigned)op);
        return event;
}

void merged_program_expect_no_more(const struct merged_program *f, uint32_t thread, size_t n)
{
        ck_assert_ptr_null(event_list_get(&f->list, thread, n));
}

const void *merged_program_row(const struct merged_program *f, enum trace_table table, uint64_t id)
{
        ck_assert_uint_ge(id, 1);
        ck_assert_uint_le(id, trace_dictionary_count(&f->dictionary, table));
        return trace_dictionary_row(&f->dictionary, table, (uint32_t)id);
}

void merged_program_expect_string(const struct merged_program *f, uint64_t id, const char *text)
{
        size_t n_bytes;
        const char *bytes = trace_dictionary_string(&f->dictionary, (uint32_t)id, &n_bytes);

        ck_assert_uint_eq(n_bytes, strlen(text));
        ck_assert_mem_eq(bytes, text, n_bytes);
}

/* The string of a location. */
void merged_program_expect_name(const struct merged_program *f, uint64_t location, const char *name)
{
        const struct trace_location *l = merged_program_row(f, TRACE_TABLE_LOCATIONS, location);

        merged_program_expect_string(f, l->name, name);
}

/* Nothing was lost or put right. */
void merged_program_expect_no_loss(const struct merged_program *f)
{
        for (uint32_t reason = 0; reason < TRACE_LOSS_COUNT; reason++)
                ck_assert_msg(f->losses.totals[reason] == 0, "reason %u", reason);
}

uint32_t merged_program_thread_row(const struct merged_program *f, uint32_t i)
{
        return f->threads[i]->thread;
}

/* An event with words in slot 0. */
void merged_program_put(struct merged_program *f, uint64_t at_ns, enum client_abi_event kind,
                        uint32_t argument, uint64_t word_0, uint64_t word_1)
{
        uint32_t n_words = kind >= CLIENT_ABI_EVENT_NEW_TWO_WORDS ? 2 : kind >= CLIENT_ABI_EVENT_NEW_WORD;

        if (kind == CLIENT_ABI_EVENT_PLOT_I64 || kind == CLIENT_ABI_EVENT_PLOT_F64)
                n_words = 1;
        fake_program_put(&f->program, 0,
                         &(struct fake_event){ .time_ns = f->start_ns + at_ns,
                                               .kind = kind,
                                               .argument = argument,
                                               .words = { word_0, word_1 },
                                               .n_words = n_words });
}

/* One with a text after its words. */
void merged_program_put_text(struct merged_program *f, uint64_t at_ns, enum client_abi_event kind,
                             uint64_t word_0, const char *text)
{
        bool has_word = kind == CLIENT_ABI_EVENT_MESSAGE || kind == CLIENT_ABI_EVENT_PROGRAM_INFO ||
                        kind == CLIENT_ABI_EVENT_SOURCE_TEXT || kind == CLIENT_ABI_EVENT_LOCK_NAME;

        fake_program_put(&f->program, 0,
                         &(struct fake_event){ .time_ns = f->start_ns + at_ns,
                                               .kind = kind,
                                               .words = { word_0 },
                                               .n_words = has_word,
                                               .text = text,
                                               .text_bytes = strlen(text) });
}
