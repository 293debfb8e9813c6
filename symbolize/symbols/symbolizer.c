/* SPDX-License-Identifier: MIT */
#include "symbolize/symbols/symbolizer.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "symbolize/debug/symbol_search.h"
#include "symbolize/elf/demangle.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/images/image_finder.h"
#include "symbolize/images/index_cache.h"
#include "symbolize/images/late_images.h"
#include "symbolize/images/module_images.h"
#include "symbolize/images/trace_origin.h"
#include "symbolize/kernel/kernel_symbols.h"
#include "symbolize/kernel/saved_kernel.h"
#include "symbolize/symbols/module_symbols.h"
#include "symbolize/symbols/region_images.h"
#include "symbolize/symbols/region_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* A frame, and the keys by which it is looked up. */
struct place {
        uint64_t address; /* in the unit of struct trace_frame.offset */
        uint32_t module;
        uint32_t frame;
};

/* Places of one module, or of all anonymous memory: [first, first + n) */
struct task {
        size_t first, n;
};

struct symbolizer {
        const struct trace_dictionary *dictionary;
        struct symbolizer_options options;
        struct image_spool spool; /* a view, with the descriptor of this process */
        struct index_cache cache; /* likewise */
        struct module_images images;
        uint32_t *module_of_frame; /* heap; by frame from the first: its module; 0 = none */
        struct place *places;      /* heap, by task, module and address */
        size_t n_places;
        struct task *tasks; /* heap */
        uint32_t n_tasks;
        uint32_t *task_of_module; /* heap; by module: number of its task + 1, or 0 */
        bool is_kernel_here;      /* the kernel's addresses mean something on this machine */
        struct late_images *late;
        uint8_t *is_named; /* heap; by frame: named in the trace; NULL = not read yet */
        struct region_symbols *regions;
        struct region_images *region_images;
        struct kernel_lookup kernel; /* opened when the first kernel frame comes */
        bool kernel_is_open;
        int own_kallsyms_fd; /* -1 = none was opened */
};

/* The frames of one module, and the result of their lookup. */
struct group {
        uint32_t id;
        const struct trace_module *module;
        const struct place *places; /* borrowed from struct symbolizer */
        size_t n_places;
        struct module_finding finding;
};

/* ---- tasks --------------------------------------------------------------------------------------------- */

static const struct trace_module *module_row(const struct symbolizer *s, uint32_t module)
{
        return trace_dictionary_row(s->dictionary, TRACE_TABLE_MODULES, module);
}

/*
 * Anonymous memory comes last, all of it together: it needs no file, and there may be many generations of it.
 */
static int compare_places(const void *a, const void *b, void *context)
{
        const struct symbolizer *s = context;
        const struct place *x = a, *y = b;
        bool x_is_last, y_is_last;

        if (x->module != y->module) {
                x_is_last = module_row(s, x->module)->kind == TRACE_MODULE_ANONYMOUS;
                y_is_last = module_row(s, y->module)->kind == TRACE_MODULE_ANONYMOUS;
                if (x_is_last != y_is_last)
                        return x_is_last ? 1 : -1;
                return x->module < y->module ? -1 : 1;
        }
        if (x->address != y->address)
                return x->address < y->address ? -1 : 1;
        return x->frame < y->frame ? -1 : x->frame > y->frame;
}

/*
 * If a call is the last instruction of a line or function, its return address is already the first byte of
 * the next one; the byte before the return address belongs to the call.
 */
static uint64_t address_of(const struct trace_frame *frame)
{
        return frame->flags & TRACE_FRAME_RETURN_ADDRESS && frame->offset > 0 ? frame->offset - 1
                                                                              : frame->offset;
}

static bool is_wanted(const struct symbolizer *s, uint32_t module)
{
        uint32_t kind = module != 0 ? module_row(s, module)->kind : TRACE_MODULE_MARK;

        if (s->options.only_kernel)
                return kind == TRACE_MODULE_KERNEL;
        return kind != TRACE_MODULE_MARK && kind != TRACE_MODULE_PYTHON; /* named when it was recorded */
}

