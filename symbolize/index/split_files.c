/* SPDX-License-Identifier: MIT */
#include "symbolize/index/split_files.h"

#include "base/array.h"
#include "symbolize/debug/debug_file.h"
#include "symbolize/debug/debug_sections.h"
#include "symbolize/debug/dwp_index.h"
#include "symbolize/debug/symbol_search.h"
#include "symbolize/elf/elf_image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One that is open. */
struct split_file {
        struct split_file *next;
        struct debug_file file;
        struct debug_sections sections;
};

/* One unit that was found. */
struct split_view {
        uint64_t dwo_id;
        struct debug_sections sections; /* owns nothing */
};

static const struct symbol_search own_folders = { .sysroot = NULL };

void split_files_deinit(struct split_files *s)
{
        while (s->files) {
                struct split_file *file = s->files;

                s->files = file->next;
                debug_sections_deinit(&file->sections);
                debug_file_close(&file->file);
                free(file);
        }
        for (size_t i = 0; i < s->n_views; i++)
                free(s->views[i]);
        free(s->views);
        *s = (struct split_files){ .files = NULL };
}

/* @path: heap, taken over.  Returns a file that was read and is in the list, or NULL. */
static struct split_file *open_file(struct split_files *s, char *path)
{
        struct split_file *file;

        if (s->n_files >= SPLIT_FILES_MAX) {
                free(path);
                return NULL;
        }
        file = calloc(1, sizeof(*file));
        if (!file) {
                free(path);
                return NULL;
        }
        if (!debug_file_open_split(path, &file->file) ||
            debug_sections_load(&file->sections, file->file.elf, true, NULL) < 0) {
                debug_file_close(&file->file);
                free(file);
                return NULL;
        }
        file->next = s->files;
        s->files = file;
        s->n_files++;
        return file;
}

/* Closes the file that open_file() added last, because it was not the wanted one. */
static void close_last(struct split_files *s)
{
        struct split_file *file = s->files;

        s->files = file->next;
        s->n_files--;
        debug_sections_deinit(&file->sections);
        debug_file_close(&file->file);
        free(file);
}

static int add_view(struct split_files *s, uint64_t dwo_id, const struct debug_sections *sections,
                    const struct debug_sections **ret_sections)
{
        struct split_view *view = malloc(sizeof(*view));

        if (!view)
                return -ENOMEM;
        /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
        if (array_reserve(&s->views, &s->views_capacity, s->n_views + 1, sizeof(*s->views)) < 0) {
                free(view);
                return -ENOMEM;
        }
        *view = (struct split_view){ dwo_id, *sections };
        for (unsigned i = 0; i < DEBUG_SECTION_COUNT; i++)
                view->sections.sections[i].unpacked = NULL;
        s->views[s->n_views++] = view;
        *ret_sections = &view->sections;
        return 1;
}

static const char *find_base_name(const char *path)
{
        const char *slash = strrchr(path, '/');

        return slash ? slash + 1 : path;
}

/* Returns true if the file at @path (heap, taken over) is a .dwp. */
static bool try_package(struct split_files *s, char *path)
{
        struct split_file *file = open_file(s, path);

        if (!file)
                return false;
        if (file->sections.sections[DEBUG_SECTION_CU_INDEX].n_bytes == 0) {
                close_last(s);
                return false;
        }
        s->package = file;
        return true;
}

static char *format_build_id_path(const struct elf_image *image, const char *folder)
{
        char hex[2 * ELF_IMAGE_BUILD_ID_MAX + 1] = "";

        for (size_t i = 0; i < image->build_id_bytes; i++)
                (void)snprintf(hex + 2 * i, 3, "%02x", image->build_id[i]);
        return debug_file_format_path("%s/.build-id/%.2s/%s.dwp", folder, hex,
                                      image->build_id_bytes > 1 ? hex + 2 : "");
}

static bool find_package_in(struct split_files *s, const struct split_files_place *place, const char *folder)
{
        if (try_package(s, format_build_id_path(place->image, folder)))
                return true;
        return place->path &&
               (try_package(s, debug_file_format_path("%s/%s.dwp", folder, place->path)) ||
                try_package(s, debug_file_format_path("%s/%s.dwp", folder, find_base_name(place->path))));
}

