/* SPDX-License-Identifier: MIT */
#include "sampler/keep/image_reader.h"

#include "base/byte_buffer.h"
#include "base/content_hash.h"
#include "base/error.h"
#include "base/helper_thread.h"
#include "base/io.h"
#include "format/trace_spec.h"
#include "sampler/keep/build_id_note.h"
#include "sampler/keep/file_versions.h"
#include "sampler/pace/pace.h"
#include "sampler/rights/privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define COPY_BYTES    (UINT32_C(1) << 20) /* at a time */
#define TRIES_MAX     3                   /* tries to read a file that changes meanwhile */
#define ANSWERS_FIRST 64

struct image_reader {
        pthread_t thread;
        int fd;        /* eventfd: answers are there */
        int staged_fd; /* memfd */
        uint8_t *copy; /* heap, COPY_BYTES, the thread's */
        size_t page_bytes;
        pthread_mutex_t lock; /* guards everything below */
        pthread_cond_t changed;
        struct image_request queue[IMAGE_READER_QUEUE_MAX];
        size_t first, n_queued;
        bool is_reading; /* a request has left the queue and is not answered yet */
        bool ending, has_ended;
        struct staged_image *answers; /* heap; from first_answer on */
        size_t first_answer, n_answers, answers_capacity;
        uint64_t left_bytes; /* of the limit */
        uint64_t end_bytes;  /* of the staged bytes */
        size_t n_staged;     /* images that were not released */
};

/* ---- reading: the thread ------------------------------------------------------------------------------- */

static uint64_t count_left(struct image_reader *t)
{
        uint64_t left_bytes;

        (void)pthread_mutex_lock(&t->lock);
        left_bytes = t->left_bytes;
        (void)pthread_mutex_unlock(&t->lock);
        return left_bytes;
}

/* Room for an image, and its share of the limit.  Returns 0 or -EFBIG. */
static int take_room(struct image_reader *t, struct staged_image *image, uint64_t size_bytes)
{
        int r = -EFBIG;

        (void)pthread_mutex_lock(&t->lock);
        if (size_bytes <= t->left_bytes) {
                if (t->n_staged == 0)
                        t->end_bytes = 0;
                image->size_bytes = size_bytes;
                image->staged_bytes = t->end_bytes;
                t->left_bytes -= size_bytes;
                /* Each image begins on a page of its own, so that its memory can be given back. */
                t->end_bytes += (size_bytes + t->page_bytes - 1) / t->page_bytes * t->page_bytes;
                t->n_staged++;
                r = 0;
        }
        (void)pthread_mutex_unlock(&t->lock);
        return r;
}

/* The staged bytes are our own memory: no other process shrinks it. */
static int hash_staged(const struct image_reader *t, struct staged_image *image)
{
        void *bytes = mmap(NULL, (size_t)image->size_bytes, PROT_READ, MAP_SHARED, t->staged_fd,
                           (off_t)image->staged_bytes);

        if (bytes == MAP_FAILED)
                return -errno;
        image->hash = content_hash(bytes, (size_t)image->size_bytes);
        (void)munmap(bytes, (size_t)image->size_bytes);
        return 0;
}

/* Returns 0, -EDQUOT: RLIMIT_FSIZE, which holds for a memfd, too; -errno. */
static int stage(const struct image_reader *t, const struct staged_image *image, uint64_t at_bytes,
                 const uint8_t *bytes, size_t n_bytes)
{
        int r = io_pwrite_all(t->staged_fd, bytes, n_bytes, image->staged_bytes + at_bytes, NULL);

        return r == -EFBIG ? -EDQUOT : r;
}

/* Whether a file begins as it should: an ELF file, and the one that was mapped. */
static int judge(const struct image_reader *t, const struct image_request *request)
{
        const uint8_t *id = NULL;
        int n = build_id_note_read(request->fd, t->copy, &id);
        size_t id_bytes = n < 0 ? 0 : (size_t)n;

        if (n < 0 || request->build_id_bytes == 0)
                return n < 0 ? n : 0;
        if (id_bytes > request->build_id_bytes)
                id_bytes = request->build_id_bytes; /* the kernel tells no more of it */
        /* A file without a build-id is another file, which has the name now. */
        return id_bytes == request->build_id_bytes && memcmp(id, request->build_id, id_bytes) == 0 ? 0
                                                                                                   : -ESTALE;
}

