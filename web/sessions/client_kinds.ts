/** The kinds of records of which each application has its own. @module */

import type { RecordKind } from "@sig/consumer/store";
import { nodeCrypto } from "../login/digest.ts";

/** Ids of assertions that an application has used. */
export function assertionKind(clientId: string): RecordKind {
  return kindOfClient("assertion", clientId);
}

/** Notifications that wait for an application. */
export function logoutKind(clientId: string): RecordKind {
  return kindOfClient("logout", clientId);
}

/**
 * Returns an application's own kind, so that it can't use up the records of
 * others. The name of a kind may only have letters.
 */
function kindOfClient(name: string, clientId: string): RecordKind {
  const digest = nodeCrypto().createHash("sha256").update(clientId)
    .digest("hex").slice(0, 32);
  const letters = digest.replace(/\d/g, (digit) => "ghijklmnop"[+digit]!);
  return { name: `${name}_${letters}`, maxRecords: 100_000 };
}
