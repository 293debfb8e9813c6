/* SPDX-License-Identifier: MIT */
#include "export/perfetto/perfetto_parts.h"

#include "base/array.h"
#include "base/byte_buffer.h"
#include "export/perfetto/perfetto_fields.h"
#include "export/shared/export_event.h"
#include "export/shared/protobuf_writer.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>

/* A higher CPU number than any machine has comes from a damaged trace; its counts are left out. */
#define CPUS_MAX 65536

int perfetto_samples_init(struct perfetto_samples *s, const struct trace_dictionary *dictionary,
                          struct perfetto_packets *packets, const struct zone_paths *paths)
{
        *s = (struct perfetto_samples){ .dictionary = dictionary, .packets = packets };
        perfetto_callstacks_init(&s->callstacks, &s->frames, paths);
        return export_frames_init(&s->frames, dictionary);
}

void perfetto_samples_deinit(struct perfetto_samples *s)
{
        perfetto_callstacks_deinit(&s->callstacks);
        export_frames_deinit(&s->frames);
        free(s->cpu_counts);
        *s = (struct perfetto_samples){ .dictionary = NULL };
}

static void put_string(const struct perfetto_samples *s, struct byte_buffer *b, uint32_t field,
                       uint32_t string)
{
        size_t n_bytes;
        const char *text = trace_dictionary_string(s->dictionary, string, &n_bytes);

        protobuf_writer_put_text(b, field, text, n_bytes);
}

static const struct trace_sample_event *event_row(const struct perfetto_samples *s, uint32_t event)
{
        return trace_dictionary_row(s->dictionary, TRACE_TABLE_SAMPLE_EVENTS, event);
}

static void put_timebase(const struct perfetto_samples *s, struct byte_buffer *b)
{
        const struct trace_sample_event *row = event_row(s, s->event);
        size_t defaults = protobuf_writer_begin(b, PERFETTO_DEFAULTS_PERF_SAMPLE);
        size_t timebase = protobuf_writer_begin(b, PERFETTO_PERF_DEFAULTS_TIMEBASE);

        protobuf_writer_put_number(b,
                                   row->mode == TRACE_SAMPLE_MODE_PERIOD ? PERFETTO_TIMEBASE_PERIOD
                                                                         : PERFETTO_TIMEBASE_FREQUENCY,
                                   row->rate);
        put_string(s, b, PERFETTO_TIMEBASE_NAME, row->name);
        protobuf_writer_end(b, timebase);
        protobuf_writer_end(b, defaults);
}

int perfetto_samples_start(struct perfetto_samples *s, uint32_t event)
{
        struct byte_buffer *b = perfetto_packets_start(s->packets, PERFETTO_SEQUENCE_SAMPLES);
        size_t defaults = perfetto_packets_begin_defaults(b);
        size_t stack_defaults;

        s->event = event;
        if (event != 0)
                put_timebase(s, b);
        stack_defaults = protobuf_writer_begin(b, PERFETTO_DEFAULTS_STACK_SAMPLE);
        protobuf_writer_put_words(b, PERFETTO_STACK_DEFAULTS_SOURCE, "hyprof");
        protobuf_writer_end(b, stack_defaults);
        protobuf_writer_end(b, defaults);
        return perfetto_packets_end(s->packets);
}

/* Perfetto expects the running count of a CPU's counter, which only grows. */
static int add_to_cpu(struct perfetto_samples *s, uint64_t cpu, uint64_t weight, uint64_t *ret_count)
{
        size_t n = (size_t)cpu + 1;
        int r;

        if (n > s->n_cpus) {
                r = array_extend(&s->cpu_counts, &s->cpus_capacity, s->n_cpus, n, sizeof(*s->cpu_counts));
                if (r < 0)
                        return r;
                s->n_cpus = n;
        }
        s->cpu_counts[cpu] += weight;
        *ret_count = s->cpu_counts[cpu];
        return 0;
}

/* The kernel's if the innermost function is. */
static uint32_t mode_of(const struct perfetto_samples *s, uint32_t stack)
{
        const struct trace_stack *row;

        if (stack == 0)
                return PERFETTO_PERF_USER;
        row = trace_dictionary_row(s->dictionary, TRACE_TABLE_STACKS, stack);
        return export_frames_is_kernel(&s->frames, &(struct export_frame){ .frame = row->frame })
                       ? PERFETTO_PERF_KERNEL
                       : PERFETTO_PERF_USER;
}

