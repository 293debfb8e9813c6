/* SPDX-License-Identifier: MIT */
/* For builds without ncurses: top_screen.c is left out then. */
#include "cli/top/top_screen.h"

#include "base/error.h"

#include <errno.h>

bool top_screen_can_draw(void)
{
        return false;
}

int top_screen_run(struct top_input *in, struct top_view *view, const struct top_screen_options *options,
                   struct error *err)
{
        (void)in;
        (void)view;
        (void)options;
        return error_set(err, -ENOTSUP, "built without ncurses");
}
