/* SPDX-License-Identifier: MIT */
#include "analyze/waits/interrupt_kind.h"

#include "base/text_view.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX 256 /* of a stack; the kernel's are far shorter */

/* The part that a function has in an interrupt; stored by frame. */
enum role {
        ROLE_NOT_LOOKED_AT,
        ROLE_NONE,
        ROLE_ENTRY, /* of a real interrupt, or its exit, which runs softirqs */
        ROLE_TIMER,
        ROLE_DISK,
        ROLE_NETWORK,
        ROLE_BACKLOG,  /* NETWORK: packets of this machine are taken in */
        ROLE_SOFTIRQ,  /* softirqs are run, for whatever reason */
        ROLE_END_CALL, /* softirqs may run again, and do so at once */
        ROLE_SEND,
};

struct names {
        enum role role;
        const char *const *prefixes; /* up to NULL */
};

/* clang-format off */
static const char *const entries[] = {
        /* x86-64 */
        "asm_sysvec_", "asm_common_interrupt", "asm_call_irq", "common_interrupt", "sysvec_", "__sysvec_",
        "do_IRQ",
        /* AArch64; call_on_irq_stack() is also how a thread's own call runs softirqs */
        "el0t_64_irq", "el1h_64_irq", "el0t_32_irq", "el1_irq", "el0_irq", "el1_interrupt", "el0_interrupt",
        "gic_handle_irq", "do_interrupt_handler",
        /* RISC-V */
        "do_irq", "handle_riscv_irq", "riscv_intc_irq", "handle_arch_irq",
        /* all */
        "generic_handle_", "handle_domain_irq", "handle_irq_", "__handle_irq_", "handle_fasteoi_",
        "handle_edge_irq", "handle_level_irq", "handle_percpu_", "irq_exit", "__irq_exit", NULL
};
static const char *const timers[] = {
        "hrtimer_", "__hrtimer_", "process_timeout", "run_timer_softirq", "__run_timer", "expire_timers",
        "call_timer_fn", "timerfd_", "posix_timer_", "it_real_fn", "alarm_", "alarmtimer_", "tick_", NULL
};
static const char *const disks[] = {
        "blk_", "__blk_", "blkdev_", "bio_", "nvme_", "virtblk_", "scsi_", "ata_", "mmc_", "dm_",
        "clone_endio", "dio_", "end_bio_", "end_buffer_", "end_page_", "folio_end_", "iomap_dio_",
        "iomap_finish_", "iomap_read_end", NULL
};
static const char *const backlogs[] = { "process_backlog", "veth_poll", NULL };
static const char *const networks[] = {
        "net_rx_action", "net_tx_action", "__napi_poll", "napi_", "sock_def_", "tcp_rcv", "tcp_v4_rcv",
        "tcp_v4_do_rcv", "tcp_v6_rcv", "tcp_v6_do_rcv", "tcp_data_", "tcp_child_process", "udp_queue_",
        "__udp4_lib_rcv", "__udp6_lib_rcv", "udp_unicast_", "udpv6_queue_", "ip_rcv", "ip_local_deliver",
        "ipv6_rcv", "ip6_input", "__netif_receive_", "netif_receive_", "sctp_rcv", "packet_rcv",
        "tpacket_rcv", NULL
};
static const char *const softirqs[] = {
        "do_softirq", "__do_softirq", "____do_softirq", "handle_softirqs", "run_ksoftirqd", NULL
};
static const char *const ends[] = { "__local_bh_enable", "_local_bh_enable", "local_bh_enable", NULL };
/* clang-format on */

/* The first one that fits. */
static const struct names all_names[] = {
        { ROLE_ENTRY, entries },    { ROLE_TIMER, timers },     { ROLE_DISK, disks },
        { ROLE_BACKLOG, backlogs }, { ROLE_NETWORK, networks }, { ROLE_SOFTIRQ, softirqs },
        { ROLE_END_CALL, ends },
};

static bool has(struct text_view name, const char *part)
{
        return name.n_bytes != 0 && memmem(name.bytes, name.n_bytes, part, strlen(part)) != NULL;
}

static enum role judge(struct text_view name)
{
        for (size_t i = 0; i < sizeof(all_names) / sizeof(all_names[0]); i++)
                if (text_view_begins_with_any(name, all_names[i].prefixes))
                        return all_names[i].role;
        return has(name, "send") || has(name, "xmit") || has(name, "transmit") ? ROLE_SEND : ROLE_NONE;
}

