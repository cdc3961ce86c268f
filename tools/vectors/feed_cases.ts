/** Every feed of the vectors, by theme. @module */

import { didDocuments } from "./cases/did_documents.ts";
import { forms } from "./cases/forms.ts";
import { headers } from "./cases/headers.ts";
import { history } from "./cases/history.ts";
import { keySets } from "./cases/key_sets.ts";
import { lines } from "./cases/lines.ts";
import { metadataCases } from "./cases/metadata.ts";
import { order } from "./cases/order.ts";
import { payloads } from "./cases/payloads.ts";
import { recovery } from "./cases/recovery.ts";
import { signatures } from "./cases/signatures.ts";
import { times } from "./cases/times.ts";
import { transitions } from "./cases/transitions.ts";
import type { FeedCase } from "./feed_case.ts";

/** Cases about one theme: a file of `vectors/feed`. */
export interface Theme {
  /** Description of the theme. */
  readonly title: string;
  /** The cases in the order of the file. */
  readonly cases: readonly FeedCase[];
}

/** The themes by the name of their file. */
export const themes: Readonly<Record<string, Theme>> = {
  "did-documents": { title: "did.json", cases: didDocuments },
  "forms": { title: "Members and values of events", cases: forms },
  "headers": { title: "Protected headers", cases: headers },
  "history": { title: "The feeds of the questions", cases: history },
  "key-sets": { title: "jwks.json", cases: keySets },
  "lines": { title: "Lines and their envelopes", cases: lines },
  "metadata": { title: "sig.json", cases: metadataCases },
  "order": { title: "Sequences and the order of checks", cases: order },
  "payloads": { title: "Payloads as JSON", cases: payloads },
  "recovery": { title: "Recovery keys and void events", cases: recovery },
  "signatures": { title: "Signatures and who made them", cases: signatures },
  "times": { title: "Instants and clocks", cases: times },
  "transitions": { title: "What events make of state", cases: transitions },
};
