// SPDX-License-Identifier: MIT
/*
 * timeline_tracks.js - which of many tracks are shown, and in which order: a filter by name, pins for what passes it, the
 * sort, all folded, those with nothing in the view hidden
 *
 * Way of the data:  a person, ViewState -> [timeline_tracks] -> TimelineChoice -> timeline_rows
 */

import { button, el, fill, setAttributes } from './dom.js';
import { formatCount } from './format.js';
import { BUSIEST_FIRST, hasManyThreads } from './timeline_rows.js';

/**
 * @typedef {import('./screen_timeline.js').TimelineScreen} TimelineScreen
 * @typedef {import('./viewer.js').ViewState} ViewState
 */

/** The order by name in the address, where another one would be shown without a word about it. */
const BY_NAME = 'name';
/** An address has room for so many, beside what else it says. */
const PINS_MAX = 200;
/** @type {[string, string][]} */
const TRACK_SORTS = [['', 'by name'], [BUSIEST_FIRST, 'busiest first'], ['cpu', 'by CPU time'], ['first', 'by first activity'],
                     ['late', 'by time preempted']];
/** The number of a row of `hyprof report --threads` by which a sort puts threads, the greatest first. */
const SORT_NUMBERS = /** @type {{ [sort: string]: string }} */ ({ cpu: 'on_cpu_ns', late: 'preempted_ns' });

export class TimelineTracks {
        /** @param {TimelineScreen} timeline */
        constructor(timeline) {
                this.timeline = timeline;
                this.viewer = timeline.viewer;
                /** The sort whose numbers are there, or asked for. */
                this.asked = '';
                /** Whether the order is still to be chosen, as the address had none. */
                this.isNew = location.hash.length <= 1;
                this.filter = /** @type {HTMLInputElement} */ (el('input', { type: 'search', class: 'timeline-filter',
                        placeholder: 'filter tracks, w*7', 'aria-label': 'filter tracks by name', spellcheck: 'false',
                        autocomplete: 'off', on: { input: () => this.viewer.set({ filter: this.filter.value }),
                                keydown: (/** @type {KeyboardEvent} */ event) => this.onKey(event) } }));
                this.sort = /** @type {HTMLSelectElement} */ (el('select', { 'aria-label': 'order of tracks',
                        title: 'busiest first: processes and threads with the most samples',
                        on: { change: () => this.sortBy(this.sort.value) } },
                        ...TRACK_SORTS.map(([value, words]) => el('option', { value }, words))));
                this.foldButton = button('Fold all', () => this.toggleFold(), { title: 'each track as one lane, each process as one row' });
                this.emptyButton = button('Hide empty', () => this.toggleEmpty(), { title: 'tracks that have ended before the view, or ' +
                        'begin after it' });
                this.pinButton = button('', () => this.pin(), { class: 'timeline-pins' });
                this.words = el('span', { class: 'muted' });
                this.element = el('span', { class: 'timeline-tracks' }, this.filter, this.sort, this.pinButton, this.foldButton,
                                  this.emptyButton, this.words);
        }

        /** @param {KeyboardEvent} event */
        onKey(event) {
                if (event.key === 'Escape') {
                        this.viewer.set({ filter: null });
                        this.timeline.focus();
                        event.stopPropagation();
                } else if (event.key === 'Enter') {
                        const row = this.timeline.layout.rows.find((one) => one.track && !one.isPinned);

                        if (row?.track)
                                this.timeline.search.goToTrack(row.track);
                        this.timeline.focus();
                        event.preventDefault();
                }
        }

        /** Tracks that pass the filter, and are not pinned, as far as there is room for them. */
        unpinned() {
                const { choice, layout } = this.timeline;
                const rows = choice.filter === '' ? [] : layout.rows.filter((row) => row.track && !row.isPinned);

                return rows.slice(0, Math.max(0, PINS_MAX - choice.pinned.length));
        }

        /** Pins what passes the filter, and shows all again; without a filter, pins nothing any more. */
        pin() {
                const { choice } = this.timeline;

                choice.pinned = choice.filter === '' ? [] : [...choice.pinned, ...this.unpinned().map((row) => row.key)];
                this.timeline.labels.changed();
                this.viewer.set({ filter: null });
        }

        sayPins() {
                const { choice, layout } = this.timeline;
                const n = this.unpinned().length;
                const nLeft = choice.filter === '' ? 0 : layout.rows.filter((row) => row.track && !row.isPinned).length - n;

                this.pinButton.hidden = n === 0 && (choice.filter !== '' || choice.pinned.length === 0);
                this.pinButton.textContent = n > 0 ? `Pin ${formatCount(n)}` : 'Unpin all';
                this.pinButton.title = n === 0 ? `${formatCount(choice.pinned.length)} tracks are pinned` : nLeft === 0
                        ? 'puts the tracks that pass the filter on top' : `of more tracks than ${PINS_MAX} the first ones are put on top`;
        }

        toggleFold() {
                const { choice } = this.timeline;

                choice.isFolded = !choice.isFolded;
                choice.closed.clear();
                this.timeline.labels.changed();
        }

        toggleEmpty() {
                this.timeline.choice.hidesEmpty = !this.timeline.choice.hidesEmpty;
                this.timeline.keepChoice();
        }

        /** @param {string} sort */
        sortBy(sort) {
                this.isNew = false;
                this.viewer.set({ sort: sort || (hasManyThreads(this.viewer.model) ? BY_NAME : null) });
        }

        /** Puts the busiest of many threads first, once all are known; an order that a person made stays. */
        begin() {
                const { viewer, timeline } = this;

                if (!this.isNew || viewer.model.isLive || viewer.model.progress < 1)
                        return;
                this.isNew = false;
                if (timeline.choice.moved.size === 0 && hasManyThreads(viewer.model))
                        viewer.begin({ sort: BUSIEST_FIRST });
        }

        /**
         * The filter and the sort of the address.
         * @param {ViewState} state
         */
        follow(state) {
                const { choice } = this.timeline;
                const sort = TRACK_SORTS.some(([value]) => value === state.sort) ? state.sort : '';

                if (choice.filter !== (state.filter ?? ''))
                        choice.found = '';
                choice.filter = state.filter ?? '';
                if (document.activeElement !== this.filter)
                        this.filter.value = choice.filter;
                choice.sort = this.sort.value = sort;
                if (sort in SORT_NUMBERS && (this.asked !== sort || this.viewer.model.isLive))
                        this.askNumbers(sort);
        }

        /** @param {string} sort */
        async askNumbers(sort) {
                const { choice } = this.timeline;

                if (this.asked !== sort)
                        choice.numbers = new Map();
                this.asked = sort;
                try {
                        const { threads } = await this.viewer.source.answer('threads', this.viewer.model.file ? {} : { top: 0 });

                        if (this.asked !== sort)
                                return;
                        for (const row of threads.rows)
                                choice.numbers.set(row.handle, row[SORT_NUMBERS[sort]] ?? 0);
                        this.timeline.arrange();
                } catch (error) {
                        this.viewer.emit('failure', error);
                }
        }

        /** After the rows were arranged. */
        say() {
                const { choice, layout } = this.timeline;
                const isPart = choice.filter !== '' || choice.hidesEmpty;
                const n = layout.rows.filter((row) => row.track).length;

                this.sayPins();
                setAttributes(this.foldButton, { 'aria-pressed': String(choice.isFolded) });
                setAttributes(this.emptyButton, { 'aria-pressed': String(choice.hidesEmpty) });
                fill(this.words, isPart ? `${formatCount(n)} of ${formatCount(this.viewer.model.tracks.length)} tracks` : '');
        }
}
