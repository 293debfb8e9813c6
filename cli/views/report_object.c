/* SPDX-License-Identifier: MIT */
#include "cli/views/report_object.h"

#include "analyze/report/report.h"
#include "view/document/json_value.h"

struct report_object report_object_begin(void)
{
        return (struct report_object){ .json = json_object() };
}

void report_object_put(struct report_object *object, const char *key, json_t *value)
{
        if (json_object_set_new(object->json, key, value) < 0)
                object->failed = true;
}

json_t *report_object_take(struct report_object *object)
{
        if (!object->failed)
                return object->json;
        json_decref(object->json);
        return NULL;
}

json_t *report_object_string(struct report_string string)
{
        return json_value_string(string);
}

json_t *report_object_string_or_null(struct report_string string)
{
        return string.n_bytes != 0 ? report_object_string(string) : json_null();
}

json_t *report_object_number(uint64_t number)
{
        return json_value_number(number);
}

json_t *report_object_number_or_null(uint64_t number, bool known)
{
        return known ? report_object_number(number) : json_null();
}

json_t *report_object_share(uint64_t part, uint64_t whole)
{
        return json_real(report_share(part, whole));
}

json_t *report_object_list(json_t *rows, uint64_t n_left_out)
{
        struct report_object object = report_object_begin();

        report_object_put(&object, "rows", rows);
        report_object_put(&object, "left_out", report_object_number(n_left_out));
        return report_object_take(&object);
}

json_t *report_object_kind(enum function_kind kind)
{
        switch (kind) {
        case FUNCTION_NAMED:
                break;
        case FUNCTION_NO_SYMBOL:
                return json_string("no_symbol");
        case FUNCTION_STALE_FILE:
                return json_string("stale_file");
        case FUNCTION_NO_MODULE:
                return json_string("no_module");
        case FUNCTION_NO_CALLSTACK:
                return json_string("no_callstack");
        case FUNCTION_MARK:
                return json_string("mark");
        case FUNCTION_UNNAMED:
                return json_string("unnamed");
        case FUNCTION_KIND_COUNT:
                break;
        }
        return json_string("named");
}

json_t *report_object_pack_list(const struct report *report, uint32_t n_all, uint32_t limit,
                                json_t *(*pack)(const struct report *report, uint32_t index))
{
        uint32_t n_rows = report_limited(n_all, limit);
        json_t *list = json_array();

        for (uint32_t i = 0; i < n_rows; i++)
                if (json_array_append_new(list, pack(report, i)) < 0)
                        goto fail;
        return report_object_list(list, n_all - n_rows);
fail:
        json_decref(list);
        return NULL;
}
