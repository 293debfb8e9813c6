/* SPDX-License-Identifier: MIT */
/*
 * cli/terminal/pager.h - standard output through $PAGER, when it was asked for and there is a terminal
 *
 * Way of the data:  cmd_* -> standard output -> [pager] -> terminal
 */
#ifndef CLI_TERMINAL_PAGER_H
#define CLI_TERMINAL_PAGER_H

#include "view/text/text_color.h"

#include <stdio.h>

struct pager {
        FILE *stream; /* to it; NULL = no pager */
};

/*
 * pager_start() - from here on standard output is the pager's
 * @color:  as requested; decided now, by the terminal
 * Does nothing where standard output is no terminal, or the pager cannot be started.
 */
void pager_start(struct pager *pager, enum text_color_when *color);

/* Waits until people have seen it. */
void pager_finish(struct pager *pager);

#endif /* CLI_TERMINAL_PAGER_H */
