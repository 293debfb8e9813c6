/* SPDX-License-Identifier: MIT */
/*
 * cli/record/listen_record.h - hyprof record --listen: the trace goes to the process that takes it
 *
 * Way of the data:  cmd_record -> [listen_record] (relay_process) -> hyprof capture
 */
#ifndef CLI_RECORD_LISTEN_RECORD_H
#define CLI_RECORD_LISTEN_RECORD_H

#include "cli/files/output_file.h"
#include "sampler/relay/relay_process.h"

#include <stdbool.h>

struct record_options;

struct listen_record {
        struct relay_process relay;
        struct output_file file; /* the trace here, if one was asked for; fd -1 = there is none */
        char words[160];         /* options->path where there is no file */
};

/*
 * listen_record_open() - listens, and waits for a taker unless the options forbid it
 * @options:   its path may be changed to what the summary should say
 * @ret_file:  what the trace is to be written to; closed by its user
 * Returns an exit status, after a complaint.
 */
int listen_record_open(struct listen_record *l, struct record_options *options, struct output_file *ret_file);

/*
 * listen_record_finish() - the trace is written: waits until it is taken
 * @stop_fd:   see relay_process_end()
 * @recorded:  false = there is nothing to take, and nothing to keep
 * Says what came of it.  Returns false if a part of the trace is kept nowhere.
 */
bool listen_record_finish(struct listen_record *l, const struct record_options *options, int stop_fd,
                          bool recorded);
void listen_record_close(struct listen_record *l);

#endif /* CLI_RECORD_LISTEN_RECORD_H */
