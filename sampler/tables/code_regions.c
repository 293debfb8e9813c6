/* SPDX-License-Identifier: MIT */
/*
 * The pieces of code that a process has now form a binary tree without overlaps: two pieces compare as
 * equal if they share an address, so a piece that covers others finds them one by one.  The uncovered ends
 * of covered pieces stay.
 *
 * A new generation costs modules and all that was remembered of call stacks.  It is begun only if code was
 * seen to run where other code is placed; otherwise no frame could be mistaken.  Frames are looked at only
 * when pieces overlap.
 */
#include "sampler/tables/code_regions.h"

#include "base/array.h"
#include "base/error.h"
#include "base/intern.h"
#include "base/mapped_path.h"
#include "format/trace_dictionary.h"
#include "sampler/tables/code_tables.h"
#include "sampler/tracks/address_space.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/process_table.h"
#include "sampler/tracks/recording.h"
#include "unwind/unwind_module.h"

#include <assert.h>
#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>

#define UNDECIDED_MAX 8

#define HEIRS_MAX 16 /* heirs that are remembered; if there are more, one of them counts as alive */

struct code_piece {
        uint64_t start_avma, end_avma;
        uint32_t region; /* id in CODE_REGIONS */
};

/*
 * A mapping of a file whose unwind table has not come yet; the table says whether the file has code there.
 */
struct undecided_file {
        uint64_t start_avma;
        bool is_dump;
};

/* The code of one process. */
struct process_code {
        uint32_t generation;
        void *pieces;     /* a tree of <search.h>, of struct code_piece on the heap */
        uint64_t *frames; /* heap: addresses of frames of this generation */
        size_t n_frames, frames_capacity;
        bool frames_are_sorted;
        struct undecided_file undecided[UNDECIDED_MAX];
        uint32_t n_undecided;
        uint32_t n_heirs;
        uint32_t heirs[HEIRS_MAX]; /* PIDs of processes that were forked with memory of this generation */
};

struct code_regions {
        const struct recording *recording;
        code_regions_before_change *before_change; /* or NULL */
        void *context;
        struct intern ids;              /* in PROCESSES, of those that have had code */
        struct process_code *processes; /* heap, by the id in `ids` - 1 */
        size_t capacity;
        uint32_t n_frames_seen; /* rows of FRAMES that were looked at */
};

/* ---- processes ----------------------------------------------------------------------------------------- */

int code_regions_new(const struct recording *recording, code_regions_before_change *before_change,
                     void *context, struct code_regions **ret_regions, struct error *err)
{
        struct code_regions *c = calloc(1, sizeof(*c));

        if (!c)
                return error_set(err, -ENOMEM, "no memory for regions of code");
        intern_init(&c->ids, sizeof(uint32_t), 0);
        c->recording = recording;
        c->before_change = before_change;
        c->context = context;
        *ret_regions = c;
        return 0;
}

void code_regions_free(struct code_regions *c)
{
        if (!c)
                return;
        for (size_t i = 0; i < c->ids.n_items; i++) {
                tdestroy(c->processes[i].pieces, free);
                free(c->processes[i].frames);
        }
        intern_deinit(&c->ids);
        free(c->processes);
        free(c);
}

/* NULL if the process has had no code. */
static struct process_code *find_code(const struct code_regions *c, uint32_t process)
{
        uint32_t id = intern_find(&c->ids, &process, sizeof(process));

        return id != 0 ? &c->processes[id - 1] : NULL;
}

/* The same for a process that has had code. */
static struct process_code *known_code(const struct code_regions *c, uint32_t process)
{
        struct process_code *code = find_code(c, process);

        assert(code);
        return code;
}

static int code_of(struct code_regions *c, uint32_t process, struct process_code **ret_code)
{
        uint32_t id;
        int r = intern_add_row(&c->ids, &process, &c->processes, &c->capacity, sizeof(*c->processes), &id);

        if (r < 0)
                return r;
        *ret_code = &c->processes[id - 1];
        return 0;
}

