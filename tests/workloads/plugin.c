/* SPDX-License-Identifier: MIT */
/*
 * Half of plugin_host: a shared object with a copy of the client library of its own.  -DPLUGIN_NAME="name"
 * Truth: each call of plugin_work() is @n zones of that name, one after the other, one message and one plot.
 */
#include <hyprof/hyprof.h>

__attribute__((visibility("default"))) void plugin_work(int n);

void plugin_work(int n)
{
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE(PLUGIN_NAME);
        }
        HYPROF_MESSAGE("from " PLUGIN_NAME);
        HYPROF_PLOT_INT("of plugins", n);
}
