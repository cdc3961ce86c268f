/** What the page of files says of itself, with and without scripts. @module */

/** Its head; the site's search knows it too. */
export const DEMO_WORDS = {
  title: "The demo",
  lede:
    "Hired, allowed, let go, denied, and a forgery that nobody believes. Every signature is verified in your browser, from files that came with this page; nothing is sent anywhere.",
  time: "2 minutes to play",
} as const;
