/* SPDX-License-Identifier: MIT */
/*
 * All tables are copied before all events, so that new rows have ids after theirs in every chunk that
 * follows.  A chunk of events is written anew only if a call stack in it was finished, and if this version
 * knows all of its events.
 */
#include "symbolize/stacks/kept_stacks.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/event_decoder.h"
#include "format/event_encoder.h"
#include "format/trace_dictionary.h"
#include "format/trace_loss.h"
#include "format/trace_reader.h"
#include "format/trace_writer.h"
#include "symbolize/images/image_finder.h"
#include "symbolize/stacks/module_tables.h"
#include "symbolize/stacks/stack_finisher.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The last sample of a thread, before and after. */
struct last_sample {
        uint64_t time_ns;
        uint32_t was_stack, was_state, stack, state;
};

struct counts {
        uint64_t n_finished, n_left;
        uint64_t of_state[TRACE_STACK_STATE_COUNT]; /* call stacks that got it, less those that had it */
};

struct finishing {
        struct trace_reader *reader;
        struct trace_writer *writer;
        struct trace_dictionary *dictionary;
        struct stack_finisher *finisher;
        struct last_sample *last; /* heap; by thread - 1 */
        struct event_encoder encoder;
        struct byte_buffer body;
        struct counts counts;
        bool is_anew; /* a call stack of this chunk was finished */
};

bool kept_stacks_are_there(const struct trace_dictionary *dictionary)
{
        static const char key[] = "kept_stacks";

        for (uint32_t i = 1; i <= trace_dictionary_count(dictionary, TRACE_TABLE_META); i++) {
                const struct trace_meta *row = trace_dictionary_row(dictionary, TRACE_TABLE_META, i);
                struct text_view text = trace_dictionary_text(dictionary, row->key);

                if (text.n_bytes == strlen(key) && memcmp(text.bytes, key, text.n_bytes) == 0)
                        return true;
        }
        return false;
}

/* ---- one run of events --------------------------------------------------------------------------------- */

/* Finishes a sample's call stack by its copy.  Returns 1, 0 or -ENOMEM. */
static int finish(struct finishing *f, uint32_t thread, const struct trace_event *copy,
                  struct trace_event *sample)
{
        uint64_t was = sample->sample.state;
        int r = stack_finisher_run(f->finisher, thread, copy->text, (size_t)copy->stack_copy.copy_bytes,
                                   sample);

        if (r < 0)
                return r;
        f->counts.n_finished += r == 1;
        f->counts.n_left += r == 0;
        if (r == 1) {
                f->counts.of_state[was]--;
                f->counts.of_state[sample->sample.state]++;
                f->is_anew = true;
        }
        return r;
}

/* @copy: of the stack of this sample; NULL = there is none.  Returns 1 if that is not needed any more. */
static int take_sample(struct finishing *f, uint32_t thread, const struct trace_event *copy,
                       struct trace_event *sample)
{
        struct last_sample *last = &f->last[thread - 1];
        struct last_sample now = { .time_ns = sample->time_ns,
                                   .was_stack = (uint32_t)sample->sample.stack,
                                   .was_state = (uint32_t)sample->sample.state };
        int r = 0;

        if (copy && trace_event_lacks_table(sample)) {
                r = finish(f, thread, copy, sample);
                if (r < 0)
                        return r;
        } else if (last->time_ns == now.time_ns && last->was_stack == now.was_stack &&
                   last->was_state == now.was_state) {
                sample->sample.stack = last->stack; /* of another event of the group */
                sample->sample.state = last->state;
        }
        now.stack = (uint32_t)sample->sample.stack;
        now.state = (uint32_t)sample->sample.state;
        *last = now;
        return r;
}

/* STATES say a thread's last sample again. */
static void restate_sample(const struct finishing *f, uint32_t thread, struct trace_event *sample)
{
        const struct last_sample *last = &f->last[thread - 1];

        if (last->was_stack == sample->sample.stack && last->was_state == sample->sample.state &&
            last->time_ns != 0) {
                sample->sample.stack = last->stack;
                sample->sample.state = last->state;
        }
}

