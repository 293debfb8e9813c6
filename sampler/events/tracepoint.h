/* SPDX-License-Identifier: MIT */
/*
 * sampler/events/tracepoint.h - the places in the kernel that can be watched, by name
 *
 * Way of the data:  tracefs/events/SUBSYSTEM/NAME/id -> [tracepoint] -> event_lookup, `hyprof list`
 */
#ifndef SAMPLER_EVENTS_TRACEPOINT_H
#define SAMPLER_EVENTS_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct event_places;

/*
 * tracepoint_find_root() - where tracefs is
 * @ret_path:  static, or of @places
 * Returns 0, -ENOENT with the command that mounts it, or -EACCES with the remedy.
 */
int tracepoint_find_root(const struct event_places *places, const char **ret_path, struct error *err);

/*
 * tracepoint_find() - the number of "sched:sched_switch", perf_event_attr.config of PERF_TYPE_TRACEPOINT
 * Returns 0; -ESRCH with the nearest name if the group exists and has no such tracepoint; -EINVAL likewise if
 * it may be something else than a tracepoint; -ENOENT and -EACCES as tracepoint_find_root().
 */
int tracepoint_find(const struct event_places *places, const char *text, size_t n_bytes, uint64_t *ret_id,
                    struct error *err);

struct tracepoint_field {
        const char *name; /* borrowed */
        size_t name_bytes;
        uint32_t offset_bytes, size_bytes; /* in the bytes of a record */
        bool is_signed;
        bool is_array;
        bool is_text;    /* an array of char */
        bool is_located; /* 32 bits there say where in the record the array is */
};

/* Takes a field; returns 0, or another number to stop. */
typedef int tracepoint_field_taker(void *context, const struct tracepoint_field *field);

/*
 * Hands all fields to @take, in their order.  Returns 0; -EINVAL if there is no such tracepoint; -ENOENT
 * and -EACCES as tracepoint_find_root(); or what @take returned.
 */
int tracepoint_visit_fields(const struct event_places *places, const char *text, tracepoint_field_taker *take,
                            void *context, struct error *err);

/*
 * tracepoint_find_field() - where in the bytes of its records (PERF_SAMPLE_RAW) a field lies
 * Returns 0; -ENOENT if it has no such field, and as tracepoint_visit_fields().
 */
int tracepoint_find_field(const struct event_places *places, const char *text, const char *field,
                          uint32_t *ret_offset_bytes, struct error *err);

/* Takes a tracepoint; returns 0, or -errno to stop. */
typedef int tracepoint_taker(void *context, const char *subsystem, const char *name);

/*
 * Hands all tracepoints to @take, sorted.  Returns 0, -ENOENT and -EACCES as above, or what @take returned.
 */
int tracepoint_visit(const struct event_places *places, tracepoint_taker *take, void *context,
                     struct error *err);

#endif /* SAMPLER_EVENTS_TRACEPOINT_H */
