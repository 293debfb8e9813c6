/* SPDX-License-Identifier: MIT */
#include "cli/views/modules_json.h"

#include "analyze/trace/report_string.h"
#include "cli/files/trace_code.h"
#include "cli/views/module_words.h"
#include "cli/views/report_object.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "symbolize/symbols/image_finder.h"
#include "symbolize/symbols/symbol_findings.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static struct report_string string_of(const char *text)
{
        return (struct report_string){ .bytes = text, .n_bytes = text ? strlen(text) : 0 };
}

static json_t *pack_kept(const struct trace_code *code, uint32_t module)
{
        const struct trace_module_image *row = module_images_find(&code->images, code->dictionary, module);
        const struct trace_attachment *attachment;
        struct spooled_image image;
        struct report_object object;
        bool is_there;

        if (!row || row->attachment == 0)
                return json_null();
        attachment = trace_dictionary_row(code->dictionary, TRACE_TABLE_ATTACHMENTS, row->attachment);
        is_there = image_spool_map(&code->spool, code->dictionary, row->attachment, &image, NULL) == 1;
        if (is_there)
                image_spool_unmap(&image);
        object = report_object_begin();
        report_object_put(&object, "size_bytes", report_object_number(attachment->size_bytes));
        report_object_put(&object, "whole_file",
                          json_boolean(attachment->kind != TRACE_ATTACHMENT_MODULE_PARTS));
        report_object_put(&object, "damaged", json_boolean(!is_there));
        return report_object_take(&object);
}

static json_t *pack_module(const struct trace_code *code, const struct module_finding *finding)
{
        const struct trace_dictionary *d = code->dictionary;
        const struct trace_module *row = trace_dictionary_row(d, TRACE_TABLE_MODULES, finding->module);
        struct module_words words = module_words_of(d, finding->module);
        const char *state = module_words_state(module_images_find(&code->images, d, finding->module));
        struct report_object object = report_object_begin();
        uint64_t n_samples = code->n_samples ? code->n_samples[finding->module] : 0;

        report_object_put(&object, "id", report_object_number(finding->module));
        report_object_put(&object, "path", report_object_string_or_null(report_string_of(d, row->path)));
        report_object_put(&object, "build_id", report_object_string_or_null(string_of(words.build_id)));
        report_object_put(&object, "kind", json_string(module_words_kind(row->kind)));
        report_object_put(&object, "n_samples", report_object_number(n_samples));
        report_object_put(&object, "n_frames", report_object_number(finding->n_frames));
        report_object_put(&object, "n_named", report_object_number(finding->n_named));
        report_object_put(&object, "n_with_line", report_object_number(finding->n_lines));
        report_object_put(&object, "code", json_string(module_words_source(finding->source)));
        report_object_put(&object, "found_at", report_object_string_or_null(string_of(finding->path)));
        report_object_put(&object, "kept", pack_kept(code, finding->module));
        report_object_put(&object, "keeping", report_object_string_or_null(string_of(state)));
        return report_object_take(&object);
}

int modules_json_print(const struct trace_code *code, const struct symbol_findings *findings)
{
        struct report_object root = report_object_begin();
        json_t *list = json_array();
        json_t *json;
        int r;

        for (uint32_t i = 1; list && i <= findings->n_modules; i++)
                if (findings->items[i].n_frames > 0 &&
                    json_array_append_new(list, pack_module(code, &findings->items[i])) < 0) {
                        json_decref(list);
                        list = NULL;
                }
        report_object_put(&root, "schema", json_string(MODULES_JSON_SCHEMA));
        report_object_put(&root, "modules", list);
        json = report_object_take(&root);
        if (!json)
                return -ENOMEM;
        r = json_dumpf(json, stdout, JSON_INDENT(2));
        (void)putchar('\n');
        json_decref(json);
        return r < 0 ? -EIO : 0;
}
