/* SPDX-License-Identifier: MIT */
/*
 * w_kernel_code MODE SECONDS - for so much of its processor time the kernel runs a BPF program, "first_bpf",
 * which is unloaded; "second_bpf", as long, takes its place, is not run, and stays until the end
 *
 * new       both are loaded by this program
 * before    the first one is loaded before the line "ready", the rest is done after a line of standard input;
 *           then it says "done", and stays until the end of that
 * Exit status 2: this machine does not let it load and run BPF programs.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define INSTRUCTIONS 3000 /* so that one run takes some microseconds */

static long call_bpf(int command, union bpf_attr *attr)
{
        return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int load(const char *name, int factor)
{
        static struct bpf_insn code[INSTRUCTIONS];
        union bpf_attr attr;

        for (int i = 0; i < INSTRUCTIONS; i++)
                code[i] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MUL | BPF_K, .imm = factor + i };
        code[0] = code[INSTRUCTIONS - 2] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 1 };
        code[INSTRUCTIONS - 1] = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
        memset(&attr, 0, sizeof(attr));
        attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
        attr.insns = (uint64_t)(uintptr_t)code;
        attr.insn_cnt = INSTRUCTIONS;
        attr.license = (uint64_t)(uintptr_t) "GPL";
        strcpy(attr.prog_name, name);
        return (int)call_bpf(BPF_PROG_LOAD, &attr);
}

static double used_s(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int run(int fd, double seconds)
{
        static char packet[64];
        double end_s = used_s() + seconds;
        int r = 0;

        while (r == 0 && used_s() < end_s) {
                union bpf_attr attr;

                memset(&attr, 0, sizeof(attr));
                attr.test.prog_fd = (uint32_t)fd;
                attr.test.data_in = (uint64_t)(uintptr_t)packet;
                attr.test.data_size_in = sizeof(packet);
                attr.test.repeat = 1000;
                r = (int)call_bpf(BPF_PROG_TEST_RUN, &attr);
        }
        return r;
}

static void say(const char *line)
{
        (void)puts(line);
        (void)fflush(stdout);
}

int main(int argc, char **argv)
{
        bool was_before = argc == 3 && strcmp(argv[1], "before") == 0;
        int first = load("first_bpf", 3);

        if (argc != 3)
                return EXIT_FAILURE;
        if (was_before) {
                say(first < 0 ? "refused" : "ready");
                (void)getchar();
        }
        if (first < 0 || run(first, atof(argv[2])) < 0)
                return 2;
        (void)close(first);
        if (load("second_bpf", 5) < 0)
                return 2;
        if (was_before) {
                say("done");
                while (getchar() != EOF)
                        ;
        }
        return EXIT_SUCCESS;
}
