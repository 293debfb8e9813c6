/* SPDX-License-Identifier: MIT */
#include "sampler/jit/jit_lists.h"

#include "base/array.h"
#include "base/clock.h"
#include "sampler/jit/jit_objects.h"
#include "sampler/proc/process_maps.h"

#include <stdlib.h>

struct jit_list {
        struct jit_objects objects;
        uint64_t read_ns; /* the last time; 0 = never */
};

/* One update of one list. */
struct reading {
        const struct jit_lists_sink *sink;
        struct jit_list *list;
};

void jit_lists_deinit(struct jit_lists *l)
{
        for (size_t i = 0; i < l->n_lists; i++)
                jit_objects_deinit(&l->lists[i].objects);
        free(l->lists);
        *l = (struct jit_lists){ .lists = NULL };
}

int jit_lists_follow(struct jit_lists *l, uint32_t pid, uint64_t descriptor_avma)
{
        int r;

        for (size_t i = 0; i < l->n_lists; i++)
                if (l->lists[i].objects.pid == pid && l->lists[i].objects.descriptor_avma == descriptor_avma)
                        return 0;
        if (l->n_lists == JIT_LISTS_MAX)
                return 0;
        r = array_reserve(&l->lists, &l->capacity, l->n_lists + 1, sizeof(*l->lists));
        if (r < 0)
                return r;
        l->lists[l->n_lists] = (struct jit_list){ .read_ns = 0 };
        jit_objects_init(&l->lists[l->n_lists++].objects, pid, descriptor_avma);
        return 0;
}

void jit_lists_forget(struct jit_lists *l, uint32_t pid)
{
        size_t n_kept = 0;

        for (size_t i = 0; i < l->n_lists; i++) {
                if (l->lists[i].objects.pid == pid)
                        jit_objects_deinit(&l->lists[i].objects);
                else
                        l->lists[n_kept++] = l->lists[i];
        }
        l->n_lists = n_kept;
}

bool jit_lists_has(const struct jit_lists *l, uint32_t pid)
{
        for (size_t i = 0; i < l->n_lists; i++)
                if (l->lists[i].objects.pid == pid)
                        return true;
        return false;
}

static int add_object(void *context, const struct jit_objects *objects, struct jit_object *object,
                      struct byte_buffer *bytes)
{
        const struct reading *reading = context;

        return reading->sink->add(reading->sink->context, objects->pid, object, bytes);
}

static int remove_object(void *context, const struct jit_objects *objects, const struct jit_object *object)
{
        const struct reading *reading = context;

        return reading->sink->remove(reading->sink->context, objects->pid, object, reading->list->read_ns);
}

static int read_list(struct reading *reading)
{
        const struct jit_objects_sink sink = { .add = add_object,
                                               .remove = remove_object,
                                               .context = reading };
        uint64_t now_ns = clock_raw_ns();
        int r = jit_objects_update(&reading->list->objects, &sink);

        reading->list->read_ns = now_ns;
        return r;
}

static bool overlaps(const struct jit_object *object, uint64_t start_avma, uint64_t end_avma)
{
        for (size_t i = 0; i < object->n_parts; i++)
                if (object->parts[i].start_avma < end_avma && start_avma < object->parts[i].end_avma)
                        return true;
        return false;
}

/*
 * Marks the objects that are to be looked for in memory: new ones, and those at @place.  Returns how many.
 */
static size_t mark_wanted(struct jit_objects *objects, const struct jit_lists_place *place)
{
        size_t n_wanted = 0;

        for (size_t i = 0; i < objects->n_objects; i++) {
                struct jit_object *object = &objects->objects[i];

                object->is_executable = false;
                object->is_wanted = object->n_parts > 0 &&
                                    (!object->was_code ||
                                     (place && overlaps(object, place->start_avma, place->end_avma)));
                n_wanted += object->is_wanted;
        }
        return n_wanted;
}

static void find_executable(struct jit_objects *objects)
{
        struct process_maps maps;
        struct perf_mmap m;

        if (process_maps_open(&maps, objects->pid, NULL) < 0)
                return;
        while (process_maps_next(&maps, &m) == 1)
                for (size_t i = 0; m.executable && i < objects->n_objects; i++) {
                        struct jit_object *object = &objects->objects[i];

                        if (object->is_wanted && object->parts[0].start_avma - m.start_avma < m.length_bytes)
                                object->is_executable = true;
                }
        process_maps_close(&maps);
}

static int update_list(struct reading *reading, const struct jit_lists_place *place)
{
        struct jit_objects *objects = &reading->list->objects;
        uint64_t seen_ns;
        int r = read_list(reading);

        if (r < 0 || mark_wanted(objects, place) == 0)
                return r;
        find_executable(objects);
        seen_ns = clock_raw_ns();
        r = read_list(reading); /* later ones are not marked */
        for (size_t i = 0; i < objects->n_objects && r == 0; i++) {
                struct jit_object *object = &objects->objects[i];

                if (!object->is_wanted || !object->is_executable)
                        continue;
                object->was_code = true;
                r = reading->sink->see(reading->sink->context, objects->pid, object, seen_ns);
        }
        return r;
}

int jit_lists_update(struct jit_lists *l, const struct jit_lists_place *place,
                     const struct jit_lists_sink *sink)
{
        int r = 0;

        for (size_t i = 0; i < l->n_lists && r == 0; i++) {
                struct reading reading = { .sink = sink, .list = &l->lists[i] };

                if (!place || l->lists[i].objects.pid == place->pid)
                        r = update_list(&reading, place);
        }
        return r;
}
