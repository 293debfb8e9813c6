/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/name_table.c: one content is one entry: among a million, between threads,
 * in handlers and children
 */
#include "instrument/client/name_table.h"

#include "instrument/client/client.h"
#include "instrument/client_abi.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_THREADS      4
#define N_THREAD_NAMES 20000
#define N_MANY         1048577

static struct name_entry *add_name(const char *name)
{
        return name_table_add(&(struct name_key){ .name = name, .name_bytes = strlen(name) });
}

static struct name_entry *add_number(const char *what, unsigned number)
{
        char name[48];

        (void)snprintf(name, sizeof(name), "%s %u", what, number);
        return add_name(name);
}

static bool is_string(uint64_t packed, const char *string, size_t n)
{
        uint64_t at = packed & ((UINT64_C(1) << CLIENT_ABI_STRING_OFFSET_BITS) - 1);

        return packed >> CLIENT_ABI_STRING_OFFSET_BITS == n &&
               memcmp(client_self.region.strings + at, string, n) == 0;
}

static const struct client_abi_location *in_region(const struct name_entry *entry)
{
        return &client_self.region.locations[entry->location.id - 1];
}

static bool is_named(const struct name_entry *entry, const char *name)
{
        return entry->location.id >= 1 && entry->location.id <= client_self.region.header->n_locations &&
               is_string(in_region(entry)->name, name, strlen(name));
}

START_TEST(test_every_field_counts)
{
        static const char text[] = "abcd";
        const struct name_key key = {
                .name = "ab",
                .function = "cd",
                .file = "ef",
                .name_bytes = 2,
                .function_bytes = 2,
                .file_bytes = 2,
                .line = 1,
                .color = 2,
                .identity = text,
        };
        struct name_key other[9];
        struct name_entry *entry = name_table_add(&key);
        const struct client_abi_location *l = in_region(entry);
        uint32_t n_before = client_self.region.header->n_locations;

        ck_assert_ptr_eq(name_table_add(&key), entry);
        ck_assert(is_string(l->name, "ab", 2));
        ck_assert(is_string(l->function, "cd", 2));
        ck_assert(is_string(l->file, "ef", 2));
        ck_assert_uint_eq(l->line, 1);
        ck_assert_uint_eq(l->color, 2);
        ck_assert_uint_eq(l->ready, 1);
        ck_assert_uint_eq(entry->zone_top, 0);

        for (size_t i = 0; i < 9; i++)
                other[i] = key;
        other[0].name = "aB";
        other[1].function = "cD";
        other[2].file = "eF";
        other[3].line = 2;
        other[4].color = 1;
        other[5].identity = text + 1;
        other[6].name = "abc", other[6].name_bytes = 3, other[6].function = "d", other[6].function_bytes = 1;
        other[7].name = NULL, other[7].function = "abcd", other[7].function_bytes = 4;
        other[8].file = NULL;
        for (size_t i = 0; i < 9; i++) {
                struct name_entry *e = name_table_add(&other[i]);

                ck_assert_ptr_ne(e, entry);
                ck_assert_ptr_eq(name_table_add(&other[i]), e);
                for (size_t k = 0; k < i; k++)
                        ck_assert_ptr_ne(name_table_add(&other[k]), e);
        }
        ck_assert_uint_eq(client_self.region.header->n_locations, n_before + 9);
        /* Without a name the function's is shown, and what is NULL is as good as empty. */
        ck_assert(is_named(name_table_add(&other[7]), "abcd"));
        other[7].name = "", other[7].name_bytes = 0;
        other[8].file_bytes = 0;
        ck_assert(is_named(name_table_add(&other[7]), "abcd"));
        (void)name_table_add(&other[8]);
        ck_assert_uint_eq(client_self.region.header->n_locations, n_before + 9);
}
END_TEST

