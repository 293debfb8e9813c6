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

static bool wants_path(const struct keep_policy *p, const char *path)
{
        return keep_policy_wants_path(p, path, strlen(path));
}

START_TEST(test_names)
{
        struct keep_policy p;

        ck_assert_int_eq(keep_policy_init(&p, NULL), 0);
        ck_assert(wants_path(&p, "/home/u/k.so (deleted)"));
        ck_assert(wants_path(&p, "/memfd:k (deleted)"));
        ck_assert(wants_path(&p, "/memfd:k"));
        ck_assert(wants_path(&p, "/tmp/k.so"));
        ck_assert(wants_path(&p, "/var/tmp/a/b/k.so"));
        ck_assert(wants_path(&p, "/dev/shm/k.so"));
        ck_assert(wants_path(&p, "/run/user/1000/k.so"));
        ck_assert(!wants_path(&p, ""));
        ck_assert(!wants_path(&p, "/tmp"));
        ck_assert(!wants_path(&p, "/tmpx/k.so"));
        ck_assert(!wants_path(&p, "/home/tmp/k.so"));
        ck_assert(!wants_path(&p, "/usr/lib/libc.so.6"));
        ck_assert(!wants_path(&p, "/running/k.so"));
        ck_assert(!wants_path(&p, "/home/u/k.so (deleted) not"));
        keep_policy_deinit(&p);
}
END_TEST

START_TEST(test_temporary_folder)
{
        char folder[] = "/tmp/keep_policy_XXXXXX", real[PATH_MAX], path[PATH_MAX + 8];
        struct keep_policy p;

        ck_assert_ptr_nonnull(mkdtemp(folder));
        ck_assert_ptr_nonnull(realpath("/usr/lib", real));
        (void)snprintf(path, sizeof(path), "%s/k.so", real);
        ck_assert_int_eq(keep_policy_init(&p, "/usr/lib"), 0);
        ck_assert(wants_path(&p, path));
        ck_assert(!wants_path(&p, "/usr/libexec/k"));
        keep_policy_deinit(&p);
        /* Neither the root nor what is no folder makes everything temporary. */
        ck_assert_int_eq(keep_policy_init(&p, "/"), 0);
        ck_assert(!wants_path(&p, "/usr/lib/libc.so.6"));
        keep_policy_deinit(&p);
        ck_assert_int_eq(keep_policy_init(&p, "usr"), 0);
        ck_assert(!wants_path(&p, "/usr/lib/libc.so.6"));
        keep_policy_deinit(&p);
        ck_assert_int_eq(keep_policy_init(&p, "/does/not/exist"), 0);
        ck_assert(!wants_path(&p, "/usr/lib/libc.so.6"));
        keep_policy_deinit(&p);
        (void)rmdir(folder);
}
END_TEST

static bool wants_file(const struct keep_policy *p, const char *path, const struct stat *status)
{
        return keep_policy_wants_file(p, (uint32_t)getpid(), path, strlen(path), status);
}

START_TEST(test_files)
{
        static const char path[] = "/usr/lib/libc.so.6";
        struct stat status;
        struct keep_policy p;

        ck_assert_int_eq(keep_policy_init(&p, NULL), 0);
        ck_assert_int_eq(stat("/proc/self/exe", &status), 0);
        status.st_ctim.tv_sec = 1000; /* long ago */
        ck_assert(!wants_file(&p, path, &status));
        ck_assert(wants_file(&p, "/tmp/k.so", &status));
        status.st_nlink = 0;
        ck_assert(wants_file(&p, path, &status));
        status.st_nlink = 1;
        status.st_ctim.tv_sec = p.began_ns / 1000000000 + 1; /* made while it is recorded */
        ck_assert(wants_file(&p, path, &status));
        keep_policy_deinit(&p);
}
END_TEST

START_TEST(test_other_namespace)
{
        struct stat status;
        struct keep_policy p;

        ck_assert_int_eq(keep_policy_init(&p, NULL), 0);
        ck_assert_uint_ne(p.namespace_inode, 0);
        ck_assert_int_eq(stat("/etc/passwd", &status), 0);
        status.st_ctim.tv_sec = 1000;
        p.namespace_inode++;                                /* now we are somewhere else than all processes */
        ck_assert(!wants_file(&p, "/etc/passwd", &status)); /* the same file is there for us */
        ck_assert(wants_file(&p, "/etc/group", &status));   /* another one */
        ck_assert(wants_file(&p, "/nowhere/k.so", &status));
        /* A process that is gone is not elsewhere. */
        ck_assert(!keep_policy_wants_file(&p, INT_MAX, "/nowhere/k.so", 13, &status));
        p.namespace_inode = 0; /* not known */
        ck_assert(!wants_file(&p, "/nowhere/k.so", &status));
        keep_policy_deinit(&p);
}
END_TEST

/* `chroot DIR prog`: the mount namespace is ours, the root is not. */
START_TEST(test_other_root)
{
        struct stat status;
        struct keep_policy p;

        ck_assert_int_eq(keep_policy_init(&p, NULL), 0);
        ck_assert_uint_ne(p.root_inode, 0);
        ck_assert_int_eq(stat("/etc/passwd", &status), 0);
        status.st_ctim.tv_sec = 1000;
        ck_assert(!wants_file(&p, "/etc/group", &status)); /* a name alone is no reason */
        p.root_inode++;                                    /* now all processes have another root than we */
        ck_assert(!wants_file(&p, "/etc/passwd", &status));
        ck_assert(wants_file(&p, "/etc/group", &status));
        ck_assert(wants_file(&p, "/bin/prog", &status));
        p.root_inode = 0; /* not known */
        ck_assert(!wants_file(&p, "/etc/group", &status));
        keep_policy_deinit(&p);
}
END_TEST
