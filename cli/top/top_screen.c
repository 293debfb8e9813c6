/* SPDX-License-Identifier: MIT */
#include "cli/top/top_screen.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "cli/top/top_head.h"
#include "cli/top/top_input.h"
#include "cli/top/top_view.h"
#include "view/text/text_table.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <unistd.h>

#define KEY_ESCAPE     27
#define KEY_DELETE     127
#define HEAD_LINES     2 /* above the table: what is shown; the tables to choose from */
#define FOOT_LINES     1
#define PAIR_HEAD      1
#define PAIR_HOT       2
#define ESCAPE_WAIT_MS 25

/* This line fits into 80 columns; "?" shows the other keys. */
static const char keys_line[] =
        "q quit  ? keys  1-4 table  Enter zone  </> sort  / filter  a all  space pause";

static const char *const help_lines[] = {
        "1 2 3 4, Tab     functions, zones, threads, waits",
        "Up Down PgUp PgDn Home End   choose a row",
        "Enter            open the zone of the row; Esc closes it",
        "< >              sort by the column before, after",
        "r                reverse the order",
        "/                filter: rows with a text; Enter keeps it, Esc removes it",
        "a                all that has arrived, or the last 10 seconds",
        "space            pause: the table stays as it is, the recording goes on",
        "q, Ctrl-C        quit",
        "",
        "RATE is per second.  P99: 99 of 100 zones took no longer, within 1%.",
        "SELF is the share of samples in the function itself, TOTAL with what it calls.",
        "ON-CPU is the share of the time that a thread ran.",
};

struct top_screen {
        struct top_input *in;
        struct top_view *view;
        const struct top_screen_options *options;
        SCREEN *terminal;
        FILE *keys; /* /dev/tty, if standard input is the trace; else NULL */
        int key_fd;
        struct top_text text;   /* what is drawn */
        size_t selected, first; /* rows */
        bool all, is_paused, is_over, is_typing, shows_help;
        char typed[TOP_FILTER_BYTES];
        uint64_t n_updates;
};

/* ---- the terminal -------------------------------------------------------------------------------------- */

bool top_screen_can_draw(void)
{
        int code;
        const char *move;

        if (!isatty(STDOUT_FILENO) || setupterm(NULL, STDOUT_FILENO, &code) != OK)
                return false;
        move = tigetstr("cup");
        return move != NULL && (intptr_t)move != -1;
}

static int begin_screen(struct top_screen *s, struct error *err)
{
        if (!isatty(STDIN_FILENO))
                s->keys = fopen("/dev/tty", "re");
        s->key_fd = s->keys ? fileno(s->keys) : STDIN_FILENO;
        (void)setlocale(LC_CTYPE, ""); /* NOLINT(concurrency-mt-unsafe): there is one thread */
        s->terminal = newterm(NULL, stdout, s->keys ? s->keys : stdin);
        if (!s->terminal)
                return error_set(err, -ENOTTY, "the terminal cannot be drawn on");
        (void)cbreak();
        (void)noecho();
        (void)nonl();
        (void)keypad(stdscr, TRUE);
        (void)nodelay(stdscr, TRUE);
        (void)set_escdelay(ESCAPE_WAIT_MS);
        (void)curs_set(0);
        if (s->options->wants_color && has_colors()) {
                (void)start_color();
                (void)use_default_colors();
                (void)init_pair(PAIR_HEAD, COLOR_CYAN, -1);
                (void)init_pair(PAIR_HOT, COLOR_YELLOW, -1);
        }
        return 0;
}

static void end_screen(struct top_screen *s)
{
        if (s->terminal) {
                (void)endwin();
                delscreen(s->terminal);
        }
        if (s->keys)
                (void)fclose(s->keys);
        top_text_free(&s->text);
}

/* ---- drawing ------------------------------------------------------------------------------------------- */

static int room_for_rows(void)
{
        int n = LINES - HEAD_LINES - FOOT_LINES - 1;

        return n > 1 ? n : 1;
}

