/* SPDX-License-Identifier: MIT */
#include "merge/merge_steps.h"

#include "analyze/trace/meta_value.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "merge/merge_input.h"
#include "merge/merge_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
        const char *key, *separator;
} joined[] = {
        { "command", "; " },        { "attached_pids", "," },
        { "hostname", ", " },       { "kernel", ", " },
        { "machine", ", " },        { "boot_id", "," },
        { "hyprof_version", ", " }, { "unwind", ", " },
        { "scope", ", " },          { "sample_event_fallback", ", " },
        { "exit_status", ", " },    { "ring", ", " },
        { "ring_cause", ", " },     { "ring_goes_on", "," },
        { "symbolized_by", ", " },  { "off_cpu", "," },
        { "environment", "; " },    { "kept_stacks", ", " },
};
static const char *const added[] = { "descriptors",       "recorder_cpu_ns", "command_user_ns",
                                     "command_kernel_ns", "python_samples",  "python_samples_bare" };
/* Keys whose largest value is taken, or that other functions write. */
static const char *const others[] = { "stack_copy_bytes",  "cpus",
                                      "start_realtime_ns", "start_raw_ns",
                                      "end_raw_ns",        "recording_start_raw_ns",
                                      "end_realtime_ns",   "realtime_error_ns",
                                      "families" };
/* Keys that the result lacks: the idle times of CPUs that two recordings share would count twice. */
static const char *const left_out[] = { "idle", "cpu_idle" };

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

static bool is_equal(struct text_view a, struct text_view b)
{
        return a.n_bytes == b.n_bytes && (a.n_bytes == 0 || memcmp(a.bytes, b.bytes, a.n_bytes) == 0);
}

static bool is_key(struct text_view text, const char *key)
{
        return is_equal(text, (struct text_view){ key, strlen(key) });
}

static int add_number(struct merge_tables *t, const char *key, uint64_t number)
{
        char text[24];

        (void)snprintf(text, sizeof(text), "%" PRIu64, number);
        return merge_tables_add_meta(t, key, (struct text_view){ text, strlen(text) });
}

static bool was_before(const struct merge_input *inputs, size_t i, const char *key, struct text_view value)
{
        for (size_t j = 0; j < i; j++)
                if (is_equal(meta_value_find(inputs[j].dictionary, key), value))
                        return true;
        return false;
}

/* Each value once. */
static int join(struct merge_tables *t, const struct merge_input *inputs, size_t n_inputs, const char *key,
                const char *separator)
{
        struct byte_buffer all = { .data = NULL };
        int r = 0;

        for (size_t i = 0; i < n_inputs; i++) {
                struct text_view value = meta_value_find(inputs[i].dictionary, key);

                if (value.n_bytes == 0 || was_before(inputs, i, key, value))
                        continue;
                byte_buffer_add(&all, separator, all.used_bytes != 0 ? strlen(separator) : 0);
                byte_buffer_add(&all, value.bytes, value.n_bytes);
        }
        if (all.used_bytes != 0)
                r = merge_tables_add_meta(t, key, (struct text_view){ (char *)all.data, all.used_bytes });
        if (all.failed)
                r = -ENOMEM;
        byte_buffer_deinit(&all);
        return r;
}

static int add_sum(struct merge_tables *t, const struct merge_input *inputs, size_t n_inputs, const char *key)
{
        uint64_t sum = 0;

        for (size_t i = 0; i < n_inputs; i++)
                sum += meta_value_number(inputs[i].dictionary, key);
        return sum != 0 ? add_number(t, key, sum) : 0;
}

static int add_largest(struct merge_tables *t, const struct merge_input *inputs, size_t n_inputs,
                       const char *key)
{
        uint64_t largest = 0;

        for (size_t i = 0; i < n_inputs; i++) {
                uint64_t value = meta_value_number(inputs[i].dictionary, key);

                largest = value > largest ? value : largest;
        }
        return largest != 0 ? add_number(t, key, largest) : 0;
}

/* CPUs of a boot count once. */
static int add_cpus(struct merge_tables *t, const struct merge_input *inputs, size_t n_inputs)
{
        uint64_t n_cpus = 0;
        uint32_t next = 0;

        for (size_t i = 0; i < n_inputs; i++) {
                for (uint32_t j = 0; j < inputs[i].n_parts; j++) {
                        const struct merge_part *part = &inputs[i].parts[j];

                        if (part->n_cpus == 0 || part->first_cpu < next)
                                continue;
                        n_cpus += part->n_cpus;
                        next = part->first_cpu + part->n_cpus;
                }
        }
        return n_cpus != 0 ? add_number(t, "cpus", n_cpus) : 0;
}

