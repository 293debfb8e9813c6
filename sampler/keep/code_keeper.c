/* SPDX-License-Identifier: MIT */
/*
 * Modules of the trace have code, and several modules may have the same code.  It is identified by the
 * build-id, where the kernel reports one, and the size of the file, since a stripped file has the build-id
 * of the whole one; otherwise each module has its own code, and code that turns out to have the same
 * content shares an attachment.
 *
 * A file that was gone in one process may be present in the next process that maps it.  So missing files
 * are counted at the end.
 */
#include "sampler/keep/code_keeper.h"

#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/intern.h"
#include "base/io.h"
#include "format/attachment_chunk.h"
#include "format/trace_dictionary.h"
#include "sampler/keep/image_reader.h"
#include "sampler/keep/keep_policy.h"
#include "sampler/keep/module_file.h"
#include "sampler/keep/opened_files.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/recording.h"
#include "symbolize/images/image_spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TRIES_MAX 8 /* tries to find a file, in other processes or later in the same one */
#define SIZES_MAX 8 /* sizes that are told apart for one build-id; further ones count as the last */

/*
 * A file that was mapped before the recording began is kept at once when it has this many places in call
 * stacks.  The other files are kept at the end, those with more places first, as long as they take no more
 * than FEW_BYTES_MAX together.
 */
#define PLACES_ENOUGH 3
#define FEW_BYTES_MAX (UINT64_C(8) << 20)

enum code_state {
        CODE_NEW = 0,
        CODE_COMING,
        CODE_STAGED, /* the code was read, and is kept when it has places */
        CODE_KEPT,
        CODE_NOTHING, /* no code is kept: the file is no ELF file, has no places, or its loss is counted */
        CODE_MISSING, /* `failure` says why */
};

struct kept_code {
        enum code_state state;
        enum trace_image_state failure;
        uint8_t n_tries;
        uint8_t n_places;           /* in call stacks; PLACES_ENOUGH = or more */
        bool needs_places;          /* if it is large */
        uint32_t attachment;        /* if KEPT */
        uint32_t first_module;      /* of those with this code */
        uint64_t size_bytes;        /* of the file; 0 = not known yet */
        uint32_t next_size;         /* code of another size with this build-id; 0 = none */
        struct staged_image staged; /* if STAGED */
};

/* Where a module can be found, for later use. */
struct module_place {
        uint32_t pid;
        struct perf_mmap mmap; /* its path follows */
        char path[];
};

struct kept_module {
        uint32_t code;        /* id of the module's code; 0 = it has none that is kept */
        uint32_t next_module; /* with the same code; 0 = none */
        bool is_judged;       /* the module need not be kept, or not before it has samples */
        /* places of its code that were seen in stacks; PLACES_ENOUGH = that many or more */
        uint8_t n_places;
        struct module_place
                *place; /* heap: if the module was judged and may be kept; NULL = it will not be, or was */
};

/* An image on its way into the trace. */
struct leaving_image {
        struct staged_image image;
        uint32_t attachment;
        uint64_t at_bytes; /* handed out up to here */
};

struct code_keeper {
        const struct recording *recording;
        struct code_keeper_options options;
        struct keep_policy policy;
        struct image_reader *reader; /* NULL = nothing is kept */
        struct kept_code *codes;     /* heap; by id - 1 */
        size_t n_codes, codes_capacity;
        struct kept_module *modules; /* heap; by id in MODULES */
        size_t n_modules, modules_capacity;
        struct intern build_ids;
        uint32_t *code_of_build_id; /* heap; by the id in build_ids - 1: the first code with that build-id */
        size_t build_ids_capacity;
        struct leaving_image *leaving; /* heap; from first_leaving on */
        size_t first_leaving, n_leaving, leaving_capacity;
        size_t n_released;       /* of these, how many may leave: their rows are written */
        uint64_t few_left_bytes; /* of FEW_BYTES_MAX */
        bool has_enough;         /* code that is STAGED has its places */
        uint8_t *part;           /* heap: scratch of ATTACHMENT_CHUNK_BYTES_MAX */
};

/* ---- life ---------------------------------------------------------------------------------------------- */

