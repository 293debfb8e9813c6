// SPDX-License-Identifier: MIT
/*
 * timeline_search.js - the search of the timeline: how many hits, one after the other, a list of names to choose from
 *
 * Way of the data:  source.search(), names of tracks -> [timeline_search] -> TimelineScreen; words and list -> Shell
 *
 * A hit is an item whose name has the text, a zone that has it in the program's words about it, or a track that has it in
 * its own name: threads, plots, locks, devices.  All are in the order of time; a track stands where its first item begins,
 * before the items that begin there.
 */

import { button, el } from './dom.js';
import { formatCount, formatPlural } from './format.js';
import { NameMatches } from './name_matches.js';
import { beginOfText } from './text_width.js';
import { firstOfTrack, openTrack, titleOfTrack } from './timeline_rows.js';

/**
 * @typedef {import('./model.js').TrackOfModel} TrackOfModel
 * @typedef {import('./screen_timeline.js').TimelineScreen} TimelineScreen
 * @typedef {import('./source_server.js').FoundHit} FoundHit
 * @typedef {import('./source_server.js').OneName} OneName
 * @typedef {import('./source_server.js').SearchReply} SearchReply
 * @typedef {{ at: number, track: TrackOfModel, title: string }} TrackHit
 * @typedef {{ at: number, nTracks: number, rank: number }} HitPlace  how many of the tracks and items that begin at `at` are
 *     at or before it
 */

const COUNT_AFTER_MS = 120;
const TRACKS_LISTED_MAX = 100;
/** The server takes 1,000 bytes. */
const TEXT_MAX = 250;
/** @type {{ [kind: string]: string }} */
const WORDS_OF_KINDS = { zones: 'zone', ghosts: 'function', messages: 'message', frames: 'frame', texts: 'text',
                         thread: 'thread', cpu: 'CPU', lock: 'lock', plot: 'plot', device: 'device', memory: 'memory', counter: 'counter' };

export class TimelineSearch {
        /** @param {TimelineScreen} timeline */
        constructor(timeline) {
                this.timeline = timeline;
                this.viewer = timeline.viewer;
                this.text = '';
                /** @type {NameMatches|null} */
                this.matches = null;
                /** @type {TrackHit[]} in the order of time */
                this.tracks = [];
                /** @type {SearchReply|null} as far as known */
                this.counts = null;
                /** @type {HitPlace|null} of the hit that was shown last */
                this.place = null;
                this.number = 0;
                /** The key of the row of the track that it led to. */
                this.foundKey = '';
                /** The view that it was shown in. */
                this.view = { from: 0, to: 0 };
                this.timer = 0;
                /** The content of the list, which keeps its focus while the content stays the same. */
                this.listed = '';
                /** Replies to older questions are not shown. */
                this.nAsked = 0;
        }

        /** The text has changed, or the trace has. */
        follow() {
                const text = beginOfText(this.viewer.state.text ?? '', TEXT_MAX);

                if (text === this.text && this.listed === '' && this.counts)
                        this.say();
                if (text === this.text && this.matches?.model === this.viewer.model)
                        return;
                const isNew = text !== this.text;

                this.text = text;
                this.matches = text === '' ? null : new NameMatches(this.viewer.model, text);
                this.tracks = this.findTracks();
                if (!isNew)
                        return;
                this.counts = null;
                this.place = null;
                this.nAsked++;
                clearTimeout(this.timer);
                this.say();
                if (text !== '')
                        this.timer = window.setTimeout(() => this.count(), COUNT_AFTER_MS);
        }

        /** @returns {TrackHit[]} */
        findTracks() {
                const { matches } = this;
                const { model } = this.viewer;

                if (!matches)
                        return [];
                const hits = model.tracks.filter((track) => track.kind !== 'load').map((track) =>
                        ({ at: firstOfTrack(track), track, title: titleOfTrack(model, track) })).filter((hit) => matches.isIn(hit.title));

                return hits.sort((a, b) => a.at - b.at || a.track.id - b.track.id);
        }

