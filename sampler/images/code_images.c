/* SPDX-License-Identifier: MIT */
#include "sampler/images/code_images.h"

#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "sampler/images/code_images_parts.h"
#include "sampler/images/image_changes.h"
#include "sampler/images/image_identity.h"
#include "sampler/images/image_search.h"
#include "sampler/images/image_source.h"
#include "sampler/images/memory_image.h"
#include "sampler/images/watched_images.h"
#include "sampler/jit/jit_lists.h"
#include "sampler/jit/jit_objects.h"
#include "sampler/keep/code_keeper.h"
#include "sampler/keep/image_reader.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/proc/process_maps.h"
#include "sampler/tables/code_regions.h"
#include "sampler/tables/code_tables.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/process_table.h"
#include "sampler/tracks/recording.h"
#include "unwind/unwind_module.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WANTED_MAX      4                   /* times that an image is handed to the keeper */
#define TABLE_BYTES_MAX (UINT32_C(1) << 26) /* of an image that is read for its unwind table */

static const char memfd_name[] = "/memfd:";
static const char unloaded_name[] = "//anon:unloaded";

struct code_images {
        const struct recording *recording;
        struct image_changes changes;
        struct sampled_places places;
        struct searched_processes searched;
        struct landmark_files files;
        struct jit_lists lists;
        uint8_t *n_wanted; /* heap; by module: how often its image was asked for, up to WANTED_MAX */
        size_t wanted_capacity;
        struct recent_mappings recent;
        struct image_identities identities;
        struct watched_images watched;
        struct memory_image image; /* scratch */
};

int code_images_new(const struct recording *recording, struct code_images **ret_images)
{
        struct code_images *c = calloc(1, sizeof(*c));

        if (!c)
                return -ENOMEM;
        c->recording = recording;
        c->files = (struct landmark_files){ .recording = recording, .lists = &c->lists };
        if (recent_mappings_init(&c->recent, recording->events) < 0) {
                free(c);
                return -ENOMEM;
        }
        sampled_places_init(&c->places);
        searched_processes_init(&c->searched);
        image_identities_init(&c->identities);
        c->watched.pace = recording->pace;
        *ret_images = c;
        return 0;
}

void code_images_free(struct code_images *c)
{
        if (!c)
                return;
        jit_lists_deinit(&c->lists);
        landmark_files_deinit(&c->files);
        free(c->n_wanted);
        recent_mappings_deinit(&c->recent);
        image_changes_deinit(&c->changes);
        image_identities_deinit(&c->identities);
        watched_images_deinit(&c->watched);
        sampled_places_deinit(&c->places);
        searched_processes_deinit(&c->searched);
        free(c);
}

/* ---- time ---------------------------------------------------------------------------------------------- */

/* False if enough time has been spent on images recently. */
static bool begin_work(struct code_images *c, uint64_t now_ns)
{
        return recorder_pace_left(c->recording->pace, PACED_IMAGES, now_ns) > 0;
}

static void end_work(struct code_images *c, uint64_t began_ns)
{
        recorder_pace_spend(c->recording->pace, PACED_IMAGES, clock_raw_ns() - began_ns);
}

/* ---- changes ------------------------------------------------------------------------------------------- */

bool code_images_next(struct code_images *c, uint64_t until_ns, struct image_change *ret_change)
{
        return image_changes_next(&c->changes, until_ns, ret_change);
}

/* Memory that lost an image gets a new module, because earlier samples may belong to the image. */
static int add_anonymous(const struct code_images *c, uint32_t process, uint32_t *ret_module)
{
        struct trace_dictionary *d = c->recording->dictionary;
        struct trace_module row = { .kind = TRACE_MODULE_ANONYMOUS, .process = process };
        int r;

        if (c->recording->regions)
                row.generation = code_regions_generation(c->recording->regions, process);
        r = trace_dictionary_add_string(d, unloaded_name, strlen(unloaded_name), &row.path);
        return r == 0 ? trace_dictionary_add(d, TRACE_TABLE_MODULES, &row, ret_module) : r;
}

