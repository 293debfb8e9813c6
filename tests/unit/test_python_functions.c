/* SPDX-License-Identifier: MIT */
/*
 * sampler/python/python_functions.c, python_objects.c: code objects in memory, here our own, become frames
 * with names; an
 * object that takes another's place is another function; what cannot be read has none
 */
#include "format/trace_dictionary.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/python/python_functions.h"
#include "sampler/python/python_layout.h"
#include "sampler/python/python_objects.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define VERSION_3_11 0x030b02f0
#define VERSION_3_12 0x030c01f0
#define SECOND_NS    UINT64_C(1000000000)

/* As CPython 3.11 lays them out. */
struct text_object {
        uint64_t head[2];
        uint64_t length;
        uint64_t hash;
        uint32_t state, reserved;
        uint64_t wide;
        char data[64]; /* of ASCII; of others after 24 bytes more */
};

struct bytes_object {
        uint64_t head[2];
        uint64_t length, hash;
        uint8_t data[16];
};

struct code_object {
        uint64_t words[23];
        uint8_t instructions[64];
};

struct fixture {
        struct trace_dictionary dictionary;
        struct recorder_pace pace;
        struct python_functions *functions;
        struct python_layout layout;
        struct text_object name, file;
        struct bytes_object lines;
        struct code_object code;
};

static struct fixture *f;

static void set_ascii(struct text_object *text, const char *words)
{
        text->length = strlen(words);
        text->state = 1 << 2 | 1 << 5 | 1 << 6;
        memcpy(text->data, words, strlen(words));
}

static void setup(void)
{
        static const uint8_t lines[] = {
                0x80 | 11 << 3 | 1, 0, 0, 0x80 | 11 << 3 | 1, 0, 0
        }; /* + 1 each 4 bytes */
        static const uint8_t head[PYTHON_LAYOUT_HEAD_BYTES];
        uint32_t first_line = 10;

        f = calloc(1, sizeof(*f));
        ck_assert_ptr_nonnull(f);
        trace_dictionary_init(&f->dictionary, 0);
        ck_assert_int_eq(python_functions_new(&f->dictionary, &f->pace, &f->functions), 0);
        ck_assert_int_eq(python_layout_find(VERSION_3_11, head, &f->layout), 0);
        set_ascii(&f->name, "Net.forward");
        set_ascii(&f->file, "/srv/net.py");
        f->lines.length = sizeof(lines);
        memcpy(f->lines.data, lines, sizeof(lines));
        f->code.words[f->layout.objects.code_file / 8] = (uintptr_t)&f->file;
        f->code.words[f->layout.objects.code_name / 8] = (uintptr_t)&f->name;
        f->code.words[f->layout.objects.code_lines / 8] = (uintptr_t)&f->lines;
        memcpy((char *)f->code.words + f->layout.objects.code_first_line, &first_line, sizeof(first_line));
}

static void teardown(void)
{
        python_functions_free(f->functions);
        trace_dictionary_deinit(&f->dictionary);
        free(f);
}

/* As it is now. */
static uint64_t identity_of(void)
{
        const struct python_reader reader = python_reader_of((uint32_t)getpid());
        struct python_code code;

        ck_assert_int_eq(python_code_read(&reader, &f->layout.objects, (uintptr_t)&f->code, &code), 0);
        return code.identity;
}

/* At a sample at which the object was that of @identity; 0 = not known. */
static uint32_t find_that(uint64_t code_off, uint64_t now_ns, uint64_t identity)
{
        const struct python_place place = { .pid = (uint32_t)getpid(),
                                            .code_avma = (uintptr_t)&f->code,
                                            .instruction_avma = (uintptr_t)f->code.instructions + code_off,
                                            .identity = identity,
                                            .objects = &f->layout.objects };
        uint32_t frame = 0;
        int r = python_functions_find(f->functions, &place, now_ns, &frame);

        ck_assert(frame != 0 ? r == 0 : r == -ENOENT || r == -EAGAIN || r == -EBADMSG);
        return frame;
}

/* Why there is none. */
static int fail_to_find(uint64_t now_ns, uint64_t identity)
{
        const struct python_place place = { .pid = (uint32_t)getpid(),
                                            .code_avma = (uintptr_t)&f->code,
                                            .identity = identity,
                                            .objects = &f->layout.objects };
        uint32_t frame;

        return python_functions_find(f->functions, &place, now_ns, &frame);
}

static uint32_t find(uint64_t code_off, uint64_t now_ns)
{
        return find_that(code_off, now_ns, 0);
}

