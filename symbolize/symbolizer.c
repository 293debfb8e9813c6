/* SPDX-License-Identifier: MIT */
#include "symbolize/symbolizer.h"

#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "symbolize/demangle.h"
#include "symbolize/elf_image.h"
#include "symbolize/kernel_symbols.h"
#include "symbolize/module_symbols.h"
#include "symbolize/region_symbols.h"
#include "symbolize/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A frame, and what it is looked up by. */
struct place {
        uint64_t address; /* in the unit of struct trace_frame.offset */
        uint32_t module;
        uint32_t frame;
};

struct symbolizer {
        const struct trace_dictionary *dictionary;
        const struct symbolizer_options *options;
        const struct symbolizer_sink *sink;
        struct place *places; /* heap, by module and address */
        size_t n_places;
        struct kernel_symbols kernel; /* loaded when the first kernel frame comes */
        bool kernel_is_loaded;
        struct region_symbols *regions; /* heap; made when the first frame in anonymous memory comes */
};

/* The frames of one module. */
struct group {
        const struct trace_module *module;
        const struct place *places; /* borrowed from struct symbolizer */
        size_t n_places;
};

/* Whether the file at a module's path is the one that was sampled. */
enum identity { IDENTITY_EQUAL, IDENTITY_OTHER, IDENTITY_UNKNOWN };

static int compare_places(const void *a, const void *b)
{
        const struct place *x = a, *y = b;

        if (x->module != y->module)
                return x->module < y->module ? -1 : 1;
        if (x->address != y->address)
                return x->address < y->address ? -1 : 1;
        return x->frame < y->frame ? -1 : x->frame > y->frame;
}

/*
 * A return address may be the first byte of another line or even of another function, when a call is the
 * last instruction; the byte before it belongs to the call.
 */
static uint64_t address_of(const struct trace_frame *frame)
{
        return frame->flags & TRACE_FRAME_RETURN_ADDRESS && frame->offset > 0 ? frame->offset - 1
                                                                              : frame->offset;
}

static int collect_places(struct symbolizer *s, struct error *err)
{
        uint32_t n_frames = trace_dictionary_count(s->dictionary, TRACE_TABLE_FRAMES);
        uint32_t first = s->options->first_frame ? s->options->first_frame : 1;

        if (first > n_frames)
                return 0;
        s->places = calloc((size_t)n_frames - first + 1, sizeof(*s->places));
        if (!s->places)
                return error_set(err, -ENOMEM, "no memory to sort %u frames", n_frames - first + 1);
        for (uint32_t id = first; id <= n_frames; id++) {
                const struct trace_frame *frame = trace_dictionary_row(s->dictionary, TRACE_TABLE_FRAMES, id);

                if (frame->module != 0 && frame->module >= s->options->first_module)
                        s->places[s->n_places++] = (struct place){ address_of(frame), frame->module, id };
        }
        qsort(s->places, s->n_places, sizeof(*s->places), compare_places);
        return 0;
}

static int add_symbols(const struct symbolizer *s, uint32_t frame, const struct symbol *symbols,
                       uint32_t n_symbols, struct error *err)
{
        return s->sink->add_symbols(s->sink->context, frame, symbols, n_symbols, err);
}

static int mark_stale(const struct symbolizer *s, const struct group *group, struct error *err)
{
        const struct symbol stale = { .flags = TRACE_SYMBOL_STALE_FILE };
        int r = 0;

        for (size_t i = 0; i < group->n_places && r == 0; i++)
                r = add_symbols(s, group->places[i].frame, &stale, 1, err);
        return r;
}

static int resolve_image(const struct symbolizer *s, const struct elf_image *image, const char *path,
                         const struct group *group, struct error *err)
{
        struct module_symbols *module = NULL;
        int r = 0;

        if (module_symbols_open(image, &(struct module_symbols_options){ .path = path }, &module, NULL) < 0)
                return 0; /* costs the names of this file only */
        for (size_t i = 0; i < group->n_places && r == 0; i++) {
                const struct symbol *symbols;
                uint64_t svma;
                uint32_t n_symbols;

                if (!elf_image_find_svma(image, group->places[i].address, &svma))
                        continue;
                n_symbols = module_symbols_find(module, svma, &symbols);
                if (n_symbols > 0)
                        r = add_symbols(s, group->places[i].frame, symbols, n_symbols, err);
        }
        module_symbols_close(module);
        return r;
}

/* @image may be NULL: the file is no ELF file. */
static enum identity identify(const struct symbolizer *s, const struct trace_module *module, int fd,
                              const struct elf_image *image)
{
        size_t build_id_bytes;
        const char *build_id = trace_dictionary_string(s->dictionary, module->build_id, &build_id_bytes);
        struct stat status;

        if (build_id_bytes > 0)
                return image && image->build_id_bytes == build_id_bytes &&
                                       memcmp(image->build_id, build_id, build_id_bytes) == 0
                               ? IDENTITY_EQUAL
                               : IDENTITY_OTHER;
        if (module->inode == 0 || fstat(fd, &status) < 0)
                return IDENTITY_UNKNOWN;
        return status.st_dev == module->device && status.st_ino == module->inode ? IDENTITY_EQUAL
                                                                                 : IDENTITY_OTHER;
}

static int resolve_open_file(const struct symbolizer *s, const struct group *group, const char *path, int fd,
                             struct error *err)
{
        struct elf_image *image = NULL;
        enum identity identity;
        int r = 0;