uint32_t code_regions_generation(const struct code_regions *c, uint32_t process)
{
        const struct process_code *code = find_code(c, process);

        return code ? code->generation : 0;
}

/* The process, if it lives. */
static struct process_track *track_of(const struct code_regions *c, uint32_t process)
{
        return process_table_find_id(c->recording->processes, process);
}

/* ---- children ------------------------------------------------------------------------------------------ */

int code_regions_note_fork(struct code_regions *c, const struct process_track *child)
{
        uint32_t last = 0;

        for (size_t i = 0; i < child->space.n_ranges; i++) {
                const struct trace_module *row = trace_dictionary_row(
                        c->recording->dictionary, TRACE_TABLE_MODULES, child->space.ranges[i].module);
                struct process_code *code;
                int r;

                if (row->kind != TRACE_MODULE_ANONYMOUS || row->process == 0 || row->process == last ||
                    row->process == child->process ||
                    row->generation != code_regions_generation(c, row->process))
                        continue;
                last = row->process;
                r = code_of(c, row->process, &code);
                if (r < 0)
                        return r;
                if (code->n_heirs < HEIRS_MAX)
                        code->heirs[code->n_heirs] = child->pid;
                code->n_heirs++;
        }
        return 0;
}

/* Does another process still have memory of this generation? */
static bool others_share(const struct code_regions *c, uint32_t process, const struct process_code *code)
{
        for (uint32_t i = 0; i < code->n_heirs && i < HEIRS_MAX; i++) {
                const struct process_track *heir = process_table_find_process(c->recording->processes,
                                                                              code->heirs[i]);

                for (size_t k = 0; heir && k < heir->space.n_ranges; k++) {
                        const struct trace_module *row = trace_dictionary_row(
                                c->recording->dictionary, TRACE_TABLE_MODULES, heir->space.ranges[k].module);

                        if (row->kind == TRACE_MODULE_ANONYMOUS && row->process == process &&
                            row->generation == code->generation)
                                return true;
                }
        }
        return code->n_heirs > HEIRS_MAX;
}

/* ---- frames -------------------------------------------------------------------------------------------- */

/* Adds the frames that are new since the last call to those of their processes. */
static int note_frames(struct code_regions *c)
{
        const struct trace_dictionary *d = c->recording->dictionary;
        uint32_t n_frames = trace_dictionary_count(d, TRACE_TABLE_FRAMES);

        for (; c->n_frames_seen < n_frames; c->n_frames_seen++) {
                const struct trace_frame *frame = trace_dictionary_row(d, TRACE_TABLE_FRAMES,
                                                                       c->n_frames_seen + 1);
                const struct trace_module *module;
                struct process_code *code;
                int r;

                if (frame->module == 0)
                        continue;
                module = trace_dictionary_row(d, TRACE_TABLE_MODULES, frame->module);
                if (module->kind != TRACE_MODULE_ANONYMOUS || module->process == 0)
                        continue;
                r = code_of(c, module->process, &code);
                if (r < 0)
                        return r;
                if (module->generation != code->generation)
                        continue;
                r = array_reserve(&code->frames, &code->frames_capacity, code->n_frames + 1,
                                  sizeof(*code->frames));
                if (r < 0)
                        return r;
                /* The call instruction lies before its return address. */
                code->frames[code->n_frames++] = frame->offset -
                                                 ((frame->flags & TRACE_FRAME_RETURN_ADDRESS) != 0);
                code->frames_are_sorted = false;
        }
        return 0;
}

static int compare_numbers(const void *a, const void *b)
{
        const uint64_t *x = a, *y = b;

        return *x < *y ? -1 : *x > *y;
}