/* Copies the bytes of a file from its beginning to the size that it had.  -EAGAIN if it is shorter now. */
static int copy_file(struct image_reader *t, const struct image_request *request,
                     const struct staged_image *image)
{
        uint64_t at_bytes = 0;
        int r = 0;

        while (r == 0 && at_bytes < image->size_bytes) {
                uint64_t left_bytes = image->size_bytes - at_bytes;
                size_t n = left_bytes < COPY_BYTES ? (size_t)left_bytes : COPY_BYTES, n_read = 0;

                r = io_pread_full(request->fd, t->copy, n, at_bytes, &n_read, NULL);
                if (r == 0 && n_read < n)
                        r = -EAGAIN;
                if (r == 0)
                        r = stage(t, image, at_bytes, t->copy, n);
                at_bytes += n;
        }
        return r;
}

static bool is_unchanged(const struct stat *before, const struct stat *now)
{
        return before->st_size == now->st_size && before->st_mtim.tv_sec == now->st_mtim.tv_sec &&
               before->st_mtim.tv_nsec == now->st_mtim.tv_nsec;
}

/* Returns 0, -EAGAIN if the file has become another meanwhile, -errno; then nothing is staged. */
static int try_file(struct image_reader *t, const struct image_request *request, struct staged_image *image)
{
        struct stat before, now;
        int r;

        if (fstat(request->fd, &before) < 0)
                return -errno;
        if (!S_ISREG(before.st_mode))
                return -EINVAL;
        if (request->written_ns != 0 && file_written_ns(&before) != request->written_ns)
                return -ESTALE;
        if (before.st_size <= 0)
                return -ENODATA;
        r = judge(t, request);
        if (r == 0)
                r = take_room(t, image, (uint64_t)before.st_size);
        if (r < 0)
                return r;
        r = copy_file(t, request, image);
        if (r == 0 && (fstat(request->fd, &now) < 0 || !is_unchanged(&before, &now)))
                r = -EAGAIN;
        if (r == 0)
                r = hash_staged(t, image);
        if (r < 0)
                image_reader_forget(t, image);
        return r;
}

static int read_file(struct image_reader *t, const struct image_request *request, struct staged_image *image)
{
        int r = -EAGAIN;

        image->kind = TRACE_ATTACHMENT_MODULE_FILE;
        for (unsigned i = 0; r == -EAGAIN && i < TRIES_MAX; i++)
                r = try_file(t, request, image);
        return r;
}

static int read_source(struct image_reader *t, const struct image_request *request,
                       struct staged_image *image)
{
        struct byte_buffer bytes = { .data = NULL };
        int r = request->source.read(request->source.source, count_left(t), &bytes, &image->kind, NULL);

        if (r != 0)
                goto done;
        if (bytes.failed || bytes.used_bytes == 0)
                r = bytes.failed ? -ENOMEM : -ENODATA;
        if (r != 0)
                goto done;
        r = take_room(t, image, bytes.used_bytes);
        if (r != 0)
                goto done;
        r = stage(t, image, 0, bytes.data, bytes.used_bytes);
        image->hash = content_hash(bytes.data, bytes.used_bytes);
        if (r < 0)
                image_reader_forget(t, image);

done:
        byte_buffer_deinit(&bytes);
        return r;
}

static void drop_request(struct image_request *request)
{
        io_close(&request->fd);
        if (request->source.free)
                request->source.free(request->source.source);
        request->source.free = NULL;
}

