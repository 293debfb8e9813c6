/* SPDX-License-Identifier: MIT */
#include "analyze/devices/device_ops.h"

#include "base/intern.h"
#include "format/tt_run_key.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct op_key {
        uint64_t chip, key;
};

struct core_key {
        uint64_t op, core; /* op: its id in `op_keys` */
};

struct core_window {
        struct device_op_window kernel;
        bool has_fw;
};

struct device_ops {
        struct intern op_keys, core_keys;
        struct device_op *ops;     /* heap; by id in op_keys until device_ops_finish() */
        struct core_window *cores; /* heap; by id in core_keys */
        size_t ops_capacity, cores_capacity;
};

/* In the order of their columns. */
static const char *const processors[] = { "BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2", "ERISC" };
#define N_PROCESSORS (sizeof(processors) / sizeof(processors[0]))

static const char *const firmware[] = { "BRISC-FW", "NCRISC-FW", "TRISC-FW", "ERISC-FW" };
static const struct {
        const char *name;
        bool moves_data;
} kernels[] = {
        { "BRISC-KERNEL", true },
        { "NCRISC-KERNEL", true },
        { "TRISC-KERNEL", false },
        { "ERISC-KERNEL", true },
};

static const struct {
        const char *processor, *name;
} sums[] = {
        { "TRISC_0", "CB-COMPUTE-WAIT-FRONT" },
        { "TRISC_2", "CB-COMPUTE-RESERVE-BACK" },
};

struct device_ops *device_ops_new(void)
{
        struct device_ops *s = calloc(1, sizeof(*s));

        if (!s)
                return NULL;
        intern_init(&s->op_keys, sizeof(struct op_key), 0);
        intern_init(&s->core_keys, sizeof(struct core_key), 0);
        return s;
}

void device_ops_free(struct device_ops *s)
{
        if (!s)
                return;
        intern_deinit(&s->op_keys);
        intern_deinit(&s->core_keys);
        free(s->ops);
        free(s->cores);
        free(s);
}

static void widen(struct device_op_window *w, uint64_t begin, uint64_t end)
{
        if (!w->is_known)
                *w = (struct device_op_window){ .begin = begin, .end = end, .is_known = true };
        w->begin = begin < w->begin ? begin : w->begin;
        w->end = end > w->end ? end : w->end;
}

static int find_op(struct device_ops *s, uint64_t chip, uint64_t key, uint32_t *ret_op)
{
        struct op_key op_key = { .chip = chip, .key = key };
        int r = intern_add_row(&s->op_keys, &op_key, &s->ops, &s->ops_capacity, sizeof(*s->ops), ret_op);

        if (r < 0)
                return -ENOMEM;
        s->ops[*ret_op - 1].chip = chip;
        s->ops[*ret_op - 1].key = key;
        return 0;
}

static int find_core(struct device_ops *s, uint32_t op, uint64_t core, struct core_window **ret_core)
{
        struct core_key core_key = { .op = op, .core = core };
        uint32_t id;
        int r = intern_add_row(&s->core_keys, &core_key, &s->cores, &s->cores_capacity, sizeof(*s->cores),
                               &id);

        if (r < 0)
                return -ENOMEM;
        *ret_core = &s->cores[id - 1];
        return 0;
}

static bool is_firmware(struct text_view zone)
{
        for (size_t i = 0; i < sizeof(firmware) / sizeof(firmware[0]); i++)
                if (text_view_is(zone, firmware[i]))
                        return true;
        return false;
}

static bool is_kernel(struct text_view zone, bool *ret_moves_data)
{
        for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
                if (text_view_is(zone, kernels[i].name)) {
                        *ret_moves_data = kernels[i].moves_data;
                        return true;
                }
        return false;
}

static void add_kernel(struct device_op *op, const struct device_op_zone *zone, bool moves_data)
{
        if (!op->kernel.is_known || zone->begin > op->last_begin)
                op->last_begin = zone->begin;
        widen(&op->kernel, zone->begin, zone->end);
        if (moves_data && (!op->has_dm || zone->begin < op->dm_begin)) {
                op->dm_begin = zone->begin;
                op->has_dm = true;
        }
        for (size_t i = 0; i < N_PROCESSORS; i++)
                if (text_view_is(zone->processor, processors[i]))
                        widen(&op->processors[i], zone->begin, zone->end);
}

