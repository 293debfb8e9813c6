/* SPDX-License-Identifier: MIT */
#include "sampler/stacks/late_stack.h"

#include "base/clock.h"
#include "sampler/pace/pace.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/uio.h>

int late_stack_init(struct late_stack *l)
{
        *l = (struct late_stack){ .bytes = malloc(LATE_STACK_BYTES_MAX), .left_ns = PACE_LATE_LEFT_NS };
        return l->bytes ? 0 : -ENOMEM;
}

void late_stack_deinit(struct late_stack *l)
{
        free(l->bytes);
        l->bytes = NULL;
}

static void refill(struct late_stack *l, uint64_t now_ns)
{
        l->left_ns += (now_ns - l->refilled_ns) / PACE_LATE_SHARE;
        l->refilled_ns = now_ns;
        if (l->left_ns > PACE_LATE_LEFT_NS)
                l->left_ns = PACE_LATE_LEFT_NS;
}

static void spend(struct late_stack *l, uint64_t spent_ns)
{
        l->spent_ns += spent_ns;
        l->left_ns -= spent_ns < l->left_ns ? spent_ns : l->left_ns;
}

bool late_stack_begin(struct late_stack *l, uint64_t start_avma, uint64_t now_ns)
{
        refill(l, now_ns);
        l->start_avma = start_avma;
        l->n_bytes = 0;
        l->began_ns = now_ns;
        return l->left_ns > 0;
}

/* One call, which may end early at unmapped memory.  Returns the number of bytes. */
static size_t read_memory(uint32_t tid, uint64_t avma, void *to, size_t n_bytes)
{
        struct iovec here = { .iov_base = to, .iov_len = n_bytes };
        struct iovec there = { .iov_len = n_bytes };
        ssize_t n;

        /* NOLINTNEXTLINE(performance-no-int-to-ptr): an address of another process is only a number here */
        there.iov_base = (void *)(uintptr_t)avma;
        n = process_vm_readv((pid_t)tid, &here, 1, &there, 1, 0);
        return n > 0 ? (size_t)n : 0;
}

bool late_stack_read(struct late_stack *l, uint32_t tid, size_t n_bytes)
{
        size_t room = LATE_STACK_BYTES_MAX - l->n_bytes;
        size_t n = read_memory(tid, l->start_avma + l->n_bytes, l->bytes + l->n_bytes,
                               n_bytes < room ? n_bytes : room);

        l->n_bytes += n;
        l->n_read++;
        return n > 0;
}

void late_stack_move(struct late_stack *l, uint64_t start_avma)
{
        l->start_avma = start_avma;
        l->n_bytes = 0;
}

void late_stack_end(struct late_stack *l, uint64_t now_ns)
{
        spend(l, now_ns - l->began_ns);
}

size_t late_stack_read_code(struct late_stack *l, uint32_t tid, uint64_t avma, void *to, size_t n_bytes)
{
        uint64_t began_ns = clock_raw_ns();
        size_t n;

        refill(l, began_ns);
        if (l->left_ns == 0)
                return 0;
        n = read_memory(tid, avma, to, n_bytes);
        spend(l, clock_raw_ns() - began_ns);
        return n;
}

bool late_stack_look(uint32_t tid, uint64_t avma, uint64_t *ret_value)
{
        return read_memory(tid, avma, ret_value, sizeof(*ret_value)) == sizeof(*ret_value);
}
