// SPDX-License-Identifier: MIT
/*
 * wait_tip.js - what a thread waited for, in the tooltip: asked when the pointer has rested, given up when it moves on
 *
 * Way of the data:  screen_timeline: the item under the pointer -> [wait_tip] -> wait_facts -> the tooltip
 */

import { STATE_RUNNING, STATE_WAITING } from './model.js';
import { tipOfFacts } from './wait_facts.js';

/**
 * @typedef {import('./lane_cache.js').LaneCache} LaneCache
 * @typedef {import('./timeline_hits.js').TimelineHit} TimelineHit
 * @typedef {import('./viewer.js').Viewer} Viewer
 * @typedef {import('./wait_facts.js').WaitQuestions} WaitQuestions
 */

const REST_MS = 250;

export class WaitTip {
        /** @param {Viewer} viewer @param {WaitQuestions} waits @param {LaneCache} cache */
        constructor(viewer, waits, cache) {
                this.viewer = viewer;
                this.waits = waits;
                this.cache = cache;
                this.timer = 0;
                /** @type {AbortController|null} */
                this.running = null;
                /** The item that was asked about last, and what is known of it. */
                this.key = '';
                /** @type {string[]} */
                this.words = [];
                /** @type {(words: string[]) => void} */
                this.later = () => {};
        }

        /**
         * @param {TimelineHit|null} hit  null: the pointer is on no item
         * @param {(words: string[]) => void} later  called if it still is on that item
         */
        follow(hit, later) {
                const key = hit && this.isWait(hit) ? `${hit.lane.lane.id}-${hit.begin}` : '';

                this.later = later;
                if (key === this.key) {
                        if (this.words.length > 0)
                                later(this.words);
                        return;
                }
                clearTimeout(this.timer);
                this.running?.abort();
                this.key = key;
                this.words = [];
                if (!hit || key === '')
                        return;
                const running = this.running = new AbortController();

                this.timer = window.setTimeout(() => this.ask(hit, running), REST_MS);
        }

        /** @param {TimelineHit} hit @param {AbortController} running */
        async ask(hit, running) {
                const facts = await this.waits.ask(hit, running.signal).catch(() => null);
                const words = facts ? tipOfFacts(this.viewer, facts) : [];

                if (this.running !== running || running.signal.aborted)
                        return;
                this.words = words;
                if (words.length > 0)
                        this.later(words);
        }

        /** @param {TimelineHit} hit */
        isWait(hit) {
                const { kind } = hit.lane.lane;

                return hit.count === 1 && ((kind === 'states' && hit.what >>> 28 !== STATE_RUNNING) ||
                                           (kind === 'zones' && this.hasWaited(hit)));
        }

        /**
         * Whether the states that are at hand have a wait in a zone: no command is started for others.
         * @param {TimelineHit} hit
         */
        hasWaited(hit) {
                const lane = hit.lane.track.lanes.find((one) => one.kind === 'states');
                const items = lane ? this.cache.covering(lane.id, hit.begin, hit.end) : null;

                for (let i = 0; items && !items.isPoints && i < items.n && items.begin[i] < hit.end; i++)
                        if (items.end[i] > hit.begin && items.what[i] >>> 28 === STATE_WAITING)
                                return true;
                return false;
        }
}
