/* SPDX-License-Identifier: MIT */
#include "export/tables/sqlite_database.h"

#include "analyze/stats/wait_places.h"

const char *sqlite_schema_tables(void)
{
        return "CREATE TABLE meta(key TEXT, value TEXT);\n"
               "CREATE TABLE recordings(id INTEGER PRIMARY KEY, label TEXT, hostname TEXT, command TEXT, trace TEXT, "
               "clock INTEGER, offset_ns INTEGER, error_ns INTEGER, first_cpu INTEGER, n_cpus INTEGER);\n"
               "CREATE TABLE processes(id INTEGER PRIMARY KEY, pid INTEGER, parent INTEGER, start_ns INTEGER, "
               "recording INTEGER);\n"
               "CREATE TABLE threads(id INTEGER PRIMARY KEY, process INTEGER, tid INTEGER, name TEXT, "
               "is_fiber INTEGER, start_ns INTEGER, end_ns INTEGER, creator INTEGER);\n"
               "CREATE TABLE modules(id INTEGER PRIMARY KEY, path TEXT, build_id TEXT, is_python INTEGER);\n"
               "CREATE TABLE frames(id INTEGER PRIMARY KEY, module INTEGER, offset INTEGER, is_return INTEGER);\n"
               "CREATE TABLE symbols(frame INTEGER, level INTEGER, function TEXT, file TEXT, line INTEGER, "
               "PRIMARY KEY(frame, level)) WITHOUT ROWID;\n"
               "CREATE TABLE stacks(id INTEGER PRIMARY KEY, parent INTEGER, frame INTEGER);\n"
               "CREATE TABLE locations(id INTEGER PRIMARY KEY, name TEXT, function TEXT, file TEXT, "
               "line INTEGER);\n"
               "CREATE TABLE zone_paths(id INTEGER PRIMARY KEY, parent INTEGER, location INTEGER);\n"
               "CREATE TABLE events(id INTEGER PRIMARY KEY, name TEXT, unit TEXT, rate INTEGER, mode INTEGER, "
               "leader INTEGER);\n"
               "CREATE TABLE counters(event INTEGER, value INTEGER, enabled_ns INTEGER, running_ns INTEGER);\n"
               "CREATE TABLE losses(reason INTEGER, thread INTEGER, count INTEGER, time_ns INTEGER);\n"
               "CREATE TABLE zones(thread INTEGER, location INTEGER, path INTEGER, begin_ns INTEGER, "
               "duration_ns INTEGER, self_ns INTEGER, on_cpu_ns INTEGER, depth INTEGER, closed INTEGER, "
               "outermost INTEGER, name TEXT, text TEXT, value INTEGER);\n"
               "CREATE TABLE samples(time_ns INTEGER, thread INTEGER, cpu INTEGER, event INTEGER, "
               "stack INTEGER, path INTEGER, weight INTEGER);\n"
               "CREATE TABLE waits(thread INTEGER, out_ns INTEGER, duration_ns INTEGER, delay_ns INTEGER, "
               "state TEXT, stack INTEGER, path INTEGER, waker_thread INTEGER, waker_name TEXT, "
               "waker_stack INTEGER, out_cpu INTEGER, in_cpu INTEGER, ended INTEGER, wake_cpu INTEGER, "
               "below INTEGER, successor INTEGER, successor_kind TEXT, idle_ns INTEGER);\n"
               "CREATE TABLE path_segments(instance INTEGER, zone_thread INTEGER, zone_begin_ns INTEGER, "
               "at_ns INTEGER, ns INTEGER, thread INTEGER, kind TEXT, depth INTEGER, stack INTEGER, "
               "woken_by INTEGER, device INTEGER, lane INTEGER, location INTEGER);\n"
               "CREATE TABLE fiber_switches(time_ns INTEGER, thread INTEGER, fiber INTEGER);\n"
               "CREATE TABLE messages(time_ns INTEGER, thread INTEGER, severity INTEGER, text TEXT);\n"
               "CREATE TABLE plots(time_ns INTEGER, thread INTEGER, name TEXT, value REAL);\n"
               "CREATE TABLE frame_marks(time_ns INTEGER, thread INTEGER, name TEXT, kind TEXT);\n"
               "CREATE TABLE memory(time_ns INTEGER, thread INTEGER, kind TEXT, pool TEXT, address INTEGER, "
               "size_bytes INTEGER, stack INTEGER, path INTEGER);\n"
               "CREATE TABLE flows(flow INTEGER, space TEXT, id INTEGER, kind TEXT, from_ns INTEGER, "
               "from_thread INTEGER, from_location INTEGER, to_ns INTEGER, to_thread INTEGER, to_location INTEGER, "
               "since_begin_ns INTEGER);\n"
               "CREATE TABLE locks(time_ns INTEGER, thread INTEGER, kind TEXT, lock INTEGER, name TEXT, "
               "shared INTEGER, path INTEGER);\n";
}

