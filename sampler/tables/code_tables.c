/* SPDX-License-Identifier: MIT */
/*
 * Modules of the trace have files, and each file has one table, however many modules and processes use it.
 * A file is identified by its build-id, or by the results of fstat(2).  A known file is never opened again,
 * so that hundreds of new processes a second cost a lookup each.
 *
 * The table process takes a few files at a time.  Up to a limit the others wait here with an open
 * descriptor; beyond it only their process and path are kept, and they are opened when it is their turn.
 * While the tables are patient, the same queue keeps all files until one is needed.
 */
#include "sampler/tables/code_tables.h"

#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_rows.h"
#include "sampler/keep/module_file.h"
#include "sampler/keep/opened_files.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/tables/jit_frames.h"
#include "sampler/tables/table_process.h"
#include "sampler/tables/table_store.h"
#include "sampler/tracks/loss_counter.h"
#include "unwind/unwind_cache.h"
#include "unwind/unwind_module.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_MAX_WAITING  128                    /* files that wait opened */
#define PATIENT_FILES_MAX (OPEN_MAX_WAITING / 2) /* with more, the tables are patient no longer */
#define TRIES_MAX         8                      /* mappings for which a file is looked for */
#define NO_FILE           UINT32_MAX             /* the file of a module for which there is no room */

enum file_state {
        FILE_NEW = 0,
        FILE_COMING,
        FILE_READY,
        FILE_NOTHING, /* it has no unwind information, or none that can be read */
        FILE_MISSING, /* it was not found; another process that maps it may have it */
        FILE_WRITTEN, /* it had another content when it was read; the next mapping may find it again */
};

struct file {
        enum file_state state;
        uint32_t pid; /* where it was looked for last */
        uint8_t n_tries;
        bool is_counted; /* as a loss */
        bool is_to_be_kept;
        struct table_store_key key; /* if it is */
        struct module_landmarks landmarks;
};

/* A file that waits for its turn. */
struct queued {
        uint32_t file, pid;
        int fd;                /* owned; -1 = to be opened */
        struct perf_mmap mmap; /* its path is `path` */
        char *path;            /* heap, owned */
};

struct code_tables {
        struct table_process *process; /* borrowed */
        struct recorder_pace *pace;    /* borrowed */
        struct loss_counter *losses;   /* borrowed */
        struct opened_files *opened;   /* borrowed; or NULL */
        struct unwind_cache cache;
        struct jit_tables jit;
        struct file *files; /* heap; by the cache's id - 1 */
        size_t files_capacity;
        uint32_t *file_of; /* heap; by module: the cache's id; 0 = not wanted yet */
        size_t n_modules, modules_capacity;
        struct queued *queue; /* heap; from `first_queued` on, in their order */
        size_t first_queued, n_queued, queue_capacity;
        size_t n_open; /* of the queue */
        uint32_t epoch;
        bool is_patient;  /* what is queued waits, ... */
        bool is_released; /* ... unless it was released, until all of it is sent */
        bool is_gone;     /* the table process: nothing comes any more */
};

int code_tables_new(struct table_process *process, struct recorder_pace *pace, struct loss_counter *losses,
                    struct code_tables **ret_tables, struct error *err)
{
        struct code_tables *t = calloc(1, sizeof(*t));

        if (!t)
                return error_set(err, -ENOMEM, "no memory for unwind tables");
        t->process = process;
        t->pace = pace;
        t->losses = losses;
        unwind_cache_init(&t->cache, 0);
        *ret_tables = t;
        return 0;
}

static void drop_queued(struct code_tables *t, struct queued *q)
{
        t->n_open -= q->fd >= 0;
        io_close(&q->fd);
        free(q->path);
        q->path = NULL;
}

static void drop_queue(struct code_tables *t)
{
        for (size_t i = t->first_queued; i < t->n_queued; i++)
                drop_queued(t, &t->queue[i]);
        t->first_queued = 0;
        t->n_queued = 0;
}