/* The head of _PyRuntime in 3.13, as far as the GIL is concerned. */
static void set_debug_offsets(uint8_t *head, uint64_t locked, uint64_t holder)
{
        uint64_t words[73] = { [14] = 16, [15] = 7752, [17] = locked, [18] = holder };

        memcpy(head, words, sizeof(words));
        memcpy(head, "xdebugpy", 8);
}

/* Its members are given from the beginning of the interpreter; numbers that lie outside of it are refused. */
START_TEST(test_the_gil_is_where_the_version_says)
{
        uint8_t head[PYTHON_LAYOUT_HEAD_BYTES] = { 0 };
        struct python_layout layout;

        ck_assert_int_eq(python_layout_find(VERSION_3_11, head, &layout), 0);
        ck_assert_uint_eq(layout.gil, 360);
        ck_assert_uint_eq(layout.walk.gil_holder, 8);
        set_debug_offsets(head, 7752 + 16, 7752 + 8);
        ck_assert_int_eq(python_layout_find(UINT64_C(0x030d00f0), head, &layout), 0);
        ck_assert_uint_eq(layout.gil, 0);
        ck_assert_uint_eq(layout.walk.interpreter_gil, 16);
        ck_assert_uint_eq(layout.walk.gil_holder, 8);
        ck_assert_uint_eq(layout.walk.gil_locked, 16);
        ck_assert_uint_eq(layout.walk.gil_switches, 24);
        set_debug_offsets(head, 7752 + 16, 7752 - 8);
        ck_assert_int_eq(python_layout_find(UINT64_C(0x030d00f0), head, &layout), -EBADMSG);
        set_debug_offsets(head, 7752 + 65536, 7752 + 8);
        ck_assert_int_eq(python_layout_find(UINT64_C(0x030d00f0), head, &layout), -EBADMSG);
}
END_TEST

static const struct trace_symbol *symbol_of(uint32_t frame)
{
        for (uint32_t i = 1; i <= trace_dictionary_count(&f->dictionary, TRACE_TABLE_SYMBOLS); i++) {
                const struct trace_symbol *row = trace_dictionary_row(&f->dictionary, TRACE_TABLE_SYMBOLS, i);

                if (row->frame == frame)
                        return row;
        }
        ck_abort_msg("frame %u has no symbol", frame);
        return NULL;
}

static void check_text(uint32_t string, const char *words)
{
        size_t n_bytes;
        const char *text = trace_dictionary_string(&f->dictionary, string, &n_bytes);

        ck_assert_uint_eq(n_bytes, strlen(words));
        ck_assert_mem_eq(text, words, n_bytes);
}

START_TEST(test_a_place_has_function_file_and_line)
{
        uint32_t first = find(0, SECOND_NS), second = find(4, SECOND_NS);
        const struct trace_frame *frame = trace_dictionary_row(&f->dictionary, TRACE_TABLE_FRAMES, second);
        const struct trace_module *module = trace_dictionary_row(&f->dictionary, TRACE_TABLE_MODULES,
                                                                 frame->module);

        ck_assert_uint_ne(first, second);
        ck_assert_uint_eq(symbol_of(first)->line, 11);
        ck_assert_uint_eq(symbol_of(second)->line, 12);
        check_text(symbol_of(second)->function, "Net.forward");
        check_text(symbol_of(second)->file, "/srv/net.py");
        ck_assert_uint_eq((uint32_t)frame->offset, 12);
        ck_assert_uint_eq(module->kind, TRACE_MODULE_PYTHON);
        check_text(module->path, "/srv/net.py");
        ck_assert_uint_eq(find(2, SECOND_NS), first); /* the same line is the same frame */
}
END_TEST

START_TEST(test_another_object_at_the_address_is_another_function)
{
        struct text_object *other = calloc(1, sizeof(*other));
        uint32_t before = find(0, SECOND_NS), after;

        ck_assert_ptr_nonnull(other);
        set_ascii(other, "other");
        f->code.words[f->layout.objects.code_name / 8] = (uintptr_t)other;
        after = find(0, 3 * SECOND_NS);
        ck_assert_uint_ne(before, after);
        check_text(symbol_of(after)->function, "other");
        free(other);
}
END_TEST

