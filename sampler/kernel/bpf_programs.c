/* SPDX-License-Identifier: MIT */
#include "sampler/kernel/bpf_programs.h"

#include "base/error.h"
#include "base/io.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

/* The Makefile says where the object files lie. */
__asm__(".pushsection .rodata\n"
        ".global switch_program, switch_program_bytes\n"
        ".hidden switch_program, switch_program_bytes\n"
        ".balign 8\n"
        "switch_program:\n"
        ".incbin \"" SWITCH_PROGRAM_FILE "\"\n"
        "1: .balign 8\n"
        "switch_program_bytes:\n"
        ".quad 1b - switch_program\n"
        ".popsection\n");

__asm__(".pushsection .rodata\n"
        ".global python_program, python_program_bytes\n"
        ".hidden python_program, python_program_bytes\n"
        ".balign 8\n"
        "python_program:\n"
        ".incbin \"" PYTHON_PROGRAM_FILE "\"\n"
        "1: .balign 8\n"
        "python_program_bytes:\n"
        ".quad 1b - python_program\n"
        ".popsection\n");

__asm__(".pushsection .rodata\n"
        ".global probe_program, probe_program_bytes\n"
        ".hidden probe_program, probe_program_bytes\n"
        ".balign 8\n"
        "probe_program:\n"
        ".incbin \"" PROBE_PROGRAM_FILE "\"\n"
        "1: .balign 8\n"
        "probe_program_bytes:\n"
        ".quad 1b - probe_program\n"
        ".popsection\n");

static int print_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
        (void)level;
        (void)format;
        (void)args;
        return 0;
}

void bpf_words_silence_libbpf(void)
{
        (void)libbpf_set_print(print_nothing);
}

/*
 * Where Debian leaves the BPF compiler to the administrator, as on RISC-V, the kernel interprets BPF
 * programs.
 */
static bool compiler_is_off(void)
{
        char state = '1';
        size_t got = 0;
        int fd = open("/proc/sys/net/core/bpf_jit_enable", O_RDONLY | O_CLOEXEC);

        if (fd >= 0)
                (void)io_read_full(fd, &state, 1, &got, NULL);
        io_close(&fd);
        return state == '0';
}

int bpf_words_explain(int code, const char *what, const char *able, struct error *err)
{
        switch (-code) {
        case EACCES: /* the verifier's refusal; missing rights are EPERM */
                return error_set(err, -ENOTSUP, "BPF: this kernel's verifier refuses to %s", what);
        case EPERM:
                return error_set(err, code,
                                 "BPF: not permitted to %s; as root, or with CAP_BPF and CAP_PERFMON", what);
        case ESRCH:
        case ENOENT:
        case EINVAL:
        case EOPNOTSUPP:
        case E2BIG:
                if (access("/sys/kernel", F_OK) != 0)
                        return error_set(err, -ENOTSUP,
                                         "BPF: /sys is not mounted, so the kernel's types cannot be read");
                if (compiler_is_off())
                        return error_set(
                                err, -ENOTSUP,
                                "BPF: this kernel cannot %s; its BPF compiler is off, which newer ones "
                                "need (sudo sysctl net.core.bpf_jit_enable=1)",
                                what);
                return error_set(err, -ENOTSUP, "BPF: this kernel cannot %s (%s can)", what, able);
        default:
                errno = -code;
                return error_errno(err, "BPF: %s", what);
        }
}