/* A line of escaped text, which the terminal's width cuts. */
static void put_line(int y, const char *text, size_t n_bytes, attr_t attributes)
{
        if (y < 0 || y >= LINES)
                return;
        (void)move(y, 0);
        (void)clrtoeol();
        (void)attrset((int)attributes);
        (void)addnstr(text, (int)(n_bytes < INT16_MAX ? n_bytes : INT16_MAX));
        if (attributes & A_REVERSE)
                (void)mvchgat(y, 0, -1, attributes, 0, NULL);
        (void)attrset(A_NORMAL);
}

static void draw_tabs(const struct top_screen *s)
{
        (void)move(1, 0);
        (void)clrtoeol();
        for (int i = 0; i < TOP_TABLES; i++) {
                bool is_chosen = (enum top_table)i == s->view->table;

                (void)attrset(is_chosen ? A_REVERSE : A_NORMAL);
                (void)printw("%d %s", i + 1, top_view_name((enum top_table)i));
                (void)attrset(A_NORMAL);
                (void)addstr("  ");
        }
        (void)printw("by %s%s", top_view_sorted_by(s->view),
                     s->view->is_reversed[s->view->table] ? ", reversed" : "");
        if (s->view->filter[0] != '\0')
                (void)printw("  filter: %s", s->view->filter);
}

static void draw_foot(const struct top_screen *s)
{
        char line[TOP_FILTER_BYTES + 16];

        if (s->is_typing) {
                (void)snprintf(line, sizeof(line), "filter: %s_", s->typed);
                put_line(LINES - 1, line, strlen(line), A_NORMAL);
        } else if (s->in->is_over && s->in->ending[0] != '\0') {
                struct byte_buffer out = { .data = NULL };

                (void)text_escape(&out, s->in->ending, strlen(s->in->ending));
                put_line(LINES - 1, (const char *)out.data, out.used_bytes, A_BOLD);
                byte_buffer_deinit(&out);
        } else {
                put_line(LINES - 1, keys_line, strlen(keys_line), A_DIM);
        }
}

/* The lines of the table from the row `first` on, below the titles. */
static void draw_table(const struct top_screen *s)
{
        const char *at = s->text.bytes, *end = s->text.bytes + s->text.n_bytes;
        bool has_color = s->options->wants_color && has_colors();
        size_t number = 0; /* 0 = the titles */
        int y = HEAD_LINES;

        while (at < end && y < LINES - FOOT_LINES) {
                const char *line_end = memchr(at, '\n', (size_t)(end - at));
                size_t n = (size_t)((line_end ? line_end : end) - at);
                bool is_selected = number == s->selected + 1 && s->view->zone == 0;
                attr_t style = number == 0 ? A_BOLD | (has_color ? (attr_t)COLOR_PAIR(PAIR_HEAD) : 0)
                                           : A_NORMAL;

                if (number == 0 || number > s->first)
                        put_line(y++, at, n, is_selected ? A_REVERSE : style);
                at += n + 1;
                number++;
        }
        while (y < LINES - FOOT_LINES)
                put_line(y++, "", 0, A_NORMAL);
}

static void draw_help(void)
{
        for (int y = HEAD_LINES; y < LINES - FOOT_LINES; y++) {
                size_t i = (size_t)(y - HEAD_LINES);
                const char *line = i < sizeof(help_lines) / sizeof(help_lines[0]) ? help_lines[i] : "";

                put_line(y, line, strlen(line), A_NORMAL);
        }
}

static void draw(struct top_screen *s)
{
        const struct top_head what = { .title = s->options->title,
                                       .all = s->all,
                                       .is_paused = s->is_paused,
                                       .is_python = s->text.is_python };
        char head[512];
        struct byte_buffer out = { .data = NULL };

        top_head_print(s->in, &what, head, sizeof(head));
        (void)text_escape(&out, head, strlen(head));
        put_line(0, (const char *)out.data, out.used_bytes, A_NORMAL);
        byte_buffer_deinit(&out);
        draw_tabs(s);
        if (s->shows_help)
                draw_help();
        else
                draw_table(s);
        draw_foot(s);
        (void)refresh();
}

