/* SPDX-License-Identifier: MIT */
#include "sampler/keep/opened_files.h"

#include "base/io.h"
#include "sampler/keep/module_file.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/pace/pace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

void opened_files_init(struct opened_files *o)
{
        pthread_mutexattr_t attributes;

        *o = (struct opened_files){ .n_files = 0 };
        /*
         * One of the two threads has priority over everything else on the machine: it must not wait for a
         * thread that others keep waiting.
         */
        (void)pthread_mutexattr_init(&attributes);
        (void)pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
        (void)pthread_mutex_init(&o->lock, &attributes);
        (void)pthread_mutexattr_destroy(&attributes);
}

static struct opened_file *file_at(struct opened_files *o, size_t i)
{
        return &o->files[(o->first + i) % OPENED_FILES_MAX];
}

/* Steps over files at the front that are closed. */
static void trim(struct opened_files *o)
{
        while (o->n_files > 0 && file_at(o, 0)->fd < 0) {
                o->first = (o->first + 1) % OPENED_FILES_MAX;
                o->n_files--;
        }
}

void opened_files_deinit(struct opened_files *o)
{
        for (size_t i = 0; i < o->n_files; i++)
                io_close(&file_at(o, i)->fd);
        o->n_files = 0;
        (void)pthread_mutex_destroy(&o->lock);
}

static bool is_of(const struct opened_file *f, uint32_t pid, const struct perf_mmap *mmap)
{
        return f->fd >= 0 && f->pid == pid && f->start_avma == mmap->start_avma &&
               f->time_ns == mmap->time_ns;
}

/* NULL if it is not here. */
static struct opened_file *find_entry(struct opened_files *o, uint32_t pid, const struct perf_mmap *mmap)
{
        for (size_t i = o->n_files; i-- > 0;)
                if (is_of(file_at(o, i), pid, mmap))
                        return file_at(o, i);
        return NULL;
}

/* Descriptors are closed outside the lock: closing a deleted file may take long. */
void opened_files_put(struct opened_files *o, uint32_t pid, const struct perf_mmap *mmap, int fd)
{
        int oldest_fd = -1;

        (void)pthread_mutex_lock(&o->lock);
        if (o->n_files == OPENED_FILES_MAX) {
                oldest_fd = file_at(o, 0)->fd;
                file_at(o, 0)->fd = -1;
                trim(o);
        }
        *file_at(o, o->n_files++) = (struct opened_file){
                .start_avma = mmap->start_avma, .time_ns = mmap->time_ns, .pid = pid, .fd = fd
        };
        (void)pthread_mutex_unlock(&o->lock);
        io_close(&oldest_fd);
}

int opened_files_find(struct opened_files *o, uint32_t pid, const struct perf_mmap *mmap)
{
        const struct opened_file *f;
        int fd = -ENOENT;

        if (!o || mmap->time_ns == 0)
                return fd;
        (void)pthread_mutex_lock(&o->lock);
        f = find_entry(o, pid, mmap);
        if (f) {
                fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
                fd = fd < 0 ? -errno : fd;
        }
        (void)pthread_mutex_unlock(&o->lock);
        return fd;
}

int opened_files_open(struct opened_files *o, uint32_t pid, const struct perf_mmap *mmap, struct error *err)
{
        int fd = opened_files_find(o, pid, mmap);

        return fd == -ENOENT ? module_file_open(pid, mmap, err) : fd;
}

void opened_files_forget(struct opened_files *o, uint32_t pid, const struct perf_mmap *mmap)
{
        struct opened_file *f;
        int fd = -1;

        if (!o)
                return;
        (void)pthread_mutex_lock(&o->lock);
        f = find_entry(o, pid, mmap);
        if (f) {
                fd = f->fd;
                f->fd = -1;
                trim(o);
        }
        (void)pthread_mutex_unlock(&o->lock);
        io_close(&fd);
}

void opened_files_expire(struct opened_files *o, uint64_t now_ns)
{
        int fd = 0;

        while (o && fd >= 0) {
                fd = -1;
                (void)pthread_mutex_lock(&o->lock);
                if (o->n_files > 0 && file_at(o, 0)->time_ns + PACE_OPENED_FILES_AGE_NS < now_ns) {
                        fd = file_at(o, 0)->fd;
                        file_at(o, 0)->fd = -1;
                        trim(o);
                }
                (void)pthread_mutex_unlock(&o->lock);
                if (fd >= 0)
                        (void)close(fd);
        }
}