int code_keeper_new(const struct recording *recording, const struct code_keeper_options *options,
                    struct code_keeper **ret_keeper, struct error *err)
{
        struct code_keeper *k = calloc(1, sizeof(*k));
        int r = 0;

        if (!k)
                return error_set(err, -ENOMEM, "no memory for code that is kept");
        k->recording = recording;
        k->options = *options;
        k->few_left_bytes = FEW_BYTES_MAX;
        if (k->options.bytes_max == 0)
                k->options.bytes_max = CODE_KEEPER_BYTES_MAX;
        intern_init(&k->build_ids, 0, 0);
        if (options->mode != CODE_KEEPER_NONE) {
                k->part = malloc(ATTACHMENT_CHUNK_BYTES_MAX);
                if (!k->part || keep_policy_init(&k->policy, options->temporary_folder) < 0)
                        r = error_set(err, -ENOMEM, "no memory for code that is kept");
                if (r == 0)
                        r = image_reader_start(k->options.bytes_max, &k->reader, err);
        }
        if (r < 0)
                code_keeper_free(k);
        else
                *ret_keeper = k;
        return r;
}

void code_keeper_free(struct code_keeper *k)
{
        if (!k)
                return;
        image_reader_stop(k->reader);
        keep_policy_deinit(&k->policy);
        for (size_t i = 0; i < k->n_modules; i++)
                free(k->modules[i].place);
        intern_deinit(&k->build_ids);
        free(k->code_of_build_id);
        free(k->modules);
        free(k->codes);
        free(k->leaving);
        free(k->part);
        free(k);
}

int code_keeper_fd(const struct code_keeper *k)
{
        return k->reader ? image_reader_fd(k->reader) : -1;
}

/* ---- known code ---------------------------------------------------------------------------------------- */

static struct kept_code *code_of_id(const struct code_keeper *k, uint32_t id)
{
        return &k->codes[id - 1];
}

/* Makes room for a module; one that was not met before is all zero.  Returns 0 or -ENOMEM. */
static int reserve_module(struct code_keeper *k, uint32_t module)
{
        int r = array_extend(&k->modules, &k->modules_capacity, k->n_modules, (size_t)module + 1,
                             sizeof(*k->modules));

        if (r == 0 && module >= k->n_modules)
                k->n_modules = (size_t)module + 1;
        return r;
}

static int add_code(struct code_keeper *k, uint32_t *ret_id)
{
        int r = array_reserve(&k->codes, &k->codes_capacity, k->n_codes + 1, sizeof(*k->codes));

        if (r < 0)
                return r;
        k->codes[k->n_codes++] = (struct kept_code){ .state = CODE_NEW };
        *ret_id = (uint32_t)k->n_codes;
        return 0;
}

/*
 * Finds the code of this size among the codes of one build-id, of which the first is @id; 0 if it is new.
 */
static uint32_t find_size(struct code_keeper *k, uint32_t id, uint64_t size_bytes)
{
        for (unsigned n = 1;; n++) {
                struct kept_code *code = code_of_id(k, id);

                if (code->size_bytes == 0)
                        code->size_bytes = size_bytes;
                if (size_bytes == 0 || code->size_bytes == size_bytes || n == SIZES_MAX)
                        return id;
                if (code->next_size == 0)
                        return 0;
                id = code->next_size;
        }
}

/* Finds the code with this build-id and size (0 = any), and adds it if it is new. */
static int add_code_of_build_id(struct code_keeper *k, const struct perf_mmap *mmap, uint64_t size_bytes,
                                uint32_t *ret_id)
{
        uint32_t build_id, *first;
        int r = array_reserve(&k->code_of_build_id, &k->build_ids_capacity, (size_t)k->build_ids.n_items + 1,
                              sizeof(*k->code_of_build_id));

        if (r < 0)
                return r;
        r = intern_add(&k->build_ids, mmap->build_id, mmap->build_id_bytes, &build_id);
        if (r < 0)
                return r;
        first = &k->code_of_build_id[build_id - 1];
        if (r == 1)
                *first = 0;
        *ret_id = *first != 0 ? find_size(k, *first, size_bytes) : 0;
        if (*ret_id != 0)
                return 0;
        r = add_code(k, ret_id);
        if (r < 0)
                return r;
        code_of_id(k, *ret_id)->size_bytes = size_bytes;
        code_of_id(k, *ret_id)->next_size = *first;
        *first = *ret_id;
        return 0;
}

