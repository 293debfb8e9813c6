/* SPDX-License-Identifier: MIT */
/*
 * symbolize/debug/debuginfod_client.h - the child that fetches files: libdebuginfod, and
 * the check of what came
 *
 * Way of the data:  debuginfod servers -> [debuginfod_client] -> debuginfod_fetch
 */
#ifndef SYMBOLIZE_DEBUG_DEBUGINFOD_CLIENT_H
#define SYMBOLIZE_DEBUG_DEBUGINFOD_CLIENT_H

#include <stddef.h>

struct debuginfod_options;
struct debuginfod_request;

/* The child's life, up to its exit status; says all through @pipe_fd in messages. */
int debuginfod_client_main(const struct debuginfod_request *requests, size_t n_requests,
                           const struct debuginfod_options *options, int pipe_fd);

#endif /* SYMBOLIZE_DEBUG_DEBUGINFOD_CLIENT_H */
