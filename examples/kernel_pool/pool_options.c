/* SPDX-License-Identifier: MIT */
#include "examples/kernel_pool/pool_options.h"

#include "examples/kernel_pool/kernel_plan.h"

#include <getopt.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define WORKERS_MAX 256

static int usage(void)
{
        (void)fprintf(
                stderr,
                "usage: kernel_pool [--seconds N | --cpu-seconds N] [--workers 1..%d] [--kernels 1..%d]\n"
                "                   [--cflags WORDS] [--mlir] [--memory] [--reload]\n",
                WORKERS_MAX, KERNELS_MAX);
        return -1;
}

/* A number from @min to @max, else NAN. */
static double number_of(const char *text, double min, double max)
{
        char *end = NULL;
        double value = strtod(text, &end);

        return end == text || *end != '\0' || !(value >= min && value <= max) ? (double)NAN : value;
}

int pool_options_parse(int argc, char **argv, struct pool_options *ret_options)
{
        static const struct option known[] = { { "seconds", required_argument, NULL, 's' },
                                               { "cpu-seconds", required_argument, NULL, 'p' },
                                               { "workers", required_argument, NULL, 'w' },
                                               { "kernels", required_argument, NULL, 'k' },
                                               { "cflags", required_argument, NULL, 'c' },
                                               { "mlir", no_argument, NULL, 'l' },
                                               { "memory", no_argument, NULL, 'm' },
                                               { "reload", no_argument, NULL, 'r' },
                                               { NULL, 0, NULL, 0 } };
        struct pool_options options = { .seconds = 0 };
        double seconds = 3;
        double n_workers = 4;
        double n_kernels = 8;
        int c;

        while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
                switch (c) {
                case 's':
                case 'p':
                        seconds = number_of(optarg, 0, 1e6);
                        options.counts_cpu = c == 'p';
                        break;
                case 'w':
                        n_workers = number_of(optarg, 1, WORKERS_MAX);
                        break;
                case 'k':
                        n_kernels = number_of(optarg, 1, KERNELS_MAX);
                        break;
                case 'c':
                        options.cflags = optarg;
                        break;
                case 'l':
                        options.from_mlir = true;
                        break;
                case 'm':
                        options.in_memory = true;
                        break;
                case 'r':
                        options.reloads = true;
                        break;
                default:
                        return usage();
                }
        }
        if (optind < argc || isnan(seconds) || isnan(n_workers) || isnan(n_kernels))
                return usage();
        options.seconds = seconds;
        options.n_workers = (int)n_workers;
        options.n_kernels = (int)n_kernels;
        *ret_options = options;
        return 0;
}