/*
 * Finds the module and the address by which a frame is looked up.  An image in the trace is preferred,
 * because it has more information than the names that a program reports.
 */
static uint32_t look_up_module(const struct symbolizer *s, const struct trace_frame *frame,
                               uint64_t *ret_address)
{
        uint64_t address = address_of(frame), file_off;
        const struct trace_module_image *kept;
        uint32_t module;

        *ret_address = address;
        if (!is_wanted(s, frame->module) ||
            !late_images_find(s->late, frame->module, address, &module, &file_off))
                return frame->module;
        kept = module_images_find(&s->images, s->dictionary, module);
        if (!kept || kept->attachment == 0)
                return frame->module;
        *ret_address = file_off;
        return module;
}

static int collect_places(struct symbolizer *s, struct error *err)
{
        uint32_t n_frames = trace_dictionary_count(s->dictionary, TRACE_TABLE_FRAMES);
        uint32_t first = s->options.first_frame ? s->options.first_frame : 1;

        if (first > n_frames)
                return 0;
        s->places = calloc((size_t)n_frames - first + 1, sizeof(*s->places));
        s->module_of_frame = calloc((size_t)n_frames - first + 1, sizeof(*s->module_of_frame));
        if (!s->places || !s->module_of_frame)
                return error_set(err, -ENOMEM, "no memory to sort %u frames", n_frames - first + 1);
        for (uint32_t id = first; id <= n_frames; id++) {
                const struct trace_frame *frame = trace_dictionary_row(s->dictionary, TRACE_TABLE_FRAMES, id);

                struct place place = { .frame = id };

                place.module = look_up_module(s, frame, &place.address);
                if (!is_wanted(s, frame->module))
                        continue;
                s->module_of_frame[id - first] = place.module;
                s->places[s->n_places++] = place;
        }
        qsort_r(s->places, s->n_places, sizeof(*s->places), compare_places, s);
        return 0;
}

static bool is_same_task(const struct symbolizer *s, uint32_t a, uint32_t b)
{
        return a == b || (module_row(s, a)->kind == TRACE_MODULE_ANONYMOUS &&
                          module_row(s, b)->kind == TRACE_MODULE_ANONYMOUS);
}

static int make_tasks(struct symbolizer *s, struct error *err)
{
        uint32_t n_modules = trace_dictionary_count(s->dictionary, TRACE_TABLE_MODULES);

        s->task_of_module = calloc((size_t)n_modules + 1, sizeof(*s->task_of_module));
        s->tasks = calloc((size_t)n_modules + 1, sizeof(*s->tasks));
        if (!s->task_of_module || !s->tasks)
                return error_set(err, -ENOMEM, "no memory for %u modules", n_modules);
        for (size_t i = 0; i < s->n_places; i++) {
                uint32_t module = s->places[i].module;

                if (i == 0 || !is_same_task(s, s->places[i - 1].module, module))
                        s->tasks[s->n_tasks++] = (struct task){ .first = i };
                s->tasks[s->n_tasks - 1].n++;
                s->task_of_module[module] = s->n_tasks;
        }
        return 0;
}

int symbolizer_new(const struct trace_dictionary *dictionary, const struct symbolizer_options *options,
                   struct symbolizer **ret_symbolizer, struct error *err)
{
        struct symbolizer *s = calloc(1, sizeof(*s));
        enum trace_origin origin = trace_origin_of(dictionary);
        int r;

        if (!s)
                return error_set(err, -ENOMEM, "no memory for the symbolizer");
        s->dictionary = dictionary;
        s->options = *options;
        s->own_kallsyms_fd = -1;
        s->is_kernel_here = origin == TRACE_ORIGIN_HERE ||
                            (origin == TRACE_ORIGIN_UNKNOWN &&
                             !(options->search && options->search->is_other_machine));
        if (options->spool)
                s->spool = *options->spool;
        if (options->cache)
                s->cache = *options->cache;
        r = module_images_init(&s->images, dictionary, err);
        if (r != 0)
                goto done;
        r = late_images_new(dictionary, &s->late);
        if (r != 0)
                goto done;
        r = collect_places(s, err);
        if (r != 0)
                goto done;
        r = make_tasks(s, err);

done:
        if (r < 0)
                symbolizer_free(s);
        else
                *ret_symbolizer = s;
        return r;
}

