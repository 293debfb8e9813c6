/* SPDX-License-Identifier: MIT */
/*
 * The recorder's cost of writing an event: the begin and end of a zone, and an
 * allocation and its free, into chunks as the recorder makes them.
 */
#include "base/clock.h"
#include "format/event_encoder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define N_PAIRS       UINT64_C(40000000)
#define PAIRS_PER_RUN 2000
#define CHUNK_BYTES   (UINT32_C(1) << 20)
#define N_LOCATIONS   48

/* Times between 30 and 285 ns apart: one byte or two, which cannot be predicted. */
static uint64_t next_ns(uint64_t now_ns, uint64_t *random)
{
        *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        return now_ns + 30 + (*random >> 56);
}

static void add_zone(struct event_encoder *e, uint64_t *now_ns, uint64_t *random)
{
        event_encoder_begin_zone(e, *now_ns, 1 + (*random >> 32) % N_LOCATIONS);
        event_encoder_end_zone(e, *now_ns = next_ns(*now_ns, random));
}

static void add_allocation(struct event_encoder *e, uint64_t *now_ns, uint64_t *random)
{
        struct trace_event event = { .op = TRACE_OP_MEMORY_ALLOC, .time_ns = *now_ns };

        event.memory_alloc.address = UINT64_C(0x7f0000000000) + (*random >> 40) * 16;
        event.memory_alloc.size_bytes = *random >> 54;
        event_encoder_add(e, &event);
        event.op = TRACE_OP_MEMORY_FREE;
        event.time_ns = *now_ns = next_ns(*now_ns, random);
        event_encoder_add(e, &event);
}

static void take(struct event_encoder *e, struct byte_buffer *body, uint64_t *n_bytes)
{
        uint64_t first_ns, last_ns;
        uint32_t n_events;

        byte_buffer_clear(body);
        if (event_encoder_take(e, body, &first_ns, &last_ns, &n_events) < 0)
                abort();
        *n_bytes += body->used_bytes;
}

/* A pair of events each, inlined like in the recorder. */
static inline __attribute__((always_inline)) void measure(const char *what,
                                                          void (*add_pair)(struct event_encoder *, uint64_t *,
                                                                           uint64_t *))
{
        struct byte_buffer body = { .data = NULL };
        struct event_encoder *e = malloc(sizeof(*e));
        uint64_t now_ns = 1000000;
        uint64_t random = 1;
        uint64_t n_bytes = 0;
        uint64_t begin_ns;

        if (!e)
                abort();
        event_encoder_init(e);
        begin_ns = clock_raw_ns();
        for (uint64_t i = 0; i < N_PAIRS; i += PAIRS_PER_RUN) {
                event_encoder_begin_run(e, 1 + (uint32_t)(i / PAIRS_PER_RUN % 4));
                for (uint32_t k = 0; k < PAIRS_PER_RUN; k++)
                        add_pair(e, &now_ns, &random);
                event_encoder_end_run(e);
                if (event_encoder_count_bytes(e) >= CHUNK_BYTES)
                        take(e, &body, &n_bytes);
        }
        take(e, &body, &n_bytes);
        (void)printf("%-28s %6.2f ns a pair  %6.2f bytes, not packed\n", what,
                     (double)(clock_raw_ns() - begin_ns) / (double)N_PAIRS,
                     (double)n_bytes / (double)N_PAIRS);
        byte_buffer_deinit(&body);
        event_encoder_deinit(e);
        free(e);
}

int main(void)
{
        measure("begin and end of a zone", add_zone);
        measure("an allocation and its free", add_allocation);
        return EXIT_SUCCESS;
}
