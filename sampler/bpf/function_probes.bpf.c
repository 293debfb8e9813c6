/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Runs where a probed function begins and ends, in the thread that called it, and at tracepoints.
 *
 * The thread may be preempted here, so the ring is the kernel's, which has a lock.
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "sampler/bpf/probe_layout.h"
#include "sampler/bpf/probe_machine.h"
#include "sampler/bpf/switch_machine.h"

struct task_struct {
        MACHINE_TASK_MEMBERS
} KERNEL_STRUCT;

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

/* Where static probes have their arguments. */
struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(max_entries, PROBE_SPECS_MAX);
        __type(key, __u32);
        __type(value, struct probe_spec);
} specs SEC(".maps");

/* Begins of tracepoints with keys, whose ends may come anywhere. */
struct {
        __uint(type, BPF_MAP_TYPE_HASH);
        __uint(max_entries, PROBE_OPEN_MAX);
        __type(key, struct probe_key);
        __type(value, struct probe_open);
} opened SEC(".maps");

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
static __always_inline __u64 wake_flag(__u64 record_bytes)
{
        __u64 n_bytes = record_bytes + PROBE_RING_HEAD_BYTES;
        __u64 share = PROBE_RING_BYTES / PROBE_WAKE_SHARES;

        return (bpf_ringbuf_query(&probe_ring, BPF_RB_AVAIL_DATA) & (share - 1)) + n_bytes >= share
                       ? BPF_RB_FORCE_WAKEUP
                       : BPF_RB_NO_WAKEUP;
}

/* Signed or not, as it was declared. */
static __always_inline __u64 widen(__u64 value, const struct probe_arg *arg)
{
        __u32 shift = 64 - 8 * arg->size;

        if (shift > 63)
                return value;
        return arg->is_signed ? (__u64)((__s64)(value << shift) >> shift) : value << shift >> shift;
}

/* Numbers have up to 8 bytes: no others are read, which may lie in another page. */
static __always_inline bool read_memory(__u64 at, __u32 n_bytes, __u64 *ret_value)
{
        *ret_value = 0;
        return bpf_probe_read_user(ret_value, n_bytes <= sizeof(__u64) ? n_bytes : sizeof(__u64),
                                   (const void *)at) == 0;
}

/* Follows the pointers after the first value. */
static __always_inline bool follow(const struct probe_arg *arg, __u64 *value)
{
#pragma unroll
        for (int i = 0; i < PROBE_HOPS_MAX; i++) {
                bool is_last = i + 1 == arg->n_hops;

                if (i >= arg->n_hops)
                        break;
                *value += arg->hops[i];
                if ((!is_last || !arg->is_address) &&
                    !read_memory(*value, is_last ? arg->size : sizeof(*value), value))
                        return false;
        }
        return true;
}

/* Returns whether it could be read. */
static __always_inline bool read_argument(const struct probe_registers *regs, const struct probe_arg *arg,
                                          __u64 *ret_value)
{
        __u64 at;

        *ret_value = arg->offset;
        if (arg->kind == PROBE_ARG_CONSTANT)
                return true;
        if (arg->kind == PROBE_ARG_UNKNOWN)
                return false;
        at = probe_register(regs, arg->reg);
        if (arg->kind == PROBE_ARG_REGISTER) {
                *ret_value = at >> (arg->offset & 63);
        } else {
                at += arg->offset;
                if (arg->scale)
                        at += probe_register(regs, arg->index_reg) * arg->scale;
                *ret_value = at;
                if (arg->kind == PROBE_ARG_MEMORY &&
                    !read_memory(at, arg->n_hops > 0 ? sizeof(at) : arg->size, ret_value))
                        return false;
        }
        if (!follow(arg, ret_value))
                return false;
        *ret_value = widen(*ret_value, arg);
        return true;
}

/* The texts are what the program has there now: it may point anywhere. */
static __always_inline void read_text(const struct probe_arg *arg, __u64 value, int i,
                                      struct probe_long_record *to)
{
        bool is_there = value >= PROBE_USER_MIN && value < PROBE_USER_END;

