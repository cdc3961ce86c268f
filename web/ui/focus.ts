/** Moves the focus and scrolls. @module */

import { useLayoutEffect, useRef } from "preact/hooks";

/** Moves the focus to a heading, and scrolls its card into view. */
export function focusOn(element: HTMLElement): void {
  element.tabIndex = -1;
  element.focus({ preventScroll: true });
  const card = element.closest(".card") ?? element;
  card.scrollIntoView({ block: "nearest" });
}

/**
 * Returns the reference for a heading that takes the focus when it appears, so
 * that screen readers read it.
 */
export function useAutoFocus<T extends HTMLElement>(autoFocus = true) {
  const ref = useRef<T>(null);
  useLayoutEffect(() => {
    if (autoFocus && ref.current) focusOn(ref.current);
  }, []);
  return ref;
}
