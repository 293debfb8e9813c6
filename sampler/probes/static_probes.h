/* SPDX-License-Identifier: MIT */
/*
 * sampler/probes/static_probes.h - the static probes (SDT, USDT) that a file describes in its notes
 *
 * Way of the data:  ELF notes -> [static_probes] -> probe_finder
 *
 * The notes are hostile: lengths are checked, and texts end where their note ends.
 */
#ifndef SAMPLER_PROBES_STATIC_PROBES_H
#define SAMPLER_PROBES_STATIC_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_image;
struct probe_spec;

struct static_probe {
        uint64_t svma, semaphore_svma;           /* semaphore 0 = it has none */
        const char *provider, *name, *arguments; /* borrowed from the file, NUL-terminated */
};

/*
 * static_probes_next() - the next of a file's probes
 * @at:  0 at first; where to go on.  Returns 1, 0 at the end; notes that make no sense end the list.
 */
int static_probes_next(const struct elf_image *image, size_t *at, struct static_probe *ret_probe);

/*
 * static_probes_parse() - where the arguments are: "8@%rbx -4@$1 8@-144(%rbp)"
 * Those of other forms, as of floating point, are unknown.  For x86-64.
 */
void static_probes_parse(const char *arguments, struct probe_spec *ret_spec);

#endif /* SAMPLER_PROBES_STATIC_PROBES_H */
