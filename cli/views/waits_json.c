/* SPDX-License-Identifier: MIT */
#include "cli/views/waits_json.h"

#include "analyze/report/report.h"
#include "cli/views/report_object.h"

/* Stable names, beside the words for people. */
static const char *const wait_names[TRACE_WAIT_STATE_COUNT + 1] = {
#define X(id, name, words) [id] = #name,
        TRACE_WAIT_STATES(X)
#undef X
                [TRACE_WAIT_STATE_COUNT] = "UNKNOWN",
};

static void put_mean(struct report_object *object, const char *key, const struct wait_sum *sum)
{
        uint64_t mean_ns = sum->n_waits != 0 ? sum->total_ns / sum->n_waits : 0;

        report_object_put(object, key, report_object_number_or_null(mean_ns, sum->n_waits != 0));
}

static json_t *pack_sum(const struct wait_sum *sum)
{
        struct report_object object = report_object_begin();

        report_object_put(&object, "count", report_object_number(sum->n_waits));
        report_object_put(&object, "total_ns", report_object_number(sum->total_ns));
        put_mean(&object, "mean_ns", sum);
        report_object_put(&object, "max_ns", report_object_number_or_null(sum->max_ns, sum->n_waits != 0));
        return report_object_take(&object);
}

/* Members that every row of waits has. */
static void put_row(struct report_object *object, const struct report_waits *w, const struct wait_row *row)
{
        report_object_put(object, "count", report_object_number(row->ended.n_waits));
        report_object_put(object, "unended", report_object_number(row->n_open));
        report_object_put(object, "total_ns", report_object_number(wait_row_total_ns(row)));
        put_mean(object, "mean_ns", &row->ended);
        report_object_put(object, "max_ns",
                          report_object_number_or_null(row->ended.max_ns, row->ended.n_waits != 0));
        report_object_put(object, "share",
                          report_object_share(wait_row_total_ns(row), wait_row_total_ns(&w->all)));
        report_object_put(object, "delays", w->has_wakeups ? pack_sum(&row->delays) : json_null());
}

static json_t *pack_frame(const struct report_wait_frame *frame)
{
        struct report_object object = report_object_begin();

        report_object_put(&object, "function", report_object_string_or_null(frame->name));
        report_object_put(&object, "module", report_object_string_or_null(frame->module));
        report_object_put(&object, "kind", report_object_kind(frame->kind));
        return report_object_take(&object);
}

static json_t *pack_callstack(const struct report_wait_place *place)
{
        json_t *list = json_array();

        for (uint32_t i = 0; i < place->n_frames; i++)
                if (json_array_append_new(list, pack_frame(&place->frames[i])) < 0)
                        goto fail;
        return list;
fail:
        json_decref(list);
        return NULL;
}

static json_t *pack_wakers(const struct report_wait_place *place)
{
        json_t *list = json_array();

        for (uint32_t i = 0; i < place->n_wakers; i++) {
                const struct report_waker *waker = &place->wakers[i];
                struct report_object object = report_object_begin();

                report_object_put(&object, "thread", report_object_string_or_null(waker->thread));
                report_object_put(&object, "in",
                                  waker->has_function ? pack_frame(&waker->function) : json_null());
                report_object_put(&object, "count", report_object_number(waker->ended.n_waits));
                report_object_put(&object, "total_ns", report_object_number(waker->ended.total_ns));
                report_object_put(&object, "share",
                                  report_object_share(waker->ended.total_ns, place->sum.ended.total_ns));
                if (json_array_append_new(list, report_object_take(&object)) < 0)
                        goto fail;
        }
        return list;
fail:
        json_decref(list);
        return NULL;
}

static json_t *pack_place(const struct report *report, uint32_t index)
{
        const struct report_wait_place *place = &report->waits.places[index];
        struct report_object object = report_object_begin();

        report_object_put(&object, "in",
                          place->frame < place->n_frames ? pack_frame(&place->frames[place->frame])
                                                         : json_null());
        report_object_put(&object, "kernel_function", report_object_string_or_null(place->kernel));
        report_object_put(&object, "state", json_string(wait_names[place->wait]));
        report_object_put(&object, "state_words", json_string(place->wait_words));
        put_row(&object, &report->waits, &place->sum);
        report_object_put(&object, "callstack", place->has_stack ? pack_callstack(place) : json_null());
        report_object_put(&object, "callstack_cut", json_boolean(place->is_cut));
        report_object_put(&object, "wakers", pack_wakers(place));
        return report_object_take(&object);
}

