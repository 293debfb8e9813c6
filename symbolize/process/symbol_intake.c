/* SPDX-License-Identifier: MIT */
#include "symbolize/process/symbol_children.h"

#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "symbolize/process/symbol_findings.h"
#include "symbolize/process/symbol_process.h"
#include "symbolize/process/symbol_stream.h"
#include "symbolize/symbols/symbolizer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_BYTES_MAX 200 /* of the words of a child's failure */

int symbol_intake_init(struct symbol_intake *in, struct trace_dictionary *dictionary,
                       const struct symbol_process_options *options, const struct symbolizer *symbolizer,
                       struct error *err)
{
        int r;

        *in = (struct symbol_intake){ .dictionary = dictionary,
                                      .options = options,
                                      .symbolizer = symbolizer,
                                      .findings = options->findings,
                                      .n_frames = trace_dictionary_count(dictionary, TRACE_TABLE_FRAMES),
                                      .index = { .fd = -1 } };
        in->is_answered = calloc((size_t)in->n_frames / 8 + 1, 1);
        in->record = calloc(1, sizeof(*in->record));
        r = in->is_answered && in->record
                    ? known_symbols_init(&in->known, dictionary, err)
                    : error_set(err, -ENOMEM, "no memory for symbols of %u frames", in->n_frames);
        if (r == 0)
                r = module_images_init(&in->images, dictionary, err);
        if (r < 0)
                symbol_intake_deinit(in);
        return r;
}

void symbol_intake_deinit(struct symbol_intake *in)
{
        known_symbols_deinit(&in->known);
        module_images_deinit(&in->images);
        free(in->is_answered);
        free(in->record);
        *in = (struct symbol_intake){ .index = { .fd = -1 } };
}

void symbol_intake_begin(struct symbol_intake *in, uint32_t task)
{
        in->task = task;
        in->module = 0;
        in->is_at_end = false;
        in->is_found = false;
        in->is_index_refused = false;
}

/* A child's @text may be shown to people, so control characters are replaced. */
static int error_set_foreign(struct error *err, int code, struct symbol_stream_text text)
{
        char words[WORDS_BYTES_MAX + 1];
        size_t n = 0;

        for (; n < text.n_bytes && n < WORDS_BYTES_MAX; n++)
                words[n] = (char)(text.bytes[n] < ' ' || text.bytes[n] > '~' ? '?' : text.bytes[n]);
        words[n] = '\0';
        return error_set(err, code, "symbolizer: %s", words);
}

/* ---- symbols ------------------------------------------------------------------------------------------- */

static int add_string(struct trace_dictionary *dictionary, struct symbol_stream_text text, uint32_t *ret_id)
{
        if (text.bytes && text.n_bytes > 0)
                return trace_dictionary_add_string(dictionary, text.bytes, text.n_bytes, ret_id);
        *ret_id = 0;
        return 0;
}

static int add_row(struct trace_dictionary *dictionary, uint32_t frame, const struct symbol_stream_row *row)
{
        struct trace_symbol symbol = { .frame = frame,
                                       .line = row->line,
                                       .column = row->column,
                                       .flags = row->flags,
                                       .start_svma = row->start_svma,
                                       .declared_line = row->declared_line,
                                       .instance = row->instance };
        uint32_t id;
        int r = add_string(dictionary, row->function, &symbol.function);

        if (r == 0)
                r = add_string(dictionary, row->file, &symbol.file);
        if (r == 0)
                r = add_string(dictionary, row->declared_file, &symbol.declared_file);
        if (r == 0)
                r = add_string(dictionary, row->aliases, &symbol.aliases);
        if (r == 0)
                r = trace_dictionary_add(dictionary, TRACE_TABLE_SYMBOLS, &symbol, &id);
        return r;
}

static int take_symbols(struct symbol_intake *in, bool *ret_is_own_failure, struct error *err)
{
        const struct symbol_stream_record *record = in->record;
        uint32_t frame = record->id;
        int r = 0;

        if (frame == 0 || frame > in->n_frames || symbolizer_find_task(in->symbolizer, frame) != in->task ||
            in->is_answered[frame / 8] & 1U << frame % 8)
                return error_set(err, -EBADMSG, "symbolizer: frame %u was not requested", frame);
        in->is_answered[frame / 8] |= (uint8_t)(1U << frame % 8);
        if (in->options->only_look || !known_symbols_is_news(&in->known, record))
                return 0;
        in->n_news++;
        for (uint32_t i = 0; i < record->n_rows && r == 0; i++)
                r = add_row(in->dictionary, frame, &record->rows[i]);
        if (r == 0)
                return 0;
        *ret_is_own_failure = true;
        return error_set(err, r, "no room for the symbols of frame %u", frame);
}

