/* SPDX-License-Identifier: MIT */
/* For static builds. */
#include "base/user_account.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>

#define GROUPS_MAX 256 /* of one user; more are left out */

bool user_account_find(struct user_account *ret_account, uid_t uid)
{
        FILE *file = fopen("/etc/passwd", "re");
        struct passwd *found = NULL;

        if (!file)
                return false;
        while (fgetpwent_r(file, &ret_account->entry, ret_account->text, sizeof(ret_account->text), &found) ==
               0) {
                if (found->pw_uid == uid)
                        break;
                found = NULL;
        }
        (void)fclose(file);
        return found != NULL;
}

static bool is_member(const struct group *group, const char *name)
{
        for (char **member = group->gr_mem; *member; member++)
                if (strcmp(*member, name) == 0)
                        return true;
        return false;
}

int user_account_take_groups(const struct user_account *account, gid_t gid)
{
        gid_t groups[GROUPS_MAX] = { gid };
        FILE *file = fopen("/etc/group", "re");
        struct group entry, *group;
        char text[USER_ACCOUNT_BYTES];
        size_t n = 1;

        while (file && n < GROUPS_MAX && fgetgrent_r(file, &entry, text, sizeof(text), &group) == 0) {
                if (group->gr_gid != gid && is_member(group, account->entry.pw_name))
                        groups[n++] = group->gr_gid;
        }
        if (file)
                (void)fclose(file);
        return setgroups(n, groups) < 0 ? -errno : 0;
}