        if (arg->style == PROBE_STYLE_GUESSED ? arg->size != 8 || !is_there : arg->style != PROBE_STYLE_TEXT)
                return;
        to->arguments.text_bytes[i] = is_there
                                              ? bpf_probe_read_user_str(to->arguments.texts[i],
                                                                        PROBE_TEXT_BYTES, (const void *)value)
                                      : value == 0 ? PROBE_TEXT_NONE
                                                   : PROBE_TEXT_UNKNOWN;
}

static __always_inline void read_arguments(const struct probe_registers *regs, const struct probe_spec *spec,
                                           struct probe_long_record *to, bool has_texts)
{
#pragma unroll
        for (int i = 0; i < PROBE_ARGS_MAX; i++) {
                const struct probe_arg *arg = &spec->args[i];
                __u64 value = 0;
                bool is_known;

                to->arguments.text_bytes[i] = 0;
                to->arguments.values[i] = 0;
                if (arg->kind == PROBE_ARG_NONE)
                        continue;
                to->record.n_args = i + 1;
                is_known = read_argument(regs, arg, &value);
                to->arguments.values[i] = value;
                if (!is_known)
                        to->arguments.text_bytes[i] = PROBE_TEXT_UNKNOWN;
                else if (has_texts)
                        read_text(arg, value, i, to);
        }
}

static __always_inline void fill(const struct probe_registers *regs, struct probe_record *record,
                                 __u64 cookie, __u64 task)
{
        __u32 kind = cookie >> PROBE_FUNCTION_BITS & ((1 << PROBE_KIND_BITS) - 1);

        record->time_ns = bpf_ktime_get_ns();
        record->frame = PROBE_SP(regs);
        record->pid = task >> 32;
        record->tid = task;
        record->function = cookie & ((1 << PROBE_FUNCTION_BITS) - 1);
        record->kind = kind == PROBE_JUMP ? PROBE_END : kind;
        record->n_args = 0;
        record->is_32_bit = 0;
}

/* A static probe, or the begin of a function, with its arguments. */
static __always_inline int report_described(const struct probe_registers *regs, const struct probe_spec *spec,
                                            __u64 cookie, __u64 task, bool has_texts)
{
        __u64 n_bytes = has_texts ? sizeof(struct probe_long_record) : PROBE_SHORT_BYTES;
        struct probe_long_record *record = has_texts ? bpf_ringbuf_reserve(&probe_ring, sizeof(*record), 0)
                                                     : bpf_ringbuf_reserve(&probe_ring, PROBE_SHORT_BYTES, 0);

        if (!record) {
                __sync_fetch_and_add(&totals.n_lost, 1);
                return 0;
        }
        fill(regs, &record->record, cookie, task);
        record->record.kind |= PROBE_IS_STATIC;
        read_arguments(regs, spec, record, has_texts);
        bpf_ringbuf_submit(record, wake_flag(n_bytes));
        return 0;
}

static __always_inline int report_static(const struct probe_registers *regs, __u64 cookie, __u64 task)
{
        __u32 number = cookie >> (PROBE_FUNCTION_BITS + PROBE_KIND_BITS + PROBE_REGISTER_BITS) &
                       ((1 << PROBE_OFFSET_BITS) - 1);
        const struct probe_spec *spec = bpf_map_lookup_elem(&specs, &number);

        if (!spec)
                return 0;
        return spec->has_texts ? report_described(regs, spec, cookie, task, true)
                               : report_described(regs, spec, cookie, task, false);
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
        if (kind != PROBE_JUMP &&
            cookie >> (PROBE_FUNCTION_BITS + PROBE_KIND_BITS + PROBE_REGISTER_BITS + PROBE_OFFSET_BITS) ==
                    PROBE_STATIC)
                return report_static(regs, cookie, task);
        if (kind == PROBE_JUMP && !leaves(regs, cookie))
                return 0;
        record = bpf_ringbuf_reserve(&probe_ring, sizeof(*record), 0);
        if (!record) {
                __sync_fetch_and_add(&totals.n_lost, 1);
                return 0;
        }
        fill(regs, record, cookie, task);
        bpf_ringbuf_submit(record, wake_flag(sizeof(*record)));
        return 0;
}