/* A full table is no reason to stop the recording. */
int code_images_put(struct code_images *c, struct process_track *process, const struct image_change *change)
{
        struct address_range range = change->range;
        struct trace_mapping row = { .start_avma = range.start_avma,
                                     .length_bytes = range.end_avma - range.start_avma,
                                     .file_offset_bytes = range.file_offset_bytes,
                                     .time_ns = change->time_ns,
                                     .process = process->process };
        uint32_t id;
        int r = change->is_gone ? add_anonymous(c, process->process, &range.module) : 0;

        row.module = range.module;
        if (r == 0)
                r = trace_dictionary_append_new(c->recording->dictionary, TRACE_TABLE_MAPPINGS, &row, &id);
        if (r == -EOVERFLOW)
                return 0;
        return r < 0 ? r : process_track_map(process, &range, change->time_ns);
}

/* ---- the kept parts of an image ------------------------------------------------------------------------ */

static bool has_table(const struct code_images *c, uint32_t module)
{
        const struct unwind_module *known;

        return code_tables_find(c->recording->tables, module, &known) != CODE_TABLES_NONE;
}

/* The keeper has the image after the first request, unless the image was gone by then. */
static bool may_want(struct code_images *c, uint32_t module)
{
        size_t before = c->wanted_capacity;

        if (array_reserve(&c->n_wanted, &c->wanted_capacity, (size_t)module + 1, sizeof(*c->n_wanted)) < 0)
                return false;
        if (c->wanted_capacity > before)
                memset(c->n_wanted + before, 0, c->wanted_capacity - before);
        if (c->n_wanted[module] == WANTED_MAX)
                return false;
        c->n_wanted[module]++;
        return true;
}

/* Recognising images comes first: @left_ns of the time is reserved for that. */
static bool has_more_time(const struct code_images *c, uint64_t began_ns, uint64_t left_ns)
{
        return recorder_pace_has(c->recording->pace, PACED_IMAGES, clock_raw_ns() - began_ns, left_ns);
}

/* Looks for the whole image while the program has it.  Returns 1 if the keeper has it, 0, -ENOMEM. */
static int add_whole(struct code_images *c, uint32_t module, const struct code_source *source,
                     uint64_t began_ns)
{
        struct searched_process *process = searched_processes_get(&c->searched, c->image.memory.pid);
        struct image_search_limits limits = { .bytes_max = PACE_IMAGES_WHOLE_BYTES };
        struct byte_buffer bytes = { .data = NULL };
        int r;

        if (!process || !has_more_time(c, began_ns, PACE_IMAGES_LEFT_NS / 2) ||
            (process->n_misses >= PACE_IMAGES_MISSES && process->n_misses++ % PACE_IMAGES_MISSES_SKIP != 0))
                return 0;
        limits.near_avma = process->near_avma;
        limits.until_ns = clock_raw_ns() + PACE_IMAGES_WHOLE_NS;
        r = image_source_search(source->source, &limits, PACE_IMAGES_WHOLE_BYTES, &bytes,
                                &process->near_avma);
        process->n_misses = r == 1 ? 0 : process->n_misses + 1;
        if (r == 1) {
                r = code_keeper_add(c->recording->keeper, module, TRACE_ATTACHMENT_MODULE_FILE, &bytes);
                return r == 0 ? 1 : r;
        }
        byte_buffer_deinit(&bytes);
        return r;
}

/* ---- images that the program put there ----------------------------------------------------------------- */

/* A look at memory, and its subject: the contents since `time_ns`. */
struct image_look {
        struct memory_image_place place;
        uint64_t time_ns;
        uint64_t began_ns; /* the look */
};

static bool is_unchanged(const struct code_images *c, const struct memory_image_part *part, uint64_t time_ns,
                         uint64_t until_ns)
{
        const struct recent_mapping memory = { .start_avma = part->start_avma,
                                               .end_avma = part->end_avma,
                                               .time_ns = time_ns,
                                               .pid = c->image.memory.pid };

        return !recent_mappings_have_newer(&c->recent, &memory, until_ns);
}

/*
 * All bytes of the image that were read up to now have been there since the time in question, if its code is
 * still executable and no record reports other code.  To replace the code the program has to remove the old
 * code, and to make the new memory executable in the end, which the kernel reports before it becomes visible:
 * so the executable ranges are read first, then the rings.
 */