/* ---- modules ------------------------------------------------------------------------------------------- */

static int take_module(struct symbol_intake *in, struct error *err)
{
        uint32_t module = in->record->id;

        /* In ascending order, so each once. */
        if (module <= in->module || !symbolizer_has_module(in->symbolizer, in->task, module))
                return error_set(err, -EBADMSG, "symbolizer: module %u was not requested", module);
        in->module = module;
        in->is_found = false;
        return 0;
}

static int take_finding(struct symbol_intake *in, bool *ret_is_own_failure, struct error *err)
{
        const struct symbol_stream_record *record = in->record;
        int r = 0;

        if (record->id == 0 || record->id != in->module || in->is_found)
                return error_set(err, -EBADMSG, "symbolizer: facts about module %u were not requested",
                                 record->id);
        in->is_found = true;
        if (in->findings)
                r = symbol_findings_set(in->findings, &record->finding, record->words.bytes,
                                        record->words.n_bytes);
        *ret_is_own_failure = r < 0;
        return r < 0 ? error_set(err, r, "no memory for what was found") : 0;
}

/* An entry that cannot be written is skipped; the symbols are the same. */
static void take_index(struct symbol_intake *in)
{
        const struct index_cache *cache = in->options->cache;
        const struct index_cache_subject subject = { .dictionary = in->dictionary,
                                                     .images = &in->images,
                                                     .spool = in->options->spool,
                                                     .search = in->options->search,
                                                     .module = in->module };
        struct index_cache_name name;

        if (!cache || in->module == 0)
                in->is_index_refused = true;
        if (!in->is_index_refused && in->index.fd < 0)
                in->is_index_refused = !index_cache_name_of(cache, &subject, &name) ||
                                       index_cache_begin(cache, &name, &in->index, NULL) < 0;
        if (!in->is_index_refused)
                in->is_index_refused = index_cache_add(cache, &in->index, in->record->words.bytes,
                                                       in->record->words.n_bytes, NULL) < 0;
}

static int take_record(struct symbol_intake *in, bool *ret_is_own_failure, struct error *err)
{
        const struct symbol_stream_record *record = in->record;

        switch (record->kind) {
        case SYMBOL_STREAM_MODULE:
                return take_module(in, err);
        case SYMBOL_STREAM_SYMBOLS:
                return take_symbols(in, ret_is_own_failure, err);
        case SYMBOL_STREAM_FINDING:
                return take_finding(in, ret_is_own_failure, err);
        case SYMBOL_STREAM_INDEX:
                take_index(in);
                return 0;
        case SYMBOL_STREAM_END:
                in->is_at_end = true;
                return record->code < 0 ? error_set_foreign(err, record->code, record->words) : 0;
        default:
                return error_set(err, -EBADMSG, "symbolizer: record of kind %d", (int)record->kind);
        }
}

int symbol_intake_take(struct symbol_intake *in, struct byte_buffer *bytes, bool *ret_is_own_failure,
                       struct error *err)
{
        struct byte_reader reader = byte_reader_of(bytes->data, bytes->used_bytes);
        int r = 0;

        while (!in->is_at_end && (r = symbol_stream_decode(&reader, in->record, err)) == 1) {
                r = take_record(in, ret_is_own_failure, err);
                if (r < 0)
                        return r;
        }
        if (r < 0)
                return r;
        if (reader.left > 0)
                memmove(bytes->data, reader.at, reader.left);
        bytes->used_bytes = reader.left;
        return 0;
}

void symbol_intake_end(struct symbol_intake *in, bool is_good)
{
        if (in->index.fd < 0)
                return;
        if (is_good && !in->is_index_refused)
                (void)index_cache_commit(in->options->cache, &in->index, NULL);
        else
                index_cache_abort(in->options->cache, &in->index);
        in->index.fd = -1;
}
