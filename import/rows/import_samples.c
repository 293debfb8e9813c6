/* SPDX-License-Identifier: MIT */
#include "import/rows/import_samples.h"

#include "base/array.h"
#include "base/error.h"
#include "format/trace_event.h"
#include "import/rows/import_events.h"
#include "import/rows/import_state.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define TYPE_SOFTWARE 1 /* PERF_TYPE_SOFTWARE; its events 0 and 1 are cpu-clock and task-clock */

static struct import_file *file_now(struct import_rows *rows)
{
        return &rows->files[rows->n_files - 1];
}

static int complain(int r, struct error *err)
{
        if (r >= 0)
                return 0;
        return error_set(err, r, r == -EOVERFLOW ? "a table of the trace is full" : "out of memory");
}

static int add_row(struct import_rows *rows, enum trace_table table, const void *row, uint32_t *ret_id,
                   struct error *err)
{
        return complain(trace_dictionary_add(rows->dictionary, table, row, ret_id), err);
}

/* ---- events, code, stacks ------------------------------------------------------------------------------ */

int import_rows_spool(struct import_rows *rows)
{
        int fd = rows->options.spool_fd;

        return fd > 0 && ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0 ? fd : -1;
}

int import_rows_sample_event(struct import_rows *rows, const struct import_sample_event *event,
                             uint32_t *ret_id, struct error *err)
{
        static const char *const units[] = { "events", "ns" };
        const char *unit = units[event->type == TYPE_SOFTWARE && event->config < 2];
        struct trace_sample_event row = {
                .type = event->type,
                .config = event->config,
                .rate = event->rate,
                .mode = event->is_frequency ? TRACE_SAMPLE_MODE_FREQUENCY_HZ : TRACE_SAMPLE_MODE_PERIOD,
        };
        int r = import_rows_string(rows, event->name, &row.name, err);

        if (r == 0)
                r = complain(trace_dictionary_add_string(rows->dictionary, unit, strlen(unit), &row.unit),
                             err);
        return r < 0 ? r : add_row(rows, TRACE_TABLE_SAMPLE_EVENTS, &row, ret_id, err);
}

int import_rows_module(struct import_rows *rows, const struct import_module *module, uint32_t *ret_id,
                       struct error *err)
{
        static const uint32_t kinds[] = {
                [IMPORT_MODULE_FILE] = TRACE_MODULE_FILE,
                [IMPORT_MODULE_VDSO] = TRACE_MODULE_VDSO,
                [IMPORT_MODULE_KERNEL] = TRACE_MODULE_KERNEL,
        };
        struct trace_module row = {
                .kind = kinds[module->kind],
                .device = module->device,
                .inode = module->inode,
                .generation = module->inode != 0 ? module->generation : 0,
        };
        int r = import_rows_string(rows, module->path, &row.path, err);

        if (r == 0)
                r = import_rows_string(rows, module->build_id, &row.build_id, err);
        return r < 0 ? r : add_row(rows, TRACE_TABLE_MODULES, &row, ret_id, err);
}

void import_rows_find_module(const struct import_rows *rows, uint32_t id, struct import_module *ret_module)
{
        const struct trace_module *row = trace_dictionary_row(rows->dictionary, TRACE_TABLE_MODULES, id);

        *ret_module = (struct import_module){
                .kind = row->kind == TRACE_MODULE_VDSO     ? IMPORT_MODULE_VDSO
                        : row->kind == TRACE_MODULE_KERNEL ? IMPORT_MODULE_KERNEL
                                                           : IMPORT_MODULE_FILE,
                .path = trace_dictionary_text(rows->dictionary, row->path),
                .build_id = trace_dictionary_text(rows->dictionary, row->build_id),
                .device = row->device,
                .inode = row->inode,
                .generation = row->generation,
        };
}

int import_rows_mapping(struct import_rows *rows, const struct import_mapping *mapping, struct error *err)
{
        if (mapping->track == 0 || mapping->track > rows->n_tracks || mapping->module == 0)
                return error_set(err, -EINVAL, "a mapping has no track or module");
        if (rows->n_mappings == IMPORT_MAPPINGS_MAX) {
                import_rows_left_out(rows, "mapping beyond the memory for mappings", 1);
                return 0;
        }
        if (array_reserve(&rows->mappings, &rows->mappings_capacity, rows->n_mappings + 1,
                          sizeof(*rows->mappings)) < 0)
                return complain(-ENOMEM, err);
        rows->mappings[rows->n_mappings++] = *mapping;
        return 0;
}

