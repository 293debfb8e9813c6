// SPDX-License-Identifier: MIT
/*
 * ghost_switch.js - ghost zones of all threads, of none, or those that are shown by themselves; the viewer remembers it
 *
 * Way of the data:  a person -> [ghost_switch] -> TimelineChoice -> timeline_rows
 */

import { button, setAttributes } from './dom.js';
import { someGhosts } from './ghost_lanes.js';

/**
 * @typedef {import('./screen_timeline.js').TimelineScreen} TimelineScreen
 * @typedef {import('./viewer.js').Viewer} Viewer
 */

/** The words that the viewer keeps for its user: "0" is as the recording needs it. */
const [ALL, NONE, AS_NEEDED] = ['1', 'none', '0'];

/** @param {Viewer} viewer */
export function recallGhosts(viewer) {
        const kept = viewer.source.recall('ghosts');

        return { showsGhosts: kept === ALL, hidesGhosts: kept === NONE };
}

export class GhostSwitch {
        /** @param {TimelineScreen} timeline */
        constructor(timeline) {
                this.timeline = timeline;
                this.button = button('', () => this.toggle());
        }

        say() {
                const { showsGhosts, hidesGhosts } = this.timeline.choice;
                const isSome = !showsGhosts && !hidesGhosts && someGhosts(this.timeline.viewer.model).size > 0;

                this.button.textContent = isSome ? 'Ghost zones: some' : 'Ghost zones';
                setAttributes(this.button, { 'aria-pressed': isSome ? 'mixed' : String(showsGhosts),
                        title: isSome ? 'functions of the samples, as zones, of the busiest threads: the recording has no zones; a click ' +
                                'shows all (G)' : 'functions of the samples, as zones (G)' });
        }

        /** All threads show them, then no thread; where some are shown by themselves, these come after that. */
        toggle() {
                const { choice, viewer } = this.timeline;
                const hasSome = someGhosts(viewer.model).size > 0;
                const isBack = hasSome && choice.hidesGhosts && !choice.showsGhosts;

                choice.hidesGhosts = hasSome && choice.showsGhosts;
                choice.showsGhosts = !choice.showsGhosts && !isBack;
                choice.ghosts.clear();
                viewer.remember('ghosts', choice.showsGhosts ? ALL : choice.hidesGhosts ? NONE : AS_NEEDED);
                viewer.announce(choice.showsGhosts ? 'ghost zones shown' : isBack ? 'some ghost zones shown' : 'ghost zones hidden');
                this.timeline.keepChoice();
        }
}