int device_ops_add_zone(struct device_ops *s, const struct device_op_zone *zone)
{
        bool moves_data = false, has_kernel = is_kernel(zone->name, &moves_data);
        struct core_window *window;
        uint32_t op;
        int r;

        if (zone->key == 0 || (!has_kernel && !is_firmware(zone->name)))
                return 0;
        r = find_op(s, zone->chip, zone->key, &op);
        if (r == 0)
                r = find_core(s, op, zone->core, &window);
        if (r < 0)
                return r;
        if (has_kernel) {
                add_kernel(&s->ops[op - 1], zone, moves_data);
                widen(&window->kernel, zone->begin, zone->end);
                return 0;
        }
        widen(&s->ops[op - 1].fw, zone->begin, zone->end);
        s->ops[op - 1].n_cores += !window->has_fw;
        window->has_fw = true;
        return 0;
}

int device_ops_add_sum(struct device_ops *s, uint64_t chip, uint64_t key, struct text_view processor,
                       struct text_view name, uint64_t cycles)
{
        for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
                uint32_t op;
                int r;

                if (key == 0 || !text_view_is(processor, sums[i].processor) ||
                    !text_view_is(name, sums[i].name))
                        continue;
                r = find_op(s, chip, key, &op);
                if (r < 0)
                        return r;
                s->ops[op - 1].sums[i] += cycles;
                s->ops[op - 1].has_sums[i] = true;
        }
        return 0;
}

/* ---- what needs all of them ---------------------------------------------------------------------------- */

static void sum_up_cores(struct device_ops *s)
{
        for (uint32_t id = 1; id <= s->core_keys.n_items; id++) {
                const struct core_key *key = intern_get(&s->core_keys, id, NULL);
                const struct device_op_window *kernel = &s->cores[id - 1].kernel;
                struct device_op *op = &s->ops[key->op - 1];
                uint64_t cycles = kernel->end - kernel->begin;

                if (!kernel->is_known)
                        continue;
                if (op->n_kernel_cores == 0 || cycles < op->core_min)
                        op->core_min = cycles;
                if (cycles > op->core_max)
                        op->core_max = cycles;
                op->core_average += (double)cycles;
                op->n_kernel_cores++;
        }
        for (uint32_t i = 0; i < s->op_keys.n_items; i++)
                if (s->ops[i].n_kernel_cores > 0)
                        s->ops[i].core_average /= s->ops[i].n_kernel_cores;
}

static int compare(uint64_t a, uint64_t b)
{
        return a < b ? -1 : a > b;
}

static uint64_t first_tick(const struct device_op *op)
{
        return op->kernel.is_known ? op->kernel.begin : op->fw.begin;
}

static int compare_times(const void *a, const void *b)
{
        const struct device_op *p = a, *q = b;

        if (p->chip != q->chip)
                return compare(p->chip, q->chip);
        if (first_tick(p) != first_tick(q))
                return compare(first_tick(p), first_tick(q));
        return compare(p->key, q->key);
}

/* Keys that do not say their parts are larger than all others, and come last. */
static int compare_numbers(const void *a, const void *b)
{
        const struct device_op *p = a, *q = b;
        struct tt_run x = { .run_host_id = UINT64_MAX }, y = { .run_host_id = UINT64_MAX };

        if (p->chip != q->chip)
                return compare(p->chip, q->chip);
        if (!tt_run_key_decode(p->key, &x) || !tt_run_key_decode(q->key, &y))
                return x.run_host_id != y.run_host_id ? compare(x.run_host_id, y.run_host_id)
                                                      : compare_times(a, b);
        if (x.run_host_id != y.run_host_id)
                return compare(x.run_host_id, y.run_host_id);
        /* NONE comes first. */
        return x.trace != y.trace ? compare(x.trace + 1, y.trace + 1) : compare(x.replay + 1, y.replay + 1);
}

/* Latencies in the order in which the operations lie. */
static void find_latencies(struct device_ops *s)
{
        const struct device_op *last = NULL;

        for (size_t i = 0; i < s->op_keys.n_items; i++) {
                struct device_op *op = &s->ops[i];

                op->latency = op->latency_dm = 0;
                if (last && last->chip == op->chip) {
                        op->latency = (int64_t)(op->kernel.begin - last->kernel.end);
                        op->latency_dm = (int64_t)(op->dm_begin - last->kernel.end);
                }
                if (op->kernel.is_known)
                        last = op;
        }
}

