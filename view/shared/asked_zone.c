/* SPDX-License-Identifier: MIT */
#include "view/shared/asked_zone.h"

#include "analyze/trace/handle_word.h"
#include "analyze/trace/zone_pattern.h"
#include "format/trace_dictionary.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_names.h"

/* 0 = it is not a handle of a zone. */
static uint32_t location_of(const struct trace_dictionary *dictionary, const char *zone)
{
        uint32_t id = handle_word_parse(zone, 'z').id;

        return id <= trace_dictionary_count(dictionary, TRACE_TABLE_LOCATIONS) ? id : 0;
}

struct text_view asked_zone_name(const struct trace_dictionary *dictionary, const char *zone)
{
        uint32_t location = location_of(dictionary, zone);

        return location != 0 ? zone_pattern_name_of(dictionary, location) : report_names_words(zone);
}

struct shell_word asked_zone_option(const struct trace_dictionary *dictionary, const char *zone)
{
        uint32_t location = location_of(dictionary, zone);

        return location != 0 ? shell_word_of(report_heading_zone(dictionary, location).text)
                             : shell_word_of_name(report_names_words(zone));
}
