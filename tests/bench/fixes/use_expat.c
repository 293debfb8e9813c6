/* SPDX-License-Identifier: MIT */
/* Gives expat an attribute of 3 MB in pieces of 8 KB, and then 20 times 60,000 small elements. */
#include "expat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG_BYTES  ((size_t)3 << 20)
#define PIECE_BYTES ((size_t)8192)

static void parse(const char *text, size_t n_bytes)
{
        XML_Parser parser = XML_ParserCreate(NULL);

        for (size_t at = 0; at < n_bytes; at += PIECE_BYTES) {
                size_t n = n_bytes - at < PIECE_BYTES ? n_bytes - at : PIECE_BYTES;

                if (!XML_Parse(parser, text + at, (int)n, at + n == n_bytes))
                        abort();
        }
        XML_ParserFree(parser);
}

int main(void)
{
        char *text = malloc((size_t)4 << 20);
        size_t n = 0;

        if (!text)
                return 1;
        n += (size_t)sprintf(text, "<a b='");
        memset(text + n, 'x', LONG_BYTES);
        n += LONG_BYTES;
        n += (size_t)sprintf(text + n, "'/>");
        parse(text, n);
        n = (size_t)sprintf(text, "<r>");
        for (int i = 0; i < 60000; i++)
                n += (size_t)sprintf(text + n, "<i k='%d'>text %d</i>", i, i);
        n += (size_t)sprintf(text + n, "</r>");
        for (int i = 0; i < 20; i++)
                parse(text, n);
        free(text);
        return 0;
}
