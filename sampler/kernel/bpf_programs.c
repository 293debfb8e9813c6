/* SPDX-License-Identifier: MIT */
#include "sampler/kernel/bpf_programs.h"

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