int import_rows_frame(struct import_rows *rows, uint32_t module, uint64_t offset, bool is_return,
                      uint32_t *ret_id, struct error *err)
{
        struct trace_frame row = { .offset = offset,
                                   .module = module,
                                   .flags = is_return ? TRACE_FRAME_RETURN_ADDRESS : 0 };

        return add_row(rows, TRACE_TABLE_FRAMES, &row, ret_id, err);
}

int import_rows_cut_frame(struct import_rows *rows, uint32_t *ret_id, struct error *err)
{
        static const char name[] = "[truncated]";
        struct trace_module row = { .kind = TRACE_MODULE_MARK };
        struct trace_frame frame = { .offset = 0 };
        int r = complain(trace_dictionary_add_string(rows->dictionary, name, sizeof(name) - 1, &row.path),
                         err);

        if (r == 0)
                r = add_row(rows, TRACE_TABLE_MODULES, &row, &frame.module, err);
        return r < 0 ? r : add_row(rows, TRACE_TABLE_FRAMES, &frame, ret_id, err);
}

int import_rows_stack(struct import_rows *rows, uint32_t parent, uint32_t frame, uint32_t *ret_id,
                      struct error *err)
{
        struct trace_stack row = { .parent = parent, .frame = frame };

        return add_row(rows, TRACE_TABLE_STACKS, &row, ret_id, err);
}

/* ---- what happened ------------------------------------------------------------------------------------- */

static int add_record(struct import_rows *rows, struct import_record *record, struct error *err)
{
        if (record->track == 0 || record->track > rows->n_tracks ||
            rows->tracks[record->track - 1].is_of_device)
                return error_set(err, -EINVAL, "a sample has no thread");
        record->clock = (uint16_t)rows->tracks[record->track - 1].clock;
        rows->clocks.clocks[record->clock - 1].is_for_host = true;
        import_clocks_use(&rows->clocks, record->clock, record->begin, record->begin);
        return import_sort_add(rows->sort, record, err);
}

int import_rows_sample(struct import_rows *rows, const struct import_sample *sample, struct error *err)
{
        struct import_record record = {
                .begin = sample->time,
                .end = sample->weight,
                .key = sample->cpu,
                .track = sample->track,
                .what = sample->event,
                .key_kind = sample->stack,
                .text = sample->state,
                .kind = IMPORT_RECORD_SAMPLE,
        };

        file_now(rows)->n_samples++;
        return add_record(rows, &record, err);
}

int import_rows_switch(struct import_rows *rows, const struct import_switch *event, struct error *err)
{
        struct import_record record = {
                .begin = event->time,
                .key = event->cpu,
                .track = event->track,
                .what = event->is_preempted,
                .kind = event->is_in ? IMPORT_RECORD_SWITCH_IN : IMPORT_RECORD_SWITCH_OUT,
        };

        file_now(rows)->n_switches++;
        return add_record(rows, &record, err);
}

int import_rows_rename(struct import_rows *rows, uint32_t track, uint64_t time, uint32_t name,
                       struct error *err)
{
        struct import_record record = {
                .begin = time, .track = track, .what = name, .kind = IMPORT_RECORD_NAME
        };

        return add_record(rows, &record, err);
}

int import_rows_exit(struct import_rows *rows, uint32_t track, uint64_t time, struct error *err)
{
        struct import_record record = { .begin = time, .track = track, .kind = IMPORT_RECORD_EXIT };

        return add_record(rows, &record, err);
}

static bool is_process(const struct import_rows *rows, uint32_t track)
{
        return track != 0 && track <= rows->n_tracks && rows->tracks[track - 1].kind == IMPORT_TRACK_PROCESS;
}

void import_rows_fork(struct import_rows *rows, uint32_t track, uint32_t parent)
{
        if (is_process(rows, track) && is_process(rows, parent) && track != parent &&
            rows->tracks[track - 1].forked_from == 0)
                rows->tracks[track - 1].forked_from = parent;
}

/* ---- into the trace ------------------------------------------------------------------------------------ */

/* A process that has no row yet is called like its main thread. */
static void name_place(struct import_rows *rows, uint32_t id, uint32_t name)
{
        struct import_place *track = &rows->tracks[id - 1], *process = &rows->tracks[track->root - 1];

        track->name = name;
        if (process->process == 0 && process->number == track->number)
                process->name = name;
}

