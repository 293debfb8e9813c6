/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Runs where a probed function begins and ends, in the thread that called it.
 *
 * The thread may be preempted here, so the ring is the kernel's, which has a lock.
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "sampler/bpf/probe_layout.h"
#include "sampler/bpf/probe_machine.h"

const volatile struct probe_settings settings = { .scope = PROBE_SCOPE_ALL };

struct probe_totals totals;

struct {
        __uint(type, BPF_MAP_TYPE_RINGBUF);
        __uint(max_entries, PROBE_RING_BYTES);
} probe_ring SEC(".maps");

struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(max_entries, PROBE_FUNCTIONS_MAX);
        __type(key, __u32);
        __type(value, struct probe_function_state);
} functions SEC(".maps");

/* The recorded cgroup. */
struct {
        __uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
        __uint(max_entries, 1);
        __type(key, __u32);
        __type(value, __u32);
} cgroups SEC(".maps");

/* The recorded processes: the map of switch_events.bpf, which follows their children. */
struct {
        __uint(type, BPF_MAP_TYPE_HASH);
        __uint(max_entries, 1);
        __type(key, __u32);
        __type(value, __u8);
} processes SEC(".maps");

char license_name[] SEC("license") = "Dual MIT/GPL";

static __always_inline bool is_recorded(__u32 pid)
{
        if (settings.scope == PROBE_SCOPE_CGROUP)
                return bpf_current_task_under_cgroup(&cgroups, 0) == 1;
        return settings.scope == PROBE_SCOPE_ALL || bpf_map_lookup_elem(&processes, &pid) != NULL;
}

/* Where the jump goes to: within the function, it is one of a switch statement. */
static __always_inline bool leaves(const struct probe_registers *regs, __u64 cookie)
{
        __u64 number = cookie >> (PROBE_FUNCTION_BITS + PROBE_KIND_BITS) & ((1 << PROBE_REGISTER_BITS) - 1);
        __u64 at = cookie >> (PROBE_FUNCTION_BITS + PROBE_KIND_BITS + PROBE_REGISTER_BITS);
        __u64 offset = at & ((1 << PROBE_OFFSET_BITS) - 1), size = at >> PROBE_OFFSET_BITS;

        return probe_register(regs, number) - (PROBE_PC(regs) - offset) >= size;
}

/* Wakes the reader as a share of the ring becomes full, not for each record. */
static __always_inline __u64 wake_flag(void)
{
        __u64 n_bytes = sizeof(struct probe_record) + PROBE_RING_HEAD_BYTES;
        __u64 share = PROBE_RING_BYTES / PROBE_WAKE_SHARES;

        return (bpf_ringbuf_query(&probe_ring, BPF_RB_AVAIL_DATA) & (share - 1)) + n_bytes >= share
                       ? BPF_RB_FORCE_WAKEUP
                       : BPF_RB_NO_WAKEUP;
}

SEC("uprobe")
int on_probe(struct probe_registers *regs)
{
        __u64 cookie = bpf_get_attach_cookie(regs), task = bpf_get_current_pid_tgid();
        __u32 function = cookie & ((1 << PROBE_FUNCTION_BITS) - 1);
        __u32 kind = cookie >> PROBE_FUNCTION_BITS & ((1 << PROBE_KIND_BITS) - 1);
        struct probe_function_state *state;
        struct probe_record *record;

        if (function != PROBE_OWN && !is_recorded(task >> 32)) {
                __sync_fetch_and_add(&totals.n_others, 1);
                return 0;
        }
        state = bpf_map_lookup_elem(&functions, &function);
        if (!state || state->is_off)
                return 0;
        __sync_fetch_and_add(&state->n_hits, 1);
        if (kind == PROBE_JUMP && !leaves(regs, cookie))
                return 0;
        record = bpf_ringbuf_reserve(&probe_ring, sizeof(*record), 0);
        if (!record) {
                __sync_fetch_and_add(&totals.n_lost, 1);
                return 0;
        }
        record->time_ns = bpf_ktime_get_ns();
        record->frame = PROBE_SP(regs);
        record->pid = task >> 32;
        record->tid = task;
        record->function = function;
        record->kind = kind == PROBE_BEGIN ? PROBE_BEGIN : PROBE_END;
        bpf_ringbuf_submit(record, wake_flag());
        return 0;
}
