/* SPDX-License-Identifier: MIT */
/* The kind of plot of a name, and two small functions that a macro cannot replace. */
#include <hyprof/compat/iree/iree_calls.h>

#define PLOTS_MAX 1024

struct hyprof_location hyprof_iree_no_name = HYPROF_NAME("");

/*
 * Programs state how plots are to be shown before any recording, when hyprof_name_of() knows no names; so
 * this table keeps it.
 */
static struct iree_plot {
        const char *key; /* atomic; the caller's string, which IREE keeps for ever; NULL = free */
        struct hyprof_location name;
} plots[PLOTS_MAX];

static struct hyprof_location *plot_of(const char *name)
{
        for (uint32_t i = 0; i < PLOTS_MAX; i++) {
                const char *key = NULL;

                if (__atomic_compare_exchange_n(&plots[i].key, &key, name, false, __ATOMIC_RELAXED,
                                                __ATOMIC_RELAXED) ||
                    key == name) {
                        /* Two threads at once write the same. */
                        __atomic_store_n(&plots[i].name.name, name, __ATOMIC_RELAXED);
                        return &plots[i].name;
                }
        }
        return hyprof_name_of(name);
}

void hyprof_iree_plot_type(const char *name, int type, bool step, bool fill, uint32_t color)
{
        struct hyprof_location *plot = name ? plot_of(name) : NULL;
        enum hyprof_plot_format format = type == 1   ? HYPROF_PLOT_BYTES
                                         : type == 2 ? HYPROF_PLOT_PERCENT
                                                     : HYPROF_PLOT_NUMBER;

        if (plot)
                hyprof_plot_config(plot, format,
                                   (step ? HYPROF_PLOT_STEP : 0) | (fill ? HYPROF_PLOT_FILL : 0),
                                   color & 0xffffff, NULL);
}

__attribute__((noinline)) void *hyprof_iree_obscure_ptr(void *ptr)
{
        __asm__("" : "+r"(ptr));
        return ptr;
}