void code_tables_free(struct code_tables *t)
{
        if (!t)
                return;
        drop_queue(t);
        free(t->queue);
        free(t->file_of);
        free(t->files);
        unwind_cache_deinit(&t->cache);
        jit_tables_deinit(&t->jit);
        free(t);
}

uint32_t code_tables_epoch(const struct code_tables *t)
{
        return t->epoch;
}

void code_tables_use_opened(struct code_tables *t, struct opened_files *opened)
{
        t->opened = opened;
}

/* ---- known files --------------------------------------------------------------------------------------- */

static struct file *file_of_id(const struct code_tables *t, uint32_t id)
{
        return &t->files[id - 1];
}

/* The file of a module, or NULL. */
static struct file *find_file(const struct code_tables *t, uint32_t module)
{
        uint32_t id = module < t->n_modules ? t->file_of[module] : 0;

        return id == 0 || id == NO_FILE ? NULL : file_of_id(t, id);
}

static void set_state(struct code_tables *t, uint32_t id, enum file_state state)
{
        file_of_id(t, id)->state = state;
        t->epoch++;
}

/* Notes that a file has no table; however often it fails, the loss is counted once. */
static void lose(struct code_tables *t, uint32_t id, enum file_state state)
{
        struct file *file = file_of_id(t, id);

        if (!file->is_counted)
                loss_counter_add(t->losses, TRACE_LOSS_UNWIND_FILE_FAILED, 1);
        file->is_counted = true;
        set_state(t, id, state);
}

/* Without the table process no more tables come. */
static void give_up(struct code_tables *t)
{
        t->is_gone = true;
        drop_queue(t);
        for (uint32_t id = 1; id <= t->cache.keys.n_items; id++)
                if (file_of_id(t, id)->state == FILE_COMING)
                        lose(t, id, FILE_NOTHING);
}

enum code_tables_answer code_tables_find(const struct code_tables *t, uint32_t module,
                                         const struct unwind_module **ret_module)
{
        const struct file *file = find_file(t, module);

        if (!file)
                return CODE_TABLES_NONE;
        if (file->state == FILE_READY)
                *ret_module = unwind_cache_get(&t->cache, t->file_of[module]);
        return file->state == FILE_READY    ? CODE_TABLES_READY
               : file->state == FILE_COMING ? CODE_TABLES_COMING
                                            : CODE_TABLES_NONE;
}

/* ---- asking -------------------------------------------------------------------------------------------- */

/* Returns 0 if there is no more to be done for this file now, -EAGAIN if it has to wait for its turn. */
static int ask(struct code_tables *t, uint32_t id, const struct perf_mmap *mmap, int fd)
{
        struct table_request request = { .id = id,
                                         .build_id_bytes = mmap->build_id_bytes,
                                         .written_ns = mmap->written_ns };
        struct file *file = file_of_id(t, id);
        int r;

        memcpy(request.build_id, mmap->build_id, mmap->build_id_bytes);
        /* Taken before the file is read: if the file changes meanwhile, no file has this key any more. */
        file->is_to_be_kept = t->process->store &&
                              table_store_identify(t->process->store, fd, request.build_id,
                                                   request.build_id_bytes, &file->key);
        r = table_process_ask(t->process, &request, fd);
        if (r == 0)
                return 0;
        if (r == -EAGAIN)
                return r;
        lose(t, id, FILE_NOTHING);
        if (r == -EPIPE)
                give_up(t);
        return 0;
}

/* Exchanges a queued file with the first one. */
static void swap_queued(struct code_tables *t, size_t i)
{
        struct queued first = t->queue[t->first_queued];

        t->queue[t->first_queued] = t->queue[i];
        t->queue[i] = first;
}

