// SPDX-License-Identifier: MIT
// Elements of the page.  All text of a trace goes through createTextNode: nothing is ever parsed as markup.

/**
 * @typedef {string | number | Node | null | undefined | false} Child
 * @typedef {Record<string, any>} Attributes `on` has event handlers, `style` has style properties, `data` has data
 *     attributes; all else are attributes, and a boolean sets or leaves one out.
 */

/**
 * Appends children; strings become text.
 * @param {Node} parent
 * @param {(Child | Child[])[]} children
 */
function appendChildren(parent, children) {
        for (const child of children) {
                if (Array.isArray(child)) {
                        appendChildren(parent, child);
                } else if (child instanceof Node) {
                        parent.appendChild(child);
                } else if (child !== null && child !== undefined && child !== false) {
                        parent.appendChild(document.createTextNode(String(child)));
                }
        }
}

/**
 * @param {Element} element
 * @param {Attributes} attributes
 */
export function setAttributes(element, attributes) {
        for (const [name, value] of Object.entries(attributes)) {
                if (name === 'on') {
                        for (const [type, handler] of Object.entries(value)) {
                                element.addEventListener(type, /** @type {EventListener} */ (handler));
                        }
                } else if (name === 'style') {
                        Object.assign(/** @type {HTMLElement} */ (element).style, value);
                } else if (name === 'data') {
                        Object.assign(/** @type {HTMLElement} */ (element).dataset, value);
                } else if (value === true) {
                        element.setAttribute(name, '');
                } else if (value === false || value === null || value === undefined) {
                        element.removeAttribute(name);
                } else {
                        element.setAttribute(name, String(value));
                }
        }
}

/**
 * A new element: el('td', {class: 'number', on: {click: f}}, 'text', otherElement).
 * @param {string} tag
 * @param {Attributes | null} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function el(tag, attributes, ...children) {
        const element = document.createElement(tag);
        if (attributes) {
                setAttributes(element, attributes);
        }
        appendChildren(element, children);
        return element;
}

/**
 * Replaces what is in an element.
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function fill(element, ...children) {
        element.textContent = '';
        appendChildren(element, children);
}

/**
 * A button that is reached by the keyboard; `title` is its tooltip, `label` its name for screen readers where the
 * text alone does not say it.
 * @param {Child | Child[]} text
 * @param {(event: Event) => void} onClick
 * @param {Attributes} [attributes]
 * @returns {HTMLButtonElement}
 */
export function button(text, onClick, attributes) {
        const element = el('button', Object.assign({ type: 'button', on: { click: onClick } }, attributes || {}), text);
        return /** @type {HTMLButtonElement} */ (element);
}

/**
 * Offers text as a file to save.
 * @param {string} name
 * @param {string} type
 * @param {BlobPart} content
 */
export function saveFile(name, type, content) {
        const link = /** @type {HTMLAnchorElement} */ (el('a', { download: name }));
        link.href = URL.createObjectURL(new Blob([content], { type }));
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/**
 * Copies text; if the page may not use the clipboard, by a selection.
 * @param {string} text
 * @returns {Promise<boolean>}
 */
export async function copyText(text) {
        try {
                await navigator.clipboard.writeText(text);
                return true;
        } catch (_) {
                const area = /** @type {HTMLTextAreaElement} */ (el('textarea', { class: 'off-screen' }));
                area.value = text;
                document.body.appendChild(area);
                area.select();
                const is_copied = document.execCommand('copy');
                area.remove();
                return is_copied;
        }
}

/**
 * Whether the element takes typed text: keys are not commands then.
 * @param {EventTarget | null} target
 */
export function isTextField(target) {
        if (!(target instanceof HTMLElement)) {
                return false;
        }
        if (target instanceof HTMLInputElement) {
                return !['checkbox', 'radio', 'button', 'range'].includes(target.type);
        }
        return target.isContentEditable || target.tagName === 'TEXTAREA' || target.tagName === 'SELECT';
}

/** Resolves when what was changed is drawn; a page in the background, which draws nothing, is not waited for. */
export function nextFrame() {
        return document.hidden ? Promise.resolve() : new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}