/* Makes the table of this moment.  Returns 0 or -ENOMEM. */
static int make_text(struct top_screen *s)
{
        const struct live_rows rows = {
                .stats = &s->in->stats,
                .names = &s->in->names,
                .shown = s->in->shown,
                .all = s->all,
                .shows_native = s->options->shows_native,
        };
        struct top_text text;
        int r;

        s->view->n_columns = COLS > 0 ? (uint32_t)COLS : 1;
        r = top_view_print(s->view, &rows, 0, &text);
        if (r < 0)
                return r;
        top_text_free(&s->text);
        s->text = text;
        return 0;
}

static void keep_selected(struct top_screen *s)
{
        size_t room = (size_t)room_for_rows();

        if (s->selected >= s->text.n_rows)
                s->selected = s->text.n_rows > 0 ? s->text.n_rows - 1 : 0;
        if (s->selected < s->first)
                s->first = s->selected;
        if (s->selected >= s->first + room)
                s->first = s->selected - room + 1;
}

/* ---- keys ---------------------------------------------------------------------------------------------- */

static void choose_table(struct top_screen *s, int table)
{
        s->view->table = (enum top_table)((table + TOP_TABLES) % TOP_TABLES);
        s->view->zone = 0;
        s->selected = s->first = 0;
}

static void move_selected(struct top_screen *s, int by)
{
        if (by < 0 && s->selected < (size_t)-by)
                s->selected = 0;
        else
                s->selected += (size_t)by;
}

static void type_key(struct top_screen *s, int key)
{
        size_t n = strlen(s->typed);

        if (key == KEY_ESCAPE) {
                s->is_typing = false;
                s->view->filter[0] = '\0';
        } else if (key == '\r' || key == '\n' || key == KEY_ENTER) {
                s->is_typing = false;
                memcpy(s->view->filter, s->typed, sizeof(s->typed));
        } else if (key == KEY_BACKSPACE || key == KEY_DELETE || key == '\b') {
                if (n > 0)
                        s->typed[n - 1] = '\0';
        } else if (key >= ' ' && key < KEY_DELETE && n + 1 < sizeof(s->typed)) {
                s->typed[n] = (char)key;
                s->typed[n + 1] = '\0';
        }
}

/* Returns whether it was a key of this kind. */
static bool take_moving_key(struct top_screen *s, int key)
{
        switch (key) {
        case KEY_UP:
        case 'k':
                move_selected(s, -1);
                return true;
        case KEY_DOWN:
        case 'j':
                move_selected(s, 1);
                return true;
        case KEY_PPAGE:
                move_selected(s, -room_for_rows());
                return true;
        case KEY_NPAGE:
                move_selected(s, room_for_rows());
                return true;
        case KEY_HOME:
                s->selected = 0;
                return true;
        case KEY_END:
                s->selected = s->text.n_rows;
                return true;
        default:
                return false;
        }
}

static void open_zone(struct top_screen *s)
{
        if (s->view->table == TOP_ZONES && s->text.zones && s->selected < s->text.n_rows)
                s->view->zone = s->text.zones[s->selected];
}

static bool take_table_key(struct top_screen *s, int key)
{
        if (key >= '1' && key < '1' + TOP_TABLES)
                choose_table(s, key - '1');
        else if (key == '\t' || key == KEY_RIGHT)
                choose_table(s, (int)s->view->table + 1);
        else if (key == KEY_BTAB || key == KEY_LEFT)
                choose_table(s, (int)s->view->table - 1);
        else if (key == '<' || key == '>')
                top_view_sort_next(s->view, key == '<' ? -1 : 1);
        else if (key == 'r')
                s->view->is_reversed[s->view->table] = !s->view->is_reversed[s->view->table];
        else if (key == '\r' || key == '\n' || key == KEY_ENTER)
                open_zone(s);
        else
                return false;
        return true;
}