/* Adds a row, unless the table is full. */
static int add_row(struct code_keeper *k, uint32_t module, uint32_t attachment, enum trace_image_state state)
{
        struct trace_module_image row = { .module = module, .attachment = attachment, .state = state };
        uint32_t id;
        int r = trace_dictionary_add(k->recording->dictionary, TRACE_TABLE_MODULE_IMAGES, &row, &id);

        return r == -EOVERFLOW ? 0 : r;
}

/* Gives a module this code; if the code is in the trace already, only a row is missing and is added. */
static int join(struct code_keeper *k, uint32_t module, uint32_t id)
{
        struct kept_code *code = code_of_id(k, id);

        k->modules[module].code = id;
        k->modules[module].next_module = code->first_module;
        code->first_module = module;
        return code->state == CODE_KEPT ? add_row(k, module, code->attachment, TRACE_IMAGE_KEPT) : 0;
}

static void miss(struct code_keeper *k, uint32_t id, enum trace_image_state failure)
{
        code_of_id(k, id)->state = CODE_MISSING;
        code_of_id(k, id)->failure = failure;
}

static enum trace_image_state failure_of(int code)
{
        return code == -EFBIG                       ? TRACE_IMAGE_OVER_LIMIT
               : code == -EDQUOT                    ? TRACE_IMAGE_FILE_LIMIT
               : code == -ENOENT || code == -ESTALE ? TRACE_IMAGE_TOO_LATE
                                                    : TRACE_IMAGE_UNREADABLE;
}

static bool is_worth_a_try(const struct kept_code *code)
{
        return code->state == CODE_NEW ||
               (code->state == CODE_MISSING && code->failure == TRACE_IMAGE_TOO_LATE &&
                code->n_tries < TRIES_MAX);
}

/* ---- wanting ------------------------------------------------------------------------------------------- */

/* Has the image read.  A file that finds no room in the queue can only be requested again. */
static void put(struct code_keeper *k, uint32_t id, struct image_request *request)
{
        uint64_t now_ns = clock_raw_ns(),
                 left_ns = recorder_pace_left(k->recording->pace, PACED_ROOM, now_ns);

        request->id = id;
        if (image_reader_put(k->reader, request, left_ns < PACE_KEEP_ROOM_NS ? left_ns : PACE_KEEP_ROOM_NS) ==
            0)
                code_of_id(k, id)->state = CODE_COMING;
        else
                miss(k, id, TRACE_IMAGE_TOO_LATE);
        recorder_pace_spend(k->recording->pace, PACED_ROOM, clock_raw_ns() - now_ns);
}

/* Gives a module its code, which is in the file @fd; -1 = it is not there.  Returns 0 or -ENOMEM. */
static int find_code(struct code_keeper *k, uint32_t module, const struct perf_mmap *mmap, int fd)
{
        struct stat status = { .st_size = 0 };
        uint32_t id = 0;
        int r;

        if (k->modules[module].code != 0)
                return 0;
        if (fd >= 0 && fstat(fd, &status) < 0)
                status.st_size = 0;
        r = mmap->build_id_bytes > 0 ? add_code_of_build_id(k, mmap, (uint64_t)status.st_size, &id)
                                     : add_code(k, &id);
        return r < 0 ? r : join(k, module, id);
}

/* Takes @fd, a file that is to be kept. */
static int want_open_file(struct code_keeper *k, uint32_t module, const struct perf_mmap *mmap, int fd)
{
        struct image_request request = { .fd = fd,
                                         .build_id_bytes = mmap->build_id_bytes,
                                         .written_ns = mmap->written_ns };
        int r = find_code(k, module, mmap, fd);
        struct kept_code *code = r == 0 ? code_of_id(k, k->modules[module].code) : NULL;

        if (!code || !is_worth_a_try(code)) {
                io_close(&request.fd);
                return r;
        }
        memcpy(request.build_id, mmap->build_id, mmap->build_id_bytes);
        code->needs_places = !mmap->was_there && !k->modules[module].place;
        code->n_tries++;
        put(k, k->modules[module].code, &request);
        return 0;
}

