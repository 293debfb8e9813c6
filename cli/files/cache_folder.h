/* SPDX-License-Identifier: MIT */
/*
 * cli/files/cache_folder.h - the folders where indexes of debug information and of time lines, and unwind
 * tables, are kept for the next time
 *
 * Way of the data:  environment -> [cache_folder] -> index_cache, timeline_cache, table_store, host_board
 *
 * $HYPROF_CACHE_DIR (empty: nowhere), else $XDG_CACHE_HOME/hyprof, else ~/.cache/hyprof, of the process's
 * user, and under sudo of the invoking user: a home of another user is not used.
 */
#ifndef CLI_FILES_CACHE_FOLDER_H
#define CLI_FILES_CACHE_FOLDER_H

#include <stdbool.h>

struct index_cache;
struct table_store;
struct timeline_cache;

/* Returns whether there is a cache; without one, or if it cannot be used, everything is made anew. */
bool cache_folder_open(struct index_cache *cache);

/* The same of the folder "timeline" in it. */
bool cache_folder_open_timeline(struct timeline_cache *cache);

/*
 * cache_folder_find_kept() - the folder where the viewer keeps notes and pins; it need not exist
 * $XDG_STATE_HOME/hyprof/viewer, else ~/.local/state/hyprof/viewer: not the cache, as notes cannot be made
 * again.  Heap; NULL = nowhere.
 */
char *cache_folder_find_kept(void);

/* The folder "boards" in it; it need not exist.  Heap; NULL = nowhere. */
char *cache_folder_find_boards(void);

/* The same of the folder "unwind" in it. */
bool cache_folder_open_tables(struct table_store *store);

#endif /* CLI_FILES_CACHE_FOLDER_H */
