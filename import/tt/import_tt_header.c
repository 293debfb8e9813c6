/* SPDX-License-Identifier: MIT */
#include "import/tt/import_tt_header.h"

#include "base/error.h"
#include "import/tt/import_tt_cells.h"

#include <errno.h>
#include <stdio.h>

#define OLDEST_FIRST "Chip clock is at "
#define FIRST        "ARCH:"
#define FREQUENCY    "CHIP_FREQ[MHz]:"
#define MHZ_MAX      1e6

static const struct {
        const char *name;
        enum import_tt_column column;
} names[] = {
        { "PCIe slot", TT_CHIP },
        { "core_x", TT_CORE_X },
        { "core_y", TT_CORE_Y },
        { "RISC processor type", TT_PROCESSOR },
        { "timer_id", TT_TIMER },
        { "time[cycles since reset]", TT_TIME },
        { "data", TT_DATA },
        { "stat value", TT_DATA },
        { "run host ID", TT_RUN_HOST_ID },
        { "trace id", TT_TRACE },
        { "trace id counter", TT_REPLAY },
        { "zone name", TT_NAME },
        { "type", TT_TYPE },
        { "zone phase", TT_TYPE },
        { "source line", TT_LINE },
        { "source file", TT_FILE },
        { "meta data", TT_META },
};

static enum import_tt_column find_column(struct text_view name)
{
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                if (import_tt_is(name, names[i].name))
                        return names[i].column;
        return TT_OTHER;
}

bool import_tt_header_is_first(struct text_view line)
{
        line = import_tt_trim(line);
        return text_view_begins_with(line, OLDEST_FIRST) ||
               (text_view_begins_with(line, FIRST) &&
                memmem(line.bytes, line.n_bytes, FREQUENCY, strlen(FREQUENCY)) != NULL);
}

/* "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64", or "Chip clock is at 1.2 GHz". */
void import_tt_header_read_chip(struct import_tt_header *h, struct text_view line)
{
        double unit = 1;

        h->mhz = 0;
        h->chip[0] = '\0';
        line = import_tt_trim(line);
        if (text_view_begins_with(line, OLDEST_FIRST)) {
                line.bytes += strlen(OLDEST_FIRST);
                line.n_bytes -= strlen(OLDEST_FIRST);
                line = import_tt_cut(&line, ' ');
                unit = 1000;
                (void)snprintf(h->chip, sizeof(h->chip), "grayskull");
        } else {
                struct text_view chip = import_tt_cut(&line, ',');

                chip.bytes += strlen(FIRST);
                chip.n_bytes -= strlen(FIRST);
                chip = import_tt_trim(chip);
                (void)snprintf(h->chip, sizeof(h->chip), "%.*s", (int)(chip.n_bytes < 31 ? chip.n_bytes : 31),
                               chip.n_bytes > 0 ? chip.bytes : "");
                line = import_tt_trim(line);
                line = import_tt_cut(&line, ',');
                (void)import_tt_cut(&line, ':');
        }
        if (!import_tt_decimal(line, &h->mhz))
                h->mhz = 0;
        h->mhz *= unit;
        if (!(h->mhz > 0 && h->mhz <= MHZ_MAX))
                h->mhz = 0;
}

static unsigned find_version(const struct import_tt_header *h)
{
        if (h->has[TT_TRACE])
                return 5;
        if (h->has[TT_META])
                return 4;
        if (h->has[TT_RUN_HOST_ID])
                return 3;
        return h->has[TT_TYPE] ? 2 : 1;
}

int import_tt_header_read_columns(struct import_tt_header *h, struct text_view line, struct error *err)
{
        memset(h->has, 0, sizeof(h->has));
        h->n_columns = 0;
        while (line.n_bytes > 0) {
                enum import_tt_column column = find_column(import_tt_trim(import_tt_cut(&line, ',')));

                if (h->n_columns >= IMPORT_TT_COLUMNS_MAX)
                        return error_set(err, -EBADMSG, "the device log has more columns than %d",
                                         IMPORT_TT_COLUMNS_MAX);
                /* The first of two with one name counts. */
                if (h->has[column])
                        column = TT_OTHER;
                h->has[column] = true;
                h->columns[h->n_columns++] = (uint8_t)column;
        }
        for (int i = TT_CHIP; i <= TT_TIME; i++)
                if (!h->has[i])
                        return error_set(err, -EBADMSG, "the device log has no column '%s'", names[i].name);
        h->version = find_version(h);
        return 0;
}

bool import_tt_header_split(const struct import_tt_header *h, struct text_view line,
                            struct import_tt_row *ret_row)
{
        const char *at = line.bytes, *end = line.bytes + line.n_bytes;

        for (uint32_t i = 0; i < h->n_columns; i++) {
                const char *comma = i + 1 < h->n_columns ? memchr(at, ',', (size_t)(end - at)) : end;

                if (!comma)
                        return false;
                ret_row->cells[h->columns[i]] = (struct text_view){ at, (size_t)(comma - at) };
                if (comma < end)
                        at = comma + 1;
        }
        return true;
}
