/* SPDX-License-Identifier: MIT */
/*
 * sampler/keep/keep_policy.c: what may be gone later is wanted, what lies where programs are installed is not
 */
#include "sampler/keep/keep_policy.h"
#include "tests/unit/unit_test.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct keep_policy p;

static void set_up(void)
{
        UNIT_TEST_SPOIL(p);
        ck_assert_int_eq(keep_policy_init(&p, NULL), 0);
}

static void tear_down(void)
{
        keep_policy_deinit(&p);
}

static bool wants_path(const char *path)
{
        return keep_policy_wants_path(&p, path, strlen(path));
}

static const struct {
        const char *path;
        bool is_wanted;
} paths[] = {
        { "/home/u/k.so (deleted)", true },
        { "/memfd:k (deleted)", true },
        { "/memfd:k", true },
        { "/tmp/k.so", true },
        { "/var/tmp/a/b/k.so", true },
        { "/dev/shm/k.so", true },
        { "/run/user/1000/k.so", true },
        { "", false },
        { "/tmp", false },
        { "/tmpx/k.so", false },
        { "/home/tmp/k.so", false },
        { "/usr/lib/libc.so.6", false },
        { "/running/k.so", false },
        { "/home/u/k.so (deleted) not", false },
};

START_LOOP_TEST(test_names, 0, sizeof(paths) / sizeof(paths[0]))
{
        ck_assert_msg(wants_path(paths[_i].path) == paths[_i].is_wanted, "%s", paths[_i].path);
}
END_TEST

/* A temporary folder, by whatever name, or what is no folder at all. */
static void set_folder(const char *folder)
{
        keep_policy_deinit(&p);
        UNIT_TEST_SPOIL(p);
        ck_assert_int_eq(keep_policy_init(&p, folder), 0);
}

START_TEST(test_temporary_folder)
{
        /* Neither the root nor what is no folder makes everything temporary. */
        static const char *const none[] = { "/", "usr", "/does/not/exist" };
        char real[PATH_MAX], path[PATH_MAX + 8];

        ck_assert_ptr_nonnull(realpath("/usr/lib", real));
        (void)snprintf(path, sizeof(path), "%s/k.so", real);
        set_folder("/usr/lib");
        ck_assert(wants_path(path));
        ck_assert(!wants_path("/usr/libexec/k"));
        for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
                set_folder(none[i]);
                ck_assert_msg(!wants_path("/usr/lib/libc.so.6"), "%s", none[i]);
        }
}
END_TEST

static bool wants_file(const char *path, const struct stat *status)
{
        return keep_policy_wants_file(&p, (uint32_t)getpid(), path, strlen(path), status);
}

START_TEST(test_files)
{
        static const char path[] = "/usr/lib/libc.so.6";
        struct stat status;

        ck_assert_int_eq(stat("/proc/self/exe", &status), 0);
        status.st_ctim.tv_sec = 1000; /* long ago */
        ck_assert(!wants_file(path, &status));
        ck_assert(wants_file("/tmp/k.so", &status));
        status.st_nlink = 0;
        ck_assert(wants_file(path, &status));
        status.st_nlink = 1;
        status.st_ctim.tv_sec = p.began_ns / 1000000000 + 1; /* made while it is recorded */
        ck_assert(wants_file(path, &status));
}
END_TEST

START_TEST(test_other_namespace)
{
        struct stat status;

        ck_assert_uint_ne(p.namespace_inode, 0);
        ck_assert_int_eq(stat("/etc/passwd", &status), 0);
        status.st_ctim.tv_sec = 1000;
        p.namespace_inode++;                            /* now we are somewhere else than all processes */
        ck_assert(!wants_file("/etc/passwd", &status)); /* the same file is there for us */
        ck_assert(wants_file("/etc/group", &status));   /* another one */
        ck_assert(wants_file("/nowhere/k.so", &status));
        /* A process that is gone is not elsewhere. */
        ck_assert(!keep_policy_wants_file(&p, INT_MAX, "/nowhere/k.so", 13, &status));
        p.namespace_inode = 0; /* not known */
        ck_assert(!wants_file("/nowhere/k.so", &status));
}
END_TEST

/* `chroot DIR prog`: the mount namespace is ours, the root is not. */
START_TEST(test_other_root)
{
        struct stat status;

        ck_assert_uint_ne(p.root_inode, 0);
        ck_assert_int_eq(stat("/etc/passwd", &status), 0);
        status.st_ctim.tv_sec = 1000;
        ck_assert(!wants_file("/etc/group", &status)); /* a name alone is no reason */
        p.root_inode++;                                /* now all processes have another root than we */
        ck_assert(!wants_file("/etc/passwd", &status));
        ck_assert(wants_file("/etc/group", &status));
        ck_assert(wants_file("/bin/prog", &status));
        p.root_inode = 0; /* not known */
        ck_assert(!wants_file("/etc/group", &status));
}
END_TEST

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
