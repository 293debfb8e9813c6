/* SPDX-License-Identifier: MIT */
/*
 * view/answers/debian_package.c: the package whose list has exactly this path, with /usr or without; only for
 * files that are here
 */
#include "view/answers/debian_package.h"

#include "tests/unit/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/hyprof-lists-XXXXXX";

static void write_list(const char *name, const char *text)
{
        char path[128];
        FILE *f;

        (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
        f = fopen(path, "w");
        ck_assert_ptr_nonnull(f);
        ck_assert_int_ge(fputs(text, f), 0);
        ck_assert_int_eq(fclose(f), 0);
}

static void remove_list(const char *name)
{
        char path[128];

        (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
        ck_assert_int_eq(unlink(path), 0);
}

static const char *find(const char *path)
{
        static char name[DEBIAN_PACKAGE_NAME_BYTES];
        struct text_view text = { path, strlen(path) };

        return debian_package_find(folder, text, name) ? name : "";
}

START_TEST(test_lists)
{
        ck_assert_ptr_nonnull(mkdtemp(folder));
        write_list("others.md5sums", "/bin/sh\n");
        write_list("longer.list", "/.\n/bin/sh.old\n/usr/local/bin/sh\n/bin/sh/x\n");
        ck_assert_str_eq(find("/bin/sh"), "");
        write_list("Bad $(name).list", "/bin/sh\n");
        ck_assert_str_eq(find("/bin/sh"), "");
        write_list("dash+1.0:amd64.list", "/.\n/bin/sh\n/usr/share/doc\n");
        ck_assert_str_eq(find("/bin/sh"), "dash+1.0");
        write_list("dash+1.0:amd64.list", "/usr/bin/sh\n");
        ck_assert_str_eq(find("/bin/sh"), "dash+1.0");
        write_list("gone.list", "/no/such/file\nbin/sh\n");
        ck_assert_str_eq(find("/no/such/file"), "");
        ck_assert_str_eq(find("bin/sh"), "");
        ck_assert_str_eq(find(""), "");
        remove_list("others.md5sums");
        remove_list("longer.list");
        remove_list("Bad $(name).list");
        remove_list("dash+1.0:amd64.list");
        remove_list("gone.list");
        ck_assert_int_eq(rmdir(folder), 0);
        ck_assert_str_eq(find("/bin/sh"), ""); /* no Debian */
}
END_TEST