/* ---- tracepoints --------------------------------------------------------------------------------------- */

/* A number of the record that the tracepoint made; 0 = it cannot be read. */
static __always_inline __u64 read_field(const void *fields, const struct probe_arg *arg)
{
        __u64 value = 0;
        __u32 n_bytes = arg->size <= sizeof(value) ? arg->size : sizeof(value);

        (void)bpf_probe_read_kernel(&value, n_bytes, fields + (__u16)arg->offset);
        return widen(value, arg);
}

static __always_inline void read_fields(const void *fields, const struct probe_spec *spec,
                                        struct probe_record *record, struct probe_arguments *to,
                                        bool has_texts)
{
#pragma unroll
        for (int i = 0; i < PROBE_ARGS_MAX; i++) {
                const struct probe_arg *arg = &spec->args[i];
                __u32 at = (__u16)arg->offset;

                to->text_bytes[i] = 0;
                to->values[i] = 0;
                if (arg->kind == PROBE_ARG_NONE)
                        continue;
                record->n_args = i + 1;
                if (arg->kind == PROBE_ARG_FIELD) {
                        to->values[i] = read_field(fields, arg);
                } else if (has_texts) {
                        if (arg->kind == PROBE_ARG_LOCATED)
                                at = (__u16)read_field(fields, arg);
                        to->text_bytes[i] = bpf_probe_read_kernel_str(to->texts[i], PROBE_TEXT_BYTES,
                                                                      fields + at);
                }
        }
}

static __always_inline bool is_32_bit(void)
{
        const struct task_struct *task = bpf_get_current_task_btf();
        const struct pt_regs *regs = (const void *)bpf_task_pt_regs((void *)task);

        (void)regs; /* some machines do not need it */
        return MACHINE_IS_32_BIT_CALL(task, regs);
}

static __always_inline bool is_syscall_wanted(const struct probe_spec *spec, const void *fields)
{
        __u64 number = read_field(fields, &spec->args[0]);
        __u32 word = number / 64 & (PROBE_SYSCALL_WORDS - 1);
        bool of_64_bit = settings.syscalls[0][word] >> (number & 63) & 1;
        bool of_32_bit = settings.syscalls[1][word] >> (number & 63) & 1;

        if (number >= 64 * PROBE_SYSCALL_WORDS) /* the end of rt_sigreturn has no number */
                return true;
        return of_64_bit == of_32_bit ? of_64_bit : is_32_bit() == of_32_bit;
}

static __always_inline void lose(void)
{
        __sync_fetch_and_add(&totals.n_lost, 1);
}

/* A begin waits in the table; the end has the record of both, and of the thread of the begin. */
static __always_inline int join(const void *fields, const struct probe_spec *spec, __u64 cookie, __u64 task)
{
        __u32 kind = cookie >> PROBE_FUNCTION_BITS & ((1 << PROBE_KIND_BITS) - 1);
        struct probe_key key = { .function = cookie & ((1 << PROBE_FUNCTION_BITS) - 1) };
        struct probe_open begin = { .time_ns = bpf_ktime_get_ns() }, *open;
        struct probe_long_record *record;

#pragma unroll
        for (int i = 0; i < PROBE_KEYS_MAX; i++)
                if (spec->keys[i].kind != PROBE_ARG_NONE)
                        key.words[i] = read_field(fields, &spec->keys[i]);
        open = bpf_map_lookup_elem(&opened, &key);
        if (kind == PROBE_BEGIN) {
                begin.pid = task >> 32;
                begin.tid = task;
#pragma unroll
                for (int i = 0; i < PROBE_ARGS_MAX; i++)
                        if (spec->args[i].kind == PROBE_ARG_FIELD)
                                begin.values[i] = read_field(fields, &spec->args[i]);
                if (open)
                        __sync_fetch_and_add(&totals.n_begins, 1);
                if (bpf_map_update_elem(&opened, &key, &begin, BPF_ANY) < 0)
                        __sync_fetch_and_add(&totals.n_full, 1);
                return 0;
        }
        if (!open) {
                __sync_fetch_and_add(&totals.n_ends, 1);
                return 0;
        }
        record = bpf_ringbuf_reserve(&probe_ring, PROBE_SHORT_BYTES, 0);
        if (record) {
                record->record.time_ns = begin.time_ns;
                record->record.frame = open->time_ns;
                record->record.pid = open->pid;
                record->record.tid = open->tid;
                record->record.function = key.function;
                record->record.kind = PROBE_SPAN;
                record->record.n_args = PROBE_ARGS_MAX;
                record->record.is_32_bit = 0;
#pragma unroll
                for (int i = 0; i < PROBE_ARGS_MAX; i++) {
                        record->arguments.values[i] = open->values[i];
                        record->arguments.text_bytes[i] = 0;
                }
                bpf_ringbuf_submit(record, wake_flag(PROBE_SHORT_BYTES));
        } else {
                lose();
        }
        (void)bpf_map_delete_elem(&opened, &key);
        return 0;
}

