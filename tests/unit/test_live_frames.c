/* SPDX-License-Identifier: MIT */
/*
 * web/follow/live_frames: a frame shows module and offset until its name comes, keeps its label then, and
 * shares that of the function with frames that come later; names in pieces and of frames that are not read
 * yet wait for the rest
 */
#include "base/byte_buffer.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "format/trace_spec.h"
#include "tests/unit/unit_test.h"
#include "timeline/timeline_ghosts.h"
#include "web/follow/live_trace.h"

#include <string.h>
#include <unistd.h>

struct fixture {
        struct trace_dictionary d;
        struct live_frames frames;
        struct timeline_ghost_names ghosts;
        int fd;
        uint32_t module;
};

static struct fixture f;

static uint32_t add(enum trace_table table, const void *row)
{
        uint32_t id;

        ck_assert_int_eq(trace_dictionary_add(&f.d, table, row, &id), 0);
        return id;
}

static uint32_t add_frame(uint64_t offset)
{
        return add(TRACE_TABLE_FRAMES, &(struct trace_frame){ .offset = offset, .module = f.module });
}

static void begin(void)
{
        struct trace_module module = { .kind = TRACE_MODULE_FILE };

        UNIT_TEST_SPOIL(f);
        trace_dictionary_init(&f.d, 0);
        ck_assert_int_eq(trace_dictionary_add_string(&f.d, "/lib/some.so", 12, &module.path), 0);
        f.module = add(TRACE_TABLE_MODULES, &module);
        f.fd = io_open_unnamed(NULL);
        ck_assert_int_ge(f.fd, 0);
        ck_assert_int_eq(live_frames_init(&f.frames, &f.d, f.fd), 0);
        f.ghosts = live_frames_ghost_names(&f.frames);
}

static void end(void)
{
        live_frames_deinit(&f.frames);
        trace_dictionary_deinit(&f.d);
        io_close(&f.fd);
}

/* A row as a child of live_names sends it. */
static void put_name(struct byte_buffer *out, uint32_t frame, uint32_t flags, const char *function)
{
        byte_buffer_add_u32(out, frame);
        byte_buffer_add_u32(out, flags);
        byte_buffer_add_u32(out, 12);
        byte_buffer_add_u32(out, (uint32_t)strlen(function));
        byte_buffer_add_u32(out, 3);
        byte_buffer_add_u32(out, 0); /* no declaration */
        byte_buffer_add_u32(out, 0);
        byte_buffer_add_u32(out, 0);
        byte_buffer_add_u32(out, 0);
        byte_buffer_add_u32(out, 0);
        byte_buffer_add(out, function, strlen(function));
        byte_buffer_add(out, "a.c", 3);
}

/* The file gets some bytes, which are looked at. */
static void arrive(const uint8_t *bytes, size_t n_bytes)
{
        off_t at = lseek(f.fd, 0, SEEK_CUR);

        ck_assert_int_eq(pwrite(f.fd, bytes, n_bytes, lseek(f.fd, 0, SEEK_END)), (ssize_t)n_bytes);
        ck_assert_int_eq(lseek(f.fd, at, SEEK_SET), at);
        ck_assert_int_eq(live_frames_step(&f.frames), 0);
}

static uint32_t label_of(uint32_t frame)
{
        uint32_t labels[4];

        ck_assert_int_eq(f.ghosts.functions(f.ghosts.context, frame, labels, 4), 1);
        return labels[0];
}

static void assert_label(uint32_t label, const char *name)
{
        json_t *list = live_frames_list_functions(&f.frames);

        ck_assert_str_eq(json_string_value(json_object_get(json_array_get(list, label - 1), "name")), name);
        json_decref(list);
}

START_TEST(test_name_comes_later)
{
        struct byte_buffer rows = { .data = NULL };
        uint32_t first, other, label;

        first = add_frame(0x10);
        label = label_of(first);
        assert_label(label, "some.so+0x10");
        put_name(&rows, first, 0, "work");
        for (size_t i = 0; i < rows.used_bytes; i++)
                arrive(rows.data + i, 1);
        assert_label(label, "work");
        ck_assert_uint_ne(label_of(first), label); /* from now on that of the function */
        assert_label(label_of(first), "work");
        other = add_frame(0x20);
        assert_label(label_of(other), "some.so+0x20");
        byte_buffer_clear(&rows);
        put_name(&rows, other, 0, "work");
        arrive(rows.data, rows.used_bytes);
        ck_assert_uint_eq(label_of(other), label_of(first));
        byte_buffer_deinit(&rows);
}
END_TEST

