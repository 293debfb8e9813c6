/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/weak_builtins.h - makes the builtins for atomics those of weak_memory.h, in the sources that are
 * included after it
 *
 * After the system's headers; only integers of 4 and 8 bytes.
 */
#ifndef TESTS_UNIT_WEAK_BUILTINS_H
#define TESTS_UNIT_WEAK_BUILTINS_H

#include "tests/unit/weak_memory.h"

#define WEAK_AT(order)        ((struct weak_at){ __FILE__, __func__, __LINE__, (order) })
#define WEAK_VALUE(at, value) ((__typeof__((*(at)) + 0))(value))
#define WEAK_CHANGE(at, c, v, o) \
        WEAK_VALUE(at, weak_change((at), sizeof(*(at)), (c), (uint64_t)(v), WEAK_AT(o)))

/* NOLINTBEGIN(bugprone-reserved-identifier): the compiler's names are the point */
#define __atomic_load_n(at, o)        WEAK_VALUE(at, weak_load((at), sizeof(*(at)), WEAK_AT(o)))
#define __atomic_store_n(at, v, o)    weak_store((at), sizeof(*(at)), (uint64_t)(v), WEAK_AT(o))
#define __atomic_exchange_n(at, v, o) WEAK_CHANGE(at, WEAK_SET, v, o)
#define __atomic_fetch_add(at, v, o)  WEAK_CHANGE(at, WEAK_ADD, v, o)
#define __atomic_fetch_and(at, v, o)  WEAK_CHANGE(at, WEAK_AND, v, o)
#define __atomic_fetch_or(at, v, o)   WEAK_CHANGE(at, WEAK_OR, v, o)
#define __atomic_add_fetch(at, v, o)  (__atomic_fetch_add(at, v, o) + (v))
#define __atomic_and_fetch(at, v, o)  (__atomic_fetch_and(at, v, o) & (v))
#define __atomic_compare_exchange_n(at, expected, v, weak, o, other)                                \
        __extension__({                                                                             \
                uint64_t weak_expected_ = *(expected);                                              \
                bool weak_done_ = weak_compare((at), sizeof(*(at)), &weak_expected_, (uint64_t)(v), \
                                               WEAK_AT(o));                                         \
                                                                                                    \
                *(expected) = (__typeof__((*(expected)) + 0))weak_expected_;                        \
                weak_done_;                                                                         \
        })
/* NOLINTEND(bugprone-reserved-identifier) */

#endif /* TESTS_UNIT_WEAK_BUILTINS_H */