/* Within the second that an object is believed without an identity. */
START_TEST(test_an_identity_tells_objects_apart_at_once)
{
        struct text_object *other = calloc(1, sizeof(*other));
        uint64_t first = identity_of();
        uint32_t before = find_that(0, SECOND_NS, first), after;

        ck_assert_ptr_nonnull(other);
        set_ascii(other, "other");
        f->code.words[f->layout.objects.code_name / 8] = (uintptr_t)other;
        ck_assert_uint_eq(find_that(0, SECOND_NS + 1, first),
                          before); /* a sample before that, read after it */
        after = find_that(0, SECOND_NS + 2, identity_of());
        ck_assert_uint_ne(after, 0);
        check_text(symbol_of(after)->function, "other");
        ck_assert_uint_eq(find_that(4, SECOND_NS + 3, first), 0); /* it is gone */
        ck_assert_uint_eq(find_that(0, 5 * SECOND_NS, identity_of()), after);
        free(other);
}
END_TEST

/* The memory of a module is often used again by the next one, for each of its parts. */
START_TEST(test_a_path_tells_modules_apart)
{
        uint64_t first = identity_of(), second;
        uint32_t before = find_that(0, SECOND_NS, first), after;

        set_ascii(&f->file, "/srv/set.py");
        second = identity_of();
        ck_assert_uint_ne(first, second);
        after = find_that(0, SECOND_NS + 1, second);
        ck_assert_uint_ne(before, after);
        check_text(symbol_of(after)->file, "/srv/set.py");
        ck_assert_uint_eq(find_that(4, SECOND_NS + 2, first), 0);
        set_ascii(&f->file, "/srv/set.p");
        ck_assert_uint_ne(identity_of(), second);
        f->code.words[6] = PYTHON_CODE_FUNCTION; /* its flags: the paths of functions are not looked at */
        first = identity_of();
        set_ascii(&f->file, "/srv/net.py");
        ck_assert_uint_eq(identity_of(), first);
        f->code.words[6] |= UINT64_C(7) << 32; /* how often it ran */
        ck_assert_uint_eq(identity_of(), first);
}
END_TEST

/* From 3.12 on code objects have a number, and their paths are not looked at. */
START_TEST(test_a_number_tells_code_apart)
{
        static const uint8_t head[PYTHON_LAYOUT_HEAD_BYTES];
        uint32_t version = 7;
        uint64_t first;

        ck_assert_int_eq(python_layout_find(VERSION_3_12, head, &f->layout), 0);
        first = identity_of();
        memcpy((char *)f->code.words + 92, &version, sizeof(version)); /* co_version */
        ck_assert_uint_ne(identity_of(), first);
        first = identity_of();
        set_ascii(&f->file, "/srv/set.py");
        ck_assert_uint_eq(identity_of(), first);
}
END_TEST

START_TEST(test_names_of_any_characters)
{
        static const uint16_t characters[] = { 'g', 0xfc, 0x4e2d };

        memset(f->name.data, 0, sizeof(f->name.data));
        f->name.length = 3;
        f->name.state = 2 << 2 | 1 << 5;
        memcpy(f->name.data + 24, characters, sizeof(characters));
        check_text(symbol_of(find(0, SECOND_NS))->function, "g\xc3\xbc\xe4\xb8\xad");
}
END_TEST

START_TEST(test_what_makes_no_sense_has_no_frame)
{
        const struct python_place nowhere = { .pid = (uint32_t)getpid(),
                                              .code_avma = 64,
                                              .objects = &f->layout.objects };
        uint32_t frame = 1;

        ck_assert_int_eq(python_functions_find(f->functions, &nowhere, SECOND_NS, &frame), -ENOENT);
        ck_assert_uint_eq(frame, 0);
        f->name.state = 0; /* not a string of this layout */
        ck_assert_uint_eq(find(0, SECOND_NS), 0);
        ck_assert_int_eq(fail_to_find(SECOND_NS, identity_of()), -EBADMSG);
        f->name.state = 1 << 2 | 1 << 5 | 1 << 6;
        f->lines.length = UINT64_MAX;
        ck_assert_uint_eq(find(0, 3 * SECOND_NS), 0);
}
END_TEST

/* ---- copies -------------------------------------------------------------------------------------------- */

static struct {
        _Alignas(8) uint8_t bytes[1024];
        size_t n_bytes;
} pieces;

static void put_piece(const void *from, size_t n_bytes)
{
        const struct python_piece head = { .avma = (uintptr_t)from, .n_bytes = (uint32_t)n_bytes };

        memcpy(pieces.bytes + pieces.n_bytes, &head, sizeof(head));
        memcpy(pieces.bytes + pieces.n_bytes + sizeof(head), from, n_bytes);
        pieces.n_bytes += sizeof(head) + (n_bytes + 7) / 8 * 8;
}