START_TEST(test_frame_is_read_later)
{
        struct byte_buffer rows = { .data = NULL };
        uint32_t frame;

        frame = add_frame(0x10);
        put_name(&rows, frame + 1, 0, "late");
        put_name(&rows, frame, 0, "early");
        arrive(rows.data, rows.used_bytes);
        assert_label(label_of(frame), "some.so+0x10");
        ck_assert_uint_eq(add_frame(0x20), frame + 1);
        arrive(rows.data, 0);
        assert_label(label_of(frame), "early");
        assert_label(label_of(frame + 1), "late");
        byte_buffer_deinit(&rows);
}
END_TEST

/* The names of the frame, the innermost first, are these, separated by spaces. */
static void assert_functions(uint32_t frame, const char *names)
{
        struct byte_buffer all = { .data = NULL };

        for (uint32_t i = 0; i < live_names_count(&f.frames.names, frame); i++) {
                struct text_view name = live_names_function(&f.frames.names, frame, i);

                if (i > 0)
                        byte_buffer_add(&all, " ", 1);
                byte_buffer_add(&all, name.bytes, name.n_bytes);
        }
        byte_buffer_add(&all, "", 1);
        ck_assert_str_eq((const char *)all.data, names);
        byte_buffer_deinit(&all);
}

/* A frame's names come in two pieces, and those of another frame, from the trace itself, between them. */
START_TEST(test_names_of_two_frames_do_not_mix)
{
        struct byte_buffer rows = { .data = NULL };
        uint32_t frame, other, again;
        struct trace_symbol symbol = { .line = 0 };

        frame = add_frame(0x10);
        other = add_frame(0x20);
        again = add_frame(0x30);
        put_name(&rows, frame, TRACE_SYMBOL_INLINED, "inner");
        arrive(rows.data, rows.used_bytes);
        symbol.frame = other;
        ck_assert_int_eq(trace_dictionary_add_string(&f.d, "other", 5, &symbol.function), 0);
        (void)add(TRACE_TABLE_SYMBOLS, &symbol);
        byte_buffer_clear(&rows);
        put_name(&rows, frame, 0, "outer");
        put_name(&rows, other, 0, "guess");
        put_name(&rows, again, TRACE_SYMBOL_INLINED, "leaf");
        put_name(&rows, again, 0, "root");
        arrive(rows.data, rows.used_bytes);
        assert_functions(frame, "inner");
        assert_functions(other, "other");
        assert_functions(again, "leaf root");
        byte_buffer_deinit(&rows);
}
END_TEST

START_TEST(test_inlined_functions)
{
        struct byte_buffer rows = { .data = NULL };
        uint32_t labels[4], frame, stack;
        json_t *list, *item;

        frame = add_frame(0x10);
        stack = add(TRACE_TABLE_STACKS, &(struct trace_stack){ .frame = frame });
        put_name(&rows, frame, TRACE_SYMBOL_INLINED, "inner");
        put_name(&rows, frame, 0, "outer");
        arrive(rows.data, rows.used_bytes);
        ck_assert_int_eq(f.ghosts.functions(f.ghosts.context, frame, labels, 4), 2);
        assert_label(labels[0], "outer");
        assert_label(labels[1], "inner");
        ck_assert_int_eq(f.ghosts.functions(f.ghosts.context, frame, labels, 1), 1);
        list = live_frames_list_stack(&f.frames, stack);
        ck_assert_uint_eq(json_array_size(list), 2);
        item = json_array_get(list, 0);
        ck_assert_str_eq(json_string_value(json_object_get(item, "name")), "inner");
        ck_assert_str_eq(json_string_value(json_object_get(item, "place")), "a.c:12");
        ck_assert(json_is_true(json_object_get(item, "is_inlined")));
        ck_assert(json_is_false(json_object_get(json_array_get(list, 1), "is_inlined")));
        json_decref(list);
        list = live_frames_list_stack(&f.frames, stack + 1);
        ck_assert_uint_eq(json_array_size(list), 0);
        json_decref(list);
        byte_buffer_deinit(&rows);
}
END_TEST

UNIT_TEST_PLAN(.setup = begin, .teardown = end);