/* Texts of all lengths about a few words, which differ in one byte alone. */
START_TEST(test_every_byte_counts)
{
        static struct name_entry *entries[64][64];
        char name[64];
        uint32_t n_before;

        (void)add_name("the first, which also makes the entry for too many");
        n_before = client_self.region.header->n_locations;
        for (int round = 0; round < 2; round++)
                for (size_t n = 1; n < 64; n++)
                        for (size_t i = 0; i < n; i++) {
                                struct name_entry *e;

                                memset(name, 'x', n);
                                name[i] = 'y';
                                e = name_table_add(&(struct name_key){ .name = name, .name_bytes = n });
                                if (round == 0)
                                        entries[n][i] = e;
                                ck_assert_ptr_eq(e, entries[n][i]);
                        }
        ck_assert_uint_eq(client_self.region.header->n_locations, n_before + 63 * 64 / 2);
}
END_TEST

START_TEST(test_long_strings_are_cut)
{
        size_t n = CLIENT_ABI_STRING_BYTES_MAX;
        char *text = malloc(n + 1);
        struct name_entry *entry;

        ck_assert_ptr_nonnull(text);
        memset(text, 'l', n + 1);
        entry = name_table_add(&(struct name_key){ .name = text, .name_bytes = n });
        ck_assert(is_string(in_region(entry)->name, text, n));
        ck_assert_ptr_eq(name_table_add(&(struct name_key){ .name = text, .name_bytes = n + 1 }), entry);
        ck_assert_ptr_ne(name_table_add(&(struct name_key){ .name = text, .name_bytes = n - 1 }), entry);
        free(text);
}
END_TEST

struct worker {
        pthread_t thread;
        unsigned stride;
        struct name_entry *entries[N_THREAD_NAMES];
};

static void *run_worker(void *arg)
{
        struct worker *w = arg;
        unsigned number = 0;

        for (size_t i = 0; i < N_THREAD_NAMES; i++) {
                number = (number + w->stride) % N_THREAD_NAMES;
                w->entries[number] = add_number("thread", number);
        }
        return NULL;
}

/* Each thread adds the same names in an order of its own; all of them get the same entries. */
START_TEST(test_threads_agree)
{
        static const unsigned strides[N_THREADS] = { 1, 1, 7, 7919 };
        struct worker *workers = calloc(N_THREADS, sizeof(*workers));
        size_t n_named = 0, n_agreed = 0;

        ck_assert_ptr_nonnull(workers);
        for (size_t i = 0; i < N_THREADS; i++) {
                workers[i].stride = strides[i];
                ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]), 0);
        }
        for (size_t i = 0; i < N_THREADS; i++)
                ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
        for (unsigned n = 0; n < N_THREAD_NAMES; n++) {
                char name[48];

                (void)snprintf(name, sizeof(name), "thread %u", n);
                n_named += is_named(workers[0].entries[n], name);
                for (size_t i = 1; i < N_THREADS; i++)
                        n_agreed += workers[i].entries[n] == workers[0].entries[n];
        }
        ck_assert_uint_eq(n_named, N_THREAD_NAMES);
        ck_assert_uint_eq(n_agreed, (N_THREADS - 1) * N_THREAD_NAMES);
        free(workers);
}
END_TEST

START_TEST(test_a_million_names)
{
        struct name_entry **entries = calloc(N_MANY, sizeof(struct name_entry *));
        size_t n_found = 0;
        uint32_t n_before = client_self.region.header->n_locations;

        ck_assert_ptr_nonnull(entries);
        for (unsigned n = 0; n < N_MANY; n++)
                entries[n] = add_number("many", n);
        ck_assert_uint_ge(client_self.region.header->n_locations, n_before + N_MANY);
        for (unsigned n = 0; n < N_MANY; n++)
                n_found += add_number("many", n) == entries[n];
        ck_assert_uint_eq(n_found, N_MANY);
        ck_assert_uint_le(client_self.region.header->n_locations, n_before + N_MANY + 1);
        ck_assert(is_named(entries[0], "many 0"));
        ck_assert(is_named(entries[N_MANY - 1], "many 1048576"));
        free(entries);
}
END_TEST

/* The exit status of a child: it knows its parent's names under the same numbers, in a region of its own. */
static int look_in_child(const struct name_entry *entry, const struct client_abi_header *parents)
{
        const struct name_entry *fresh;

        if (client_self.region.header == parents)
                return 1;
        if (add_name("before the fork") != entry || !is_named(entry, "before the fork"))
                return 2;
        fresh = add_name("in the child");
        return fresh->location.id > entry->location.id && is_named(fresh, "in the child") ? 0 : 3;
}

