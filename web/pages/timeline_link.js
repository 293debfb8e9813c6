// SPDX-License-Identifier: MIT
/*
 * timeline_link.js - the part of the address that says what the timeline shows beside its time: the chosen item, ghost
 * zones (of all threads, or of some), idle tracks, pins, folded rows, their order
 *
 * Way of the data:  TimelineChoice, TimelineHit <-> [timeline_link] <-> ViewState
 *
 * "rows" has one word for each choice, with a dot between them: "g" ghost zones, "n" not even those that are shown by
 * themselves (ghost_lanes.js), "i" idle tracks, "w" arrows of wake-ups,
 * "xthread-3" ghost zones of a track the other way round, "pthread-3" a pin, "fprocess-1" a folded row, or an open one if
 * there is "F": all are folded; "e" without tracks that have nothing in the view, "mcpu-2-5_5" a moved track; "f~lanes%3A1"
 * a row of a device; "0" is none of these.  "item" is the lane and the begin.
 */

import { recallTracks } from './timeline_labels.js';
import { openTrack } from './timeline_rows.js';

/**
 * @typedef {import('./screen_timeline.js').TimelineScreen} TimelineScreen
 * @typedef {import('./timeline_hits.js').TimelineHit} TimelineHit
 * @typedef {import('./timeline_rows.js').TimelineChoice} TimelineChoice
 * @typedef {import('./viewer.js').ViewState} ViewState
 */

/** Addresses stay short enough to be pasted: what has more rows is left to what the viewer remembers. */
const LINK_WORDS_MAX = 300;

/** @param {string} key "thread:3", or that of a row of a device, which has names in it */
function wordOfKey(key) {
        const whole = key.replace(/\p{Surrogate}/gu, '\ufffd'); // half a character has no form in an address

        return /^[a-z_]{1,16}:\d{1,12}$/.test(key) ? key.replace(':', '-') : `~${encodeURIComponent(whole).replaceAll('.', '%2E')}`;
}

/** @param {string} word "thread-3", or "~" and a key with %XX in it */
function keyOfWord(word) {
        if (/^[a-z_]{1,16}-\d{1,12}$/.test(word))
                return word.replace('-', ':');
        try {
                return word[0] === '~' ? decodeURIComponent(word.slice(1)) : null;
        } catch {
                return null;
        }
}

/**
 * The choice as words; undefined if there are too many.
 * @param {TimelineChoice} choice
 */
export function rowsOfChoice(choice) {
        const words = [...(choice.showsGhosts ? ['g'] : []), ...(choice.hidesGhosts ? ['n'] : []), ...(choice.showsIdle ? ['i'] : []),
                       ...(choice.showsWakes ? ['w'] : []), ...(choice.isFolded ? ['F'] : []), ...(choice.hidesEmpty ? ['e'] : []),
                       ...[...choice.ghosts].map((key) => `x${wordOfKey(key)}`),
                       ...choice.pinned.map((key) => `p${wordOfKey(key)}`), ...[...choice.closed].map((key) => `f${wordOfKey(key)}`),
                       ...[...choice.moved].map(([key, place]) => `m${wordOfKey(key)}-${String(place).replace('.', '_')}`)];

        return words.length > LINK_WORDS_MAX ? undefined : words.join('.') || '0';
}

/**
 * Makes a choice as the words say; words of another form are passed over.
 * @param {TimelineChoice} choice
 * @param {string} rows
 */
export function choiceOfRows(choice, rows) {
        const words = rows.split('.').slice(0, LINK_WORDS_MAX);
        /** @param {string} letter */
        const keysOf = (letter) => words.filter((word) => word[0] === letter).flatMap((word) => keyOfWord(word.slice(1)) ?? []);

        choice.showsGhosts = words.includes('g');
        choice.hidesGhosts = words.includes('n');
        choice.showsIdle = words.includes('i');
        choice.showsWakes = words.includes('w');
        choice.isFolded = words.includes('F');
        choice.hidesEmpty = words.includes('e');
        choice.pinned = [...new Set(keysOf('p'))];
        choice.ghosts = new Set(keysOf('x'));
        choice.closed = new Set(keysOf('f'));
        choice.moved = new Map(words.flatMap((word) => {
                const parts = /^m([a-z_]{1,16}-\d{1,12})-(\d{1,12}(?:_\d{1,12})?)$/.exec(word);

                return parts ? [[parts[1].replace('-', ':'), Number(parts[2].replace('_', '.'))]] : [];
        }));
}