/* Adds the beginning of the earliest recording, by both clocks of the reference. */
static int add_start(struct merge_tables *t, const struct merge_input *inputs, size_t n_inputs)
{
        const struct merge_input *with_realtime = NULL;
        uint64_t start_ns = 0;
        int r;

        for (size_t i = 0; i < n_inputs; i++) {
                uint64_t at_ns = merge_input_time(&inputs[i], inputs[i].start_ns);

                if (at_ns != 0 && (start_ns == 0 || at_ns < start_ns))
                        start_ns = at_ns;
                if (inputs[i].has_realtime && !with_realtime)
                        with_realtime = &inputs[i];
        }
        if (start_ns == 0)
                return 0;
        r = add_number(t, "start_raw_ns", start_ns);
        if (r < 0 || !with_realtime)
                return r;
        r = add_number(t, "start_realtime_ns",
                       (uint64_t)with_realtime->realtime_ns - (uint64_t)with_realtime->shift_ns + start_ns);
        if (r == 0 && with_realtime->is_synchronised)
                r = add_number(t, "realtime_error_ns", with_realtime->clock_error_ns);
        return r;
}

static bool is_handled(struct text_view key)
{
        for (size_t i = 0; i < COUNT_OF(joined); i++)
                if (is_key(key, joined[i].key))
                        return true;
        for (size_t i = 0; i < COUNT_OF(added); i++)
                if (is_key(key, added[i]))
                        return true;
        for (size_t i = 0; i < COUNT_OF(others); i++)
                if (is_key(key, others[i]))
                        return true;
        for (size_t i = 0; i < COUNT_OF(left_out); i++)
                if (is_key(key, left_out[i]))
                        return true;
        return false;
}

static int add_unknown(struct merge_tables *t, const struct merge_input *in)
{
        uint32_t n = trace_dictionary_count(in->dictionary, TRACE_TABLE_META), id;
        int r = 0;

        for (uint32_t i = 1; i <= n && r == 0; i++) {
                const struct trace_meta *row = trace_dictionary_row(in->dictionary, TRACE_TABLE_META, i);
                struct trace_meta to = { .key = merge_input_id(in, TRACE_TABLE_STRINGS, row->key),
                                         .value = merge_input_id(in, TRACE_TABLE_STRINGS, row->value) };

                if (!is_handled(trace_dictionary_text(in->dictionary, row->key)))
                        r = trace_dictionary_add(&t->dictionary, TRACE_TABLE_META, &to, &id);
        }
        return r;
}

int merge_meta_add(struct merge_tables *t, const struct merge_input *inputs, size_t n_inputs,
                   struct error *err)
{
        int r = 0;

        for (size_t i = 0; i < COUNT_OF(joined) && r == 0; i++)
                r = join(t, inputs, n_inputs, joined[i].key, joined[i].separator);
        for (size_t i = 0; i < COUNT_OF(added) && r == 0; i++)
                r = add_sum(t, inputs, n_inputs, added[i]);
        if (r == 0)
                r = add_largest(t, inputs, n_inputs, "stack_copy_bytes");
        if (r == 0)
                r = add_cpus(t, inputs, n_inputs);
        if (r == 0)
                r = add_start(t, inputs, n_inputs);
        for (size_t i = 0; i < n_inputs && r == 0; i++)
                r = add_unknown(t, &inputs[i]);
        return r < 0 ? error_set(err, r, "no memory to describe the recordings") : 0;
}

int merge_meta_add_end(struct merge_tables *t, const struct merge_input *inputs, size_t n_inputs,
                       int is_whole, struct error *err)
{
        uint64_t end_ns = 0;
        int r;

        for (size_t i = 0; i < n_inputs; i++) {
                uint64_t at_ns = meta_value_number(inputs[i].dictionary, "end_raw_ns");

                if (at_ns == 0 || !is_whole)
                        return 0;
                at_ns = merge_input_time(&inputs[i], at_ns);
                end_ns = at_ns > end_ns ? at_ns : end_ns;
        }
        r = add_number(t, "end_raw_ns", end_ns);
        return r < 0 ? error_set(err, r, "no memory to describe the recordings") : 0;
}
