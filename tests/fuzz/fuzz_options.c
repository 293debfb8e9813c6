/* SPDX-License-Identifier: MIT */
/*
 * cli/options/record_options.c, option_table.c: any words, one a line, are a command line that is taken or
 * refused with a complaint, which goes nowhere here
 */
#include "cli/options/option_table.h"
#include "cli/options/record_options.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void numbers(const char *word)
{
        unsigned mode = 0600;
        uint64_t value;
        double share;

        (void)option_parse_number(word, 0, UINT64_MAX, &value);
        (void)option_parse_bytes(word, 0, UINT64_MAX, &value);
        (void)option_parse_duration(word, 0, UINT64_MAX, &value);
        if (option_parse_share(word, 1.0, &share) == 0 && !(share > 0.0 && share <= 1.0))
                abort();
        if (option_parse_mode(word, &mode) == 0 && ((mode & 0600) != 0600 || (mode & ~0666U) != 0))
                abort();
}

/* A finding is still printed: standard error comes back. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        struct record_options *options = calloc(1, sizeof(*options));
        char *text = malloc(n_bytes + 1), *words[WORDS_MAX + 2] = { (char[]){ "record" } };
        int n_words = 1, operand = 0, null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC),
            own_fd = dup(STDERR_FILENO);

        if (!options || !text || null_fd < 0)
                abort();
        memcpy(text, data, n_bytes);
        text[n_bytes] = '\0';
        for (char *at = text; at && n_words <= WORDS_MAX;) {
                char *word = strsep(&at, "\n");

                numbers(word);
                words[n_words++] = word;
        }
        (void)dup2(null_fd, STDERR_FILENO);
        if (record_options_parse(options, n_words, words, &operand) == 0 &&
            (operand < 1 || operand > n_words))
                abort();
        record_options_deinit(options);
        (void)dup2(own_fd, STDERR_FILENO);
        (void)close(null_fd);
        (void)close(own_fd);
        free(options);
        free(text);
        return 0;
}