        (void)elf_image_open(fd, &image, NULL);
        identity = identify(s, group->module, fd, image);
        if (identity == IDENTITY_OTHER)
                r = mark_stale(s, group, err);
        else if (identity == IDENTITY_EQUAL && image)
                r = resolve_image(s, image, path, group, err);
        elf_image_close(image);
        return r;
}

static int resolve_file(const struct symbolizer *s, const struct group *group, struct error *err)
{
        size_t path_bytes;
        const char *text = trace_dictionary_string(s->dictionary, group->module->path, &path_bytes);
        char *path;
        int fd = -1;
        int r = 0;

        /* "//anon" and "[heap]" are no files; a NUL would cut the path to that of another one. */
        if (path_bytes < 2 || text[0] != '/' || text[1] == '/' || memchr(text, '\0', path_bytes))
                return 0;
        path = strndup(text, path_bytes);
        if (!path)
                return error_set(err, -ENOMEM, "no memory for a path of %zu bytes", path_bytes);
        if (regular_file_open(path, &fd, NULL) == 0)
                r = resolve_open_file(s, group, path, fd, err);
        io_close(&fd);
        free(path);
        return r;
}

static int resolve_vdso(const struct symbolizer *s, const struct group *group, struct error *err)
{
        struct elf_image *image = NULL;
        int r = 0;

        if (elf_image_open_vdso(&image, NULL) < 0)
                return 0;
        /* A trace that does not tell its build-id can only mean the one vdso that there is. */
        if (group->module->build_id == 0 || identify(s, group->module, -1, image) == IDENTITY_EQUAL)
                r = resolve_image(s, image, NULL, group, err);
        elf_image_close(image);
        return r;
}

/* A failure leaves the table empty: frames of the kernel stay without names. */
static void load_kernel(struct symbolizer *s)
{
        int own_fd = -1;
        int fd = s->options->kallsyms_fd;

        s->kernel_is_loaded = true;
        if (fd <= 0)
                fd = own_fd = open(KERNEL_SYMBOLS_PATH, O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && kernel_symbols_load(&s->kernel, fd, NULL) < 0)
                kernel_symbols_deinit(&s->kernel);
        io_close(&own_fd);
}

static int resolve_kernel(struct symbolizer *s, const struct group *group, struct error *err)
{
        int r = 0;

        if (!s->kernel_is_loaded)
                load_kernel(s);
        for (size_t i = 0; i < group->n_places && r == 0; i++) {
                struct symbol symbol = { .function = kernel_symbols_find(&s->kernel,
                                                                         group->places[i].address) };

                if (symbol.function)
                        r = add_symbols(s, group->places[i].frame, &symbol, 1, err);
        }
        return r;
}

/* NUL-terminated; NULL for the empty string, and without memory. */
static char *copy_string(const struct symbolizer *s, uint32_t id)
{
        size_t n_bytes;
        const char *text = trace_dictionary_string(s->dictionary, id, &n_bytes);

        return n_bytes > 0 ? strndup(text, n_bytes) : NULL;
}

static int resolve_region(const struct symbolizer *s, const struct place *place, struct error *err)
{
        const struct trace_code_region *row;
        struct symbol symbol = { .function = NULL };
        struct region_symbol found;
        char *name, *function, *file;
        int r = 0;

        if (region_symbols_find(s->regions, place->module, place->address, &found) != 1)
                return 0;
        row = trace_dictionary_row(s->dictionary, TRACE_TABLE_CODE_REGIONS, found.region);
        name = copy_string(s, row->name);
        function = name ? demangle_name(name) : NULL;
        file = copy_string(s, found.file);
        symbol.function = function ? function : name;
        symbol.file = file;
        symbol.line = found.line;
        if (symbol.function || symbol.file)
                r = add_symbols(s, place->frame, &symbol, 1, err);
        free(name);
        free(function);
        free(file);
        return r;
}

/* Memory of no file: what the program said that it put there. */
static int resolve_anonymous(struct symbolizer *s, const struct group *group, struct error *err)
{
        int r = s->regions ? 0 : region_symbols_new(s->dictionary, &s->regions, err);

        for (size_t i = 0; i < group->n_places && r == 0; i++)
                r = resolve_region(s, &group->places[i], err);
        return r;
}

static int resolve_group(struct symbolizer *s, const struct group *group, struct error *err)
{
        switch (group->module->kind) {
        case TRACE_MODULE_FILE:
                return resolve_file(s, group, err);
        case TRACE_MODULE_VDSO:
                return resolve_vdso(s, group, err);
        case TRACE_MODULE_KERNEL:
                return resolve_kernel(s, group, err);
        case TRACE_MODULE_ANONYMOUS:
                return resolve_anonymous(s, group, err);
        default:
                return 0; /* marks have no code */
        }
}

int symbolizer_run(const struct trace_dictionary *dictionary, const struct symbolizer_options *options,
                   const struct symbolizer_sink *sink, struct error *err)
{
        struct symbolizer s = { .dictionary = dictionary, .options = options, .sink = sink };
        int r = collect_places(&s, err);

        for (size_t i = 0; i < s.n_places && r == 0;) {
                uint32_t module = s.places[i].module;
                struct group group = { .module = trace_dictionary_row(dictionary, TRACE_TABLE_MODULES,
                                                                      module),
                                       .places = s.places + i };

                while (i < s.n_places && s.places[i].module == module) {
                        group.n_places++;
                        i++;
                }
                r = sink->begin_module(sink->context, module, err);
                if (r == 0)
                        r = resolve_group(&s, &group, err);
        }
        kernel_symbols_deinit(&s.kernel);
        region_symbols_free(s.regions);
        free(s.places);
        return r;
}