/* Was code of this generation seen to run in this range? */
static bool has_frame(struct process_code *code, uint64_t start_avma, uint64_t end_avma)
{
        size_t low = 0, high = code->n_frames;

        if (!code->frames_are_sorted && code->n_frames > 0)
                qsort(code->frames, code->n_frames, sizeof(*code->frames), compare_numbers);
        code->frames_are_sorted = true;
        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (code->frames[middle] < start_avma)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < code->n_frames && code->frames[low] < end_avma;
}

/* ---- generations --------------------------------------------------------------------------------------- */

/* Points the anonymous memory of the process to modules that are its own and of @generation. */
static int point_to_modules(const struct code_regions *c, struct process_track *track, uint32_t generation)
{
        struct trace_dictionary *d = c->recording->dictionary;
        uint32_t old = 0, new = 0;
        int r = 0;

        for (size_t i = 0; r == 0 && i < track->space.n_ranges; i++) {
                struct address_range *range = &track->space.ranges[i];
                struct trace_module row;

                if (range->module != old) {
                        old = range->module;
                        new = old;
                        row = *(const struct trace_module *)trace_dictionary_row(d, TRACE_TABLE_MODULES, old);
                        if (row.kind != TRACE_MODULE_ANONYMOUS)
                                continue;
                        row.process = track->process;
                        row.generation = generation;
                        r = trace_dictionary_add(d, TRACE_TABLE_MODULES, &row, &new);
                }
                if (r == 0)
                        range->module = new;
        }
        track->space.generation = 0; /* invalidates cached modules */
        return r == -EOVERFLOW ? 0 : r;
}

/*
 * Call stacks of the process that wait for an unwind table or for the rest of a stack get their frames now:
 * they are of the code that is there until now.  None waits across a change of generation.
 */
static int finish_stacks(const struct code_regions *c, struct process_track *track)
{
        return track && c->before_change ? c->before_change(c->context, track, 0, UINT64_MAX) : 0;
}

/* After finish_stacks(). */
static int begin_generation(struct code_regions *c, struct process_code *code, struct process_track *track,
                            uint64_t time_ns)
{
        int r;

        if (code->generation + 1 >= CODE_REGIONS_GENERATIONS_MAX) {
                loss_counter_add(c->recording->losses, TRACE_LOSS_CODE_OVER_LIMIT, 1);
                return 0;
        }
        code->generation++;
        code->n_frames = 0;
        if (!track)
                return 0;
        r = point_to_modules(c, track, code->generation);
        return r < 0 ? r
                     : stack_mover_run(c->recording->processes, c->recording->dictionary, track,
                                       code->generation - 1, time_ns);
}

/*
 * Finds the module of a process's memory at an address; 0 if it is another process's or of another
 * generation.
 */
static uint32_t module_at(const struct code_regions *c, const struct process_track *track, uint64_t avma,
                          bool *ret_is_old)
{
        const struct address_range *range = address_space_find(&track->space, avma);
        const struct trace_module *module;

        *ret_is_old = false;
        if (!range)
                return 0;
        module = trace_dictionary_row(c->recording->dictionary, TRACE_TABLE_MODULES, range->module);
        if (module->kind != TRACE_MODULE_ANONYMOUS)
                return 0;
        *ret_is_old = module->process != track->process ||
                      module->generation != code_regions_generation(c, track->process);
        return *ret_is_old ? 0 : range->module;
}

enum owner { OWNER_FILE, OWNER_PROCESS, OWNER_UNDECIDED };

/*
 * Is the code in a mapping of a file the file's own?  It is the process's if the file has no executable
 * segment there or, where its table does not tell, if a jitdump reports the code, or the file has no name.
 */
static enum owner owner_of(const struct code_regions *c, const struct address_range *range, bool is_dump)
{
        const struct trace_module *row = trace_dictionary_row(c->recording->dictionary, TRACE_TABLE_MODULES,
                                                              range->module);
        enum code_tables_answer answer = CODE_TABLES_NONE;
        const struct unwind_module *module;
        const char *path;
        size_t path_bytes;
        uint64_t bias;

