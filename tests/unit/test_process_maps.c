/* SPDX-License-Identifier: MIT */
/*
 * sampler/proc/process_maps.c: each line of the kernel becomes a mapping as its records have
 * it, and nothing else does
 */
#include "sampler/proc/process_maps.h"

#include "base/error.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The mappings of a text, without a process to ask for build-ids. */
static struct process_maps maps_of(const char *text)
{
        struct process_maps maps = { .fd = -1 };

        byte_buffer_add(&maps.text, text, strlen(text));
        ck_assert(!maps.text.failed);
        return maps;
}

static void ck_path(const struct perf_mmap *m, const char *path)
{
        ck_assert_uint_eq(m->path_bytes, strlen(path));
        ck_assert_int_eq(memcmp(m->path, path, m->path_bytes), 0);
}

START_TEST(test_lines)
{
        struct process_maps maps = maps_of(
                "556f01e10000-556f01e12000 r--p 00000000 fe:01 1234                       /usr/bin/a program\n"
                "556f01e12000-556f01e15000 r-xp 00002000 103:a 4294967297 /usr/lib/x\\012y.so (deleted)\n"
                "7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n"
                "7f0000002000-7f0000003000 rw-s 00000000 00:01 7                          /memfd:hyprof-client (deleted)\n"
                "7ffd105a88000-7ffd105a8a000 r-xp 00000000 00:00 0                        [vdso]\n"
                "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n");
        struct perf_mmap m;

        ck_assert_int_eq(process_maps_next(&maps, &m), 1);
        ck_assert_uint_eq(m.start_avma, 0x556f01e10000);
        ck_assert_uint_eq(m.length_bytes, 0x2000);
        ck_assert(!m.executable);
        ck_assert(!m.is_shared);
        ck_path(&m, "/usr/bin/a program");

        ck_assert_int_eq(process_maps_next(&maps, &m), 1);
        ck_assert_uint_eq(m.start_avma, 0x556f01e12000);
        ck_assert_uint_eq(m.length_bytes, 0x3000);
        ck_assert_uint_eq(m.file_offset_bytes, 0x2000);
        ck_assert_uint_eq(m.device_major, 0x103);
        ck_assert_uint_eq(m.device_minor, 0xa);
        ck_assert_uint_eq(m.inode, UINT64_C(4294967297));
        ck_assert_uint_eq(m.build_id_bytes, 0);
        ck_assert(m.executable);
        ck_path(&m, "/usr/lib/x\ny.so (deleted)");

        ck_assert_int_eq(process_maps_next(&maps, &m), 1);
        ck_assert(m.executable);
        ck_path(&m, "//anon");
        ck_assert_int_eq(process_maps_next(&maps, &m), 1);
        ck_assert(m.is_shared);
        ck_path(&m, "/memfd:hyprof-client (deleted)");
        ck_assert_int_eq(process_maps_next(&maps, &m), 1);
        ck_path(&m, "[vdso]"); /* [vsyscall] is the kernel's */
        ck_assert_int_eq(process_maps_next(&maps, &m), 0);
        ck_assert_int_eq(process_maps_next(&maps, &m), 0);
        process_maps_close(&maps);
}
END_TEST

