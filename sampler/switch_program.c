/* SPDX-License-Identifier: MIT */
#include "sampler/switch_program.h"

/* The Makefile says where the object file lies. */
__asm__(".pushsection .rodata\n"
        ".balign 8\n"
        ".global switch_program_begin, switch_program_end\n"
        ".hidden switch_program_begin, switch_program_end\n"
        "switch_program_begin:\n"
        ".incbin \"" SWITCH_PROGRAM_FILE "\"\n"
        "switch_program_end:\n"
        ".popsection\n");
