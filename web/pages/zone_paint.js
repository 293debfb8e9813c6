// SPDX-License-Identifier: MIT
/*
 * zone_paint.js - by what the zones of the timeline have their colours: their names, their threads, or a person's own rules
 *
 * Way of the data:  a person, ViewState -> [zone_paint] -> timeline_paint
 *
 * Rules are "wait*=#888888, *=#4a7fd4": globs of names with colours; the first that fits counts.  What has no rule, and
 * zones to which the program gave a colour, are as by name.
 */

import { nameColorOf, nameColorOfValue } from './colors.js';
import { el } from './dom.js';
import { isColor } from './model_checks.js';
import { filterOfNames } from './timeline_rows.js';

/**
 * @typedef {import('./colors.js').NameColor} NameColor
 * @typedef {import('./viewer.js').ViewState} ViewState
 * @typedef {import('./viewer.js').Viewer} Viewer
 */

const BY_THREAD = 'thread';
const RULES_OF_START = 'wait*=#8b93a5, *=#4a7fd4';

/**
 * The rules of a text; parts that are none are left out.
 * @param {string} text
 * @returns {{ passes: (name: string) => boolean, value: number }[]}
 */
export function rulesOf(text) {
        const rules = [];

        for (const part of text.split(',')) {
                const found = /^\s*(\S.*?)\s*=\s*#([0-9a-f]{6})\s*$/i.exec(part);

                if (found)
                        rules.push({ passes: filterOfNames(found[1]), value: parseInt(found[2], 16) });
        }
        return rules;
}

export class ZonePaint {
        /** @param {Viewer} viewer */
        constructor(viewer) {
                this.viewer = viewer;
                this.text = '';
                /** @type {ReturnType<typeof rulesOf>} */
                this.rules = [];
                /** @type {Map<string, number|null>} by name */
                this.known = new Map();
                this.choice = /** @type {HTMLSelectElement} */ (el('select', { 'aria-label': 'colors of zones',
                        on: { change: () => this.choose() } },
                        el('option', { value: '' }, 'colors by name'), el('option', { value: BY_THREAD }, 'colors by thread'),
                        el('option', { value: 'rules' }, 'own colors')));
                this.input = /** @type {HTMLInputElement} */ (el('input', { type: 'text', class: 'timeline-filter', hidden: true,
                        spellcheck: 'false', autocomplete: 'off', 'aria-label': 'own colors of zones',
                        title: 'names and their colors: the first that fits counts',
                        on: { change: () => this.viewer.set({ paint: this.input.value }) } }));
                this.element = el('span', { class: 'timeline-paint' }, this.choice, this.input);
        }

        choose() {
                this.viewer.set({ paint: this.choice.value === 'rules' ? this.input.value || RULES_OF_START : this.choice.value || null });
        }

        /** @param {ViewState} state */
        follow(state) {
                const text = state.paint ?? '';

                this.choice.value = text === '' || text === BY_THREAD ? text : 'rules';
                this.input.hidden = this.choice.value !== 'rules';
                if (!this.input.hidden && document.activeElement !== this.input)
                        this.input.value = text;
                if (text === this.text)
                        return;
                this.text = text;
                this.rules = rulesOf(text);
                this.known.clear();
        }

        /** @param {string} name @returns {number|null} 0xrrggbb */
        ruleOf(name) {
                let value = this.known.get(name);

                if (value === undefined) {
                        value = this.rules.find((rule) => rule.passes(name))?.value ?? null;
                        this.known.set(name, value);
                }
                return value;
        }

        /**
         * @param {string} name      of a zone
         * @param {number|null|undefined} color  that the program gave it
         * @param {string} track     the title of its thread, or of its lane of a device
         * @param {boolean} isDark
         * @returns {NameColor}
         */
        colorOf(name, color, track, isDark) {
                const own = this.rules.length > 0 ? this.ruleOf(name) : null;

                if (this.text === BY_THREAD)
                        return nameColorOf(track, isDark);
                if (own !== null)
                        return nameColorOfValue(own, isDark);
                return isColor(color) ? nameColorOfValue(Number(color), isDark) : nameColorOf(name, isDark);
        }
}
