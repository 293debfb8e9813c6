/* SPDX-License-Identifier: MIT */
#include "sampler/jit/jit_files.h"

#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "instrument/tick_clock.h"
#include "sampler/jit/jit_lines.h"
#include "sampler/jit/jit_target.h"
#include "sampler/jit/jitdump.h"
#include "sampler/jit/perf_map.h"
#include "sampler/jit/renamed_code.h"
#include "sampler/keep/attachment_store.h"
#include "sampler/keep/module_file.h"
#include "sampler/kernel/monotonic_clock.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/proc/process_maps.h"
#include "sampler/tables/code_regions.h"
#include "sampler/tables/code_tables.h"
#include "sampler/tables/jit_frames.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/process_table.h"
#include "sampler/tracks/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define FRAMES_BYTES_MAX (UINT32_C(1) << 26) /* how to unwind code, of all processes */
#define FRESH_MAX        65536               /* lines of a reading that are looked at together */
#define STDIO_BYTES      4096
#define DUMPS_MAX        16 /* of a process */

struct jit_dump {
        struct jitdump_file file;
        dev_t device; /* of the file */
        ino_t inode;
        struct jit_lines lines;       /* of the code that it loads next */
        struct byte_buffer unwinding; /* of the same */
        uint64_t last_ns;             /* of the last record that took effect */
        size_t n_bytes;               /* that took effect in this cycle */
};

struct jit_process {
        uint32_t pid;
        uint32_t process; /* id in PROCESSES; 0 = not known yet */
        bool wants_map;
        unsigned n_tries;
        struct jit_target target;
        struct perf_map_file map;
        struct renamed_code renamed; /* by the map */
        struct jit_dump *dumps;      /* heap, owned: each runtime in the process may write its own dump */
        size_t n_dumps, dumps_capacity;
        struct jit_frames frames;
        uint64_t n_garbage_seen;
        bool is_over;        /* it has ended, or runs another program */
        bool frames_counted; /* that they are full */
};

struct jit_files {
        const struct recording *recording;
        struct jit_process *processes; /* heap */
        size_t n_processes, capacity;
        struct intern left_out; /* PIDs of those that found no room */
        size_t frames_bytes;    /* of all processes */
        uint64_t since_ns;      /* CLOCK_REALTIME at the start of the recording */
        uint64_t now_ns, next_ns;
        bool final;
        struct tick_clock monotonic, arch;
        bool has_arch;
};

/* ---- processes ----------------------------------------------------------------------------------------- */

