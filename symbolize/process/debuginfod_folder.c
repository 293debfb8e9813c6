/* SPDX-License-Identifier: MIT */
#include "symbolize/process/debuginfod_folder.h"

#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "symbolize/debug/debuginfod_fetch.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/images/image_finder.h"
#include "symbolize/process/symbol_findings.h"

#include <errno.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_FOLDERS_MAX 8 /* while it is removed */

static bool is_asked_for(const struct trace_module *row, const struct module_finding *finding,
                         enum debuginfod_kind kind)
{
        if (finding->n_frames == 0 || row->build_id == 0 ||
            (row->kind != TRACE_MODULE_FILE && row->kind != TRACE_MODULE_IMAGE))
                return false;
        return kind == DEBUGINFOD_EXECUTABLE ? finding->source <= IMAGE_SOURCE_DIFFERS
                                             : finding->n_lines == 0;
}

static size_t collect(const struct trace_dictionary *d, const struct symbol_findings *findings,
                      struct debuginfod_request *requests, size_t n_max)
{
        static const enum debuginfod_kind kinds[] = { DEBUGINFOD_DEBUGINFO, DEBUGINFOD_EXECUTABLE };
        size_t n = 0;

        for (uint32_t i = 1; i <= findings->n_modules; i++)
                for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]) && n < n_max; k++) {
                        const struct trace_module *row = trace_dictionary_row(d, TRACE_TABLE_MODULES, i);
                        struct debuginfod_request request = { .kind = kinds[k] };
                        const char *id = trace_dictionary_string(d, row->build_id, &request.build_id_bytes);

                        if (!is_asked_for(row, &findings->items[i], kinds[k]) || request.build_id_bytes < 2 ||
                            request.build_id_bytes > ELF_IMAGE_BUILD_ID_MAX)
                                continue;
                        request.build_id = (const uint8_t *)id;
                        requests[n++] = request;
                }
        return n;
}

/* FOLDER/.build-id/ab/cdef[.debug] */
static int add_link(const struct debuginfod_folder *f, const struct debuginfod_request *request)
{
        char digits[2 * ELF_IMAGE_BUILD_ID_MAX + 1] = "";
        char *path, *slash;
        int r;

        for (size_t i = 0; i < request->build_id_bytes; i++)
                (void)snprintf(digits + 2 * i, 3, "%02x", request->build_id[i]);
        if (asprintf(&path, "%s/.build-id/%.2s/%s%s", f->path, digits, digits + 2,
                     request->kind == DEBUGINFOD_DEBUGINFO ? ".debug" : "") < 0)
                return -ENOMEM;
        slash = strrchr(path, '/');
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
        r = symlink(request->path, path) < 0 && errno != EEXIST ? -errno : 0;
        free(path);
        return r;
}

static int make_folder(struct debuginfod_folder *f, struct error *err)
{
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        const char *parent = getenv("TMPDIR");
        char *path;
        int r;

        if (asprintf(&f->path, "%s/hyprof-debuginfod-XXXXXX", parent ? parent : "/tmp") < 0) {
                f->path = NULL;
                return error_set(err, -ENOMEM, "no memory for a path");
        }
        if (!mkdtemp(f->path)) {
                r = error_errno(err, "%s", f->path);
                free(f->path);
                f->path = NULL;
                return r;
        }
        if (asprintf(&path, "%s/.build-id", f->path) < 0)
                return error_set(err, -ENOMEM, "no memory for a path");
        r = mkdir(path, 0700) < 0 ? error_errno(err, "%s", path) : 0;
        free(path);
        return r;
}

static int link_all(struct debuginfod_folder *f, const struct debuginfod_request *requests, size_t n_requests,
                    struct error *err)
{
        int r = make_folder(f, err);

        for (size_t i = 0; i < n_requests && r == 0; i++) {
                if (requests[i].state != DEBUGINFOD_FOUND)
                        continue;
                r = add_link(f, &requests[i]);
                if (r < 0)
                        return error_set(err, r, "a link in %s", f->path);
                f->n_found++;
        }
        return r;
}

int debuginfod_folder_open(struct debuginfod_folder *f, const struct trace_dictionary *dictionary,
                           const struct symbol_findings *findings, int stop_fd, struct error *err)
{
        size_t n_max = 2 * (size_t)findings->n_modules;
        struct debuginfod_options options = { .stop_fd = stop_fd };
        struct debuginfod_request *requests;
        size_t n;
        int r = 0;

        *f = (struct debuginfod_folder){ .path = NULL };
        if (n_max > DEBUGINFOD_REQUESTS_MAX)
                n_max = DEBUGINFOD_REQUESTS_MAX;
        requests = calloc(n_max + 1, sizeof(*requests));
        if (!requests)
                return error_set(err, -ENOMEM, "no memory to ask for %zu files", n_max);
        n = collect(dictionary, findings, requests, n_max);
        f->n_asked = (uint32_t)n;
        if (n > 0) {
                int linked;

                r = debuginfod_fetch_run(requests, n, &options, err);
                linked = link_all(f, requests, n, r == 0 ? err : NULL);
                if (r == 0)
                        r = linked;
        }
        debuginfod_fetch_deinit(requests, n);
        free(requests);
        return r;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
        (void)status;
        (void)kind;
        (void)place;
        (void)remove(path);
        return 0;
}

void debuginfod_folder_close(struct debuginfod_folder *f)
{
        if (f->path)
                /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
                (void)nftw(f->path, remove_one, OPEN_FOLDERS_MAX, FTW_DEPTH | FTW_PHYS);
        free(f->path);
        *f = (struct debuginfod_folder){ .path = NULL };
}