static bool is_true(struct code_images *c, const struct image_look *look)
{
        const struct memory_image_part *part = memory_image_find_part(&c->image, &look->place);
        uint64_t until_ns;

        if (!part || !process_maps_has_code_at(look->place.pid, part->start_avma))
                return false;
        until_ns = clock_raw_ns();
        recent_mappings_look(&c->recent);
        return is_unchanged(c, part, look->time_ns, until_ns);
}

/* Requests an image's unwind table; the mapped part is enough for it.  @held: that part, if read already. */
static int want_table(struct code_images *c, uint32_t module, const struct image_look *look,
                      const struct byte_buffer *held)
{
        struct byte_buffer bytes = { .data = NULL };
        int r = 0;

        if (!c->recording->tables || has_table(c, module))
                return 0;
        if (held && held->used_bytes > 0)
                return code_tables_want_image(c->recording->tables, module, image_modules_hold(held));
        if (memory_image_append_parts(&c->image, TABLE_BYTES_MAX, &bytes) == 0 && is_true(c, look))
                r = code_tables_want_image(c->recording->tables, module, image_modules_hold(&bytes));
        byte_buffer_deinit(&bytes);
        return r;
}

/* Reads the mapped part of the image, if the image is still there.  Returns 0, -EFBIG, -EFAULT, -ENOMEM. */
static int hold(struct code_images *c, const struct image_look *look, void *source)
{
        int r = image_source_hold(source, PACE_IMAGES_HELD_BYTES);

        if (r == 0 && !is_true(c, look)) {
                image_source_drop(source);
                r = -EFAULT;
        }
        return r;
}

/*
 * Keeps the code of an image and has its unwind table built.  The image may be gone at any moment, so small
 * parts are read first.
 * @whole:  the whole image, if it was looked for and found
 */
static int keep_image(struct code_images *c, uint32_t module, const struct image_look *look,
                      struct byte_buffer *whole, bool has_several)
{
        struct code_keeper *keeper = c->recording->keeper;
        struct code_source source = { .source = NULL };
        int r;

        if (!keeper || !code_keeper_lacks(keeper, module) || !may_want(c, module))
                return want_table(c, module, look, NULL);
        r = image_source_new(&c->image, &source);
        if (r < 0)
                return r;
        r = hold(c, look, source.source);
        if (r == 0 || r == -EFBIG) {
                r = want_table(c, module, look, image_source_held(source.source));
                if (r == 0 && whole->used_bytes > 0)
                        r = code_keeper_add(keeper, module, TRACE_ATTACHMENT_MODULE_FILE, whole) < 0 ? -ENOMEM
                                                                                                     : 1;
                else if (r == 0 && c->image.build_id_bytes > 0)
                        r = add_whole(c, module, &source, look->began_ns);
        }
        if (has_several)
                image_source_note_several(source.source);
        if (r == 0 || r == -EFAULT) /* the keeper reports an image that is gone */
                return code_keeper_want(keeper, module, &source);
        source.free(source.source);
        return r < 0 ? r : 0;
}

/* Finds out which of the images that look alike this one is.  @whole: the whole image, if it was found. */
static int identify(struct code_images *c, const struct image_look *look, struct byte_buffer *whole,
                    struct image_identity *ret)
{
        struct searched_process *process = searched_processes_get(&c->searched, c->image.memory.pid);
        struct image_identity_look identity = { .image = &c->image };
        int r;

        *ret = (struct image_identity){ .content = c->image.content };
        if (!process || !c->recording->keeper)
                return 0;
        identity.program = process->n_programs;
        identity.is_writable = process->writes_code &&
                               process_maps_is_writable_at(look->place.pid, c->image.parts[0].start_avma);
        identity.whole_bytes_max = watched_images_copy_room(&c->watched, &c->image);
        identity.near_avma = &process->near_avma;
        identity.search_ns = identity.is_writable ? PACE_IDENTITY_WRITABLE_NS : PACE_IDENTITY_SEARCH_NS;
        identity.may_search = has_more_time(c, look->began_ns,
                                            identity.is_writable ? PACE_IDENTITY_WRITABLE_NS
                                                                 : PACE_IMAGES_LEFT_NS / 2) &&
                              (process->n_misses < PACE_IMAGES_MISSES ||
                               process->n_misses++ % PACE_IMAGES_MISSES_SKIP == 0);
        r = image_identities_find(&c->identities, &identity, whole, ret);
        if (identity.may_search)
                process->n_misses = whole->used_bytes > 0 ? 0 : process->n_misses + 1;
        return r;
}

