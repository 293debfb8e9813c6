// SPDX-License-Identifier: MIT
/*
 * name_matches.js - which names have the text that is searched for
 *
 * Way of the data:  TraceModel, a text -> [name_matches] -> timeline_search, timeline_paint, file_search
 *
 * The rule is that of web/model/view_search.h, which the server has: the text as it is, whatever the case of A to Z; with
 * a '.' or a '/' in it, it is looked for in files and modules, too; "12" and "frame 12" are the 12th frame.
 */

/**
 * @typedef {import('./model.js').TraceModel} TraceModel
 * @typedef {'zones' | 'ghosts' | 'messages' | 'frames' | 'texts'} NameKind
 */

/** @param {string} text */
function inSmallLetters(text) {
        return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/**
 * The kind of the names of a lane's items, for those that are searched.
 * @param {string} kind of the lane
 * @returns {NameKind|null}
 */
export function nameKindOf(kind) {
        if (kind === 'zones' || kind === 'device')
                return 'zones';
        return kind === 'ghosts' || kind === 'messages' || kind === 'frames' || kind === 'texts' ? kind : null;
}

export class NameMatches {
        /** @param {TraceModel} model @param {string} text */
        constructor(model, text) {
                this.model = model;
                this.text = text;
                this.small = inSmallLetters(text);
                this.isOfFile = /[./]/.test(text);
                this.frame = this.frameOf();
                /** @type {Map<string, Map<number, boolean>>} by kind of lane, by number */
                this.known = new Map();
        }

        /** The number of a frame, "frame 1,234" or "1234"; 0 if the text is none. */
        frameOf() {
                const digits = /^(?:frame )?([\d,]*)$/.exec(this.small)?.[1].replaceAll(',', '') ?? '';

                return digits !== '' && Number(digits) < 2 ** 32 - 1 ? Number(digits) : 0;
        }

        /** @param {string|null|undefined} name */
        isIn(name) {
                return inSmallLetters(name ?? '').includes(this.small);
        }

        /**
         * Whether an item's name has the text; the texts of messages and zones are not in the model.
         * @param {string} kind of the lane
         * @param {number} what
         */
        has(kind, what) {
                let known = this.known.get(kind);

                if (!known)
                        this.known.set(kind, known = new Map());
                let found = known.get(what);

                if (found === undefined)
                        known.set(what, found = this.find(kind, what));
                return found;
        }

        /** @param {string} kind @param {number} what */
        find(kind, what) {
                const { model } = this;

                switch (nameKindOf(kind)) {
                case 'zones':
                        return this.isIn(model.locationName(what)) || (this.isOfFile && this.isIn(model.location(what)?.place));
                case 'ghosts':
                        return this.isIn(model.functionName(what)) || (this.isOfFile && this.isIn(model.functions[what]?.module));
                case 'frames':
                        return what === this.frame && what !== 0;
                case 'messages':
                case 'texts':
                        return false;
                default:
                        return this.isIn(model.nameOf(kind, what));
                }
        }
}