void symbolizer_free(struct symbolizer *s)
{
        if (!s)
                return;
        kernel_lookup_close(&s->kernel);
        io_close(&s->own_kallsyms_fd);
        late_images_free(s->late);
        region_symbols_free(s->regions);
        region_images_free(s->region_images);
        module_images_deinit(&s->images);
        free(s->is_named);
        free(s->places);
        free(s->module_of_frame);
        free(s->tasks);
        free(s->task_of_module);
        free(s);
}

uint32_t symbolizer_count_tasks(const struct symbolizer *s)
{
        return s->n_tasks;
}

uint32_t symbolizer_find_task(const struct symbolizer *s, uint32_t frame)
{
        uint32_t first = s->options.first_frame ? s->options.first_frame : 1;
        uint32_t module;

        if (frame < first || frame > trace_dictionary_count(s->dictionary, TRACE_TABLE_FRAMES))
                return UINT32_MAX;
        module = s->module_of_frame[frame - first];
        return module == 0 || s->task_of_module[module] == 0 ? UINT32_MAX : s->task_of_module[module] - 1;
}

uint32_t symbolizer_find_module(const struct symbolizer *s, uint32_t task)
{
        return s->places[s->tasks[task].first].module;
}

bool symbolizer_has_module(const struct symbolizer *s, uint32_t task, uint32_t module)
{
        return module >= 1 && module <= trace_dictionary_count(s->dictionary, TRACE_TABLE_MODULES) &&
               s->task_of_module[module] == task + 1;
}

void symbolizer_set_fds(struct symbolizer *s, int kallsyms_fd, int spool_fd, int cache_fd)
{
        s->options.kallsyms_fd = kallsyms_fd;
        s->spool.fd = spool_fd;
        s->cache.folder.fd = cache_fd;
}

/* ---- symbols of a module ------------------------------------------------------------------------------- */

static int add_symbols(const struct symbolizer_sink *sink, struct group *group, uint32_t frame,
                       const struct symbol *symbols, uint32_t n_symbols, struct error *err)
{
        bool has_name = false, has_line = false;

        for (uint32_t i = 0; i < n_symbols; i++) {
                has_name |= symbols[i].function != NULL && !(symbols[i].flags & TRACE_SYMBOL_UNNAMED);
                has_line |= symbols[i].line != 0;
        }
        group->finding.n_named += has_name;
        group->finding.n_lines += has_line;
        return sink->add_symbols(sink->context, frame, symbols, n_symbols, err);
}

static int mark_stale(struct group *group, const struct symbolizer_sink *sink, struct error *err)
{
        const struct symbol stale = { .flags = TRACE_SYMBOL_STALE_FILE };
        int r = 0;

        for (size_t i = 0; i < group->n_places && r == 0; i++)
                r = add_symbols(sink, group, group->places[i].frame, &stale, 1, err);
        return r;
}

static int resolve_places(struct module_symbols *module, const struct elf_image *image, struct group *group,
                          const struct symbolizer_sink *sink, struct error *err)
{
        int r = 0;

        for (size_t i = 0; i < group->n_places && r == 0; i++) {
                const struct symbol *symbols;
                uint64_t svma;
                uint32_t n_symbols;

                if (!elf_image_find_svma(image, group->places[i].address, &svma))
                        continue;
                n_symbols = module_symbols_find(module, svma, &symbols);
                if (n_symbols > 0)
                        r = add_symbols(sink, group, group->places[i].frame, symbols, n_symbols, err);
        }
        return r;
}

