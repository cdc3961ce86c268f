/** A request that waits for a person. @module */

import type { Challenge } from "../login/challenge.ts";
import type { CodeBinding } from "./grants.ts";

/** What is kept of it. */
export type Interaction = ClientInteraction | GateInteraction;

interface Waiting {
  /** The application. */
  readonly client_id: string;
  /** What was asked for. */
  readonly scope: readonly string[];
  /** The only person who may answer. */
  readonly subject?: string;
  /** SHA-256 of the browser's cookie: the only browser that may. */
  readonly browser_sha256: string;
  /** What the person is to sign, once the page has asked for it. */
  readonly challenge?: Challenge;
}

/** An application waits for a code. */
export interface ClientInteraction extends Waiting {
  /** Where the answer goes, and what it is bound to. */
  readonly binding: CodeBinding;
  /** What the answer must repeat. */
  readonly state?: string;
}

/** A proxy waits for a session. */
export interface GateInteraction extends Waiting {
  /** An address of our own that goes on when there is one. */
  readonly return_to: string;
}

/** Milliseconds in which the person must answer. */
export const INTERACTION_LIFE_MS = 15 * 60_000;
