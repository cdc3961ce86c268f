/** Where the person's attention goes. @module */

import { useLayoutEffect, useRef } from "preact/hooks";

/** Moves the focus to a heading, and its card into view. */
export function focusOn(element: HTMLElement): void {
  element.tabIndex = -1;
  element.focus({ preventScroll: true });
  bringIntoView(element);
}

/** Scrolls to the card that an element is in, where it is not seen as a whole. */
export function bringIntoView(element: HTMLElement): void {
  const whole = element.closest<HTMLElement>(".card") ?? element;
  const { top, bottom, height } = whole.getBoundingClientRect();
  if (top >= 0 && bottom <= innerHeight) return;
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  whole.scrollIntoView({
    block: height > innerHeight ? "start" : "center",
    behavior: calm ? "auto" : "smooth",
  });
}

/** A heading that takes the focus when it appears, so that it is read aloud. */
export function useFocusOnAppearing<T extends HTMLElement>(wanted = true) {
  const ref = useRef<T>(null);
  useLayoutEffect(() => {
    if (wanted && ref.current) focusOn(ref.current);
  }, []);
  return ref;
}
