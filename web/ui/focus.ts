/** Moves the focus and scrolls. @module */

import { useLayoutEffect, useRef } from "preact/hooks";

/** Moves the focus to a heading, and scrolls its card into view. */
export function focusOn(element: HTMLElement): void {
  element.tabIndex = -1;
  element.focus({ preventScroll: true });
  const card = element.closest<HTMLElement>(".card") ?? element;
  const { top, bottom, height } = card.getBoundingClientRect();
  if (top >= 0 && bottom <= innerHeight) return;
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  card.scrollIntoView({
    block: height > innerHeight ? "start" : "center",
    behavior: isCalm ? "auto" : "smooth",
  });
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
