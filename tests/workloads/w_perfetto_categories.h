/* SPDX-License-Identifier: MIT */
/*
 * tests/workloads/w_perfetto_categories.h - two sets of categories, as programs have them in a header
 */
#ifndef TESTS_WORKLOADS_W_PERFETTO_CATEGORIES_H
#define TESTS_WORKLOADS_W_PERFETTO_CATEGORIES_H

#define PERFETTO_ENABLE_LEGACY_TRACE_EVENTS 1
#include <perfetto.h>

PERFETTO_DEFINE_CATEGORIES_IN_NAMESPACE(other, perfetto::Category("elsewhere"));
PERFETTO_DEFINE_CATEGORIES(perfetto::Category("work").SetDescription("What it does"),
                           perfetto::Category("debug").SetTags("debug", "slow"));

#endif // TESTS_WORKLOADS_W_PERFETTO_CATEGORIES_H
