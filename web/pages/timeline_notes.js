// SPDX-License-Identifier: MIT
/*
 * timeline_notes.js - notes of people on the timeline: kept by the source for each trace, written into a file's page
 *
 * Way of the data:  data-notes of a page, TraceSource.recall() -> [timeline_notes] -> screen_timeline; a copy of the page
 */

import { button, el, fill, saveFile } from './dom.js';
import { formatPlural, formatTime, isNumber } from './format.js';
import { FileSource } from './source_file.js';
import { beginOfText } from './text_width.js';
import { AXIS_PX, paintLabel, xOfTime } from './timeline_paint.js';

/**
 * @typedef {import('./screen_timeline.js').TimelineScreen} TimelineScreen
 * @typedef {import('./timeline_paint.js').TimelineFrame} TimelineFrame
 * @typedef {import('./viewer.js').Viewer} Viewer
 */

/** @typedef {{ from: number, to: number, text: string }} TimelineNote  ns; from = to: an instant */

const NOTES_MAX = 1000;
const NOTE_LETTERS_MAX = 2000;

/**
 * readNotes() - leaves out what is not a note, since other programs may write storage and files
 * @param {any} value
 * @returns {TimelineNote[]}
 */
function readNotes(value) {
        if (!Array.isArray(value))
                return [];
        return value.filter((one) => one && isNumber(one.from) && isNumber(one.to) && one.to >= one.from && typeof one.text === 'string')
                .slice(0, NOTES_MAX)
                .map(({ from, to, text }) => ({ from, to, text: beginOfText(text, NOTE_LETTERS_MAX) }))
                .sort((a, b) => a.from - b.from);
}

/**
 * The notes of both lists, each once.
 * @param {TimelineNote[]} one
 * @param {TimelineNote[]} other
 */
function mergeNotes(one, other) {
        const known = new Set(one.map((note) => JSON.stringify(note)));

        return [...one, ...other.filter((note) => !known.has(JSON.stringify(note)))].sort((a, b) => a.from - b.from);
}

export class TimelineNotes {
        /** @param {Viewer} viewer @param {TimelineScreen} timeline */
        constructor(viewer, timeline) {
                this.viewer = viewer;
                this.timeline = timeline;
                /** @type {TimelineNote[]} */
                this.notes = [];
                this.button = button('Notes', () => this.toggle(), { title: 'notes on the timeline (B writes one)',
                        'aria-expanded': 'false' });
                this.list = el('div', { class: 'notes', hidden: true, role: 'region', 'aria-label': 'notes' });
                this.field = /** @type {HTMLTextAreaElement} */ (el('textarea', { rows: '3', maxlength: String(NOTE_LETTERS_MAX),
                        'aria-label': 'text of the note' }));
                this.dialogTitle = el('h2', {});
                this.dialog = /** @type {HTMLDialogElement} */ (el('dialog', { class: 'help note-dialog', 'aria-label': 'Note' },
                        el('form', { method: 'dialog' }, this.dialogTitle, this.field,
                           el('div', { class: 'data-tools' }, el('button', { value: 'keep' }, 'Keep'),
                              el('button', { value: '', class: 'quiet' }, 'Cancel')))));
                /** @type {TimelineNote|null} */
                this.edited = null;
                this.dialog.addEventListener('close', () => this.onClose());
                this.field.addEventListener('keydown', (event) => {
                        if (event.key === 'Enter' && !event.shiftKey) {
                                event.preventDefault();
                                this.dialog.close('keep');
                        }
                });
        }

        async read() {
                const kept = this.viewer.source.recall('notes', this.viewer.model);
                /** @type {TimelineNote[]} */
                let own = [];

                try {
                        own = readNotes(JSON.parse(kept ?? '[]'));
                } catch (_) {
                        own = [];
                }
                this.notes = own;
                if (this.viewer.source instanceof FileSource)
                        this.notes = mergeNotes(own, readNotes(await this.viewer.source.json('notes')));
                this.changed(false);
        }

        /** @param {boolean} isKept */
        changed(isKept) {
                if (isKept)
                        this.viewer.remember('notes', JSON.stringify(this.notes));
                this.button.textContent = this.notes.length === 0 ? 'Notes' : `Notes (${this.notes.length})`;
                this.showList();
                this.timeline.draw();
        }

