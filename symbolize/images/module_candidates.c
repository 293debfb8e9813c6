/* SPDX-License-Identifier: MIT */
#include "symbolize/images/module_candidates.h"

#include "base/mapped_path.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "symbolize/debug/symbol_search.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES_MAX   4096
#define ID_BYTES_MAX     64
#define SYSTEM_DEBUG_DIR "/usr/lib/debug"

static const struct symbol_search no_search;

/* The kinds of names below one folder, in their order. */
enum name_kind {
        NAME_BUILD_ID,
        NAME_BUILD_ID_DEBUG,
        NAME_PATH,
        NAME_LAST_PART,
        NAME_PATH_DEBUG,
        NAME_LAST_PART_DEBUG,
        NAME_KIND_COUNT
};

static bool has_parent_part(const char *path)
{
        const char *at = path;

        while ((at = strstr(at, "/..")))
                if (at[3] == '/' || at[3] == '\0')
                        return true;
                else
                        at += 3;
        return false;
}

/*
 * "//anon" and "[heap]" are not files.  A NUL would cut the path off to that of another file, and a ".."
 * could lead out of the folder that the path is appended to.  Returns 0 or -ENOMEM.
 */
static int take_path(struct module_candidates *c, const char *text, size_t n_bytes)
{
        n_bytes = mapped_path_count(text, n_bytes);
        if (n_bytes < 2 || n_bytes > PATH_BYTES_MAX || text[0] != '/' || text[1] == '/' ||
            memchr(text, '\0', n_bytes))
                return 0;
        c->module_path = strndup(text, n_bytes);
        if (!c->module_path)
                return -ENOMEM;
        if (has_parent_part(c->module_path)) {
                free(c->module_path);
                c->module_path = NULL;
        }
        return 0;
}

static int take_build_id(struct module_candidates *c, const uint8_t *bytes, size_t n_bytes)
{
        char *at;

        if (n_bytes < 2 || n_bytes > ID_BYTES_MAX)
                return 0;
        at = c->build_id = malloc(2 * n_bytes + 2);
        if (!at)
                return -ENOMEM;
        for (size_t i = 0; i < n_bytes; i++)
                at += sprintf(at, i == 0 ? "%02x/" : "%02x", bytes[i]);
        return 0;
}

int module_candidates_init(struct module_candidates *c, const struct trace_dictionary *dictionary,
                           const struct trace_module *module, const struct symbol_search *search)
{
        size_t path_bytes, id_bytes;
        const char *path = trace_dictionary_string(dictionary, module->path, &path_bytes);
        const char *id = trace_dictionary_string(dictionary, module->build_id, &id_bytes);
        int r = 0;

        *c = (struct module_candidates){ .search = search ? search : &no_search };
        if (module->kind == TRACE_MODULE_FILE)
                r = take_path(c, path, path_bytes);
        if (r == 0)
                r = take_build_id(c, (const uint8_t *)id, id_bytes);
        if (r < 0)
                module_candidates_deinit(c);
        return r;
}

void module_candidates_deinit(struct module_candidates *c)
{
        free(c->module_path);
        free(c->build_id);
        free(c->path);
        if (c->folder)
                (void)closedir(c->folder);
        *c = (struct module_candidates){ .search = NULL };
}

/* Returns 1, or 0 if there is no such name, or -ENOMEM. */
static int make_name(struct module_candidates *c, const char *folder, enum name_kind kind)
{
        const char *path = c->module_path;
        bool by_id = kind == NAME_BUILD_ID || kind == NAME_BUILD_ID_DEBUG;
        bool debug = kind == NAME_BUILD_ID_DEBUG || kind == NAME_PATH_DEBUG || kind == NAME_LAST_PART_DEBUG;
        int n;

        if (by_id ? !c->build_id : !path)
                return 0;
        if (kind == NAME_LAST_PART || kind == NAME_LAST_PART_DEBUG)
                path = strrchr(path, '/');
        n = asprintf(&c->path, "%s%s%s%s", folder, by_id ? "/.build-id/" : "", by_id ? c->build_id : path,
                     debug ? ".debug" : "");
        if (n < 0)
                c->path = NULL;
        return n < 0 ? -ENOMEM : 1;
}

/* Places after the given folders: below the root, at its own place, the machine's debug files. */
static int make_own_name(struct module_candidates *c, size_t i)
{
        const char *root = c->search->sysroot;
        char debug_dir[PATH_BYTES_MAX];

        switch (i) {
        case 0:
                return root ? make_name(c, root, NAME_PATH) : 0;
        case 1:
                return make_name(c, "", NAME_PATH);
        case 2:
                if (!root || (size_t)snprintf(debug_dir, sizeof(debug_dir), "%s" SYSTEM_DEBUG_DIR, root) >=
                                     sizeof(debug_dir))
                        return 0;
                return make_name(c, debug_dir, NAME_BUILD_ID_DEBUG);
        default:
                return make_name(c, SYSTEM_DEBUG_DIR, NAME_BUILD_ID_DEBUG);
        }
}

#define N_OWN_NAMES 4

/* The next file of the open folder, or NULL after the last. */
static const char *next_file(struct module_candidates *c)
{
        const struct dirent *entry;

        /* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone */
        while (c->n_files++ < SYMBOL_SEARCH_FILES_MAX && (entry = readdir(c->folder)))
                if (entry->d_type == DT_REG || entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN)
                        return entry->d_name;
        return NULL;
}

/* Files of the search's folders, whatever their names.  Returns as module_candidates_next(). */
static int make_any_name(struct module_candidates *c)
{
        while (c->build_id) {
                const char *name = c->folder ? next_file(c) : NULL;

                if (name) {
                        c->is_any_file = true;
                        if (asprintf(&c->path, "%s/%s", c->search->debug_dirs[c->next_folder - 1], name) >= 0)
                                return 1;
                        c->path = NULL;
                        return -ENOMEM;
                }
                if (c->folder)
                        (void)closedir(c->folder);
                c->folder = NULL;
                if (c->next_folder == c->search->n_debug_dirs)
                        break;
                c->folder = opendir(c->search->debug_dirs[c->next_folder++]);
                c->n_files = 0;
        }
        return 0;
}

int module_candidates_next(struct module_candidates *c, const char **ret_path)
{
        size_t n_below = c->search->n_debug_dirs * NAME_KIND_COUNT;
        int r = 0;

        free(c->path);
        c->path = NULL;
        while (r == 0 && c->next < n_below + N_OWN_NAMES) {
                size_t i = c->next++;

                if (i < n_below)
                        r = make_name(c, c->search->debug_dirs[i / NAME_KIND_COUNT],
                                      (enum name_kind)(i % NAME_KIND_COUNT));
                else
                        r = make_own_name(c, i - n_below);
        }
        if (r == 0)
                r = make_any_name(c);
        if (r == 1)
                *ret_path = c->path;
        return r;
}