/* Malformed lines are passed over, and those after them are found. */
START_TEST(test_bad_lines)
{
        static const char behind[] = "\n1000-2000 r-xp 00000000 00:00 0 /behind";
        static const char *const bad[] = {
                "",
                "\n",
                "x",
                "1000",
                "1000-",
                "1000-2000",
                "1000-2000 ",
                "1000-2000 r-x",
                "2000-1000 r-xp 00000000 00:00 0 ",
                "1000-1000 r-xp 00000000 00:00 0 ",
                "-2000 r-xp 00000000 00:00 0 ",
                "10000000000000000-2000 r-xp 00000000 00:00 0 ",
                "1000-2000 r-xp",
                "1000-2000 r-xp 00000000",
                "1000-2000 r-xp 00000000 00",
                "1000-2000 r-xp 00000000 00:00",
                "1000-2000 r-xp 00000000 00:00 ",
                "1000-2000 r-xp 00000000 00:00 0",
                "1000-2000 r-xp 00000000 00:00 f /path",
                "1000-2000 r-xp 0000000g 00:00 0 /path",
                "1000 2000 r-xp 00000000 00:00 0 /path",
        };

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                struct process_maps maps = maps_of(bad[i]);
                struct perf_mmap m;

                ck_assert_msg(process_maps_next(&maps, &m) == 0, "%s", bad[i]);
                process_maps_close(&maps);

                maps = maps_of(bad[i]);
                byte_buffer_add(&maps.text, behind, sizeof(behind) - 1);
                ck_assert_int_eq(process_maps_next(&maps, &m), 1);
                ck_path(&m, "/behind");
                ck_assert_int_eq(process_maps_next(&maps, &m), 0);
                process_maps_close(&maps);
        }
}
END_TEST

START_TEST(test_own)
{
        struct error err = ERROR_NONE;
        struct process_maps maps;
        struct perf_mmap m;
        char path[4096];
        ssize_t n = readlink("/proc/self/exe", path, sizeof(path));
        uint64_t avma = (uint64_t)(uintptr_t)maps_of;
        bool found = false;

        ck_assert_msg(process_maps_open(&maps, (uint32_t)getpid(), &err) == 0, "%s", err.text);
        while (process_maps_next(&maps, &m) == 1) {
                if (avma < m.start_avma || avma - m.start_avma >= m.length_bytes)
                        continue;
                found = true;
                ck_assert(m.executable);
                ck_assert_uint_eq(m.path_bytes, (size_t)n);
                ck_assert_int_eq(memcmp(m.path, path, m.path_bytes), 0);
                /* One or the other tells which file it is. */
                ck_assert((m.build_id_bytes > 0) != (m.inode != 0));
        }
        ck_assert(found);
        process_maps_close(&maps);
        ck_assert_int_eq(process_maps_open(&maps, INT32_MAX, &err), -ESRCH);
        ck_assert(process_maps_has_code_at((uint32_t)getpid(), avma));
        ck_assert(!process_maps_has_code_at((uint32_t)getpid(), (uint64_t)(uintptr_t)&maps));
        ck_assert(!process_maps_has_code_at((uint32_t)getpid(), 0));
        ck_assert(!process_maps_has_code_at(INT32_MAX, avma));
}
END_TEST

/* Pages: writable, none, code, none.  A mapping ends before its last address. */
START_TEST(test_ends_of_mappings)
{
        static const struct {
                size_t pages;
                size_t before; /* bytes */
                bool has_code, is_writable;
        } places[] = {
                { 0, 0, false, true }, { 1, 1, false, true }, { 1, 0, false, false }, { 2, 1, false, false },
                { 2, 0, true, false }, { 3, 1, true, false }, { 3, 0, false, false },
        };
        size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
        uint32_t pid = (uint32_t)getpid();
        char *base = mmap(NULL, 4 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        ck_assert(base != MAP_FAILED);
        ck_assert_int_eq(munmap(base + page_bytes, page_bytes), 0);
        ck_assert_int_eq(munmap(base + 3 * page_bytes, page_bytes), 0);
        ck_assert_int_eq(mprotect(base + 2 * page_bytes, page_bytes, PROT_READ | PROT_EXEC), 0);
        for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
                uint64_t avma = (uint64_t)(uintptr_t)base + places[i].pages * page_bytes - places[i].before;

                ck_assert_int_eq(process_maps_has_code_at(pid, avma), places[i].has_code);
                ck_assert_int_eq(process_maps_is_writable_at(pid, avma), places[i].is_writable);
        }
        (void)munmap(base, page_bytes);
        (void)munmap(base + 2 * page_bytes, page_bytes);
}
END_TEST