int jit_files_new(const struct recording *recording, struct jit_files **ret_files, struct error *err)
{
        struct jit_files *f = calloc(1, sizeof(*f));
        struct timespec t;

        if (!f)
                return error_set(err, -ENOMEM, "no memory for files about code");
        (void)clock_gettime(CLOCK_REALTIME, &t); /* cannot fail for this clock */
        f->since_ns = (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
        f->recording = recording;
        f->next_ns = UINT64_MAX;
        intern_init(&f->left_out, sizeof(uint32_t), 0);
        *ret_files = f;
        return 0;
}

static void deinit_process(struct jit_process *p)
{
        jit_target_close(&p->target);
        perf_map_file_deinit(&p->map);
        renamed_code_deinit(&p->renamed);
        for (size_t i = 0; i < p->n_dumps; i++) {
                jitdump_file_deinit(&p->dumps[i].file);
                jit_lines_deinit(&p->dumps[i].lines);
                byte_buffer_deinit(&p->dumps[i].unwinding);
        }
        free(p->dumps);
        jit_frames_deinit(&p->frames);
}

void jit_files_free(struct jit_files *f)
{
        if (!f)
                return;
        for (size_t i = 0; i < f->n_processes; i++)
                deinit_process(&f->processes[i]);
        free(f->processes);
        intern_deinit(&f->left_out);
        free(f);
}

static struct jit_process *find_process(const struct jit_files *f, uint32_t pid)
{
        for (size_t i = f->n_processes; i-- > 0;) /* the latest are asked for most */
                if (f->processes[i].pid == pid)
                        return &f->processes[i];
        return NULL;
}

/* Too many processes at a time: the files of one are not read. */
static int leave_out(struct jit_files *f, uint32_t pid)
{
        uint32_t id;
        int r = intern_add(&f->left_out, &pid, sizeof(pid), &id);

        if (r == 1)
                loss_counter_add(f->recording->losses, TRACE_LOSS_CODE_OVER_LIMIT, 1);
        return r == -ENOMEM ? r : 0;
}

/* Sets @ret_process to NULL if there is no room for the process. */
static int add_process(struct jit_files *f, uint32_t pid, uint32_t process, struct jit_process **ret_process)
{
        struct jit_process *p = find_process(f, pid);
        int r;

        *ret_process = p;
        if (p && p->process == 0)
                p->process = process;
        if (p)
                return 0;
        if (f->n_processes == JIT_FILES_PROCESSES_MAX)
                return leave_out(f, pid);
        r = array_reserve(&f->processes, &f->capacity, f->n_processes + 1, sizeof(*f->processes));
        if (r < 0)
                return r;
        p = &f->processes[f->n_processes++];
        *p = (struct jit_process){ .pid = pid, .process = process, .map = { .fd = -1 } };
        jit_target_open(&p->target, pid, f->since_ns);
        *ret_process = p;
        return 0;
}

/*
 * A file of gigabytes must neither keep the recorder from ending nor make other programs' events wait for
 * long.  All files of a cycle share the time, the first come first: the time since @at_ns, which is set to
 * now, is subtracted from the rest.  This is processor time, as on a busy machine a limit by the clock
 * would end the reading before it begins.
 */
static bool has_time(struct jit_files *f, uint64_t *at_ns)
{
        uint64_t now_ns = clock_thread_ns();

        recorder_pace_spend(f->recording->pace, PACED_JIT_REST, now_ns - *at_ns);
        *at_ns = now_ns;
        return recorder_pace_has(f->recording->pace, PACED_JIT_REST, 0, 0);
}

/* ---- perf maps ----------------------------------------------------------------------------------------- */

static void count_garbage(struct jit_files *f, struct jit_process *p)
{
        uint64_t n_garbage = p->map.map.n_garbage;

        for (size_t i = 0; i < p->n_dumps; i++)
                n_garbage += p->dumps[i].file.n_garbage;
        loss_counter_add(f->recording->losses, TRACE_LOSS_JIT_GARBAGE, n_garbage - p->n_garbage_seen);
        p->n_garbage_seen = n_garbage;
}

static int add_name(struct jit_files *f, const char *name, size_t name_bytes, uint32_t *ret_id)
{
        int r = trace_dictionary_add_program_string(f->recording->dictionary, name, name_bytes, ret_id);

        if (r != -EOVERFLOW)
                return r;
        *ret_id = 0;
        loss_counter_add(f->recording->losses, TRACE_LOSS_NAMES_FULL, 1);
        return 0;
}

/* Turns names for memory that had none into regions, except where the reading has several names for it. */
static int take_fresh(struct jit_files *f, struct jit_process *p)
{
        struct renamed_code *renamed = &p->renamed;
        int r = renamed_code_sort(renamed);
        uint32_t region;

        for (size_t i = 0; r >= 0 && i < renamed->n_fresh; i++)
                r = code_regions_add(f->recording->regions, &renamed->fresh[i].row, &region);
        renamed->n_fresh = 0;
        return r < 0 ? r : 0;
}

/* A line about memory that had another name until a moment ago waits until its time is known. */
static int take_line(struct jit_files *f, struct jit_process *p, const struct perf_map_line *line)
{
        struct trace_code_region row = { .start_avma = line->start_avma,
                                         .length_bytes = line->length_bytes,
                                         .time_ns = f->now_ns,
                                         .process = p->process,
                                         .source = TRACE_CODE_SOURCE_PERF_MAP };
        int r = add_name(f, line->name, line->name_bytes, &row.name);

        if (r < 0)
                return r;
        if (renamed_code_waits(&p->renamed, &row) || code_regions_has_other(f->recording->regions, &row))
                return renamed_code_add(&p->renamed, &row);
        r = renamed_code_add_fresh(&p->renamed, &row);
        return r == 0 && p->renamed.n_fresh == FRESH_MAX ? take_fresh(f, p) : r;
}

static bool has_dump(const struct jit_process *p)
{
        for (size_t i = 0; i < p->n_dumps; i++)
                if (p->dumps[i].file.has_header)
                        return true;
        return false;
}

/* Turns lines about code that replaced other code into changes. */
static int end_reading(struct jit_files *f, struct jit_process *p, struct renamed_reading *reading)
{
        int r = take_fresh(f, p);

        if (r < 0)
                return r;
        reading->now_ns = clock_raw_ns();
        reading->lag_ns = PACE_MERGE_LAG_NS;
        if (p->renamed.n_lines > 0)
                perf_map_file_changed(&p->map, &reading->changed_ns, &reading->changed_until_ns);
        return renamed_code_end_reading(&p->renamed, reading);
}

static int run_changes(struct jit_files *f, struct jit_process *p, uint64_t until_ns)
{
        struct trace_code_region row;
        int r = 0;

        while (r >= 0 && renamed_code_next(&p->renamed, until_ns, &row)) {
                uint32_t region;

                r = row.gone ? code_regions_doubt(f->recording->regions, &row)
                             : code_regions_add(f->recording->regions, &row, &region);
        }
        return r < 0 ? r : 0;
}

/* A last line without an end is whole once its program has ended, unless a stdio buffer was full there. */
static int take_last_line(struct jit_files *f, struct jit_process *p, struct renamed_reading *reading)
{
        bool is_over = p->is_over || process_maps_are_empty(p->pid);
        bool believed = is_over && p->map.offset_bytes % STDIO_BYTES != 0;
        struct perf_map_line line;

        if (perf_map_last(&p->map.map, believed, &line) == 0)
                return 0;
        reading->n_lines++;
        return take_line(f, p, &line);
}

static int read_map(struct jit_files *f, struct jit_process *p, bool all)
{
        struct renamed_reading reading = { .empty_ns = p->renamed.read_ns };
        uint64_t at_ns = clock_thread_ns();
        bool is_over_limit = false;
        int r = 1;

        /* A jitdump has better data; where a program writes both, the map only repeats it. */
        if (!p->wants_map || p->process == 0 || has_dump(p))
                return 0;
        for (unsigned n = 0; r == 1 && (all ? has_time(f, &at_ns) : n < PACE_JIT_MAP_FILLS); n++) {
                struct perf_map_line line;
                uint64_t before_ns = clock_raw_ns();

                r = perf_map_file_fill(&p->map, &p->target, &is_over_limit);
                if (r == 0)
                        reading.empty_ns = before_ns;
                for (; r == 1 && perf_map_next(&p->map.map, &line) == 1; reading.n_lines++)
                        if (take_line(f, p, &line) < 0)
                                r = -ENOMEM;
        }
        if (all && r == 0)
                r = take_last_line(f, p, &reading);
        if (all && r == 1)
                perf_map_file_leave_rest(&p->map, &p->target, &is_over_limit);
        if (r >= 0)
                r = end_reading(f, p, &reading);
        if (is_over_limit)
                loss_counter_add(f->recording->losses, TRACE_LOSS_CODE_OVER_LIMIT, 1);
        return r < 0 ? r : 0;
}

/* ---- jitdumps ------------------------------------------------------------------------------------------ */

/* The time of a record; now, if its clock is unknown or the time is in the future. */
static uint64_t time_of(struct jit_files *f, const struct jit_dump *d, uint64_t ticks)
{
        uint64_t time_ns = f->now_ns;

        if (!d->file.header.has_arch_ticks)
                time_ns = tick_clock_to_ns(&f->monotonic, ticks);
        else if (f->has_arch)
                time_ns = tick_clock_to_ns(&f->arch, ticks);
        if (time_ns > f->now_ns)
                time_ns = f->now_ns;
        return time_ns > d->last_ns ? time_ns : d->last_ns;
}

/*
 * The process that a record belongs to: a child may go on writing to its parent's dump, and puts its own
 * code where the parent has other code.  In another PID namespace, it is unknown which process a PID stands
 * for.
 * Returns its id in PROCESSES; 0 = it is not known.
 */
static uint32_t process_of_record(const struct jit_files *f, const struct jit_process *p,
                                  const struct jit_dump *d, uint32_t pid)
{
        uint32_t own_pid = p->target.own_pid != 0 ? p->target.own_pid : d->file.header.pid;
        const struct process_track *track;

        if (pid == own_pid || pid == 0)
                return p->process;
        track = own_pid == p->pid ? process_table_find_process(f->recording->processes, pid) : NULL;
        return track ? track->process : 0;
}

/* Keeps the machine code, if it is complete. */
static int keep_code(struct jit_files *f, const struct jitdump_load *load, uint32_t name, uint32_t *ret_id)
{
        struct trace_attachment row = { .kind = TRACE_ATTACHMENT_CODE_BYTES, .name = name };
        struct byte_buffer payload = { .data = NULL };
        int r;

        if (!f->recording->attachments || !load->code || load->length_bytes == 0)
                return 0;
        byte_buffer_add(&payload, load->code, load->length_bytes);
        r = payload.failed ? -ENOMEM
                           : attachment_store_add(f->recording->attachments, &row, &payload, 0, ret_id);
        byte_buffer_deinit(&payload);
        return r;
}

static void count_frames(struct jit_files *f, struct jit_process *p, size_t before_bytes)
{
        f->frames_bytes += p->frames.bytes.used_bytes - before_bytes;
        if (p->frames.is_full && !p->frames_counted)
                loss_counter_add(f->recording->losses, TRACE_LOSS_CODE_OVER_LIMIT, 1);
        p->frames_counted = p->frames.is_full;
}

/* Keeps the unwind information of the code that is loaded, if the dump contained any. */
static int keep_unwinding(struct jit_files *f, struct jit_process *p, struct jit_dump *d,
                          const struct jitdump_load *load)
{
        const struct jit_frames_entry entry = { .start_avma = load->start_avma,
                                                .length_bytes = load->length_bytes,
                                                .eh_frame = d->unwinding.data,
                                                .n_bytes = d->unwinding.used_bytes };
        size_t before_bytes = p->frames.bytes.used_bytes;
        int r = 0;

        if (entry.n_bytes == 0 || !f->recording->tables)
                return 0;
        if (f->frames_bytes < FRAMES_BYTES_MAX)
                r = jit_frames_add(&p->frames, &entry);
        else
                p->frames.is_full = true;
        count_frames(f, p, before_bytes);
        byte_buffer_clear(&d->unwinding);
        return r < 0 ? r : 0;
}

static int take_load(struct jit_files *f, struct jit_process *p, struct jit_dump *d,
                     const struct jitdump_item *item, uint64_t time_ns)
{
        struct trace_code_region row = { .time_ns = time_ns, .source = TRACE_CODE_SOURCE_JITDUMP };
        struct jitdump_load load;
        uint32_t region = 0;
        int r = jitdump_decode_load(item->body, item->body_bytes, &load, NULL);

        row.process = r == 0 && load.length_bytes > 0 ? process_of_record(f, p, d, load.pid) : 0;
        if (row.process == 0) {
                d->file.n_garbage++;
                d->lines.n_lines = 0;
                byte_buffer_clear(&d->unwinding);
                return 0;
        }
        row.start_avma = load.start_avma;
        row.length_bytes = load.length_bytes;
        r = add_name(f, load.name, load.name_bytes, &row.name);
        if (r < 0)
                goto fail;
        if (row.process != p->process) /* tables are one process's */
                byte_buffer_clear(&d->unwinding);
        r = keep_unwinding(f, p, d, &load);
        if (r < 0)
                goto fail;
        r = keep_code(f, &load, row.name, &row.attachment);
        if (r < 0)
                goto fail;
        r = code_regions_add(f->recording->regions, &row, &region);
        if (r == 1)
                r = jit_lines_add(&d->lines, f->recording->dictionary, &load, region);
fail:
        d->lines.n_lines = 0;
        return r < 0 && r != -EOVERFLOW ? r : 0;
}

static int take_move(struct jit_files *f, struct jit_process *p, struct jit_dump *d,
                     const struct jitdump_item *item, uint64_t time_ns)
{
        struct trace_dictionary *rows = f->recording->dictionary;
        struct trace_code_region row;
        struct jitdump_move move;
        uint32_t process, old, region;
        int r = jitdump_decode_move(item->body, item->body_bytes, &move, NULL);

        process = r == 0 ? process_of_record(f, p, d, move.pid) : 0;
        if (process == 0) {
                d->file.n_garbage++;
                return 0;
        }
        old = code_regions_find(f->recording->regions, process, move.old_avma);
        if (old == 0)
                return 0;
        row = *(const struct trace_code_region *)trace_dictionary_row(rows, TRACE_TABLE_CODE_REGIONS, old);
        row.start_avma = move.new_avma;
        row.length_bytes = move.length_bytes;
        row.time_ns = time_ns;
        r = code_regions_add(f->recording->regions, &row, &region);
        if (r == 1)
                r = jit_lines_copy(rows, old, region);
        return r < 0 && r != -EOVERFLOW ? r : 0;
}

static int take_debug_info(struct jit_files *f, struct jit_dump *d, const struct jitdump_item *item)
{
        struct jitdump_debug_info info;
        int r = jitdump_decode_debug_info(item->body, item->body_bytes, &info, NULL);

        if (r == 0)
                r = jit_lines_read(&d->lines, f->recording->dictionary, &info);
        if (r == -EBADMSG)
                d->file.n_garbage++;
        return r == -ENOMEM ? r : 0;
}

static int take_unwinding(struct jit_dump *d, const struct jitdump_item *item)
{
        struct jitdump_unwinding unwinding;

        byte_buffer_clear(&d->unwinding);
        if (jitdump_decode_unwinding(item->body, item->body_bytes, &unwinding, NULL) < 0 ||
            unwinding.n_bytes > JIT_FRAMES_ENTRY_MAX) {
                d->file.n_garbage++;
                return 0;
        }
        byte_buffer_add(&d->unwinding, unwinding.eh_frame, unwinding.n_bytes);
        return d->unwinding.failed ? -ENOMEM : 0;
}

static int take_item(struct jit_files *f, struct jit_process *p, struct jit_dump *d,
                     const struct jitdump_item *item, uint64_t time_ns)
{
        switch (item->prefix.kind) {
        case JITDUMP_LOAD:
                return take_load(f, p, d, item, time_ns);
        case JITDUMP_MOVE:
                return take_move(f, p, d, item, time_ns);
        case JITDUMP_DEBUG_INFO:
                return take_debug_info(f, d, item);
        case JITDUMP_UNWINDING_INFO:
                return take_unwinding(d, item);
        default:
                return 0; /* the end, and an unknown result */
        }
}

/* A record whose end was never written still has its name, even if not its code. */
static int take_last_record(struct jit_files *f, struct jit_process *p, struct jit_dump *d)
{
        struct jitdump_item item;

        if (jitdump_file_last(&d->file, &item) == 0)
                return 0;
        if (item.prefix.kind != JITDUMP_LOAD) {
                d->file.n_garbage++;
                return 0;
        }
        return take_load(f, p, d, &item, time_of(f, d, item.prefix.ticks));
}

/* Lets records take effect up to @until_ns.  @ret_next_ns: when the next record is due. */
static int run_dump(struct jit_files *f, struct jit_process *p, struct jit_dump *d, uint64_t until_ns,
                    uint64_t *ret_next_ns)
{
        uint64_t at_ns = clock_thread_ns();
        struct jitdump_item item;
        int r = 0;

        *ret_next_ns = UINT64_MAX;
        if (d->file.fd < 0 || p->process == 0)
                return 0;
        while (r == 0 && (f->final ? has_time(f, &at_ns) : d->n_bytes < PACE_JIT_DUMP_BYTES)) {
                uint64_t time_ns;

                r = jitdump_file_peek(&d->file, &item);
                if (r == 0 && f->final && until_ns == UINT64_MAX)
                        r = take_last_record(f, p, d);
                if (r <= 0)
                        return r;
                time_ns = time_of(f, d, item.prefix.ticks);
                if (time_ns > until_ns) {
                        *ret_next_ns = time_ns;
                        return 0;
                }
                d->last_ns = time_ns;
                r = take_item(f, p, d, &item, time_ns);
                jitdump_file_consume(&d->file, &item);
                d->n_bytes += item.prefix.record_bytes;
        }
        if (r == 0 && f->final && jitdump_file_peek(&d->file, &item) == 1) {
                io_close(&d->file.fd);
                loss_counter_add(f->recording->losses, TRACE_LOSS_CODE_OVER_LIMIT, 1);
        }
        return r;
}

/* The records of several dumps take effect one dump after the other: each has its own code. */
static int run_dumps(struct jit_files *f, struct jit_process *p, uint64_t until_ns)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < p->n_dumps; i++) {
                uint64_t next_ns;

                r = run_dump(f, p, &p->dumps[i], until_ns, &next_ns);
                if (next_ns < f->next_ns)
                        f->next_ns = next_ns;
        }
        return r;
}

