/* SPDX-License-Identifier: MIT */
/*
 * A flame graph as one SVG file that a browser opens: boxes of call stacks, as wide as their number of
 * samples.
 *
 * A click on a box zooms in until it fills the width; a click on a box below it, or on "reset zoom", zooms
 * out.  Ctrl-F or "search" highlights the boxes whose names contain a text and shows their share of the
 * samples.  With waits the boxes are as wide as their time, orange on a CPU, blue off it, and between these
 * for both.  The stacks are those of the folded export.  The same trace gives the same bytes.  Memory: the
 * folded lines, and one node for each box.
 */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "export/shared/export_format.h"
#include "export/stacks/flame_tree.h"
#include "view/text/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH          1200.0 /* pixels of the picture; browsers scale it */
#define ROW_HEIGHT     17
#define TOP            58
#define BOTTOM         24
#define MARGIN         10.0
#define WIDTH_LEAST    0.1 /* narrower boxes are left out, as in every flame graph */
#define LETTER_WIDTH   7.0
#define NAME_MAX_BYTES 2000

/* Writes text for an element or a double-quoted attribute; escapes hostile names as well. */
static void put_escaped(FILE *out, const char *text, size_t n)
{
        struct byte_buffer clean = { .data = NULL };

        utf8_add_clean(&clean, text, n < NAME_MAX_BYTES ? n : NAME_MAX_BYTES);
        for (size_t i = 0; i < clean.used_bytes; i++) {
                uint8_t c = clean.data[i];

                if (c == '&')
                        (void)fputs("&amp;", out);
                else if (c == '<')
                        (void)fputs("&lt;", out);
                else if (c == '>')
                        (void)fputs("&gt;", out);
                else if (c == '"')
                        (void)fputs("&quot;", out);
                else if (c < ' ' || c == 0x7f) /* not allowed in XML */
                        (void)fputs("?", out);
                else
                        (void)fputc(c, out);
        }
        byte_buffer_deinit(&clean);
}

/*
 * A warm colour is derived from the name, so that a function has the same colour everywhere; kernel
 * functions are orange.
 */
static void put_color(FILE *out, const char *name, size_t n)
{
        uint32_t hash = 2166136261U;
        int is_kernel = n > 4 && memcmp(name + n - 4, "_[k]", 4) == 0;

        for (size_t i = 0; i < n; i++)
                hash = (hash ^ (uint8_t)name[i]) * 16777619U;
        if (is_kernel)
                (void)fprintf(out, "rgb(%u,%u,%u)", 235 + hash % 20, 140 + (hash >> 8) % 40,
                              60 + (hash >> 16) % 30);
        else
                (void)fprintf(out, "rgb(%u,%u,%u)", 215 + hash % 40, 90 + (hash >> 8) % 110,
                              70 + (hash >> 16) % 40);
}

/* From orange, on a CPU, to blue; each name has a shade of its own. */
static void put_wall_color(FILE *out, const struct flame_node *node)
{
        static const double warm[] = { 238, 160, 76 }, cool[] = { 118, 160, 222 };
        double part = (double)node->waiting / (double)node->total;
        uint32_t hash = 2166136261U;
        int rgb[3];

        for (size_t i = 0; i < node->n_name; i++)
                hash = (hash ^ (uint8_t)node->name[i]) * 16777619U;
        for (int i = 0; i < 3; i++)
                rgb[i] = (int)(warm[i] + (cool[i] - warm[i]) * part) + (int)(hash % 17);
        (void)fprintf(out, "rgb(%d,%d,%d)", rgb[0], rgb[1], rgb[2]);
}

/* "12 samples, 3.40%", "1.234 ms, 3.40%, 50% off a CPU" */
static void put_amount(FILE *out, const struct flame_node *node, uint64_t all, bool is_wall)
{
        double percent = 100.0 * (double)node->total / (double)all;

        if (is_wall)
                (void)fprintf(out, " (%.3f ms, %.2f%%, %.0f%% off a CPU)", (double)node->total / 1e6, percent,
                              100.0 * (double)node->waiting / (double)node->total);
        else
                (void)fprintf(out, " (%" PRIu64 " samples, %.2f%%)", node->total, percent);
}

/* The largest number of bytes, up to @n, that does not cut a character of the name. */
static size_t cut_name(const char *name, size_t n)
{
        while (n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80)
                n--;
        return n;
}