/* Encodes a run anew; a copy of a stack is held back until its sample is known. */
static int take_run(struct finishing *f, struct event_decoder *decoder, uint32_t thread, bool is_states,
                    struct error *err)
{
        struct trace_event copy = { .op = 0 }, event;
        bool has_copy = false;
        int r;

        event_encoder_begin_run(&f->encoder, thread);
        while ((r = event_decoder_next(decoder, &event, err)) == 1) {
                int done = 0;

                if (event.text && event.operand[0] > TRACE_TEXT_BYTES_MAX) {
                        r = -EBADMSG;
                        break;
                }
                if (event.op == TRACE_OP_SAMPLE && is_states)
                        restate_sample(f, thread, &event);
                else if (event.op == TRACE_OP_SAMPLE)
                        done = take_sample(f, thread,
                                           has_copy && copy.time_ns == event.time_ns ? &copy : NULL, &event);
                if (done < 0) {
                        r = done;
                        break;
                }
                if (has_copy && done == 0)
                        event_encoder_add(&f->encoder, &copy);
                has_copy = event.op == TRACE_OP_STACK_COPY;
                if (has_copy)
                        copy = event;
                else
                        event_encoder_add(&f->encoder, &event);
        }
        if (has_copy)
                event_encoder_add(&f->encoder, &copy);
        event_encoder_end_run(&f->encoder);
        return r;
}

/* ---- chunks -------------------------------------------------------------------------------------------- */

/* Encodes a chunk anew.  Returns 1 if it is whole, 0 if it must stay as it is, -ENOMEM. */
static int take_chunk(struct finishing *f, const struct trace_item *item, struct trace_chunk_header *header,
                      struct error *err)
{
        bool is_states = item->header.kind == TRACE_CHUNK_STATES;
        const struct counts before = f->counts;
        struct event_decoder decoder;
        struct event_run run;
        uint64_t first_ns, last_ns;
        bool is_whole;
        int r, taken;

        f->is_anew = is_states;
        byte_buffer_clear(&f->body);
        r = event_decoder_init(&decoder, f->dictionary, item->body, item->body_bytes, err);
        while (r >= 0 && (r = event_decoder_next_run(&decoder, &run, err)) == 1)
                r = take_run(f, &decoder, run.thread, is_states, err);
        taken = event_encoder_take(&f->encoder, &f->body, &first_ns, &last_ns, &header->n_items);
        if (r == -ENOMEM || taken < 0)
                return error_set(err, -ENOMEM, "no memory for a chunk of events");
        /* Damage is copied with the chunk, and `hyprof check` reports it. */
        is_whole = r == 0 && decoder.n_unknown_ops == 0;
        if (!is_whole)
                f->counts = before;
        return is_whole && f->is_anew && header->n_items > 0;
}

static bool may_have_samples(const struct trace_item *item)
{
        return item->header.kind == TRACE_CHUNK_EVENTS || item->header.kind == TRACE_CHUNK_STATES;
}

static int copy_item(struct finishing *f, const struct trace_item *item, struct error *err)
{
        struct trace_chunk_header header = { .kind = item->header.kind,
                                             .flags = item->header.flags,
                                             .first_ns = item->header.first_ns,
                                             .last_ns = item->header.last_ns };
        int r = may_have_samples(item) ? take_chunk(f, item, &header, err) : 0;

        if (r < 0)
                return r;
        if (r == 0)
                return trace_writer_copy(f->writer, item, err);
        r = trace_writer_put_tables(f->writer, f->dictionary, err);
        return r < 0 ? r : trace_writer_put(f->writer, header, f->body.data, f->body.used_bytes, err);
}

