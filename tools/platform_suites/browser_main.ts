/**
 * Entry point of the suites in a browser; the page calls `runSuites`. @module
 */

import type { Report } from "./run_suites.ts";
import { runSuites } from "./run_suites.ts";

/** The function that the bundle defines on the page. */
export interface SuitesPage {
  /** Runs the suites with the inputs at a URL. */
  runSuites(inputsUrl: string): Promise<Report>;
}

Object.assign(
  globalThis,
  {
    runSuites: async (inputsUrl) => {
      const inputs = await (await fetch(inputsUrl)).json();
      return await runSuites(inputs, "browser");
    },
  } satisfies SuitesPage,
);