/* Notes a file that is to be kept, and cannot be opened. */
static int want_missing_file(struct code_keeper *k, uint32_t module, const struct perf_mmap *mmap, int why)
{
        int r = find_code(k, module, mmap, -1);
        struct kept_code *code = r == 0 ? code_of_id(k, k->modules[module].code) : NULL;

        if (!code || !is_worth_a_try(code))
                return r;
        code->n_tries++;
        miss(k, k->modules[module].code, failure_of(why));
        return 0;
}

/*
 * Notes a module that is kept only if samples ask for it, which is possible with CODE_KEEPER_ALL or if the
 * file is one to keep.
 */
static int judge(struct code_keeper *k, uint32_t module, uint32_t pid, const struct perf_mmap *mmap,
                 bool is_one_to_keep)
{
        struct module_place *place;

        k->modules[module].is_judged = true;
        if (k->options.mode != CODE_KEEPER_ALL && !is_one_to_keep)
                return 0;
        place = malloc(sizeof(*place) + mmap->path_bytes);
        if (!place)
                return -ENOMEM;
        place->pid = pid;
        place->mmap = *mmap;
        memcpy(place->path, mmap->path, mmap->path_bytes);
        place->mmap.path = place->path;
        k->modules[module].place = place;
        return 0;
}

/*
 * Whether the file is to be kept; a file that cannot even be opened counts if it is gone, or should
 * have been kept.
 */
static bool is_wanted(const struct code_keeper *k, uint32_t pid, const struct perf_mmap *mmap, int fd)
{
        struct stat status;

        if (fd == -ENOENT || (fd >= 0 && fstat(fd, &status) < 0))
                return true;
        return fd >= 0 ? keep_policy_wants_file(&k->policy, pid, mmap->path, mmap->path_bytes, &status)
                       : keep_policy_wants_path(&k->policy, mmap->path, mmap->path_bytes);
}

int code_keeper_want_file(struct code_keeper *k, uint32_t module, const struct trace_module *row,
                          uint32_t pid, const struct perf_mmap *mmap)
{
        bool is_vdso = row->kind == TRACE_MODULE_VDSO;
        const struct kept_module *m;
        bool is_one_to_keep;
        int fd, r;

        /*
         * A jitdump is not kept as a module's code: jit_files reads it, and counts a jitdump that cannot be
         * read.
         */
        if (!k->reader || (row->kind != TRACE_MODULE_FILE && !is_vdso) || perf_mmap_is_jitdump(mmap))
                return 0;
        r = reserve_module(k, module);
        if (r < 0)
                return r;
        m = &k->modules[module];
        if (m->is_judged || (m->code != 0 && !is_worth_a_try(code_of_id(k, m->code))))
                return 0;
        fd = opened_files_open(k->recording->opened, pid, mmap, NULL);
        if (fd == -ENOMEM)
                return fd;
        if (is_vdso && fd == -ENOENT)
                fd = -ENOTSUP; /* the vdso of a 32-bit process is not ours */
        is_one_to_keep = is_vdso || is_wanted(k, pid, mmap, fd);
        if (!is_vdso && (!is_one_to_keep || mmap->was_there)) {
                if (fd >= 0)
                        io_close(&fd);
                return judge(k, module, pid, mmap, is_one_to_keep);
        }
        return fd >= 0 ? want_open_file(k, module, mmap, fd) : want_missing_file(k, module, mmap, fd);
}

int code_keeper_miss_file(struct code_keeper *k, uint32_t module, const struct perf_mmap *mmap)
{
        int r = k->reader ? reserve_module(k, module) : 0;

        return r == 0 && k->reader ? want_missing_file(k, module, mmap, -ENOENT) : r;
}

static void drop_place(struct kept_module *m)
{
        free(m->place);
        m->place = NULL;
}