const char *sqlite_schema_device_tables(void)
{
        return "CREATE TABLE devices(id INTEGER PRIMARY KEY, process INTEGER, name TEXT, number INTEGER, "
               "kind INTEGER, period_ns REAL, placed INTEGER, clock_name TEXT, bound_ns INTEGER, clock_quality TEXT, "
               "epochs INTEGER);\n"
               "CREATE TABLE device_epochs(device INTEGER, epoch INTEGER, first_ns INTEGER, last_ns INTEGER, "
               "first_ticks INTEGER, last_ticks INTEGER, n_readings INTEGER, tick_ns REAL, bound_ns INTEGER, "
               "clock_quality TEXT, PRIMARY KEY(device, epoch));\n"
               "CREATE TABLE device_tracks(id INTEGER PRIMARY KEY, device INTEGER, lane INTEGER, "
               "parent INTEGER, name TEXT, kind TEXT, path TEXT);\n"
               "CREATE TABLE device_spans(id INTEGER PRIMARY KEY, device INTEGER, lane INTEGER, "
               "location INTEGER, begin_ns INTEGER, end_ns INTEGER, duration_ns INTEGER, thread INTEGER, "
               "path INTEGER, key INTEGER, placed INTEGER, said_ns INTEGER, key_kind TEXT, text TEXT);\n"
               "CREATE TABLE device_values(device INTEGER, lane INTEGER, time_ns INTEGER, name TEXT, value NUMERIC, "
               "thread INTEGER, said_ns INTEGER);\n"
               "CREATE TABLE device_instants(device INTEGER, lane INTEGER, time_ns INTEGER, location INTEGER, "
               "key INTEGER, key_kind TEXT, text TEXT, thread INTEGER, said_ns INTEGER);\n"
               "CREATE TABLE imports(id INTEGER PRIMARY KEY, file TEXT, format TEXT, version TEXT, "
               "n_rows INTEGER, n_malformed INTEGER, first_malformed_at INTEGER, first_malformed TEXT, "
               "n_dropped INTEGER, clock TEXT, error_ns INTEGER, cut_at INTEGER);\n"
               "CREATE TABLE import_losses(import INTEGER, kind TEXT, count INTEGER);\n"
               "CREATE TABLE device_hosts(span INTEGER PRIMARY KEY, thread INTEGER, location INTEGER, "
               "zone_begin_ns INTEGER, space TEXT);\n";
}

/*
 * The function of a call stack is the innermost function of its innermost frame; as in reports, inlined
 * functions count.
 */
#define VALUE(prefix) "('" prefix "'),"

