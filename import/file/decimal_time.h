/* SPDX-License-Identifier: MIT */
/*
 * import/file/decimal_time.h - "12.345" of a unit -> whole nanoseconds, exactly: a double has only 53 bits
 *
 * Way of the data:  text of a foreign file -> [decimal_time] -> import_csv
 */
#ifndef IMPORT_DECIMAL_TIME_H
#define IMPORT_DECIMAL_TIME_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * decimal_time_parse() - digits, perhaps with a point and more digits
 * @scale:  nanoseconds of the unit: 1, 1,000, 1,000,000 or 1,000,000,000
 * Digits beyond the nanosecond are rounded.  False: it is no such number, or too large.
 */
bool decimal_time_parse(struct text_view text, uint64_t scale, uint64_t *ret_ns);

#endif /* IMPORT_DECIMAL_TIME_H */
