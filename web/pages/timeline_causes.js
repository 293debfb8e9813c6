// SPDX-License-Identifier: MIT
/*
 * timeline_causes.js - asks why cores did not run the program: once for the whole recording, and for a view of it where
 * those steps are too long
 *
 * Way of the data:  screen_timeline: what is in sight -> [timeline_causes] -> source.answer('idle') -> cause_steps
 *
 * A page in one file has the answer for the whole recording.  While a recording runs, the part in sight is asked for again
 * and again, with pauses that are long against the time of an answer.
 */

import { wordsOf } from './answer_screen.js';
import { causeStepsOf } from './cause_steps.js';

/**
 * @typedef {import('./cause_steps.js').CauseSteps} CauseSteps
 * @typedef {import('./viewer.js').Viewer} Viewer
 * @typedef {CauseSteps & { from: number, to: number }} CausePart  the part that was asked for
 */

/** Longer steps are asked for anew, with shorter ones, once the view has rested. */
const STEP_PX_MAX = 6;
const REST_MS = 400;
/** The room beside the view that is asked for with it, as a part of its length. */
const MARGIN = 0.5;
/** A part that is not shorter than this part of another one has no shorter steps. */
const SHORTER = 0.7;
/** Between answers about a recording that runs: at least this, and this many times as long as the answer took. */
const LIVE_PAUSE_MS = 2000;
const LIVE_PAUSE_TIMES = 10;

export class TimelineCauses {
        /** @param {Viewer} viewer @param {() => void} onAnswer @param {Promise<void>} [ready]  nothing is asked before that */
        constructor(viewer, onAnswer, ready) {
                this.viewer = viewer;
                this.ready = ready;
                this.onAnswer = onAnswer;
                /** The steps of the whole recording. @type {CausePart|null} */
                this.whole = null;
                /** The steps of a part, which are shorter. @type {CausePart|null} */
                this.near = null;
                /** Why there are no causes; "" = there are, or they are awaited. */
                this.lack = '';
                this.isAsking = false;
                this.isWholeAsked = false;
                /** Not asked before, by performance.now(). */
                this.pausedUntil = 0;
                this.timer = 0;
                /** The part that was asked for last. */
                this.part = { from: 0, to: 0 };
        }

        /**
         * The best that is there for a view.
         * @param {number} from
         * @param {number} to
         * @returns {CauseSteps|null}
         */
        best(from, to) {
                return this.covers(this.near, from, to) ? this.near : this.whole ?? this.near;
        }

        /** @param {{ from: number, to: number }|null} part @param {number} from @param {number} to */
        covers(part, from, to) {
                return part !== null && part.from <= Math.max(0, from) && part.to >= Math.min(this.viewer.model.duration_ns, to);
        }

        /**
         * Asks for what a view lacks, now or when it has rested.
         * @param {number} from
         * @param {number} to
         * @param {number} width  in pixels
         */
        need(from, to, width) {
                const { model } = this.viewer;

                clearTimeout(this.timer);
                if (this.isAsking || model.progress < 1)
                        return;
                if (model.isLive)
                        this.needLive(from, to, width);
                else if (!this.isWholeAsked)
                        this.askWhole();
                else if (!model.file && this.lack === '' && !this.isFine(from, to, width) && !this.isAsked(from, to))
                        this.timer = window.setTimeout(() => this.askPart(from, to, MARGIN), REST_MS);
        }

        /** @param {number} from @param {number} to @param {number} width */
        needLive(from, to, width) {
                if (performance.now() >= this.pausedUntil && (this.viewer.isFollowing() ||
                                                              (!this.isFine(from, to, width) && !this.isAsked(from, to))))
                        this.askPart(from, to, this.viewer.isFollowing() ? 0 : MARGIN);
        }

        /** @param {number} from @param {number} to @param {number} width */
        isFine(from, to, width) {
                const steps = this.covers(this.near, from, to) ? this.near : this.whole;

                return steps !== null && ((steps.end[0] - steps.begin[0]) / (to - from) * width <= STEP_PX_MAX ||
                                          (to - from) * (1 + 2 * MARGIN) > (steps.to - steps.from) * SHORTER);
        }

        /**
         * Whether a part was asked for that has this view in it and is not much longer.
         * @param {number} from
         * @param {number} to
         */
        isAsked(from, to) {
                return this.covers(this.part, from, to) && this.part.to - this.part.from <= (to - from) * (1 + 2 * MARGIN) * 1.5;
        }

        async askWhole() {
                this.isWholeAsked = true;
                const steps = await this.ask({});

                if (steps)
                        this.whole = { ...steps, from: 0, to: this.viewer.model.duration_ns };
                this.onAnswer();
        }

        /** @param {number} from @param {number} to @param {number} margin */
        async askPart(from, to, margin) {
                const room = (to - from) * margin;
                const part = this.part = { from: Math.max(0, Math.floor(from - room)),
                                           to: Math.ceil(Math.min(this.viewer.model.duration_ns, to + room)) };

                if (part.to <= part.from)
                        return;
                const begin = performance.now();
                const steps = await this.ask({ from: part.from, to: part.to });

                this.pausedUntil = performance.now() + Math.max(LIVE_PAUSE_MS, LIVE_PAUSE_TIMES * (performance.now() - begin));
                if (steps)
                        this.near = { ...steps, ...part };
                this.onAnswer();
        }

        /**
         * @param {{ from?: number, to?: number }} range
         * @returns {Promise<CauseSteps|null>} null if the answer has none: then it says why
         */
        async ask(range) {
                this.isAsking = true;
                await this.ready;
                try {
                        const answer = await this.viewer.source.answer('idle', { ...range, histogram: true });
                        const steps = causeStepsOf(answer);

                        if (steps.n > 0)
                                this.lack = '';
                        else if (!this.whole && !this.near)
                                this.lack = answer.answer;
                        return steps.n > 0 ? steps : null;
                } catch (error) {
                        if (!this.whole && !this.near)
                                this.lack = `why CPUs were idle: ${wordsOf(error)}`;
                        return null;
                } finally {
                        this.isAsking = false;
                }
        }
}
