/* SPDX-License-Identifier: MIT */
#include "export/export_format.h"

#include <stddef.h>

static const char *const left_out_words[EXPORT_LEFT_OUT_COUNT] = {
#define X(name, words) [EXPORT_LEFT_OUT_##name] = (words),
        EXPORT_LEFT_OUT_REASONS(X)
#undef X
};

static const struct export_format formats[] = {
        { .name = "perfetto",
          .extension = ".perfetto-trace",
          .help = "ui.perfetto.dev and trace_processor: threads, zones, CPUs, plots on one timeline; SQL",
          .next = "trace_processor_shell",
          .write = export_perfetto,
          .is_binary = true },
        { .name = "pprof",
          .extension = ".pb.gz",
          .help = "go tool pprof, and hosted profilers that take its format",
          .next = "go tool pprof -top",
          .write = export_pprof,
          .is_binary = true },
        { .name = NULL },
};

const char *export_left_out_words(enum export_left_out reason)
{
        return left_out_words[reason];
}

const struct export_format *export_formats(void)
{
        return formats;
}
