/* SPDX-License-Identifier: MIT */
/* An object of a JIT counts while it is in the list and its memory is executable, and not before. */
#include "base/clock.h"
#include "sampler/jit/jit_lists.h"
#include "sampler/jit/jit_objects.h"
#include "tests/unit/made_image.h"
#include "tests/unit/unit_test.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MEMORY_BYTES 4096

static struct {
        uint64_t next, previous;
        uint64_t bytes;
        uint64_t n_bytes;
} entry;

static struct {
        uint32_t version, action;
        uint64_t relevant, first;
} descriptor;

static struct made_image image;
static struct jit_lists lists;
static void *memory;
static unsigned n_added, n_seen, n_removed;
static uint64_t seen_ns, known_ns;

static uint64_t address_of(const void *p)
{
        return (uint64_t)(uintptr_t)p;
}

static int add(void *context, uint32_t pid, struct jit_object *object, struct byte_buffer *bytes)
{
        ck_assert_ptr_eq(context, &lists);
        ck_assert_uint_eq(pid, (uint32_t)getpid());
        ck_assert_ptr_nonnull(bytes);
        object->module = ++n_added;
        return 0;
}

static int see(void *context, uint32_t pid, const struct jit_object *object, uint64_t at_ns)
{
        ck_assert_ptr_eq(context, &lists);
        ck_assert_uint_eq(pid, (uint32_t)getpid());
        ck_assert_uint_eq(object->module, n_added);
        ck_assert_uint_eq(object->parts[0].start_avma, address_of(memory));
        n_seen++;
        seen_ns = at_ns;
        return 0;
}

static int forget(void *context, uint32_t pid, const struct jit_object *object, uint64_t at_ns)
{
        ck_assert_ptr_eq(context, &lists);
        ck_assert_uint_eq(pid, (uint32_t)getpid());
        ck_assert_uint_eq(object->module, n_added);
        n_removed++;
        known_ns = at_ns;
        return 0;
}

static void update(const struct jit_lists_place *place)
{
        const struct jit_lists_sink sink = { .add = add, .see = see, .remove = forget, .context = &lists };

        ck_assert_int_eq(jit_lists_update(&lists, place, &sink), 0);
}

static void protect(int protection)
{
        ck_assert_int_eq(mprotect(memory, MEMORY_BYTES, protection), 0);
}

static void setup(void)
{
        memory = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ck_assert_ptr_ne(memory, MAP_FAILED);
        made_image_init_object(&image, address_of(memory));
        entry.bytes = address_of(image.bytes);
        entry.n_bytes = image.n_bytes;
        descriptor.version = 1;
        descriptor.first = address_of(&entry);
        n_added = 0;
        n_seen = 0;
        n_removed = 0;
        ck_assert_int_eq(jit_lists_follow(&lists, (uint32_t)getpid(), address_of(&descriptor)), 0);
}

static void teardown(void)
{
        jit_lists_deinit(&lists);
        (void)munmap(memory, MEMORY_BYTES);
}

START_TEST(it_counts_when_it_is_code)
{
        uint64_t before_ns = clock_raw_ns();

        update(NULL);
        ck_assert_uint_eq(n_added, 1);
        ck_assert_uint_eq(n_seen, 0);
        protect(PROT_READ | PROT_EXEC);
        update(NULL);
        ck_assert_uint_eq(n_added, 1);
        ck_assert_uint_eq(n_seen, 1);
        ck_assert_uint_gt(seen_ns, before_ns);
        ck_assert_uint_le(seen_ns, clock_raw_ns());
        update(NULL); /* that is known */
        ck_assert_uint_eq(n_seen, 1);
}
END_TEST

START_TEST(it_counts_anew_where_memory_was_made_executable)
{
        struct jit_lists_place place = { .pid = (uint32_t)getpid(),
                                         .start_avma = address_of(memory) + MEMORY_BYTES,
                                         .end_avma = address_of(memory) + 2 * MEMORY_BYTES };

        protect(PROT_READ | PROT_EXEC);
        update(NULL);
        update(&place); /* beside it */
        ck_assert_uint_eq(n_seen, 1);
        place.start_avma -= MEMORY_BYTES;
        update(&place);
        ck_assert_uint_eq(n_seen, 2);
        protect(PROT_READ | PROT_WRITE);
        update(&place); /* no more */
        ck_assert_uint_eq(n_seen, 2);
        place.pid++;
        protect(PROT_READ | PROT_EXEC);
        update(&place); /* another process's */
        ck_assert_uint_eq(n_seen, 2);
}
END_TEST

START_TEST(it_is_gone_since_it_was_known)
{
        uint64_t after_ns;

        protect(PROT_READ | PROT_EXEC);
        update(NULL);
        after_ns = clock_raw_ns();
        descriptor.first = 0;
        update(NULL);
        ck_assert_uint_eq(n_removed, 1);
        ck_assert_uint_gt(known_ns, 0);
        ck_assert_uint_le(known_ns, after_ns);
}
END_TEST

START_TEST(lists_of_others_are_forgotten)
{
        ck_assert(jit_lists_has(&lists, (uint32_t)getpid()));
        jit_lists_forget(&lists, (uint32_t)getpid());
        ck_assert(!jit_lists_has(&lists, (uint32_t)getpid()));
        update(NULL);
        ck_assert_uint_eq(n_added, 0);
        for (uint32_t i = 0; i < JIT_LISTS_MAX + 1; i++)
                ck_assert_int_eq(jit_lists_follow(&lists, 1, i), 0);
        ck_assert_uint_eq(lists.n_lists, JIT_LISTS_MAX);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
