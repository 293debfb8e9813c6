/* SPDX-License-Identifier: MIT */
#include "sampler/proc/cpu_list.h"

#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CPUS_MAX       65536 /* the kernel's own limit is 8192 */
#define LIST_BYTES_MAX 65536
#define STAT_BYTES_MAX 16777216 /* one line per CPU, and one with a number per interrupt */
#define ONLINE_PATH    "/sys/devices/system/cpu/online"
#define STAT_PATH      "/proc/stat"

static int add_range(struct cpu_list *list, long first, long last)
{
        int r = array_reserve(&list->cpus, &list->capacity, list->n_cpus + (size_t)(last - first) + 1,
                              sizeof(int));

        for (long cpu = first; r == 0 && cpu <= last; cpu++)
                list->cpus[list->n_cpus++] = (int)cpu;
        return r;
}

int cpu_list_parse(struct cpu_list *list, const char *text, struct error *err)
{
        const char *at = text;

        *list = (struct cpu_list){ .cpus = NULL };
        while (*at != '\0' && *at != '\n') {
                char *end;
                long first = strtol(at, &end, 10);
                long last = first;

                if (end != at && *end == '-') {
                        at = end + 1;
                        last = strtol(at, &end, 10);
                }
                if (end == at || first < 0 || last < first || last >= CPUS_MAX)
                        goto malformed;
                if (add_range(list, first, last) < 0) {
                        cpu_list_deinit(list);
                        return error_set(err, -ENOMEM, "no memory for the list of CPUs");
                }
                at = *end == ',' ? end + 1 : end;
                if (*end != ',' && *end != '\n' && *end != '\0')
                        goto malformed;
        }
        if (list->n_cpus > 0)
                return 0;

malformed:
        cpu_list_deinit(list);
        return error_set(err, -EBADMSG, "not a list of CPUs: '%.40s'", text);
}

int cpu_list_parse_stat(struct cpu_list *list, const char *text, struct error *err)
{
        *list = (struct cpu_list){ .cpus = NULL };
        for (const char *line = text; line; line = strchr(line, '\n')) {
                char *end;
                long cpu;

                line += *line == '\n';
                if (strncmp(line, "cpu", 3) != 0 || line[3] < '0' || line[3] > '9')
                        continue;
                cpu = strtol(line + 3, &end, 10);
                if (*end != ' ' || cpu >= CPUS_MAX)
                        continue;
                if (add_range(list, cpu, cpu) < 0) {
                        cpu_list_deinit(list);
                        return error_set(err, -ENOMEM, "no memory for the list of CPUs");
                }
        }
        return list->n_cpus > 0 ? 0 : error_set(err, -EBADMSG, "no CPUs in " STAT_PATH);
}

/* /proc/stat takes the kernel longer to write, so it is read only where /sys is not mounted. */
int cpu_list_read_online(struct cpu_list *list, struct error *err)
{
        struct byte_buffer text = { .data = NULL };
        int r = io_read_file(AT_FDCWD, ONLINE_PATH, LIST_BYTES_MAX, &text, err);

        if (r == 0) {
                r = cpu_list_parse(list, (const char *)text.data, err);
        } else if (r == -ENOENT && io_read_file(AT_FDCWD, STAT_PATH, STAT_BYTES_MAX, &text, NULL) == 0) {
                r = cpu_list_parse_stat(list, (const char *)text.data, err);
        }
        byte_buffer_deinit(&text);
        return r;
}

int cpu_list_count_places(size_t *ret_n_places, struct error *err)
{
        struct cpu_list online = { .cpus = NULL };
        int r = cpu_list_read_online(&online, err);

        *ret_n_places = r == 0 && online.n_cpus > 0 ? (size_t)online.cpus[online.n_cpus - 1] + 1 : 0;
        cpu_list_deinit(&online);
        return r;
}

static bool has_cpu(const struct cpu_list *list, int cpu)
{
        for (size_t i = 0; i < list->n_cpus; i++)
                if (list->cpus[i] == cpu)
                        return true;
        return false;
}

static int compare_cpus(const void *a, const void *b)
{
        const int *first = a, *second = b;

        return (*first > *second) - (*first < *second);
}

int cpu_list_choose_from(struct cpu_list *list, const char *text, const struct cpu_list *online,
                         struct error *err)
{
        size_t n_kept = 0;
        int r = cpu_list_parse(list, text, err);

        if (r < 0)
                return r;
        qsort(list->cpus, list->n_cpus, sizeof(*list->cpus), compare_cpus);
        for (size_t i = 0; i < list->n_cpus; i++) {
                int cpu = list->cpus[i];

                if (!has_cpu(online, cpu)) {
                        cpu_list_deinit(list);
                        return error_set(err, -ENODEV, "CPU %d is not online, only %zu CPUs are", cpu,
                                         online->n_cpus);
                }
                if (n_kept == 0 || list->cpus[n_kept - 1] != cpu)
                        list->cpus[n_kept++] = cpu;
        }
        list->n_cpus = n_kept;
        return 0;
}

int cpu_list_choose(struct cpu_list *list, const char *text, struct error *err)
{
        struct cpu_list online = { .cpus = NULL };
        int r = cpu_list_read_online(&online, err);

        *list = (struct cpu_list){ .cpus = NULL };
        if (r < 0)
                return r;
        r = cpu_list_choose_from(list, text, &online, err);
        cpu_list_deinit(&online);
        return r;
}

void cpu_list_deinit(struct cpu_list *list)
{
        free(list->cpus);
        *list = (struct cpu_list){ .cpus = NULL };
}
