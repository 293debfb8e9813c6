/* SPDX-License-Identifier: MIT */
#include "cli/files/cache_folder.h"

#include "base/user_account.h"
#include "sampler/code/table_store.h"
#include "sampler/kernel/privileges.h"
#include "symbolize/symbols/index_cache.h"
#include "timeline/timeline_cache.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Heap; NULL = nowhere. */
static char *cache_folder_join(const char *folder, const char *name)
{
        char *path;

        return folder && folder[0] == '/' && asprintf(&path, "%s/%s", folder, name) >= 0 ? path : NULL;
}

static char *find_home_cache(uid_t uid)
{
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        const char *home = getenv("HOME");
        struct user_account account;
        struct stat status;

        if (home && stat(home, &status) == 0 && status.st_uid == uid)
                return cache_folder_join(home, ".cache/hyprof");
        return user_account_find(&account, uid) ? cache_folder_join(account.entry.pw_dir, ".cache/hyprof")
                                                : NULL;
}

static char *cache_folder_find_folder(uid_t uid)
{
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        const char *own = getenv("HYPROF_CACHE_DIR");
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        const char *all = getenv("XDG_CACHE_HOME");
        struct stat status;
        char *path;

        if (own)
                return own[0] != '\0' && asprintf(&path, "%s", own) >= 0 ? path : NULL;
        if (all && stat(all, &status) == 0 && status.st_uid == uid)
                return cache_folder_join(all, "hyprof");
        return find_home_cache(uid);
}

bool cache_folder_open(struct index_cache *cache)
{
        struct invoking_user user = invoking_user_read();
        uid_t uid = user.known ? user.uid : geteuid();
        gid_t gid = user.known ? user.gid : getegid();
        char *folder = cache_folder_find_folder(uid);
        bool is_open = folder && index_cache_open_for(cache, folder, uid, gid, NULL) == 0;

        free(folder);
        return is_open;
}

/* Heap; NULL = nowhere. */
static char *find_folder_in_it(const char *name, uid_t uid)
{
        char *folder = cache_folder_find_folder(uid), *path = NULL;

        if (folder && asprintf(&path, "%s/%s", folder, name) < 0)
                path = NULL;
        free(folder);
        return path;
}

bool cache_folder_open_timeline(struct timeline_cache *cache)
{
        struct invoking_user user = invoking_user_read();
        uid_t uid = user.known ? user.uid : geteuid();
        gid_t gid = user.known ? user.gid : getegid();
        char *folder = find_folder_in_it("timeline", uid);
        bool is_open = folder && timeline_cache_open(cache, folder, uid, gid, NULL) == 0;

        free(folder);
        return is_open;
}

bool cache_folder_open_tables(struct table_store *store)
{
        struct invoking_user user = invoking_user_read();
        uid_t uid = user.known ? user.uid : geteuid();
        gid_t gid = user.known ? user.gid : getegid();
        char *folder = find_folder_in_it("unwind", uid);
        bool is_open = folder && table_store_open(store, folder, uid, gid, NULL) == 0;

        free(folder);
        return is_open;
}
