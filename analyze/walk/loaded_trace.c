/* SPDX-License-Identifier: MIT */
#include "analyze/walk/loaded_trace.h"

#include "analyze/trace/function_labels.h"
#include "analyze/trace/meta_value.h"
#include "format/event_decoder.h"
#include "format/trace_column.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FORMER_NAMES_MAX (1U << 20)

static bool may_have_names(const struct trace_chunk_header *header)
{
        return header->kind == TRACE_CHUNK_EVENTS && !(header->flags & TRACE_CHUNK_NO_NAMES);
}

/* Whether a chunk names any thread: few chunks do, and only these are decoded. */
static bool has_names(const struct trace_item *item)
{
        struct byte_reader in = byte_reader_of(item->body, item->body_bytes);
        uint64_t n_runs = bytes_varint(&in);
        struct trace_column_entry entry;
        struct trace_column_list list;

        for (uint64_t i = 0; i < 3 * n_runs && !in.short_read; i++)
                (void)bytes_varint(&in);
        if (in.short_read || trace_column_list_init(&list, in, NULL) < 0)
                return false;
        while (trace_column_list_next(&list, &entry, NULL) == 1)
                if (entry.column == (uint64_t)TRACE_OP_THREAD_NAME * TRACE_COLUMNS_PER_OP)
                        return true;
        return false;
}

static int name_process(struct loaded_trace *t, uint32_t process, uint32_t name)
{
        struct process_name item = { .process = process, .name = name };
        uint32_t id;
        int r = intern_add(&t->process_names, &item, sizeof(item), &id);

        return r < 0 ? r : 0;
}

/* Notes the name that a thread is about to lose; beyond the limit, such names are forgotten. */
static int note_former(struct loaded_trace *t, uint32_t thread)
{
        struct former_name item = { .thread = thread, .name = t->thread_names[thread - 1] };
        uint32_t id;
        int r = item.name != 0 ? intern_add(&t->former_names, &item, sizeof(item), &id) : 0;

        return r == -ENOMEM ? r : 0;
}

static int take_name(void *context, uint32_t thread, uint32_t name)
{
        struct loaded_trace *t = context;
        const struct trace_thread *row = trace_dictionary_row(t->dictionary, TRACE_TABLE_THREADS, thread);
        const struct trace_process *process = trace_dictionary_row(t->dictionary, TRACE_TABLE_PROCESSES,
                                                                   row->process);
        int r;

        r = t->thread_names[thread - 1] != name ? note_former(t, thread) : 0;
        t->thread_names[thread - 1] = name;
        if (r < 0)
                return r;
        return row->tid == process->pid ? name_process(t, row->process, name) : 0;
}

/* A chunk that cannot be decoded is not a failure here: the walk ends there and reports it. */
static int read_names(const struct loaded_trace *t, const struct trace_item *item, loaded_trace_name *take,
                      void *context)
{
        struct event_decoder decoder;
        struct trace_event event;
        struct event_run run;
        int r = 0;

        if (!has_names(item) ||
            event_decoder_init(&decoder, t->dictionary, item->body, item->body_bytes, NULL) < 0)
                return 0;
        while (r >= 0 && event_decoder_next_run(&decoder, &run, NULL) == 1)
                while (r >= 0 && event_decoder_next(&decoder, &event, NULL) == 1)
                        if (event.op == TRACE_OP_THREAD_NAME)
                                r = take(context, run.thread, (uint32_t)event.thread_name.name);
        return r;
}

int loaded_trace_each_name(struct loaded_trace *t, uint64_t until_bytes, loaded_trace_name *take,
                           void *context, struct error *err)
{
        struct trace_item item;
        int r = trace_reader_rewind(t->reader, err);

        if (r < 0)
                return r;
        while ((r = trace_reader_next_wanted(t->reader, may_have_names, &item, err)) == 1 &&
               item.file_offset_bytes < until_bytes)
                if (read_names(t, &item, take, context) < 0)
                        return error_set(err, -ENOMEM, "the names of threads: out of memory");
        return r < 0 ? r : 0;
}