/* Adds the module of an image for which no file is known.  Returns 0, -EOVERFLOW, -ENOMEM. */
static int add_image(struct code_images *c, const struct image_look *look, uint32_t *ret_module,
                     struct image_copy *ret_copy)
{
        struct byte_buffer whole = { .data = NULL };
        struct image_identity identity = { .content = 0 };
        struct trace_module row = { .content = 0 };
        int r;

        if (c->image.build_id_bytes > 0) {
                r = image_modules_add_build_id(c->recording->dictionary, &c->image, ret_module);
        } else {
                r = identify(c, look, &whole, &identity);
                row.content = identity.content;
                if (r == 0)
                        r = image_modules_add(c->recording->dictionary, &row, c->image.content, ret_module);
        }
        if (r >= 0)
                r = keep_image(c, *ret_module, look, &whole, identity.is_ambiguous);
        *ret_copy = identity.copy;
        byte_buffer_deinit(&whole);
        return r;
}

/* Can the process write code without a record of that? */
static bool writes_code(struct code_images *c, uint32_t pid)
{
        const struct searched_process *process = searched_processes_get(&c->searched, pid);

        return !process || process->writes_code;
}

/*
 * The image in `image` is present: its code is mapped to its module.  Parts that were made executable later
 * have records of their own.  A full table is no reason to stop the recording.
 */
static int take_image(struct code_images *c, const struct image_look *look)
{
        const struct memory_image *image = &c->image;
        struct image_change change = { .time_ns = look->time_ns, .pid = look->place.pid };
        struct image_copy copy = { .avma = 0 };
        uint64_t until_ns = clock_raw_ns();
        int r = 0;

        change.range.module = image_modules_find_file(c->recording->dictionary, image);
        if (change.range.module == 0)
                r = add_image(c, look, &change.range.module, &copy);
        if (r == -EOVERFLOW)
                return 0;
        if (r == 0 && writes_code(c, look->place.pid)) { /* the image may have been written since that time */
                change.time_ns = until_ns;
                r = watched_images_put(&c->watched, &c->changes, image, &copy, look->began_ns,
                                       &change.time_ns);
                if (r == -EOVERFLOW) {
                        loss_counter_add(c->recording->losses, TRACE_LOSS_CODE_NOT_WATCHED, 1);
                        return 0;
                }
                loss_counter_add(c->recording->losses, TRACE_LOSS_CODE_REPLACED, r > 0 ? (uint64_t)r : 0);
                r = r < 0 ? r : 0;
        }
        for (size_t i = 0; i < image->n_parts && r == 0; i++) {
                change.range.start_avma = image->parts[i].start_avma;
                change.range.end_avma = image->parts[i].end_avma;
                change.range.file_offset_bytes = image->parts[i].file_off;
                if (is_unchanged(c, &image->parts[i], look->time_ns, until_ns))
                        r = image_changes_add(&c->changes, &change);
        }
        return r;
}

/* May all memory of the process be searched once more? */
static bool may_search(struct code_images *c, uint32_t pid)
{
        struct searched_process *process = searched_processes_get(&c->searched, pid);

        return process && process->n_searches++ < CODE_IMAGES_SEARCHES_MAX;
}

/* Searches all memory too, if the code is still there: a search for lost code would delay the next search. */
static int find_image(struct code_images *c, struct memory_image_place *place)
{
        int r = memory_image_find(place, &c->image);

        if (r != 0)
                return r;
        if (!process_maps_has_code_at(place->pid, place->avma))
                return -ESTALE;
        if (!may_search(c, place->pid))
                return 0;
        place->search_ns = PACE_IMAGES_SEARCH_NS;
        return memory_image_find(place, &c->image);
}

/*
 * Looks for the image that has been at a place since @time_ns.
 * Returns 1 if that is an image, 0 if not, -ESTALE if the contents are gone, or may be; -ENOMEM.
 */
