/* SPDX-License-Identifier: MIT */
#include "export/tables/sqlite_database.h"

#include "analyze/devices/device_keys.h"
#include "analyze/devices/device_op_events.h"
#include "analyze/devices/device_ops.h"
#include "analyze/devices/device_zones.h"
#include "analyze/path/path.h"
#include "analyze/trace/zone_words.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "analyze/walk/trace_walk.h"
#include "analyze/walk/zone_stats.h"
#include "base/error.h"
#include "export/tables/device_ops_table.h"
#include "export/tables/device_tables.h"
#include "export/tables/flows_table.h"
#include "export/tables/import_tables.h"
#include "export/tables/sqlite_writer.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct filling {
        struct sqlite_writer db;
        struct loaded_trace *trace;
        const struct trace_dictionary *d;
        struct trace_walk walk;
        struct sqlite_database_totals totals;
        struct sqlite_insert zones, samples, waits, fibers, messages, plots, frames, memory, locks;
        bool has_idle; /* the trace says for how long CPUs were idle */
        struct device_op_events device_ops;
        uint64_t from_ns;   /* where the range of time begins */
        uint64_t callstack; /* of the event that follows on the same thread */
};

static struct text_view string_of(const struct filling *f, uint64_t id)
{
        return trace_dictionary_text(f->d, (uint32_t)id);
}

static struct text_view words_of(const char *words)
{
        return (struct text_view){ .bytes = words, .n_bytes = strlen(words) };
}

static void put_known(struct sqlite_insert *i, bool is_known, uint64_t number)
{
        if (is_known)
                sqlite_insert_number(i, number);
        else
                sqlite_insert_null(i);
}

static uint64_t since_start(const struct filling *f, uint64_t time_ns)
{
        return time_ns > f->trace->start_ns ? time_ns - f->trace->start_ns : 0;
}

static int check(const struct filling *f, struct error *err)
{
        return f->db.why.code < 0 ? error_set(err, f->db.why.code, "%s", f->db.why.text) : 0;
}

/* ------------------------------------------------------------------ tables */

/* Calls @put for each row of a table, between opening and closing the insert. */
static void fill_table(struct filling *f, enum trace_table table, const char *name, int n_columns,
                       void (*put)(struct filling *f, struct sqlite_insert *i, uint32_t id))
{
        uint32_t n = trace_dictionary_count(f->d, table);
        struct sqlite_insert insert;

        sqlite_insert_open(&insert, &f->db, name, n_columns);
        for (uint32_t id = 1; id <= n && f->db.why.code == 0; id++) {
                put(f, &insert, id);
                sqlite_insert_end_row(&insert);
        }
        sqlite_insert_close(&insert);
}

static void put_meta(struct filling *f, struct sqlite_insert *i, uint32_t id)
{
        const struct trace_meta *row = trace_dictionary_row(f->d, TRACE_TABLE_META, id);

        sqlite_insert_string(i, string_of(f, row->key));
        sqlite_insert_string(i, string_of(f, row->value));
}

static void put_process(struct filling *f, struct sqlite_insert *i, uint32_t id)
{
        const struct trace_process *row = trace_dictionary_row(f->d, TRACE_TABLE_PROCESSES, id);

        sqlite_insert_number(i, id);
        sqlite_insert_number(i, row->pid);
        sqlite_insert_id(i, row->parent);
        sqlite_insert_number(i, since_start(f, row->start_ns));
        sqlite_insert_id(i, row->recording);
}

static void put_recording(struct filling *f, struct sqlite_insert *i, uint32_t id)
{
        const struct trace_recording *row = trace_dictionary_row(f->d, TRACE_TABLE_RECORDINGS, id);

        sqlite_insert_number(i, id);
        sqlite_insert_string(i, string_of(f, row->label));
        sqlite_insert_string(i, string_of(f, row->hostname));
        sqlite_insert_string(i, string_of(f, row->command));
        sqlite_insert_string(i, string_of(f, row->trace));
        sqlite_insert_number(i, row->clock);
        sqlite_insert_number(i, row->offset_ns);
        sqlite_insert_number(i, row->error_ns);
        sqlite_insert_number(i, row->first_cpu);
        sqlite_insert_number(i, row->n_cpus);
}

