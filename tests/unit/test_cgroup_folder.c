/* SPDX-License-Identifier: MIT */
/*
 * sampler/proc/cgroup_folder.c: the mount of cgroup2 is found in what the kernel lists,
 * whatever is in its path, and the group of a process in both versions
 */
#include "base/error.h"
#include "sampler/proc/cgroup_folder.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdio.h>

#define V1 "36 31 0:33 / /sys/fs/cgroup/freezer rw,relatime - cgroup cgroup rw,freezer\n"

static const struct {
        const char *text, *path, *root;
} mounts[] = {
        { "38 31 0:35 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "/sys/fs/cgroup", "/" },
        { V1 "38 31 0:35 / /sys/fs/cgroup/unified rw shared:4 master:1 - cgroup2 cgroup2 rw,nsdelegate",
          "/sys/fs/cgroup/unified", "/" },
        { "38 31 0:35 /docker/12ab /sys/fs/cgroup ro - cgroup2 none rw\n", "/sys/fs/cgroup", "/docker/12ab" },
        { "38 31 0:35 / /a\\040b\\134c rw - cgroup2 x rw\n38 31 0:35 / /second rw - cgroup2 x rw\n",
          "/a b\\c", "/" },
};

/* loop test */
START_LOOP_TEST(test_mount, 0, sizeof(mounts) / sizeof(mounts[0]))
{
        struct cgroup_mount mount;

        ck_assert_int_eq(cgroup_mount_parse(&mount, mounts[_i].text), 0);
        ck_assert_str_eq(mount.path, mounts[_i].path);
        ck_assert_str_eq(mount.root, mounts[_i].root);
}
END_TEST

static const char *const none[] = {
        "",
        "\n\n",
        V1,
        " - cgroup2 ",
        "38 31 - cgroup2 x rw\n",
        "38 31 0:35 /sys/fs/cgroup2 /cgroup2 rw - tmpfs cgroup2 rw\n",
};

/* loop test */
START_LOOP_TEST(test_no_mount, 0, sizeof(none) / sizeof(none[0]))
{
        struct cgroup_mount mount;

        ck_assert_int_eq(cgroup_mount_parse(&mount, none[_i]), -ENOENT);
}
END_TEST

/* The hierarchy of cgroup v1 that limits memory. */
START_TEST(test_memory_mount)
{
        struct cgroup_mount mount;

        ck_assert_int_eq(
                cgroup_mount_parse_v1(&mount, "memory",
                                      "34 31 0:31 / /sys/fs/cgroup/memory rw - cgroup memory rw,cpu\n"
                                      "38 31 0:35 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,memory\n"
                                      "36 31 0:33 /box /v1\\040memory rw - cgroup x rw,hugetlb,memory\n"),
                0);
        ck_assert_str_eq(mount.path, "/v1 memory");
        ck_assert_str_eq(mount.root, "/box");
        ck_assert_int_eq(cgroup_mount_parse_v1(&mount, "memory",
                                               "36 31 0:33 / /memory rw - cgroup x rw,memoryx,xmemory\n"),
                         -ENOENT);
}
END_TEST

#define TWO  "9:name=systemd:/\n4:cpuset,cpu,cpuacct:/a\n3:cpuset:/wrong\n0::/b/c\n"
#define BOTH "9:name=systemd:/s\n4:cpu,memory:/of v1\n3:memoryx:/x\n0::/of v2\n"

static const struct {
        const char *root, *text, *folder;
        const char *controller;
} folders[] = {
        { "/", TWO, "/mnt/a", "cpu" },
        { "/", TWO, "/mnt/b/c", NULL },
        { "/b", TWO, "/mnt/c", NULL },
        { "/", "0::/\n", "/mnt", NULL },
        { "/box", "0::/box\n", "/mnt", NULL },
        { "/", "1:cpu:/\n0::/x\n", "/mnt", "cpu" },
        { "/", "1:cpuset:/x\n2:xcpu,cpux:/y\n", NULL, "cpu" },
        { "/other", TWO, NULL, NULL },
        { "/", "0::/../outside\n", NULL, NULL },
        { "/", "1:cpu:/x\n", NULL, NULL },
        { "/", "", NULL, NULL },
        { "/", "garbage\n:\n", NULL, "cpu" },
        { "/", BOTH, "/mnt/of v1", "memory" },
        { "/", BOTH, "/mnt/of v2", NULL },
        { "/", "0::/a\n", "/mnt/a", NULL },
        { "/", "0::/a\n", NULL, "memory" },
        { "/", "4:memory:/a\n", NULL, NULL },
        { "/", "3:mem:/a\n2:xmemory:/b\n1:memory:/c\n", "/mnt/c", "memory" },
        { "/", "4:memory\n::\n:\n\n", NULL, "memory" },
};

START_LOOP_TEST(test_folder, 0, sizeof(folders) / sizeof(folders[0]))
{
        struct cgroup_mount mount = { .controller = folders[_i].controller, .path = "/mnt" };
        char path[PATH_MAX] = "";
        bool found;

        (void)snprintf(mount.root, sizeof(mount.root), "%s", folders[_i].root);
        found = cgroup_mount_parse_folder(&mount, folders[_i].text, path);
        ck_assert(found == (folders[_i].folder != NULL));
        if (found)
                ck_assert_str_eq(path, folders[_i].folder);
}
END_TEST

START_TEST(test_no_folder)
{
        struct error err = ERROR_NONE;
        char path[PATH_MAX];

        ck_assert_int_lt(cgroup_folder_open("/no/such/cgroup", path, &err), 0);
        ck_assert_str_ne(err.text, "");
}
END_TEST
