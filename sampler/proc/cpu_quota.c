/* SPDX-License-Identifier: MIT */
#include "sampler/proc/cpu_quota.h"

#include "base/byte_buffer.h"
#include "base/io.h"
#include "sampler/pace/pace.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES_MAX (UINT32_C(1) << 16)

void cpu_quota_add_stat(struct cpu_quota_stat *sum, const char *text)
{
        while (*text != '\0') {
                size_t n_name = strcspn(text, " \n");
                uint64_t value = text[n_name] == ' ' ? strtoull(text + n_name + 1, NULL, 10) : 0;

                if (n_name == strlen("nr_periods") && memcmp(text, "nr_periods", n_name) == 0)
                        sum->n_periods += value;
                else if (n_name == strlen("nr_throttled") && memcmp(text, "nr_throttled", n_name) == 0)
                        sum->n_throttled += value;
                else if (n_name == strlen("throttled_usec") && memcmp(text, "throttled_usec", n_name) == 0)
                        sum->throttled_ns += value * 1000;
                else if (n_name == strlen("throttled_time") && memcmp(text, "throttled_time", n_name) == 0)
                        sum->throttled_ns += value;
                text += strcspn(text, "\n");
                text += *text == '\n';
        }
}

void cpu_quota_take_limit(struct cpu_quota_limit *limit, const char *text)
{
        char *end;
        uint64_t quota_us = strtoull(text, &end, 10), period_us = end != text ? strtoull(end, NULL, 10) : 0;

        if (text[0] < '0' || text[0] > '9' || quota_us == 0 || period_us == 0)
                return;
        if (limit->period_us == 0 ||
            (double)quota_us / (double)period_us < (double)limit->quota_us / (double)limit->period_us)
                *limit = (struct cpu_quota_limit){ .quota_us = quota_us, .period_us = period_us };
}

/* Appends the file @name of a group, and a NUL that is not counted; an unreadable one is empty. */
static void read_file(const char *folder, const char *name, struct byte_buffer *text)
{
        char path[PATH_MAX + sizeof("/cpu.cfs_period_us")];

        (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
        (void)io_read_file(AT_FDCWD, path, TEXT_BYTES_MAX, text, NULL);
}

static void read_limit(struct cpu_quota *q, const char *folder)
{
        struct byte_buffer text = { .data = NULL }, period = { .data = NULL };

        read_file(folder, "cpu.max", &text);
        if (text.used_bytes == 0) { /* version 1 */
                read_file(folder, "cpu.cfs_quota_us", &text);
                read_file(folder, "cpu.cfs_period_us", &period);
                byte_buffer_add(&text, " ", 1);
                byte_buffer_add(&text, period.data, period.used_bytes);
        }
        byte_buffer_add(&text, "", 1);
        if (!text.failed)
                cpu_quota_take_limit(&q->limit, (const char *)text.data);
        byte_buffer_deinit(&text);
        byte_buffer_deinit(&period);
}

/* Adds up the statistics of the group and of those above it, up to the mount. */
static struct cpu_quota_stat read_groups(struct cpu_quota *q)
{
        struct cpu_quota_stat sum = { .n_periods = 0 };
        size_t n_mount = strlen(q->mount.path);
        char folder[PATH_MAX];
        char *slash = folder;

        memcpy(folder, q->folder, strlen(q->folder) + 1);
        while (slash && strlen(folder) >= n_mount) {
                struct byte_buffer text = { .data = NULL };

                read_file(folder, "cpu.stat", &text);
                if (text.used_bytes != 0)
                        cpu_quota_add_stat(&sum, (const char *)text.data);
                read_limit(q, folder);
                byte_buffer_deinit(&text);
                slash = strrchr(folder, '/');
                if (slash)
                        *slash = '\0';
        }
        return sum;
}

/* Returns whether the process is in another group than before. */
static bool follow_process(struct cpu_quota *q, uint32_t pid)
{
        char folder[PATH_MAX];

        if (!cgroup_mount_find_folder(&q->mount, pid, folder) || strcmp(folder, q->folder) == 0)
                return false;
        memcpy(q->folder, folder, strlen(folder) + 1);
        return true;
}

void cpu_quota_begin(struct cpu_quota *q, uint32_t pid, uint64_t now_ns)
{
        q->folder[0] = '\0';
        q->n_spans = 0;
        q->limit = (struct cpu_quota_limit){ .quota_us = 0 };
        q->last = q->total = (struct cpu_quota_stat){ .n_periods = 0 };
        q->begin_ns = q->read_ns = now_ns;
        q->has_mount = pid != 0 && cgroup_mount_find(&q->mount, "cpu");
        if (q->has_mount && follow_process(q, pid))
                q->last = read_groups(q);
}

static void halve_spans(struct cpu_quota *q)
{
        for (size_t i = 0; i < q->n_spans / 2; i++) {
                const struct cpu_quota_span *first = &q->spans[2 * i], *second = first + 1;

                q->spans[i] = (struct cpu_quota_span){ .begin_ns = first->begin_ns,
                                                       .end_ns = second->end_ns,
                                                       .throttled_ns = first->throttled_ns +
                                                                       second->throttled_ns };
        }
        q->n_spans /= 2;
}

static void take_stat(struct cpu_quota *q, const struct cpu_quota_stat *now, uint64_t now_ns)
{
        /* The statistics of a group that was created anew count from 0. */
        if (now->n_periods < q->last.n_periods || now->throttled_ns < q->last.throttled_ns ||
            now->n_throttled < q->last.n_throttled)
                return;
        q->total.n_periods += now->n_periods - q->last.n_periods;
        q->total.n_throttled += now->n_throttled - q->last.n_throttled;
        q->total.throttled_ns += now->throttled_ns - q->last.throttled_ns;
        if (now->throttled_ns == q->last.throttled_ns)
                return;
        if (q->n_spans == CPU_QUOTA_SPANS_MAX)
                halve_spans(q);
        q->spans[q->n_spans++] = (struct cpu_quota_span){ .begin_ns = q->read_ns,
                                                          .end_ns = now_ns,
                                                          .throttled_ns = now->throttled_ns -
                                                                          q->last.throttled_ns };
}

void cpu_quota_read(struct cpu_quota *q, uint32_t pid, uint64_t now_ns, bool is_last)
{
        bool is_close = q->last.n_periods != 0 || now_ns - q->begin_ns < PACE_QUOTA_YOUNG_NS;
        struct cpu_quota_stat now;

        if (!q->has_mount || now_ns <= q->read_ns ||
            (!is_last && now_ns - q->read_ns < (is_close ? PACE_QUOTA_LIMITED_NS : PACE_QUOTA_UNLIMITED_NS)))
                return;
        if (follow_process(q, pid)) {
                q->last = read_groups(q);
        } else if (q->folder[0] != '\0') {
                now = read_groups(q);
                take_stat(q, &now, now_ns);
                q->last = now;
        }
        q->read_ns = now_ns;
}

void cpu_quota_list(const struct cpu_quota *q, struct byte_buffer *out)
{
        for (size_t i = 0; i < q->n_spans; i++) {
                const struct cpu_quota_span *span = &q->spans[i];

                byte_buffer_add_format(out, "%" PRIu64 "+%" PRIu64 "=%" PRIu64 ";", span->begin_ns / 1000,
                                       span->end_ns / 1000 - span->begin_ns / 1000,
                                       (span->throttled_ns + 500) / 1000);
        }
}
