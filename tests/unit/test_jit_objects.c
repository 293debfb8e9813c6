/* SPDX-License-Identifier: MIT */
/* The list of a JIT's objects is read as it changes, and does no harm whatever it says. */
#include "base/clock.h"
#include "sampler/jit/jit_objects.h"
#include "sampler/pace/pace.h"
#include "tests/unit/made_image.h"
#include "tests/unit/unit_test.h"

#include <string.h>
#include <unistd.h>

#define TEXT_AVMA UINT64_C(0x7f0000001000)

/* As in the interface, but with numbers for its pointers. */
struct entry {
        uint64_t next, previous;
        uint64_t bytes;
        uint64_t n_bytes;
};

static struct {
        uint32_t version, action;
        uint64_t relevant, first;
} descriptor;

static struct entry entries[JIT_OBJECTS_MAX + 16];
static struct made_image objects[3];
static struct jit_objects list;
static unsigned n_added, n_removed;
static uint64_t added_avma, added_file_off, added_content, removed_avma;

static int add(void *context, const struct jit_objects *of, struct jit_object *object,
               struct byte_buffer *bytes)
{
        ck_assert_ptr_eq(context, &list);
        ck_assert_ptr_eq(of, &list);
        ck_assert_uint_eq(bytes->used_bytes, object->n_bytes);
        ck_assert_uint_eq(object->n_parts, 1);
        added_avma = object->parts[0].start_avma;
        added_file_off = object->parts[0].file_off;
        added_content = object->content;
        object->module = ++n_added;
        return 0;
}

static int forget(void *context, const struct jit_objects *of, const struct jit_object *object)
{
        ck_assert_ptr_eq(context, &list);
        ck_assert_ptr_eq(of, &list);
        removed_avma = object->parts[0].start_avma;
        n_removed++;
        return 0;
}

static void update(void)
{
        const struct jit_objects_sink sink = { .add = add, .remove = forget, .context = &list };

        ck_assert_int_eq(jit_objects_update(&list, &sink), 0);
}

static uint64_t address_of(const void *p)
{
        return (uint64_t)(uintptr_t)p;
}

static void chain(size_t n)
{
        for (size_t i = 0; i < n; i++)
                entries[i] = (struct entry){ .next = i + 1 < n ? address_of(&entries[i + 1]) : 0,
                                             .bytes = address_of(objects[i % 3].bytes),
                                             .n_bytes = objects[i % 3].n_bytes };
        descriptor.first = n > 0 ? address_of(&entries[0]) : 0;
}

static void setup(void)
{
        for (size_t i = 0; i < 3; i++)
                made_image_init_object(&objects[i], TEXT_AVMA + 0x1000 * i);
        memset(&descriptor, 0, sizeof(descriptor));
        descriptor.version = 1;
        n_added = 0;
        n_removed = 0;
        jit_objects_init(&list, (uint32_t)getpid(), address_of(&descriptor));
}

static void teardown(void)
{
        jit_objects_deinit(&list);
}

START_TEST(objects_come_and_go)
{
        uint64_t content;

        update();
        chain(1);
        update();
        update();
        ck_assert_uint_eq(n_added, 1);
        ck_assert_uint_eq(added_avma, TEXT_AVMA);
        ck_assert_uint_eq(added_file_off, MADE_OBJECT_TEXT_OFF);
        content = added_content;
        chain(3);
        update();
        ck_assert_uint_eq(n_added, 3);
        ck_assert_uint_eq(added_content, content); /* the same code, wherever it was loaded */
        descriptor.first = address_of(&entries[1]);
        update();
        ck_assert_uint_eq(n_removed, 1);
        ck_assert_uint_eq(removed_avma, TEXT_AVMA);
        chain(0);
        update();
        ck_assert_uint_eq(n_removed, 3);
}
END_TEST

/* The heap gives the same addresses again: entry and object lie where others lay. */
START_TEST(another_object_at_the_same_place)
{
        chain(1);
        update();
        made_image_init_object(&objects[0], TEXT_AVMA + 0x40);
        update();
        ck_assert_uint_eq(n_removed, 1);
        ck_assert_uint_eq(removed_avma, TEXT_AVMA);
        ck_assert_uint_eq(n_added, 2);
        ck_assert_uint_eq(added_avma, TEXT_AVMA + 0x40);
}
END_TEST

