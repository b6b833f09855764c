// The page's elements by id, and small pieces of HTML made safely: what comes from files is only ever text.

/** The element of that id and type; the page was built wrong where it is missing. */
export function byId<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`the page has no ${type.name} with the id ${id}`);
  return found;
}

/** A new element with a class, holding texts or other elements. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className: string,
  ...children: (string | Node)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (className !== "") element.className = className;
  element.append(...children);
  return element;
}

/** Sets a text only where it changes: a live region says it once. */
export function say(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** A message that is there when it says something. */
export function show(element: HTMLElement, text: string): void {
  say(element, text);
  element.hidden = text === "";
}