uint64_t jit_files_next_ns(const struct jit_files *f)
{
        return f->next_ns;
}

int jit_files_run(struct jit_files *f, uint64_t until_ns)
{
        int r = 0;

        f->next_ns = UINT64_MAX;
        for (size_t i = 0; r == 0 && i < f->n_processes; i++) {
                uint64_t next_ns;

                r = run_changes(f, &f->processes[i], until_ns);
                next_ns = renamed_code_next_ns(&f->processes[i].renamed);
                if (next_ns < f->next_ns)
                        f->next_ns = next_ns;
                if (r == 0)
                        r = run_dumps(f, &f->processes[i], until_ns);
        }
        return r;
}

/* ---- what the kernel tells ----------------------------------------------------------------------------- */

/* The times in a dump are read between two readings of the clocks. */
static void start_clock(struct jit_files *f)
{
        if (f->monotonic.n_pairs == 0)
                monotonic_clock_pair(&f->monotonic);
}

/* Opens a jitdump that the process maps, unless it is open: a mapping may be reported several times. */
static int open_dump(struct jit_files *f, struct jit_process *p, const struct perf_mmap *mmap)
{
        struct jit_dump dump = { .file = { .fd = module_file_open(p->pid, mmap, NULL) } };
        struct stat st;
        int r;

        start_clock(f);
        if (dump.file.fd < 0 || fstat(dump.file.fd, &st) < 0) {
                if (p->process != 0 && p->n_dumps == 0)
                        loss_counter_add(f->recording->losses,
                                         dump.file.fd == -ENOENT ? TRACE_LOSS_CODE_TOO_LATE
                                                                 : TRACE_LOSS_CODE_UNREADABLE,
                                         1);
                io_close(&dump.file.fd);
                return 0;
        }
        dump.device = st.st_dev;
        dump.inode = st.st_ino;
        for (size_t i = 0; i < p->n_dumps; i++)
                if (p->dumps[i].device == dump.device && p->dumps[i].inode == dump.inode) {
                        io_close(&dump.file.fd);
                        return 0;
                }
        r = p->n_dumps < DUMPS_MAX
                    ? array_reserve(&p->dumps, &p->dumps_capacity, p->n_dumps + 1, sizeof(*p->dumps))
                    : -EOVERFLOW;
        if (r == 0)
                p->dumps[p->n_dumps++] = dump;
        else
                io_close(&dump.file.fd);
        if (r == -EOVERFLOW)
                loss_counter_add(f->recording->losses, TRACE_LOSS_CODE_OVER_LIMIT, 1);
        return r == -EOVERFLOW ? 0 : r;
}

