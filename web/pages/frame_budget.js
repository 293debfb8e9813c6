// SPDX-License-Identifier: MIT
/*
 * frame_budget.js - how long a frame may last before it is late
 *
 * Way of the data:  state.budget, answer `frames` -> [frame_budget] -> timeline_paint, timeline_overview, the screen Frames
 *
 * Without a choice of the person a frame is late if it lasts more than twice as long as the median of its set.
 */

import { answerRows } from './answers.js';
import { isNumber } from './format.js';

/**
 * @typedef {import('./answers.js').Answer} Answer
 * @typedef {import('./viewer.js').Viewer} Viewer
 */

const FRAME_LATE_MEDIANS = 2;

/**
 * The name of a set in answers: that of the program's main sequence is "frames" on the timeline.
 * @param {string} title
 */
export function frameSetOf(title) {
        return title === 'frames' ? '[main]' : title;
}

export class FrameBudgets {
        /**
         * @param {Viewer} viewer
         * @param {() => void} onChange  budgets have come
         * @param {Promise<void>} [ready]  nothing is asked before that
         */
        constructor(viewer, onChange, ready) {
                this.viewer = viewer;
                this.onChange = onChange;
                this.ready = ready;
                /** @type {Map<string, number>} twice the median, by set */
                this.usual = new Map();
                this.isAsked = false;
        }

        /**
         * Longer frames are late.
         * @param {string} set  its name in answers
         * @returns {number} ns; Infinity while it is not known
         */
        of(set) {
                const chosen = this.viewer.number('budget');

                if (chosen !== null && chosen > 0)
                        return chosen;
                if (!this.isAsked && this.viewer.model.progress >= 1)
                        this.ask();
                return this.usual.get(set) ?? Infinity;
        }

        async ask() {
                this.isAsked = true;
                await this.ready;
                try {
                        this.take(await this.viewer.source.answer('frames', {}, {}));
                } catch (_) {
                        /* Without an answer no frame is late; the screen Frames says why there is none. */
                }
        }

        /** @param {Answer} answer  of the whole recording */
        take(answer) {
                this.isAsked = true;
                for (const row of answerRows(answer, 'frames'))
                        if (isNumber(row.p50_ns))
                                this.usual.set(row.name, FRAME_LATE_MEDIANS * row.p50_ns);
                this.onChange();
        }
}