/* As they are at the sample; @lines_bytes of the table of lines. */
static void copy_all(size_t lines_bytes)
{
        pieces.n_bytes = 0;
        put_piece(&f->code, f->layout.objects.code_instructions);
        put_piece(&f->name, f->layout.objects.text_ascii + f->name.length);
        put_piece(&f->file, f->layout.objects.text_ascii + f->file.length);
        put_piece(&f->lines, f->layout.objects.bytes_data + lines_bytes);
}

static void learn(uint64_t identity)
{
        const struct python_copies copies = { .pieces = pieces.bytes, .n_bytes = pieces.n_bytes };
        const struct python_place place = { .pid = (uint32_t)getpid(),
                                            .code_avma = (uintptr_t)&f->code,
                                            .identity = identity,
                                            .objects = &f->layout.objects };

        ck_assert_int_eq(python_functions_learn(f->functions, &place, &copies, SECOND_NS), 0);
}

/* The memory is used again before the sample is looked at. */
START_TEST(test_a_copied_object_may_be_gone)
{
        uint64_t identity = identity_of();
        uint32_t frame;

        copy_all(f->lines.length);
        learn(identity_of());
        memset(&f->code, 0xff, sizeof(f->code));
        memset(&f->name, 0xff, sizeof(f->name));
        frame = find_that(4, SECOND_NS + 1, identity);
        check_text(symbol_of(frame)->function, "Net.forward");
        check_text(symbol_of(frame)->file, "/srv/net.py");
        ck_assert_uint_eq(symbol_of(frame)->line, 12);
}
END_TEST

/* Why a copy was of no use is still known when its object is gone. */
START_TEST(test_why_a_copy_was_of_no_use)
{
        uint64_t identity = identity_of();

        f->name.state = 0; /* not a string of this layout */
        copy_all(f->lines.length);
        learn(identity);
        memset(&f->code, 0xff, sizeof(f->code));
        ck_assert_int_eq(fail_to_find(SECOND_NS + 1, identity), -EBADMSG);
        ck_assert_int_eq(fail_to_find(SECOND_NS + 2, identity + 2), -ENOENT);
}
END_TEST

START_TEST(test_a_full_table_of_names_is_not_gone_code)
{
        uint64_t identity = identity_of();
        char name[24];
        uint32_t id;
        int r = 0;

        copy_all(f->lines.length);
        trace_dictionary_deinit(&f->dictionary);
        trace_dictionary_init(&f->dictionary, 64);
        for (uint32_t i = 0; r == 0; i++) {
                int n_bytes = snprintf(name, sizeof(name), "%u", i);

                r = trace_dictionary_add_program_string(&f->dictionary, name, (size_t)n_bytes, &id);
        }
        ck_assert_int_eq(r, -EOVERFLOW);
        learn(identity);
        memset(&f->code, 0xff, sizeof(f->code));
        ck_assert_int_eq(fail_to_find(SECOND_NS + 1, identity), -EOVERFLOW);
}
END_TEST

START_TEST(test_a_long_table_of_lines_is_read_while_its_object_is_there)
{
        copy_all(3); /* of the first four bytes of code */
        learn(identity_of());
        ck_assert_uint_eq(symbol_of(find_that(4, SECOND_NS + 1, identity_of()))->line, 12);
}
END_TEST

/* Its pages may be gone while its code object is there. */
START_TEST(test_a_copy_is_kept_if_less_can_be_read)
{
        const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
        uint8_t *pages = mmap(NULL, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                              0);
        uint8_t *lines = pages + page_bytes - f->layout.objects.bytes_data - 3;
        uint64_t identity;

        ck_assert(pages != MAP_FAILED);
        f->lines.length += 64; /* the copy is cut as well */
        memcpy(lines, &f->lines, f->layout.objects.bytes_data + 6);
        f->code.words[f->layout.objects.code_lines / 8] = (uintptr_t)lines;
        identity = identity_of();
        pieces.n_bytes = 0;
        put_piece(&f->code, f->layout.objects.code_instructions);
        put_piece(&f->name, f->layout.objects.text_ascii + f->name.length);
        put_piece(&f->file, f->layout.objects.text_ascii + f->file.length);
        put_piece(lines, f->layout.objects.bytes_data + 6);
        ck_assert_int_eq(mprotect(pages + page_bytes, page_bytes, PROT_NONE), 0);
        learn(identity);
        ck_assert_uint_eq(symbol_of(find_that(4, SECOND_NS + 1, identity))->line, 12);
        ck_assert_int_eq(munmap(pages, 2 * page_bytes), 0);
}
END_TEST

