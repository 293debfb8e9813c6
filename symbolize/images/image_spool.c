/* SPDX-License-Identifier: MIT */
#include "symbolize/images/image_spool.h"

#include "base/array.h"
#include "base/error.h"
#include "base/io.h"
#include "format/attachment_chunk.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * An attachment gets its place in the memfd with its first part, in the full size that its row states, so
 * that parts of several attachments may alternate; unwritten parts take no memory.  Places begin on pages.
 */
#define PLACE_ALIGN UINT64_C(65536) /* the largest page of any machine of ours */

void image_spool_init(struct image_spool *s)
{
        *s = (struct image_spool){ .fd = -1 };
}

void image_spool_deinit(struct image_spool *s)
{
        io_close(&s->fd);
        free(s->items);
        image_spool_init(s);
}

/* Items are stored by attachment id, so an item is found at once, whatever order they come in. */
static struct image_spool_item *find_item(const struct image_spool *s, uint32_t attachment)
{
        return attachment >= 1 && attachment <= s->n_items &&
                               s->items[attachment - 1].attachment == attachment
                       ? &s->items[attachment - 1]
                       : NULL;
}

static int open_memory(struct image_spool *s, struct error *err)
{
        if (s->fd < 0)
                s->fd = memfd_create("hyprof-images", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        return s->fd < 0 ? error_errno(err, "memory for the code in the trace") : 0;
}

/* Gives the attachment its place.  Returns 1, 0 if there is no room for one so large, or -errno. */
static int add_item(struct image_spool *s, uint32_t attachment, uint64_t size_bytes, struct error *err)
{
        int r;

        if (size_bytes > IMAGE_SPOOL_BYTES_MAX - s->n_bytes)
                return 0;
        r = open_memory(s, err);
        if (r < 0)
                return r;
        if (array_reserve(&s->items, &s->capacity, attachment, sizeof(*s->items)) < 0)
                return error_set(err, -ENOMEM, "no memory for a list of %" PRIu32 " attachments", attachment);
        if (s->n_items < attachment) {
                memset(s->items + s->n_items, 0, (attachment - s->n_items) * sizeof(*s->items));
                s->n_items = attachment;
        }
        s->items[attachment - 1] = (struct image_spool_item){ .attachment = attachment,
                                                              .offset_bytes = s->n_bytes };
        s->n_bytes += (size_bytes + PLACE_ALIGN - 1) / PLACE_ALIGN * PLACE_ALIGN;
        if (s->n_bytes > IMAGE_SPOOL_BYTES_MAX)
                s->n_bytes = IMAGE_SPOOL_BYTES_MAX;
        return 1;
}

static int append(const struct image_spool *s, struct image_spool_item *item, const void *bytes,
                  size_t n_bytes, struct error *err)
{
        int r = io_pwrite_all(s->fd, bytes, n_bytes, item->offset_bytes + item->size_bytes, err);

        if (r < 0)
                return error_prefix(err, r, "keeping code in memory");
        item->size_bytes += n_bytes;
        return 0;
}

int image_spool_add(struct image_spool *s, uint32_t attachment, const void *bytes, size_t n_bytes,
                    struct error *err)
{
        int r;

        assert(attachment != 0);
        if (find_item(s, attachment))
                return 0;
        r = add_item(s, attachment, n_bytes, err);
        return r <= 0 ? r : append(s, &s->items[attachment - 1], bytes, n_bytes, err);
}

static bool is_wanted(uint32_t kind)
{
        return kind == TRACE_ATTACHMENT_CODE_IMAGE || kind == TRACE_ATTACHMENT_MODULE_FILE ||
               kind == TRACE_ATTACHMENT_MODULE_PARTS || kind == TRACE_ATTACHMENT_CODE_BYTES;
}

/* A part that is not the next one is passed over: the attachment stays incomplete, and is not used. */
int image_spool_add_part(struct image_spool *s, const struct trace_dictionary *dictionary,
                         const struct attachment_chunk *part, struct error *err)
{
        const struct trace_attachment *row = trace_dictionary_row(dictionary, TRACE_TABLE_ATTACHMENTS,
                                                                  part->attachment);
        struct image_spool_item *item = find_item(s, part->attachment);
        int r;

        if (!is_wanted(row->kind) || part->n_bytes == 0)
                return 0;
        if (!item && part->offset_bytes == 0) {
                r = add_item(s, part->attachment, row->size_bytes, err);
                if (r <= 0)
                        return r;
                item = find_item(s, part->attachment);
        }
        if (!item || part->offset_bytes != item->size_bytes ||
            part->n_bytes > row->size_bytes - item->size_bytes)
                return 0;
        return append(s, item, part->bytes, part->n_bytes, err);
}

int image_spool_map(const struct image_spool *s, const struct trace_dictionary *dictionary,
                    uint32_t attachment, struct spooled_image *ret_image, struct error *err)
{
        const struct trace_attachment *row = trace_dictionary_row(dictionary, TRACE_TABLE_ATTACHMENTS,
                                                                  attachment);
        const struct image_spool_item *item = find_item(s, attachment);
        void *map;

        if (!item || item->size_bytes != row->size_bytes || item->size_bytes == 0)
                return 0;
        map = mmap(NULL, item->size_bytes, PROT_READ, MAP_SHARED, s->fd, (off_t)item->offset_bytes);
        if (map == MAP_FAILED)
                return error_errno(err, "mapping %" PRIu64 " bytes of code", item->size_bytes);
        *ret_image = (struct spooled_image){
                .bytes = map, .n_bytes = item->size_bytes, .map = map, .map_bytes = item->size_bytes
        };
        return 1;
}

void image_spool_unmap(struct spooled_image *image)
{
        if (image->map)
                (void)munmap(image->map, image->map_bytes);
        *image = (struct spooled_image){ .bytes = NULL };
}

int image_spool_seal(const struct image_spool *s, struct error *err)
{
        int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

        if (s->fd >= 0 && fcntl(s->fd, F_ADD_SEALS, seals) < 0 && errno != EPERM)
                return error_errno(err, "sealing the code in the trace");
        return 0;
}
