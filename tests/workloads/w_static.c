/* SPDX-License-Identifier: MIT */
/*
 * w_static - static probes (SDT) with a semaphore: N turns of a query with an inner one, whose texts and
 * numbers are known
 *
 * Usage: w_static [N [wait]]; with "wait" it begins only when standard input ends.
 * Prints how many turns found their probes watched, and the semaphores at the end.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The notes of <sys/sdt.h>, which is not installed everywhere. */
#define PROBE(name, semaphore, arguments, ...)                            \
        __asm__ __volatile__("990: nop\n"                                 \
                             ".pushsection .note.stapsdt,\"\",\"note\"\n" \
                             ".balign 4\n"                                \
                             ".4byte 992f-991f, 994f-993f, 3\n"           \
                             "991: .asciz \"stapsdt\"\n"                  \
                             "992: .balign 4\n"                           \
                             "993: .8byte 990b, 0, " semaphore "\n"       \
                             ".asciz \"w_static\"\n"                      \
                             ".asciz \"" name "\"\n"                      \
                             ".asciz \"" arguments "\"\n"                 \
                             "994: .balign 4\n"                           \
                             ".popsection\n" ::__VA_ARGS__)

/* A register's first byte; hyprof knows the operands of x86-64 alone. */
#ifdef __x86_64__
#define BYTE_OF "%b"
#else
#define BYTE_OF "%"
#endif

/* The kernel counts here how many tools watch; the program only reads it. */
uint16_t query_semaphore __attribute__((section(".probes"), used));

static __attribute__((noinline)) void inner(int turn)
{
        PROBE("inner__start", "0", "-4@%0", "r"(turn));
        PROBE("step", "0", "-4@$-3 8@%0 1@" BYTE_OF "1", "m"(query_semaphore), "r"(turn));
        PROBE("inner__done", "0", "", "r"(turn));
}

static __attribute__((noinline)) void query(const char *text, int turn)
{
        const char *place[2] = { "unused", text };

        PROBE("query__start", "query_semaphore", "8@%0 -4@%1", "m"(place[1]), "r"(-turn));
        inner(turn);
        PROBE("query__done", "query_semaphore", "8@%0", "r"((const char *)1)); /* points nowhere */
}

int main(int argc, char **argv)
{
        int n = argc > 1 ? atoi(argv[1]) : 20, n_watched = 0;
        char text[64], byte;

        (void)printf("pid %d\n", getpid());
        (void)fflush(stdout);
        if (argc > 2 && strcmp(argv[2], "wait") == 0)
                while (read(0, &byte, 1) > 0)
                        ;
        for (int i = 0; i < n; i++) {
                n_watched += *(volatile uint16_t *)&query_semaphore != 0;
                (void)snprintf(text, sizeof(text), "select %d from t", i);
                query(text, i);
        }
        (void)printf("watched %d\n", n_watched);
        return 0;
}
