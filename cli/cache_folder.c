/* SPDX-License-Identifier: MIT */
#include "cli/cache_folder.h"

#include "symbolize/index_cache.h"

#include <pwd.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PASSWORD_BYTES 8192 /* of an entry of the user database; sysconf(3) says 1024 */

/* Heap; NULL = nowhere. */
static char *join(const char *folder, const char *name)
{
        char *path;

        return folder && folder[0] == '/' && asprintf(&path, "%s/%s", folder, name) >= 0 ? path : NULL;
}

static char *find_home_cache(void)
{
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        const char *home = getenv("HOME");
        char buffer[PASSWORD_BYTES];
        struct passwd entry, *found = NULL;
        struct stat status;

        if (home && stat(home, &status) == 0 && status.st_uid == geteuid())
                return join(home, ".cache/hyprof");
        if (getpwuid_r(geteuid(), &entry, buffer, sizeof(buffer), &found) != 0 || !found)
                return NULL;
        return join(entry.pw_dir, ".cache/hyprof");
}

static char *find_folder(void)
{
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        const char *own = getenv("HYPROF_CACHE_DIR");
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        const char *all = getenv("XDG_CACHE_HOME");
        struct stat status;
        char *path;

        if (own)
                return own[0] != '\0' && asprintf(&path, "%s", own) >= 0 ? path : NULL;
        if (all && stat(all, &status) == 0 && status.st_uid == geteuid())
                return join(all, "hyprof");
        return find_home_cache();
}

bool cache_folder_open(struct index_cache *cache)
{
        char *folder = find_folder();
        bool is_open = folder && index_cache_open(cache, folder, NULL) == 0;

        free(folder);
        return is_open;
}
