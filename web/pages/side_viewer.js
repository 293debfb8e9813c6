// SPDX-License-Identifier: MIT
/*
 * side_viewer.js - the viewer of one of two traces that are compared: its own state, which the address does not have
 *
 * Way of the data:  Viewer -> [side_viewer] -> a timeline of screen_compare
 */

import { Viewer } from './viewer.js';

/**
 * @typedef {import('./model.js').TraceModel} TraceModel
 * @typedef {import('./source_server.js').TraceSource} TraceSource
 */

export class SideViewer extends Viewer {
        /**
         * @param {TraceSource} source
         * @param {TraceModel} model
         * @param {(screen: string, changes: Record<string, any>) => void} onLeave  another screen is wanted
         */
        constructor(source, model, onLeave) {
                super(source, model);
                this.onLeave = onLeave;
                /** @type {import('./viewer.js').ViewState} */
                this.state = {};
                /** @type {[number, number]} */
                this.reach = [0, model.duration_ns];
        }

        /** The address is not about this state. */
        readFragment() {}

        /** Both recordings, on the axis of this one. */
        bounds() {
                return this.reach;
        }

        /**
         * Times before and after this recording belong to the other one.
         * @param {number} from
         * @param {number} to
         */
        moveView(from, to) {
                this.set({ view_from: Math.floor(from), view_to: Math.ceil(to) });
        }

        /** @param {Record<string, string | number | boolean | null | undefined>} changes */
        set(changes) {
                const { screen, ...rest } = changes;

                if (screen !== undefined && screen !== 'timeline') {
                        this.onLeave(String(screen), rest);
                        return;
                }
                this.state = this.changed(rest);
                this.emit('change', this.state);
        }
}