static __always_inline int report_point(const void *fields, const struct probe_spec *spec, __u64 cookie,
                                        __u64 task, bool has_texts)
{
        __u64 n_bytes = has_texts ? sizeof(struct probe_long_record) : PROBE_SHORT_BYTES;
        __u32 kind = cookie >> PROBE_FUNCTION_BITS & ((1 << PROBE_KIND_BITS) - 1);
        struct probe_long_record *record = has_texts ? bpf_ringbuf_reserve(&probe_ring, sizeof(*record), 0)
                                                     : bpf_ringbuf_reserve(&probe_ring, PROBE_SHORT_BYTES, 0);

        if (!record) {
                lose();
                return 0;
        }
        record->record.time_ns = bpf_ktime_get_ns();
        record->record.frame = PROBE_POINT_FRAME;
        record->record.pid = task >> 32;
        record->record.tid = task;
        record->record.function = cookie & ((1 << PROBE_FUNCTION_BITS) - 1);
        record->record.kind = kind;
        record->record.n_args = 0;
        record->record.is_32_bit = spec->is_syscall ? is_32_bit() : 0;
        read_fields(fields, spec, &record->record, &record->arguments, has_texts);
        bpf_ringbuf_submit(record, wake_flag(n_bytes));
        return 0;
}

/* The record's fields come after what all tracepoints have; the kernel has put something else there. */
static __always_inline int take_point(void *fields)
{
        __u64 cookie = bpf_get_attach_cookie(fields), task = bpf_get_current_pid_tgid();
        __u32 function = cookie & ((1 << PROBE_FUNCTION_BITS) - 1);
        __u32 kind = cookie >> PROBE_FUNCTION_BITS & ((1 << PROBE_KIND_BITS) - 1);
        __u32 number = cookie >> (PROBE_FUNCTION_BITS + PROBE_KIND_BITS + PROBE_REGISTER_BITS) &
                       ((1 << PROBE_OFFSET_BITS) - 1);
        const struct probe_spec *spec = bpf_map_lookup_elem(&specs, &number);
        struct probe_function_state *state;
        bool is_joined, is_own;

        if (!spec)
                return 0;
        is_joined = spec->keys[0].kind != PROBE_ARG_NONE;
        is_own = function == PROBE_OWN || is_recorded(task >> 32);
        if (!is_own && !(is_joined && kind == PROBE_END))
                return 0;
        if (spec->is_syscall && !is_syscall_wanted(spec, fields))
                return 0;
        state = bpf_map_lookup_elem(&functions, &function);
        if (!state || state->is_off)
                return 0;
        if (is_own)
                __sync_fetch_and_add(&state->n_hits, 1);
        if (is_joined)
                return join(fields, spec, cookie, task);
        return spec->has_texts ? report_point(fields, spec, cookie, task, true)
                               : report_point(fields, spec, cookie, task, false);
}

/* A tracepoint runs each program once, so one that several zones begin or end at has several programs. */
#define POINT_PROGRAM(name)                \
        SEC("tracepoint")                  \
        int name(void *fields)             \
        {                                  \
                return take_point(fields); \
        }

POINT_PROGRAM(on_tracepoint)
POINT_PROGRAM(on_tracepoint_2)
POINT_PROGRAM(on_tracepoint_3)
POINT_PROGRAM(on_tracepoint_4)
