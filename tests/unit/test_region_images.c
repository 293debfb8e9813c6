/* SPDX-License-Identifier: MIT */
/* symbolize/symbols/region_images.c: a place in announced code is the place in the image that came with it */
#include "symbolize/symbols/region_images.h"

#include "base/byte_buffer.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/images/image_spool.h"
#include "tests/unit/unit_test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static const struct elf_image_segment segments[] = {
        { .file_off = 0, .file_bytes = 0x400, .svma = 0x0, .memory_bytes = 0x400 },
        { .file_off = 0x440, .file_bytes = 0x100, .svma = 0x1440, .memory_bytes = 0x100, .executable = true },
        { .file_off = 0x1000, .file_bytes = 0x10, .svma = 0x3000, .memory_bytes = 0x20 },
};

struct wanted {
        uint64_t start, length, avma;
        bool found;
        uint64_t svma;
};

static const struct wanted wanted[] = {
        { 0x70000440, 0x100, 0x70000450, true, 0x1450 }, /* the code alone */
        { 0x70000440, 0x40, 0x70000440, true, 0x1440 },
        { 0x70000000, 0x1000, 0x70000450, true, 0x1450 }, /* its page */
        { 0x70000000, 0x3020, 0x70001450, true, 0x1450 }, /* all of the image */
        { 0x70000000, 0x4000, 0x70001450, true, 0x1450 }, /* in pages */
        { 0x70000000, 0x3020, 0x6fffffff, false, 0 },
};
#define N_WANTED ((int)(sizeof(wanted) / sizeof(wanted[0])))

/* loop test */
START_LOOP_TEST(test_place, 0, N_WANTED)
{
        const struct wanted *w = &wanted[_i];
        struct elf_image_segment copy[3];
        struct elf_image image = { .segments = copy, .n_segments = 3 };
        uint64_t svma = 0;

        memcpy(copy, segments, sizeof(copy));
        ck_assert_int_eq(region_images_place(&image, w->start, w->length, w->avma, &svma), w->found);
        ck_assert_uint_eq(svma, w->svma);
}
END_TEST

START_TEST(test_no_code)
{
        struct elf_image_segment endless = { .svma = 1, .memory_bytes = UINT64_MAX, .executable = true };
        struct elf_image image = { .segments = &endless, .n_segments = 0 };
        uint64_t svma;

        ck_assert(!region_images_place(&image, 0, 1, 0, &svma));
        image.n_segments = 1;
        ck_assert(!region_images_place(&image, 0, 1, 0, &svma));
}
END_TEST

static uint32_t add(struct trace_dictionary *d, enum trace_table table, const void *row)
{
        uint32_t id;

        ck_assert_int_eq(trace_dictionary_add(d, table, row, &id), 0);
        return id;
}

/* This program itself as the image; and one that is none. */
START_TEST(test_find)
{
        struct byte_buffer file = { .data = NULL };
        struct trace_process process = { .pid = 1 };
        struct trace_attachment attachment = { .kind = TRACE_ATTACHMENT_CODE_IMAGE };
        struct trace_code_region region = { .start_avma = 0x70000000, .length_bytes = 0x10 };
        struct trace_dictionary d;
        struct image_spool spool;
        struct region_images *images;
        struct region_place at, again;
        uint32_t bad, good, without;

        ck_assert_int_eq(io_read_file(AT_FDCWD, "/proc/self/exe", UINT32_MAX, &file, NULL), 0);
        trace_dictionary_init(&d, 0);
        image_spool_init(&spool);
        region.process = add(&d, TRACE_TABLE_PROCESSES, &process);
        without = add(&d, TRACE_TABLE_CODE_REGIONS, &region);
        attachment.size_bytes = 4;
        region.attachment = add(&d, TRACE_TABLE_ATTACHMENTS, &attachment);
        ck_assert_int_eq(image_spool_add(&spool, region.attachment, "text", 4, NULL), 0);
        bad = add(&d, TRACE_TABLE_CODE_REGIONS, &region);
        attachment.size_bytes = file.used_bytes;
        region.attachment = add(&d, TRACE_TABLE_ATTACHMENTS, &attachment);
        ck_assert_int_eq(image_spool_add(&spool, region.attachment, file.data, file.used_bytes, NULL), 0);
        good = add(&d, TRACE_TABLE_CODE_REGIONS, &region);
        ck_assert_int_eq(region_images_new(&d, &spool, NULL, &images, NULL), 0);
        ck_assert_int_eq(region_images_find(images, without, 0x70000000, &at), 0);
        ck_assert_int_eq(region_images_find(images, bad, 0x70000000, &at), 0);
        ck_assert_int_eq(region_images_find(images, bad, 0x70000000, &at), 0);
        ck_assert_int_eq(region_images_find(images, good, 0x70000008, &at), 1);
        ck_assert_int_eq(region_images_find(images, good, 0x70000000, &again), 1);
        ck_assert_ptr_eq(at.image, again.image);
        ck_assert_uint_eq(at.svma, again.svma + 8);
        region_images_free(images);
        image_spool_deinit(&spool);
        trace_dictionary_deinit(&d);
        byte_buffer_deinit(&file);
}
END_TEST
