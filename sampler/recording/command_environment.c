/* SPDX-License-Identifier: MIT */
#include "sampler/recording/command_environment.h"

#include "sampler/zones/spare_memory.h"

#include <inttypes.h>
#include <stdio.h>

static void add(struct command_environment *e, const char *name, const char *value)
{
        e->pairs[e->n++] = name;
        e->pairs[e->n++] = value;
}

/* Rings of another size are for clients of ABI 1.0, which have nothing beyond them. */
void command_environment_add_rings(struct command_environment *e, uint64_t wanted_bytes)
{
        struct spare_memory spare;

        spare_memory_init(&spare, wanted_bytes);
        (void)snprintf(e->spare_bytes, sizeof(e->spare_bytes), "%" PRIu64,
                       spare_memory_of_process(&spare, 0));
        add(e, "HYPROF_SPARE", e->spare_bytes);
        if (wanted_bytes == 0)
                return;
        (void)snprintf(e->ring_bytes, sizeof(e->ring_bytes), "%" PRIu64,
                       spare_memory_old_ring_bytes(wanted_bytes));
        add(e, "HYPROF_RING", e->ring_bytes);
}

void command_environment_add_recording(struct command_environment *e, uint32_t families, const char *recorder)
{
        (void)snprintf(e->families, sizeof(e->families), "%" PRIu32, families);
        add(e, "HYPROF_RECORD", e->families);
        add(e, "HYPROF_RECORDER", recorder);
}
