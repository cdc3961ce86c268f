/** Every case of `vectors/feed`. @module */

import { didDocuments } from "./cases/did_documents.ts";
import { forms } from "./cases/forms.ts";
import { headers } from "./cases/headers.ts";
import { history } from "./cases/history.ts";
import { keySets } from "./cases/key_sets.ts";
import { lines } from "./cases/lines.ts";
import { metadataCases } from "./cases/metadata.ts";
import { order } from "./cases/order.ts";
import { payloads } from "./cases/payloads.ts";
import { signatures } from "./cases/signatures.ts";
import { times } from "./cases/times.ts";
import { transitions } from "./cases/transitions.ts";
import type { FeedCase } from "./feed_case.ts";

/** All of them. */
export const feedCases: readonly FeedCase[] = [
  ...transitions,
  ...history,
  ...forms,
  ...times,
  ...lines,
  ...headers,
  ...signatures,
  ...payloads,
  ...order,
  ...metadataCases,
  ...keySets,
  ...didDocuments,
];
