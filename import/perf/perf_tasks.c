/* SPDX-License-Identifier: MIT */
#include "import/perf/perf_tasks.h"

#include "base/error.h"
#include "import/perf/perf_entry.h"
#include "import/rows/import_rows.h"
#include "import/rows/import_samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MISC_EXEC      (1 << 13) /* of COMM */
#define KERNEL_NAME    "[kernel.kallsyms]"
#define TEXT(constant) ((struct text_view){ constant, sizeof(constant) - 1 })

static int complain(int r, struct error *err)
{
        if (r >= 0)
                return 0;
        (void)error_set(err, r, "no memory for processes");
        return r;
}

void perf_tasks_init(struct perf_tasks *t, struct import_rows *rows, struct perf_file *file, uint32_t clock)
{
        *t = (struct perf_tasks){ .rows = rows, .file = file, .clock = clock };
        intern_init(&t->pids, sizeof(uint32_t), 0);
        intern_init(&t->tids, 2 * sizeof(uint32_t), 0);
}

void perf_tasks_deinit(struct perf_tasks *t)
{
        for (uint32_t i = 0; i < t->pids.n_items; i++)
                address_space_deinit(&t->processes[i].space);
        free(t->processes);
        free(t->threads);
        intern_deinit(&t->pids);
        intern_deinit(&t->tids);
}

/* ---- processes and threads ----------------------------------------------------------------------------- */

static int find_process(struct perf_tasks *t, uint32_t pid, uint32_t *ret_index, struct error *err)
{
        struct import_track track = {
                .kind = IMPORT_TRACK_PROCESS, .clock = t->clock, .number = pid, .has_number = true
        };
        uint32_t id;
        int r = intern_add_row(&t->pids, &pid, &t->processes, &t->processes_capacity, sizeof(*t->processes),
                               &id);

        if (r == 1)
                r = import_rows_track(t->rows, &track, &t->processes[id - 1].track, err);
        if (r < 0)
                return complain(r, err);
        *ret_index = id - 1;
        return 0;
}

static int find_thread(struct perf_tasks *t, uint32_t pid, uint32_t tid, struct perf_thread **ret_thread,
                       struct error *err)
{
        uint32_t key[2] = { pid, tid }, id;
        int r = intern_add_row(&t->tids, key, &t->threads, &t->threads_capacity, sizeof(*t->threads), &id);

        if (r == 1)
                r = find_process(t, pid, &t->threads[id - 1].process, err);
        if (r < 0)
                return complain(r, err);
        *ret_thread = &t->threads[id - 1];
        return 0;
}

static int add_track(struct perf_tasks *t, uint32_t tid, struct perf_thread *thread, struct error *err)
{
        struct import_track track = { .kind = IMPORT_TRACK_THREAD,
                                      .parent = t->processes[thread->process].track,
                                      .clock = t->clock,
                                      .number = tid,
                                      .has_number = true };

        if (thread->track != 0)
                return 0;
        return import_rows_track(t->rows, &track, &thread->track, err);
}

int perf_tasks_find(struct perf_tasks *t, uint32_t pid, uint32_t tid, struct perf_thread **ret_thread,
                    struct perf_process **ret_process, struct error *err)
{
        int r = find_thread(t, pid, tid, ret_thread, err);

        if (r == 0)
                r = add_track(t, tid, *ret_thread, err);
        if (r == 0)
                *ret_process = &t->processes[(*ret_thread)->process];
        return r;
}

static int rename_thread(struct perf_tasks *t, struct perf_thread *thread, uint32_t tid, uint64_t time,
                         uint32_t name, struct error *err)
{
        int r = add_track(t, tid, thread, err);

        if (name == 0 || name == thread->name || r < 0)
                return r;
        thread->name = name;
        return import_rows_rename(t->rows, thread->track, time, name, err);
}

/* Names from before the recording have no time: they are those of the tracks. */
static int name_thread(struct perf_tasks *t, const struct perf_entry *entry, struct error *err)
{
        struct perf_thread *thread;
        uint32_t name;
        int r = find_thread(t, entry->pid, entry->tid, &thread, err);

        if (r == 0)
                r = import_rows_string(t->rows, entry->name, &name, err);
        if (r < 0)
                return r;
        if (entry->has_time && entry->time != 0)
                return rename_thread(t, thread, entry->tid, entry->time, name, err);
        thread->name = name;
        r = add_track(t, entry->tid, thread, err);
        if (r == 0)
                r = import_rows_name_track(t->rows, thread->track, entry->name, err);
        if (r == 0 && entry->pid == entry->tid)
                r = import_rows_name_track(t->rows, t->processes[thread->process].track, entry->name, err);
        return r;
}

static int start_thread(struct perf_tasks *t, const struct perf_entry *entry, struct error *err)
{
        struct perf_thread *thread, *parent;
        uint32_t name = 0;
        int r = find_thread(t, entry->parent_pid, entry->parent_tid, &parent, err);

        if (r == 0) {
                name = parent->name;
                r = find_thread(t, entry->pid, entry->tid, &thread, err);
        }
        if (r < 0)
                return r;
        if (entry->pid != entry->parent_pid) {
                uint32_t from;
                struct perf_process *process;

                r = find_process(t, entry->parent_pid, &from, err);
                if (r < 0)
                        return r;
                process = &t->processes[thread->process];
                if (t->n_ranges + t->processes[from].space.n_ranges > PERF_TASKS_RANGES_MAX)
                        import_rows_left_out(t->rows, "mapping beyond the memory for mappings",
                                             t->processes[from].space.n_ranges);
                else
                        r = complain(address_space_copy(&process->space, &t->processes[from].space), err);
                t->n_ranges += process->space.n_ranges;
                import_rows_fork(t->rows, process->track, t->processes[from].track);
        }
        return r < 0 || !entry->has_time ? r : rename_thread(t, thread, entry->tid, entry->time, name, err);
}