        /** Counts the hits, before anyone goes to one. */
        async count() {
                const asked = this.nAsked;

                try {
                        const reply = await this.viewer.source.search({ text: this.text, at: 0, direction: 'next', wantsCounts: true });

                        if (asked === this.nAsked && !this.counts) {
                                this.counts = reply;
                                this.say();
                        }
                } catch (error) {
                        this.viewer.emit('failure', error);
                }
        }

        /* ------------------------------------------------------------------ steps */

        /**
         * Goes to the next or previous hit; from the last one to the first.
         * @param {'next'|'previous'} direction
         */
        async step(direction) {
                if (this.text === '')
                        return;
                /* The step counts the hits itself. */
                clearTimeout(this.timer);
                const asked = ++this.nAsked;
                const from = this.placeToBegin(direction);
                const edge = { at: direction === 'next' ? 0 : this.viewer.model.duration_ns + 2, nTracks: 0, rank: 0 };

                try {
                        const isFound = await this.stepFrom(from, direction, asked) || await this.stepFrom(edge, direction, asked);

                        if (asked === this.nAsked)
                                this.timeline.note.textContent = isFound ? '' : `nothing here has "${this.text}" in its name or text`;
                } catch (error) {
                        this.viewer.emit('failure', error);
                }
        }

        /**
         * The hit shown last, if the view is still there; else the edge of the view.
         * @param {'next'|'previous'} direction
         * @returns {HitPlace}
         */
        placeToBegin(direction) {
                const { from, to } = this.timeline;
                const { place, view } = this;

                if (place && ((view.from === from && view.to === to) || (place.at >= from && place.at < to)))
                        return place;
                this.place = null;
                return { at: Math.max(0, direction === 'next' ? from : to), nTracks: 0, rank: 0 };
        }

        /**
         * @param {HitPlace} from
         * @param {'next'|'previous'} direction
         * @param {number} asked
         * @returns {Promise<boolean>} whether there is one
         */
        async stepFrom(from, direction, asked) {
                const isNext = direction === 'next';
                const at = Math.ceil(from.at);
                /* Nor is the number of a hit known that was left before it was counted. */
                const isCounted = !this.counts || this.number === 0 || this.viewer.model.isLive || from !== this.place;
                const question = { text: this.text, at, rank: from.rank, direction };
                const { found } = await this.viewer.source.search({ ...question, wantsCounts: false });
                const track = isNext ? this.trackAfter({ ...from, at }) : this.trackBefore({ ...from, at });
                const isTrack = track && (!found || (isNext ? track.at <= found.begin_ns : track.at > found.begin_ns));

                if (asked !== this.nAsked)
                        return true;
                /* The hits of a large trace take a while to count: the hit is shown before that. */
                this.number = isCounted ? 0 : this.number + (isNext ? 1 : -1);
                if (isTrack)
                        this.showTrack(track);
                else if (found)
                        await this.showItem(found);
                if (isCounted) {
                        const reply = await this.viewer.source.search({ ...question, wantsCounts: true });

                        if (asked !== this.nAsked)
                                return true;
                        this.counts = reply;
                        if (isTrack)
                                this.number = this.numberOf(this.placeOfTrack(track), itemsBefore(reply, isNext));
                        else if (found)
                                this.number = this.numberOf(this.placeOfItem(found), reply.n_before ?? 0);
                        this.say();
                }
                if (isTrack)
                        this.viewer.announce(`${track.title}, ${this.words()}`);
                return Boolean(track || found);
        }

        /** @param {FoundHit} found @returns {HitPlace} */
        placeOfItem(found) {
                return { at: found.begin_ns, nTracks: this.tracks.filter((one) => one.at === found.begin_ns).length, rank: found.rank };
        }

        /** @param {TrackHit} hit @returns {HitPlace} */
        placeOfTrack(hit) {
                return { at: hit.at, nTracks: this.tracks.filter((one) => one.at === hit.at).indexOf(hit) + 1, rank: 0 };
        }