/* The next request; false when the thread is to end. */
static bool take_request(struct image_reader *t, struct image_request *ret_request)
{
        bool some;

        (void)pthread_mutex_lock(&t->lock);
        while (t->n_queued == 0 && !t->ending)
                (void)pthread_cond_wait(&t->changed, &t->lock);
        some = !t->ending;
        if (some) {
                *ret_request = t->queue[t->first];
                t->first = (t->first + 1) % IMAGE_READER_QUEUE_MAX;
                t->n_queued--;
                t->is_reading = true;
        }
        t->has_ended = !some;
        (void)pthread_cond_broadcast(&t->changed);
        (void)pthread_mutex_unlock(&t->lock);
        return some;
}

/* There is room for as many answers as there are requests. */
static void answer(struct image_reader *t, const struct staged_image *image)
{
        static const uint64_t one = 1;

        (void)pthread_mutex_lock(&t->lock);
        t->answers[t->n_answers++] = *image;
        t->is_reading = false;
        (void)pthread_cond_broadcast(&t->changed);
        (void)pthread_mutex_unlock(&t->lock);
        (void)io_write_all(t->fd, &one, sizeof(one), NULL);
}

static void *run(void *context)
{
        struct image_reader *t = context;
        struct image_request request;

        (void)privileges_drop(NULL); /* the files to read are open; dropping rights cannot fail here */
        while (take_request(t, &request)) {
                struct staged_image image = { .id = request.id };

                image.code = request.fd >= 0 ? read_file(t, &request, &image)
                                             : read_source(t, &request, &image);
                drop_request(&request);
                answer(t, &image);
        }
        return NULL;
}

/* ---- the collector's side ------------------------------------------------------------------------------ */

static void release_all(struct image_reader *t)
{
        for (size_t i = 0; i < t->n_queued; i++)
                drop_request(&t->queue[(t->first + i) % IMAGE_READER_QUEUE_MAX]);
        (void)pthread_cond_destroy(&t->changed);
        (void)pthread_mutex_destroy(&t->lock);
        io_close(&t->fd);
        io_close(&t->staged_fd);
        free(t->answers);
        free(t->copy);
        free(t);
}

int image_reader_start(uint64_t bytes_max, struct image_reader **ret_reader, struct error *err)
{
        struct image_reader *t = calloc(1, sizeof(*t));
        int r = 0;

        if (!t)
                return error_set(err, -ENOMEM, "no memory for the reader of code");
        t->left_bytes = bytes_max;
        t->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
        t->copy = malloc(COPY_BYTES);
        t->answers_capacity = ANSWERS_FIRST + IMAGE_READER_QUEUE_MAX;
        t->answers = malloc(t->answers_capacity * sizeof(*t->answers));
        (void)pthread_mutex_init(&t->lock, NULL);
        timed_wait_init(&t->changed);
        t->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        t->staged_fd = memfd_create("code", MFD_CLOEXEC);
        if (!t->copy || !t->answers)
                r = error_set(err, -ENOMEM, "no memory for the reader of code");
        else if (t->fd < 0 || t->staged_fd < 0)
                r = error_errno(err, "memory for code that is kept");
        else if ((r = helper_thread_start(&t->thread, "hyprof-images", run, t)) < 0)
                r = error_set(err, r, "cannot start the reader of code");
        if (r < 0)
                release_all(t);
        else
                *ret_reader = t;
        return r;
}

void image_reader_stop(struct image_reader *t)
{
        const struct timespec when = timed_wait_end(PACE_READER_STOP_NS);
        bool has_ended;

        if (!t)
                return;
        (void)pthread_mutex_lock(&t->lock);
        t->ending = true;
        (void)pthread_cond_broadcast(&t->changed);
        while (!t->has_ended && pthread_cond_timedwait(&t->changed, &t->lock, &when) == 0)
                ;
        has_ended = t->has_ended;
        (void)pthread_mutex_unlock(&t->lock);
        if (has_ended) {
                (void)pthread_join(t->thread, NULL);
                release_all(t);
        } else { /* a file system does not answer: the thread ends with the process */
                (void)pthread_detach(t->thread);
        }
}

int image_reader_fd(const struct image_reader *t)
{
        return t->fd;
}