/* After the walk, which finds the ends of threads; those before the range only where it reads everything. */
static void put_thread(struct filling *f, struct sqlite_insert *i, uint32_t id)
{
        const struct trace_thread *row = trace_dictionary_row(f->d, TRACE_TABLE_THREADS, id);
        const struct walked_thread *thread = id <= f->walk.n_threads ? &f->walk.threads[id - 1] : NULL;

        sqlite_insert_number(i, id);
        sqlite_insert_number(i, row->process);
        sqlite_insert_number(i, row->tid);
        sqlite_insert_string(i, loaded_trace_thread_name(f->trace, id));
        sqlite_insert_number(i, row->kind == TRACE_THREAD_FIBER);
        sqlite_insert_number(i, since_start(f, row->start_ns));
        if (thread && thread->has_ended && thread->timeline.last_ns >= f->from_ns)
                sqlite_insert_number(i, since_start(f, thread->timeline.last_ns));
        else
                sqlite_insert_null(i);
        sqlite_insert_id(i, row->creator);
}

static void put_module(struct filling *f, struct sqlite_insert *i, uint32_t id)
{
        const struct trace_module *row = trace_dictionary_row(f->d, TRACE_TABLE_MODULES, id);

        sqlite_insert_number(i, id);
        sqlite_insert_string(i, string_of(f, row->path));
        sqlite_insert_hex(i, string_of(f, row->build_id));
        sqlite_insert_number(i, row->kind == TRACE_MODULE_PYTHON);
}

static void put_frame(struct filling *f, struct sqlite_insert *i, uint32_t id)
{
        const struct trace_frame *row = trace_dictionary_row(f->d, TRACE_TABLE_FRAMES, id);

        sqlite_insert_number(i, id);
        sqlite_insert_id(i, row->module);
        sqlite_insert_number(i, row->offset);
        sqlite_insert_number(i, row->flags & 1);
}

static void put_stack(struct filling *f, struct sqlite_insert *i, uint32_t id)
{
        const struct trace_stack *row = trace_dictionary_row(f->d, TRACE_TABLE_STACKS, id);

        sqlite_insert_number(i, id);
        sqlite_insert_id(i, row->parent);
        sqlite_insert_number(i, row->frame);
}

static void put_location(struct filling *f, struct sqlite_insert *i, uint32_t id)
{
        const struct trace_location *row = trace_dictionary_row(f->d, TRACE_TABLE_LOCATIONS, id);

        sqlite_insert_number(i, id);
        sqlite_insert_string(i, string_of(f, row->name));
        sqlite_insert_string(i, string_of(f, row->function));
        sqlite_insert_string(i, string_of(f, row->file));
        sqlite_insert_id(i, row->line);
}

static void put_event_row(struct filling *f, struct sqlite_insert *i, uint32_t id)
{
        const struct trace_sample_event *row = trace_dictionary_row(f->d, TRACE_TABLE_SAMPLE_EVENTS, id);

        sqlite_insert_number(i, id);
        sqlite_insert_string(i, string_of(f, row->name));
        sqlite_insert_string(i, string_of(f, row->unit));
        sqlite_insert_number(i, row->rate);
        sqlite_insert_number(i, row->mode);
        sqlite_insert_id(i, row->leader);
}

static void put_counter(struct filling *f, struct sqlite_insert *i, uint32_t id)
{
        const struct trace_counter *row = trace_dictionary_row(f->d, TRACE_TABLE_COUNTERS, id);

        sqlite_insert_number(i, row->event);
        sqlite_insert_number(i, row->value);
        sqlite_insert_number(i, row->enabled_ns);
        sqlite_insert_number(i, row->running_ns);
}

static void put_loss(struct filling *f, struct sqlite_insert *i, uint32_t id)
{
        const struct trace_loss *row = trace_dictionary_row(f->d, TRACE_TABLE_LOSSES, id);

        sqlite_insert_number(i, row->reason);
        sqlite_insert_id(i, row->thread);
        sqlite_insert_number(i, row->count);
        sqlite_insert_number(i, since_start(f, row->time_ns));
}