        if (row->kind != TRACE_MODULE_FILE)
                return OWNER_FILE;
        if (c->recording->tables)
                answer = code_tables_find(c->recording->tables, range->module, &module);
        if (answer == CODE_TABLES_COMING)
                return OWNER_UNDECIDED;
        if (answer == CODE_TABLES_READY)
                return unwind_module_find_bias(module, range->start_avma, range->file_offset_bytes,
                                               range->end_avma - range->start_avma, &bias)
                               ? OWNER_FILE
                               : OWNER_PROCESS;
        path = trace_dictionary_string(c->recording->dictionary, row->path, &path_bytes);
        return is_dump || mapped_path_count(path, path_bytes) < path_bytes ? OWNER_PROCESS : OWNER_FILE;
}

/* Makes a mapping of a file memory of the process, of the same name. */
static int take_from_file(const struct code_regions *c, struct process_track *track, uint64_t avma)
{
        struct trace_dictionary *d = c->recording->dictionary;
        const struct address_range *range = address_space_find(&track->space, avma);
        struct address_range taken;
        struct trace_module row;
        int r = finish_stacks(c, track);

        if (r < 0 || !range)
                return r;
        taken = *range;
        row = (struct trace_module){ .kind = TRACE_MODULE_ANONYMOUS,
                                     .path = ((const struct trace_module *)trace_dictionary_row(
                                                      d, TRACE_TABLE_MODULES, taken.module))
                                                     ->path,
                                     .process = track->process,
                                     .generation = code_regions_generation(c, track->process) };
        r = trace_dictionary_add(d, TRACE_TABLE_MODULES, &row, &taken.module);
        if (r >= 0)
                r = address_space_add(&track->space, &taken);
        return r == -EOVERFLOW || r > 0 ? 0 : r;
}

/*
 * Calls take_from_file() if the file has no code there; if that is unknown yet, code_regions_decide() tries
 * again.
 */
static int try_file(struct code_regions *c, struct process_track *track, uint64_t avma, bool is_dump)
{
        const struct address_range *range = address_space_find(&track->space, avma);
        enum owner owner = range ? owner_of(c, range, is_dump) : OWNER_FILE;
        struct process_code *code;
        int r;

        if (owner == OWNER_FILE)
                return 0;
        if (owner == OWNER_PROCESS)
                return take_from_file(c, track, avma);
        r = code_of(c, track->process, &code);
        if (r < 0)
                return r;
        for (uint32_t i = 0; i < code->n_undecided; i++)
                if (code->undecided[i].start_avma == range->start_avma)
                        return 0;
        if (code->n_undecided < UNDECIDED_MAX)
                code->undecided[code->n_undecided++] = (struct undecided_file){ range->start_avma, is_dump };
        return 0;
}

int code_regions_decide(struct code_regions *c)
{
        int r = 0;

        for (uint32_t i = 0; r == 0 && i < c->ids.n_items; i++) {
                uint32_t process = *(const uint32_t *)intern_get(&c->ids, i + 1, NULL);
                struct process_track *track;
                struct process_code code;

                if (c->processes[i].n_undecided == 0)
                        continue;
                code = c->processes[i]; /* some of the process's files may be noted again */
                track = track_of(c, process);
                c->processes[i].n_undecided = 0;
                for (uint32_t k = 0; track && r == 0 && k < code.n_undecided; k++)
                        r = try_file(c, track, code.undecided[k].start_avma, code.undecided[k].is_dump);
        }
        return r;
}

/*
 * Finds the module of the memory in which a region lies.  After a fork, it is the parent's module until the
 * child's first region comes.
 */
