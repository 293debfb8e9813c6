/* SPDX-License-Identifier: MIT */
#include "cli/files/cache_folder.h"

#include "base/user_account.h"
#include "sampler/rights/privileges.h"
#include "sampler/tables/table_store.h"
#include "symbolize/images/index_cache.h"
#include "timeline/timeline_cache.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Heap; NULL = nowhere. */
static char *join(const char *folder, const char *name)
{
        char *path;

        return folder && folder[0] == '/' && asprintf(&path, "%s/%s", folder, name) >= 0 ? path : NULL;
}

/* @name: below the user's home */
static char *find_below_home(uid_t uid, const char *name)
{
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        const char *home = getenv("HOME");
        struct user_account account;
        struct stat status;

        if (home && stat(home, &status) == 0 && status.st_uid == uid)
                return join(home, name);
        return user_account_find(&account, uid) ? join(account.entry.pw_dir, name) : NULL;
}

static char *find_folder(uid_t uid)
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
                return join(all, "hyprof");
        return find_below_home(uid, ".cache/hyprof");
}

/* The cache, or a folder in it, and its owner. */
struct cache_place {
        char *path; /* heap; NULL = nowhere */
        uid_t uid;
        gid_t gid;
};

/* @name: of the folder in it; NULL = the cache itself */
static struct cache_place cache_place_find(const char *name)
{
        struct invoking_user user = invoking_user_read();
        struct cache_place place = { .uid = user.known ? user.uid : geteuid(),
                                     .gid = user.known ? user.gid : getegid() };
        char *folder = find_folder(place.uid);

        if (!name)
                place.path = folder;
        else if (folder && asprintf(&place.path, "%s/%s", folder, name) < 0)
                place.path = NULL;
        if (name)
                free(folder);
        return place;
}

bool cache_folder_open(struct index_cache *cache)
{
        struct cache_place place = cache_place_find(NULL);
        bool is_open = place.path && index_cache_open_for(cache, place.path, place.uid, place.gid, NULL) == 0;

        free(place.path);
        return is_open;
}

bool cache_folder_open_timeline(struct timeline_cache *cache)
{
        struct cache_place place = cache_place_find("timeline");
        bool is_open = place.path && timeline_cache_open(cache, place.path, place.uid, place.gid, NULL) == 0;

        free(place.path);
        return is_open;
}

bool cache_folder_open_tables(struct table_store *store)
{
        struct cache_place place = cache_place_find("unwind");
        bool is_open = place.path && table_store_open(store, place.path, place.uid, place.gid, NULL) == 0;

        free(place.path);
        return is_open;
}

char *cache_folder_find_boards(void)
{
        return cache_place_find("boards").path;
}

char *cache_folder_find_kept(void)
{
        struct invoking_user user = invoking_user_read();
        uid_t uid = user.known ? user.uid : geteuid();
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        const char *all = getenv("XDG_STATE_HOME");
        struct stat status;

        if (all && (stat(all, &status) == 0 ? status.st_uid == uid : !user.known))
                return join(all, "hyprof/viewer");
        return find_below_home(uid, ".local/state/hyprof/viewer");
}
