/* SPDX-License-Identifier: MIT */
#include "merge/trace_merge.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/attachment_chunk.h"
#include "format/trace_reader.h"
#include "format/trace_version.h"
#include "format/trace_writer.h"
#include "merge/merge_input.h"
#include "merge/merge_steps.h"
#include "merge/merge_tables.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- opening ------------------------------------------------------------------------------------------- */

static int refuse_same_file(const char *const *paths, size_t i, struct error *err)
{
        struct stat status, before;

        if (stat(paths[i], &status) < 0)
                return 0; /* opening it says why */
        for (size_t j = 0; j < i; j++)
                if (stat(paths[j], &before) == 0 && before.st_dev == status.st_dev &&
                    before.st_ino == status.st_ino && S_ISREG(status.st_mode))
                        return error_set(err, -EEXIST, "%s and %s are the same file", paths[j], paths[i]);
        return 0;
}

/* Recordings of one boot are told apart by the time of the recorder's own clock when each began. */
static bool is_same_recording(const struct merge_part *a, const struct merge_part *b)
{
        return a->start_ns != 0 && a->boot_id.n_bytes != 0 && a->boot_id.n_bytes == b->boot_id.n_bytes &&
               memcmp(a->boot_id.bytes, b->boot_id.bytes, a->boot_id.n_bytes) == 0 &&
               a->start_ns - (uint64_t)a->offset_ns == b->start_ns - (uint64_t)b->offset_ns;
}

static int refuse_same_recording(const struct trace_merge *m, const struct merge_input *in, struct error *err)
{
        for (const struct merge_input *other = m->inputs; other < in; other++)
                for (uint32_t i = 0; i < other->n_parts; i++)
                        for (uint32_t j = 0; j < in->n_parts; j++)
                                if (is_same_recording(&other->parts[i], &in->parts[j]))
                                        return error_set(err, -EEXIST, "%s and %s hold the same recording",
                                                         other->path, in->path);
        return 0;
}

