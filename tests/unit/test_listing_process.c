/* SPDX-License-Identifier: MIT */
/*
 * symbolize/listing/listing_process.c, listing_reader.c: own code is listed; a child that dies or fails
 * costs the listing alone
 */
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "symbolize/debug/symbol_search.h"
#include "symbolize/images/image_finder.h"
#include "symbolize/images/module_images.h"
#include "symbolize/listing/code_listing.h"
#include "symbolize/listing/listing_process.h"
#include "symbolize/listing/listing_reader.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* push, call beyond the code, jump back, return, no instruction */
static const uint8_t code[] = { 0x55, 0xe8, 0x00, 0x10, 0x00, 0x00, 0xeb, 0xf8, 0xc3, 0x06 };
static const uint64_t offsets[] = { 0x7001, 0x7006 };

static struct code_listing listing;
static struct error err;

static void setup(void)
{
        code_listing_init(&listing);
        err = ERROR_NONE;
}

static void teardown(void)
{
        code_listing_deinit(&listing);
}

static struct listing_request request_of_bytes(void)
{
        return (struct listing_request){
                .code = code,
                .code_bytes = sizeof(code),
                .code_avma = 0x7000,
                .name = "kernel",
                .machine = "x86_64",
                .offsets = offsets,
                .n_offsets = 2,
        };
}

static void check_text(size_t index, const char *wanted)
{
        size_t n_bytes;
        const char *text = intern_get(&listing.strings, listing.instructions[index].text, &n_bytes);

        ck_assert_uint_eq(n_bytes, strlen(wanted));
        ck_assert_mem_eq(text, wanted, n_bytes);
}

START_TEST(test_bytes_without_a_file)
{
        struct listing_request request = request_of_bytes();

        ck_assert_msg(listing_process_run(&request, &listing, &err) == 0, "%s", err.text);
        ck_assert_uint_eq(listing.n_parts, 1);
        ck_assert_uint_eq(listing.n_instructions, 5);
        check_text(0, "pushq %rbp");
        check_text(1, "callq 0x8006");
        check_text(4, ".byte 0x06");
        ck_assert_uint_eq(listing.instructions[2].target_svma, 0x7000);
        ck_assert_uint_eq(listing.instructions[2].branch, BRANCH_JUMP);
}
END_TEST

START_TEST(test_unknown_machine)
{
        struct listing_request request = request_of_bytes();

        request.machine = "pdp11";
        ck_assert_int_eq(listing_process_run(&request, &listing, &err), -ENOTSUP);
        ck_assert_ptr_nonnull(strstr(err.text, "pdp11"));
}
END_TEST

/* A trace with one module: this program. */
struct own_module {
        struct trace_dictionary dictionary;
        struct module_images images;
        struct symbol_search search;
        struct image_finder finder;
        char path[4096];
};

static void setup_own_module(struct own_module *m, uint64_t inode_difference, const char *build_id)
{
        struct trace_module row = { .kind = TRACE_MODULE_FILE };
        struct stat st;
        uint32_t id;

        memset(m, 0, sizeof(*m));
        ck_assert_ptr_nonnull(realpath("/proc/self/exe", m->path));
        ck_assert_int_eq(stat(m->path, &st), 0);
        trace_dictionary_init(&m->dictionary, 16);
        row.device = st.st_dev;
        row.inode = st.st_ino + inode_difference;
        ck_assert_int_ge(trace_dictionary_add_string(&m->dictionary, m->path, strlen(m->path), &row.path), 0);
        ck_assert_int_ge(
                trace_dictionary_add_string(&m->dictionary, build_id, strlen(build_id), &row.build_id), 0);
        ck_assert_int_eq(trace_dictionary_add(&m->dictionary, TRACE_TABLE_MODULES, &row, &id), 0);
        ck_assert_int_eq(module_images_init(&m->images, &m->dictionary, NULL), 0);
        m->finder = (struct image_finder){ .dictionary = &m->dictionary,
                                           .images = &m->images,
                                           .search = &m->search };
}

static int list_own_module(struct own_module *m)
{
        struct listing_request request = {
                .finder = &m->finder, .module = 1, .path = m->path, .offsets = offsets, .n_offsets = 2
        };
        int r = listing_process_run(&request, &listing, &err);

        module_images_deinit(&m->images);
        trace_dictionary_deinit(&m->dictionary);
        return r;
}

/* A file whose build-id is another one is not believed, nor is one of another inode where there is none. */
START_TEST(test_another_file)
{
        struct own_module m;

        setup_own_module(&m, 1, "");
        ck_assert_int_eq(list_own_module(&m), -ESTALE);
        setup_own_module(&m, 0, "another build-id    ");
        ck_assert_int_eq(list_own_module(&m), -ESTALE);
        ck_assert_uint_eq(listing.n_parts, 0);
}
END_TEST

/* Device and inode say nothing where the trace is of another machine. */
START_TEST(test_another_machine)
{
        struct own_module m;

        setup_own_module(&m, 0, "");
        m.search.is_other_machine = true;
        ck_assert_int_eq(list_own_module(&m), -ESTALE);
        ck_assert_ptr_nonnull(strstr(err.text, "cannot be recognised"));
}
END_TEST

START_TEST(test_no_file_and_no_elf)
{
        struct listing_request request = { .offsets = offsets, .n_offsets = 2 };

        ck_assert_int_eq(listing_process_run(&request, &listing, &err), -ENOENT);
        request.image = code;
        request.image_bytes = sizeof(code);
        ck_assert_int_eq(listing_process_run(&request, &listing, &err), -EBADMSG);
}
END_TEST

static int die(const struct listing_request *request, struct code_listing *ret, struct error *e)
{
        (void)request;
        (void)ret;
        (void)e;
        (void)raise(SIGKILL);
        return 0;
}

static int refuse(const struct listing_request *request, struct code_listing *ret, struct error *e)
{
        (void)request;
        (void)ret;
        return error_set(e, -EIO, "a \033[31mred failure");
}

START_TEST(test_death_and_failure)
{
        struct listing_request request = request_of_bytes();

        ck_assert_int_eq(listing_process_run_task(&request, die, &listing, &err), -EPROTO);
        ck_assert_ptr_nonnull(strstr(err.text, "signal 9"));
        ck_assert_int_eq(listing_process_run_task(&request, refuse, &listing, &err), -EIO);
        ck_assert_str_eq(err.text, "a ?[31mred failure");
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
