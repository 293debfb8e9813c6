/* SPDX-License-Identifier: MIT */
/*
 * cli/manual/completion.h - possible ends of a command line: for shells, from the tables of options
 *
 * Way of the data:  shell -> [completion] (command_table, option_table, event_catalog) -> shell
 *
 * `hyprof __complete WORD...` gets the words after "hyprof", the last of which is being typed,
 * and prints lines:
 *
 *      WORD<TAB>HELP   the whole word, as it can become
 *      :file           the shell is to offer files; :folder, :trace and :program are the same for those
 *      :rest N         another program's command line begins at the Nth word, from 1
 *
 * It says nothing else, and always ends well.
 */
#ifndef CLI_MANUAL_COMPLETION_H
#define CLI_MANUAL_COMPLETION_H

#define COMPLETION_COMMAND "__complete"

/* @words: those after COMPLETION_COMMAND.  Returns an exit status. */
int completion_run(int n_words, char **words);

#endif /* CLI_MANUAL_COMPLETION_H */