/* The innermost function of a frame has level 0, the one that it was inlined into level 1, and so on. */
static void put_symbols(struct filling *f, struct sqlite_insert *insert, uint32_t first)
{
        for (uint32_t id = first; id != 0; id = trace_dictionary_next_symbol(f->d, id)) {
                const struct trace_symbol *row = trace_dictionary_row(f->d, TRACE_TABLE_SYMBOLS, id);

                sqlite_insert_number(insert, row->frame);
                sqlite_insert_number(insert, id - first);
                sqlite_insert_string(insert, string_of(f, row->function));
                sqlite_insert_string(insert, string_of(f, row->file));
                sqlite_insert_id(insert, row->line);
                sqlite_insert_end_row(insert);
        }
}

static int fill_symbols(struct filling *f, struct error *err)
{
        uint32_t n_frames = trace_dictionary_count(f->d, TRACE_TABLE_FRAMES);
        uint32_t *first = trace_dictionary_find_symbols(f->d);
        struct sqlite_insert insert;

        if (!first)
                return error_set(err, -ENOMEM, "the database: out of memory");
        sqlite_insert_open(&insert, &f->db, "symbols", 5);
        for (uint32_t frame = 1; frame <= n_frames && f->db.why.code == 0; frame++)
                if (first[frame] != 0)
                        put_symbols(f, &insert, first[frame]);
        sqlite_insert_close(&insert);
        free(first);
        return 0;
}

/* After the walk, which adds paths. */
static void fill_paths(struct filling *f)
{
        struct sqlite_insert insert;

        sqlite_insert_open(&insert, &f->db, "zone_paths", 3);
        for (uint32_t id = 1; id <= zone_paths_count(&f->walk.paths) && f->db.why.code == 0; id++) {
                sqlite_insert_number(&insert, id);
                sqlite_insert_id(&insert, zone_paths_parent(&f->walk.paths, id));
                sqlite_insert_number(&insert, zone_paths_location(&f->walk.paths, id));
                sqlite_insert_end_row(&insert);
        }
        sqlite_insert_close(&insert);
}

static int fill_tables(struct filling *f, struct error *err)
{
        fill_table(f, TRACE_TABLE_META, "meta", 2, put_meta);
        fill_table(f, TRACE_TABLE_RECORDINGS, "recordings", 10, put_recording);
        fill_table(f, TRACE_TABLE_PROCESSES, "processes", 5, put_process);
        fill_table(f, TRACE_TABLE_MODULES, "modules", 4, put_module);
        fill_table(f, TRACE_TABLE_FRAMES, "frames", 4, put_frame);
        fill_table(f, TRACE_TABLE_STACKS, "stacks", 3, put_stack);
        fill_table(f, TRACE_TABLE_LOCATIONS, "locations", 5, put_location);
        fill_table(f, TRACE_TABLE_SAMPLE_EVENTS, "events", 6, put_event_row);
        fill_table(f, TRACE_TABLE_COUNTERS, "counters", 4, put_counter);
        fill_table(f, TRACE_TABLE_LOSSES, "losses", 4, put_loss);
        import_tables_write(&f->db, f->d);
        return fill_symbols(f, err);
}

/* ------------------------------------------------------------------ events */

static int on_zone(void *context, struct walked_thread *thread, const struct zone_instance *zone,
                   struct error *err)
{
        const struct zone_words *words = trace_walk_words(thread, zone);
        struct filling *f = context;
        struct sqlite_insert *i = &f->zones;

        f->totals.n_zones++;
        sqlite_insert_number(i, thread->id);
        sqlite_insert_number(i, zone->location);
        sqlite_insert_id(i, zone->path);
        sqlite_insert_number(i, since_start(f, zone->begin_ns));
        sqlite_insert_number(i, zone_instance_duration_ns(zone));
        sqlite_insert_number(i, zone->self_ns);
        put_known(i, !zone->is_cpu_unknown, zone->on_cpu_ns);
        sqlite_insert_number(i, zone->depth);
        sqlite_insert_number(i, zone->closed);
        sqlite_insert_number(i, zone->outermost);
        if (words) {
                sqlite_insert_string(
                        i, (struct text_view){ (const char *)words->name.data, words->name.used_bytes });
                sqlite_insert_string(
                        i, (struct text_view){ (const char *)words->text.data, words->text.used_bytes });
                if (words->has_value)
                        sqlite_insert_signed(i, words->value);
        }
        sqlite_insert_end_row(i);
        return check(f, err);
}

