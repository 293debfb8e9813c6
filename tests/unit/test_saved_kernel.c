/* SPDX-License-Identifier: MIT */
/*
 * symbolize/kernel/saved_kernel.c: a kernel's names come back wherever it lies now,
 * and those of no other one
 */
#include "base/byte_buffer.h"
#include "symbolize/kernel/saved_kernel.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BASE      UINT64_C(0xffffffff81000000)
#define MODULE    UINT64_C(0xffffffffc0000000)
#define N_SYMBOLS 2000
#define STEP      64

/* As the kernel lists itself: variables of processors, functions, and one of a module. */
static void add_list(struct byte_buffer *out, uint64_t base, const char *name)
{
        char line[80];

        for (int i = 0; i < 300; i++) {
                (void)snprintf(line, sizeof(line), "%016x A cpu_variable_%d\n", (unsigned)i * 8, i);
                byte_buffer_add(out, line, strlen(line));
        }
        for (uint64_t i = 0; i < N_SYMBOLS; i++) {
                (void)snprintf(line, sizeof(line), "%016lx %c %s_%lu\n", (unsigned long)(base + i * STEP),
                               i % 2 ? 't' : 'T', name, (unsigned long)i);
                byte_buffer_add(out, line, strlen(line));
        }
        (void)snprintf(line, sizeof(line), "%016lx t of_module\t[one]\n", (unsigned long)MODULE);
        byte_buffer_add(out, line, strlen(line));
        ck_assert(!out->failed);
}

static int make_list(uint64_t base, const char *name)
{
        struct byte_buffer text = { .data = NULL };
        int fd = memfd_create("kallsyms", MFD_CLOEXEC);

        add_list(&text, base, name);
        ck_assert_int_eq(write(fd, text.data, text.used_bytes), (ssize_t)text.used_bytes);
        byte_buffer_deinit(&text);
        return fd;
}

static void save(struct byte_buffer *out)
{
        struct kernel_symbols all = { .symbols = NULL };
        struct kernel_head head;
        int fd = make_list(BASE, "function");

        ck_assert(kernel_head_read(&head, fd));
        ck_assert_int_eq(kernel_symbols_load(&all, fd, NULL), 0);
        ck_assert_int_eq(saved_kernel_write(&all, &head, out), 0);
        kernel_symbols_deinit(&all);
        kernel_head_deinit(&head);
        (void)close(fd);
}

static bool opens(const struct byte_buffer *saved, uint64_t base, const char *name,
                  struct saved_kernel *ret_kernel)
{
        struct kernel_head head;
        int fd = make_list(base, name);
        bool is_open = kernel_head_read(&head, fd) &&
                       saved_kernel_open(ret_kernel, &head, saved->data, saved->used_bytes);

        kernel_head_deinit(&head);
        (void)close(fd);
        return is_open;
}

START_TEST(test_names_come_back_elsewhere)
{
        const uint64_t base = BASE + 0x1200000;
        struct byte_buffer saved = { .data = NULL };
        struct saved_kernel kernel;

        save(&saved);
        ck_assert(opens(&saved, base, "function", &kernel));
        ck_assert_uint_eq(kernel.n_symbols, N_SYMBOLS);
        ck_assert_str_eq(saved_kernel_find(&kernel, base), "function_0");
        ck_assert_str_eq(saved_kernel_find(&kernel, base + STEP - 1), "function_0");
        ck_assert_str_eq(saved_kernel_find(&kernel, base + 777 * STEP + 5), "function_777");
        ck_assert(saved_kernel_covers(&kernel, base + (N_SYMBOLS - 1) * STEP));
        ck_assert(!saved_kernel_covers(&kernel, base + (N_SYMBOLS - 1) * STEP + 1));
        ck_assert(!saved_kernel_covers(&kernel, base - 1));
        ck_assert(!saved_kernel_covers(&kernel, MODULE));
        byte_buffer_deinit(&saved);
}
END_TEST

START_TEST(test_of_another_kernel)
{
        struct byte_buffer saved = { .data = NULL };
        struct saved_kernel kernel;
        struct kernel_head head;
        int fd = make_list(BASE, "function");

        save(&saved);
        ck_assert(!opens(&saved, BASE, "other", &kernel));
        ck_assert(kernel_head_read(&head, fd));
        head.build++;
        ck_assert(!saved_kernel_open(&kernel, &head, saved.data, saved.used_bytes));
        kernel_head_deinit(&head);
        (void)close(fd);
        byte_buffer_deinit(&saved);
}
END_TEST

START_TEST(test_hidden_addresses)
{
        static const char text[] = "0000000000000000 T _text\n0000000000000000 T start\n";
        int fd = memfd_create("kallsyms", MFD_CLOEXEC);
        struct kernel_head head;

        ck_assert_int_eq(write(fd, text, sizeof(text) - 1), (ssize_t)sizeof(text) - 1);
        ck_assert(!kernel_head_read(&head, fd));
        kernel_head_deinit(&head);
        (void)close(fd);
}
END_TEST

