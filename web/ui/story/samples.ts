/** Feeds that came with the page, each as one JSON text. @module */
/// <reference lib="dom" />

import { type Documents, readOne } from "../feed/documents.ts";

/** What the page that is made of files brings along. */
export interface Samples {
  /** The DID whose feeds they are. */
  readonly issuer: string;
  /** Whom the story is about. */
  readonly subject: string;
  /** A moment at which the subject was employed. */
  readonly before: string;
  /** The story's feed: with its first event, with its second, and changed. */
  readonly hired: string;
  readonly left: string;
  readonly forged: string;
  /** A feed of more people, to explore. */
  readonly company: string;
}

/** The names of the feeds. */
export type SampleName = "hired" | "left" | "forged" | "company";

/** What stands in the page. */
export function readSamples(): Samples {
  return JSON.parse(document.getElementById("samples")?.textContent ?? "");
}

/** One of the feeds, to be verified as any other. */
export function documentsOf(samples: Samples, name: SampleName): Documents {
  return readOne(samples[name]);
}
