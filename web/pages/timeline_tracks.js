// SPDX-License-Identifier: MIT
/*
 * timeline_tracks.js - which of many tracks are shown, and in which order: a filter by name, the sort, all folded, those
 * with nothing in the view hidden
 *
 * Way of the data:  a person, ViewState -> [timeline_tracks] -> TimelineChoice -> timeline_rows
 */

import { button, el, fill, setAttributes } from './dom.js';
import { formatCount } from './format.js';

/**
 * @typedef {import('./screen_timeline.js').TimelineScreen} TimelineScreen
 * @typedef {import('./viewer.js').ViewState} ViewState
 */

/** @type {[string, string][]} */
const TRACK_SORTS = [['', 'by name'], ['cpu', 'by CPU time'], ['first', 'by first activity'], ['late', 'by time preempted']];
/** The number of a row of `hyprof report --threads` by which a sort puts threads, the greatest first. */
const SORT_NUMBERS = /** @type {{ [sort: string]: string }} */ ({ cpu: 'on_cpu_ns', late: 'preempted_ns' });

export class TimelineTracks {
        /** @param {TimelineScreen} timeline */
        constructor(timeline) {
                this.timeline = timeline;
                this.viewer = timeline.viewer;
                /** The sort whose numbers are there, or asked for. */
                this.asked = '';
                this.filter = /** @type {HTMLInputElement} */ (el('input', { type: 'search', class: 'timeline-filter',
                        placeholder: 'filter tracks, w*7', 'aria-label': 'filter tracks by name', spellcheck: 'false',
                        autocomplete: 'off', on: { input: () => this.viewer.set({ filter: this.filter.value }),
                                keydown: (/** @type {KeyboardEvent} */ event) => this.onKey(event) } }));
                this.sort = /** @type {HTMLSelectElement} */ (el('select', { 'aria-label': 'order of tracks',
                        on: { change: () => this.viewer.set({ sort: this.sort.value }) } },
                        ...TRACK_SORTS.map(([value, words]) => el('option', { value }, words))));
                this.foldButton = button('Fold all', () => this.toggleFold(), { title: 'each track as one lane, each process as one row' });
                this.emptyButton = button('Hide empty', () => this.toggleEmpty(), { title: 'tracks that have ended before the view, or ' +
                        'begin after it' });
                this.words = el('span', { class: 'muted' });
                this.element = el('span', { class: 'timeline-tracks' }, this.filter, this.sort, this.foldButton, this.emptyButton,
                                  this.words);
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

                setAttributes(this.foldButton, { 'aria-pressed': String(choice.isFolded) });
                setAttributes(this.emptyButton, { 'aria-pressed': String(choice.hidesEmpty) });
                fill(this.words, isPart ? `${formatCount(n)} of ${formatCount(this.viewer.model.tracks.length)} tracks` : '');
        }
}
