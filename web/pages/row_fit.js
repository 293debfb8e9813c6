// SPDX-License-Identifier: MIT
/*
 * row_fit.js - rows as high as they have room in the window, within a bound
 *
 * Way of the data:  the height of the window, timeline_rows -> [row_fit] -> screen_timeline
 */

import { AXIS_PX } from './timeline_paint.js';
import { timelineRows } from './timeline_rows.js';

/**
 * @typedef {import('./model.js').TraceModel} TraceModel
 * @typedef {import('./screen_timeline.js').TimelineScreen} TimelineScreen
 * @typedef {import('./timeline_rows.js').TimelineChoice} TimelineChoice
 */

/** How many times as high lanes become, at most, and the steps in which they do. */
const GROWTH_MOST = 2;
const GROWTH_STEPS = 4;
/** The room that stays free below rows that grow: lines above them may come later. */
const FREE_PX = 48;

/**
 * fittedRows() - all rows; of a trace that still comes in none grows, since they would shrink below the pointer
 * @param {TraceModel} model
 * @param {TimelineChoice} choice
 * @param {number} room  pixels
 */
export function fittedRows(model, choice, room) {
        const least = timelineRows(model, { ...choice, growth: 1 });

        if (least.height >= room || model.isLive || model.progress < 1)
                return least;
        const most = timelineRows(model, { ...choice, growth: GROWTH_MOST });
        const steps = Math.floor((room - least.height) / Math.max(1, most.height - least.height) * GROWTH_STEPS);

        return steps >= GROWTH_STEPS ? most
                : timelineRows(model, { ...choice, growth: 1 + (GROWTH_MOST - 1) * steps / GROWTH_STEPS });
}

export class RowFit {
        /** @param {TimelineScreen} timeline */
        constructor(timeline) {
                this.timeline = timeline;
                /** The room that rows may grow into, and the height of the window at that time. */
                this.room = 0;
                this.windowTall = 0;
                /* Before the page is shown: a stretched picture would not stand beside its names. */
                new ResizeObserver(() => this.follow()).observe(timeline.scroll);
        }

        /** Rows grow with the window, but not as a panel opens or a line above them comes: they would move below the pointer. */
        follow() {
                if (this.measure())
                        this.timeline.arrange();
                this.timeline.drawNow();
        }

        /** Whether there is another room now. */
        measure() {
                const room = this.timeline.scroll.clientHeight - AXIS_PX - FREE_PX;
                const isNew = room > 0 && (this.room === 0 || this.windowTall !== window.innerHeight);

                if (isNew) {
                        this.room = room;
                        this.windowTall = window.innerHeight;
                }
                return isNew;
        }

        rows() {
                if (this.room === 0)
                        this.measure();
                return fittedRows(this.timeline.viewer.model, this.timeline.choice, this.room);
        }
}