int interrupt_kinds_init(struct interrupt_kinds *k, const struct trace_dictionary *dictionary)
{
        *k = (struct interrupt_kinds){
                .dictionary = dictionary,
                .first_symbols = trace_dictionary_find_symbols(dictionary),
                .n_frames = trace_dictionary_count(dictionary, TRACE_TABLE_FRAMES),
                .n_stacks = trace_dictionary_count(dictionary, TRACE_TABLE_STACKS),
        };
        k->roles = calloc((size_t)k->n_frames + 1, sizeof(*k->roles));
        k->kinds = calloc((size_t)k->n_stacks + 1, sizeof(*k->kinds));
        return k->first_symbols && k->roles && k->kinds ? 0 : -ENOMEM;
}

void interrupt_kinds_deinit(struct interrupt_kinds *k)
{
        free(k->first_symbols);
        free(k->roles);
        free(k->kinds);
        *k = (struct interrupt_kinds){ .dictionary = NULL };
}

/* Functions that are inlined into others say nothing of their own: the last row is the code's function. */
static enum role role_of(struct interrupt_kinds *k, uint32_t frame)
{
        const struct trace_symbol *symbol;
        uint32_t last = 0;

        if (k->roles[frame] != ROLE_NOT_LOOKED_AT)
                return (enum role)k->roles[frame];
        k->roles[frame] = ROLE_NONE;
        if (!trace_dictionary_is_kernel_frame(k->dictionary, frame))
                return ROLE_NONE;
        for (uint32_t id = k->first_symbols[frame]; id != 0;
             id = trace_dictionary_next_symbol(k->dictionary, id))
                last = id;
        if (last == 0)
                return ROLE_NONE;
        symbol = trace_dictionary_row(k->dictionary, TRACE_TABLE_SYMBOLS, last);
        k->roles[frame] = (uint8_t)judge(trace_dictionary_text(k->dictionary, symbol->function));
        return (enum role)k->roles[frame];
}

static enum interrupt_kind kind_of_role(enum role role)
{
        if (role == ROLE_TIMER)
                return INTERRUPT_TIMER;
        if (role == ROLE_DISK)
                return INTERRUPT_DISK;
        return role == ROLE_NETWORK || role == ROLE_BACKLOG ? INTERRUPT_NETWORK : INTERRUPT_UNKNOWN;
}

/* From the innermost function outwards. */
static enum interrupt_kind look(struct interrupt_kinds *k, uint32_t stack)
{
        enum interrupt_kind kind = INTERRUPT_UNKNOWN;
        bool from_here = false, in_call = false, in_softirq = false;

        for (unsigned n = 0; stack != 0 && n < FRAMES_MAX; n++) {
                const struct trace_stack *row = trace_dictionary_row(k->dictionary, TRACE_TABLE_STACKS,
                                                                     stack);
                enum role role = role_of(k, row->frame);

                if (role == ROLE_ENTRY)
                        return kind == INTERRUPT_UNKNOWN ? INTERRUPT_OTHER : kind;
                if (kind == INTERRUPT_UNKNOWN)
                        kind = kind_of_role(role);
                from_here |= role == ROLE_BACKLOG;
                in_softirq |= role == ROLE_SOFTIRQ;
                in_call |= from_here && role == ROLE_END_CALL;
                if (in_call && role == ROLE_SEND && kind == INTERRUPT_NETWORK)
                        return INTERRUPT_SENDER;
                stack = row->parent;
        }
        return kind == INTERRUPT_UNKNOWN && in_softirq ? INTERRUPT_OTHER : kind;
}

enum interrupt_kind interrupt_kinds_find(struct interrupt_kinds *k, uint32_t stack)
{
        if (stack == 0 || stack > k->n_stacks)
                return INTERRUPT_UNKNOWN;
        if (k->kinds[stack] == 0)
                k->kinds[stack] = (uint8_t)(look(k, stack) + 1);
        return (enum interrupt_kind)(k->kinds[stack] - 1);
}

uint32_t interrupt_kinds_find_send(struct interrupt_kinds *k, uint32_t stack)
{
        uint32_t frame = 0;

        for (unsigned n = 0; stack != 0 && n < FRAMES_MAX; n++) {
                const struct trace_stack *row = trace_dictionary_row(k->dictionary, TRACE_TABLE_STACKS,
                                                                     stack);

                if (role_of(k, row->frame) == ROLE_SEND)
                        frame = row->frame;
                stack = row->parent;
        }
        return frame;
}