int jit_files_note_mapping(struct jit_files *f, uint32_t pid, uint32_t process, const struct perf_mmap *mmap,
                           uint64_t time_ns)
{
        bool is_dump = perf_mmap_is_jitdump(mmap);
        struct jit_process *p;
        int r;

        if (!mmap->executable ||
            (!is_dump && !perf_mmap_is_anonymous(mmap) && !perf_mmap_may_hold_jit_code(mmap)))
                return 0;
        r = add_process(f, pid, process, &p);
        if (r < 0 || !p)
                return r;
        p->wants_map = p->wants_map || !is_dump;
        if (!is_dump)
                renamed_code_note(&p->renamed, mmap, time_ns);
        if (p->wants_map && p->n_tries++ < PACE_JIT_TRIES)
                perf_map_file_try(&p->map, &p->target);
        return is_dump ? open_dump(f, p, mmap) : 0;
}

/* The dumps may have grown since the last look. */
static void look_again_at_dumps(struct jit_process *p)
{
        for (size_t i = 0; i < p->n_dumps; i++) {
                p->dumps[i].file.is_dry = false;
                p->dumps[i].n_bytes = 0;
        }
}

static int finish(struct jit_files *f, struct jit_process *p)
{
        bool was_final = f->final;
        int r;

        f->final = true;
        p->is_over = true;
        look_again_at_dumps(p);
        r = run_dumps(f, p, UINT64_MAX);
        if (r == 0)
                r = read_map(f, p, true);
        if (r == 0)
                r = run_changes(f, p, UINT64_MAX);
        count_garbage(f, p);
        f->final = was_final;
        return r;
}

