// SPDX-License-Identifier: MIT
// The frame of the screens: title, warnings, selected range, search box, tabs, keys, light and dark.

import { showTheme } from './colors.js';
import { compareButton } from './compare_with.js';
import { button, el, fill, isTextField, setAttributes } from './dom.js';
import { formatDuration, formatPlural, formatTime } from './format.js';
import { SCREENS } from './screens.js';
import { legendTable } from './timeline_legend.js';

/**
 * @typedef {import('./viewer.js').ScreenClass} ScreenClass
 * @typedef {import('./viewer.js').Viewer} Viewer
 * @typedef {import('./viewer.js').ViewerScreen} ViewerScreen
 */

const THEMES = ['system', 'light', 'dark'];

export class Shell {
        /**
         * @param {Viewer} viewer
         * @param {HTMLElement} page
         */
        constructor(viewer, page) {
                this.viewer = viewer;
                this.page = page;
                /** @type {Map<string, ViewerScreen>} made when first shown */
                this.made = new Map();
                /** @type {ViewerScreen | null} */
                this.shown = null;
                this.shownId = '';
                /** @type {Map<string, HTMLElement>} */
                this.tabs = new Map();
                this.title = el('h1', { class: 'title' });
                this.facts = el('p', { class: 'facts' });
                this.rangeWords = el('span', { class: 'range-words' });
                /** One for each way to follow a running recording: @see makeLiveButtons. @type {Map<string, HTMLElement>} */
                this.liveButtons = new Map();
                this.search = /** @type {HTMLInputElement} */ (el('input', { type: 'search', id: 'search',
                        placeholder: 'Search  /', 'aria-label': 'Search', spellcheck: 'false', autocomplete: 'off',
                        on: { input: () => this.onSearch(), keydown: (/** @type {KeyboardEvent} */ e) =>
                                this.onSearchKey(e) } }));
                this.searchHits = el('span', { class: 'search-hits', id: 'search-hits', role: 'status' });
                this.found = el('div', { class: 'found', id: 'found', hidden: true, on: { keydown: (/** @type {KeyboardEvent} */ e) =>
                        this.onFoundKey(e) } });
                this.theme = 'system';
                this.themeButton = button('', () => this.nextTheme(), { class: 'quiet' });
                this.warnings = el('div', { class: 'warnings', id: 'warnings' });
                this.tabList = el('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Screens' });
                this.main = el('main', { class: 'main', id: 'main' });
                this.help = this.makeHelp();
        }

        build() {
                fill(this.page,
                        el('header', { class: 'head' },
                                el('div', { class: 'names' }, this.title, this.facts),
                                el('div', { class: 'tools' }, el('div', { class: 'range-box' }, this.makeLiveButtons(), this.rangeWords),
                                        el('div', { class: 'search-box' }, this.search, this.searchHits, this.found),
                                        compareButton(this.viewer), this.themeButton,
                                        button('?', () => this.showHelp(), { class: 'quiet', title: 'Keys, colors and marks (?)',
                                                'aria-label': 'Keys' }))),
                        this.warnings,
                        el('nav', { class: 'tab-bar' }, this.tabList),
                        this.main,
                        el('div', { id: 'live', class: 'off-screen', 'aria-live': 'polite', role: 'status' }),
                        this.help);
                this.buildTabs();
                this.setTheme(this.viewer.state.colors || this.viewer.source.recall('theme') || 'system');
                document.addEventListener('keydown', (event) => this.onKey(event));
                matchMedia('(prefers-color-scheme: dark)').addEventListener('change',
                        () => this.setTheme(this.theme));
                this.viewer.on('change', () => this.update());
                this.viewer.on('model', () => {
                        this.viewer.clampRanges();
                        this.update();
                });
                this.viewer.on('hits', (words) => fill(this.searchHits, words));
                this.viewer.on('found', (list) => this.showFound(list));
                this.viewer.on('failure', (error) => this.addWarning(error.message));
                this.updateWarnings();
                this.viewer.clampRanges();
                this.update();
        }

        /** The screens that this trace has something for. */
        offered() {
                return SCREENS.filter((screen) => !screen.isThere || screen.isThere(this.viewer.model));
        }

        /** The screens that have a tab: keys and pasted links lead only to these. */
        tabbed() {
                return SCREENS.filter((screen) => this.tabs.has(screen.id));
        }

        buildTabs() {
                for (const screen of this.offered()) {
                        const tab = el('button', { type: 'button', role: 'tab', id: 'tab-' + screen.id,
                                'aria-controls': 'screen-' + screen.id, class: 'tab',
                                title: screen.key ? screen.title + ' (' + screen.key.toUpperCase() +
                                        ' with Shift)' : screen.title,
                                on: { click: () => this.viewer.go(screen.id) } }, screen.title);
                        tab.addEventListener('keydown', (event) => this.onTabKey(event, screen));
                        this.tabs.set(screen.id, tab);
                        this.tabList.appendChild(tab);
                }
        }

        /**
         * @param {KeyboardEvent} event
         * @param {ScreenClass} screen
         */
        onTabKey(event, screen) {
                const all = this.tabbed();
                const at = all.indexOf(screen);
                const steps = /** @type {Record<string, number>} */ ({ ArrowRight: 1, ArrowLeft: -1, Home: -at,
                        End: all.length - 1 - at });
                if (event.key in steps) {
                        const next = all[(at + steps[event.key] + all.length) % all.length];
                        this.viewer.go(next.id);
                        /** @type {HTMLElement} */ (this.tabs.get(next.id)).focus();
                        event.preventDefault();
                        event.stopPropagation();
                }
        }

        /** Shows what the state says. */
        update() {
                if (THEMES.includes(this.viewer.state.colors) && this.viewer.state.colors !== this.theme) {
                        this.setTheme(this.viewer.state.colors);
                }
                this.updateHead();
                this.updateRange();
                this.updateWarnings();
                if (document.activeElement !== this.search) {
                        this.search.value = this.viewer.state.text || '';
                }
                const all = this.tabbed();
                const wanted = all.find((screen) => screen.id === this.viewer.state.screen) || all[0];
                if (wanted) {
                        this.showScreen(wanted);
                }
        }

        updateHead() {
                const { model } = this.viewer;
                this.title.textContent = model.title || 'hyprof';
                document.title = (model.title ? model.title + ' - ' : '') + 'hyprof';
                const { document: facts } = model;
                const parts = [facts.host, formatDuration(model.duration_ns), model.events.join(', '),
                        formatPlural(model.threads.length, 'thread')];
                if (model.isLive) {
                        parts.push(this.viewer.following === 'paused' ? 'recording, paused here' : 'recording');
                }
                if (model.progress < 1) {
                        parts.push('reading the trace: ' + Math.floor(model.progress * 100) + '%');
                }
                this.facts.textContent = parts.filter(Boolean).join('  ·  ');
                this.facts.classList.toggle('is-reading', model.progress < 1);
        }

        updateRange() {
                for (const [following, one] of this.liveButtons)
                        setAttributes(one, { 'aria-pressed': String(this.viewer.following === following) });
                const { from, to, isAll, isSelected } = this.viewer.range();
                if (!isSelected) {
                        fill(this.rangeWords, el('span', { class: 'muted' }, isAll ? 'whole recording'
                                : 'all screens: ' + formatDuration(to - from) + ' until ' + formatTime(to, 1e8)));
                        return;
                }
                const step = (to - from) / 1000;
                fill(this.rangeWords,
                        el('span', { class: 'range', title: 'All screens show this time range' },
                                formatTime(from, step), ' to ', formatTime(to, step),
                                        el('b', null, formatDuration(to - from))),
                        button('Show', () => this.viewer.goToTime(from, to), { class: 'quiet', 'aria-label':
                                'Show the selected range on the timeline' }),
                        button('Clear', () => this.viewer.select(), { class: 'quiet',
                                'aria-label': 'Clear the selected range',
                                title: 'Esc' }));
        }

        /**
         * Buttons that choose which part of a running recording is shown; null if the recording is over.  They stay while the
         * recording grows: one that is replaced under a pressed mouse button is not clicked, and loses the focus.
         */
        makeLiveButtons() {
                if (!this.viewer.model.isLive) {
                        return null;
                }
                /** @type {['last' | 'all' | 'paused', string, string][]} */
                const choices = [['last', 'Last 10 s', 'Follow: show the last 10 seconds'],
                        ['all', 'All', 'Follow: show all that has arrived'],
                        ['paused', 'Pause', 'What is shown stays; the recording goes on']];
                for (const [following, words, title] of choices)
                        this.liveButtons.set(following, button(words, () => this.viewer.follow(following), { class: 'quiet', title }));
                return el('span', { class: 'live-buttons', role: 'group', 'aria-label': 'The recording is running' },
                        ...this.liveButtons.values());
        }

        updateWarnings() {
                const { model } = this.viewer;
                const dropped = model.file ? model.file.dropped : [];
                const texts = [...model.warnings, ...dropped];
                const key = texts.join('\n');
                if (this.warnings.dataset.key === key) {
                        return;
                }
                this.warnings.dataset.key = key;
                fill(this.warnings);
                if (texts.length) {
                        this.warnings.appendChild(el('details', { open: texts.length === 1 },
                                el('summary', null, texts.length === 1
                                        ? 'Warning' : formatPlural(texts.length, 'warning')),
                                el('ul', null, texts.map((text) => el('li', null, text)))));
                }
        }

        /** @param {string} text */
        addWarning(text) {
                if ([...this.warnings.querySelectorAll('.failure')].some((one) => one.textContent === text)) {
                        return;
                }
                this.warnings.appendChild(el('p', { role: 'alert', class: 'failure' }, text));
        }

        /** @param {ScreenClass} wanted */
        showScreen(wanted) {
                let screen = this.made.get(wanted.id);
                if (!screen) {
                        screen = new wanted(this.viewer);
                        screen.element.id = 'screen-' + wanted.id;
                        screen.element.setAttribute('role', 'tabpanel');
                        screen.element.setAttribute('aria-labelledby', 'tab-' + wanted.id);
                        this.made.set(wanted.id, screen);
                        this.main.appendChild(screen.element);
                }
                if (this.shownId !== wanted.id) {
                        if (this.shown && this.shown.hide) {
                                this.shown.hide();
                        }
                        for (const [id, other] of this.made) {
                                other.element.hidden = id !== wanted.id;
                        }
                        for (const [id, tab] of this.tabs) {
                                const isShown = id === wanted.id;
                                setAttributes(tab, { 'aria-selected': String(isShown), tabindex: isShown
                                        ? '0' : '-1' });
                        }
                        fill(this.searchHits);
                        this.showFound(null);
                }
                this.shown = screen;
                this.shownId = wanted.id;
                screen.show(this.viewer.state);
        }

        onSearch() {
                this.viewer.set({ text: this.search.value });
        }

        /** @param {KeyboardEvent} event */
        onSearchKey(event) {
                if (event.key === 'Escape') {
                        this.search.value = '';
                        this.viewer.set({ text: null });
                        this.focusScreen();
                        event.stopPropagation();
                } else if (event.key === 'Enter') {
                        this.viewer.emit('search', event.shiftKey ? 'previous' : 'next');
                        event.preventDefault();
                } else if (event.key === 'ArrowDown' && !this.found.hidden) {
                        this.found.querySelector('button')?.focus();
                        event.preventDefault();
                }
        }

        /**
         * The list below the search box, while the box or the list has the focus; null = none.
         * @param {Node[] | null} list
         */
        showFound(list) {
                this.found.hidden = !list || list.length === 0;
                if (this.found.contains(document.activeElement)) {
                        this.search.focus();
                }
                fill(this.found, list || []);
        }

        /** @param {KeyboardEvent} event */
        onFoundKey(event) {
                const entries = [...this.found.querySelectorAll('button')];
                const at = entries.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
                if (event.key === 'Escape' || (event.key === 'ArrowUp' && at === 0)) {
                        this.search.focus();
                } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
                        entries[at + (event.key === 'ArrowDown' ? 1 : -1)]?.focus();
                } else {
                        return;
                }
                event.preventDefault();
                event.stopPropagation();
        }

        focusScreen() {
                this.search.blur();
                if (this.shown && this.shown.focus) {
                        this.shown.focus();
                }
        }

        /** @param {KeyboardEvent} event */
        onKey(event) {
                if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey
                        || isTextField(event.target)
                        || /** @type {HTMLDialogElement} */ (this.help).open) {
                        return;
                }
                if (this.shown && this.shown.onKey && this.shown.onKey(event)) {
                        event.preventDefault();
                } else if (this.onOwnKey(event)) {
                        event.preventDefault();
                }
        }

        /**
         * @param {KeyboardEvent} event
         * @returns {boolean}
         */
        onOwnKey(event) {
                if (event.key === '/') {
                        this.search.focus();
                        this.search.select();
                } else if (event.key === '?') {
                        this.showHelp();
                } else if (event.key === 'Escape') {
                        this.viewer.select();
                } else if (/^[1-9]$/.test(event.key) && this.tabbed()[Number(event.key) - 1]) {
                        this.viewer.go(this.tabbed()[Number(event.key) - 1].id);
                } else {
                        const byKey = this.tabbed().find((screen) => screen.key && event.shiftKey
                                && screen.key.toUpperCase() === event.key);
                        if (!byKey) {
                                return false;
                        }
                        this.viewer.go(byKey.id);
                }
                return true;
        }

        nextTheme() {
                const theme = THEMES[(THEMES.indexOf(this.theme) + 1) % THEMES.length];
                this.setTheme(theme);
                this.viewer.set({ colors: theme });
                this.viewer.remember('theme', theme);
        }

        /** @param {string} theme */
        setTheme(theme) {
                const known = THEMES.includes(theme) ? theme : 'system';
                this.theme = known;
                showTheme(known);
                const signs = /** @type {Record<string, string>} */ ({ system: '◐', light: '☀', dark: '☾' });
                this.themeButton.textContent = signs[known];
                setAttributes(this.themeButton, { title: 'Colours: ' + known, 'aria-label': 'Colours: ' + known });
                this.viewer.emit('theme', known);
        }

        makeHelp() {
                const rows = KEY_HELP.map(([keys, what]) => el('tr', null, el('th', { scope: 'row' },
                        keys.split(' ').map((key) => el('kbd', null, key))), el('td', null, what)));
                return el('dialog', { class: 'help', 'aria-label': 'Keys, colors and marks' }, el('h2', null, 'Keys'),
                        el('table', null, el('tbody', null, rows)), el('h2', null, 'Colors and marks of the timeline'), legendTable(),
                        el('form', { method: 'dialog' }, el('button', { class: 'quiet' }, 'Close')));
        }

        showHelp() {
                /** @type {HTMLDialogElement} */ (this.help).showModal();
                /* The focus is on the button at its end. */
                this.help.scrollTop = 0;
        }
}

/** Keys and what they do, for the help; screens add theirs. */
const KEY_HELP = [
        ['1 … 9', 'show a screen; or Shift and its letter'],
        ['/', 'search'],
        ['Enter', 'in the search box: the next hit; with Shift, the one before; ↓ goes to the list of names'],
        ['Esc', 'end the search; clear the selected time range'],
        ['Tab', 'the next thing that takes keys'],
        ['W S + −', 'timeline: zoom in and out; so do the wheel, a pinch on a trackpad and two fingers'],
        ['A D', 'timeline: move; so does a drag'],
        ['← → ↑ ↓', 'timeline: to the next item or lane; in tables and flame graphs, to the next row or function'],
        ['M', 'timeline: measure by a drag'],
        ['Shift', 'timeline: with a drag, select a range of time for all screens'],
        ['G', 'timeline: ghost zones'],
        ['U', 'timeline: arrows of wake-ups and flows'],
        ['P', 'timeline: who delayed the chosen zone? Esc leaves it'],
        ['B', 'timeline: a note on the chosen item, else on the selected range'],
        ['n N', 'timeline: the next hit of the search, the one before'],
        ['F', 'timeline: show the chosen item; Home shows all'],
        ['?', 'this help'],
];