/* Keeps the code of a module after all, if there is memory for it. */
static void want_place(struct code_keeper *k, uint32_t module, int fd)
{
        struct kept_module *m = &k->modules[module];

        if (fd >= 0)
                (void)want_open_file(k, module, &m->place->mmap, fd);
        else
                (void)want_missing_file(k, module, &m->place->mmap, fd);
        drop_place(m);
}

static int open_place(const struct kept_module *m)
{
        return module_file_open(m->place->pid, &m->place->mmap, NULL);
}

static void note_place_of_code(struct code_keeper *k, uint32_t id)
{
        struct kept_code *code = code_of_id(k, id);

        if (code->n_places < PLACES_ENOUGH && ++code->n_places == PLACES_ENOUGH && code->state == CODE_STAGED)
                k->has_enough = true;
}

void code_keeper_note_place(struct code_keeper *k, uint32_t module)
{
        struct kept_module *m = module < k->n_modules ? &k->modules[module] : NULL;

        if (m && m->code != 0)
                note_place_of_code(k, m->code);
        if (!m || !m->place || ++m->n_places < (m->place->mmap.was_there ? PLACES_ENOUGH : 1))
                return;
        want_place(k, module, open_place(m));
}

/* Keeps a module with few places, if the room that is left for such modules is enough. */
static void want_few(struct code_keeper *k, uint32_t module)
{
        struct kept_module *m = &k->modules[module];
        struct stat status;
        int fd = open_place(m);

        if (fd >= 0 && fstat(fd, &status) == 0) {
                if ((uint64_t)status.st_size > k->few_left_bytes) {
                        io_close(&fd);
                        fd = -EFBIG;
                } else {
                        k->few_left_bytes -= (uint64_t)status.st_size;
                }
        }
        want_place(k, module, fd);
}

/* Keeps files with few places at the end of the recording, those with more places first. */
static void want_all_few(struct code_keeper *k)
{
        for (unsigned n_places = PLACES_ENOUGH - 1; n_places > 0; n_places--)
                for (size_t module = 0; module < k->n_modules; module++)
                        if (k->modules[module].place && k->modules[module].n_places == n_places)
                                want_few(k, (uint32_t)module);
}

static void free_source(const struct code_source *source)
{
        if (source->free)
                source->free(source->source);
}

static bool is_in_hand(enum code_state state)
{
        return state == CODE_COMING || state == CODE_STAGED || state == CODE_KEPT;
}

bool code_keeper_lacks(const struct code_keeper *k, uint32_t module)
{
        uint32_t id = module < k->n_modules ? k->modules[module].code : 0;
        enum code_state state = id != 0 ? code_of_id(k, id)->state : CODE_NEW;

        return k->reader && !is_in_hand(state);
}

int code_keeper_want(struct code_keeper *k, uint32_t module, const struct code_source *source)
{
        struct image_request request = { .fd = -1, .source = *source };
        struct kept_module *m;
        uint32_t id = 0;
        int r = k->reader ? reserve_module(k, module) : -ENODEV;

        if (r == 0) {
                m = &k->modules[module];
                id = m->code;
                if (id == 0 && (r = add_code(k, &id)) == 0)
                        r = join(k, module, id);
        }
        if (r < 0 || is_in_hand(code_of_id(k, id)->state)) {
                free_source(source);
                return r == -ENODEV ? 0 : r;
        }
        put(k, id, &request);
        return 0;
}

/* Code that was read already, as a source. */
struct ready_code {
        struct byte_buffer payload;
        uint32_t kind;
};

static int read_ready(void *source, uint64_t bytes_max, struct byte_buffer *out, uint32_t *ret_kind,
                      struct error *err)
{
        struct ready_code *ready = source;

        if (ready->payload.used_bytes > bytes_max)
                return error_set(err, -EFBIG, "%zu bytes of code", ready->payload.used_bytes);
        byte_buffer_deinit(out);
        *out = ready->payload;
        ready->payload = (struct byte_buffer){ .data = NULL };
        *ret_kind = ready->kind;
        return 0;
}

static void free_ready(void *source)
{
        struct ready_code *ready = source;

        byte_buffer_deinit(&ready->payload);
        free(ready);
}

