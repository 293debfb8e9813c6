/* SPDX-License-Identifier: MIT */
#include "sampler/events/event_totals.h"

#include "base/error.h"
#include "format/trace_dictionary.h"
#include "sampler/events/event_attr.h"
#include "sampler/events/event_set.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <unistd.h>

/* The values of a group: their number, two times, and for each member its value, id and losses. */
#define READ_WORDS_MAX (3 + 3 * EVENT_REQUEST_SPECS_MAX)

/* less than one part in so many is lost while events are switched on and off */
#define SLACK_SHARE 100

int event_count_decode(const uint64_t *words, size_t n_words, uint64_t read_format, uint64_t id,
                       struct event_count *ret_count)
{
        struct event_count count = { .value = 0 };
        bool is_group = (read_format & PERF_FORMAT_GROUP) != 0;
        size_t has_id = (read_format & PERF_FORMAT_ID) != 0 ? 1 : 0;
        size_t each = 1 + has_id + ((read_format & PERF_FORMAT_LOST) != 0 ? 1u : 0u);
        size_t n_times = ((read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) != 0 ? 1u : 0u) +
                         ((read_format & PERF_FORMAT_TOTAL_TIME_RUNNING) != 0 ? 1u : 0u);
        size_t n_members = 1, at = 0, values, times;

        if (n_words < 1)
                return -EBADMSG;
        if (is_group && words[at++] <= READ_WORDS_MAX)
                n_members = (size_t)words[0];
        /* a group's times precede its values; a single event's follow its value */
        times = is_group ? at : at + 1;
        values = is_group ? at + n_times : at;
        if (n_words < at + n_times + n_members * each || (is_group && words[0] > READ_WORDS_MAX))
                return -EBADMSG;
        if (n_times > 0)
                count.enabled_ns = words[times];
        if (n_times > 1)
                count.running_ns = words[times + 1];
        for (size_t i = 0; i < n_members; i++) {
                const uint64_t *member = words + values + i * each;
                const uint64_t *rest = member + 1 + (is_group ? 0 : n_times);

                if (is_group && has_id > 0 && member[1] != id)
                        continue;
                count.value = member[0];
                if (read_format & PERF_FORMAT_LOST)
                        count.n_lost = rest[has_id];
                *ret_count = count;
                return 0;
        }
        return -EBADMSG;
}

int event_totals_read(const struct event_set *set, const struct event_handle *handle,
                      struct event_count *ret_count)
{
        const struct event_attr_options *options = &set->options.attr;
        struct perf_event_attr attr = handle->spec == UINT32_MAX ? event_attr_of_tracker(options)
                                                                 : event_attr_of_spec(options, handle->spec);
        uint64_t words[READ_WORDS_MAX];
        ssize_t n = read(handle->fd, words, sizeof(words));

        if (n < 0)
                return -errno;
        if (set->without_losses)
                attr.read_format &= ~(uint64_t)PERF_FORMAT_LOST;
        return event_count_decode(words, (size_t)n / sizeof(words[0]), attr.read_format, handle->id,
                                  ret_count);
}

void event_totals_add(struct event_totals *totals, uint32_t spec, const struct event_count *count)
{
        if (spec == UINT32_MAX) {
                totals->watched_ns += count->running_ns;
                return;
        }
        totals->specs[spec].value += count->value;
        totals->specs[spec].enabled_ns += count->enabled_ns;
        totals->specs[spec].running_ns += count->running_ns;
        totals->specs[spec].n_lost += count->n_lost;
}

void event_totals_finish(struct event_totals *totals, const struct event_request *request)
{
        for (size_t i = 0; i < request->n_specs; i++) {
                struct event_count *count = &totals->specs[i];

                /*
                 * The event counts on some CPUs only, and how long the recorded threads ran there is
                 * unknown.
                 */
                if (request->specs[i].on_some_cpus || totals->watched_ns < count->enabled_ns)
                        count->enabled_ns = request->specs[i].on_some_cpus ? count->running_ns
                                                                           : totals->watched_ns;
                if (count->running_ns + count->enabled_ns / SLACK_SHARE >= count->enabled_ns)
                        count->enabled_ns = count->running_ns;
                else
                        totals->shared = true;
        }
}

/* An event of --stat that this machine does not have gets no row. */
static bool is_open(const struct event_set *set, uint32_t spec)
{
        for (size_t i = 0; i < set->n_handles; i++)
                if (set->handles[i].spec == spec)
                        return true;
        return false;
}

int event_totals_write(const struct event_set *set, const uint32_t *sample_events,
                       struct trace_dictionary *dictionary, bool *ret_shared, struct error *err)
{
        const struct event_request *request = set->options.attr.request;
        struct event_totals totals = { .shared = false };
        uint32_t id;
        int r = 0;

        for (size_t i = 0; i < set->n_handles; i++) {
                struct event_count count = { .value = 0 };

                r = event_totals_read(set, &set->handles[i], &count);
                if (r < 0)
                        return error_set(err, r, "cannot read the totals of events");
                event_totals_add(&totals, set->handles[i].spec, &count);
        }
        event_totals_finish(&totals, request);
        for (size_t i = 0; r == 0 && i < request->n_specs; i++) {
                struct trace_counter row = { .event = sample_events[i],
                                             .value = totals.specs[i].value,
                                             .enabled_ns = totals.specs[i].enabled_ns,
                                             .running_ns = totals.specs[i].running_ns };

                if (row.event != 0 &&
                    (is_open(set, (uint32_t)i) || !event_spec_is_total(&request->specs[i], (uint32_t)i)))
                        r = trace_dictionary_add(dictionary, TRACE_TABLE_COUNTERS, &row, &id);
        }
        *ret_shared = totals.shared;
        return r < 0 ? error_set(err, r, "no memory for the totals of events") : 0;
}

uint64_t event_totals_count_lost(const struct event_set *set)
{
        uint64_t n_lost = 0;

        if (set->without_losses)
                return UINT64_MAX;
        for (size_t i = 0; i < set->n_handles; i++) {
                struct event_count count = { .value = 0 };

                if (event_totals_read(set, &set->handles[i], &count) < 0)
                        return UINT64_MAX;
                n_lost += count.n_lost;
        }
        return n_lost;
}