static int put_life(struct import_rows *rows, const struct import_record *record, uint64_t time_ns,
                    struct error *err)
{
        const struct import_place *track = &rows->tracks[record->track - 1];
        struct trace_event event = { .op = TRACE_OP_THREAD_EXIT, .time_ns = time_ns };

        /* Threads on which nothing happens are not in the trace. */
        if (track->thread == 0) {
                if (record->kind == IMPORT_RECORD_NAME)
                        name_place(rows, record->track, record->what);
                return 0;
        }
        if (record->kind == IMPORT_RECORD_NAME) {
                event.op = TRACE_OP_THREAD_NAME;
                event.thread_name.name = record->what;
        }
        return import_events_add(rows->events, rows->threads[track->thread - 1].thread, &event, err);
}

/* Numbers of processes are used again, so that forks can form a ring. */
int import_samples_place_parents(struct import_rows *rows, uint32_t track, uint64_t time_ns,
                                 struct error *err)
{
        uint32_t line[IMPORT_ANCESTORS_MAX], n = 0, process = 0;

        if (rows->tracks[track - 1].forked_from == 0)
                return 0; /* `parent` stays: it is the one before in a line, or none */
        for (uint32_t at = rows->tracks[track - 1].forked_from;
             at != 0 && at != track && n < IMPORT_ANCESTORS_MAX; at = rows->tracks[at - 1].forked_from) {
                line[n++] = at;
                if (rows->tracks[at - 1].process != 0)
                        break;
        }
        while (n-- > 0) {
                uint32_t from = rows->tracks[line[n] - 1].forked_from;
                int r;

                rows->tracks[line[n] - 1].forked_from = 0; /* its own are there already */
                rows->parent = process;
                r = import_tracks_process(rows, line[n], time_ns, &process, err);
                rows->tracks[line[n] - 1].forked_from = from;
                if (r < 0)
                        return r;
        }
        rows->parent = process;
        return 0;
}

int import_samples_put(struct import_rows *rows, const struct import_record *record, uint64_t time_ns,
                       struct error *err)
{
        struct trace_event event = { .time_ns = time_ns };
        uint32_t index;
        int r;

        if (record->kind == IMPORT_RECORD_NAME || record->kind == IMPORT_RECORD_EXIT)
                return put_life(rows, record, time_ns, err);
        r = import_tracks_thread(rows, record->track, time_ns, &index, err);
        if (r < 0)
                return r;
        if (record->kind == IMPORT_RECORD_SAMPLE) {
                event.op = TRACE_OP_SAMPLE;
                event.sample.event = record->what;
                event.sample.cpu = record->key;
                event.sample.stack = record->key_kind;
                event.sample.weight = record->end;
                event.sample.state = record->text;
        } else if (record->kind == IMPORT_RECORD_SWITCH_IN) {
                event.op = TRACE_OP_SWITCH_IN;
                event.switch_in.cpu = record->key;
        } else {
                event.op = TRACE_OP_SWITCH_OUT;
                event.switch_out.cpu = record->key;
                event.switch_out.preempted = record->what;
                event.switch_out.wait = record->what ? TRACE_WAIT_PREEMPTED : TRACE_WAIT_UNKNOWN;
        }
        return import_events_add(rows->events, rows->threads[index - 1].thread, &event, err);
}

int import_samples_put_mappings(struct import_rows *rows, struct error *err)
{
        int r = 0;

        for (size_t i = 0; i < rows->n_mappings && r == 0; i++) {
                const struct import_mapping *m = &rows->mappings[i];
                const struct import_place *track = &rows->tracks[m->track - 1];
                const struct trace_process *process;
                struct trace_mapping row = {
                        .start_avma = m->start_avma,
                        .length_bytes = m->length_bytes,
                        .file_offset_bytes = m->file_offset_bytes,
                        .process = track->process,
                        .module = m->module,
                };
                uint32_t id;

                if (track->process == 0)
                        continue;
                process = trace_dictionary_row(rows->dictionary, TRACE_TABLE_PROCESSES, track->process);
                row.time_ns = m->time != 0 ? import_clocks_time(&rows->clocks, track->clock, m->time)
                                           : process->start_ns;
                r = add_row(rows, TRACE_TABLE_MAPPINGS, &row, &id, err);
        }
        return r;
}
