/* SPDX-License-Identifier: MIT */
/* instrument/client/plot_events.c - values of plots, and how they are shown */
#include "instrument/client/location_table.h"
#include "instrument/client/name_table.h"
#include "instrument/client/word_event.h"

#include <string.h>

/* False if the thread cannot write. */
WORD_EVENT_INLINE bool emit(enum client_abi_event event, struct hyprof_location *name, unsigned n_words,
                            uint64_t bits)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();
        uint32_t id;

        if (!thread_ring_enter(t, word, THREAD_RING_LOSS_PLOT))
                return false;
        id = location_table_id(name);
        word_event_put(t, &(struct word_event){
                                  .loss = THREAD_RING_LOSS_PLOT,
                                  .event = event,
                                  .argument = id,
                                  .is_lost = id == 0,
                                  .n_words = n_words,
                                  .words = { bits },
                          });
        thread_ring_leave(t, word);
        return true;
}

void hyprof_emit_plot_int(struct hyprof_location *name, int64_t value)
{
        if (name && !emit(CLIENT_ABI_EVENT_PLOT_I64, name, 1, (uint64_t)value))
                CLIENT_LINK_PASS_ON(plot_int, name, value);
}
CLIENT_LINK_OWN(plot_int);

void hyprof_emit_plot_double(struct hyprof_location *name, double value)
{
        uint64_t bits;

        memcpy(&bits, &value, sizeof(bits));
        if (name && !emit(CLIENT_ABI_EVENT_PLOT_F64, name, 1, bits))
                CLIENT_LINK_PASS_ON(plot_double, name, value);
}
CLIENT_LINK_OWN(plot_double);

/*
 * Returns the unit's string in the region.  The string is found through the name table, so that a unit that
 * is set again and again is stored once.
 */
static uint64_t find_unit(const char *unit)
{
        const struct name_key key = { .name = unit, .name_bytes = unit ? strlen(unit) : 0 };
        const struct name_entry *entry = key.name_bytes ? name_table_add(&key) : NULL;

        return entry ? location_table_name(entry->location.id) : 0;
}

/*
 * Stores the settings even if no recorder is there: the entry keeps them for a recorder that comes later.
 */
void hyprof_emit_plot_config(struct hyprof_location *name, enum hyprof_plot_format format, uint32_t flags,
                             uint32_t color, const char *unit)
{
        struct location_plot_config config = {
                .format = (uint32_t)format,
                .flags = flags & (CLIENT_ABI_PLOT_STEP | CLIENT_ABI_PLOT_FILL),
                .color = color,
        };
        uint32_t id;

        if (!name)
                return;
        if (!location_table_is_open()) {
                CLIENT_LINK_PASS_ON(plot_config, name, format, flags, color, unit);
                return;
        }
        id = location_table_id(name);
        if (id == 0)
                return;
        config.unit = find_unit(unit);
        location_table_set_plot(id, &config);
        if (client_control_word() & CLIENT_ABI_FAMILY_PLOTS)
                (void)emit(CLIENT_ABI_EVENT_PLOT_CONFIG, name, 0, 0);
}
CLIENT_LINK_OWN(plot_config);
