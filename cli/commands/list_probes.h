/* SPDX-License-Identifier: MIT */
/*
 * cli/commands/list_probes.h - what `record` could make zones of in a program or library
 *
 * Way of the data:  ELF file -> probe_plan -> [list_probes] -> view_document
 *
 * The file is read in a child without rights, and no probe is set: it needs none itself.
 */
#ifndef CLI_COMMANDS_LIST_PROBES_H
#define CLI_COMMANDS_LIST_PROBES_H

struct output_options;

/*
 * list_probes_print() - functions whose calls can be zones, or static probes
 * @module:     a program or library, as in --zone-function
 * @functions:  a pattern of names; NULL = static probes
 * Complains itself.  Returns an exit status: 1 if there is nothing of the kind.
 */
int list_probes_print(const char *module, const char *functions, const struct output_options *output);

#endif /* CLI_COMMANDS_LIST_PROBES_H */
