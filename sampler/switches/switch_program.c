/* SPDX-License-Identifier: MIT */
#include "sampler/switches/switch_program.h"

/* The Makefile says where the object file lies. */
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
