/** An issuer whose feed may be appended to. @module */

import type { Issuer } from "@sig/issuer";
import type { Call } from "../command_line/command.ts";

/**
 * Opens the issuer of `--dir`, and refuses it where the feed that `--against`
 * names has more than the local one. Loaded late: help and wrong flags need no
 * cryptography.
 */
export async function openForAppend(call: Call): Promise<Issuer> {
  const { openIssuerDir } = await import("../issue/issuer_dir.ts");
  const issuer = await openIssuerDir(call);
  const against = call.text("against");
  if (against === undefined) return issuer;
  try {
    const { readPublishedFeed } = await import("./published_feed.ts");
    await issuer.requireNotBehind(await readPublishedFeed(call, against));
    return issuer;
  } catch (error) {
    await issuer.close();
    throw error;
  }
}
