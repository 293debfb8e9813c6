/* SPDX-License-Identifier: MIT */
/*
 * base/user_account.h - a user's entry in the user database
 *
 * Way of the data:  user database -> [user_account] -> privileges, cache_folder, debuginfod_client
 *
 * A static build has user_account_files.c, which reads /etc/passwd and /etc/group alone: other databases come
 * by libraries that such a program cannot load.
 */
#ifndef BASE_USER_ACCOUNT_H
#define BASE_USER_ACCOUNT_H

#include <pwd.h>
#include <stdbool.h>

#define USER_ACCOUNT_BYTES 8192 /* of an entry's text; sysconf(3) says 1024 */

struct user_account {
        struct passwd entry;
        char text[USER_ACCOUNT_BYTES]; /* the entry points into it: do not copy the struct */
};

/* Returns whether there is an entry; without one @ret_account is undefined. */
bool user_account_find(struct user_account *ret_account, uid_t uid);

/* Gives this process the user's groups and @gid.  Returns 0 or -errno. */
int user_account_take_groups(const struct user_account *account, gid_t gid);

#endif /* BASE_USER_ACCOUNT_H */
