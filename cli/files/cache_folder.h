/* SPDX-License-Identifier: MIT */
/*
 * cli/files/cache_folder.h - the folder where indexes of debug information are kept for the next time
 *
 * Way of the data:  environment -> [cache_folder] -> index_cache
 *
 * $HYPROF_CACHE_DIR (empty: nowhere), else $XDG_CACHE_HOME/hyprof, else ~/.cache/hyprof, of the process's
 * user, and under sudo of the invoking user: a home of another user is not used.
 */
#ifndef CLI_FILES_CACHE_FOLDER_H
#define CLI_FILES_CACHE_FOLDER_H

#include <stdbool.h>

struct index_cache;

/* Returns whether there is a cache; without one, or if it cannot be used, everything is made anew. */
bool cache_folder_open(struct index_cache *cache);

#endif /* CLI_FILES_CACHE_FOLDER_H */