        toggle() {
                this.list.hidden = !this.list.hidden;
                this.button.setAttribute('aria-expanded', String(!this.list.hidden));
                this.timeline.draw();
        }

        /** A new note on what is chosen, else on the selected range, else on the middle of the view. */
        write() {
                const { chosen, from, to } = this.timeline;
                const range = this.viewer.range();
                const middle = Math.round((from + to) / 2);
                const place = chosen ? { from: chosen.begin, to: chosen.end } : range.isSelected ? range : { from: middle, to: middle };

                this.edit({ from: place.from, to: place.to, text: '' });
        }

        /** @param {TimelineNote} note  in the list, or new */
        edit(note) {
                this.edited = note;
                this.field.value = note.text;
                this.dialogTitle.textContent = `Note at ${formatTime(note.from)}`;
                if (!this.dialog.isConnected)
                        document.body.append(this.dialog);
                this.dialog.returnValue = '';
                this.dialog.showModal();
        }

        onClose() {
                const note = this.edited;
                const text = beginOfText(this.field.value.trim(), NOTE_LETTERS_MAX);

                this.edited = null;
                if (!note || this.dialog.returnValue !== 'keep')
                        return;
                const others = this.notes.filter((one) => one !== note);

                this.notes = readNotes(text === '' ? others : [...others, { from: note.from, to: note.to, text }]);
                this.changed(true);
        }

        /** @param {TimelineNote} note */
        remove(note) {
                this.notes = this.notes.filter((one) => one !== note);
                this.changed(true);
        }

        showList() {
                const isFile = this.viewer.source instanceof FileSource;

                fill(this.list, el('ul', {}, this.notes.map((note) => el('li', {},
                        button(formatTime(note.from, 1000), () => this.viewer.goToTime(note.from, note.to), { class: 'link' }),
                        el('span', { class: 'note-text' }, note.text),
                        button('edit', () => this.edit(note), { class: 'quiet', 'aria-label': `edit note: ${beginOfText(note.text, 40)}` }),
                        button('remove', () => this.remove(note), { class: 'quiet',
                                'aria-label': `remove note: ${beginOfText(note.text, 40)}` })))),
                     el('div', { class: 'data-tools' }, button('Write a note', () => this.write(), { title: 'B' }),
                        isFile ? button('Save page with notes', () => this.timeline.save.savePage())
                                : button('Save notes', () => saveFile('notes.json', 'application/json', JSON.stringify(this.notes))),
                        el('label', { class: 'quiet' }, 'Read notes ', el('input', { type: 'file', accept: '.json',
                                on: { change: (/** @type {Event} */ event) => this.readFile(event) } }))));
        }

        /** @param {Event} event */
        async readFile(event) {
                const file = /** @type {HTMLInputElement} */ (event.target).files?.[0];

                try {
                        const read = file ? readNotes(JSON.parse(await file.text())) : [];

                        this.notes = readNotes(mergeNotes(this.notes, read));
                        this.changed(true);
                        this.viewer.announce(`${formatPlural(read.length, 'note')} read`);
                } catch (_) {
                        this.viewer.announce('this file has no notes');
                }
        }

}

/**
 * Flags on the axis, and a light band over the rows.
 * @param {TimelineFrame} frame
 * @param {TimelineNote[]} notes
 */
export function paintNotes(frame, notes) {
        const { context, colors } = frame;
        let free = -Infinity;

        for (const note of notes) {
                const x = xOfTime(frame, note.from);
                const end = xOfTime(frame, note.to);

                if (end < -20 || x > frame.width)
                        continue;
                context.fillStyle = colors.selection;
                context.fillRect(x, AXIS_PX, Math.max(2, end - x), frame.height);
                context.fillStyle = colors.accent;
                context.fillRect(x, 2, 2, AXIS_PX - 2);
                if (x < free)
                        continue;
                const width = Math.min(160, context.measureText(note.text).width + 10);

                context.fillRect(x, 2, width, 13);
                context.fillStyle = colors['on-accent'];
                paintLabel(context, note.text.replace(/\s+/g, ' '), x - 1, x + width + 4, 2, 13);
                free = x + width + 2;
        }
}