static int on_sample(void *context, struct walked_thread *thread, const struct trace_event *event,
                     struct error *err)
{
        struct filling *f = context;
        struct sqlite_insert *i = &f->samples;

        f->totals.n_samples++;
        sqlite_insert_number(i, since_start(f, event->time_ns));
        sqlite_insert_number(i, thread->id);
        sqlite_insert_number(i, event->sample.cpu);
        sqlite_insert_number(i, event->sample.event);
        sqlite_insert_id(i, event->sample.stack);
        sqlite_insert_id(i, event->sample.path);
        sqlite_insert_number(i, event->sample.weight);
        sqlite_insert_end_row(i);
        return check(f, err);
}

static const char *state_words(const struct thread_wait *wait)
{
        static const char *const words[TRACE_WAIT_STATE_COUNT + 1] = {
                [TRACE_WAIT_UNKNOWN] = "unknown",   [TRACE_WAIT_PREEMPTED] = "preempted",
                [TRACE_WAIT_SLEEPING] = "sleeping", [TRACE_WAIT_UNINTERRUPTIBLE] = "uninterruptible",
                [TRACE_WAIT_STOPPED] = "stopped",   [TRACE_WAIT_ENDED] = "ended",
                [TRACE_WAIT_IDLE] = "idle",         [TRACE_WAIT_STATE_COUNT] = "unknown",
        };

        return wait->preempted ? "preempted" : words[wait->state];
}

static void put_cpu(struct sqlite_insert *i, uint32_t cpu)
{
        put_known(i, cpu != TRACE_WALK_NO_CPU, cpu);
}

/* Who got the CPU of a preempted thread: a thread's id, and a word. */
static void put_successor(struct sqlite_insert *i, uint32_t successor)
{
        static const char *const words[] = {
                [TRACE_SUCCESSOR_IDLE] = "idle", [TRACE_SUCCESSOR_OTHER] = "other"
        };

        sqlite_insert_id(i, successor > TRACE_SUCCESSOR_OTHER ? successor - TRACE_SUCCESSOR_OTHER : 0);
        if (successor == TRACE_SUCCESSOR_UNKNOWN)
                sqlite_insert_null(i);
        else
                sqlite_insert_string(
                        i, words_of(successor > TRACE_SUCCESSOR_OTHER ? "thread" : words[successor]));
}

static int on_wait(void *context, struct walked_thread *thread, const struct thread_wait *wait,
                   struct error *err)
{
        struct filling *f = context;
        struct sqlite_insert *i = &f->waits;

        f->totals.n_waits++;
        sqlite_insert_number(i, thread->id);
        sqlite_insert_number(i, since_start(f, wait->out_ns));
        sqlite_insert_number(i, wait->in_ns > wait->out_ns ? wait->in_ns - wait->out_ns : 0);
        put_known(i, wait->is_woken && wait->in_ns >= wait->woken_ns, wait->in_ns - wait->woken_ns);
        sqlite_insert_string(i, words_of(state_words(wait)));
        sqlite_insert_id(i, wait->stack);
        sqlite_insert_id(i, wait->path);
        sqlite_insert_id(i, wait->waker_thread);
        sqlite_insert_string(i, string_of(f, wait->waker_name));
        sqlite_insert_id(i, wait->waker_stack);
        put_cpu(i, wait->out_cpu);
        put_cpu(i, wait->in_cpu);
        sqlite_insert_number(i, wait->ended);
        put_cpu(i, wait->wake_cpu);
        sqlite_insert_id(i, wait->below);
        put_successor(i, wait->preempted ? wait->successor : TRACE_SUCCESSOR_UNKNOWN);
        put_known(i, f->has_idle && wait->ended, wait->idle_ns);
        sqlite_insert_end_row(i);
        return check(f, err);
}

static void begin_row(struct filling *f, struct sqlite_insert *i, const struct walked_thread *thread,
                      const struct trace_event *event)
{
        f->totals.n_other++;
        sqlite_insert_number(i, since_start(f, event->time_ns));
        sqlite_insert_number(i, thread->id);
}