static int find_module(struct code_regions *c, struct process_track *track,
                       const struct trace_code_region *row, uint32_t *ret_module)
{
        static const char path[] = "//anon";
        struct trace_module module = { .kind = TRACE_MODULE_ANONYMOUS,
                                       .process = row->process,
                                       .generation = code_regions_generation(c, row->process) };
        bool is_old = false;
        int r = 0;

        if (track && !row->gone)
                r = try_file(c, track, row->start_avma, row->source == TRACE_CODE_SOURCE_JITDUMP);
        if (r < 0)
                return r;
        *ret_module = track ? module_at(c, track, row->start_avma, &is_old) : 0;
        if (is_old) {
                r = finish_stacks(c, track);
                if (r == 0)
                        r = point_to_modules(c, track, module.generation);
                *ret_module = module_at(c, track, row->start_avma, &is_old);
        }
        if (r < 0 || *ret_module != 0)
                return r;
        r = trace_dictionary_add_string(c->recording->dictionary, path, sizeof(path) - 1, &module.path);
        if (r == 0)
                r = trace_dictionary_add(c->recording->dictionary, TRACE_TABLE_MODULES, &module, ret_module);
        return r == -EOVERFLOW ? 0 : r;
}

/* ---- pieces -------------------------------------------------------------------------------------------- */

static int compare_pieces(const void *a, const void *b)
{
        const struct code_piece *x = a, *y = b;

        if (x->end_avma <= y->start_avma)
                return -1;
        return y->end_avma <= x->start_avma;
}

/* Finds a piece that has an address in common with @key; NULL = there is none. */
static struct code_piece *find_piece(const struct process_code *code, const struct code_piece *key)
{
        struct code_piece *const *found = tfind(key, &code->pieces, compare_pieces);

        return found ? *found : NULL;
}

/* The same for a process that may have had no code. */
static const struct code_piece *find_piece_of(const struct code_regions *c, uint32_t process,
                                              const struct code_piece *key)
{
        const struct process_code *code = find_code(c, process);

        return code ? find_piece(code, key) : NULL;
}

/* There is nothing at its addresses. */
static int add_piece(struct process_code *code, const struct code_piece *piece)
{
        struct code_piece *copy = malloc(sizeof(*copy));

        if (!copy)
                return -ENOMEM;
        *copy = *piece;
        if (tsearch(copy, &code->pieces, compare_pieces))
                return 0;
        free(copy);
        return -ENOMEM;
}

/*
 * Removes what @piece covers of other pieces; their parts outside stay.  @ret_seen: some removed code was
 * seen to run.
 */
static int cut_away(struct process_code *code, const struct code_piece *piece, bool *ret_seen)
{
        struct code_piece *there;
        int r = 0;

        *ret_seen = false;
        while (r == 0 && (there = find_piece(code, piece)) != NULL) {
                struct code_piece below = *there, above = *there, both = *there;

                (void)tdelete(there, &code->pieces, compare_pieces);
                free(there);
                if (both.start_avma < piece->start_avma) {
                        below.end_avma = both.start_avma = piece->start_avma;
                        r = add_piece(code, &below);
                }
                if (r == 0 && both.end_avma > piece->end_avma) {
                        above.start_avma = both.end_avma = piece->end_avma;
                        r = add_piece(code, &above);
                }
                *ret_seen = *ret_seen || has_frame(code, both.start_avma, both.end_avma);
        }
        return r;
}

/* Is it there already? */
static bool is_same(const struct code_regions *c, const struct code_piece *there,
                    const struct trace_code_region *row)
{
        const struct trace_code_region *old = trace_dictionary_row(c->recording->dictionary,
                                                                   TRACE_TABLE_CODE_REGIONS, there->region);

        return there->start_avma == row->start_avma &&
               there->end_avma == row->start_avma + row->length_bytes && old->start_avma == row->start_avma &&
               old->length_bytes == row->length_bytes && old->name == row->name && old->gone == row->gone &&
               old->source == row->source && old->attachment == row->attachment;
}