/* A program may claim any length. */
START_TEST(test_a_cut_table_takes_the_memory_that_it_has)
{
        struct python_reader reader = { .pieces = pieces.bytes };
        uint8_t *lines;
        size_t n_bytes;

        f->lines.length = PYTHON_LINES_MAX;
        pieces.n_bytes = 0;
        put_piece(&f->lines, f->layout.objects.bytes_data + 16);
        reader.n_bytes = pieces.n_bytes;
        ck_assert_int_eq(
                python_bytes_read(&reader, &f->layout.objects, (uintptr_t)&f->lines, &lines, &n_bytes), 1);
        ck_assert_uint_eq(n_bytes, 16);
        ck_assert_uint_lt(malloc_usable_size(lines), 65536);
        free(lines);
}
END_TEST

START_TEST(test_what_a_cut_table_does_not_have_is_at_the_first_line)
{
        uint64_t identity = identity_of();

        copy_all(3);
        f->code.words[f->layout.objects.code_name / 8]++; /* another object, when it is learned */
        learn(identity);
        ck_assert_uint_eq(symbol_of(find_that(0, SECOND_NS + 1, identity))->line, 11);
        ck_assert_uint_eq(symbol_of(find_that(4, SECOND_NS + 1, identity))->line, 10);
}
END_TEST

/* A copy that lacks something, or ends anywhere, is as good as none: what is there is read. */
START_TEST(test_a_copy_that_is_cut_off_is_no_copy)
{
        size_t n_whole;

        copy_all(f->lines.length);
        n_whole = pieces.n_bytes;
        for (pieces.n_bytes = 0; pieces.n_bytes < n_whole; pieces.n_bytes++) {
                learn(identity_of());
                check_text(symbol_of(find_that(0, SECOND_NS + 1, identity_of()))->function, "Net.forward");
                python_functions_forget(f->functions, (uint32_t)getpid());
        }
}
END_TEST

/* A build whose threads have no lock keeps the first member of a str's state in a byte of its own. */
START_TEST(test_names_where_threads_have_no_lock)
{
        f->name.state = 3 | 1 << 8 | 1 << 11 | 1 << 12;
        check_text(symbol_of(find(0, SECOND_NS))->function, "Net.forward");
}
END_TEST

/* A program that changes a code object with a long table of lines all the time: not each change is read. */
START_TEST(test_the_work_is_bounded)
{
        const uint64_t length = PYTHON_LINES_MAX;
        struct text_object *names = calloc(100, sizeof(*names));
        uint8_t *lines = calloc(1, PYTHON_LINES_MAX + 64);
        uint32_t n_found = 0;

        ck_assert_ptr_nonnull(lines);
        ck_assert_ptr_nonnull(names);
        memcpy(lines + 16, &length, sizeof(length));
        f->code.words[f->layout.objects.code_lines / 8] = (uintptr_t)lines;
        for (uint32_t i = 0; i < 100; i++) {
                f->code.words[f->layout.objects.code_name / 8] = (uintptr_t)&names[i];
                set_ascii(&names[i], "other");
                n_found += find_that(0, SECOND_NS + i, identity_of()) != 0;
        }
        ck_assert_uint_ge(n_found, 4);
        ck_assert_uint_le(n_found, 16);
        ck_assert_uint_ne(find_that(0, SECOND_NS + PACE_PYTHON_WORK_NS, identity_of()), 0);
        free(lines);
        free(names);
}
END_TEST

/* It cost no reads, and comes once. */
START_TEST(test_a_copy_is_kept_however_much_work_there_is)
{
        uint64_t identity;
        uint32_t line = 0;

        do {
                memcpy((char *)f->code.words + f->layout.objects.code_first_line, &line, sizeof(line));
                line++;
        } while (find_that(0, SECOND_NS, identity_of()) != 0);
        ck_assert_int_eq(fail_to_find(SECOND_NS, identity_of()), -EAGAIN);
        identity = identity_of();
        copy_all(f->lines.length);
        learn(identity);
        memset(&f->code, 0xff, sizeof(f->code));
        ck_assert_uint_ne(find_that(0, SECOND_NS + PACE_PYTHON_WORK_NS, identity), 0);
}
END_TEST