static const char views[] =
        "CREATE INDEX zones_location ON zones(location);\n"
        "CREATE INDEX samples_path ON samples(path);\n"
        "CREATE INDEX samples_stack ON samples(stack);\n"
        "CREATE VIEW zone_stats AS SELECT 'z' || location AS handle, "
        "coalesce(l.name, l.function) AS name, l.file, l.line, count(*) AS count, "
        "sum(CASE WHEN outermost THEN duration_ns ELSE 0 END) AS total_ns, sum(self_ns) AS self_ns, "
        "avg(duration_ns) AS mean_ns, min(duration_ns) AS min_ns, max(duration_ns) AS max_ns "
        "FROM zones JOIN locations l ON l.id = location WHERE closed GROUP BY location;\n"
        "CREATE VIEW frame_functions AS SELECT f.id AS frame, coalesce(s.level, 0) AS level, "
        "coalesce(s.function, '[no symbol]') AS function, m.path AS module, s.file, s.line "
        "FROM frames f LEFT JOIN symbols s ON s.frame = f.id LEFT JOIN modules m ON m.id = f.module;\n"
        "CREATE VIEW function_self AS SELECT e.name AS event, function, module, count(*) AS samples, "
        "sum(weight) AS weight FROM samples JOIN events e ON e.id = event JOIN stacks ON stacks.id = stack "
        "JOIN frame_functions f ON f.frame = stacks.frame AND level = 0 GROUP BY event, function, module;\n"
        "CREATE VIEW stack_frames AS WITH RECURSIVE up(stack, depth, at) AS (SELECT id, 0, id FROM stacks "
        "UNION ALL SELECT stack, depth + 1, parent FROM up JOIN stacks ON stacks.id = at WHERE parent NOT NULL) "
        "SELECT stack, depth, frame FROM up JOIN stacks ON stacks.id = at;\n"
        "CREATE VIEW function_total AS SELECT e.name AS event, function, module, sum(n) AS samples, "
        "sum(w) AS weight FROM (SELECT DISTINCT stack, function, module FROM stack_frames "
        "JOIN frame_functions USING (frame)) JOIN (SELECT event, stack, count(*) AS n, sum(weight) AS w "
        "FROM samples GROUP BY event, stack) USING (stack) JOIN events e ON e.id = event "
        "GROUP BY event, function, module;\n"
        "CREATE VIEW path_zones AS WITH RECURSIVE up(path, depth, at) AS (SELECT id, 0, id FROM zone_paths "
        "UNION ALL SELECT path, depth + 1, parent FROM up JOIN zone_paths ON zone_paths.id = at "
        "WHERE parent NOT NULL) SELECT path, depth, location FROM up JOIN zone_paths ON zone_paths.id = at;\n"
        "CREATE VIEW zone_samples AS SELECT coalesce(l.name, l.function) AS zone, e.name AS event, "
        "sum(n) AS samples, sum(w) AS weight FROM (SELECT DISTINCT path, location FROM path_zones) "
        "JOIN (SELECT event, path, count(*) AS n, sum(weight) AS w FROM samples GROUP BY event, path) "
        "USING (path) JOIN locations l ON l.id = location JOIN events e ON e.id = event "
        "GROUP BY location, event;\n"
        "CREATE VIEW zone_functions AS SELECT coalesce(l.name, l.function) AS zone, e.name AS event, "
        "f.function, f.module, sum(n) AS samples, sum(w) AS weight FROM "
        "(SELECT DISTINCT path, location FROM path_zones) JOIN (SELECT event, path, stack, count(*) AS n, "
        "sum(weight) AS w FROM samples GROUP BY event, path, stack) USING (path) "
        "JOIN stacks ON stacks.id = stack JOIN frame_functions f ON f.frame = stacks.frame AND f.level = 0 "
        "JOIN locations l ON l.id = location JOIN events e ON e.id = event "
        "GROUP BY l.id, e.name, f.function, f.module;\n"
        /*
         * Each call stack of a wait, up to the function that says what it is for: see
         * analyze/stats/wait_places.h.
         */
        "CREATE VIEW wait_functions AS WITH RECURSIVE up(stack, depth, at) AS (SELECT DISTINCT stack, 0, stack "
        "FROM waits WHERE stack NOT NULL UNION ALL SELECT stack, depth + 1, parent FROM up "
        "JOIN stacks ON stacks.id = at JOIN frame_functions f ON f.frame = stacks.frame AND level = 0 "
        "WHERE parent NOT NULL AND module = '[kernel]' AND EXISTS (SELECT 1 FROM (VALUES" WAIT_PLACES_PLUMBING(
                VALUE) "('schedule')) "
                       "WHERE instr(function, column1) = 1)) "
                       "SELECT stack, max(depth) AS depth, function, module FROM up JOIN stacks ON stacks.id = at "
                       "JOIN frame_functions f ON f.frame = stacks.frame AND level = 0 GROUP BY stack;\n"
                       "CREATE VIEW wait_stats AS SELECT state, function, module, count(*) AS waits, "
                       "sum(duration_ns) AS total_ns, max(duration_ns) AS max_ns FROM waits "
                       "LEFT JOIN wait_functions USING (stack) GROUP BY state, function, module;\n";

const char *sqlite_schema_views(void)
{
        return views;
}

/*
 * Follows analyze/samples/python_stacks.h.  The columns beside min(depth) come from the row with the
 * minimum.
 */
const char *sqlite_schema_python_views(void)
{
        return "CREATE VIEW python_stacks AS SELECT stack, min(depth) AS depth, frame FROM stack_frames "
               "JOIN frames f ON f.id = frame JOIN modules m ON m.id = f.module WHERE is_python GROUP BY stack;\n"
               "CREATE VIEW python_self AS SELECT e.name AS event, function, module, line, sum(n) AS samples, "
               "sum(w) AS weight, sum(CASE WHEN depth = 0 THEN w ELSE 0 END) AS python_weight FROM python_stacks "
               "JOIN (SELECT event, stack, count(*) AS n, sum(weight) AS w FROM samples GROUP BY event, stack) "
               "USING (stack) JOIN events e ON e.id = event JOIN frame_functions USING (frame) WHERE level = 0 "
               "GROUP BY event, function, module, line;\n";
}

/* As analyze/devices/device_hosts.h has it. */
const char *sqlite_schema_device_views(void)
{
        return "CREATE VIEW host_operations AS SELECT 'z' || h.location AS handle, "
               "coalesce(l.name, l.function) AS name, count(*) AS spans, sum(duration_ns) AS total_ns, "
               "avg(CASE WHEN begin_ns >= zone_begin_ns THEN begin_ns - zone_begin_ns END) AS mean_delay_ns, "
               "max(CASE WHEN begin_ns >= zone_begin_ns THEN begin_ns - zone_begin_ns END) AS max_delay_ns, "
               "coalesce(sum(begin_ns < zone_begin_ns), 0) AS early FROM device_hosts h "
               "JOIN device_spans s ON s.id = span JOIN locations l ON l.id = h.location GROUP BY h.location;\n";
}