static void forget(struct jit_files *f, size_t i)
{
        f->frames_bytes -= f->processes[i].frames.bytes.used_bytes;
        if (f->recording->tables)
                code_tables_forget_jit(f->recording->tables, f->processes[i].process);
        deinit_process(&f->processes[i]);
        f->processes[i] = f->processes[--f->n_processes];
}

/* The map of the next program has the same name: its present contents are the earlier program's. */
static int follow_next_program(struct jit_files *f, struct jit_process *p)
{
        struct perf_map_file map = p->map;
        struct jit_process *next;
        uint32_t pid = p->pid, process = p->process;
        int r;

        p->map = (struct perf_map_file){ .fd = -1 };
        forget(f, (size_t)(p - f->processes));
        if (map.fd < 0)
                return 0;
        perf_map_restart(&map.map);
        map.map.n_garbage = 0;
        map.is_over_limit = false;
        r = add_process(f, pid, process, &next);
        if (r == 0 && next)
                next->map = map;
        else
                perf_map_file_deinit(&map);
        return r;
}

int jit_files_note_exec(struct jit_files *f, uint32_t pid, uint32_t process, uint64_t time_ns)
{
        struct jit_process *p = find_process(f, pid);
        int r = 0;

        if (p && p->process != 0) {
                r = finish(f, p);
                if (r == 0)
                        r = follow_next_program(f, p);
        }
        return r < 0 ? r : code_regions_clear(f->recording->regions, process, time_ns);
}

