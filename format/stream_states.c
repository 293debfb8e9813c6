/* SPDX-License-Identifier: MIT */
#include "format/stream_states.h"

#include "base/array.h"
#include "format/event_encoder.h"
#include "format/trace_event.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct stream_state {
        uint32_t *zones; /* heap, owned: locations, the outermost first */
        size_t n_zones, zones_capacity;
        uint32_t name;  /* string; 0 = none */
        uint32_t fiber; /* that the thread runs; 0 = none */
        bool has_group;
        struct trace_event group, last_switch; /* the events; an op of 0 = there was no switch */
};

static void free_state(struct stream_state *state)
{
        if (!state)
                return;
        free(state->zones);
        free(state);
}

void stream_states_deinit(struct stream_states *s)
{
        for (size_t i = 0; i < s->threads_capacity; i++)
                free_state(s->threads[i]);
        free(s->threads);
        free(s->ended);
        free(s->lock_names);
        *s = (struct stream_states){ .threads = NULL };
}

/* Makes sure that an array has entry @id - 1, which is zero if it is new. */
static int reach(void *items, size_t *capacity, uint32_t id, size_t item_bytes)
{
        size_t before = *capacity;
        int r = array_reserve(items, capacity, id, item_bytes);

        uint8_t *bytes;

        if (r < 0 || *capacity == before)
                return r;
        memcpy(&bytes, items, sizeof(bytes)); /* as array_reserve() does */
        memset(bytes + before * item_bytes, 0, (*capacity - before) * item_bytes);
        return 0;
}

static int copy_state(const struct stream_state *from, struct stream_state **ret)
{
        struct stream_state *to = malloc(sizeof(*to));

        if (!to)
                return -ENOMEM;
        *to = *from;
        to->zones = NULL;
        to->zones_capacity = 0;
        *ret = to;
        if (from->n_zones == 0)
                return 0;
        if (array_reserve(&to->zones, &to->zones_capacity, from->n_zones, sizeof(*to->zones)) < 0)
                return -ENOMEM;
        memcpy(to->zones, from->zones, from->n_zones * sizeof(*to->zones));
        return 0;
}

int stream_states_copy(const struct stream_states *s, struct stream_states *ret)
{
        int r = 0;

        *ret = (struct stream_states){ .threads = NULL };
        if (s->threads_capacity > 0)
                r = reach(&ret->threads, &ret->threads_capacity, (uint32_t)s->threads_capacity,
                          sizeof(struct stream_state *));
        for (size_t i = 0; r == 0 && i < s->threads_capacity; i++)
                if (s->threads[i])
                        r = copy_state(s->threads[i], &ret->threads[i]);
        if (r < 0)
                goto fail;
        if (s->ended_capacity > 0) {
                r = reach(&ret->ended, &ret->ended_capacity, (uint32_t)s->ended_capacity, sizeof(*s->ended));
                if (r < 0)
                        goto fail;
                memcpy(ret->ended, s->ended, s->ended_capacity * sizeof(*s->ended));
        }
        if (s->locks_capacity > 0) {
                r = reach(&ret->lock_names, &ret->locks_capacity, (uint32_t)s->locks_capacity,
                          sizeof(uint32_t));
                if (r < 0)
                        goto fail;
                memcpy(ret->lock_names, s->lock_names, s->locks_capacity * sizeof(uint32_t));
        }
        return 0;
fail:
        stream_states_deinit(ret);
        return r;
}

/* ---- events -------------------------------------------------------------------------------------------- */

static int find_state(struct stream_states *s, uint32_t thread, struct stream_state **ret)
{
        int r = reach(&s->threads, &s->threads_capacity, thread, sizeof(struct stream_state *));

        if (r < 0)
                return r;
        if (!s->threads[thread - 1])
                s->threads[thread - 1] = calloc(1, sizeof(struct stream_state));
        *ret = s->threads[thread - 1];
        return *ret ? 0 : -ENOMEM;
}

static int push_zone(struct stream_state *state, uint32_t location)
{
        int r = array_reserve(&state->zones, &state->zones_capacity, state->n_zones + 1,
                              sizeof(*state->zones));

        if (r == 0)
                state->zones[state->n_zones++] = location;
        return r;
}

static int name_lock(struct stream_states *s, uint32_t lock, uint32_t name)
{
        int r = reach(&s->lock_names, &s->locks_capacity, lock, sizeof(*s->lock_names));

        if (r == 0)
                s->lock_names[lock - 1] = name;
        return r;
}