/* An index that cannot be saved is made again next time. */
static int save_index(struct symbolizer *s, struct module_symbols *module, const struct found_image *found,
                      const struct symbolizer_sink *sink, struct error *err)
{
        struct byte_buffer out = { .data = NULL };
        int r = 0;

        index_cache_add_identity(&out, found->fd);
        if (module_symbols_save(module, &out, NULL) == 0 && !out.failed &&
            out.used_bytes >= INDEX_CACHE_ENTRY_MIN && out.used_bytes <= s->cache.entry_bytes_max)
                r = sink->add_index(sink->context, out.data, out.used_bytes, err);
        byte_buffer_deinit(&out);
        return r;
}

/* Debug files may lie beside the file that was mapped, wherever the code itself was found. */
static char *copy_module_path(const struct symbolizer *s, const struct group *group)
{
        size_t n_bytes;
        const char *text = trace_dictionary_string(s->dictionary, group->module->path, &n_bytes);

        return group->module->kind == TRACE_MODULE_FILE && n_bytes > 1 && text[0] == '/' && text[1] != '/' &&
                               !memchr(text, '\0', n_bytes)
                       ? strndup(text, n_bytes)
                       : NULL;
}

/* The prefix for functions without a symbol.  Heap; NULL without memory: they have no names then. */
static char *copy_module_name(const struct symbolizer *s, const struct group *group)
{
        size_t n_bytes;
        const char *path = trace_dictionary_string(s->dictionary, group->module->path, &n_bytes);

        return module_symbols_copy_name(path, n_bytes);
}

static struct index_cache_subject subject_of(const struct symbolizer *s, const struct group *group)
{
        return (struct index_cache_subject){ .dictionary = s->dictionary,
                                             .images = &s->images,
                                             .spool = s->options.spool ? &s->spool : NULL,
                                             .search = s->options.search,
                                             .module = group->id };
}

static int resolve_image(struct symbolizer *s, struct group *group, const struct found_image *found,
                         const struct symbolizer_sink *sink, struct error *err)
{
        char *module_path = copy_module_path(s, group);
        char *called = copy_module_name(s, group);
        struct module_symbols_options options = { .path = found->path ? found->path : module_path,
                                                  .name = called,
                                                  .search = s->options.search };
        struct index_cache_entry entry = { .bytes = NULL };
        struct module_symbols *module = NULL;
        bool is_cached = s->options.cache && sink->add_index;
        int r = 0;

        if (is_cached) {
                const struct index_cache_subject subject = subject_of(s, group);
                struct index_cache_name name;

                is_cached = index_cache_name_of(&s->cache, &subject, &name);
                if (is_cached && index_cache_map(&s->cache, &name, found->fd, &entry) == 1) {
                        options.index = entry.bytes;
                        options.index_bytes = entry.n_bytes;
                }
        }
        if (module_symbols_open(found->image, &options, &module, NULL) == 0) {
                r = resolve_places(module, found->image, group, sink, err);
                /* An entry that could not be used, such as an older version's, is replaced. */
                if (r == 0 && is_cached && !module_symbols_is_saved(module) &&
                    (group->finding.n_lines > 0 || module_symbols_has_large_table(module)))
                        r = save_index(s, module, found, sink, err);
                module_symbols_close(module);
        }
        index_cache_unmap(&entry);
        free(module_path);
        free(called);
        return r; /* a broken file costs its own names only */
}

static int resolve_file(struct symbolizer *s, struct group *group, const struct symbolizer_sink *sink,
                        struct error *err)
{
        struct image_finder finder = { .dictionary = s->dictionary,
                                       .images = &s->images,
                                       .spool = s->options.spool ? &s->spool : NULL,
                                       .search = s->options.search };
        struct found_image found;
        int r = image_finder_find(&finder, group->id, &found);

        if (r < 0)
                return error_set(err, r, "no memory for an image");
        group->finding.source = (uint32_t)found.source;
        if (found.image)
                r = resolve_image(s, group, &found, sink, err);
        else if (found.source == IMAGE_SOURCE_DIFFERS)
                r = mark_stale(group, sink, err);
        group->finding.path = found.path;
        if (r == 0 && sink->end_module)
                r = sink->end_module(sink->context, &group->finding, err);
        found_image_close(&found);
        return r;
}

/* ---- kernel and generated code ------------------------------------------------------------------------- */