/**
 * The chosen item, as it stands in the address; null without an item, and for sums of CPU time.
 * @param {TimelineHit|null} hit
 */
export function itemOfHit(hit) {
        return hit && hit.count > 0 && hit.lane.lane.kind !== 'cpu_time' ? `${hit.lane.lane.id}-${Math.round(hit.begin)}` : null;
}

/**
 * @param {string} item
 * @returns {{ lane: number, begin: number }|null}
 */
function placeOfItem(item) {
        const parts = /^(\d{1,10})-(\d{1,17})$/.exec(item);

        return parts ? { lane: Number(parts[1]), begin: Number(parts[2]) } : null;
}

/**
 * Tells apart what TimelineScreen.chooseAt() is asked for.
 * @param {string} handle
 * @param {number} at
 * @param {string} [path]
 */
export function keyOfInstance(handle, at, path) {
        return `${handle}@${at}@${path ?? ''}`;
}

/** Makes the timeline as the address says. */
export class TimelineLink {
        /** @param {TimelineScreen} timeline */
        constructor(timeline) {
                this.timeline = timeline;
                this.viewer = timeline.viewer;
                /** The item that the address had. @type {string|undefined} */
                this.item = undefined;
                /* A movement that the address does not have yet is given up. */
                this.viewer.on('navigation', () => {
                        clearTimeout(timeline.stateTimer);
                        timeline.stateTimer = 0;
                });
        }

        /** Pins and order as the address says, else as they were at the last visit. */
        recall() {
                recallTracks(this.viewer, this.timeline.choice);
                if (this.viewer.state.rows !== undefined)
                        choiceOfRows(this.timeline.choice, this.viewer.state.rows);
        }

        /**
         * The time that is shown, and the choice of rows.
         * @param {ViewState} state
         */
        followView(state) {
                const { timeline, viewer } = this;
                const from = viewer.number('view_from');
                const to = viewer.number('view_to');
                const isGiven = from !== null && to !== null && to > from;

                if (timeline.stateTimer === 0 && (isGiven ? !viewer.isFollowing() && !this.isView(from, to) : !viewer.model.isLive)) {
                        [timeline.from, timeline.to] = isGiven ? [from, to] : viewer.bounds();
                }
                if (state.rows !== undefined && state.rows !== rowsOfChoice(timeline.choice))
                        choiceOfRows(timeline.choice, state.rows);
        }

        /**
         * Whether the view is the one of the address, which has no margin at the ends of the recording.
         * @param {number} from
         * @param {number} to
         */
        isView(from, to) {
                const [first, last] = this.viewer.roundView(this.timeline.from, this.timeline.to);

                return first === from && last === to;
        }

        /**
         * The chosen item; the rows are there.
         * @param {ViewState} state
         */
        followItem(state) {
                const { timeline } = this;
                const before = this.item;

                this.item = state.item;
                if (state.item !== undefined)
                        this.chooseItem(state.item);
                else if (state.at_thread !== undefined && state.at !== undefined)
                        timeline.chooseAt(state.at_thread, Number(state.at), state.path);
                else if (state.path === undefined && before !== undefined && before === itemOfHit(timeline.chosen))
                        timeline.choose(null);
        }

        /** @param {string} item */
        async chooseItem(item) {
                const { timeline, viewer } = this;
                const place = placeOfItem(item);

                if (!place || item === itemOfHit(timeline.chosen) || timeline.askedFor === item)
                        return;
                timeline.askedFor = item;
                const found = await viewer.source.find([place.lane], place.begin - 1, 'next').catch(() => null);

                timeline.askedFor = '';
                const known = viewer.model.lanesById.get(place.lane);

                if (!known || !found || found.begin_ns !== place.begin || viewer.state.item !== item)
                        return;
                openTrack(timeline.choice, known.track, known.lane.kind);
                timeline.arrange();
                timeline.chooseFound(place.lane, found);
        }
}
