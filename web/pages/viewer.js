// SPDX-License-Identifier: MIT
// The state of the view: flat texts in the address's fragment, so that a link shows the same again.

import { formatDuration } from './format.js';

/**
 * @typedef {import('./model.js').TraceModel} TraceModel
 * @typedef {import('./source_server.js').KeptName} KeptName
 * @typedef {import('./source_server.js').TraceSource} TraceSource
 */

/**
 * @typedef {Record<string, string>} ViewState screen, from, to (the selected range in ns), view_from, view_to (what the
 *     timeline shows), item, rows, filter, sort, paint (its choices), colors, zone, thread, function, event, text ...
 * @typedef {{readonly element: HTMLElement, show(state: ViewState): void, hide?(): void,
 *     onKey?(event: KeyboardEvent): boolean, focus?(): void}} ViewerScreen
 * @typedef {{new (viewer: Viewer): ViewerScreen, id: string, title: string, key?: string,
 *     isThere?(model: TraceModel): boolean}} ScreenClass
 */

/** A recording that is still running shows its last 10 s, unless all of it is asked for. */
const LIVE_WINDOW_NS = 10e9;

/**
 * Changes of these alone replace the entry of the browser's history; moving the view has steps of its own.  Each of two traces
 * has keys of its own: "before_item".
 */
const UNREMEMBERED_KEYS = ['view_from', 'view_to', 'text', 'rows', 'item', 'filter', 'sort', 'paint', 'colors',
        'both_from', 'both_to'];

/** @param {string} name */
function isRememberedKey(name) {
        return !UNREMEMBERED_KEYS.includes(name.replace(/^(before|after)_/, ''));
}

/** Movements that follow each other within this time are one step to go back over. */
const STEP_AFTER_MS = 1000;

/** How often the page asks for the model while the index is being built. */
const MODEL_STEP_MS = 500;

/** @param {number} ms */
export function waitFor(ms) {
        return new Promise((resolve) => setTimeout(resolve, ms));
}

export class Viewer {
        /**
         * @param {TraceSource} source
         * @param {TraceModel} model
         */
        constructor(source, model) {
                this.source = source;
                this.model = model;
                /** How a recording that runs is followed. @type {'last' | 'all' | 'paused'} */
                this.following = 'last';
                /** Before a pause. @type {'last' | 'all' | 'paused'} */
                this.followedBefore = 'last';
                /** A failure to remember is shown once. */
                this.cannotKeep = false;
                /** When the view moved last, ms. */
                this.movedAt = -Infinity;
                /** @type {ViewState} */
                this.state = Viewer.parse(location.hash);
                /** @type {Map<string, ((value: any) => void)[]>} */
                this.handlers = new Map();
                addEventListener('hashchange', () => this.readFragment());
        }

