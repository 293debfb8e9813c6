/* SPDX-License-Identifier: MIT */
#include "sampler/jit/perf_map.h"

#include "base/clock.h"
#include "base/io.h"
#include "sampler/jit/jit_target.h"
#include "sampler/pace/pace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DIGITS_MAX 16

void perf_map_deinit(struct perf_map *m)
{
        byte_buffer_deinit(&m->text);
        *m = (struct perf_map){ .at_bytes = 0 };
}

void perf_map_restart(struct perf_map *m)
{
        byte_buffer_clear(&m->text);
        m->at_bytes = 0;
        m->skips = false;
}

/* At most one line is left before the new data. */
int perf_map_add(struct perf_map *m, const void *bytes, size_t n_bytes)
{
        size_t left = m->text.used_bytes - m->at_bytes;

        if (m->at_bytes > 0) {
                memmove(m->text.data, m->text.data + m->at_bytes, left);
                m->text.used_bytes = left;
                m->at_bytes = 0;
        }
        byte_buffer_add(&m->text, bytes, n_bytes);
        return m->text.failed ? -ENOMEM : 0;
}

static int digit_of(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        if (c >= 'a' && c <= 'f')
                return c - 'a' + 10;
        return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* A number and the blanks after it.  Returns what follows, or NULL. */
static const char *parse_number(const char *at, const char *end, uint64_t *ret_number)
{
        uint64_t number = 0;
        unsigned n_digits = 0;

        if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
                at += 2;
        for (; at < end && digit_of(*at) >= 0; at++) {
                number = number << 4 | (uint64_t)digit_of(*at);
                n_digits += n_digits > 0 || number != 0; /* zeros in front do not count */
                if (n_digits > DIGITS_MAX)
                        return NULL;
        }
        if (at == end || (*at != ' ' && *at != '\t') || digit_of(at[-1]) < 0)
                return NULL;
        while (at < end && (*at == ' ' || *at == '\t'))
                at++;
        *ret_number = number;
        return at;
}

int perf_map_parse(const char *line, size_t n_bytes, struct perf_map_line *ret_line)
{
        const char *end = line + n_bytes, *at = line;
        struct perf_map_line l = { .start_avma = 0 };
        uint64_t behind;

        if (n_bytes == 0 || digit_of(*at) < 0)
                return -EBADMSG;
        at = parse_number(at, end, &l.start_avma);
        if (!at || at == end || digit_of(*at) < 0)
                return -EBADMSG;
        at = parse_number(at, end, &l.length_bytes);
        while (at && end > at && (end[-1] == '\r' || end[-1] == ' '))
                end--;
        if (!at || at == end || l.length_bytes == 0 ||
            __builtin_add_overflow(l.start_avma, l.length_bytes, &behind))
                return -EBADMSG;
        l.name = at;
        l.name_bytes = (size_t)(end - at);
        *ret_line = l;
        return 0;
}

/* Returns 1 with a whole line, which may be empty; 0 if no whole line is left. */
static int next_text(struct perf_map *m, const char **ret_text, size_t *ret_bytes)
{
        const char *text = (const char *)m->text.data + m->at_bytes;
        size_t left = m->text.used_bytes - m->at_bytes;
        const char *end = left > 0 ? memchr(text, '\n', left) : NULL;
        size_t n_bytes = end ? (size_t)(end - text) : left;

        if (m->skips || n_bytes > PERF_MAP_LINE_BYTES_MAX) {
                m->n_garbage += !m->skips;
                m->skips = !end;
                m->at_bytes += n_bytes + (end != NULL);
                *ret_bytes = 0;
                return end != NULL;
        }
        if (!end)
                return 0;
        m->at_bytes += n_bytes + 1;
        *ret_text = text;
        *ret_bytes = n_bytes;
        return 1;
}

int perf_map_next(struct perf_map *m, struct perf_map_line *ret_line)
{
        const char *text = NULL;
        size_t n_bytes;

        while (next_text(m, &text, &n_bytes) == 1) {
                if (n_bytes == 0)
                        continue;
                if (perf_map_parse(text, n_bytes, ret_line) == 0)
                        return 1;
                m->n_garbage++;
        }
        return 0;
}

int perf_map_last(struct perf_map *m, bool believed, struct perf_map_line *ret_line)
{
        const char *text = (const char *)m->text.data + m->at_bytes;
        size_t n_bytes = m->text.used_bytes - m->at_bytes;
        bool skips = m->skips;

        m->at_bytes += n_bytes;
        m->skips = false;
        if (skips || n_bytes == 0) /* the rest of a line that is counted already, or nothing */
                return 0;
        if (believed && perf_map_parse(text, n_bytes, ret_line) == 0)
                return 1;
        m->n_garbage++;
        return 0;
}

/* ------------------------------------------------------------------ the file as it grows */

#define READ_BYTES (UINT32_C(1) << 18)

static void begin_anew(struct perf_map_file *f)
{
        f->offset_bytes = 0;
        f->tail_bytes = 0;
        perf_map_restart(&f->map);
}

static void close_file(struct perf_map_file *f)
{
        io_close(&f->fd);
        begin_anew(f);
}

void perf_map_file_deinit(struct perf_map_file *f)
{
        io_close(&f->fd);
        perf_map_deinit(&f->map);
}

static bool open_file(struct perf_map_file *f, const struct jit_target *target)
{
        struct stat st;

        f->fd = jit_target_open_map(target, NULL);
        if (f->fd >= 0 && fstat(f->fd, &st) == 0) {
                f->device = st.st_dev;
                f->inode = st.st_ino;
                return true;
        }
        close_file(f);
        return false;
}

void perf_map_file_try(struct perf_map_file *f, const struct jit_target *target)
{
        if (f->fd < 0)
                (void)open_file(f, target);
}

/* Are the last bytes that were read still there? */
static bool has_tail(const struct perf_map_file *f)
{
        uint8_t tail[PERF_MAP_FILE_TAIL_BYTES];
        size_t n_bytes;

        return io_pread_full(f->fd, tail, f->tail_bytes, f->offset_bytes - f->tail_bytes, &n_bytes, NULL) ==
                       0 &&
               n_bytes == f->tail_bytes && memcmp(tail, f->tail, n_bytes) == 0;
}

static void keep_tail(struct perf_map_file *f, const uint8_t *bytes, size_t n_bytes)
{
        size_t n_new = n_bytes < sizeof(f->tail) ? n_bytes : sizeof(f->tail);
        size_t n_old = f->tail_bytes < sizeof(f->tail) - n_new ? f->tail_bytes : sizeof(f->tail) - n_new;

        memmove(f->tail, f->tail + f->tail_bytes - n_old, n_old);
        memcpy(f->tail + n_old, bytes + n_bytes - n_new, n_new);
        f->tail_bytes = n_old + n_new;
}

/* A map that was only removed has no other file in its place, and may still grow. */
static bool replace_file(struct perf_map_file *f, const struct jit_target *target)
{
        struct perf_map_file next = { .fd = -1 };

        if (jit_target_is_map(target, f->device, f->inode) || !open_file(&next, target))
                return false;
        close_file(f);
        f->fd = next.fd;
        f->device = next.device;
        f->inode = next.inode;
        return true;
}

/* Opens the map, or the file that has taken its place.  Returns false if there is nothing to read. */
static bool is_ready(struct perf_map_file *f, const struct jit_target *target)
{
        struct stat st;

        if (f->fd < 0)
                return open_file(f, target);
        if (fstat(f->fd, &st) < 0)
                return false;
        if ((uint64_t)st.st_size < f->offset_bytes || !has_tail(f))
                begin_anew(f);
        return (uint64_t)st.st_size > f->offset_bytes || replace_file(f, target);
}

int perf_map_file_fill(struct perf_map_file *f, const struct jit_target *target, bool *ret_over_limit)
{
        uint8_t *bytes;
        size_t n_bytes = 0;
        int r = 0;

        if (f->is_over_limit || !is_ready(f, target))
                return 0;
        if (f->offset_bytes + READ_BYTES > PERF_MAP_FILE_BYTES_MAX) {
                f->is_over_limit = true;
                *ret_over_limit = true;
                return 0;
        }
        bytes = malloc(READ_BYTES);
        if (!bytes)
                return -ENOMEM;
        if (io_pread_full(f->fd, bytes, READ_BYTES, f->offset_bytes, &n_bytes, NULL) == 0 && n_bytes > 0) {
                r = perf_map_add(&f->map, bytes, n_bytes);
                keep_tail(f, bytes, n_bytes);
                f->offset_bytes += n_bytes;
        }
        free(bytes);
        return r < 0 ? r : n_bytes > 0;
}

void perf_map_file_leave_rest(struct perf_map_file *f, const struct jit_target *target, bool *ret_over_limit)
{
        struct stat st;

        perf_map_file_try(f, target);
        if (f->is_over_limit || f->fd < 0 || fstat(f->fd, &st) < 0 || (uint64_t)st.st_size <= f->offset_bytes)
                return;
        f->is_over_limit = true;
        *ret_over_limit = true;
}

static uint64_t nanoseconds_of(const struct timespec *t)
{
        return (uint64_t)t->tv_sec * NS_PER_S + (uint64_t)t->tv_nsec;
}

void perf_map_file_changed(const struct perf_map_file *f, uint64_t *ret_ns, uint64_t *ret_until_ns)
{
        struct timespec now, tick;
        struct stat status;
        uint64_t now_ns, age_ns;

        *ret_ns = *ret_until_ns = 0;
        if (f->fd < 0 || fstat(f->fd, &status) < 0 || (uint64_t)status.st_size != f->offset_bytes)
                return;
        now_ns = clock_raw_ns();
        (void)clock_gettime(CLOCK_REALTIME, &now);
        (void)clock_getres(CLOCK_REALTIME_COARSE, &tick);
        age_ns = nanoseconds_of(&now) - nanoseconds_of(&status.st_mtim);
        if (age_ns > now_ns) /* its time was set by hand */
                return;
        *ret_ns = now_ns - age_ns;
        *ret_until_ns = *ret_ns + PACE_JIT_MAP_TICKS * nanoseconds_of(&tick);
}
