/* SPDX-License-Identifier: MIT */
#include "import/json/trace_event_number.h"

#include "import/file/json_pull.h"
#include "import/rows/import_rows.h"

#include <stdlib.h>
#include <string.h>

#define NUMBER_BYTES 64

bool trace_event_number_read(struct json_value value, struct import_value *ret)
{
        char text[NUMBER_BYTES];
        int64_t integer;
        double real;

        if (value.kind != JSON_NUMBER && value.kind != JSON_STRING)
                return false;
        ret->kind = IMPORT_VALUE_UNSIGNED;
        if (json_pull_unsigned(value.text, &ret->bits) && ret->bits > INT64_MAX)
                return true;
        /* Judges what is a number; its value counts where there is no fraction. */
        if (!json_pull_decimal(value.text, 0, &integer) || value.text.n_bytes >= sizeof(text))
                return false;
        if (!memchr(value.text.bytes, '.', value.text.n_bytes) &&
            !memchr(value.text.bytes, 'e', value.text.n_bytes) &&
            !memchr(value.text.bytes, 'E', value.text.n_bytes)) {
                ret->kind = IMPORT_VALUE_SIGNED;
                memcpy(&ret->bits, &integer, sizeof(integer));
                return true;
        }
        memcpy(text, value.text.bytes, value.text.n_bytes);
        text[value.text.n_bytes] = '\0';
        real = strtod(text, NULL);
        ret->kind = IMPORT_VALUE_DOUBLE;
        memcpy(&ret->bits, &real, sizeof(real));
        return true;
}
