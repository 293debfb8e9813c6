/* SPDX-License-Identifier: MIT */
/*
 * sampler/proc/cpu_list.h - the CPUs that are online, or those that were asked for: "0-3,6" -> 0 1 2 3 6
 *
 * Way of the data:  /sys or /proc/stat, command line -> [cpu_list] -> event_set
 */
#ifndef SAMPLER_PROC_CPU_LIST_H
#define SAMPLER_PROC_CPU_LIST_H

#include <stddef.h>

struct error;

struct cpu_list {
        int *cpus; /* heap, owned; ascending */
        size_t n_cpus, capacity;
};

/* Returns 0, -EBADMSG for text that is no list, -ENOMEM. */
int cpu_list_parse(struct cpu_list *list, const char *text, struct error *err);

/* Reads the CPUs from lines "cpu3 …" of /proc/stat.  Returns 0, -EBADMSG if there are none, -ENOMEM. */
int cpu_list_parse_stat(struct cpu_list *list, const char *text, struct error *err);

/* Reads the list that /sys has, or /proc/stat where /sys is not mounted.  Returns 0, -errno. */
int cpu_list_read_online(struct cpu_list *list, struct error *err);

/*
 * How many places a table by CPU number needs: the highest number that is online, plus one.  Returns 0,
 * -errno.
 */
int cpu_list_count_places(size_t *ret_n_places, struct error *err);

/*
 * cpu_list_choose() - the CPUs that the user asked for, if all of them are online
 * Returns 0; -EBADMSG, -ENODEV with the CPU that is not, -ENOMEM, -errno.
 */
int cpu_list_choose(struct cpu_list *list, const char *text, struct error *err);

/* The same for a given list of online CPUs, for tests. */
int cpu_list_choose_from(struct cpu_list *list, const char *text, const struct cpu_list *online,
                         struct error *err);

void cpu_list_deinit(struct cpu_list *list);

#endif /* SAMPLER_PROC_CPU_LIST_H */
