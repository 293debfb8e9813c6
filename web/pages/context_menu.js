// SPDX-License-Identifier: MIT
/*
 * context_menu.js - the menu of the right mouse button, and of the keyboard's menu key
 *
 * One is open at a time; it closes by Escape, by a choice, and when the keyboard or the mouse goes elsewhere.
 */

import { el } from './dom.js';

/** @typedef {{ words: string, isOff?: boolean, run: () => void }} MenuItem */

/**
 * @param {number} x  of the window
 * @param {number} y
 * @param {HTMLElement} owner  gets the keyboard back
 * @param {MenuItem[]} items
 */
export function showMenu(x, y, owner, items) {
        const buttons = items.map((item) => /** @type {HTMLButtonElement} */ (el('button', { type: 'button', role: 'menuitem',
                disabled: item.isOff ?? false, on: { click: () => { close(); item.run(); } } }, item.words)));
        const menu = el('div', { class: 'context-menu', role: 'menu', 'aria-label': 'about the chosen item' }, buttons);
        let isOpen = true;
        const close = () => {
                if (!isOpen)
                        return;
                isOpen = false;
                menu.remove();
                owner.focus();
        };

        menu.addEventListener('keydown', (event) => {
                const usable = buttons.filter((one) => !one.disabled);
                const at = usable.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
                const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;

                event.stopPropagation();
                if (step !== 0) {
                        usable[(at + step + usable.length) % usable.length].focus();
                        event.preventDefault();
                } else if (event.key === 'Escape') {
                        close();
                } else if (event.key === 'Tab') {
                        close();
                        event.preventDefault();
                }
        });
        menu.addEventListener('focusout', (event) => {
                if (!menu.contains(/** @type {Node|null} */ (event.relatedTarget)))
                        close();
        });
        document.body.append(menu);
        menu.style.left = `${Math.max(0, Math.min(x, window.innerWidth - menu.offsetWidth - 4))}px`;
        menu.style.top = `${Math.max(0, Math.min(y, window.innerHeight - menu.offsetHeight - 4))}px`;
        buttons.find((one) => !one.disabled)?.focus();
}