static void open_kernel(struct symbolizer *s, const struct group *group, const struct symbolizer_sink *sink)
{
        struct index_cache_subject subject = subject_of(s, group);
        struct index_cache_name name;
        bool is_cached = s->options.cache && sink->add_index &&
                         index_cache_name_of(&s->cache, &subject, &name);
        int fd = s->options.kallsyms_fd;

        s->kernel_is_open = true;
        if (fd <= 0)
                fd = s->own_kallsyms_fd = open(KERNEL_SYMBOLS_PATH, O_RDONLY | O_CLOEXEC);
        kernel_lookup_open(&s->kernel, fd, is_cached ? &s->cache : NULL, &name);
}

/* A list that cannot be saved is read again next time. */
static int save_kernel(const struct symbolizer *s, const struct symbolizer_sink *sink, struct error *err)
{
        struct byte_buffer out = { .data = NULL };
        int r = 0;

        if (kernel_lookup_save(&s->kernel, &out) == 0 && out.used_bytes <= s->cache.entry_bytes_max)
                r = sink->add_index(sink->context, out.data, out.used_bytes, err);
        byte_buffer_deinit(&out);
        return r;
}

static int find_named(struct symbolizer *s, struct error *err)
{
        uint32_t n_frames = trace_dictionary_count(s->dictionary, TRACE_TABLE_FRAMES);

        if (s->is_named)
                return 0;
        s->is_named = calloc((size_t)n_frames + 1, 1);
        if (!s->is_named)
                return error_set(err, -ENOMEM, "no memory for %u frames", n_frames);
        for (uint32_t i = 1; i <= trace_dictionary_count(s->dictionary, TRACE_TABLE_SYMBOLS); i++) {
                const struct trace_symbol *row = trace_dictionary_row(s->dictionary, TRACE_TABLE_SYMBOLS, i);

                s->is_named[row->frame] |= row->function != 0;
        }
        return 0;
}

/* Is there a list in which the kernel's code of @group can be looked up? */
static bool has_kernel_list(const struct symbolizer *s, const struct group *group)
{
        uint32_t generation = group->module->generation;

        return s->is_kernel_here &&
               (generation == 0 || (s->options.is_at_end && generation != TRACE_MODULE_KERNEL_GONE));
}

/*
 * The names that the recorder gave are kept, because other code may be at these addresses by now.  So code
 * that the kernel generated gets no name from a later list.
 */
static int resolve_kernel(struct symbolizer *s, struct group *group, const struct symbolizer_sink *sink,
                          struct error *err)
{
        bool is_made = group->module->generation != 0, has_list = has_kernel_list(s, group);
        int r = find_named(s, err);

        if (r == 0 && has_list && !s->kernel_is_open)
                open_kernel(s, group, sink);
        for (size_t i = 0; i < group->n_places && r == 0; i++) {
                const struct place *place = &group->places[i];
                struct symbol symbol = { .function = NULL };

                if (s->is_named[place->frame])
                        group->finding.n_named++;
                else if (has_list)
                        symbol.function = is_made ? kernel_lookup_find_made(&s->kernel, place->address)
                                                  : kernel_lookup_find(&s->kernel, place->address);
                if (symbol.function)
                        r = add_symbols(sink, group, place->frame, &symbol, 1, err);
        }
        if (is_made)
                group->finding.source = IMAGE_SOURCE_TRACE;
        else if (group->finding.n_named > 0 && s->is_kernel_here)
                group->finding.source = IMAGE_SOURCE_MACHINE;
        return r == 0 && has_list ? save_kernel(s, sink, err) : r;
}

/* NUL-terminated; NULL for the empty string, and without memory. */
static char *copy_string(const struct symbolizer *s, uint32_t id)
{
        size_t n_bytes;
        const char *text = trace_dictionary_string(s->dictionary, id, &n_bytes);

        return n_bytes > 0 ? strndup(text, n_bytes) : NULL;
}