static int look_at(struct code_images *c, const struct memory_image_place *place, uint64_t time_ns)
{
        struct image_look look = { .place = *place, .time_ns = time_ns, .began_ns = clock_raw_ns() };
        struct searched_process *process = searched_processes_get(&c->searched, place->pid);
        int r;

        if (!begin_work(c, look.began_ns))
                return -ESTALE;
        r = find_image(c, &look.place);
        if (r == 1 && process)
                process->n_images++;
        if (r == 1 && !is_true(c, &look))
                r = -ESTALE;
        if (r == 1 && take_image(c, &look) < 0)
                r = -ENOMEM;
        end_work(c, look.began_ns);
        return r;
}

/*
 * Looks at memory that was made executable.  If its contents have changed by now, it may have held an
 * image, or code of a compiler that announces code in its own way: this counts as a loss only in processes
 * that have images.
 */
static int look_at_mapping(struct code_images *c, const struct memory_image_place *place, uint64_t time_ns)
{
        int r = look_at(c, place, time_ns);
        const struct searched_process *process = searched_processes_get(&c->searched, place->pid);

        if (r == -ESTALE && process && process->n_images > 0)
                loss_counter_add(c->recording->losses, TRACE_LOSS_CODE_TOO_LATE, 1);
        return r == -ENOMEM ? r : 0;
}

static bool path_begins_with(const struct perf_mmap *m, const char *name)
{
        return m->path_bytes >= strlen(name) && memcmp(m->path, name, strlen(name)) == 0;
}

/* Whether the memory is of no file and not the kernel's own. */
static bool is_anonymous(const struct perf_mmap *m)
{
        return perf_mmap_is_anonymous(m) &&
               (m->path_bytes == 0 || m->path[0] != '[' || path_begins_with(m, "[heap]") ||
                path_begins_with(m, "[anon") || path_begins_with(m, "[stack"));
}

/* A file in memory may itself be the image; then it is a module like any other. */
static bool is_file_itself(const struct code_images *c, const struct perf_mmap *m)
{
        const struct memory_image *image = &c->image;

        for (size_t i = 0; i < image->n_parts; i++)
                if (image->parts[i].start_avma - image->parts[i].file_off ==
                    m->start_avma - m->file_offset_bytes)
                        return true;
        return false;
}

static int look_into_memfd(struct code_images *c, const struct memory_image_place *place,
                           const struct perf_mmap *m, uint64_t time_ns)
{
        struct image_look look = { .place = *place, .time_ns = time_ns, .began_ns = clock_raw_ns() };
        int r;

        if (!begin_work(c, look.began_ns))
                return 0;
        r = memory_image_find(place, &c->image);
        if (r == 1 && !is_file_itself(c, m)) {
                if (is_true(c, &look))
                        r = take_image(c, &look);
                else
                        loss_counter_add(c->recording->losses, TRACE_LOSS_CODE_TOO_LATE, 1);
        }
        end_work(c, look.began_ns);
        return r < 0 ? r : 0;
}

/* The range around an address, if it is memory of no file and no image. */
static const struct address_range *find_anonymous(const struct code_images *c,
                                                  const struct process_track *process, uint64_t avma)
{
        const struct address_range *range = address_space_find(&process->space, avma);
        const struct trace_dictionary *d = c->recording->dictionary;
        const struct trace_module *module =
                range ? trace_dictionary_row(d, TRACE_TABLE_MODULES, range->module) : NULL;

        return module && module->kind == TRACE_MODULE_ANONYMOUS ? range : NULL;
}

int code_images_meet(struct code_images *c, const struct process_track *process, uint64_t avma,
                     uint64_t time_ns)
{
        const struct address_range *range = find_anonymous(c, process, avma);
        struct memory_image_place place = { .pid = process->pid, .avma = avma };
        int r;

        if (!range)
                return 0;
        place.start_avma = range->start_avma;
        place.end_avma = range->end_avma;
        r = sampled_places_is_due(&c->places, place.pid, place.start_avma);
        if (r <= 0)
                return r;
        r = look_at(c, &place, time_ns);
        if (r == 1)
                sampled_places_restart(&c->places, place.pid, place.start_avma);
        return r == -ENOMEM ? r : 0;
}

static struct memory_image_place place_of_image(const struct memory_image *image)
{
        return (struct memory_image_place){ .pid = image->memory.pid,
                                            .start_avma = image->parts[0].start_avma,
                                            .end_avma = image->parts[0].end_avma,
                                            .avma = image->parts[0].start_avma };
}

