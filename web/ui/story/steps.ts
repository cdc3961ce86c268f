/** The story in steps. @module */

import type { SampleName } from "./samples.ts";

/** A step. */
export interface StoryStep {
  readonly title: string;
  /** In the list of steps. */
  readonly detail: string;
  /** What happens. */
  readonly text: string;
  /** Which feed is read. */
  readonly feed: SampleName;
  /** Whether the question is asked of it. */
  readonly asks: boolean;
  /** What the button to it says. */
  readonly button: string;
}

/** All of them; the feeds are signed, and verified in the reader's browser. */
export const STEPS: readonly StoryStep[] = [
  {
    title: "Alice is hired",
    detail: "The issuer signs one event.",
    text:
      "acme.example signs that Alice is an employee who may deploy, and appends that to a file on its web server. An issuer does nothing else.",
    feed: "hired",
    asks: false,
    button: "Start again",
  },
  {
    title: "May she deploy?",
    detail: "Whoever asks reads the feed: allow.",
    text:
      "A partner’s system wants to know. It fetches the file, verifies every signature and asks. It needs no account, and acme.example is not told who is asked about.",
    feed: "hired",
    asks: true,
    button: "Ask whether she may deploy",
  },
  {
    title: "She leaves",
    detail: "The issuer signs a second event.",
    text:
      "acme.example appends that her employment ended. It calls nobody, and nothing is deleted: what was true stays provable.",
    feed: "left",
    asks: false,
    button: "Let her go",
  },
  {
    title: "May she still deploy?",
    detail: "The same question: deny.",
    text:
      "The partner reads the feed again, as a hundred others could at the same moment.",
    feed: "left",
    asks: true,
    button: "Ask again",
  },
  {
    title: "Somebody forges it",
    detail: "One letter is changed: no answer.",
    text:
      "An intruder on the web server changes one letter of the second line, so that she never left. He has no key of the issuer.",
    feed: "forged",
    asks: true,
    button: "Now forge the feed",
  },
];
