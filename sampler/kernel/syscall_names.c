/* SPDX-License-Identifier: MIT */
#include "sampler/kernel/syscall_names.h"

#include <seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The architecture of the 32-bit programs that this machine's kernel runs; 0 = none. */
static uint32_t machine_of_32_bit(void)
{
        switch (seccomp_arch_native()) {
        case SCMP_ARCH_X86_64:
                return SCMP_ARCH_X86;
        case SCMP_ARCH_AARCH64:
                return SCMP_ARCH_ARM;
        default:
                return 0;
        }
}

struct syscall_name syscall_names_find(uint32_t number)
{
        uint32_t machine = (number & SYSCALL_32_BIT) != 0 ? machine_of_32_bit() : SCMP_ARCH_NATIVE;
        uint32_t of_machine = number & SYSCALL_NUMBER_MAX;
        struct syscall_name name;
        char *known = NULL;

        if (of_machine != SYSCALL_NUMBER_MAX && (machine != 0 || (number & SYSCALL_32_BIT) == 0))
                known = seccomp_syscall_resolve_num_arch(machine, (int)of_machine);
        if (known)
                (void)snprintf(name.text, sizeof(name.text), "%s", known);
        else if (of_machine == SYSCALL_NUMBER_MAX)
                (void)snprintf(name.text, sizeof(name.text), "no_syscall");
        else
                (void)snprintf(name.text, sizeof(name.text), "syscall_%u", (unsigned)of_machine);
        free(known);
        return name;
}

uint32_t syscall_names_number(const char *name, bool is_32_bit)
{
        uint32_t machine = is_32_bit ? machine_of_32_bit() : SCMP_ARCH_NATIVE;
        int number = machine != 0 || !is_32_bit ? seccomp_syscall_resolve_name_arch(machine, name) : -1;

        return number < 0 || number > SYSCALL_NUMBER_MAX ? SYSCALL_NUMBER_MAX : (uint32_t)number;
}

bool syscall_names_is_transfer(const struct syscall_name *name)
{
        static const char *const transfers[] = {
                "read",       "write",     "readv",      "writev",   "pread64",
                "pwrite64",   "preadv",    "pwritev",    "preadv2",  "pwritev2",
                "send",       "recv",      "sendto",     "recvfrom", "sendmsg",
                "recvmsg",    "sendfile",  "splice",     "tee",      "vmsplice",
                "sendfile64", "getrandom", "getdents64", "getdents", "copy_file_range",
        };

        for (size_t i = 0; i < sizeof(transfers) / sizeof(transfers[0]); i++)
                if (strcmp(name->text, transfers[i]) == 0)
                        return true;
        return false;
}