/* @fd is the queue's from here on. */
static int add_queued(struct code_tables *t, uint32_t id, uint32_t pid, const struct perf_mmap *mmap, int fd)
{
        struct queued q = { .file = id, .pid = pid, .fd = fd, .mmap = *mmap };

        if (t->first_queued == t->n_queued) {
                t->first_queued = 0;
                t->n_queued = 0;
        }
        if (t->n_open == OPEN_MAX_WAITING)
                io_close(&q.fd);
        q.path = malloc(mmap->path_bytes + 1);
        if (!q.path || array_reserve(&t->queue, &t->queue_capacity, t->n_queued + 1, sizeof(*t->queue)) < 0) {
                io_close(&q.fd);
                free(q.path);
                return -ENOMEM;
        }
        memcpy(q.path, mmap->path, mmap->path_bytes);
        q.mmap.path = q.path;
        t->n_open += q.fd >= 0;
        t->queue[t->n_queued++] = q;
        return 0;
}

/*
 * Opens the first queued file.  Returns false if no descriptor is free, and an open file was moved before
 * it.
 */
static bool open_first(struct code_tables *t)
{
        struct queued *first = &t->queue[t->first_queued];
        int fd = module_file_open(first->pid, &first->mmap, NULL);

        if ((fd == -EMFILE || fd == -ENFILE) && t->n_open > 0) {
                for (size_t i = t->first_queued; i < t->n_queued; i++)
                        if (t->queue[i].fd >= 0) {
                                swap_queued(t, i);
                                return false;
                        }
        }
        t->n_open += fd >= 0;
        first->fd = fd < 0 ? -1 : fd;
        return true;
}

/* Asks the table process for the tables of queued files, until it has as many requests as it takes. */
static void ask_queued(struct code_tables *t)
{
        if (t->is_patient && !t->is_released && t->n_queued - t->first_queued < PATIENT_FILES_MAX)
                return;
        t->is_released = true;
        while (t->first_queued < t->n_queued && t->process->n_waiting < TABLE_PROCESS_WAITING_MAX) {
                struct queued *q = &t->queue[t->first_queued];

                if (q->fd < 0 && !open_first(t))
                        continue;
                if (q->fd < 0)
                        lose(t, q->file, FILE_MISSING);
                else if (ask(t, q->file, &q->mmap, q->fd) == -EAGAIN || t->is_gone)
                        return;
                drop_queued(t, q);
                t->first_queued++;
        }
        t->is_released = t->first_queued < t->n_queued;
}

void code_tables_set_patient(struct code_tables *t, bool is_patient)
{
        if (t->is_patient == is_patient)
                return;
        t->is_patient = is_patient;
        ask_queued(t);
}

void code_tables_release(struct code_tables *t)
{
        t->is_released = true;
        ask_queued(t);
}

/*
 * Recognises by its name, since it is not read here, a file whose landmarks samples need before any table.
 */
static bool may_be_interpreter(const struct perf_mmap *mmap)
{
        static const char *const beginnings[] = { "python", "libpython" };
        const char *slash = memrchr(mmap->path, '/', mmap->path_bytes);
        const char *name = slash ? slash + 1 : mmap->path;
        size_t n_bytes = mmap->path_bytes - (size_t)(name - mmap->path);

        for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
                if (n_bytes >= strlen(beginnings[i]) &&
                    memcmp(name, beginnings[i], strlen(beginnings[i])) == 0)
                        return true;
        return false;
}

/*
 * Gets the table of a file on its way.
 * @fd:  taken; -1 = to be opened
 */
static int fetch(struct code_tables *t, uint32_t id, uint32_t pid, const struct perf_mmap *mmap, int fd)
{
        struct file *file = file_of_id(t, id);
        int r = -EAGAIN;

        file->pid = pid;
        file->n_tries++;
        if (t->is_gone) {
                io_close(&fd);
                lose(t, id, FILE_NOTHING);
                return 0;
        }
        if (fd < 0)
                fd = opened_files_open(t->opened, pid, mmap, NULL);
        if (fd < 0 && fd != -EMFILE && fd != -ENFILE) {
                lose(t, id, FILE_MISSING);
                return fd == -ENOMEM ? fd : 0;
        }
        set_state(t, id, FILE_COMING);
        ask_queued(t);
        if (fd >= 0 && ((t->first_queued == t->n_queued && !t->is_patient) || may_be_interpreter(mmap)))
                r = ask(t, id, mmap, fd);
        if (r == -EAGAIN)
                return add_queued(t, id, pid, mmap, fd < 0 ? -1 : fd);
        io_close(&fd);
        return r;
}

