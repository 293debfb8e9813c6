/* SPDX-License-Identifier: MIT */
/*
 * base/order.h - which of two numbers comes first, for functions that qsort() calls
 *
 * Way of the data:  any rows -> [order] -> their order
 *
 * Differences of numbers of 64 bits do not fit into an int.  No state.
 */
#ifndef BASE_ORDER_H
#define BASE_ORDER_H

#include <stdint.h>

/* -1, 0 or 1, as qsort() wants it: ascending; for descending order the arguments change places. */
static inline int order_numbers(uint64_t a, uint64_t b)
{
        return a < b ? -1 : a > b;
}

#endif /* BASE_ORDER_H */