/* ---- each cycle ---------------------------------------------------------------------------------------- */

/* Has the process ended, and has everything about it been written? */
static bool has_ended(const struct jit_files *f, const struct jit_process *p)
{
        const struct process_track *track = process_table_find_process(f->recording->processes, p->pid);

        return p->process != 0 && (!track || track->process != p->process);
}

static void read_clocks(struct jit_files *f)
{
        bool wants_arch = false, wants_monotonic = false;

        for (size_t i = 0; i < f->n_processes; i++)
                for (size_t k = 0; k < f->processes[i].n_dumps; k++) {
                        const struct jitdump_file *dump = &f->processes[i].dumps[k].file;

                        wants_arch = wants_arch || (dump->has_header && dump->header.has_arch_ticks);
                        wants_monotonic = wants_monotonic || dump->fd >= 0;
                }
        if (wants_monotonic)
                monotonic_clock_pair(&f->monotonic);
        if (wants_arch && f->has_arch)
                tick_clock_pair(&f->arch);
        else if (wants_arch)
                f->has_arch = tick_clock_init(&f->arch, tick_source_kind(), NULL) == 0;
}

int jit_files_read(struct jit_files *f, uint64_t now_ns, bool final)
{
        bool reads_maps;
        int r = 0;

        f->now_ns = now_ns;
        if (!f->final) /* the last cycle reads twice */
                recorder_pace_repay(f->recording->pace, PACED_JIT_REST, PACE_JIT_REST_NS);
        f->final = final;
        if (f->n_processes == 0)
                return 0;
        reads_maps = recorder_pace_read_jit_maps(f->recording->pace, f->n_processes, now_ns) || final;
        read_clocks(f);
        for (size_t i = f->n_processes; r == 0 && i-- > 0;) {
                struct jit_process *p = &f->processes[i];

                look_again_at_dumps(p);
                p->n_tries = 0;
                if (p->wants_map)
                        perf_map_file_try(&p->map, &p->target);
                if (has_ended(f, p)) {
                        r = finish(f, p);
                        forget(f, i);
                        continue;
                }
                if (reads_maps)
                        r = read_map(f, p, final);
                if (r == 0 && f->recording->tables)
                        r = code_tables_want_jit(f->recording->tables, p->process, &p->frames);
                count_garbage(f, p);
        }
        if (r == 0)
                r = code_regions_decide(f->recording->regions);
        return r < 0 ? r : jit_files_run(f, 0);
}
