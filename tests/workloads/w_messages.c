/* SPDX-License-Identifier: MIT */
/*
 * w_messages
 *
 * Truth: one thread named "teller" emits, in this order and nothing else:
 *      zone "outer" begins
 *      message "hello from the workload", severity info
 *      message "a warning", severity warning, color 0xff8800
 *      plot "depth" of -7 (integer), plot "load" of 0.25
 *      zone "inner" begins and ends
 *      frame mark of the program, frame mark "audio"
 *      zone "outer" ends
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

int main(void)
{
        hyprof_thread_name("teller");
        {
                HYPROF_ZONE("outer");
                HYPROF_MESSAGE("hello from the workload");
                HYPROF_MESSAGE_COLOR("a warning", HYPROF_SEVERITY_WARNING, 0xff8800);
                HYPROF_PLOT_INT("depth", -7);
                HYPROF_PLOT_DOUBLE("load", 0.25);
                {
                        HYPROF_ZONE("inner");
                }
                HYPROF_FRAME();
                HYPROF_FRAME_NAMED("audio");
        }
        return EXIT_SUCCESS;
}