static void put_box(FILE *out, const struct flame_tree *tree, uint32_t id, bool is_wall)
{
        const struct flame_node *node = &tree->nodes[id];
        double scale = (WIDTH - 2 * MARGIN) / (double)tree->nodes[0].total;
        double x = MARGIN + (double)node->begin * scale, width = (double)node->total * scale;
        uint32_t y = TOP + (tree->depth_max - node->depth) * ROW_HEIGHT;
        size_t n_fit = width > 3 * LETTER_WIDTH ? (size_t)(width / LETTER_WIDTH) : 0;

        (void)fprintf(out,
                      "<g data-x=\"%" PRIu64 "\" data-w=\"%" PRIu64 "\" data-d=\"%" PRIu32
                      "\" tabindex=\"0\"><title>",
                      node->begin, node->total, node->depth);
        put_escaped(out, node->name, node->n_name);
        put_amount(out, node, tree->nodes[0].total, is_wall);
        (void)fprintf(out, "</title><rect x=\"%.1f\" y=\"%" PRIu32 "\" width=\"%.1f\" height=\"%d\" fill=\"",
                      x, y, width, ROW_HEIGHT - 1);
        if (is_wall)
                put_wall_color(out, node);
        else
                put_color(out, node->name, node->n_name);
        (void)fprintf(out, "\"/><text x=\"%.1f\" y=\"%" PRIu32 "\">", x + 3, y + 12);
        if (n_fit >= node->n_name)
                put_escaped(out, node->name, node->n_name);
        else if (n_fit > 2) {
                put_escaped(out, node->name, cut_name(node->name, n_fit - 2));
                (void)fputs("..", out);
        }
        (void)fputs("</text></g>\n", out);
}

static const char style[] =
        "text{font:12px monospace;fill:#000}rect{stroke:#fff;stroke-width:.3}g[data-x]{cursor:pointer}"
        "g[data-x]:hover rect,g[data-x]:focus rect{stroke:#000;stroke-width:1}.found rect{fill:#e600e6}"
        ".hidden{display:none}.parent{opacity:.5}#title{font-size:17px}.tool{cursor:pointer;text-decoration:underline}";

/*
 * The page's own script: it reads only the boxes' numbers and titles, and writes only attributes and text.
 */
static const char script[] =
        "'use strict';\n"
        "const root = document.documentElement, margin = 10, width = 1200 - 2 * margin, letter = 7;\n"
        "const boxes = Array.from(document.querySelectorAll('g[data-x]')), all = Number(boxes[0].dataset.w);\n"
        "const details = document.getElementById('details'), reset = document.getElementById('reset');\n"
        "const found = document.getElementById('found'), search = document.getElementById('search');\n"
        "const nameOf = (box) => box.firstChild.textContent.replace(/ \\([0-9.]+ (samples|ms), [^()]*\\)$/, '');\n"
        "const fitted = (name, n) => name.length <= n ? name : n > 4 ? name.slice(0, n - 2) + '..' : '';\n"
        "function zoom(target) {\n"
        "        const from = Number(target.dataset.x), wide = Number(target.dataset.w), depth = Number(target.dataset.d);\n"
        "        for (const box of boxes) {\n"
        "                const x = Number(box.dataset.x), w = Number(box.dataset.w), d = Number(box.dataset.d);\n"
        "                const isParent = d < depth && x <= from && x + w >= from + wide;\n"
        "                const isInside = d >= depth && x >= from && x + w <= from + wide;\n"
        "                box.classList.toggle('hidden', !isParent && !isInside);\n"
        "                box.classList.toggle('parent', isParent);\n"
        "                const left = isParent ? margin : margin + (x - from) / wide * width;\n"
        "                const pixels = isParent ? width : w / wide * width;\n"
        "                const [, rect, text] = box.children;\n"
        "                rect.setAttribute('x', String(left));\n"
        "                rect.setAttribute('width', String(pixels));\n"
        "                text.setAttribute('x', String(left + 3));\n"
        "                text.textContent = fitted(nameOf(box), Math.floor(pixels / letter));\n"
        "        }\n"
        "        reset.classList.toggle('hidden', target === boxes[0]);\n"
        "}\n"
        "function mark(text) {\n"
        "        let share = 0, until = -1;\n"
        "        for (const box of boxes)\n"
        "                box.classList.toggle('found', text !== '' && nameOf(box).includes(text));\n"
        "        const hits = boxes.filter((box) => box.classList.contains('found'))\n"
        "                .sort((a, b) => Number(a.dataset.x) - Number(b.dataset.x) || Number(a.dataset.d) - Number(b.dataset.d));\n"
        "        for (const box of hits) {\n"
        "                const x = Number(box.dataset.x), end = x + Number(box.dataset.w);\n"
        "                if (end > until)\n"
        "                        share += end - Math.max(x, until), until = end;\n"
        "        }\n"
        "        found.textContent = text === '' ? '' : 'matched: ' + (100 * share / all).toFixed(1) + '%';\n"
        "        search.textContent = text === '' ? 'search' : 'reset search';\n"
        "}\n"
        "function ask() {\n"
        "        const text = found.textContent ? '' : window.prompt('names with this text:', '');\n"
        "        if (text !== null)\n"
        "                mark(text);\n"
        "}\n"
        "for (const box of boxes) {\n"
        "        box.addEventListener('click', () => zoom(box));\n"
        "        box.addEventListener('mouseover', () => { details.textContent = box.firstChild.textContent; });\n"
        "        box.addEventListener('focus', () => { details.textContent = box.firstChild.textContent; });\n"
        "        box.addEventListener('keydown', (event) => { if (event.key === 'Enter') zoom(box); });\n"
        "}\n"
        "reset.addEventListener('click', () => zoom(boxes[0]));\n"
        "search.addEventListener('click', ask);\n"
        "window.addEventListener('keydown', (event) => {\n"
        "        if (event.key === 'F3' || ((event.ctrlKey || event.metaKey) && event.key === 'f')) {\n"
        "                event.preventDefault();\n"
        "                ask();\n"
        "        } else if (event.key === 'Escape') {\n"
        "                mark('');\n"
        "                zoom(boxes[0]);\n"
        "        }\n"
        "});\n";