START_TEST(test_fork)
{
        struct name_entry *entry = add_name("before the fork");
        const struct client_abi_header *header = client_self.region.header;
        uint32_t n_before = header->n_locations;
        int status;
        pid_t child = fork();

        ck_assert_int_ge(child, 0);
        if (child == 0)
                _exit(look_in_child(entry, header));
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
        ck_assert_uint_eq(header->n_locations, n_before);
        ck_assert_ptr_eq(add_name("before the fork"), entry);
        ck_assert(is_named(add_name("in the parent"), "in the parent"));
}
END_TEST

/* Numbers or bytes for strings have run out: one entry for all, and what was known before is still found. */
START_TEST(test_full)
{
        struct client_abi_header *header = client_self.region.header;
        struct name_entry *known = add_name("known");
        uint32_t n = header->n_locations;
        uint64_t strings_bytes = header->strings_used_bytes;
        struct name_entry *too_many;

        errno = E2BIG;
        header->n_locations = REGION_MEMORY_LOCATIONS_MAX;
        too_many = add_name("one too many");
        ck_assert_ptr_eq(add_name("two too many"), too_many);
        ck_assert_ptr_eq(add_name("known"), known);
        header->n_locations = n;

        header->strings_used_bytes = REGION_MEMORY_STRINGS_BYTES;
        ck_assert_ptr_eq(add_name("three too many"), too_many);
        header->strings_used_bytes = UINT64_MAX; /* a recorder's joke */
        ck_assert_ptr_eq(add_name("four too many"), too_many);
        header->strings_used_bytes = strings_bytes;

        ck_assert(is_named(too_many, "(too many locations)"));
        ck_assert_ptr_ne(add_name("one too many"), too_many);
        ck_assert_int_eq(errno, E2BIG);
}
END_TEST

START_TEST(test_location_of)
{
        struct client_abi_header *header = client_self.region.header;
        struct hyprof_location *a, *b;

        ck_assert_ptr_null(hyprof_location_of("n", 1, "f", 1, "file", 4, 7, 8));
        header->control_word = UINT32_C(1) << CLIENT_ABI_SESSION_SHIFT | CLIENT_ABI_FAMILIES;
        a = hyprof_location_of("n", 1, "f", 1, "file", 4, 7, 8);
        b = hyprof_location_of("n", 1, "f", 1, "file", 4, 7, 8);
        ck_assert_ptr_nonnull(a);
        ck_assert_ptr_eq(a, b);
        ck_assert_uint_ne(a->id, 0);
        ck_assert_uint_eq(a->line, 7);
        ck_assert_uint_eq(a->color, 8);
        ck_assert_ptr_eq(hyprof_name_of("n"), &add_name("n")->location);
        ck_assert_ptr_nonnull(hyprof_name_of(NULL));
        header->control_word &= ~CLIENT_ABI_FAMILIES;
}
END_TEST

#define TEXT_BYTES_MAX 26

/* hyprof_location_of(), and that it is the entry that is found by a hash of all of it. */
static struct hyprof_location *locate(const struct name_key *key)
{
        struct hyprof_location *found = hyprof_location_of(key->name, key->name_bytes, key->function,
                                                           key->function_bytes, key->file, key->file_bytes,
                                                           key->line, key->color);

        ck_assert_ptr_eq(found, &name_table_add(key)->location);
        return found;
}

/*
 * One that was asked for before is found again by its texts alone: any other byte, length or
 * number is another one.
 */