/*
 * Looks for the replacement of an image; the contents in between are unknown.  Unmapped memory was not
 * overwritten, but memory of a program that has ended may have been overwritten before.
 */
static int note_replaced(struct code_images *c, uint64_t seen_ns)
{
        const struct memory_image_place place = place_of_image(&c->image);
        bool has_code = process_maps_has_code_at(place.pid, place.avma);
        int r;

        if (!has_code && !process_maps_are_empty(place.pid))
                return 0;
        loss_counter_add(c->recording->losses, TRACE_LOSS_CODE_REPLACED, has_code);
        r = image_changes_add_gone(&c->changes, &c->image, seen_ns);
        if (r == 0 && has_code)
                r = look_at(c, &place, clock_raw_ns());
        return r == -ENOMEM ? r : 0;
}

/* Looks again for the whole of an image, now and then; time that was spent before does not count. */
static int look_for_whole(struct code_images *c)
{
        const struct memory_image_place place = place_of_image(&c->image);
        int r;

        recorder_pace_repay(c->recording->pace, PACED_IMAGES, PACE_WATCHED_WHOLE_NS);
        r = look_at(c, &place, clock_raw_ns());
        return r == -ENOMEM ? r : 1;
}

int code_images_look_again(struct code_images *c)
{
        uint64_t began_ns = clock_raw_ns(), seen_ns;
        size_t at = 0;
        int r = watched_images_begin_look(&c->watched, &c->changes, began_ns);

        if (r > 0)
                loss_counter_add(c->recording->losses, TRACE_LOSS_CODE_NOT_WATCHED, (uint64_t)r);
        if (r < 0 || c->watched.n_images == 0)
                return r < 0 ? r : 0;
        (void)begin_work(c, began_ns);
        r = 1;
        while (r > 0) {
                r = watched_images_check(&c->watched, &at, has_more_time(c, began_ns, PACE_WATCHED_WHOLE_NS),
                                         &c->image, &seen_ns);
                if (r == 2)
                        r = look_for_whole(c);
                else if (r == 1 && note_replaced(c, seen_ns) < 0)
                        r = -ENOMEM;
        }
        end_work(c, began_ns);
        return r;
}

/* ---- objects of JITs ----------------------------------------------------------------------------------- */

static int add_parts(struct code_images *c, const struct jit_object *object,
                     const struct image_change *common)
{
        struct image_change change = *common;
        int r = 0;

        for (size_t i = 0; i < object->n_parts && r == 0; i++) {
                change.range.start_avma = object->parts[i].start_avma;
                change.range.end_avma = object->parts[i].end_avma;
                change.range.file_offset_bytes = object->parts[i].file_off;
                r = image_changes_add(&c->changes, &change);
        }
        return r;
}

static int add_jit_object(void *context, uint32_t pid, struct jit_object *object, struct byte_buffer *bytes)
{
        struct code_images *c = context;
        struct trace_module row = { .generation = TRACE_MODULE_TOLD_BY_JIT, .content = object->content };
        struct code_keeper *keeper = c->recording->keeper;
        int r = image_modules_add(c->recording->dictionary, &row, object->content, &object->module);

        (void)pid;
        if (r == -EOVERFLOW) {
                object->n_parts = 0;
                return 0;
        }
        if (r == 0 && c->recording->tables && !has_table(c, object->module))
                r = code_tables_want_image(c->recording->tables, object->module, image_modules_hold(bytes));
        if (r == 0 && keeper)
                r = code_keeper_add(keeper, object->module, TRACE_ATTACHMENT_MODULE_FILE, bytes);
        return r;
}

/*
 * The object counts since its memory became executable; since @seen_ns, if that is unknown or the memory is
 * writable.
 */
static int see_object(void *context, uint32_t pid, const struct jit_object *object, uint64_t seen_ns)
{
        struct code_images *c = context;
        struct image_change change = { .pid = pid };

        change.range.module = object->module;
        recent_mappings_look(&c->recent);
        for (size_t i = 0; i < object->n_parts && !writes_code(c, pid); i++) {
                const struct recent_mapping memory = { .start_avma = object->parts[i].start_avma,
                                                       .end_avma = object->parts[i].end_avma,
                                                       .pid = pid };
                uint64_t mapped_ns = recent_mappings_find_last_ns(&c->recent, &memory, seen_ns);

                if (mapped_ns > change.time_ns)
                        change.time_ns = mapped_ns;
        }
        if (change.time_ns == 0)
                change.time_ns = seen_ns;
        return add_parts(c, object, &change);
}

