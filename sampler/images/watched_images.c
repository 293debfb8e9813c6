/* SPDX-License-Identifier: MIT */
#include "sampler/images/watched_images.h"

#include "base/array.h"
#include "base/clock.h"
#include "sampler/images/image_changes.h"
#include "sampler/images/image_identity.h"
#include "sampler/images/memory_image.h"
#include "sampler/pace/recorder_pace.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct watched_image {
        struct memory_image image;
        struct image_copy copy;
        uint64_t seen_ns;
};

void watched_images_deinit(struct watched_images *w)
{
        free(w->images);
        *w = (struct watched_images){ .images = NULL };
}

static void remove_image(struct watched_images *w, size_t i)
{
        w->images[i] = w->images[--w->n_images];
}

static bool overlap(const struct memory_image *a, const struct memory_image *b)
{
        for (size_t i = 0; i < a->n_parts && a->memory.pid == b->memory.pid; i++)
                for (size_t k = 0; k < b->n_parts; k++)
                        if (a->parts[i].start_avma < b->parts[k].end_avma &&
                            b->parts[k].start_avma < a->parts[i].end_avma)
                                return true;
        return false;
}

static bool take_room(uint64_t *room_bytes, uint64_t n_bytes)
{
        bool has_room = n_bytes <= *room_bytes;

        *room_bytes -= has_room ? n_bytes : *room_bytes;
        return has_room;
}

/* Is there room for the mapped bytes of the image?  @ret_bytes: the room that is left after that. */
static bool have_room(const struct watched_images *w, const struct memory_image *image, uint64_t *ret_bytes)
{
        size_t n_others = 0;

        *ret_bytes = WATCHED_IMAGES_BYTES;
        for (size_t i = 0; i < w->n_images; i++) {
                const struct watched_image *other = &w->images[i];

                if (overlap(&other->image, image)) /* it takes that one's place */
                        continue;
                n_others++;
                (void)take_room(ret_bytes, memory_image_count_hashed(&other->image) + other->copy.n_bytes);
        }
        return take_room(ret_bytes, memory_image_count_hashed(image)) && n_others < WATCHED_IMAGES_MAX &&
               recorder_pace_has(w->pace, PACED_WATCHED, 0, 0);
}

uint64_t watched_images_copy_room(const struct watched_images *w, const struct memory_image *image)
{
        uint64_t room_bytes;

        return have_room(w, image, &room_bytes) ? room_bytes : 0;
}

int watched_images_begin_look(struct watched_images *w, struct image_changes *changes, uint64_t now_ns)
{
        bool has_time = recorder_pace_left(w->pace, PACED_WATCHED, now_ns) > 0;
        int n_gone = 0;

        while (!has_time && w->n_images > 0) {
                const struct watched_image *last = &w->images[--w->n_images];

                n_gone++;
                if (image_changes_add_gone(changes, &last->image, last->seen_ns) < 0)
                        return -ENOMEM;
        }
        return n_gone;
}

static int add(struct watched_images *w, const struct memory_image *image, const struct image_copy *copy,
               uint64_t seen_ns)
{
        if (array_reserve(&w->images, &w->capacity, w->n_images + 1, sizeof(*w->images)) < 0)
                return -ENOMEM;
        w->images[w->n_images++] =
                (struct watched_image){ .image = *image, .copy = *copy, .seen_ns = seen_ns };
        return 0;
}

int watched_images_put(struct watched_images *w, struct image_changes *changes,
                       const struct memory_image *image, const struct image_copy *copy, uint64_t began_ns,
                       uint64_t *from_ns)
{
        uint64_t room_bytes;
        bool fits = have_room(w, image, &room_bytes) && copy->n_bytes <= room_bytes;
        bool is_known = false;
        int n_replaced = 0, r = 0;

        for (size_t i = w->n_images; i-- > 0 && r == 0;) {
                const struct memory_image *old = &w->images[i].image;

                if (!overlap(old, image))
                        continue;
                if (fits && old->content == image->content && old->base_avma == image->base_avma &&
                    (w->images[i].copy.number == copy->number || w->images[i].copy.is_sought)) {
                        is_known = true;
                } else {
                        r = image_changes_add_gone(changes, old, w->images[i].seen_ns);
                        n_replaced++;
                }
                remove_image(w, i);
        }
        if (is_known)
                *from_ns = began_ns;
        else if (r == 0)
                r = image_changes_add_gone(changes, image, *from_ns);
        if (r == 0)
                r = fits ? add(w, image, copy, *from_ns) : -EOVERFLOW;
        return r < 0 ? r : n_replaced;
}

void watched_images_forget(struct watched_images *w, uint32_t pid, uint64_t time_ns)
{
        for (size_t i = w->n_images; i-- > 0;)
                if (w->images[i].image.memory.pid == pid && w->images[i].seen_ns < time_ns)
                        remove_image(w, i);
}

/*
 * Checks the mapped bytes and the whole image.  Returns 1, 2 if the whole is to be looked for, 0 or
 * -ENOMEM.
 */
static int watched_image_is_there(struct watched_images *w, size_t i, bool searches, uint64_t now_ns)
{
        const struct watched_image *watched = &w->images[i];
        int r = memory_image_is_unchanged(&watched->image);

        if (r == 1 && watched->copy.avma != 0)
                r = image_copy_is_unchanged(&watched->copy, &watched->image);
        if (r != 1 || i != w->to_search % w->n_images || now_ns < w->searched_ns + PACE_WATCHED_SEARCH_NS)
                return r;
        w->to_search = i + 1;
        if (!watched->copy.is_sought && !(searches && watched->copy.avma != 0))
                return r; /* it is the next one's turn */
        w->searched_ns = now_ns;
        return watched->copy.is_sought
                       ? 2
                       : image_copy_is_only(&watched->copy, &watched->image, PACE_IDENTITY_SEARCH_NS);
}

static int check_rest(struct watched_images *w, size_t *at, bool searches, struct memory_image *ret_image,
                      uint64_t *ret_seen_ns)
{
        while (*at < w->n_images) {
                struct watched_image *watched = &w->images[*at];
                uint64_t now_ns = clock_raw_ns();
                int r = watched_image_is_there(w, *at, searches, now_ns);

                if (r < 0)
                        return r;
                *ret_image = watched->image;
                *ret_seen_ns = watched->seen_ns;
                if (r == 0) {
                        remove_image(w, *at);
                        return 1;
                }
                watched->seen_ns = now_ns;
                (*at)++;
                if (r == 2)
                        return 2;
        }
        return 0;
}

int watched_images_check(struct watched_images *w, size_t *at, bool searches, struct memory_image *ret_image,
                         uint64_t *ret_seen_ns)
{
        uint64_t before_ns = clock_cpu_ns(RUSAGE_THREAD);
        int r = check_rest(w, at, searches, ret_image, ret_seen_ns);

        recorder_pace_spend(w->pace, PACED_WATCHED, clock_cpu_ns(RUSAGE_THREAD) - before_ns);
        return r;
}
