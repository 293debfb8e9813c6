/* SPDX-License-Identifier: MIT */
/*
 * Prints the parts of all answers, from the lists of their columns: print_schemas FOLDER
 * Writes FOLDER/hyprof.NAME.VERSION.json for each; the tables of docs/use/view-json.md to standard output.
 */
#include "cli/manual/commands.h"
#include "cli/top/top_view.h"
#include "view/annotate/annotation_view.h"
#include "view/diff/diff_view.h"
#include "view/document/answer_schema.h"
#include "view/path/idle_view.h"
#include "view/path/path_view.h"
#include "view/path/wall_view.h"
#include "view/shared/event_view.h"
#include "view/shared/report_view.h"
#include "view/why/why_view.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const struct answer_schema *const answers[] = {
        &overview_view_schema, &functions_view_schema, &lines_view_schema,   &zones_view_schema,
        &zone_view_schema,     &threads_view_schema,   &modules_view_schema, &off_cpu_view_schema,
        &cpus_view_schema,     &syscalls_view_schema,  &locks_view_schema,   &memory_view_schema,
        &heat_view_schema,     &flows_view_schema,     &frames_view_schema,  &plots_view_schema,
        &messages_view_schema, &devices_view_schema,   &why_view_schema,     &path_view_schema,
        &wall_view_schema,     &idle_view_schema,      &diff_view_schema,    &annotation_view_schema,
        &module_list_schema,   &check_schema,          &doctor_schema,       &events_schema,
        &ctl_schema,           &probes_schema,         &version_schema,      &top_view_schema,
};

static int print_one(const struct answer_schema *s, const char *folder)
{
        char path[PATH_MAX];
        FILE *out;
        int r;

        (void)snprintf(path, sizeof(path), "%s/%s.json", folder, s->name);
        *strrchr(path, '/') = '.'; /* "hyprof.zones/2" is hyprof.zones.2.json */
        out = fopen(path, "w");
        if (!out)
                return -1;
        r = answer_schema_print_json(s, out);
        return fclose(out) == 0 ? r : -1;
}

int main(int argc, char **argv)
{
        if (argc != 2)
                return EXIT_FAILURE;
        for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
                if (print_one(answers[i], argv[1]) < 0) {
                        perror(argv[1]);
                        return EXIT_FAILURE;
                }
                (void)putchar('\n');
                answer_schema_print_markdown(answers[i], stdout);
        }
        return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