        /** @param {HitPlace} from */
        trackAfter({ at, nTracks, rank }) {
                const here = rank === 0 ? this.tracks.filter((one) => one.at === at).slice(nTracks) : [];

                return here[0] ?? this.tracks.find((one) => one.at > at);
        }

        /** @param {HitPlace} from */
        trackBefore({ at, nTracks, rank }) {
                if (rank > 1)
                        return undefined;
                const before = this.tracks.filter((one) => one.at < at);
                const here = this.tracks.filter((one) => one.at === at).slice(0, rank === 1 ? undefined : Math.max(0, nTracks - 1));

                return [...before, ...here].pop();
        }

        /** @param {HitPlace} place @param {number} nBefore items */
        numberOf(place, nBefore) {
                return nBefore + this.tracks.filter((one) => one.at < place.at).length + place.nTracks + place.rank;
        }

        /** @param {FoundHit} found */
        async showItem(found) {
                await this.goToItem(found);
                this.isShown(this.placeOfItem(found));
        }

        /** @param {FoundHit} found */
        async goToItem(found) {
                const { timeline } = this;
                let place = this.viewer.model.lanesById.get(found.lane);

                if (place?.lane.kind === 'texts') {
                        const { track, lane: { depth } } = place;
                        const lane = track.lanes.find((one) => one.kind === 'zones' && one.depth === depth);
                        const asked = this.nAsked;
                        const zone = lane ? await this.viewer.source.find([lane.id], found.begin_ns - 1, 'next') : null;

                        if (!lane || !zone || asked !== this.nAsked)
                                return;
                        place = { track, lane };
                        found = { ...found, ...zone, lane: lane.id };
                }
                if (!place)
                        return;
                openTrack(timeline.choice, place.track, place.lane.kind);
                this.foundKey = '';
                timeline.keepChoice();
                timeline.chooseFound(place.lane.id, found);
                if (timeline.chosen)
                        timeline.reveal(timeline.chosen.lane, timeline.chosen);
        }

        /**
         * Brings a track into sight, and a time at which it has something.
         * @param {TrackOfModel} track
         */
        goToTrack(track) {
                const { timeline } = this;
                const first = firstOfTrack(track);
                const last = Math.max(first, ...track.lanes.map((lane) => lane.last_ns ?? 0));
                const length = timeline.to - timeline.from;

                openTrack(timeline.choice, track);
                timeline.choose(null);
                timeline.keepChoice();
                const row = timeline.layout.rows.find((one) => one.track === track);

                this.foundKey = row ? row.key : '';
                if (row)
                        timeline.reveal(row);
                if (last < timeline.from || first > timeline.to)
                        timeline.showRange(first - length * 0.1, first + length * 0.9);
        }

        /** @param {TrackHit} hit */
        showTrack(hit) {
                this.goToTrack(hit.track);
                this.isShown(this.placeOfTrack(hit));
        }

        /** @param {HitPlace} place */
        isShown(place) {
                this.place = place;
                this.view = { from: this.timeline.from, to: this.timeline.to };
                this.say();
        }

        /* ------------------------------------------------------------------ words and list */

        /** "3 of 214" */
        words() {
                if (!this.counts)
                        return '';
                const n = (this.counts.n_hits ?? 0) + this.tracks.length;
                const least = this.counts.is_least ? 'at least ' : '';

                return this.place && this.number > 0 ? `${formatCount(this.number)} of ${least}${formatCount(n)}` : n === 0 ? 'no hits'
                        : least + formatPlural(n, 'hit');
        }

        /** Shows the words and the list, if the timeline is what is shown. */
        async say() {
                if (this.timeline.element.hidden)
                        return;
                const asked = this.nAsked;
                const { counts } = this;

                this.viewer.emit('hits', this.words());
                const names = counts?.names ?? [];
                const listed = counts ? JSON.stringify([this.text, names, this.tracks.map((one) => one.title)]) : '';

                if (listed === this.listed)
                        return;
                if (!counts) {
                        this.listed = '';
                        this.viewer.emit('found', null);
                        return;
                }
                const textOf = await this.readTexts(names);

                if (asked !== this.nAsked || counts !== this.counts)
                        return;
                this.listed = listed;
                this.viewer.emit('found', this.list(names, textOf));
        }

