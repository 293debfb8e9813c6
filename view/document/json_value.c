/* SPDX-License-Identifier: MIT */
#include "view/document/json_value.h"

#include "base/byte_buffer.h"
#include "view/text/utf8.h"

json_t *json_value_string(struct text_view string)
{
        struct byte_buffer clean = { .data = NULL };
        json_t *json = NULL;

        if (string.n_bytes != 0)
                utf8_add_clean(&clean, string.bytes, string.n_bytes);
        if (!clean.failed)
                json = json_stringn(clean.used_bytes != 0 ? (const char *)clean.data : "", clean.used_bytes);
        byte_buffer_deinit(&clean);
        return json;
}

json_t *json_value_number(uint64_t number)
{
        return json_integer(number > INT64_MAX ? (json_int_t)INT64_MAX : (json_int_t)number);
}