        /**
         * @param {string} fragment
         * @returns {ViewState}
         */
        static parse(fragment) {
                /** @type {ViewState} */
                const state = {};
                for (const [name, value] of new URLSearchParams(fragment.replace(/^#/, ''))) {
                        if (/^[a-z_]{1,32}$/.test(name)) {
                                state[name] = value;
                        }
                }
                return state;
        }

        /** @param {ViewState} state */
        static fragment(state) {
                const names = Object.keys(state).sort((a, b) => (a === 'screen' ? -1 : b === 'screen' ? 1 : a < b
                        ? -1 : 1));
                return '#' + names.map((name) => name + '=' + encodeURIComponent(state[name])).join('&');
        }

        readFragment() {
                if (location.hash !== Viewer.fragment(this.state)) {
                        this.state = Viewer.parse(location.hash);
                        this.movedAt = -Infinity;
                        this.clampRanges();
                        this.emit('navigation', this.state);
                        this.emit('change', this.state);
                }
        }

        /**
         * 'navigation': a person has changed the address; 'change': the state has changed; 'model': the trace was read further;
         * 'theme': the colors have changed; 'settle': a movement of the view that has ended, but waits for another one, is put
         * into the address.
         * @param {string} event
         * @param {(value: any) => void} handler
         */
        on(event, handler) {
                this.handlers.set(event, [...(this.handlers.get(event) || []), handler]);
        }

        /**
         * @param {string} event
         * @param {any} value
         */
        emit(event, value) {
                for (const handler of this.handlers.get(event) || []) {
                        handler(value);
                }
        }

        /** Updates what is shown while the index is being built. */
        async followModel() {
                while (this.model.progress < 1) {
                        await waitFor(MODEL_STEP_MS);
                        try {
                                this.model = await this.source.model();
                                this.emit('model', this.model);
                        } catch (error) {
                                this.emit('failure', error);
                                return;
                        }
                }
        }

        /**
         * @param {Record<string, string | number | boolean | null | undefined>} changes null or undefined takes away
         * @returns {ViewState}
         */
        changed(changes) {
                const state = Object.assign({}, this.state);
                // An item that is named otherwise is another one.
                if (changes.at) {
                        delete state.item;
                }
                for (const [name, value] of Object.entries(changes)) {
                        if (value === undefined || value === null || value === '' || value === false) {
                                delete state[name];
                        } else {
                                state[name] = value === true ? '1' : String(value);
                        }
                }
                return state;
        }

        /**
         * Changes the state, the address, and what is shown.
         * @param {Record<string, string | number | boolean | null | undefined>} changes
         * @param {boolean} [isStep]  back over which the browser's history leads, whatever changes
         */
        set(changes, isStep) {
                // Later it would be a step of its own, after this one.
                if (Object.keys(changes).some(isRememberedKey)) {
                        this.emit('settle', null);
                }
                const state = this.changed(changes);
                const fragment = Viewer.fragment(state);
                if (fragment === Viewer.fragment(this.state)) {
                        return;
                }
                const isRemembered = isStep || Object.keys(changes).some((name) => isRememberedKey(name)
                        && state[name] !== this.state[name]);
                this.state = state;
                if (isRemembered) {
                        history.pushState(null, '', fragment);
                } else {
                        history.replaceState(null, '', fragment);
                }
                this.emit('change', state);
        }

        /**
         * Puts what the page chose by itself, as it began, into the address; no screen is told.
         * @param {Record<string, string>} choices
         */
        begin(choices) {
                this.state = this.changed(choices);
                history.replaceState(null, '', Viewer.fragment(this.state));
        }

        /**
         * The view has moved: Back leads to where it was before.
         * @param {number} from
         * @param {number} to
         */
        moveView(from, to) {
                const now = performance.now();
                const isStep = now - this.movedAt > STEP_AFTER_MS;
                this.movedAt = now;
                const [first, last] = this.roundView(from, to);
                this.set({ view_from: first, view_to: last }, isStep);
        }

        /**
         * A view as the address has it: without a margin at the ends.
         * @param {number} from
         * @param {number} to
         */
        roundView(from, to) {
                const [begin, end] = this.bounds();
                return [Math.max(begin, Math.floor(from)), Math.min(end, Math.ceil(to))];
        }

        /**
         * Within which the timeline moves.
         * @returns {[number, number]} ns
         */
        bounds() {
                return [0, this.model.duration_ns];
        }

        /** Ranges of the address that are not within the recording are cut to it, with a sentence. */
        clampRanges() {
                if (this.model.isLive || this.model.progress < 1) {
                        return;
                }
                let isCut = false;
                for (const [first, last] of [['view_from', 'view_to'], ['from', 'to']]) {
                        const range = [first, last].map((name) => this.state[name]);
                        if (range[0] === undefined && range[1] === undefined) {
                                continue;
                        }
                        const ends = range.map((text) => text === undefined ? NaN : Number(text));
                        const [from, to] = ends.map((ns) => Math.max(0, Math.min(this.model.duration_ns, ns)));
                        if (from === ends[0] && to === ends[1] && to > from) {
                                continue;
                        }
                        isCut = true;
                        delete this.state[first];
                        delete this.state[last];
                        if (to - from >= 1) {
                                Object.assign(this.state, { [first]: String(Math.round(from)), [last]: String(Math.round(to)) });
                        }
                }
                if (isCut) {
                        history.replaceState(null, '', Viewer.fragment(this.state));
                        this.emit('failure', new Error('the address has a time range that is not within this recording of ' +
                                formatDuration(this.model.duration_ns) + ': the part within it is shown, or all'));
                }
        }

        /**
         * Shows a screen.
         * @param {string} screen
         * @param {Record<string, string | number | boolean | null | undefined>} [changes]
         */
        go(screen, changes) {
                this.set(Object.assign({ screen }, changes || {}));
        }

        /**
         * The fragment of a link that makes these changes.
         * @param {Record<string, string | number | boolean | null | undefined>} changes
         */
        link(changes) {
                return Viewer.fragment(this.changed(changes));
        }

        /**
         * Selects a time range for all screens; without one, the whole recording.
         * @param {number | null} [from] ns
         * @param {number | null} [to] ns
         */
        select(from, to) {
                if (from === null || from === undefined || to === null || to === undefined) {
                        this.set({ from: null, to: null });
                        return;
                }
                const [first, last] = [Math.min(from, to), Math.max(from, to)].map((ns) =>
                        Math.round(Math.max(0, Math.min(this.model.duration_ns, ns))));
                this.set({ from: first, to: Math.max(first + 1, last) });
        }

        /**
         * @param {string} name
         * @returns {number | null}
         */
        number(name) {
                const text = this.state[name];
                const value = text === undefined ? NaN : Number(text);
                return isFinite(value) ? value : null;
        }

        /** The selected time range; without one, unselectedRange(). */
        range() {
                const [from, to] = [this.number('from'), this.number('to')];
                if (from === null || to === null || !(to > from)) {
                        return this.unselectedRange();
                }
                const [first, last] = [Math.max(0, from), Math.min(this.model.duration_ns, to)];
                return last > first ? { from: first, to: last, isAll: false, isSelected: true } : this.unselectedRange();
        }

        /** The whole recording; its last seconds if it still runs. */
        unselectedRange() {
                const { duration_ns, isLive } = this.model;
                const shown = this.following === 'paused' ? this.followedBefore : this.following;
                const isAll = !isLive || shown === 'all' || duration_ns <= LIVE_WINDOW_NS;
                return { from: isAll ? 0 : duration_ns - LIVE_WINDOW_NS, to: duration_ns, isAll, isSelected: false };
        }

        /** The state; for a running recording with the range that is shown, so that questions change with it. */
        liveState() {
                const { from, to } = this.range();
                return this.model.isLive ? Object.assign({}, this.state, { from: String(Math.round(from)),
                        to: String(Math.round(to)) }) : this.state;
        }

        /** Whether what is shown moves with a recording that runs. */
        isFollowing() {
                return this.model.isLive && this.following !== 'paused';
        }

        /**
         * Follows a running recording, or pauses, so that the view stays as it is.
         * @param {'last' | 'all' | 'paused'} following
         */
        follow(following) {
                if (this.following === following) {
                        return;
                }
                this.followedBefore = this.following;
                this.following = following;
                this.emit('model', this.model);
        }

        /** The parameters that make a question about the selected range: {} or {from, to}. */
        rangeParameters() {
                const { from, to, isAll } = this.range();
                return isAll ? {} : { from: Math.round(from), to: Math.round(to) };
        }

        /**
         * Shows a range on the timeline, with some room beside it.
         * @param {number} from
         * @param {number} to
         * @param {Record<string, string | number | boolean | null | undefined>} [changes]
         */
        goToTime(from, to, changes) {
                const room = Math.max(20, (to - from) * 0.5);
                if (this.model.isLive) {
                        this.follow('paused');
                }
                this.set(Object.assign({ screen: 'timeline', view_from: Math.max(0, Math.round(from - room)),
                        view_to: Math.min(this.model.duration_ns, Math.round(to + room)) }, changes || {}), true);
        }

        /**
         * Keeps a setting, notes or pins for the next visit, and says so once if that does not work.
         * @param {KeptName} name
         * @param {string} value
         */
        async remember(name, value) {
                try {
                        await this.source.remember(name, value, this.model);
                } catch (error) {
                        if (!this.cannotKeep) {
                                this.cannotKeep = true;
                                this.emit('failure', new Error('not kept for the next visit: '
                                        + /** @type {Error} */ (error).message));
                        }
                }
        }

        /**
         * Says it to screen readers.
         * @param {string} text
         */
        announce(text) {
                const live = document.getElementById('live');
                if (live && live.textContent !== text) {
                        live.textContent = text;
                }
        }
}