static int end_thread(struct perf_tasks *t, const struct perf_entry *entry, struct error *err)
{
        uint32_t key[2] = { entry->pid, entry->tid };
        uint32_t id = intern_find(&t->tids, key, sizeof(key));

        if (id == 0 || t->threads[id - 1].track == 0 || !entry->has_time)
                return 0;
        return import_rows_exit(t->rows, t->threads[id - 1].track, entry->time, err);
}

/* ---- mappings ------------------------------------------------------------------------------------------ */

static bool has_prefix(struct text_view text, const char *prefix)
{
        size_t n = strlen(prefix);

        return text.n_bytes >= n && memcmp(text.bytes, prefix, n) == 0;
}

/* Memory without a file, whose code has no names. */
static bool is_anonymous(struct text_view path)
{
        return path.n_bytes == 0 || has_prefix(path, "//anon") || has_prefix(path, "/dev/zero") ||
               has_prefix(path, "/anon_hugepage") || has_prefix(path, "anon_inode:") ||
               (has_prefix(path, "[") && !has_prefix(path, "[vdso]"));
}

static int add_module(struct perf_tasks *t, const struct perf_entry *entry, uint32_t *ret_module,
                      struct error *err)
{
        const struct perf_build_id *known = perf_file_find_build_id(t->file, entry->name);
        struct import_module module = {
                .kind = has_prefix(entry->name, "[vdso]") ? IMPORT_MODULE_VDSO : IMPORT_MODULE_FILE,
                .path = entry->name,
        };

        if (entry->build_id_bytes > 0)
                module.build_id = (struct text_view){ (const char *)entry->build_id, entry->build_id_bytes };
        else if (known)
                module.build_id = (struct text_view){ (const char *)known->bytes, known->n_bytes };
        if (module.build_id.n_bytes == 0 && module.kind == IMPORT_MODULE_FILE) {
                module.device = entry->device;
                module.inode = entry->inode;
                module.generation = entry->generation;
        }
        return import_rows_module(t->rows, &module, ret_module, err);
}

static int add_mapping(struct perf_tasks *t, const struct perf_entry *entry, struct error *err)
{
        struct address_range range = { .start_avma = entry->start_avma,
                                       .file_offset_bytes = entry->file_offset_bytes };
        struct import_mapping mapping = {
                .start_avma = entry->start_avma,
                .length_bytes = entry->length_bytes,
                .file_offset_bytes = entry->file_offset_bytes,
                .time = entry->has_time ? entry->time : 0,
        };
        struct address_space *space;
        size_t n_before;
        uint32_t index;
        int r;

        if (entry->pid == PERF_ENTRY_NO_PID || perf_entry_mode(entry) != PERF_MODE_USER || !entry->is_code)
                return 0;
        if (entry->length_bytes == 0 ||
            __builtin_add_overflow(entry->start_avma, entry->length_bytes, &range.end_avma)) {
                import_rows_malformed(t->rows, entry->at, "the mapping has an impossible length");
                return 0;
        }
        r = find_process(t, entry->pid, &index, err);
        if (r < 0)
                return r;
        space = &t->processes[index].space;
        if (t->n_ranges >= PERF_TASKS_RANGES_MAX) {
                import_rows_left_out(t->rows, "mapping beyond the memory for mappings", 1);
                return 0;
        }
        if (!is_anonymous(entry->name)) {
                r = add_module(t, entry, &range.module, err);
                mapping.track = t->processes[index].track;
                mapping.module = range.module;
                if (r == 0)
                        r = import_rows_mapping(t->rows, &mapping, err);
        }
        n_before = space->n_ranges;
        if (r == 0)
                r = complain(address_space_add(space, &range), err);
        if (space->n_ranges > n_before)
                t->n_ranges += space->n_ranges - n_before;
        return r;
}

int perf_tasks_kernel(struct perf_tasks *t, uint32_t *ret_module, struct error *err)
{
        const struct perf_build_id *known = perf_file_find_build_id(t->file, TEXT(KERNEL_NAME));
        struct import_module module = { .kind = IMPORT_MODULE_KERNEL, .path = TEXT("[kernel]") };
        int r = 0;

        if (known)
                module.build_id = (struct text_view){ (const char *)known->bytes, known->n_bytes };
        if (t->kernel == 0)
                r = import_rows_module(t->rows, &module, &t->kernel, err);
        *ret_module = t->kernel;
        return r;
}

/* ---- all ----------------------------------------------------------------------------------------------- */

static int apply_name(struct perf_tasks *t, const struct perf_entry *entry, struct error *err)
{
        int r = name_thread(t, entry, err);

        /* execve() removes all mappings. */
        if (r == 0 && entry->misc & MISC_EXEC) {
                uint32_t index;

                r = find_process(t, entry->pid, &index, err);
                if (r == 0) {
                        t->n_ranges -= t->processes[index].space.n_ranges < t->n_ranges
                                               ? t->processes[index].space.n_ranges
                                               : t->n_ranges;
                        address_space_clear(&t->processes[index].space);
                }
        }
        return r;
}

int perf_tasks_apply(struct perf_tasks *t, const struct perf_entry *entry, struct error *err)
{
        switch (entry->type) {
        case PERF_ENTRY_MMAP:
        case PERF_ENTRY_MMAP2:
                return add_mapping(t, entry, err);
        case PERF_ENTRY_COMM:
                return apply_name(t, entry, err);
        case PERF_ENTRY_FORK:
                return start_thread(t, entry, err);
        case PERF_ENTRY_EXIT:
                return end_thread(t, entry, err);
        default:
                return 0;
        }
}