/* Read-only memory keeps its contents until it is made executable again, whatever the list says. */
static int remove_jit_object(void *context, uint32_t pid, const struct jit_object *object, uint64_t known_ns)
{
        struct code_images *c = context;
        const struct image_change change = { .time_ns = known_ns, .pid = pid, .is_gone = true };

        return object->was_code && writes_code(c, pid) ? add_parts(c, object, &change) : 0;
}

int code_images_note_file(struct code_images *c, uint32_t pid, const struct address_range *range,
                          uint64_t mapped_ns)
{
        return landmark_files_note(&c->files, pid, range, mapped_ns);
}

int code_images_announce_file(struct code_images *c, uint32_t pid, const struct address_range *range,
                              uint64_t mapped_ns)
{
        return landmark_files_announce(&c->files, pid, range, mapped_ns);
}

static int update_lists(struct code_images *c, const struct jit_lists_place *place)
{
        const struct jit_lists_sink sink = {
                .add = add_jit_object, .see = see_object, .remove = remove_jit_object, .context = c
        };
        uint64_t began_ns = clock_raw_ns();
        int r;

        if (c->lists.n_lists == 0 || !begin_work(c, began_ns))
                return 0;
        r = jit_lists_update(&c->lists, place, &sink);
        end_work(c, began_ns);
        return r;
}

int code_images_update(struct code_images *c)
{
        int r = landmark_files_decide(&c->files);

        return r < 0 ? r : update_lists(c, NULL);
}

/* Memory of a process with a JIT was made executable.  Returns 0 or -ENOMEM. */
static int look_at_lists(struct code_images *c, const struct memory_image_place *place)
{
        const struct jit_lists_place code = { .pid = place->pid,
                                              .start_avma = place->start_avma,
                                              .end_avma = place->end_avma };

        if (!jit_lists_has(&c->lists, place->pid))
                return 0;
        c->recording->pace->jit_ns = clock_raw_ns();
        return update_lists(c, &code);
}

/* Another view of the memory may be writable where this one is not. */
static void note_writable(struct code_images *c, const struct perf_mmap *m, uint32_t pid)
{
        struct searched_process *process = m->writable || m->is_shared
                                                   ? searched_processes_get(&c->searched, pid)
                                                   : NULL;

        if (process)
                process->writes_code = true;
}

int code_images_look(struct code_images *c, const struct perf_record *record)
{
        const struct perf_mmap *m = &record->mmap;
        struct memory_image_place place = { .pid = record->pid,
                                            .start_avma = m->start_avma,
                                            .end_avma = m->start_avma + m->length_bytes,
                                            .avma = m->start_avma };
        int r;

        if (!m->executable || place.end_avma <= place.start_avma)
                return 0;
        if (!is_anonymous(m)) /* a file in memory may be used like anonymous memory */
                return path_begins_with(m, memfd_name) ? look_into_memfd(c, &place, m, record->time_ns) : 0;
        note_writable(c, m, record->pid);
        r = look_at_lists(c, &place);
        return r < 0 ? r : look_at_mapping(c, &place, record->time_ns);
}

void code_images_see_records(struct code_images *c)
{
        recent_mappings_look(&c->recent);
}

bool code_images_lack_data(const struct code_images *c, uint64_t now_ns)
{
        return landmark_files_lack_data(&c->files, now_ns);
}

int code_images_note_fork(struct code_images *c, uint32_t parent_pid, uint32_t pid, uint64_t time_ns)
{
        return landmark_files_fork(&c->files, parent_pid, pid, time_ns);
}

void code_images_forget(struct code_images *c, uint32_t pid, uint64_t time_ns)
{
        searched_processes_leave(&c->searched, pid);
        watched_images_forget(&c->watched, pid, time_ns);
        jit_lists_forget(&c->lists, pid);
        landmark_files_forget(&c->files, pid, time_ns);
}
