/** Marks beside words. @module */

const PATHS = {
  yes: "M5 12.5 10 17.5 19 7",
  no: "M7 7 17 17M17 7 7 17",
  warning: "M12 6v7.500M12 17.500v.010",
  clock: "M12 4a8 8 0 1 0 .010 0M12 8.500v4l2.500 1.500",
  dot: "M12 12v.010",
  key:
    "M14.500 9.500 21 3m-3 3 2.500 2.500M15.500 14a5 5 0 1 1-6-6 5 5 0 0 1 6 6Z",
} as const;

/** The name of a mark. */
export type Mark = keyof typeof PATHS;

/** A mark; it never stands alone, so it has no name of its own. */
export function Icon({ name }: { readonly name: Mark }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The sign of the page. */
export function Brand() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M10 11.500 16 21m0 0 6-9.500M11.500 10h9" />
      <circle cx="9.500" cy="10" r="3.200" />
      <circle cx="22.500" cy="10" r="3.200" />
      <circle cx="16" cy="22.500" r="3.200" />
    </svg>
  );
}