/* The end of the texts, and each number of the header, are looked at. */
START_TEST(test_cut_and_damaged)
{
        struct byte_buffer saved = { .data = NULL };
        struct kernel_head head;
        int fd = make_list(BASE, "function");

        save(&saved);
        ck_assert(kernel_head_read(&head, fd));
        for (size_t n = 0; n < saved.used_bytes; n += n < 64 ? 1 : 997) {
                uint8_t *cut = malloc(n + 1); /* exactly as long, for the sanitizer */
                struct saved_kernel kernel;

                memcpy(cut, saved.data, n);
                ck_assert(!saved_kernel_open(&kernel, &head, cut, n));
                free(cut);
        }
        for (size_t at = 0; at < 32; at++) {
                struct saved_kernel kernel;

                saved.data[at] ^= 0xff;
                ck_assert(!saved_kernel_open(&kernel, &head, saved.data, saved.used_bytes));
                saved.data[at] ^= 0xff;
        }
        kernel_head_deinit(&head);
        (void)close(fd);
        byte_buffer_deinit(&saved);
}
END_TEST

/* The target of a name's place is checked where it is followed. */
START_TEST(test_places_that_lie)
{
        struct byte_buffer saved = { .data = NULL };
        struct saved_kernel kernel;

        save(&saved);
        memset(saved.data + 32 + N_SYMBOLS * 4 + 1900 * 4, 0xff, 100 * 4);
        ck_assert(opens(&saved, BASE, "function", &kernel));
        ck_assert_ptr_null(saved_kernel_find(&kernel, BASE + 1999 * STEP));
        ck_assert_str_eq(saved_kernel_find(&kernel, BASE + 1899 * STEP), "function_1899");
        byte_buffer_deinit(&saved);
}
END_TEST

START_TEST(test_symbols_of_a_module_in_between)
{
        static const char line[] = "ffffffff81000001 t of_module\t[one]\n";
        struct byte_buffer text = { .data = NULL }, out = { .data = NULL };
        struct kernel_symbols all = { .symbols = NULL };
        struct kernel_head head;
        int fd = make_list(BASE, "function");

        add_list(&text, BASE, "function");
        byte_buffer_add(&text, line, sizeof(line) - 1);
        ck_assert(kernel_head_read(&head, fd));
        ck_assert_int_eq(kernel_symbols_parse(&all, text.data, text.used_bytes), 0);
        ck_assert_int_eq(saved_kernel_write(&all, &head, &out), -ENODATA);
        kernel_symbols_deinit(&all);
        kernel_head_deinit(&head);
        byte_buffer_deinit(&text);
        byte_buffer_deinit(&out);
        (void)close(fd);
}
END_TEST

/* Writes what the lookup would keep, as the recorder does. */
static void put_entry(const struct index_cache *cache, const struct index_cache_name *name,
                      const struct kernel_lookup *k)
{
        struct byte_buffer out = { .data = NULL };
        struct index_cache_writer writer;

        ck_assert_int_eq(kernel_lookup_save(k, &out), 0);
        ck_assert_int_eq(index_cache_begin(cache, name, &writer, NULL), 0);
        ck_assert_int_eq(index_cache_add(cache, &writer, out.data, out.used_bytes, NULL), 0);
        ck_assert_int_eq(index_cache_commit(cache, &writer, NULL), 0);
        byte_buffer_deinit(&out);
}

START_TEST(test_lookup_reads_the_list_when_it_must)
{
        const struct index_cache_name name = { "kernel.index" };
        char folder[] = "/tmp/hyprof-kernel-XXXXXX", path[64];
        struct byte_buffer out = { .data = NULL };
        int fd = make_list(BASE, "function");
        struct index_cache cache;
        struct kernel_lookup k;

        ck_assert_ptr_nonnull(mkdtemp(folder));
        ck_assert_int_eq(index_cache_open(&cache, folder, NULL), 0);
        kernel_lookup_open(&k, fd, &cache, &name);
        ck_assert_int_eq(kernel_lookup_save(&k, &out), -ENODATA);
        ck_assert_str_eq(kernel_lookup_find(&k, BASE + STEP), "function_1");
        ck_assert(k.is_loaded);
        put_entry(&cache, &name, &k);
        kernel_lookup_close(&k);

        kernel_lookup_open(&k, fd, &cache, &name);
        ck_assert_str_eq(kernel_lookup_find(&k, BASE + STEP), "function_1");
        ck_assert(!k.is_loaded);
        ck_assert_str_eq(kernel_lookup_find(&k, MODULE + 1), "of_module [one]");
        ck_assert(k.is_loaded);
        ck_assert_int_eq(kernel_lookup_save(&k, &out), -ENODATA); /* it is there */
        kernel_lookup_close(&k);

        kernel_lookup_open(&k, fd, NULL, NULL);
        ck_assert_str_eq(kernel_lookup_find(&k, BASE + STEP), "function_1");
        ck_assert_int_eq(kernel_lookup_save(&k, &out), -ENODATA);
        kernel_lookup_close(&k);
        ck_assert_uint_eq(out.used_bytes, 0);

        index_cache_close(&cache);
        (void)snprintf(path, sizeof(path), "%s/kernel.index", folder);
        (void)unlink(path);
        (void)snprintf(path, sizeof(path), "%s/key", folder);
        (void)unlink(path);
        ck_assert_int_eq(rmdir(folder), 0);
        (void)close(fd);
}
END_TEST
