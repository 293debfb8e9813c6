/* SPDX-License-Identifier: MIT */
/* Appends 30,000 numbers to an array of cJSON, one by one, prints it and parses that. */
#include "cJSON.h"

#include <stdlib.h>

int main(void)
{
        cJSON *array = cJSON_CreateArray(), *back;
        char *text;
        int n;

        for (int i = 0; i < 30000; i++)
                cJSON_AddItemToArray(array, cJSON_CreateNumber(i));
        text = cJSON_PrintUnformatted(array);
        back = cJSON_Parse(text);
        n = cJSON_GetArraySize(back);
        free(text);
        cJSON_Delete(array);
        cJSON_Delete(back);
        return n != 30000;
}
