/* SPDX-License-Identifier: MIT */
/*
 * w_delays NAME [COUNT [FUNCTION=FACTOR]]
 * w_delays --list
 *
 * A program whose zones are delayed in a known way, COUNT instances long; --list prints the names.  With
 * load=0.5 the function load() takes half of its time: what it would gain can be measured.
 * Truth: the row NAME of truth.tsv, beside this file.
 * Exit status: 77 where the kind cannot be had on this machine; the last line of the output says why.
 */
#include "tests/workloads/delays/plant.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

BURN_FUNCTION(convert_file);

static const struct delay_kind *const families[] = { lock_delays,    queue_delays, pool_delays,
                                                     process_delays, timer_delays, machine_delays,
                                                     device_delays,  no_delays };
#define N_FAMILIES (sizeof(families) / sizeof(families[0]))

static void list_kinds(void)
{
        for (size_t i = 0; i < N_FAMILIES; i++)
                for (const struct delay_kind *kind = families[i]; kind->name != NULL; kind++)
                        puts(kind->name);
}

static const struct delay_kind *find_kind(const char *name)
{
        for (size_t i = 0; i < N_FAMILIES; i++)
                for (const struct delay_kind *kind = families[i]; kind->name != NULL; kind++)
                        if (strcmp(kind->name, name) == 0)
                                return kind;
        return NULL;
}

/* The other program of the kind "spawn". */
static int convert(int argc, char **argv)
{
        prctl(PR_SET_NAME, "converter");
        plant_calibrate(burn_argument(argc, argv, 2, 0));
        burn_us(convert_file, 8000);
        return 0;
}

int main(int argc, char **argv)
{
        const struct delay_kind *kind;

        if (argc > 1 && strcmp(argv[1], "--list") == 0) {
                list_kinds();
                return 0;
        }
        if (argc > 1 && strcmp(argv[1], "--convert") == 0)
                return convert(argc, argv);
        kind = argc > 1 ? find_kind(argv[1]) : NULL;
        if (kind == NULL || (argc > 3 && plant_change(argv[3]) != 0)) {
                fprintf(stderr,
                        "usage: w_delays NAME [COUNT [FUNCTION=FACTOR]]; w_delays --list prints the names\n");
                return 2;
        }
        prctl(PR_SET_NAME, "main");
        plant_calibrate(0);
        kind->run((int)burn_argument(argc, argv, 2, kind->n_instances));
        return 0;
}