static int put_perf_sample(struct perfetto_samples *s, struct byte_buffer *b,
                           const struct perfetto_sample *sample, const struct trace_thread *thread,
                           uint32_t callstack)
{
        const struct trace_process *process = trace_dictionary_row(s->dictionary, TRACE_TABLE_PROCESSES,
                                                                   thread->process);
        uint64_t count = 0;
        size_t message;
        int r = sample->cpu < CPUS_MAX ? add_to_cpu(s, sample->cpu, sample->weight, &count) : 0;

        if (r < 0)
                return r;
        message = protobuf_writer_begin(b, PERFETTO_PACKET_PERF_SAMPLE);
        protobuf_writer_put_number(b, PERFETTO_PERF_CPU, (uint32_t)sample->cpu);
        protobuf_writer_put_number(b, PERFETTO_PERF_PID, process->pid);
        protobuf_writer_put_number(b, PERFETTO_PERF_TID, thread->tid);
        protobuf_writer_put_number(b, PERFETTO_PERF_CALLSTACK, callstack);
        protobuf_writer_put_number(b, PERFETTO_PERF_MODE, mode_of(s, sample->stack));
        if (sample->cpu < CPUS_MAX)
                protobuf_writer_put_number(b, PERFETTO_PERF_TIMEBASE_COUNT, count);
        protobuf_writer_end(b, message);
        return 0;
}

static void put_descriptor(const struct perfetto_samples *s, struct byte_buffer *b,
                           const struct perfetto_sample *sample)
{
        size_t message = protobuf_writer_begin(b, PERFETTO_STACK_DESCRIPTOR);

        switch (sample->kind) {
        case PERFETTO_SAMPLE_OFF_CPU:
                protobuf_writer_put_words(b, PERFETTO_DESCRIPTOR_NAME, "off-cpu");
                protobuf_writer_put_number(b, PERFETTO_DESCRIPTOR_UNIT, PERFETTO_DESCRIPTOR_NS);
                break;
        case PERFETTO_SAMPLE_ALLOCATION:
                protobuf_writer_put_words(b, PERFETTO_DESCRIPTOR_NAME, "allocations");
                protobuf_writer_put_number(b, PERFETTO_DESCRIPTOR_UNIT, PERFETTO_DESCRIPTOR_BYTES);
                break;
        case PERFETTO_SAMPLE_EVENT:
        default:
                put_string(s, b, PERFETTO_DESCRIPTOR_NAME, event_row(s, sample->event)->name);
                if (export_event_is_time(s->dictionary, sample->event))
                        protobuf_writer_put_number(b, PERFETTO_DESCRIPTOR_UNIT, PERFETTO_DESCRIPTOR_NS);
                else
                        put_string(s, b, PERFETTO_DESCRIPTOR_UNIT_NAME, event_row(s, sample->event)->unit);
                break;
        }
        protobuf_writer_end(b, message);
}

static void put_stack_sample(const struct perfetto_samples *s, struct byte_buffer *b,
                             const struct perfetto_sample *sample, const struct trace_thread *thread,
                             uint32_t callstack)
{
        const struct trace_process *process = trace_dictionary_row(s->dictionary, TRACE_TABLE_PROCESSES,
                                                                   thread->process);
        size_t message = protobuf_writer_begin(b, PERFETTO_PACKET_STACK_SAMPLE);
        size_t part = protobuf_writer_begin(b, PERFETTO_STACK_TASK);

        protobuf_writer_put_number(b, PERFETTO_TASK_PID, process->pid);
        protobuf_writer_put_number(b, PERFETTO_TASK_TID, thread->tid);
        protobuf_writer_end(b, part);
        if (sample->has_cpu) {
                part = protobuf_writer_begin(b, PERFETTO_STACK_EXECUTION);
                protobuf_writer_put_number(b, PERFETTO_EXECUTION_CPU, (uint32_t)sample->cpu);
                protobuf_writer_end(b, part);
        }
        protobuf_writer_put_number(b, PERFETTO_STACK_CALLSTACK, callstack);
        put_descriptor(s, b, sample);
        protobuf_writer_put_number(b, PERFETTO_STACK_WEIGHT, sample->weight);
        protobuf_writer_end(b, message);
}

int perfetto_samples_put(struct perfetto_samples *s, const struct perfetto_sample *sample)
{
        const struct perfetto_callstack_key key = { .path = sample->path, .stack = sample->stack };
        const struct trace_thread *thread = trace_dictionary_row(s->dictionary, TRACE_TABLE_THREADS,
                                                                 sample->thread);
        struct byte_buffer *b = perfetto_packets_begin(s->packets, PERFETTO_SEQUENCE_SAMPLES,
                                                       sample->time_ns);
        uint32_t callstack;
        int r = perfetto_callstacks_put(&s->callstacks, b, &key, &callstack);

        if (r < 0)
                return r;
        if (sample->kind == PERFETTO_SAMPLE_EVENT && sample->event == s->event)
                r = put_perf_sample(s, b, sample, thread, callstack);
        else
                put_stack_sample(s, b, sample, thread, callstack);
        return r < 0 ? r : perfetto_packets_end(s->packets);
}