static void take_key(struct top_screen *s, int key)
{
        if (s->is_typing) {
                type_key(s, key);
                return;
        }
        if (take_moving_key(s, key) || take_table_key(s, key))
                return;
        if (key == 'q' || key == 'Q') {
                s->is_over = true;
        } else if (key == '/') {
                s->is_typing = true;
                memcpy(s->typed, s->view->filter, sizeof(s->typed));
        } else if (key == 'a') {
                s->all = !s->all;
        } else if (key == ' ') {
                s->is_paused = !s->is_paused;
        } else if (key == '?' || key == 'h') {
                s->shows_help = !s->shows_help;
        } else if (key == KEY_ESCAPE) {
                s->shows_help = false;
                s->view->zone = 0;
                s->view->filter[0] = '\0';
        }
}

/* Takes all keys that were pressed.  Returns whether there was any, or the terminal has another size. */
static bool take_keys(struct top_screen *s)
{
        bool any = false;
        int key;

        while (!s->is_over && (key = getch()) != ERR) {
                if (key == KEY_RESIZE)
                        (void)clear();
                else
                        take_key(s, key);
                any = true;
        }
        return any;
}

/* ---- all together -------------------------------------------------------------------------------------- */

static bool is_readable(int fd)
{
        struct pollfd ready = { .fd = fd, .events = POLLIN };

        return fd >= 0 && poll(&ready, 1, 0) > 0;
}

/* A terminal that hung up is always readable but delivers no key, which also ends the view. */
static bool is_to_end(const struct top_screen *s, bool has_key, bool took_key)
{
        struct pollfd keys = { .fd = s->key_fd, .events = POLLIN };

        if (s->is_over || top_input_has_failed_early(s->in) || is_readable(s->options->stop_fd))
                return true;
        if (s->options->n_updates != 0 && s->n_updates >= s->options->n_updates)
                return true;
        return has_key && !took_key && poll(&keys, 1, 0) > 0 && (keys.revents & (POLLHUP | POLLERR)) != 0;
}

static int draw_anew(struct top_screen *s, bool is_new, struct error *err)
{
        if (!s->is_paused || is_new)
                if (make_text(s) < 0)
                        return error_set(err, -ENOMEM, "the table: out of memory");
        keep_selected(s);
        draw(s);
        return 0;
}

/*
 * Keys are answered at once, and the table is redrawn once per interval.  Signals need no wait of their
 * own, since keys and the descriptor of signals are checked after each wait.
 */
static int loop(struct top_screen *s, struct error *err)
{
        uint64_t next_ns = 0;
        int r = 0;

        while (r == 0) {
                uint64_t now_ns = clock_raw_ns();
                int timeout_ms = now_ns >= next_ns ? 0 : (int)((next_ns - now_ns) / NS_PER_MS + 1);
                bool has_key = top_input_wait(s->in, s->key_fd, timeout_ms < 100 ? timeout_ms : 100);
                bool took_key = take_keys(s);

                if (is_to_end(s, has_key, took_key))
                        break;
                r = top_input_step(s->in, err);
                if (r < 0)
                        break;
                if (clock_raw_ns() >= next_ns) {
                        r = draw_anew(s, false, err);
                        next_ns = clock_raw_ns() + s->options->interval_ns;
                        s->n_updates++;
                } else if (took_key) {
                        r = draw_anew(s, true, err);
                }
        }
        return r;
}

int top_screen_run(struct top_input *in, struct top_view *view, const struct top_screen_options *options,
                   struct error *err)
{
        struct top_screen s = { .in = in, .view = view, .options = options, .all = options->all };
        int r = begin_screen(&s, err);

        if (r == 0)
                r = loop(&s, err);
        end_screen(&s);
        return r;
}