static int open_all(struct trace_merge *m, const char *const *paths, size_t n_paths, struct error *err)
{
        uint64_t n_parts = 0;

        m->inputs = calloc(n_paths, sizeof(*m->inputs));
        m->damages = calloc(n_paths, sizeof(*m->damages));
        if (!m->inputs || !m->damages)
                return error_set(err, -ENOMEM, "no memory for %zu traces", n_paths);
        for (size_t i = 0; i < n_paths; i++) {
                struct merge_input *in = &m->inputs[m->n_inputs];
                int r = refuse_same_file(paths, i, err);

                if (r < 0)
                        return r;
                m->n_inputs++;
                r = merge_input_open(in, paths[i], err);
                if (r < 0)
                        return r;
                n_parts += in->n_parts;
                if (n_parts > TRACE_MERGE_RECORDINGS_MAX)
                        return error_set(err, -EOVERFLOW, "%s: more than %d recordings", in->path,
                                         TRACE_MERGE_RECORDINGS_MAX);
                r = refuse_same_recording(m, in, err);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* ---- labels -------------------------------------------------------------------------------------------- */

static bool is_label_used(const struct trace_merge *m, const struct merge_part *part)
{
        for (size_t i = 0; i < m->n_inputs; i++)
                for (uint32_t j = 0; j < m->inputs[i].n_parts; j++) {
                        const struct merge_part *other = &m->inputs[i].parts[j];

                        if (other != part && strcmp(other->label, part->label) == 0)
                                return true;
                }
        return false;
}

static bool has_host_alone(const struct trace_merge *m, const struct merge_part *part)
{
        if (part->hostname.n_bytes == 0)
                return false;
        for (size_t i = 0; i < m->n_inputs; i++)
                for (uint32_t j = 0; j < m->inputs[i].n_parts; j++) {
                        const struct merge_part *other = &m->inputs[i].parts[j];

                        if (other != part && other->hostname.n_bytes == part->hostname.n_bytes &&
                            memcmp(other->hostname.bytes, part->hostname.bytes, part->hostname.n_bytes) == 0)
                                return false;
                }
        return true;
}

/* Names a part after its host if the host has one recording, else after the host and the trace. */
static void name_part(const struct trace_merge *m, struct merge_part *part)
{
        char name[MERGE_LABEL_BYTES - 16];
        int n_host = part->hostname.n_bytes < 64 ? (int)part->hostname.n_bytes : 64;
        int n_trace = part->trace.n_bytes < 64 ? (int)part->trace.n_bytes : 64;

        if (has_host_alone(m, part))
                (void)snprintf(name, sizeof(name), "%.*s", n_host, part->hostname.bytes);
        else
                (void)snprintf(name, sizeof(name), "%.*s:%.*s", n_host, n_host ? part->hostname.bytes : "",
                               n_trace, part->trace.bytes);
        (void)snprintf(part->label, sizeof(part->label), "%s", name);
        for (unsigned n = 2; is_label_used(m, part); n++)
                (void)snprintf(part->label, sizeof(part->label), "%s#%u", name, n);
}

static void name_parts(struct trace_merge *m)
{
        for (size_t i = 0; i < m->n_inputs; i++)
                if (m->inputs[i].n_parts == 1)
                        name_part(m, &m->inputs[i].parts[0]);
}

/* ---- attachments --------------------------------------------------------------------------------------- */

static bool is_attachment(const struct trace_chunk_header *header)
{
        return header->kind == TRACE_CHUNK_ATTACHMENT;
}

static int put_part(struct trace_writer *writer, const struct attachment_chunk *part, struct error *err)
{
        struct trace_chunk_header header = { .kind = TRACE_CHUNK_ATTACHMENT, .n_items = 1 };
        struct byte_buffer body = { .data = NULL };
        int r = attachment_chunk_encode(part, &body);

        r = r < 0 ? error_set(err, r, "no memory for a part of an attachment")
                  : trace_writer_put(writer, header, body.data, body.used_bytes, err);
        byte_buffer_deinit(&body);
        return r;
}

/*
 * Copies the bytes of a part that the result does not have yet.
 * @have:  the bytes of this attachment in the result so far
 */
static int copy_part(struct trace_writer *writer, struct attachment_chunk part, uint64_t *have,
                     struct error *err)
{
        uint64_t skip_bytes = *have - part.offset_bytes;

        if (part.offset_bytes > *have || skip_bytes >= part.n_bytes)
                return 0;
        part.bytes += skip_bytes;
        part.n_bytes -= skip_bytes;
        part.offset_bytes = *have;
        while (part.n_bytes > 0) {
                struct attachment_chunk piece = part;
                int r;

                if (piece.n_bytes > ATTACHMENT_CHUNK_BYTES_MAX)
                        piece.n_bytes = ATTACHMENT_CHUNK_BYTES_MAX;
                r = put_part(writer, &piece, err);
                if (r < 0)
                        return r;
                part.bytes += piece.n_bytes;
                part.n_bytes -= piece.n_bytes;
                part.offset_bytes += piece.n_bytes;
                *have += piece.n_bytes;
        }
        return 0;
}

static int copy_attachments_of(struct merge_input *in, struct trace_writer *writer, uint64_t *have,
                               struct error *err)
{
        struct trace_item item;
        int r = trace_reader_rewind(in->reader, err);

        while (r >= 0 && (r = trace_reader_next_wanted(in->reader, is_attachment, &item, err)) == 1) {
                struct attachment_chunk part;

                if (attachment_chunk_decode(in->dictionary, item.body, item.body_bytes, &part, NULL) < 0)
                        return 0; /* the trace is damaged there: copying its events finds that */
                part.attachment = merge_input_id(in, TRACE_TABLE_ATTACHMENTS, part.attachment);
                r = copy_part(writer, part, &have[part.attachment], err);
        }
        return r;
}

/* Attachments that several inputs share become one; if one input lacks the end, the next supplies it. */
static int copy_attachments(struct trace_merge *m, const struct merge_tables *t, struct trace_writer *writer,
                            struct error *err)
{
        uint32_t n = trace_dictionary_count(&t->dictionary, TRACE_TABLE_ATTACHMENTS);
        uint64_t *have = calloc((size_t)n + 1, sizeof(*have));
        int r = have ? 0 : error_set(err, -ENOMEM, "no memory for attachments");

        for (size_t i = 0; i < m->n_inputs && r == 0 && n > 0; i++)
                r = copy_attachments_of(&m->inputs[i], writer, have, err);
        free(have);
        return r;
}

/* ---- all ----------------------------------------------------------------------------------------------- */

static int merge_tables_of(struct trace_merge *m, struct merge_tables *t, struct error *err)
{
        int r = merge_tables_add_recordings(t, m->inputs, m->n_inputs, err);

        for (size_t i = 0; i < m->n_inputs && r == 0; i++)
                r = merge_tables_add(t, &m->inputs[i], err);
        if (r == 0)
                r = merge_tables_add_counters(t, err);
        return r < 0 ? r : merge_meta_add(t, m->inputs, m->n_inputs, err);
}

static int add_faults(struct trace_merge *m, struct merge_tables *t, struct error *err)
{
        bool is_whole = true;
        int r = 0;

        for (size_t i = 0; i < m->n_inputs && r == 0; i++) {
                char words[ERROR_TEXT_BYTES + 256];

                if (m->damages[i].code == 0)
                        continue;
                is_whole = false;
                (void)snprintf(words, sizeof(words), "%.200s: %s", m->inputs[i].path, m->damages[i].text);
                r = merge_tables_add_notice(t, TRACE_NOTICE_MERGED_PART,
                                            (struct text_view){ words, strlen(words) });
        }
        if (r == 0 && m->n_unknown != 0)
                r = merge_tables_add_notice(t, TRACE_NOTICE_MERGED_NEWER, (struct text_view){ NULL, 0 });
        if (r < 0)
                return error_set(err, r, "no memory for notices");
        return merge_meta_add_end(t, m->inputs, m->n_inputs, is_whole, err);
}

static int write_merged(struct trace_merge *m, struct merge_tables *t, struct trace_writer *writer,
                        struct error *err)
{
        const struct merge_inputs from = { m->inputs, m->n_inputs, m->damages };
        struct merge_event_counts counts = { .n_events = 0 };
        int r = trace_writer_put_tables(writer, &t->dictionary, err);

        if (r == 0)
                r = copy_attachments(m, t, writer, err);
        if (r == 0)
                r = merge_events_copy(&from, t, writer, &counts, err);
        m->n_events = counts.n_events;
        m->n_unknown = counts.n_unknown;
        m->n_unknown_chunks = 0;
        for (size_t i = 0; i < m->n_inputs; i++)
                m->n_unknown_chunks += trace_reader_version(m->inputs[i].reader)->n_unknown_chunks;
        if (r == 0)
                r = add_faults(m, t, err);
        if (r == 0)
                r = trace_writer_put_tables(writer, &t->dictionary, err);
        return r < 0 ? r : trace_writer_finish(writer, err);
}

int trace_merge_run(struct trace_merge *m, const char *const *paths, size_t n_paths,
                    struct trace_writer *writer, struct error *err)
{
        struct merge_tables tables;
        int r;

        *m = (struct trace_merge){ .inputs = NULL };
        merge_tables_init(&tables);
        r = open_all(m, paths, n_paths, err);
        if (r == 0)
                r = merge_clock_place(m->inputs, m->n_inputs, err);
        if (r == 0) {
                name_parts(m);
                r = merge_tables_of(m, &tables, err);
        }
        if (r == 0)
                r = write_merged(m, &tables, writer, err);
        merge_tables_deinit(&tables);
        return r;
}

void trace_merge_deinit(struct trace_merge *m)
{
        for (size_t i = 0; i < m->n_inputs; i++)
                merge_input_close(&m->inputs[i]);
        free(m->inputs);
        free(m->damages);
        *m = (struct trace_merge){ .inputs = NULL };
}