static void put_fiber(struct filling *f, const struct walked_thread *thread, const struct trace_event *event)
{
        begin_row(f, &f->fibers, thread, event);
        sqlite_insert_id(&f->fibers, event->op == TRACE_OP_FIBER_ENTER ? event->fiber_enter.fiber : 0);
        sqlite_insert_end_row(&f->fibers);
}

static void put_message(struct filling *f, const struct walked_thread *thread,
                        const struct trace_event *event)
{
        struct text_view text = { event->text, (size_t)event->operand[0] };

        begin_row(f, &f->messages, thread, event);
        sqlite_insert_number(&f->messages, event->operand[1]);
        sqlite_insert_string(&f->messages,
                             event->op == TRACE_OP_MESSAGE_TEXT ? text : string_of(f, event->message.text));
        sqlite_insert_end_row(&f->messages);
}

static void put_plot(struct filling *f, const struct walked_thread *thread, const struct trace_event *event)
{
        double real = (double)event->plot_i64.value;

        if (event->op == TRACE_OP_PLOT_F64)
                memcpy(&real, &event->plot_f64.bits, sizeof(real));
        begin_row(f, &f->plots, thread, event);
        sqlite_insert_string(&f->plots, string_of(f, event->operand[0]));
        sqlite_insert_real(&f->plots, real);
        sqlite_insert_end_row(&f->plots);
}

static void put_frame_mark(struct filling *f, const struct walked_thread *thread,
                           const struct trace_event *event)
{
        begin_row(f, &f->frames, thread, event);
        sqlite_insert_string(&f->frames, string_of(f, event->operand[0]));
        sqlite_insert_string(&f->frames, words_of(event->op == TRACE_OP_FRAME_MARK    ? "mark"
                                                  : event->op == TRACE_OP_FRAME_BEGIN ? "begin"
                                                                                      : "end"));
        sqlite_insert_end_row(&f->frames);
}

static void put_memory(struct filling *f, struct walked_thread *thread, const struct trace_event *event,
                       uint32_t path)
{
        struct sqlite_insert *i = &f->memory;

        begin_row(f, i, thread, event);
        sqlite_insert_string(i, words_of(event->op == TRACE_OP_MEMORY_ALLOC  ? "alloc"
                                         : event->op == TRACE_OP_MEMORY_FREE ? "free"
                                                                             : "discard"));
        sqlite_insert_string(i, string_of(f, event->operand[0]));
        put_known(i, event->op != TRACE_OP_MEMORY_DISCARD, event->operand[1]);
        put_known(i, event->op == TRACE_OP_MEMORY_ALLOC, event->memory_alloc.size_bytes);
        sqlite_insert_id(i, f->callstack);
        sqlite_insert_id(i, path);
        sqlite_insert_end_row(i);
}

static void put_lock(struct filling *f, const struct walked_thread *thread, const struct trace_event *event,
                     uint32_t path)
{
        const struct trace_lock *lock = trace_dictionary_row(f->d, TRACE_TABLE_LOCKS,
                                                             (uint32_t)event->operand[0]);
        const struct trace_location *location = trace_dictionary_row(f->d, TRACE_TABLE_LOCATIONS,
                                                                     lock->location);
        const char *kind = event->op == TRACE_OP_LOCK_WAIT     ? "wait"
                           : event->op == TRACE_OP_LOCK_OBTAIN ? "obtain"
                                                               : "release";

        begin_row(f, &f->locks, thread, event);
        sqlite_insert_string(&f->locks, words_of(kind));
        sqlite_insert_number(&f->locks, event->operand[0]);
        sqlite_insert_string(&f->locks, string_of(f, location->name));
        sqlite_insert_number(&f->locks, event->operand[1]);
        sqlite_insert_id(&f->locks, path);
        sqlite_insert_end_row(&f->locks);
}