/* Forgets the state of a thread that has ended; its later events are ignored. */
static int forget_thread(struct stream_states *s, uint32_t thread)
{
        int r = reach(&s->ended, &s->ended_capacity, thread, sizeof(*s->ended));

        if (r < 0)
                return r;
        s->ended[thread - 1] = true;
        free_state(s->threads[thread - 1]);
        s->threads[thread - 1] = NULL;
        return 0;
}

int stream_states_apply(struct stream_states *s, uint32_t thread, const struct trace_event *event)
{
        struct stream_state *state;
        int r;

        if (thread <= s->ended_capacity && s->ended[thread - 1])
                return 0;
        r = find_state(s, thread, &state);
        if (r < 0)
                return r;
        switch (event->op) {
        case TRACE_OP_ZONE_BEGIN:
                return push_zone(state, (uint32_t)event->zone_begin.location);
        case TRACE_OP_ZONE_END:
                state->n_zones -= state->n_zones > 0;
                return 0;
        case TRACE_OP_ZONES_GONE:
                state->n_zones = 0;
                return 0;
        case TRACE_OP_SWITCH_OUT:
        case TRACE_OP_SWITCH_IN:
                state->last_switch = *event;
                return 0;
        case TRACE_OP_THREAD_NAME:
                state->name = (uint32_t)event->thread_name.name;
                return 0;
        case TRACE_OP_THREAD_GROUP:
                state->has_group = true;
                state->group = *event;
                return 0;
        case TRACE_OP_FIBER_ENTER:
                state->fiber = (uint32_t)event->fiber_enter.fiber;
                return 0;
        case TRACE_OP_FIBER_LEAVE:
                state->fiber = 0;
                return 0;
        case TRACE_OP_LOCK_NAME:
                return name_lock(s, (uint32_t)event->lock_name.lock, (uint32_t)event->lock_name.name);
        case TRACE_OP_LOCK_GONE:
                return name_lock(s, (uint32_t)event->lock_gone.lock, 0);
        case TRACE_OP_THREAD_EXIT:
                return forget_thread(s, thread);
        default:
                return 0;
        }
}

/* ---- and back ------------------------------------------------------------------------------------------ */

static void add(struct event_encoder *encoder, struct trace_event event, uint64_t time_ns)
{
        event.time_ns = time_ns;
        event_encoder_add(encoder, &event);
}

/*
 * The switch comes before the zones: a thread is assumed to run from its first event on, unless an event
 * says otherwise.
 */
static void encode_state(const struct stream_state *state, uint64_t time_ns, struct event_encoder *encoder)
{
        struct trace_event event = { .op = TRACE_OP_THREAD_NAME };

        event.thread_name.name = state->name;
        if (state->name != 0)
                add(encoder, event, time_ns);
        if (state->has_group)
                add(encoder, state->group, time_ns);
        if (state->last_switch.op != 0)
                add(encoder, state->last_switch, time_ns);
        for (size_t i = 0; i < state->n_zones; i++) {
                event = (struct trace_event){ .op = TRACE_OP_ZONE_BEGIN };
                event.zone_begin.location = state->zones[i];
                add(encoder, event, time_ns);
        }
        event = (struct trace_event){ .op = TRACE_OP_FIBER_ENTER };
        event.fiber_enter.fiber = state->fiber;
        if (state->fiber != 0)
                add(encoder, event, time_ns);
}

static void encode_lock_names(const struct stream_states *s, uint64_t time_ns, struct event_encoder *encoder)
{
        for (size_t i = 0; i < s->locks_capacity; i++) {
                struct trace_event event = { .op = TRACE_OP_LOCK_NAME };

                event.lock_name.lock = i + 1;
                event.lock_name.name = s->lock_names[i];
                if (s->lock_names[i] != 0)
                        add(encoder, event, time_ns);
        }
}

uint64_t stream_states_encode(const struct stream_states *s, uint64_t time_ns, struct event_encoder *encoder)
{
        bool locks_named = false;
        uint64_t n_zones = 0;

        for (size_t i = 0; i < s->threads_capacity; i++) {
                const struct stream_state *state = s->threads[i];

                if (!state)
                        continue;
                event_encoder_begin_run(encoder, (uint32_t)i + 1);
                if (!locks_named) /* any live thread may carry the names of the locks */
                        encode_lock_names(s, time_ns, encoder);
                locks_named = true;
                encode_state(state, time_ns, encoder);
                n_zones += state->n_zones;
                event_encoder_end_run(encoder);
        }
        return n_zones;
}