/* A thread without a name gets the name of the first thread of its process that has one. */
static int complete_names(struct loaded_trace *t)
{
        uint32_t n_processes = trace_dictionary_count(t->dictionary, TRACE_TABLE_PROCESSES);
        uint32_t *names = calloc((size_t)n_processes + 1, sizeof(*names));
        int r = 0;

        if (!names)
                return -ENOMEM;
        for (uint32_t i = 0; i < t->n_threads; i++) {
                const struct trace_thread *row = trace_dictionary_row(t->dictionary, TRACE_TABLE_THREADS,
                                                                      i + 1);

                if (names[row->process] == 0)
                        names[row->process] = t->thread_names[i];
                if (t->thread_names[i] == 0)
                        t->thread_names[i] = names[row->process];
        }
        for (uint32_t i = 1; i <= n_processes && r == 0; i++)
                if (names[i] != 0)
                        r = name_process(t, i, names[i]);
        free(names);
        return r;
}

int loaded_trace_read_names(struct loaded_trace *t, struct error *err)
{
        int r;

        if (t->has_names)
                return 0;
        r = loaded_trace_each_name(t, UINT64_MAX, take_name, t, err);
        if (r < 0)
                return r;
        if (complete_names(t) < 0)
                return error_set(err, -ENOMEM, "the names of threads: out of memory");
        t->has_names = true;
        return trace_reader_rewind(t->reader, err);
}

static void find_range(struct loaded_trace *t, uint64_t first_ns, uint64_t last_ns)
{
        t->start_ns = loaded_trace_meta_number(t, "start_raw_ns");
        t->end_ns = loaded_trace_meta_number(t, "end_raw_ns");
        if (t->start_ns == 0 || (first_ns != 0 && first_ns < t->start_ns))
                t->start_ns = first_ns;
        if (t->end_ns < last_ns)
                t->end_ns = last_ns;
        if (t->end_ns < t->start_ns)
                t->end_ns = t->start_ns;
}

int loaded_trace_open_plain(struct loaded_trace *ret, const char *path, struct error *err)
{
        uint64_t first_ns, last_ns;
        int r;

        *ret = (struct loaded_trace){ .ending_words = "" };
        intern_init(&ret->process_names, sizeof(struct process_name), 0);
        intern_init(&ret->former_names, sizeof(struct former_name), FORMER_NAMES_MAX);
        r = trace_reader_open(path, &ret->reader, err);
        if (r < 0)
                return r;
        ret->dictionary = trace_reader_dictionary(ret->reader);
        ret->version = trace_reader_version(ret->reader);
        r = trace_reader_read_tables(ret->reader, &first_ns, &last_ns, err);
        if (r < 0)
                return r;
        ret->n_threads = trace_dictionary_count(ret->dictionary, TRACE_TABLE_THREADS);
        ret->thread_names = calloc((size_t)ret->n_threads + 1, sizeof(*ret->thread_names));
        if (!ret->thread_names)
                return error_set(err, -ENOMEM, "%s: out of memory", path);
        find_range(ret, first_ns, last_ns);
        return 0;
}

int loaded_trace_open(struct loaded_trace *ret, const char *path, struct error *err)
{
        int r = loaded_trace_open_plain(ret, path, err);

        if (r < 0)
                return r;
        r = function_labels_settle(trace_reader_edit(ret->reader));
        return r == -ENOMEM ? error_set(err, r, "%s: out of memory", path) : 0;
}

void loaded_trace_close(struct loaded_trace *t)
{
        if (t->reader)
                trace_reader_close(t->reader);
        free(t->thread_names);
        intern_deinit(&t->process_names);
        intern_deinit(&t->former_names);
        *t = (struct loaded_trace){ .reader = NULL };
}

struct text_view loaded_trace_meta(const struct loaded_trace *t, const char *key)
{
        return meta_value_find(t->dictionary, key);
}

uint64_t loaded_trace_meta_number(const struct loaded_trace *t, const char *key)
{
        return meta_value_number(t->dictionary, key);
}

struct text_view loaded_trace_thread_name(const struct loaded_trace *t, uint32_t thread)
{
        return trace_dictionary_text(t->dictionary, t->thread_names[thread - 1]);
}

uint32_t loaded_trace_thread_pid(const struct loaded_trace *t, uint32_t thread)
{
        const struct trace_thread *row = trace_dictionary_row(t->dictionary, TRACE_TABLE_THREADS, thread);
        const struct trace_process *process = trace_dictionary_row(t->dictionary, TRACE_TABLE_PROCESSES,
                                                                   row->process);

        return process->pid;
}