START_TEST(test_location_of_again)
{
        char texts[3][TEXT_BYTES_MAX + 1] = { "abcdefghijklmnopqrstuvwxyz", "bcdefghijklmnopqrstuvwxyza",
                                              "cdefghijklmnopqrstuvwxyzab" };
        struct name_key key = {
                .name = texts[0], .function = texts[1], .file = texts[2], .line = 7, .color = 8
        };
        size_t *lengths[] = { &key.name_bytes, &key.function_bytes, &key.file_bytes };
        uint32_t *numbers[] = { &key.line, &key.color };

        client_self.region.header->control_word = UINT32_C(1) << CLIENT_ABI_SESSION_SHIFT |
                                                  CLIENT_ABI_FAMILIES;
        key.function_bytes = key.file_bytes = 3;
        for (size_t which = 0; which < 3; which++)
                for (*lengths[which] = 0; *lengths[which] < TEXT_BYTES_MAX; ++*lengths[which]) {
                        struct hyprof_location *first = locate(&key);

                        ck_assert_ptr_eq(locate(&key), first);
                        for (size_t at = 0; at < *lengths[which]; at++) {
                                texts[which][at] ^= 1;
                                ck_assert_ptr_ne(locate(&key), first);
                                texts[which][at] ^= 1;
                        }
                        for (size_t i = 0; i < 2; i++) {
                                ++*numbers[i];
                                ck_assert_ptr_ne(locate(&key), first);
                                --*numbers[i];
                        }
                        ck_assert_ptr_eq(locate(&key), first);
                }
        client_self.region.header->control_word &= ~CLIENT_ABI_FAMILIES;
}
END_TEST

/*
 * The same bytes, otherwise divided; lengths that would run over into each other; texts that are not there.
 */
START_TEST(test_location_of_divided)
{
        static char text[CLIENT_ABI_STRING_BYTES_MAX + 16];
        struct name_key key = {
                .name = text, .function = text, .file = text, .name_bytes = 5, .function_bytes = 1
        };
        struct hyprof_location *first;

        client_self.region.header->control_word = UINT32_C(1) << CLIENT_ABI_SESSION_SHIFT |
                                                  CLIENT_ABI_FAMILIES;
        memset(text, 'x', sizeof(text));
        first = locate(&key);
        key.name_bytes = (size_t)CLIENT_ABI_STRING_BYTES_MAX + 1 + 5;
        key.function_bytes = 0;
        ck_assert_ptr_ne(locate(&key), first);
        key.name_bytes = 4;
        key.function_bytes = 2;
        ck_assert_ptr_ne(locate(&key), first);
        key.name_bytes = 5;
        key.function_bytes = 1;
        ck_assert_ptr_eq(locate(&key), first);
        key.function = NULL;
        ck_assert_ptr_ne(locate(&key), first);
        key.name = NULL;
        (void)locate(&key);
        (void)locate(&key);
        client_self.region.header->control_word &= ~CLIENT_ABI_FAMILIES;
}
END_TEST

/* ThreadSanitizer's own code must not be interrupted like this. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define TRAP_FLAG UINT64_C(0x100)

static volatile sig_atomic_t n_instructions;
static volatile sig_atomic_t handle_after;
static struct name_key interrupted;
static struct name_entry *found_by_handler;

static void handle_trap(int signal)
{
        (void)signal;
        if (n_instructions++ == handle_after)
                found_by_handler = name_table_add(&interrupted);
}

/* Adds a new name; after instruction number @after a handler adds it as well. */
static void add_interrupted(int after)
{
        struct name_entry *entry;
        char name[48];

        (void)snprintf(name, sizeof(name), "interrupted %d", after);
        interrupted = (struct name_key){ .name = name, .name_bytes = strlen(name) };
        found_by_handler = NULL;
        n_instructions = 0;
        handle_after = after;
        __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | TRAP_FLAG);
        entry = name_table_add(&interrupted);
        __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~TRAP_FLAG);
        ck_assert(n_instructions <= after || found_by_handler == entry);
        ck_assert_ptr_eq(name_table_add(&interrupted), entry);
}

/* After each instruction; after some of them where a sanitizer makes them thousands. */
START_TEST(test_handler_after_each_instruction)
{
        struct sigaction action = { .sa_handler = handle_trap };
        int n;

        ck_assert_int_eq(sigaction(SIGTRAP, &action, NULL), 0);
        add_interrupted(0);
        add_interrupted(1);
        n = n_instructions;
        ck_assert_int_gt(n, 100);
        for (int after = 2; after <= n; after += 1 + n / 1000 * 4)
                add_interrupted(after);
}
END_TEST
#endif
