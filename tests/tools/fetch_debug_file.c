/* SPDX-License-Identifier: MIT */
/*
 * fetch_debug_file [-t SECONDS] [-s BYTES] [-x] BUILD-ID...: one line each: its state, its code and its path
 */
#include "base/error.h"
#include "symbolize/debug/debuginfod_fetch.h"
#include "symbolize/elf/elf_image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REQUESTS_MAX 16

static const char *const states[] = { "not-tried", "found", "not-found", "failed", "wrong" };

static size_t parse_hex(const char *hex, uint8_t id[ELF_IMAGE_BUILD_ID_MAX])
{
        size_t n = 0;
        unsigned byte;

        for (; n < ELF_IMAGE_BUILD_ID_MAX && hex[0] && sscanf(hex, "%2x", &byte) == 1; hex += 2)
                id[n++] = (uint8_t)byte;
        return n;
}

static void print_progress(void *context, size_t request, uint64_t got_bytes, uint64_t total_bytes)
{
        (void)context;
        fprintf(stderr, "progress %zu %llu %llu\n", request, (unsigned long long)got_bytes,
                (unsigned long long)total_bytes);
}

int main(int argc, char **argv)
{
        static uint8_t ids[REQUESTS_MAX][ELF_IMAGE_BUILD_ID_MAX];
        struct debuginfod_request requests[REQUESTS_MAX] = { { .path = NULL } };
        struct debuginfod_options options = { .stop_fd = -1, .progress = print_progress };
        enum debuginfod_kind kind = DEBUGINFOD_DEBUGINFO;
        struct error err = ERROR_NONE;
        size_t n = 0;
        int option, r;

        while ((option = getopt(argc, argv, "t:s:x")) != -1) {
                if (option == 't')
                        options.file_timeout_s = (uint32_t)strtoul(optarg, NULL, 10);
                else if (option == 's')
                        options.file_bytes_max = strtoull(optarg, NULL, 10);
                else if (option == 'x')
                        kind = DEBUGINFOD_EXECUTABLE;
                else
                        return 2;
        }
        for (; optind < argc && n < REQUESTS_MAX; optind++, n++)
                requests[n] = (struct debuginfod_request){ .build_id = ids[n],
                                                           .build_id_bytes = parse_hex(argv[optind], ids[n]),
                                                           .kind = kind };
        r = debuginfod_fetch_run(requests, n, &options, &err);
        if (r < 0)
                printf("error %d %s\n", r, err.text);
        for (size_t i = 0; i < n; i++)
                printf("%s %d %s\n", states[requests[i].state], requests[i].code,
                       requests[i].path ? requests[i].path : "-");
        debuginfod_fetch_deinit(requests, n);
        return r < 0;
}