        /**
         * The names that are not in the model: texts of messages and zones.
         * @param {OneName[]} names
         * @returns {Promise<(name: OneName) => string>}
         */
        async readTexts(names) {
                /** @type {Map<string, string>} */
                const texts = new Map();

                for (const kind of /** @type {('messages'|'texts')[]} */ (['messages', 'texts'])) {
                        const ids = names.filter((one) => one.kind === kind).map((one) => one.what);

                        (await this.viewer.source.strings(ids, kind).catch(() => [])).forEach((text, i) => texts.set(kind + ids[i], text));
                }
                return ({ kind, what }) => texts.get(kind + what) ?? this.viewer.model.nameOf(kind, what);
        }

        /**
         * @param {(OneName & { count: number })[]} names
         * @param {(name: OneName) => string} textOf
         */
        list(names, textOf) {
                const more = (this.counts?.n_names ?? 0) - names.length + Math.max(0, this.tracks.length - TRACKS_LISTED_MAX);
                const rows = this.tracks.slice(0, TRACKS_LISTED_MAX).map((hit) =>
                        this.entry(hit.title, hit.track.kind, null, () => this.chooseTrack(hit)));

                for (const { kind, what, count } of names)
                        rows.push(this.entry(textOf({ kind, what }), kind, count,
                                             () => this.chooseName({ kind, what })));
                return [...rows, ...(more > 0 ? [el('p', { class: 'muted' }, `and ${formatPlural(more, 'name')} more`)] : [])];
        }

        /**
         * @param {string} name
         * @param {string} kind
         * @param {number|null} count
         * @param {() => void} onClick
         */
        entry(name, kind, count, onClick) {
                return button([el('span', { class: 'found-name' }, name), el('span', { class: 'muted' }, WORDS_OF_KINDS[kind] ?? kind),
                               el('span', { class: 'number' }, count === null ? '' : formatCount(count))], onClick,
                              { class: 'quiet found-entry', title: name });
        }

        /** @param {TrackHit} hit */
        async chooseTrack(hit) {
                const asked = ++this.nAsked;
                const reply = await this.viewer.source.search({ text: this.text, at: hit.at, direction: 'next', wantsCounts: true });

                if (asked !== this.nAsked)
                        return;
                this.counts = reply;
                this.number = this.numberOf(this.placeOfTrack(hit), itemsBefore(reply, true));
                this.showTrack(hit);
                this.viewer.announce(`${hit.title}, ${this.words()}`);
        }

        /**
         * The next hit of one name.
         * @param {OneName} only
         */
        async chooseName(only) {
                const asked = ++this.nAsked;
                const { at } = this.placeToBegin('next');
                const { text } = this;
                /* Those that begin with the shown item are passed over. */
                const passed = this.place !== null && this.place.rank > 0 ? 2 ** 32 : 0;
                /** @param {number} from @param {number} rank */
                const ask = (from, rank) => this.viewer.source.search({ text, at: Math.ceil(from), rank, direction: 'next',
                        wantsCounts: true, only });
                let reply = await ask(at, passed);

                if (!reply.found)
                        reply = await ask(0, 0);
                if (asked !== this.nAsked || !reply.found)
                        return;
                this.counts = reply;
                this.number = this.numberOf(this.placeOfItem(reply.found), reply.n_before ?? 0);
                await this.showItem(reply.found);
        }
}

/**
 * How many items begin before a track that lies between the last hit and the found one.
 * @param {SearchReply} reply
 * @param {boolean} isNext
 */
function itemsBefore({ found, n_before, n_hits }, isNext) {
        if (!found)
                return isNext ? n_hits ?? 0 : 0;
        return (n_before ?? 0) + (isNext ? 0 : found.rank);
}