/* Looks up code that came with its ELF image in that image.  Returns 1 if the image has it, 0, -errno. */
static int resolve_region_image(struct symbolizer *s, struct group *group, const struct place *place,
                                uint32_t region, const struct symbolizer_sink *sink, struct error *err)
{
        const struct symbol *symbols;
        struct region_place at;
        uint32_t n_symbols = 0;
        int r = region_images_find(s->region_images, region, place->address, &at);

        if (r == 1)
                n_symbols = module_symbols_find(at.symbols, at.svma, &symbols);
        if (n_symbols == 0)
                return r < 0 ? r : 0;
        r = add_symbols(sink, group, place->frame, symbols, n_symbols, err);
        return r < 0 ? r : 1;
}

static int resolve_region(struct symbolizer *s, struct group *group, const struct place *place,
                          const struct symbolizer_sink *sink, struct error *err)
{
        const struct trace_code_region *row;
        struct region_symbol found;
        char *name, *function, *file;
        int r = 0;

        if (region_symbols_find(s->regions, group->id, place->address, &found) != 1)
                return 0;
        r = resolve_region_image(s, group, place, found.region, sink, err);
        if (r != 0)
                return r < 0 ? r : 0;
        row = trace_dictionary_row(s->dictionary, TRACE_TABLE_CODE_REGIONS, found.region);
        name = copy_string(s, row->name);
        function = name ? demangle_name(name, MANGLING_ANY) : NULL;
        file = copy_string(s, found.file);
        if (name || file)
                r = add_symbols(sink, group, place->frame,
                                &(struct symbol){ .function = function ? function : name,
                                                  .file = file,
                                                  .line = found.line },
                                1, err);
        free(name);
        free(function);
        free(file);
        return r;
}

static int resolve_regions(struct symbolizer *s, struct group *group, const struct symbolizer_sink *sink,
                           struct error *err)
{
        int r = 0;

        if (!s->regions)
                r = region_symbols_new(s->dictionary, &s->regions, err);
        if (r == 0 && !s->region_images)
                r = region_images_new(s->dictionary, s->options.spool ? &s->spool : NULL, s->options.search,
                                      &s->region_images, err);
        for (size_t i = 0; i < group->n_places && r == 0; i++)
                r = resolve_region(s, group, &group->places[i], sink, err);
        if (group->finding.n_named > 0)
                group->finding.source = IMAGE_SOURCE_TRACE;
        return r;
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

static int resolve_group(struct symbolizer *s, struct group *group, const struct symbolizer_sink *sink,
                         struct error *err)
{
        int r;

        switch (group->module->kind) {
        case TRACE_MODULE_KERNEL:
                r = resolve_kernel(s, group, sink, err);
                break;
        case TRACE_MODULE_ANONYMOUS:
                r = resolve_regions(s, group, sink, err);
                break;
        default:
                return resolve_file(s, group, sink, err);
        }
        if (r == 0 && sink->end_module)
                r = sink->end_module(sink->context, &group->finding, err);
        return r;
}

int symbolizer_resolve(struct symbolizer *s, uint32_t task, const struct symbolizer_sink *sink,
                       struct error *err)
{
        size_t i = s->tasks[task].first;
        size_t end = i + s->tasks[task].n;
        int r = 0;

        while (i < end && r == 0) {
                uint32_t module = s->places[i].module;
                struct group group = { .id = module,
                                       .module = module_row(s, module),
                                       .places = s->places + i };

                while (i < end && s->places[i].module == module) {
                        group.n_places++;
                        i++;
                }
                group.finding = (struct module_finding){ .module = module,
                                                         .n_frames = (uint32_t)group.n_places };
                r = sink->begin_module(sink->context, module, err);
                if (r == 0)
                        r = resolve_group(s, &group, sink, err);
        }
        return r;
}

int symbolizer_run(const struct trace_dictionary *dictionary, const struct symbolizer_options *options,
                   const struct symbolizer_sink *sink, struct error *err)
{
        struct symbolizer *s = NULL;
        int r = symbolizer_new(dictionary, options, &s, err);

        for (uint32_t task = 0; r == 0 && s && task < symbolizer_count_tasks(s); task++)
                r = symbolizer_resolve(s, task, sink, err);
        symbolizer_free(s);
        return r;
}