static json_t *pack_zone(const struct report *report, uint32_t index)
{
        const struct report_wait_zone *zone = &report->waits.zones[index];
        struct report_object object = report_object_begin();
        json_t *names = json_array();

        for (uint32_t i = 0; i < zone->n_names; i++)
                if (json_array_append_new(names, report_object_string(zone->names[i])) < 0)
                        goto fail;
        report_object_put(&object, "zones", names);
        put_row(&object, &report->waits, &zone->sum);
        return report_object_take(&object);
fail:
        json_decref(names);
        json_decref(object.json);
        return NULL;
}

static json_t *pack_thread(const struct report *report, uint32_t index)
{
        const struct report_wait_thread *thread = &report->waits.threads[index];
        struct report_object object = report_object_begin();

        report_object_put(&object, "pid", report_object_number(thread->pid));
        report_object_put(&object, "tid", report_object_number(thread->tid));
        report_object_put(&object, "name", report_object_string_or_null(thread->name));
        put_row(&object, &report->waits, &thread->sum);
        report_object_put(&object, "preempted", pack_sum(&thread->preempted));
        return report_object_take(&object);
}

static json_t *pack_cpu_thread(const struct report_cpu *cpu, const struct report_cpu_thread *thread)
{
        struct report_object object = report_object_begin();

        report_object_put(&object, "pid", report_object_number(thread->pid));
        report_object_put(&object, "tid", report_object_number(thread->tid));
        report_object_put(&object, "name", report_object_string_or_null(thread->name));
        report_object_put(&object, "busy_ns", report_object_number(thread->busy_ns));
        report_object_put(&object, "share", report_object_share(thread->busy_ns, cpu->busy_ns));
        report_object_put(&object, "switches", report_object_number(thread->n_switches));
        return report_object_take(&object);
}

static json_t *pack_cpu_threads(const struct report_cpu *cpu, uint32_t limit)
{
        uint32_t n_rows = report_limited(cpu->n_threads, limit);
        json_t *list = json_array();

        for (uint32_t i = 0; i < n_rows; i++)
                if (json_array_append_new(list, pack_cpu_thread(cpu, &cpu->threads[i])) < 0)
                        goto fail;
        return report_object_list(list, cpu->n_threads - n_rows);
fail:
        json_decref(list);
        return NULL;
}

json_t *waits_json_pack(const struct report *report, uint32_t limit)
{
        const struct report_waits *w = &report->waits;
        uint64_t n_waits = w->all.ended.n_waits + w->all.n_open;
        uint64_t n_with_stack = w->with_stack.ended.n_waits + w->with_stack.n_open;
        struct report_object object;

        if (!report->on_cpu_known)
                return json_null();
        object = report_object_begin();
        put_row(&object, w, &w->all);
        report_object_put(&object, "preempted", pack_sum(&w->preempted));
        report_object_put(&object, "with_callstack_share", report_object_share(n_with_stack, n_waits));
        report_object_put(&object, "with_callstack_time_share",
                          report_object_share(wait_row_total_ns(&w->with_stack), wait_row_total_ns(&w->all)));
        report_object_put(&object, "with_waker_share",
                          w->has_wakeups ? report_object_share(w->woken.n_waits, n_waits) : json_null());
        report_object_put(&object, "places", report_object_pack_list(report, w->n_places, limit, pack_place));
        report_object_put(&object, "zones", report_object_pack_list(report, w->n_zones, limit, pack_zone));
        report_object_put(&object, "threads",
                          report_object_pack_list(report, w->n_threads, limit, pack_thread));
        return report_object_take(&object);
}

json_t *waits_json_pack_cpus(const struct report *report, uint32_t limit)
{
        uint32_t n_rows = report_limited(report->cpus.n_rows, limit);
        json_t *list;

        if (!report->on_cpu_known)
                return json_null();
        list = json_array();
        for (uint32_t i = 0; i < n_rows; i++) {
                const struct report_cpu *cpu = &report->cpus.rows[i];
                struct report_object object = report_object_begin();

                report_object_put(&object, "cpu", report_object_number(cpu->cpu));
                report_object_put(&object, "busy_ns", report_object_number(cpu->busy_ns));
                report_object_put(&object, "busy_share",
                                  report_object_share(cpu->busy_ns, report->recording.range_ns));
                report_object_put(&object, "switches", report_object_number(cpu->n_switches));
                report_object_put(&object, "threads", pack_cpu_threads(cpu, limit));
                if (json_array_append_new(list, report_object_take(&object)) < 0)
                        goto fail;
        }
        return report_object_list(list, report->cpus.n_rows - n_rows);
fail:
        json_decref(list);
        return NULL;
}