void device_ops_finish(struct device_ops *s, enum device_ops_order order)
{
        size_t n = s->op_keys.n_items;

        sum_up_cores(s);
        if (n == 0)
                return;
        qsort(s->ops, n, sizeof(*s->ops), compare_times);
        find_latencies(s);
        for (size_t i = 0; i < n; i++) {
                s->ops[i].time_latency = s->ops[i].latency;
                s->ops[i].time_latency_dm = s->ops[i].latency_dm;
        }
        if (order == DEVICE_OPS_BY_TIME)
                return;
        qsort(s->ops, n, sizeof(*s->ops), compare_numbers);
        find_latencies(s);
}

const struct device_op *device_ops_list(const struct device_ops *s, size_t *ret_n)
{
        *ret_n = s->op_keys.n_items;
        return s->ops;
}

const char *device_op_title(enum device_op_column column)
{
        static const char *const titles[] = {
#define TITLE(name, title) title,
                DEVICE_OP_COLUMNS(TITLE)
#undef TITLE
        };

        return titles[column];
}

static bool to_ns(double cycles, double mhz, int64_t *ret_ns)
{
        double ns = rint(cycles * 1000 / mhz);

        if (!(ns > -9e18 && ns < 9e18))
                return false;
        *ret_ns = (int64_t)ns;
        return true;
}

static bool window_ns(const struct device_op_window *w, double mhz, int64_t *ret_ns)
{
        return w->is_known && to_ns((double)(w->end - w->begin), mhz, ret_ns);
}

bool device_op_value(const struct device_op *op, enum device_op_column column, double mhz, int64_t *ret_value)
{
        switch (column) {
        case DEVICE_OP_FW_BEGIN:
                *ret_value = (int64_t)op->fw.begin;
                return op->fw.is_known && op->fw.begin <= INT64_MAX;
        case DEVICE_OP_FW_END:
                *ret_value = (int64_t)op->fw.end;
                return op->fw.is_known && op->fw.end <= INT64_MAX;
        case DEVICE_OP_LATENCY:
                return op->kernel.is_known && to_ns((double)op->latency, mhz, ret_value);
        case DEVICE_OP_LATENCY_DM:
                return op->has_dm && to_ns((double)op->latency_dm, mhz, ret_value);
        case DEVICE_OP_TIME_LATENCY:
                return op->kernel.is_known && to_ns((double)op->time_latency, mhz, ret_value);
        case DEVICE_OP_TIME_LATENCY_DM:
                return op->has_dm && to_ns((double)op->time_latency_dm, mhz, ret_value);
        case DEVICE_OP_FW:
                return window_ns(&op->fw, mhz, ret_value);
        case DEVICE_OP_KERNEL:
                return window_ns(&op->kernel, mhz, ret_value);
        case DEVICE_OP_KERNEL_DM:
                return op->has_dm && to_ns((double)(op->kernel.end - op->dm_begin), mhz, ret_value);
        case DEVICE_OP_CORE_MIN:
                return op->n_kernel_cores > 0 && to_ns((double)op->core_min, mhz, ret_value);
        case DEVICE_OP_CORE_MAX:
                return op->n_kernel_cores > 0 && to_ns((double)op->core_max, mhz, ret_value);
        case DEVICE_OP_CORE_AVERAGE:
                return op->n_kernel_cores > 0 && to_ns(op->core_average, mhz, ret_value);
        case DEVICE_OP_FIRST_TO_LAST:
                return op->kernel.is_known &&
                       to_ns((double)(op->last_begin - op->kernel.begin), mhz, ret_value);
        case DEVICE_OP_BRISC:
        case DEVICE_OP_NCRISC:
        case DEVICE_OP_TRISC_0:
        case DEVICE_OP_TRISC_1:
        case DEVICE_OP_TRISC_2:
        case DEVICE_OP_ERISC:
                return window_ns(&op->processors[column - DEVICE_OP_BRISC], mhz, ret_value);
        case DEVICE_OP_WAIT_FRONT:
        case DEVICE_OP_RESERVE_BACK:
                return op->has_sums[column - DEVICE_OP_WAIT_FRONT] &&
                       to_ns((double)op->sums[column - DEVICE_OP_WAIT_FRONT], mhz, ret_value);
        case DEVICE_OP_N_COLUMNS:
                break;
        }
        return false;
}
