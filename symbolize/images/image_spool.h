/* SPDX-License-Identifier: MIT */
/*
 * symbolize/images/image_spool.h - the code that a trace keeps, at hand in memory
 *
 * Way of the data:  code_keeper -> [image_spool] -> symbolizer (at the end of a recording)
 *                   trace_reader (ATTACHMENT chunks) -> [image_spool] -> symbolizer,
 *                   annotation, `hyprof extract`
 *
 * A trace is read from front to back, and may be a pipe; so the images are set
 * aside in memory without a name (memfd), which children inherit.  Kinds other
 * than CODE_IMAGE, MODULE_FILE, MODULE_PARTS and CODE_BYTES are passed over.
 * Not thread-safe.
 */
#ifndef SYMBOLIZE_IMAGES_IMAGE_SPOOL_H
#define SYMBOLIZE_IMAGES_IMAGE_SPOOL_H

#include <stddef.h>
#include <stdint.h>

/* The limit of all attachments together; the rest is skipped, as if the trace had lost it. */
#define IMAGE_SPOOL_BYTES_MAX (UINT64_C(4) << 30)

struct error;
struct trace_dictionary;
struct attachment_chunk;

struct image_spool_item {
        uint32_t attachment;   /* id in ATTACHMENTS */
        uint64_t offset_bytes; /* of its first byte in the memfd */
        uint64_t size_bytes;   /* that are there */
};

struct image_spool {
        int fd;                         /* memfd; -1 = nothing is there yet */
        struct image_spool_item *items; /* heap; by attachment - 1; all 0 for those that are not there */
        size_t n_items, capacity;
        uint64_t n_bytes; /* of all places: where the next one begins */
};

/* An image in memory. */
struct spooled_image {
        const uint8_t *bytes; /* mapped, read-only */
        size_t n_bytes;
        void *map; /* for image_spool_unmap() */
        size_t map_bytes;
};

void image_spool_init(struct image_spool *s);
void image_spool_deinit(struct image_spool *s);

/* All of an attachment at once.  A second one with the same id is ignored.  Returns 0, -ENOMEM, -errno. */
int image_spool_add(struct image_spool *s, uint32_t attachment, const void *bytes, size_t n_bytes,
                    struct error *err);

/*
 * A part, as it comes from a trace; @dictionary tells its kind and size.  A part that does not follow the one
 * before is passed over, and the attachment is never whole.  Returns 0, -ENOMEM, -errno.
 */
int image_spool_add_part(struct image_spool *s, const struct trace_dictionary *dictionary,
                         const struct attachment_chunk *part, struct error *err);

/* Returns 1 with the whole attachment, 0 if it is not there or not whole, -errno. */
int image_spool_map(const struct image_spool *s, const struct trace_dictionary *dictionary,
                    uint32_t attachment, struct spooled_image *ret_image, struct error *err);
void image_spool_unmap(struct spooled_image *image);

/*
 * After this call no process can change the contents, even with the descriptor, and nothing can be added.
 * Returns 0 or -errno.
 */
int image_spool_seal(const struct image_spool *s, struct error *err);

#endif /* SYMBOLIZE_IMAGES_IMAGE_SPOOL_H */
