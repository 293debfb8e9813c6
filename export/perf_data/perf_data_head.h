/* SPDX-License-Identifier: MIT */
/*
 * export/perf_data/perf_data_head.h - what stands around the records of perf's files: header,
 * events, facts on the machine
 *
 * Way of the data:  loaded_trace (META, SAMPLE_EVENTS) -> [perf_data_head] -> export_perf_data
 */
#ifndef EXPORT_PERF_DATA_PERF_DATA_HEAD_H
#define EXPORT_PERF_DATA_PERF_DATA_HEAD_H

#include <stdint.h>

struct byte_buffer;
struct loaded_trace;

/* Header, numbers and descriptions of the events; @data_bytes: of the records that follow. */
void perf_data_head_put(struct byte_buffer *b, const struct loaded_trace *trace, uint64_t data_bytes);

/* The sections after the records; @offset: where, in the file. */
void perf_data_head_put_features(struct byte_buffer *b, const struct loaded_trace *trace, uint64_t offset);

/* How many bytes perf_data_head_put() takes. */
uint64_t perf_data_head_bytes(const struct loaded_trace *trace);

#endif /* EXPORT_PERF_DATA_PERF_DATA_HEAD_H */
