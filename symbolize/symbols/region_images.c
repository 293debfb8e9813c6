/* SPDX-License-Identifier: MIT */
#include "symbolize/symbols/region_images.h"

#include "base/error.h"
#include "format/trace_dictionary.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/images/image_spool.h"
#include "symbolize/symbols/module_symbols.h"

#include <errno.h>
#include <stdlib.h>

/*
 * There may be hundreds of kernels, each with its own image: as many images stay open as are likely to be
 * asked for in turn.
 */
#define OPEN_MAX 16

#define PAGE_BYTES UINT64_C(4096)

struct open_image {
        uint32_t attachment;            /* 0 = free */
        uint64_t used;                  /* the higher the later */
        struct elf_image *image;        /* NULL = it cannot be read */
        struct module_symbols *symbols; /* NULL likewise */
};

struct region_images {
        const struct trace_dictionary *dictionary;
        const struct image_spool *spool;
        const struct symbol_search *search;
        uint64_t n_used;
        struct open_image open[OPEN_MAX];
};

int region_images_new(const struct trace_dictionary *dictionary, const struct image_spool *spool,
                      const struct symbol_search *search, struct region_images **ret_images,
                      struct error *err)
{
        struct region_images *r = calloc(1, sizeof(*r));

        if (!r)
                return error_set(err, -ENOMEM, "no memory for images of code");
        r->dictionary = dictionary;
        r->spool = spool;
        r->search = search;
        *ret_images = r;
        return 0;
}

static void close_image(struct open_image *o)
{
        module_symbols_close(o->symbols);
        elf_image_close(o->image);
        *o = (struct open_image){ .attachment = 0 };
}

void region_images_free(struct region_images *r)
{
        if (!r)
                return;
        for (unsigned i = 0; i < OPEN_MAX; i++)
                close_image(&r->open[i]);
        free(r);
}

/* An unreadable image stays NULL: it is not tried again. */
static int open_image(const struct region_images *r, struct open_image *o)
{
        const struct module_symbols_options options = { .search = r->search };
        struct spooled_image bytes;
        int code = r->spool ? image_spool_map(r->spool, r->dictionary, o->attachment, &bytes, NULL) : 0;

        if (code != 1)
                return code == -ENOMEM ? code : 0;
        code = elf_image_open_memory(bytes.bytes, bytes.n_bytes, &o->image, NULL);
        image_spool_unmap(&bytes);
        if (code == 0)
                code = module_symbols_open(o->image, &options, &o->symbols, NULL);
        return code == -ENOMEM ? code : 0;
}

static int find_image(struct region_images *r, uint32_t attachment, struct open_image **ret_open)
{
        struct open_image *oldest = &r->open[0];

        for (unsigned i = 0; i < OPEN_MAX; i++) {
                struct open_image *o = &r->open[i];

                if (o->attachment == attachment) {
                        o->used = ++r->n_used;
                        *ret_open = o;
                        return 0;
                }
                if (o->used < oldest->used)
                        oldest = o;
        }
        close_image(oldest);
        oldest->attachment = attachment;
        oldest->used = ++r->n_used;
        *ret_open = oldest;
        return open_image(r, oldest);
}

bool region_images_place(const struct elf_image *image, uint64_t start_avma, uint64_t length_bytes,
                         uint64_t avma, uint64_t *ret_svma)
{
        uint64_t low = UINT64_MAX, high = 0, code_svma = 0, code_bytes = 0, base;

        for (size_t i = 0; i < image->n_segments; i++) {
                const struct elf_image_segment *s = &image->segments[i];
                uint64_t end;

                if (__builtin_add_overflow(s->svma, s->memory_bytes, &end))
                        return false;
                low = s->svma < low ? s->svma : low;
                high = end > high ? end : high;
                if (s->executable && code_bytes == 0) {
                        code_svma = s->svma;
                        code_bytes = s->memory_bytes;
                }
        }
        if (code_bytes == 0 || avma < start_avma)
                return false;
        /*
         * A region that is longer than the code is the whole image, if it is as long as the image when it is
         * rounded up to pages.
         */
        base = length_bytes > code_bytes && length_bytes + PAGE_BYTES > high - low ? low & ~(PAGE_BYTES - 1)
                                                                                   : code_svma;
        /* The region is the code segment alone, as it is mapped: from the beginning of its page on. */
        if (base == code_svma && start_avma % PAGE_BYTES == 0 && length_bytes % PAGE_BYTES == 0)
                base &= ~(PAGE_BYTES - 1);
        return !__builtin_add_overflow(base, avma - start_avma, ret_svma);
}

int region_images_find(struct region_images *r, uint32_t region, uint64_t avma,
                       struct region_place *ret_place)
{
        const struct trace_code_region *row = trace_dictionary_row(r->dictionary, TRACE_TABLE_CODE_REGIONS,
                                                                   region);
        const struct trace_attachment *attachment;
        struct open_image *open;
        uint64_t svma;
        int code;

        if (row->attachment == 0)
                return 0;
        attachment = trace_dictionary_row(r->dictionary, TRACE_TABLE_ATTACHMENTS, row->attachment);
        if (attachment->kind != TRACE_ATTACHMENT_CODE_IMAGE)
                return 0;
        code = find_image(r, row->attachment, &open);
        if (code < 0 || !open->symbols ||
            !region_images_place(open->image, row->start_avma, row->length_bytes, avma, &svma))
                return code;
        *ret_place = (struct region_place){ open->image, open->symbols, svma };
        return 1;
}