/* True for code of a perf map that only the map's next line will identify. */
static bool is_unknown(const struct code_regions *c, const struct process_code *code,
                       const struct code_piece *key)
{
        const struct code_piece *there = find_piece(code, key);
        const struct trace_code_region *row = there ? trace_dictionary_row(c->recording->dictionary,
                                                                           TRACE_TABLE_CODE_REGIONS,
                                                                           there->region)
                                                    : NULL;

        return row && row->gone && row->source == TRACE_CODE_SOURCE_PERF_MAP;
}

/*
 * Leaves the old generation to children that still have the memory as it was, since they may have other
 * code there than the process.  Pending samples of the process may be of the new code, and all earlier code
 * is still in place.
 */
static int leave_heirs(struct code_regions *c, struct process_track *track, uint32_t process)
{
        struct process_code *code = known_code(c, process);
        bool is_shared = code->n_heirs > 0 && others_share(c, process, code);
        int r = is_shared ? finish_stacks(c, track) : 0;

        code->n_heirs = 0;
        return is_shared && r == 0 ? begin_generation(c, code, track, 0) : r;
}

/* Makes room for a region; begins a generation if necessary.  The array of processes may be reallocated. */
static int make_room(struct code_regions *c, struct process_track *track, const struct trace_code_region *row)
{
        const struct code_piece piece = { row->start_avma, row->start_avma + row->length_bytes, 0 };
        struct process_code *code;
        bool was_seen = false, was_unknown;
        int r = 0;

        if (!find_piece(known_code(c, row->process), &piece))
                return 0;
        if (track && c->before_change)
                r = c->before_change(c->context, track, piece.start_avma, piece.end_avma);
        if (r == 0)
                r = note_frames(c);
        code = known_code(c, row->process);
        was_unknown = is_unknown(c, code, &piece);
        if (r == 0)
                r = cut_away(code, &piece, &was_seen);
        if (was_seen && was_unknown)
                loss_counter_add(c->recording->losses, TRACE_LOSS_CODE_REPLACED, 1);
        /* Removed code remains the code of all frames so far; the next code will be put over it. */
        if (r < 0 || !was_seen || row->gone)
                return r;
        r = finish_stacks(c, track);
        return r < 0 ? r : begin_generation(c, known_code(c, row->process), track, row->time_ns);
}

int code_regions_add(struct code_regions *c, struct trace_code_region *row, uint32_t *ret_region)
{
        struct code_piece piece = { .start_avma = row->start_avma };
        const struct code_piece *there;
        struct process_track *track;
        struct process_code *code;
        int r;

        *ret_region = 0;
        if (row->process == 0 || row->length_bytes == 0 ||
            __builtin_add_overflow(row->start_avma, row->length_bytes, &piece.end_avma))
                return 0;
        r = code_of(c, row->process, &code);
        if (r < 0)
                return r;
        there = find_piece(code, &piece);
        if (there && is_same(c, there, row)) {
                *ret_region = there->region;
                return 0;
        }
        track = track_of(c, row->process);
        r = leave_heirs(c, track, row->process);
        if (r == 0)
                r = make_room(c, track, row);
        if (r == 0)
                r = find_module(c, track, row, &row->module);
        if (r == 0)
                r = trace_dictionary_add(c->recording->dictionary, TRACE_TABLE_CODE_REGIONS, row,
                                         &piece.region);
        if (r == -EOVERFLOW) {
                loss_counter_add(c->recording->losses, TRACE_LOSS_CODE_OVER_LIMIT, 1);
                return 0;
        }
        if (r < 0)
                return r;
        r = add_piece(known_code(c, row->process), &piece);
        if (r < 0)
                return r;
        *ret_region = piece.region;
        return 1;
}

bool code_regions_has_other(const struct code_regions *c, const struct trace_code_region *row)
{
        struct code_piece piece = { .start_avma = row->start_avma };
        const struct code_piece *there;

        if (row->length_bytes == 0 ||
            __builtin_add_overflow(row->start_avma, row->length_bytes, &piece.end_avma))
                return false;
        there = find_piece_of(c, row->process, &piece);
        return there && !is_same(c, there, row);
}

