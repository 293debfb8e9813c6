/* SPDX-License-Identifier: MIT */
/*
 * w_examples [forever]
 *
 * Truth: has what the examples of the documents ask for by name: the zones "dispatch" > "request" > "frame",
 * of which each "request" has a text, and "dispatch" > "flush"; the functions compress() and parse_request(),
 * which run inside of "frame".  Other arguments mean nothing to it.  It ends after 60 requests; with
 * `forever`, when it is killed.
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define N_REQUESTS 60
#define MS         1000000

BURN_FUNCTION(compress);
BURN_FUNCTION(parse_request);

static void handle_request(uint64_t n_rounds, bool is_slow, const char *text)
{
        HYPROF_ZONE_BEGIN(request, "request");
        HYPROF_ZONE_TEXT(request, text, strlen(text));
        {
                HYPROF_ZONE("frame");
                parse_request(n_rounds);
                compress(is_slow ? 40 * n_rounds : n_rounds);
        }
        HYPROF_ZONE_END(request);
}

static void dispatch(uint64_t n_rounds, int number)
{
        HYPROF_ZONE("dispatch");
        handle_request(n_rounds, number % 20 == 0, number % 2 == 0 ? "even" : "odd");
        {
                HYPROF_ZONE("flush");
                (void)usleep(200);
        }
}

int main(int argc, char **argv)
{
        bool ends = argc < 2 || strcmp(argv[1], "forever") != 0;
        uint64_t n_rounds = burn_rounds_of(MS / 2);

        for (int i = 0; !ends || i < N_REQUESTS; i++)
                dispatch(n_rounds, i);
        return 0;
}