int code_keeper_add(struct code_keeper *k, uint32_t module, uint32_t kind, struct byte_buffer *payload)
{
        struct ready_code *ready = malloc(sizeof(*ready));
        struct code_source source = { .source = ready, .read = read_ready, .free = free_ready };

        if (!ready) {
                byte_buffer_deinit(payload);
                return -ENOMEM;
        }
        *ready = (struct ready_code){ .payload = *payload, .kind = kind };
        *payload = (struct byte_buffer){ .data = NULL };
        return code_keeper_want(k, module, &source);
}

/* ---- files that were read ------------------------------------------------------------------------------ */

/*
 * Adds an attachment for the image, or finds the one with the same bytes.  Returns 0 with @ret_id,
 * -EOVERFLOW, -ENOMEM.
 */
static int attach(struct code_keeper *k, const struct staged_image *image, uint32_t *ret_id)
{
        struct trace_attachment row = { .size_bytes = image->size_bytes,
                                        .hash = image->hash,
                                        .kind = image->kind };
        uint32_t n_known = trace_dictionary_count(k->recording->dictionary, TRACE_TABLE_ATTACHMENTS);
        int r = array_reserve(&k->leaving, &k->leaving_capacity, k->n_leaving + 1, sizeof(*k->leaving));

        if (r == 0)
                r = trace_dictionary_add(k->recording->dictionary, TRACE_TABLE_ATTACHMENTS, &row, ret_id);
        if (r < 0 || *ret_id <= n_known)
                image_reader_forget(k->reader, image);
        else
                k->leaving[k->n_leaving++] = (struct leaving_image){ .image = *image, .attachment = *ret_id };
        return r < 0 ? r : 0;
}

/* Files with no sample, or hardly one, would cost more than all the rest of a short recording. */
static bool has_to_wait(const struct kept_code *code, const struct staged_image *image)
{
        return image->code == 0 && code->needs_places && code->n_places < PLACES_ENOUGH &&
               image->size_bytes > PACE_KEEP_AT_ONCE_BYTES;
}

static int take_image(struct code_keeper *k, const struct staged_image *image)
{
        struct kept_code *code = code_of_id(k, image->id);
        int r = image->code;

        if (has_to_wait(code, image)) {
                code->staged = *image;
                code->state = CODE_STAGED;
                return 0;
        }

        if (r == 0)
                r = attach(k, image, &code->attachment);
        if (r == -EOVERFLOW)
                r = -EFBIG;
        if (r == -ENOMEM && image->code == 0)
                return r;
        if (r == -ENOEXEC)
                code->state = CODE_NOTHING;
        else if (r < 0)
                miss(k, image->id, failure_of(r));
        if (r < 0)
                return 0;
        code->state = CODE_KEPT;
        for (uint32_t module = code->first_module; r == 0 && module != 0;
             module = k->modules[module].next_module)
                r = add_row(k, module, code->attachment, TRACE_IMAGE_KEPT);
        return r;
}

/* Code with few places, at the end. */
static int take_few_staged(struct code_keeper *k, struct kept_code *code)
{
        if (code->n_places > 0 && code->staged.size_bytes <= k->few_left_bytes) {
                k->few_left_bytes -= code->staged.size_bytes;
                code->needs_places = false;
                return take_image(k, &code->staged);
        }
        image_reader_forget(k->reader, &code->staged);
        if (code->n_places > 0)
                miss(k, code->staged.id, TRACE_IMAGE_OVER_LIMIT);
        else
                code->state = CODE_NOTHING;
        return 0;
}

/* Keeps staged code that has this many places.  Returns 0 or -ENOMEM. */
static int take_staged(struct code_keeper *k, unsigned n_places)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < k->n_codes; i++)
                if (k->codes[i].state == CODE_STAGED && k->codes[i].n_places == n_places)
                        r = n_places == PLACES_ENOUGH ? take_image(k, &k->codes[i].staged)
                                                      : take_few_staged(k, &k->codes[i]);
        return r;
}

static int take_all_staged(struct code_keeper *k)
{
        int r = 0;

        for (unsigned n_places = PLACES_ENOUGH; r == 0 && n_places > 0; n_places--)
                r = take_staged(k, n_places);
        return r == 0 ? take_staged(k, 0) : r;
}