static void put_svg(FILE *out, const struct flame_tree *tree, bool is_wall)
{
        uint32_t pixels = TOP + (tree->depth_max + 1) * ROW_HEIGHT + BOTTOM;
        bool is_empty = tree->nodes[0].total == 0;
        double least = WIDTH_LEAST / (WIDTH - 2 * MARGIN) * (double)tree->nodes[0].total;

        (void)fprintf(
                out,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
                "viewBox=\"0 0 %.0f %" PRIu32 "\" width=\"%.0f\" height=\"%" PRIu32 "\">\n<style>%s</style>\n"
                "<rect width=\"100%%\" height=\"100%%\" fill=\"#f8f8f8\"/>\n"
                "<text id=\"title\" x=\"%.0f\" y=\"24\" text-anchor=\"middle\">%s</text>\n"
                "<text id=\"reset\" class=\"tool hidden\" x=\"10\" y=\"24\" tabindex=\"0\">reset zoom</text>\n"
                "<text id=\"search\" class=\"tool\" x=\"1090\" y=\"24\" tabindex=\"0\">search</text>\n"
                "<text id=\"details\" x=\"10\" y=\"%" PRIu32 "\"> </text>\n"
                "<text id=\"found\" x=\"1050\" y=\"%" PRIu32 "\"> </text>\n",
                WIDTH, pixels, WIDTH, pixels, style, WIDTH / 2,
                is_empty  ? "Flame graph: no samples"
                : is_wall ? "Wall time: on a CPU (orange), waiting or preempted (blue)"
                          : "Flame graph",
                pixels - 8, pixels - 8);
        for (uint32_t i = 0; i < tree->n_nodes && !is_empty; i++)
                if ((double)tree->nodes[i].total >= least)
                        put_box(out, tree, i, is_wall);
        (void)fprintf(out, "<script><![CDATA[\n%s]]></script>\n</svg>\n", is_empty ? "" : script);
}

int export_flamegraph(struct loaded_trace *trace, const struct export_options *options, FILE *out,
                      struct export_totals *ret_totals, struct error *err)
{
        struct flame_tree tree = { .n_nodes = 0 };
        char *text = NULL;
        size_t n_text = 0;
        FILE *lines = open_memstream(&text, &n_text);
        int r = lines ? export_folded(trace, options, lines, ret_totals, err)
                      : error_set(err, -ENOMEM, "no memory for the call stacks");

        if (lines && fclose(lines) != 0 && r == 0)
                r = error_set(err, -ENOMEM, "no memory for the call stacks");
        if (r == 0 && flame_tree_read(&tree, text, n_text) < 0)
                r = error_set(err, -ENOMEM, "no memory for the flame graph");
        if (r == 0) {
                put_svg(out, &tree, options->waits);
                if (fflush(out) != 0 || ferror(out))
                        r = error_set(err, -EIO, "writing failed");
        }
        flame_tree_deinit(&tree);
        free(text);
        return r;
}
