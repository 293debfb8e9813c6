/* SPDX-License-Identifier: MIT */
#include "sampler/images/image_identity.h"

#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/content_hash.h"
#include "sampler/images/image_search.h"
#include "sampler/images/image_source.h"
#include "sampler/images/memory_image.h"
#include "sampler/pace/pace.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#define PIECE_BYTES ((size_t)1 << 17) /* of a whole that is read again */

/* The key of an image among all others; `instance` numbers those that were not found whole, else it is 0. */
struct image_key {
        uint64_t recording;
        uint32_t pid, program;
        uint64_t content;
        uint64_t instance;
};

void image_identities_init(struct image_identities *ids)
{
        *ids = (struct image_identities){ .known = NULL };
        intern_init(&ids->images, sizeof(struct image_key), IMAGE_IDENTITY_IMAGES_MAX);
        if (getrandom(&ids->recording, sizeof(ids->recording), GRND_NONBLOCK) !=
            (ssize_t)sizeof(ids->recording))
                ids->recording = clock_raw_ns();
}

void image_identities_deinit(struct image_identities *ids)
{
        intern_deinit(&ids->images);
        free(ids->known);
        ids->known = NULL;
}

/* Returns 0; -EOVERFLOW if there are too many; -ENOMEM. */
static int identity_add(struct image_identities *ids, const struct image_key *key, struct image_whole **ret)
{
        uint32_t id = 0;
        int r = array_reserve(&ids->known, &ids->capacity, (size_t)ids->images.n_items + 1,
                              sizeof(*ids->known));

        if (r == 0)
                r = intern_add(&ids->images, key, sizeof(*key), &id);
        if (r < 0)
                return r;
        *ret = &ids->known[id - 1];
        if (r == 1)
                **ret = (struct image_whole){ .number = 0 };
        return 0;
}

/*
 * Finds out which whole image this is.  The place of the last whole image may hold the next one by now, or
 * still the last one while the next is elsewhere: all anonymous memory is searched for it as often as there
 * is time.  Without time, the image counts as the same as long as no other one was ever seen in this
 * program: most programs load one image again and again, few load its twin and keep the first one's copy.
 * Returns 1, 0, -EEXIST if there are several, -EAGAIN if there may be, -ENOMEM.
 */
static int identity_search(const struct image_identity_look *look, const struct image_whole *known,
                           struct byte_buffer *whole)
{
        struct image_search_limits limits = { .bytes_max = PACE_IDENTITY_SEARCH_BYTES,
                                              .until_ns = clock_raw_ns() + look->search_ns };
        struct memory_image image = *look->image;
        bool all = false;
        int r = 0;

        /* For an image in writable memory, each look has to find that the copy is the only one. */
        if (known->copy_avma != 0 && !look->is_writable)
                r = image_source_read_at(look->image, known->copy_avma, whole);
        if (r == 1)
                *look->near_avma = known->copy_avma;
        if (r < 0 || (r == 1 && content_hash(whole->data, whole->used_bytes) != known->number))
                return r;
        if (look->may_search) {
                limits.near_avma = *look->near_avma;
                image.copy_avma = r == 1 ? known->copy_avma : 0;
                byte_buffer_deinit(whole);
                r = image_source_find_only(&image, &limits, whole, look->near_avma, &all);
        }
        return r == 1 && !all && known->has_several ? -EAGAIN : r;
}

/*
 * Takes @whole as the image.  False if another image with the same mapped bytes was seen, and may be there
 * by now.
 */
static bool identity_take(struct image_whole *known, const struct image_identity_look *look,
                          const struct byte_buffer *whole, struct image_identity *ret)
{
        uint64_t number = content_hash(whole->data, whole->used_bytes);

        known->has_several |= known->number != 0 && known->number != number;
        known->number = number;
        known->copy_avma = *look->near_avma;
        if (look->is_writable && known->has_several)
                return false;
        ret->content = number;
        ret->copy = (struct image_copy){ .avma = *look->near_avma,
                                         .n_bytes = whole->used_bytes,
                                         .number = number };
        return true;
}

int image_identities_find(struct image_identities *ids, const struct image_identity_look *look,
                          struct byte_buffer *whole, struct image_identity *ret)
{
        struct image_key key = { ids->recording, look->image->memory.pid, look->program, look->image->content,
                                 0 };
        struct image_whole *known;
        bool is_too_large, may_be_other;
        int r = identity_add(ids, &key, &known);

        *ret = (struct image_identity){ .content = content_hash(&key, sizeof(key)) };
        if (r < 0)
                return r == -EOVERFLOW ? 0 : r;
        r = known->is_ambiguous ? -EEXIST : identity_search(look, known, whole);
        if (r == -ENOMEM)
                return r;
        is_too_large = r == 1 && look->is_writable && whole->used_bytes > look->whole_bytes_max;
        if (is_too_large)
                r = 0;
        if (r == 1 && !identity_take(known, look, whole, ret))
                r = -EEXIST;
        if (r != 1)
                byte_buffer_deinit(whole);
        may_be_other = r == -EAGAIN;
        if (r == -EEXIST) {
                known->has_several = true;
                known->is_ambiguous = true;
        } else if (r == 0 && known->n_unknown < IMAGE_IDENTITY_UNKNOWN_MAX) {
                key.instance = ++known->n_unknown;
                ret->content = content_hash(&key, sizeof(key));
        } else if (r == 0 && known->number != 0 && !known->has_several && !look->is_writable) {
                ret->content = known->number;
        }
        /*
         * The search is repeated here and not by the keeper, which would find another image some time
         * later.
         */
        ret->copy.is_sought = (r == 0 || may_be_other) && look->is_writable && !is_too_large;
        ret->is_ambiguous = known->is_ambiguous || is_too_large || may_be_other || ret->copy.is_sought;
        return 0;
}

int image_copy_is_only(const struct image_copy *copy, const struct memory_image *image, uint64_t search_ns)
{
        const struct image_search_limits limits = { .bytes_max = PACE_IDENTITY_SEARCH_BYTES,
                                                    .until_ns = clock_raw_ns() + search_ns,
                                                    .near_avma = copy->avma };
        struct byte_buffer bytes = { .data = NULL };
        uint64_t avma;
        bool all;
        int r = image_source_find_only(image, &limits, &bytes, &avma, &all);

        byte_buffer_deinit(&bytes);
        return r < 0 ? r == -ENOMEM ? r : 0 : 1;
}

/* Reads the copy in pieces: memory for all of it would cost more than reading it. */
int image_copy_is_unchanged(const struct image_copy *copy, const struct memory_image *image)
{
        struct content_hasher *hasher = content_hasher_new();
        uint8_t *piece = malloc(PIECE_BYTES);
        int r = hasher && piece ? 1 : -ENOMEM;

        for (uint64_t done = 0, n; done < copy->n_bytes && r == 1; done += n) {
                n = copy->n_bytes - done < PIECE_BYTES ? copy->n_bytes - done : PIECE_BYTES;
                if (process_memory_read_all(&image->memory, copy->avma + done, piece, n))
                        content_hasher_add(hasher, piece, n);
                else
                        r = 0;
        }
        if (r == 1)
                r = content_hasher_number(hasher) == copy->number;
        free(piece);
        content_hasher_free(hasher);
        return r;
}
