/* SPDX-License-Identifier: MIT */
/*
 * cli/files/cache_folder.h - where what was made of debug information is kept for the next time
 *
 * Way of the data:  environment -> [cache_folder] -> index_cache
 *
 * $HYPROF_CACHE_DIR (empty: nowhere), else $XDG_CACHE_HOME/hyprof, else
 * ~/.cache/hyprof, of the user that the process is, and under sudo of who called
 * it: a home that belongs to somebody else is not used.
 */
#ifndef CLI_FILES_CACHE_FOLDER_H
#define CLI_FILES_CACHE_FOLDER_H

#include <stdbool.h>

struct index_cache;

/* Returns whether there is a cache; without one, or if it cannot be used, everything is made anew. */
bool cache_folder_open(struct index_cache *cache);

#endif /* CLI_FILES_CACHE_FOLDER_H */
