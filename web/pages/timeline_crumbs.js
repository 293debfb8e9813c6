// SPDX-License-Identifier: MIT
/*
 * timeline_crumbs.js - the way that zooms led from the whole recording to what is shown, and back
 *
 * Way of the data:  the view, when a movement is over -> [timeline_crumbs] -> TimelineScreen.showRange()
 */

import { button, el, fill } from './dom.js';
import { formatDuration } from './format.js';

/**
 * @typedef {import('./screen_timeline.js').TimelineScreen} TimelineScreen
 * @typedef {{ from: number, to: number }} TimeRange
 * @typedef {TimeRange & { since: number }} Crumb  `since`: how long it was when it began: small steps change the last one
 */

/** Zooms by less in all make one crumb. */
const STEP_LEAST = 2;
const CRUMBS_SHOWN_MAX = 5;

/** @param {TimeRange} range */
function lengthOf({ from, to }) {
        return to - from;
}

/** @param {TimeRange} outer @param {TimeRange} inner */
function contains(outer, inner) {
        const slack = lengthOf(outer) * 0.001 + 2;

        return inner.from >= outer.from - slack && inner.to <= outer.to + slack && lengthOf(inner) < lengthOf(outer) - slack;
}

/**
 * nextCrumbs() - the ranges around a view, the outermost first and the view last
 * @param {Crumb[]} crumbs  so far
 * @param {TimeRange} view
 * @returns {Crumb[]}
 */
export function nextCrumbs(crumbs, view) {
        const last = crumbs[crumbs.length - 1];
        const around = crumbs.filter((one) => contains(one, view));
        const isSmallStep = around.length > 1 && around[around.length - 1] === last && last.since < STEP_LEAST * lengthOf(view);

        return isSmallStep ? [...around.slice(0, -1), { ...view, since: last.since }] : [...around, { ...view, since: lengthOf(view) }];
}

export class TimelineCrumbs {
        /** @param {TimelineScreen} timeline */
        constructor(timeline) {
                this.timeline = timeline;
                /** @type {Crumb[]} */
                this.crumbs = [];
                this.element = el('span', { class: 'timeline-crumbs', role: 'group', 'aria-label': 'zooms around the view' });
        }

        /** The view may have changed. */
        follow() {
                const { from, to, viewer } = this.timeline;
                const all = { from: 0, to: viewer.model.duration_ns, since: viewer.model.duration_ns };
                const view = { from: Math.max(0, from), to: Math.min(all.to, to) };
                const [first, last] = [this.crumbs[0], this.crumbs[this.crumbs.length - 1]];

                if (viewer.isFollowing() || viewer.model.progress < 1 || (last && last.from === view.from && last.to === view.to))
                        return;
                this.crumbs = contains(all, view) ? nextCrumbs(first && first.to === all.to && first.from === 0 ? this.crumbs : [all], view)
                        : [all];
                this.say();
        }

        /** "All" is a button of its own, before these. */
        say() {
                const inner = this.crumbs.slice(1);
                const shown = inner.slice(-CRUMBS_SHOWN_MAX);

                fill(this.element, [inner.length > shown.length ? ' › …' : '', ...shown.flatMap((range, i) => [' › ',
                        i === shown.length - 1 ? el('span', { class: 'muted', 'aria-current': 'true' }, formatDuration(lengthOf(range)))
                                : this.back(range)])]);
        }

        /** @param {Crumb} range */
        back(range) {
                return button(formatDuration(lengthOf(range)), () => this.timeline.showRange(range.from, range.to),
                              { class: 'link', title: `back to ${formatDuration(range.from)} to ${formatDuration(range.to)}` });
        }
}