static int on_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                    struct error *err)
{
        struct filling *f = context;
        uint32_t path;
        int r = trace_walk_path(&f->walk, thread, &path);

        if (r < 0)
                return error_set(err, r, "the database: out of memory");
        switch (event->op) {
        case TRACE_OP_CALLSTACK:
                f->callstack = event->callstack.stack;
                return 0;
        case TRACE_OP_MESSAGE:
        case TRACE_OP_MESSAGE_TEXT:
                put_message(f, thread, event);
                break;
        case TRACE_OP_PLOT_I64:
        case TRACE_OP_PLOT_F64:
                put_plot(f, thread, event);
                break;
        case TRACE_OP_FRAME_MARK:
        case TRACE_OP_FRAME_BEGIN:
        case TRACE_OP_FRAME_END:
                put_frame_mark(f, thread, event);
                break;
        case TRACE_OP_MEMORY_ALLOC:
        case TRACE_OP_MEMORY_FREE:
        case TRACE_OP_MEMORY_DISCARD:
                put_memory(f, thread, event, path);
                break;
        case TRACE_OP_LOCK_WAIT:
        case TRACE_OP_LOCK_OBTAIN:
        case TRACE_OP_LOCK_RELEASE:
                put_lock(f, thread, event, path);
                break;
        case TRACE_OP_FIBER_ENTER:
        case TRACE_OP_FIBER_LEAVE:
                put_fiber(f, thread, event);
                break;
        default: /* nothing that the tables hold, or of devices */
                r = device_op_events_add(&f->device_ops, event);
                if (r < 0)
                        return error_set(err, r, "the database: out of memory");
                break;
        }
        f->callstack = 0;
        return check(f, err);
}

static void open_inserts(struct filling *f)
{
        sqlite_insert_open(&f->zones, &f->db, "zones", 13);
        sqlite_insert_open(&f->samples, &f->db, "samples", 7);
        sqlite_insert_open(&f->waits, &f->db, "waits", 18);
        sqlite_insert_open(&f->fibers, &f->db, "fiber_switches", 3);
        sqlite_insert_open(&f->messages, &f->db, "messages", 4);
        sqlite_insert_open(&f->plots, &f->db, "plots", 4);
        sqlite_insert_open(&f->frames, &f->db, "frame_marks", 4);
        sqlite_insert_open(&f->memory, &f->db, "memory", 8);
        sqlite_insert_open(&f->locks, &f->db, "locks", 7);
}

static void close_inserts(struct filling *f)
{
        sqlite_insert_close(&f->zones);
        sqlite_insert_close(&f->samples);
        sqlite_insert_close(&f->waits);
        sqlite_insert_close(&f->fibers);
        sqlite_insert_close(&f->messages);
        sqlite_insert_close(&f->plots);
        sqlite_insert_close(&f->frames);
        sqlite_insert_close(&f->memory);
        sqlite_insert_close(&f->locks);
}

/* ------------------------------------------------------------------ devices */

struct device_filling {
        struct filling *f;
        struct device_zones zones;
        struct device_keys keys;
        struct sqlite_insert spans, hosts, values, instants;
        uint64_t n_spans, n_marks;
};

/* The zone of a thread to which it belongs, if there is one. */
static void put_device_host(struct device_filling *d, const struct device_zone *zone)
{
        const struct device_key_zone *host = device_keys_find(&d->keys, zone);
        struct sqlite_insert *i = &d->hosts;

        if (!host)
                return;
        sqlite_insert_number(i, d->n_spans);
        sqlite_insert_number(i, host->thread);
        sqlite_insert_number(i, host->location);
        sqlite_insert_number(i, since_start(d->f, host->begin_ns));
        sqlite_insert_string(i, string_of(d->f, host->space));
        sqlite_insert_end_row(i);
}

/* Where a clock was never read, the length may be known, but not the time. */
static int put_device_span(void *context, const struct device_zone *zone, struct error *err)
{
        struct device_filling *d = context;
        struct sqlite_insert *i = &d->spans;
        bool is_placed = d->zones.clocks.clocks[zone->device - 1].is_placed;

        sqlite_insert_number(i, ++d->n_spans);
        sqlite_insert_number(i, zone->device);
        sqlite_insert_number(i, zone->lane);
        sqlite_insert_number(i, zone->location);
        if (is_placed) {
                sqlite_insert_number(i, since_start(d->f, zone->begin_ns));
                sqlite_insert_number(i, since_start(d->f, zone->end_ns));
        } else {
                sqlite_insert_null(i);
                sqlite_insert_null(i);
        }
        sqlite_insert_number(i, zone->end_ns - zone->begin_ns);
        sqlite_insert_number(i, zone->thread);
        sqlite_insert_id(i, zone->path);
        put_known(i, device_zone_has_key(zone), zone->key);
        sqlite_insert_number(i, is_placed);
        sqlite_insert_number(i, since_start(d->f, zone->said_ns));
        sqlite_insert_string(i, string_of(d->f, zone->space));
        sqlite_insert_string(i, string_of(d->f, zone->text));
        sqlite_insert_end_row(i);
        put_device_host(d, zone);
        d->f->totals.n_other++;
        return check(d->f, err);
}

