/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: any text of a perf map is read to its end.  In two pieces it gives
 * the same lines as in one piece.
 */
#include "sampler/jit/perf_map.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

struct outcome {
        uint64_t n_lines, n_garbage, check; /* `check` depends on every line, in order */
};

static void take_all(struct perf_map *m, struct outcome *o)
{
        struct perf_map_line line;

        while (perf_map_next(m, &line) == 1) {
                if (line.name_bytes == 0 || line.name_bytes > PERF_MAP_LINE_BYTES_MAX ||
                    memchr(line.name, '\n', line.name_bytes) ||
                    line.start_avma + line.length_bytes < line.start_avma)
                        abort();
                o->n_lines++;
                o->check = (o->check ^ line.start_avma) * UINT64_C(0x9e3779b97f4a7c15);
                o->check = (o->check ^ line.length_bytes ^ line.name_bytes) * UINT64_C(0x9e3779b97f4a7c15);
                for (size_t i = 0; i < line.name_bytes; i++)
                        o->check = (o->check ^ (uint8_t)line.name[i]) * UINT64_C(0x9e3779b97f4a7c15);
        }
        o->n_garbage = m->n_garbage;
}

static struct outcome run(const uint8_t *data, size_t n_bytes, size_t cut)
{
        struct perf_map m = { .at_bytes = 0 };
        struct outcome o = { .n_lines = 0 };

        if (perf_map_add(&m, data, cut) < 0)
                abort();
        take_all(&m, &o);
        if (perf_map_add(&m, data + cut, n_bytes - cut) < 0)
                abort();
        take_all(&m, &o);
        perf_map_deinit(&m);
        return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        size_t cut = n_bytes > 0 ? data[0] % (n_bytes + 1) : 0;
        struct outcome whole = run(data, n_bytes, n_bytes), pieces = run(data, n_bytes, cut);

        if (whole.n_lines != pieces.n_lines || whole.check != pieces.check ||
            whole.n_garbage != pieces.n_garbage)
                abort();
        return 0;
}