/* ---- wanting ------------------------------------------------------------------------------------------- */

static int reserve_module(struct code_tables *t, uint32_t module)
{
        int r = array_extend(&t->file_of, &t->modules_capacity, t->n_modules, (size_t)module + 1,
                             sizeof(*t->file_of));

        if (r == 0 && module >= t->n_modules)
                t->n_modules = (size_t)module + 1;
        return r;
}

/*
 * Returns the identity of a file.  If the kernel gave no build-id, the file is opened to identify it:
 * @ret_fd.
 */
static struct unwind_cache_key identify(const struct code_tables *t, uint32_t module,
                                        const struct trace_module *row, uint32_t pid,
                                        const struct perf_mmap *mmap, int *ret_fd)
{
        struct stat status;

        if (row->kind == TRACE_MODULE_VDSO && row->generation == 0)
                return unwind_cache_key_of_file(0, 0, 0, 0); /* there is one; no file has these */
        if (mmap->build_id_bytes > 0)
                return unwind_cache_key_of_build_id(mmap->build_id, mmap->build_id_bytes);
        *ret_fd = opened_files_open(t->opened, pid, mmap, NULL);
        if (*ret_fd < 0 || fstat(*ret_fd, &status) < 0)
                return unwind_cache_key_of_file(UINT64_MAX, module, 0, 0); /* as a file of its own */
        /* Programs can set the modification time, but not the change time. */
        return unwind_cache_key_of_file(status.st_dev, status.st_ino, (uint64_t)status.st_size,
                                        status.st_ctim.tv_sec * (int64_t)NS_PER_S + status.st_ctim.tv_nsec);
}

/* The next mapping of it may bring its table. */
static bool has_failed(const struct file *file)
{
        return file->state == FILE_MISSING || file->state == FILE_WRITTEN;
}

/* A module that was not wanted before.  Returns 0 with @ret_id, or -errno. */
static int add_module(struct code_tables *t, uint32_t module, const struct unwind_cache_key *key,
                      uint32_t *ret_id)
{
        int r = array_reserve(&t->files, &t->files_capacity, (size_t)t->cache.keys.n_items + 1,
                              sizeof(*t->files));

        if (r < 0)
                return r;
        r = unwind_cache_add(&t->cache, key, ret_id, NULL);
        if (r == -EOVERFLOW) {
                loss_counter_add(t->losses, TRACE_LOSS_UNWIND_FILE_FAILED, 1);
                t->file_of[module] = NO_FILE;
        }
        if (r < 0)
                return r;
        if (r == 1)
                *file_of_id(t, *ret_id) = (struct file){ .state = FILE_NEW };
        else if (!has_failed(file_of_id(t, *ret_id)))
                t->epoch++; /* of this module something is known now */
        t->file_of[module] = *ret_id;
        return 0;
}

static bool is_worth_a_try(const struct file *file, uint32_t pid)
{
        if (file->n_tries == TRIES_MAX)
                return false;
        return file->state == FILE_NEW || file->state == FILE_WRITTEN ||
               (file->state == FILE_MISSING && file->pid != pid);
}

int code_tables_want(struct code_tables *t, uint32_t module, const struct trace_module *row, uint32_t pid,
                     const struct perf_mmap *mmap)
{
        struct unwind_cache_key key;
        uint32_t id;
        int fd = -1;
        int r;

        if (row->kind != TRACE_MODULE_FILE && row->kind != TRACE_MODULE_VDSO)
                return 0;
        r = reserve_module(t, module);
        if (r < 0)
                return r;
        id = t->file_of[module];
        if (id == NO_FILE)
                return 0;
        if (id == 0) {
                key = identify(t, module, row, pid, mmap, &fd);
                r = add_module(t, module, &key, &id);
        }
        if (r == 0 && is_worth_a_try(file_of_id(t, id), pid))
                return fetch(t, id, pid, mmap, fd < 0 ? -1 : fd);
        if (fd >= 0)
                io_close(&fd);
        return r == -EOVERFLOW ? 0 : r;
}

