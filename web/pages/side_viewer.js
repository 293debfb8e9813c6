// SPDX-License-Identifier: MIT
/*
 * side_viewer.js - the viewer of one of two traces that are compared: its state is a part of the address's, under names of its
 * own
 *
 * Way of the data:  Viewer <-> [side_viewer] <-> a timeline of screen_compare
 *
 * "after_item" is the item that is chosen in the trace after.  Both show the same place, which is one view: "both_from" and
 * "both_to", on the axis of the trace after.  The searched text is that of both.
 */

import { Viewer } from './viewer.js';

/**
 * @typedef {import('./model.js').TraceModel} TraceModel
 * @typedef {import('./source_server.js').TraceSource} TraceSource
 * @typedef {import('./viewer.js').ViewState} ViewState
 */

/** @type {{ [name: string]: string }} */
const SHARED_VIEW = { view_from: 'both_from', view_to: 'both_to' };

export class SideViewer extends Viewer {
        /**
         * @param {TraceSource} source
         * @param {TraceModel} model
         * @param {Viewer} main
         * @param {'before' | 'after'} name
         * @param {(screen: string, changes: Record<string, any>) => void} onLeave  another screen is wanted
         */
        constructor(source, model, main, name, onLeave) {
                super(source, model);
                this.main = main;
                this.name = name;
                this.onLeave = onLeave;
                /** The time of this trace and this much more is that of the trace after, ns. */
                this.shift = 0;
                /** @type {[number, number]} */
                this.reach = [0, model.duration_ns];
                this.state = this.ownPart(main.state);
                main.on('navigation', (state) => {
                        this.movedAt = -Infinity;
                        this.emit('navigation', state);
                });
        }

        /** The other viewer reads the address. */
        readFragment() {}

        /** Both recordings, on the axis of this one. */
        bounds() {
                return this.reach;
        }

        /**
         * The state of this trace, as the address has it.
         * @param {ViewState} state of the address
         * @returns {ViewState}
         */
        ownPart(state) {
                const prefix = `${this.name}_`;
                const own = Object.fromEntries(Object.entries(state).filter(([name]) => name.startsWith(prefix))
                        .map(([name, value]) => [name.slice(prefix.length), value]));
                const [from, to] = this.roundView(Number(state.both_from ?? NaN) - this.shift, Number(state.both_to ?? NaN) - this.shift);

                delete own.view_from;
                delete own.view_to;
                return { ...own, ...(state.text ? { text: state.text } : {}),
                         ...(to > from ? { view_from: String(from), view_to: String(to) } : {}) };
        }

        /** @param {ViewState} state of the address, which may have changed */
        take(state) {
                this.state = this.ownPart(state);
                this.emit('change', this.state);
        }

        /**
         * The trace after has moved as well.
         * @param {number} from
         * @param {number} to
         */
        moveView(from, to) {
                if (this.name === 'after')
                        super.moveView(from, to);
        }

        /**
         * @param {Record<string, string | number | boolean | null | undefined>} changes
         * @param {boolean} [isStep]
         */
        set(changes, isStep) {
                const { screen, ...rest } = changes;

                if (screen !== undefined && screen !== 'timeline') {
                        this.onLeave(String(screen), rest);
                        return;
                }
                const state = this.changed(rest);
                const names = Object.keys({ ...this.state, ...state }).filter((name) => this.state[name] !== state[name]);

                this.main.set(Object.fromEntries(names.map((name) => this.inAddress(name, state[name]))), isStep);
        }

        /**
         * @param {string} name
         * @param {string|undefined} value
         * @returns {[string, string|number|undefined]}
         */
        inAddress(name, value) {
                if (name in SHARED_VIEW)
                        return [SHARED_VIEW[name], value === undefined ? undefined : Number(value) + this.shift];
                return [name === 'text' ? name : `${this.name}_${name}`, value];
        }
}
