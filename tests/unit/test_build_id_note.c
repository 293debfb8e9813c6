/* SPDX-License-Identifier: MIT */
/* sampler/build_id_note.c: the build-id of real files is found, at every cut and in every broken header nothing is read beyond the bytes */
#include "base/io.h"
#include "sampler/build_id_note.h"
#include "symbolize/elf_image.h"
#include "tests/unit/fixed_random.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_BYTES 16384

/* The beginning of this program, which the linker gave a build-id. */
static size_t read_self(uint8_t *bytes)
{
        size_t n_bytes = 0;
        int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(io_read_full(fd, bytes, FIRST_BYTES, &n_bytes, NULL), 0);
        io_close(&fd);
        return n_bytes;
}

START_TEST(test_self)
{
        static uint8_t bytes[FIRST_BYTES];
        size_t n_bytes = read_self(bytes);
        struct elf_image *image = NULL;
        const uint8_t *id = NULL;
        int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

        ck_assert_int_eq(elf_image_open(fd, &image, NULL), 0);
        ck_assert_uint_gt(image->build_id_bytes, 0);
        ck_assert_uint_eq(build_id_note_find(bytes, n_bytes, &id), image->build_id_bytes);
        ck_assert_mem_eq(id, image->build_id, image->build_id_bytes);
        elf_image_close(image);
        io_close(&fd);
}
END_TEST

START_TEST(test_cuts)
{
        static uint8_t bytes[FIRST_BYTES];
        size_t n_found = 0;

        (void)read_self(bytes);
        for (size_t n_bytes = 0; n_bytes < 4096; n_bytes++) {
                uint8_t *copy = malloc(n_bytes + 1); /* so that AddressSanitizer sees the end */
                const uint8_t *id = NULL;
                size_t n;

                memcpy(copy, bytes, n_bytes);
                n = build_id_note_find(copy, n_bytes, &id);
                if (n > 0) {
                        ck_assert(id >= copy);
                        ck_assert(id + n <= copy + n_bytes);
                        n_found++;
                }
                free(copy);
        }
        ck_assert_uint_gt(n_found, 0); /* the note is among these bytes */
}
END_TEST

START_TEST(test_broken)
{
        static uint8_t bytes[FIRST_BYTES], broken[FIRST_BYTES];
        uint64_t random = 7;
        size_t n_bytes = read_self(bytes);

        for (unsigned i = 0; i < 20000; i++) {
                const uint8_t *id = NULL;
                size_t n;

                memcpy(broken, bytes, n_bytes);
                for (unsigned j = 0; j < 4; j++)
                        broken[fixed_random_next(&random) % 1024] = (uint8_t)fixed_random_next(&random);
                n = build_id_note_find(broken, n_bytes, &id);
                if (n > 0) {
                        ck_assert(id >= broken);
                        ck_assert(id + n <= broken + n_bytes);
                }
        }
}
END_TEST

START_TEST(test_no_elf)
{
        static const uint8_t text[64] = "#!/bin/sh\necho no ELF file at all, but a script of some length\n";
        const uint8_t *id;

        ck_assert(!build_id_note_is_elf(text, sizeof(text)));
        ck_assert(!build_id_note_is_elf((const uint8_t *)"\177ELF", 4));
        ck_assert_uint_eq(build_id_note_find(text, sizeof(text), &id), 0);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("sampler/build_id_note");
        TCase *tcase = tcase_create("all");
        SRunner *runner;
        int n_failed;

        tcase_add_test(tcase, test_self);
        tcase_add_test(tcase, test_cuts);
        tcase_add_test(tcase, test_broken);
        tcase_add_test(tcase, test_no_elf);
        suite_add_tcase(suite, tcase);
        runner = srunner_create(suite);
        srunner_run_all(runner, CK_NORMAL);
        n_failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