int code_tables_want_image(struct code_tables *t, uint32_t module, int image_fd)
{
        const struct perf_mmap nowhere = { .path = "" };
        struct unwind_cache_key key = unwind_cache_key_of_file(UINT64_MAX, module, 0, 0);
        uint32_t id = 0;
        int r = image_fd < 0 ? -EINVAL : reserve_module(t, module);

        if (r == 0 && t->file_of[module] == 0)
                r = add_module(t, module, &key, &id);
        else
                r = r < 0 ? r : -EINVAL; /* known, or not to be had */
        if (r == 0)
                return fetch(t, id, 0, &nowhere, image_fd);
        io_close(&image_fd);
        return r == -ENOMEM ? r : 0;
}

int code_tables_find_landmarks(const struct code_tables *t, uint32_t module,
                               struct module_landmarks *ret_landmarks)
{
        const struct file *file = find_file(t, module);

        if (!file || !module_landmarks_are_there(&file->landmarks))
                return file && file->state == FILE_COMING ? -EAGAIN : 0;
        *ret_landmarks = file->landmarks;
        return 1;
}

/* ---- code made at run time ----------------------------------------------------------------------------- */

int code_tables_want_jit(struct code_tables *t, uint32_t process, const struct jit_frames *frames)
{
        int r = t->is_gone || process == 0 ? 0 : jit_tables_ask(&t->jit, t->process, process, frames);

        if (r == -EPIPE)
                give_up(t);
        return r == -EPIPE ? 0 : r;
}

const struct unwind_table *code_tables_find_of_jit(const struct code_tables *t, uint32_t process,
                                                   uint64_t avma)
{
        return jit_tables_find(&t->jit, process, avma);
}

void code_tables_forget_jit(struct code_tables *t, uint32_t process)
{
        t->epoch += jit_tables_forget(&t->jit, process);
}

static int take_jit_answer(struct code_tables *t, const struct table_answer *answer)
{
        int r = jit_tables_take(&t->jit, answer);

        if (r == -ENODATA)
                loss_counter_add(t->losses, TRACE_LOSS_UNWIND_FILE_FAILED, 1);
        t->epoch += r == 1;
        return r == -ENOMEM ? r : 0;
}

/* ---- answers ------------------------------------------------------------------------------------------- */

static int take_answer(struct code_tables *t, const struct table_answer *answer)
{
        struct unwind_module *module = NULL;
        int r;

        if (answer->id & JIT_TABLES_REQUEST)
                return answer->status == TABLE_STATUS_LANDMARKS ? 0 : take_jit_answer(t, answer);
        if (answer->id == 0 || answer->id > t->cache.keys.n_items ||
            file_of_id(t, answer->id)->state != FILE_COMING)
                return 0; /* no stack waits for it */
        switch (answer->status) {
        case TABLE_STATUS_LANDMARKS:
                file_of_id(t, answer->id)->landmarks = answer->landmarks;
                return 0;
        case TABLE_STATUS_BUILT:
                if (answer->was_kept)
                        file_of_id(t, answer->id)->is_to_be_kept = false;
                r = unwind_module_decode(answer->bytes, answer->n_bytes, &module, NULL);
                if (r == 0 && unwind_cache_put(&t->cache, answer->id, module) == 0)
                        set_state(t, answer->id, FILE_READY);
                else
                        lose(t, answer->id, FILE_NOTHING);
                return r == -ENOMEM ? r : 0;
        case TABLE_STATUS_NOTHING:
                set_state(t, answer->id, FILE_NOTHING);
                return 0;
        case TABLE_STATUS_OTHER_FILE:
                file_of_id(t, answer->id)->landmarks = (struct module_landmarks){ .jit_svma = 0 };
                lose(t, answer->id, FILE_WRITTEN);
                return 0;
        case TABLE_STATUS_FAILED:
                lose(t, answer->id, FILE_NOTHING);
                return 0;
        }
        return 0;
}