/*
 * A row that says "gone" counts only for frames of later generations, so a new generation begins in any
 * case.
 */
int code_regions_doubt(struct code_regions *c, struct trace_code_region *row)
{
        struct code_piece piece = { .start_avma = row->start_avma };
        bool has_name = code_regions_has_other(c, row), was_seen;
        struct process_track *track;
        struct process_code *code;
        int r;

        if (row->process == 0 || row->length_bytes == 0 ||
            __builtin_add_overflow(row->start_avma, row->length_bytes, &piece.end_avma))
                return 0;
        track = track_of(c, row->process);
        r = code_of(c, row->process, &code);
        if (r == 0)
                r = finish_stacks(c, track);
        if (r == 0)
                r = note_frames(c);
        if (r < 0)
                return r;
        code = known_code(c, row->process);
        if (!has_name && find_piece(code, &piece))
                return 0;
        if (!has_name && has_frame(code, piece.start_avma, piece.end_avma)) /* which keep none */
                loss_counter_add(c->recording->losses, TRACE_LOSS_CODE_REPLACED, 1);
        r = cut_away(code, &piece, &was_seen);
        row->gone = 1;
        row->name = 0;
        row->attachment = 0;
        if (r < 0)
                goto done;
        r = find_module(c, track, row, &row->module);
        if (r < 0)
                goto done;
        r = trace_dictionary_add(c->recording->dictionary, TRACE_TABLE_CODE_REGIONS, row, &piece.region);
        if (r < 0)
                goto done;
        r = add_piece(code, &piece);
        if (r < 0)
                goto done;
        r = begin_generation(c, code, track, row->time_ns);

done:
        return r == -EOVERFLOW ? 0 : r;
}

int code_regions_note_file(struct code_regions *c, struct process_track *track,
                           const struct address_range *range)
{
        const struct code_piece key = { range->start_avma, range->end_avma, 0 };
        const struct code_piece *piece;
        const struct trace_code_region *row;

        if (range->start_avma >= range->end_avma)
                return 0;
        piece = find_piece_of(c, track->process, &key);
        if (!piece)
                return 0;
        row = trace_dictionary_row(c->recording->dictionary, TRACE_TABLE_CODE_REGIONS, piece->region);
        return try_file(c, track, range->start_avma, row->source == TRACE_CODE_SOURCE_JITDUMP);
}

uint32_t code_regions_find(const struct code_regions *c, uint32_t process, uint64_t avma)
{
        const struct code_piece key = { avma, avma + 1, 0 };
        const struct code_piece *piece;
        const struct trace_code_region *row;

        if (avma == UINT64_MAX)
                return 0;
        piece = find_piece_of(c, process, &key);
        if (!piece)
                return 0;
        row = trace_dictionary_row(c->recording->dictionary, TRACE_TABLE_CODE_REGIONS, piece->region);
        return row->gone ? 0 : piece->region;
}

int code_regions_clear(struct code_regions *c, uint32_t process, uint64_t time_ns)
{
        struct trace_code_region nothing = {
                .length_bytes = UINT64_MAX, .time_ns = time_ns, .process = process, .gone = 1
        };
        struct process_code *code = find_code(c, process);
        uint32_t id;
        int r;

        if (!code || !code->pieces)
                return 0;
        r = find_module(c, NULL, &nothing, &nothing.module);
        if (r == 0)
                r = trace_dictionary_add(c->recording->dictionary, TRACE_TABLE_CODE_REGIONS, &nothing, &id);
        if (r < 0 && r != -EOVERFLOW)
                return r;
        tdestroy(code->pieces, free);
        code->pieces = NULL;
        return begin_generation(c, code, NULL, time_ns);
}
