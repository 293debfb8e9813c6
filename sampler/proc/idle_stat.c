/* SPDX-License-Identifier: MIT */
#include "sampler/proc/idle_stat.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/io.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STAT_BYTES_MAX 16777216 /* one line per CPU, and one with a number per interrupt */
#define IDLE_FIELD     3        /* "cpu3 user nice system idle iowait ...": waiting for a disk is idle, too */
#define N_FIELDS       5

void idle_stat_parse(const char *text, uint64_t tick_ns, uint64_t *idle_ns, size_t n_cpus)
{
        for (const char *line = text; line; line = strchr(line, '\n')) {
                uint64_t fields[N_FIELDS] = { 0 };
                size_t cpu;
                char *at;

                line += *line == '\n';
                if (strncmp(line, "cpu", 3) != 0 || line[3] < '0' || line[3] > '9')
                        continue;
                cpu = strtoul(line + 3, &at, 10);
                for (size_t i = 0; i < N_FIELDS && *at == ' '; i++)
                        fields[i] = strtoull(at, &at, 10);
                if (cpu < n_cpus)
                        idle_ns[cpu] = (fields[IDLE_FIELD] + fields[IDLE_FIELD + 1]) * tick_ns;
        }
}

void idle_stat_read(uint64_t *idle_ns, size_t n_cpus)
{
        long ticks_a_second = sysconf(_SC_CLK_TCK);
        struct byte_buffer text = { .data = NULL };

        if (ticks_a_second > 0 && io_read_file(AT_FDCWD, "/proc/stat", STAT_BYTES_MAX, &text, NULL) == 0)
                idle_stat_parse((const char *)text.data, NS_PER_S / (uint64_t)ticks_a_second, idle_ns,
                                n_cpus);
        byte_buffer_deinit(&text);
}
