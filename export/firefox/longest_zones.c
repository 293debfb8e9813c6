/* SPDX-License-Identifier: MIT */
#include "export/firefox/firefox_profile.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

void longest_zones_deinit(struct longest_zones *z)
{
        free(z->durations_ns);
        *z = (struct longest_zones){ .n = 0 };
}

static void swap(uint64_t *a, uint64_t *b)
{
        uint64_t before = *a;

        *a = *b;
        *b = before;
}

static void sift_up(uint64_t *heap, size_t i)
{
        for (; i > 0 && heap[i] < heap[(i - 1) / 2]; i = (i - 1) / 2)
                swap(&heap[i], &heap[(i - 1) / 2]);
}

static void sift_down(uint64_t *heap, size_t n)
{
        size_t i = 0;

        for (;;) {
                size_t child = 2 * i + 1;

                if (child + 1 < n && heap[child + 1] < heap[child])
                        child++;
                if (child >= n || heap[i] <= heap[child])
                        return;
                swap(&heap[i], &heap[child]);
                i = child;
        }
}

int longest_zones_offer(struct longest_zones *z, uint64_t duration_ns)
{
        z->n_offered++;
        if (z->n_max == 0)
                return 1;
        if (z->n < z->n_max) {
                if (array_reserve(&z->durations_ns, &z->capacity, z->n + 1, sizeof(*z->durations_ns)) < 0)
                        return -ENOMEM;
                z->durations_ns[z->n++] = duration_ns;
                sift_up(z->durations_ns, z->n - 1);
                return 1;
        }
        if (duration_ns < z->durations_ns[0])
                return 0;
        z->durations_ns[0] = duration_ns;
        sift_down(z->durations_ns, z->n);
        return 1;
}

uint64_t longest_zones_limit_ns(const struct longest_zones *z)
{
        return z->n_max == 0 || z->n_offered <= z->n_max ? 0 : z->durations_ns[0];
}

uint64_t longest_zones_at_limit(const struct longest_zones *z)
{
        uint64_t limit_ns = longest_zones_limit_ns(z);
        uint64_t n = 0;

        for (size_t i = 0; i < z->n; i++)
                n += z->durations_ns[i] == limit_ns;
        return z->n_max == 0 || z->n_offered <= z->n_max ? UINT64_MAX : n;
}
