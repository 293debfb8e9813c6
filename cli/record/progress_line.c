/* SPDX-License-Identifier: MIT */
#include "cli/record/record_parts.h"

#include "sampler/recording/recorder.h"
#include "view/text/text_number.h"

#include <stdio.h>
#include <termios.h>
#include <unistd.h>

#define CLEAR_LINE "\r\033[K"

/*
 * The terminal belongs to the command: no line is drawn if the command fills the screen or took the
 * foreground.
 */
static bool may_draw(void)
{
        struct termios mode;

        return tcgetpgrp(STDERR_FILENO) == getpgrp() && tcgetattr(STDERR_FILENO, &mode) == 0 &&
               (mode.c_lflag & ICANON) != 0;
}

void progress_line_draw(void *context, const struct recorder_progress *p)
{
        struct progress_line *line = context;

        if (!may_draw()) {
                line->shown = false;
                return;
        }
        (void)fprintf(stderr, CLEAR_LINE "recording %s  %s  %s  %s  lost %s",
                      text_number_duration(p->elapsed_ns).text,
                      text_number_counted(p->n_samples, "samples").text,
                      text_number_counted(p->n_zones, "zones").text, text_number_bytes(p->file_bytes).text,
                      text_number_count(p->n_lost).text);
        (void)fflush(stderr);
        line->shown = true;
}

void progress_line_clear(struct progress_line *line)
{
        if (line->shown)
                (void)fputs(CLEAR_LINE, stderr);
        line->shown = false;
}