static bool is_copied_table(const struct trace_chunk_header *header)
{
        return header->kind >= TRACE_TABLE_FIRST && header->kind != TRACE_TABLE_LOSSES;
}

static bool is_no_table(const struct trace_chunk_header *header)
{
        return header->kind < TRACE_TABLE_FIRST && header->kind != TRACE_CHUNK_INDEX;
}

static int copy_all(struct finishing *f, struct error *err)
{
        struct trace_item item;
        int r = trace_reader_rewind(f->reader, err);

        while (r >= 0 && (r = trace_reader_next_wanted(f->reader, is_copied_table, &item, err)) == 1)
                r = trace_writer_copy(f->writer, &item, err);
        if (r == 0)
                r = trace_reader_rewind(f->reader, err);
        while (r >= 0 && (r = trace_reader_next_wanted(f->reader, is_no_table, &item, err)) == 1)
                r = copy_item(f, &item, err);
        return r;
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

static uint32_t find_left_module(const struct stack_finisher *finisher)
{
        uint32_t best = 0;

        for (uint32_t i = 1; i <= finisher->n_modules; i++)
                if (finisher->n_left[i - 1] > (best != 0 ? finisher->n_left[best - 1] : 0))
                        best = i;
        return best;
}

/*
 * The rows of LOSSES say how many call stacks lacked what.  The table was not copied; it is to be written in
 * any case.
 */
static int settle_losses(struct finishing *f)
{
        struct trace_dictionary *d = f->dictionary;
        int r = 0;

        for (uint32_t state = 0; state < TRACE_STACK_STATE_COUNT && r == 0; state++) {
                enum trace_loss_reason reason = trace_loss_of_stack((enum trace_stack_state)state);
                int64_t change = (int64_t)f->counts.of_state[state];
                struct trace_loss row = { .reason = reason, .count = (uint64_t)change };
                uint32_t id;

                if (reason == 0)
                        continue;
                if (change <= 0)
                        trace_dictionary_lower_losses(d, reason, (uint64_t)-change);
                else
                        r = trace_dictionary_add(d, TRACE_TABLE_LOSSES, &row, &id);
        }
        return r;
}

static int finish_all(struct finishing *f, struct kept_stacks_totals *ret_totals, struct error *err)
{
        int r = copy_all(f, err);

        if (r < 0)
                return r;
        *ret_totals = (struct kept_stacks_totals){ .n_finished = f->counts.n_finished,
                                                   .n_left = f->counts.n_left,
                                                   .left_module = find_left_module(f->finisher) };
        r = settle_losses(f);
        return r < 0 ? error_set(err, r, "no memory for the table of losses")
                     : trace_writer_put_tables(f->writer, f->dictionary, err);
}

static void free_all(struct finishing *f)
{
        stack_finisher_free(f->finisher);
        event_encoder_deinit(&f->encoder);
        byte_buffer_deinit(&f->body);
        free(f->last);
}

int kept_stacks_finish(struct trace_reader *reader, struct trace_writer *writer,
                       const struct image_finder *finder, struct confinement_user user,
                       struct kept_stacks_totals *ret_totals, struct error *err)
{
        struct finishing f = { .reader = reader, .writer = writer, .dictionary = trace_reader_edit(reader) };
        struct module_tables tables;
        int r = finder->spool ? image_spool_seal(finder->spool, err) : 0;

        if (r < 0)
                return r;
        event_encoder_init(&f.encoder);
        r = module_tables_init(&tables, finder, user);
        f.finisher = r == 0 ? stack_finisher_new(f.dictionary, &tables) : NULL;
        f.last = calloc((size_t)trace_dictionary_count(f.dictionary, TRACE_TABLE_THREADS) + 1,
                        sizeof(*f.last));
        r = f.finisher && f.last ? finish_all(&f, ret_totals, err)
                                 : error_set(err, -ENOMEM, "no memory to walk stacks");
        free_all(&f);
        module_tables_deinit(&tables);
        return r;
}