static int count_missing(struct code_keeper *k)
{
        static const enum trace_loss_reason reasons[TRACE_IMAGE_STATE_COUNT] = {
                [TRACE_IMAGE_TOO_LATE] = TRACE_LOSS_CODE_TOO_LATE,
                [TRACE_IMAGE_OVER_LIMIT] = TRACE_LOSS_CODE_OVER_LIMIT,
                [TRACE_IMAGE_UNREADABLE] = TRACE_LOSS_CODE_UNREADABLE,
                [TRACE_IMAGE_FILE_LIMIT] = TRACE_LOSS_CODE_FILE_LIMIT,
        };
        int r = 0;

        for (size_t i = 0; r == 0 && i < k->n_codes; i++) {
                struct kept_code *code = &k->codes[i];

                if (code->state == CODE_COMING) /* it never came */
                        miss(k, (uint32_t)i + 1, TRACE_IMAGE_UNREADABLE);
                if (code->state != CODE_MISSING)
                        continue;
                loss_counter_add(k->recording->losses, reasons[code->failure], 1);
                code->state = CODE_NOTHING; /* once */
                for (uint32_t module = code->first_module; r == 0 && module != 0;
                     module = k->modules[module].next_module)
                        r = add_row(k, module, 0, code->failure);
        }
        return r;
}

int code_keeper_take(struct code_keeper *k, bool wait)
{
        struct staged_image image;
        int r = 0;

        if (!k->reader)
                return 0;
        if (wait)
                want_all_few(k);
        do {
                while (r == 0 && image_reader_next(k->reader, &image) == 1)
                        r = take_image(k, &image);
        } while (r == 0 && wait && image_reader_wait(k->reader, PACE_KEEP_LAST_NS) == 1);
        if (r == 0 && k->has_enough)
                r = take_staged(k, PLACES_ENOUGH);
        k->has_enough = false;
        if (r == 0 && wait)
                r = take_all_staged(k);
        return r == 0 && wait ? count_missing(k) : r;
}

/* ---- into the trace ------------------------------------------------------------------------------------ */

void code_keeper_rows_written(struct code_keeper *k)
{
        k->n_released = k->n_leaving;
}

bool code_keeper_has_parts(const struct code_keeper *k)
{
        return k->first_leaving < k->n_released;
}

/* Removes the image at the front; the list begins anew when it is empty. */
static void step(struct code_keeper *k)
{
        k->first_leaving++;
        if (k->first_leaving < k->n_leaving)
                return;
        k->first_leaving = 0;
        k->n_leaving = 0;
        k->n_released = 0;
}

int code_keeper_next(struct code_keeper *k, struct byte_buffer *body)
{
        struct leaving_image *leaving;
        struct attachment_chunk part;
        uint64_t left_bytes;
        int r;

        if (!code_keeper_has_parts(k))
                return 0;
        leaving = &k->leaving[k->first_leaving];
        left_bytes = leaving->image.size_bytes - leaving->at_bytes;
        part = (struct attachment_chunk){ .attachment = leaving->attachment,
                                          .offset_bytes = leaving->at_bytes,
                                          .bytes = k->part,
                                          .n_bytes = left_bytes < ATTACHMENT_CHUNK_BYTES_MAX
                                                             ? (size_t)left_bytes
                                                             : ATTACHMENT_CHUNK_BYTES_MAX };
        r = image_reader_copy(k->reader, &leaving->image, leaving->at_bytes, k->part, part.n_bytes);
        if (r == 0)
                r = attachment_chunk_encode(&part, body);
        /* A full spool may cost names, but does not harm the trace. */
        if (r == 0 && k->options.spool)
                (void)image_spool_add_part(k->options.spool, k->recording->dictionary, &part, NULL);
        if (r < 0)
                return r;
        image_reader_release(k->reader, &leaving->image, leaving->at_bytes, leaving->at_bytes + part.n_bytes);
        leaving->at_bytes += part.n_bytes;
        if (leaving->at_bytes == leaving->image.size_bytes)
                step(k);
        return 1;
}