START_TEST(test_versions)
{
        static uint8_t head[PYTHON_LAYOUT_HEAD_BYTES];
        struct python_layout layout;

        ck_assert_int_eq(python_layout_find(0x030a00f0, head, &layout), -ENOTSUP);
        ck_assert_int_eq(python_layout_find(0x030f00a0, head, &layout), -ENOTSUP);
        ck_assert_int_eq(python_layout_find(0x030d00f0, head, &layout), -EBADMSG); /* without its cookie */
        ck_assert_int_eq(python_layout_find(0x030e00f0, head, &layout), -EBADMSG);
        memcpy(head, "xdebugpy", 8);
        ck_assert_int_eq(python_layout_find(0x030d00f0, head, &layout), 0);
        ck_assert_int_eq(python_layout_find(0x030e00f0, head, &layout), 0);
        head[29 * 8 + 1] = 1; /* frames are not that long */
        ck_assert_int_eq(python_layout_find(0x030d00f0, head, &layout), -EBADMSG);
        ck_assert_int_eq(python_layout_find(0x030e00f0, head, &layout), 0); /* other words */
        head[32 * 8 + 1] = 1;
        ck_assert_int_eq(python_layout_find(0x030e00f0, head, &layout), -EBADMSG);
}
END_TEST

/* The words of struct _Py_DebugOffsets of 3.14, in the order of its header; of a build with @copies. */
static void set_debug_offsets_of_3_14(uint8_t *head, uint64_t copies)
{
        const uint64_t words[81] = { [2] = copies != 0, [5] = 40,
                                     [8] = 7208,        [9] = 7280,
                                     [15] = 16,         [16] = 9000,
                                     [18] = 9016,       [19] = 9008,
                                     [24] = 8,          [26] = 72,
                                     [28] = 176,        [32] = 8,
                                     [33] = 0,          [34] = 56,
                                     [36] = 74,         [38] = copies,
                                     [40] = 112,        [42] = 128,
                                     [43] = 136,        [44] = 68,
                                     [48] = 208,        [49] = copies ? 192 : 0,
                                     [75] = 16,         [76] = 32,
                                     [78] = 32,         [79] = 16,
                                     [80] = 40 };

        memcpy(head, words, sizeof(words));
        memcpy(head, "xdebugpy", 8);
}

START_TEST(test_the_offsets_of_3_14)
{
        uint8_t head[PYTHON_LAYOUT_HEAD_BYTES] = { 0 };
        struct python_layout l;

        set_debug_offsets_of_3_14(head, 0);
        ck_assert_int_eq(python_layout_find(0x030e00f0, head, &l), 0);
        ck_assert_uint_eq(l.interpreters, 40);
        ck_assert_uint_eq(l.walk.interpreter_next, 7208);
        ck_assert_uint_eq(l.walk.interpreter_threads, 7280);
        ck_assert_uint_eq(l.walk.thread_next, 8);
        ck_assert_uint_eq(l.walk.thread_frame, 72);
        ck_assert_uint_eq(l.walk.thread_native_id, 176);
        ck_assert_uint_eq(l.walk.frame_previous, 8);
        ck_assert_uint_eq(l.walk.frame_instruction, 56);
        ck_assert_uint_eq(l.walk.frame_owner, 74);
        ck_assert_uint_eq(l.walk.frame_copy, PYTHON_NO_OFFSET);
        ck_assert_uint_eq(l.walk.interpreter_gil, 16);
        ck_assert_uint_eq(l.walk.gil_bytes, 208);
        ck_assert_uint_eq(l.walk.gil_locked, 16);
        ck_assert_uint_eq(l.objects.code_is_numbered, 1);
        ck_assert_uint_eq(l.objects.code_file, 112);
        ck_assert_uint_eq(l.objects.code_lines, 136);
        ck_assert_uint_eq(l.objects.code_first_line, 68);
        ck_assert_uint_eq(l.objects.code_instructions, 208);
        ck_assert_uint_eq(l.objects.bytes_data, 32);
        ck_assert_uint_eq(l.objects.text_length, 16);
        ck_assert_uint_eq(l.objects.text_wide, 56);
        set_debug_offsets_of_3_14(head, 72); /* without the lock */
        ck_assert_int_eq(python_layout_find(0x030e00f0, head, &l), 0);
        ck_assert_uint_eq(l.walk.gil_bytes, 0);
        ck_assert_uint_eq(l.walk.frame_copy, 72);
        ck_assert_uint_eq(l.walk.code_copies, 192);
        ck_assert_uint_eq(l.walk.code_instructions, 208);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
