/* SPDX-License-Identifier: MIT */
#include "format/thread_state.h"

#include "format/event_encoder.h"

#include <stdbool.h>

static void add(struct event_encoder *encoder, struct trace_event event, uint64_t time_ns)
{
        event.time_ns = time_ns;
        event_encoder_add(encoder, &event);
}

static void add_zone(struct event_encoder *encoder, uint32_t location, uint64_t time_ns)
{
        struct trace_event event = { .op = TRACE_OP_ZONE_BEGIN };

        event.zone_begin.location = location;
        add(encoder, event, time_ns);
}

/*
 * Sample and zones come before the switch where the thread had none: a switch onto a CPU is a thread's first
 * time there only if no event of the thread came before.
 */
void thread_state_encode(const struct thread_state *s, struct event_encoder *encoder)
{
        struct trace_event name = { .op = TRACE_OP_THREAD_NAME };
        bool sampled_last = s->last_sample.time_ns >= s->last_switch.time_ns;

        event_encoder_begin_run(encoder, s->thread);
        name.thread_name.name = s->name;
        add(encoder, name, s->time_ns);
        if (s->last_sample.op != 0 && !sampled_last)
                add(encoder, s->last_sample, s->time_ns);
        if (s->last_switch.op != 0)
                add(encoder, s->last_switch, s->time_ns);
        if (s->last_sample.op != 0 && sampled_last)
                add(encoder, s->last_sample, s->time_ns);
        if (s->closed_zone != 0) {
                add_zone(encoder, s->closed_zone, s->time_ns);
                add(encoder, (struct trace_event){ .op = TRACE_OP_ZONE_END }, s->time_ns);
        }
        for (size_t i = 0; i < s->n_zones; i++)
                add_zone(encoder, s->zones[i], s->time_ns);
        event_encoder_end_run(encoder);
}
