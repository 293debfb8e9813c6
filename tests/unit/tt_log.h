/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/tt_log.h - device logs of tt-metal, and folders of them, read from text that a test states
 *
 * Way of the data:  text -> [tt_log] -> import_tt_device -> fake_import_rows
 *
 * Failures of the helpers themselves, not of the reader, fail the test.
 */
#ifndef TESTS_UNIT_TT_LOG_H
#define TESTS_UNIT_TT_LOG_H

#include <stddef.h>

struct error;
struct import_rows;

#define TT_LOG_DATA "tests/data/import/tt/"
#define TT_LOG_V5                                                                                    \
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"                           \
        "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, " \
        "run host ID, trace id, trace id counter, zone name, type, source line, source file, meta data\n"
#define TT_LOG_SYNC                                                                                       \
        "device id,core_x, core_y,device,host_tracy,host_real,write_overhead,host_start,delay,frequency," \
        "tracy_ratio,tracy_base_time,device_frequency_ratio,device_shift\n"

/* The path that tt_log_make_folder() made; one at a time. */
extern char tt_log_folder[];

/* They return what import_tt_device_read() does. */
int tt_log_read_path(const char *path, struct import_rows *rows, struct error *err);
int tt_log_read_bytes(const void *bytes, size_t n_bytes, struct import_rows *rows, struct error *err);
int tt_log_read_text(const char *text, struct import_rows *rows, struct error *err);

/* In a folder, with readings of clocks. */
int tt_log_read_with_sync(const char *log, const char *sync, struct import_rows *rows, struct error *err);

/* A file of less than 1 MiB; valid until the next call. */
void *tt_log_load(const char *path, size_t *ret_bytes);

void tt_log_make_folder(void);
void tt_log_remove_folder(void);

/* Files in the folder; folders on the way to @name are made. */
void tt_log_put(const char *name, const void *bytes, size_t n_bytes);
void tt_log_put_text(const char *name, const char *text);
void tt_log_put_copy(const char *name, const char *from);

#endif /* TESTS_UNIT_TT_LOG_H */