static int put_device_mark(void *context, const struct device_mark *mark, struct error *err)
{
        struct device_filling *d = context;
        bool is_placed = d->zones.clocks.clocks[mark->said.device - 1].is_placed;
        struct sqlite_insert *i = mark->said.plot != 0 ? &d->values : &d->instants;

        d->n_marks++;
        sqlite_insert_number(i, mark->said.device);
        sqlite_insert_number(i, mark->said.lane);
        put_known(i, is_placed, since_start(d->f, mark->time_ns));
        if (mark->said.plot != 0) {
                device_tables_put_value(i, d->f->d, &mark->said);
        } else {
                sqlite_insert_number(i, mark->said.location);
                if (mark->said.key != 0 || mark->said.space != 0)
                        sqlite_insert_number(i, mark->said.key);
                else
                        sqlite_insert_null(i);
                sqlite_insert_string(i, string_of(d->f, mark->said.space));
                sqlite_insert_string(i, string_of(d->f, mark->said.text));
        }
        sqlite_insert_number(i, mark->said.thread);
        sqlite_insert_number(i, since_start(d->f, mark->said.said_ns));
        sqlite_insert_end_row(i);
        d->f->totals.n_other++;
        return check(d->f, err);
}

/* A pass of its own: spans are handed over long after they ran.  Its paths are those of the other pass. */
static int write_devices(struct filling *f, const struct trace_filter *filter, struct error *err)
{
        struct device_filling d = { .f = f };
        int r;

        if (trace_dictionary_count(f->d, TRACE_TABLE_DEVICES) == 0)
                return 0;
        r = device_zones_init(&d.zones, f->d, put_device_span, &d);
        d.zones.paths = &f->walk.paths;
        d.zones.take_mark = put_device_mark;
        d.zones.mark_context = &d;
        r = r < 0 ? error_set(err, r, "the database: out of memory")
                  : device_keys_take(&d.keys, f->trace, err);
        sqlite_insert_open(&d.spans, &f->db, "device_spans", 14);
        sqlite_insert_open(&d.hosts, &f->db, "device_hosts", 5);
        sqlite_insert_open(&d.values, &f->db, "device_values", 7);
        sqlite_insert_open(&d.instants, &f->db, "device_instants", 9);
        if (r == 0)
                r = device_zones_take(&d.zones, f->trace, filter, err);
        sqlite_insert_close(&d.spans);
        sqlite_insert_close(&d.hosts);
        sqlite_insert_close(&d.values);
        sqlite_insert_close(&d.instants);
        if (r == 0)
                r = device_tables_write(&f->db, f->d, &d.zones.clocks, f->trace->start_ns, err);
        if (r == 0 && d.n_spans == 0 && d.n_marks == 0)
                r = loaded_trace_check_found(f->trace, &f->walk, err);
        device_zones_deinit(&d.zones);
        device_keys_deinit(&d.keys);
        return r;
}

static int walk_trace(struct filling *f, const struct trace_filter *filter, struct error *err)
{
        struct trace_sink sink = {
                .context = f,
                .zone = on_zone,
                .sample = on_sample,
                .wait = on_wait,
                .event = on_event,
                .wants_zone_paths = true,
                .wants_words = true,
                .may_skip = true,
                .devices_follow = true,
        };
        int r = trace_walk_init(&f->walk, f->trace, filter, &sink);

        if (r < 0)
                return error_set(err, r, "the database: out of memory");
        r = device_op_events_init(&f->device_ops, f->d);
        if (r < 0)
                return error_set(err, r, "the database: out of memory");
        f->from_ns = filter ? filter->from_ns : 0;
        open_inserts(f);
        r = loaded_trace_walk(f->trace, &f->walk, err);
        close_inserts(f);
        if (r == 0)
                r = write_devices(f, filter, err);
        if (r == 0 && f->walk.n_events[TRACE_OP_FLOW] != 0)
                r = flows_table_write(&f->db, f->trace, filter, err);
        fill_paths(f);
        fill_table(f, TRACE_TABLE_THREADS, "threads", 8, put_thread);
        device_ops_finish(f->device_ops.ops, DEVICE_OPS_BY_NUMBER);
        device_ops_table_write(&f->db, f->d, f->device_ops.ops);
        return r;
}

