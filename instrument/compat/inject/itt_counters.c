/* SPDX-License-Identifier: MIT */
/*
 * instrument/compat/inject/itt_counters.c - ITT's counters, as plots
 *
 * Way of the data:  program -> itt_abi -> [itt_counters] -> libhyprof
 */
#include "instrument/compat/inject/itt_abi.h"
#include "instrument/compat/inject/word_map.h"

#include <stdio.h>
#include <string.h>

#define NAME_BYTES 256

/* The program holds it as a handle; it lives as long as the process. */
struct counter {
        struct hyprof_location location;
        enum itt_type type;
        int64_t total; /* atomic; of increments */
        char name[NAME_BYTES];
};

static struct word_map by_string; /* a domain and a string -> counter */

bool itt_number(enum itt_type type, const void *value, int64_t *ret_number, double *ret_real)
{
        union {
                int64_t i64;
                uint32_t u32;
                int32_t i32;
                uint16_t u16;
                int16_t i16;
                float f32;
                double f64;
        } v = { .i64 = 0 };
        static const uint8_t bytes[] = { 0, 8, 8, 4, 4, 2, 2, 4, 8 };

        *ret_number = 0;
        if (type < ITT_U64 || type > ITT_F64 || !value)
                return false;
        memcpy(&v, value, bytes[type]);
        switch (type) {
        case ITT_U32:
                *ret_number = v.u32;
                return true;
        case ITT_I32:
                *ret_number = v.i32;
                return true;
        case ITT_U16:
                *ret_number = v.u16;
                return true;
        case ITT_I16:
                *ret_number = v.i16;
                return true;
        case ITT_F32:
                *ret_real = (double)v.f32;
                return false;
        case ITT_F64:
                *ret_real = v.f64;
                return false;
        case ITT_U64:
        case ITT_I64:
        default:
                *ret_number = v.i64;
                return true;
        }
}

static struct counter *make(const char *name, const char *domain, enum itt_type type)
{
        struct counter *c = inject_allocate(sizeof(*c));

        if (!c)
                return NULL;
        (void)snprintf(c->name, sizeof(c->name), "%s%s%s", domain ? domain : "", domain ? ": " : "",
                       name ? name : "counter");
        c->location = (struct hyprof_location)HYPROF_NAME(c->name);
        c->type = type;
        return c;
}

static struct counter *create(const char *name, const char *domain)
{
        return make(name, domain, ITT_U64);
}

static struct counter *create_typed(const char *name, const char *domain, enum itt_type type)
{
        return make(name, domain, type);
}

static struct counter *create_in_domain(const struct itt_domain *domain, const char *name, enum itt_type type)
{
        return make(name, domain ? domain->name : NULL, type);
}

static void add_to(struct counter *c, int64_t delta)
{
        if (c)
                hyprof_plot_int(&c->location, __atomic_add_fetch(&c->total, delta, __ATOMIC_RELAXED));
}

static void add(struct counter *c, unsigned long long delta)
{
        add_to(c, (int64_t)delta);
}

static void subtract(struct counter *c, unsigned long long delta)
{
        add_to(c, -(int64_t)delta);
}

static void increment(struct counter *c)
{
        add_to(c, 1);
}

static void decrement(struct counter *c)
{
        add_to(c, -1);
}

static void set(struct counter *c, const void *value)
{
        double real = 0;
        int64_t number;

        if (!c || !value)
                return;
        if (itt_number(c->type, value, &number, &real)) {
                __atomic_store_n(&c->total, number, __ATOMIC_RELAXED);
                hyprof_plot_int(&c->location, number);
        } else {
                hyprof_plot_double(&c->location, real);
        }
}

/* At the present moment, which the clock of the program also means. */
static void set_at(struct counter *c, const void *clock, unsigned long long time, const void *value)
{
        (void)clock;
        (void)time;
        set(c, value);
}

static struct counter *find(const struct itt_domain *domain, const struct itt_string *name)
{
        struct word_key key = { (uintptr_t)domain, (uintptr_t)name };
        struct counter *c = word_map_find(&by_string, key);

        if (c || !name)
                return c;
        c = make(name->text, domain ? domain->name : NULL, ITT_I64);
        return c ? word_map_keep(&by_string, key, c) : NULL;
}

static void add_named(const struct itt_domain *domain, const struct itt_string *name,
                      unsigned long long delta)
{
        add(find(domain, name), delta);
}

static void subtract_named(const struct itt_domain *domain, const struct itt_string *name,
                           unsigned long long delta)
{
        subtract(find(domain, name), delta);
}

static void increment_named(const struct itt_domain *domain, const struct itt_string *name)
{
        increment(find(domain, name));
}

static void decrement_named(const struct itt_domain *domain, const struct itt_string *name)
{
        decrement(find(domain, name));
}

#define ENTRY(name, function)                    \
        {                                        \
                name, (void (*)(void))(function) \
        }

/* clang-format off */
const struct itt_entry itt_counter_entries[] = {
        ENTRY("counter_create", create),
        ENTRY("counter_create_typed", create_typed),
        ENTRY("counter_create_v3", create_in_domain),
        ENTRY("counter_inc", increment),
        ENTRY("counter_inc_delta", add),
        ENTRY("counter_dec", decrement),
        ENTRY("counter_dec_delta", subtract),
        ENTRY("counter_inc_v3", increment_named),
        ENTRY("counter_inc_delta_v3", add_named),
        ENTRY("counter_dec_v3", decrement_named),
        ENTRY("counter_dec_delta_v3", subtract_named),
        ENTRY("counter_set_value", set),
        ENTRY("counter_set_value_v3", set),
        ENTRY("counter_set_value_ex", set_at),
        { NULL, NULL },
};
/* clang-format on */