/* Room for the answers to all that is queued, read or answered, and one more. */
static int reserve_answers(struct image_reader *t)
{
        size_t wanted = t->n_answers + t->n_queued + t->is_reading + 1;
        struct staged_image *answers;

        if (wanted <= t->answers_capacity)
                return 0;
        answers = realloc(t->answers, 2 * wanted * sizeof(*answers));
        if (!answers)
                return -EAGAIN;
        t->answers = answers;
        t->answers_capacity = 2 * wanted;
        return 0;
}

int image_reader_put(struct image_reader *t, const struct image_request *request, uint64_t wait_max_ns)
{
        const struct timespec when = timed_wait_end(wait_max_ns);
        struct image_request refused = *request;
        int r = 0;

        (void)pthread_mutex_lock(&t->lock);
        while (r == 0 && t->n_queued == IMAGE_READER_QUEUE_MAX)
                if (wait_max_ns == 0 || pthread_cond_timedwait(&t->changed, &t->lock, &when) != 0)
                        r = -EAGAIN;
        if (r == 0)
                r = reserve_answers(t);
        if (r == 0) {
                t->queue[(t->first + t->n_queued) % IMAGE_READER_QUEUE_MAX] = *request;
                t->n_queued++;
                (void)pthread_cond_broadcast(&t->changed);
        }
        (void)pthread_mutex_unlock(&t->lock);
        if (r < 0)
                drop_request(&refused);
        return r;
}

int image_reader_next(struct image_reader *t, struct staged_image *ret_image)
{
        uint64_t n;
        int r = 0;

        (void)pthread_mutex_lock(&t->lock);
        if (t->first_answer < t->n_answers) {
                *ret_image = t->answers[t->first_answer++];
                r = 1;
        }
        if (t->first_answer == t->n_answers) {
                t->first_answer = 0;
                t->n_answers = 0;
                /* the descriptor does not block, and may have nothing to read */
                (void)!read(t->fd, &n, sizeof(n));
        }
        (void)pthread_mutex_unlock(&t->lock);
        return r;
}

int image_reader_wait(struct image_reader *t, uint64_t limit_ns)
{
        const struct timespec when = timed_wait_end(limit_ns);
        int r = 0;

        (void)pthread_mutex_lock(&t->lock);
        while (r == 0 && t->first_answer == t->n_answers && (t->n_queued > 0 || t->is_reading))
                if (pthread_cond_timedwait(&t->changed, &t->lock, &when) != 0)
                        r = -ETIMEDOUT;
        if (t->first_answer < t->n_answers)
                r = 1;
        (void)pthread_mutex_unlock(&t->lock);
        return r;
}

int image_reader_copy(struct image_reader *t, const struct staged_image *image, uint64_t offset_bytes,
                      uint8_t *bytes, size_t n_bytes)
{
        size_t n_read = 0;
        int r = io_pread_full(t->staged_fd, bytes, n_bytes, image->staged_bytes + offset_bytes, &n_read,
                              NULL);

        return r == 0 && n_read < n_bytes ? -EIO : r;
}

void image_reader_release(struct image_reader *t, const struct staged_image *image, uint64_t from_bytes,
                          uint64_t until_bytes)
{
        uint64_t first = from_bytes / t->page_bytes * t->page_bytes;
        uint64_t end = until_bytes == image->size_bytes
                               ? (until_bytes + t->page_bytes - 1) / t->page_bytes * t->page_bytes
                               : until_bytes / t->page_bytes * t->page_bytes;

        if (end > first) /* failing costs memory */
                (void)fallocate(t->staged_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                (off_t)(image->staged_bytes + first), (off_t)(end - first));
        if (until_bytes < image->size_bytes)
                return;
        (void)pthread_mutex_lock(&t->lock);
        t->n_staged--;
        (void)pthread_mutex_unlock(&t->lock);
}

void image_reader_forget(struct image_reader *t, const struct staged_image *image)
{
        (void)pthread_mutex_lock(&t->lock);
        t->left_bytes += image->size_bytes;
        (void)pthread_mutex_unlock(&t->lock);
        image_reader_release(t, image, 0, image->size_bytes);
}
