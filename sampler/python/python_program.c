/* SPDX-License-Identifier: MIT */
#include "sampler/python/python_program.h"

/* The Makefile says where the object file lies. */
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
