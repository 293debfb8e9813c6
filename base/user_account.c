/* SPDX-License-Identifier: MIT */
#include "base/user_account.h"

#include <errno.h>
#include <grp.h>
#include <stddef.h>

bool user_account_find(struct user_account *ret_account, uid_t uid)
{
        struct passwd *found = NULL;

        return getpwuid_r(uid, &ret_account->entry, ret_account->text, sizeof(ret_account->text), &found) ==
                       0 &&
               found;
}

int user_account_take_groups(const struct user_account *account, gid_t gid)
{
        return initgroups(account->entry.pw_name, gid) < 0 ? -errno : 0;
}