START_TEST(a_circle_ends)
{
        chain(3);
        entries[2].next = address_of(&entries[1]);
        update();
        update();
        ck_assert_uint_eq(n_added, 3);
        ck_assert_uint_eq(n_removed, 0);
        entries[0].next = address_of(&entries[0]);
        descriptor.action = 1;
        update();
        ck_assert_uint_eq(n_added, 3);
        ck_assert_uint_eq(n_removed, 2);
}
END_TEST

/* Entries that cannot be read, are no objects, or are too long, are passed over; those after them are not. */
START_LOOP_TEST(garbage_is_passed_over, 0, 5)
{
        static uint8_t nonsense[256];

        chain(3);
        entries[0].bytes = address_of(nonsense);
        entries[0].n_bytes = _i == 0   ? sizeof(nonsense)
                             : _i == 1 ? 0
                             : _i == 2 ? UINT64_MAX
                                       : JIT_OBJECTS_BYTES_MAX + 1;
        if (_i == 4)
                entries[0].bytes = 16; /* not mapped */
        update();
        ck_assert_uint_eq(n_added, 2);
}
END_TEST

START_TEST(every_cut_of_an_object)
{
        for (size_t n = 0; n < objects[0].n_bytes; n += 3) {
                chain(1);
                entries[0].n_bytes = n;
                update();
                ck_assert_uint_eq(n_added, 0);
        }
}
END_TEST

START_TEST(a_list_has_an_end)
{
        chain(JIT_OBJECTS_MAX + 16);
        for (unsigned i = 0; i < JIT_OBJECTS_MAX && n_added < JIT_OBJECTS_MAX; i++)
                update();
        update();
        ck_assert_uint_eq(n_added, JIT_OBJECTS_MAX);
        ck_assert_uint_eq(n_removed, 0);
}
END_TEST

/* The list is linked anew: in reverse, without every second one, and from its middle on. */
START_TEST(objects_are_known_in_any_order)
{
        enum { N = 60 };

        chain(N);
        for (int i = 0; i < N && n_added < N; i++)
                update();
        for (int i = 0; i < N; i++)
                entries[i].next = i > 0 ? address_of(&entries[i - 1]) : 0;
        descriptor.first = address_of(&entries[N - 1]);
        update();
        ck_assert_uint_eq(n_removed, 0);
        for (int i = 2; i < N; i++)
                entries[i].next = address_of(&entries[i - 2]);
        descriptor.first = address_of(&entries[N - 2]);
        entries[0].next = 0;
        update();
        ck_assert_uint_eq(n_removed, N / 2);
        entries[N / 2].next = address_of(&entries[N - 2]);
        descriptor.first = address_of(&entries[N / 2]);
        entries[N - 2].next = 0;
        update();
        ck_assert_uint_eq(n_removed, N - 2);
        ck_assert_uint_eq(n_added, N);
}
END_TEST

/* A machine on which it takes a second to pass the known ones. */
START_TEST(new_ones_take_as_long_as_the_way_to_them)
{
        const uint64_t first_ns = 5 * NS_PER_S;
        struct jit_objects_go slow = { .began_ns = first_ns - NS_PER_S }, fast = { .began_ns = first_ns };
        struct jit_objects_go many = { .began_ns = first_ns };

        ck_assert(jit_objects_go_takes(&slow, first_ns));
        ck_assert(jit_objects_go_takes(&slow, first_ns + NS_PER_S));
        ck_assert(!jit_objects_go_takes(&slow, first_ns + NS_PER_S + 1));

        ck_assert(jit_objects_go_takes(&fast, first_ns));
        ck_assert(jit_objects_go_takes(&fast, first_ns + PACE_JIT_OBJECTS_NS));
        ck_assert(!jit_objects_go_takes(&fast, first_ns + PACE_JIT_OBJECTS_NS + 1));

        for (int i = 0; i < PACE_JIT_OBJECTS; i++)
                ck_assert(jit_objects_go_takes(&many, first_ns));
        ck_assert(!jit_objects_go_takes(&many, first_ns));
}
END_TEST

START_TEST(a_lost_end_removes_nothing)
{
        chain(3);
        update();
        entries[0].next = 16;
        descriptor.action = 1;
        update();
        ck_assert_uint_eq(n_removed, 0);
        descriptor.version = 7;
        update();
        ck_assert_uint_eq(n_removed, 0);
}
END_TEST

UNIT_TEST_PLAN(.timeout_s = 120, .setup = setup, .teardown = teardown);