/* ------------------------------------------------------------------ paths */

struct path_filling {
        struct filling *f;
        struct sqlite_insert segments;
};

static int on_segment(void *context, const struct path_instance *instance, const struct path_segment *s)
{
        struct path_filling *p = context;
        struct sqlite_insert *i = &p->segments;
        const struct past_wait *wait = s->wait;

        sqlite_insert_number(i, instance->number);
        sqlite_insert_number(i, instance->thread);
        sqlite_insert_number(i, since_start(p->f, instance->begin_ns));
        sqlite_insert_number(i, since_start(p->f, s->begin_ns));
        sqlite_insert_number(i, s->end_ns - s->begin_ns);
        sqlite_insert_number(i, s->thread);
        sqlite_insert_string(i, words_of(path_segment_word(s->kind, wait && wait->preempted,
                                                           wait ? wait->end : WAIT_END_UNKNOWN)));
        sqlite_insert_number(i, s->depth);
        sqlite_insert_id(i, wait ? wait->stack : 0);
        sqlite_insert_id(i, wait ? wait->by : 0);
        sqlite_insert_id(i, s->work ? s->work->device : 0);
        put_known(i, s->work, s->work ? s->work->lane : 0);
        sqlite_insert_id(i, s->work ? s->work->location : 0);
        sqlite_insert_end_row(i);
        return p->f->db.why.code;
}

static int write_paths(struct filling *f, const struct sqlite_database_request *r, struct error *err)
{
        const struct trace_filter all = { .from_ns = 0, .to_ns = UINT64_MAX, .is_empty = true };
        const struct trace_filter *filter = r->path_filter ? r->path_filter : r->filter;
        struct path_filling filling = { .f = f };
        struct path_request request = { .zone = r->path_zone, .take = on_segment, .context = &filling };
        struct path path;
        int code;

        if (!r->path_zone)
                return 0;
        sqlite_insert_open(&filling.segments, &f->db, "path_segments", 13);
        code = path_init(&path, f->trace, filter ? filter : &all, &request, err);
        sqlite_insert_close(&filling.segments);
        path_deinit(&path);
        return code == 0 ? check(f, err) : code;
}

int sqlite_database_write(struct loaded_trace *trace, const struct sqlite_database_request *request,
                          const char *path, struct sqlite_database_totals *ret_totals, struct error *err)
{
        struct filling f = { .trace = trace,
                             .d = trace->dictionary,
                             .has_idle = loaded_trace_meta_number(trace, "idle") != 0 };
        int r = loaded_trace_read_names(trace, err);

        if (r < 0)
                return r;
        r = sqlite_writer_open(&f.db, path, sqlite_schema_tables(), err);
        if (r != 0)
                goto done;
        sqlite_writer_run(&f.db, sqlite_schema_device_tables());
        r = fill_tables(&f, err);
        if (r == 0)
                r = walk_trace(&f, request->filter, err);
        if (r == 0)
                r = write_paths(&f, request, err);
        if (r != 0)
                goto done;
        /* An unknown time must be an empty cell, not a number. */
        if (f.walk.n_switches == 0)
                sqlite_writer_run(&f.db, "UPDATE zones SET on_cpu_ns = NULL");
        sqlite_writer_run(&f.db, sqlite_schema_python_views());
        sqlite_writer_run(&f.db, sqlite_schema_device_views());
        r = sqlite_writer_finish(&f.db, sqlite_schema_views(), err);

done:
        trace_walk_deinit(&f.walk);
        device_op_events_deinit(&f.device_ops);
        sqlite_writer_close(&f.db);
        *ret_totals = f.totals;
        return r;
}