int code_tables_take(struct code_tables *t)
{
        struct table_answer answer;
        int r = 0;

        if (t->is_gone)
                return 0;
        while (r == 0) {
                r = table_process_next(t->process, &answer);
                if (r <= 0)
                        break;
                r = take_answer(t, &answer);
        }
        if (r == -EPIPE || r == -EBADMSG) {
                give_up(t);
                return 0;
        }
        ask_queued(t);
        return r < 0 ? r : 0;
}

/* ---- keeping ------------------------------------------------------------------------------------------- */

static bool has_signal(int signal_fd)
{
        struct pollfd readable = { .fd = signal_fd, .events = POLLIN };

        return poll(&readable, 1, 0) > 0;
}

void code_tables_keep(const struct code_tables *t, int signal_fd)
{
        struct byte_buffer bytes = { .data = NULL };

        if (!t || !t->process->store || !table_store_begin(t->process->store))
                return;
        for (uint32_t id = 1; id <= t->cache.keys.n_items && !has_signal(signal_fd); id++) {
                const struct file *file = file_of_id(t, id);

                if (file->state != FILE_READY || !file->is_to_be_kept)
                        continue;
                byte_buffer_clear(&bytes);
                unwind_module_encode(unwind_cache_get(&t->cache, id), &bytes);
                /* If the table is too large or the disk full, it is built again the next time. */
                (void)table_store_add(t->process->store, &file->key,
                                      module_landmarks_are_there(&file->landmarks) ? &file->landmarks : NULL,
                                      &bytes);
        }
        table_store_end(t->process->store);
        byte_buffer_deinit(&bytes);
}

/* ---- waiting ------------------------------------------------------------------------------------------- */

/* Puts a file that waits for its turn before the others. */
static void advance(struct code_tables *t, uint32_t id)
{
        for (size_t i = t->first_queued; i < t->n_queued; i++)
                if (t->queue[i].file == id) {
                        swap_queued(t, i);
                        return;
                }
}

static bool is_coming(const struct code_tables *t, uint32_t module)
{
        const struct file *file = find_file(t, module);

        return file && file->state == FILE_COMING;
}

static void wait_for_answer(const struct code_tables *t, uint64_t limit_ns)
{
        struct timespec limit = { .tv_sec = (time_t)(limit_ns / NS_PER_S),
                                  .tv_nsec = (long)(limit_ns % NS_PER_S) };
        struct pollfd readable = { .fd = t->process->fd, .events = POLLIN };

        (void)ppoll(&readable, 1, &limit, NULL);
}

bool code_tables_wait_next(struct code_tables *t, uint64_t limit_ns)
{
        code_tables_release(t);
        if (!t->is_gone)
                wait_for_answer(t, limit_ns);
        return code_tables_take(t) == 0 && !t->is_gone;
}

bool code_tables_wait(struct code_tables *t, uint32_t module, uint64_t limit_ns)
{
        uint64_t began_ns = clock_raw_ns(), now_ns = began_ns, left_ns;

        if (!is_coming(t, module))
                return true;
        left_ns = recorder_pace_left(t->pace, PACED_TABLES, began_ns);
        if (limit_ns > left_ns)
                limit_ns = left_ns;
        advance(t, t->file_of[module]);
        if (limit_ns > 0)
                code_tables_release(t);
        /* Looks at least once: the table may have come. */
        while (code_tables_take(t) == 0 && is_coming(t, module) && now_ns - began_ns < limit_ns) {
                wait_for_answer(t, limit_ns - (now_ns - began_ns));
                now_ns = clock_raw_ns();
        }
        recorder_pace_spend(t->pace, PACED_TABLES,
                            now_ns - began_ns < limit_ns ? now_ns - began_ns : limit_ns);
        return !is_coming(t, module);
}