static void find_package(struct split_files *s, const struct split_files_place *place,
                         const struct symbol_search *search)
{
        bool found = false;

        if (s->is_package_searched)
                return;
        s->is_package_searched = true;
        for (size_t i = 0; i < search->n_debug_dirs && !found; i++)
                found = find_package_in(s, place, search->debug_dirs[i]);
        if (!found && place->path && search->sysroot)
                found = try_package(s, debug_file_format_path("%s%s.dwp", search->sysroot, place->path));
        if (!found && place->path)
                found = try_package(s, debug_file_format_path("%s.dwp", place->path));
        if (!found && place->debug_path)
                (void)try_package(s, debug_file_format_path("%s.dwp", place->debug_path));
}

/* One look for a .dwo. */
struct attempt {
        struct split_files *files;
        const struct split_files_unit *unit;
        const struct debug_sections **ret_sections;
};

/* Returns 1 if the file at @path (heap, taken over) has the unit. */
static int try_object(struct attempt *attempt, char *path)
{
        struct split_file *file = open_file(attempt->files, path);
        struct debug_sections unit;
        size_t offset, n_bytes;

        if (!file)
                return 0;
        if (!split_unit_find(&file->sections, attempt->unit->dwo_id, &offset, &n_bytes)) {
                close_last(attempt->files);
                return 0;
        }
        unit = file->sections;
        unit.sections[DEBUG_SECTION_INFO].bytes += offset;
        unit.sections[DEBUG_SECTION_INFO].n_bytes = n_bytes;
        return add_view(attempt->files, attempt->unit->dwo_id, &unit, attempt->ret_sections);
}

/* In the folder of @beside: under the whole name, if that is relative, and under its last part. */
static int try_beside(struct attempt *attempt, const char *beside)
{
        const char *name = attempt->unit->name;
        int directory_bytes = beside ? (int)(find_base_name(beside) - beside) : 0;
        int r = 0;

        if (!beside)
                return 0;
        if (name[0] != '/')
                r = try_object(attempt, debug_file_format_path("%.*s%s", directory_bytes, beside, name));
        if (r == 0)
                r = try_object(attempt, debug_file_format_path("%.*s%s", directory_bytes, beside,
                                                               find_base_name(name)));
        return r;
}

/* Tries the place where the compiler put it, as the skeleton says. */
static int try_stated(struct attempt *attempt, const char *sysroot)
{
        const struct split_files_unit *unit = attempt->unit;

        if (unit->name[0] == '/')
                return try_object(attempt, debug_file_format_path("%s%s", sysroot, unit->name));
        if (unit->directory && unit->directory[0] == '/')
                return try_object(attempt,
                                  debug_file_format_path("%s%s/%s", sysroot, unit->directory, unit->name));
        return 0;
}

static int find_object(struct attempt *attempt, const struct split_files_place *place,
                       const struct symbol_search *search)
{
        const char *name = attempt->unit->name;
        int r = 0;

        for (size_t i = 0; i < search->n_debug_dirs && r == 0; i++) {
                r = try_object(attempt, debug_file_format_path("%s/%s", search->debug_dirs[i], name));
                if (r == 0)
                        r = try_object(attempt, debug_file_format_path("%s/%s", search->debug_dirs[i],
                                                                       find_base_name(name)));
        }
        if (r != 0)
                return r;
        r = try_stated(attempt, search->sysroot ? search->sysroot : "");
        if (r != 0)
                return r;
        r = try_beside(attempt, place->path);
        if (r != 0)
                return r;
        return try_beside(attempt, place->debug_path);
}

int split_files_find(struct split_files *s, const struct split_files_place *place,
                     const struct split_files_unit *unit, const struct debug_sections **ret_sections)
{
        const struct symbol_search *search = place->search ? place->search : &own_folders;
        struct debug_sections sections;

        for (size_t i = 0; i < s->n_views; i++)
                if (s->views[i]->dwo_id == unit->dwo_id) {
                        *ret_sections = &s->views[i]->sections;
                        return 1;
                }
        find_package(s, place, search);
        if (s->package && dwp_index_find(&s->package->sections, unit->dwo_id, &sections))
                return add_view(s, unit->dwo_id, &sections, ret_sections);
        if (!unit->name || !unit->name[0])
                return 0;
        return find_object(&(struct attempt){ s, unit, ret_sections }, place, search);
}
