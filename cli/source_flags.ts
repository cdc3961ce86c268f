/** What the commands that read a feed share. @module */

import type { IssuerLocation, VerifyIssuerOptions } from "@sig/consumer";
import type { Call, FlagSpec } from "./command.ts";

/** What a source may be, for help. */
export const SOURCE_HELP =
  "did:web:host, a host, an https URL of a sig.json, a sig.json file, or a directory";

/** The flag that opens private networks. */
export const INSECURE_FLAG: FlagSpec = {
  name: "allow-insecure",
  help: "allow http: and private addresses, for tests",
};

/** Flags of a reader's policy. */
export const POLICY_FLAGS: readonly FlagSpec[] = [
  INSECURE_FLAG,
  {
    name: "unknown-events",
    value: "ignore|reject",
    help: "events of unknown types; reject unless told",
    choices: ["ignore", "reject"],
  },
  {
    name: "unmatched-revoke",
    value: "ignore|reject",
    help: "revokes without an upsert; ignore unless told",
    choices: ["ignore", "reject"],
  },
];

/** Where a source's documents are. */
export async function locate(
  call: Call,
  text: string,
): Promise<IssuerLocation> {
  const { openSource, parseSource } = await import("@sig/consumer");
  const allowPrivate = call.on("allow-insecure");
  const source = parseSource(text, { allowPrivate, exists: call.io.exists });
  return openSource(source, { allowPrivate });
}

/** How a source is to be verified. */
export function verifyOptions(call: Call): VerifyIssuerOptions {
  return {
    now: call.io.now(),
    unknownEvents: policy(call, "unknown-events"),
    unmatchedRevoke: policy(call, "unmatched-revoke"),
    onProgress: progress(call),
  };
}

function policy(call: Call, flag: string): "ignore" | "reject" | undefined {
  return call.text(flag) as "ignore" | "reject" | undefined;
}

/** Shorter work needs no news. */
const NEWS_EVERY_BYTES = 4 * 1024 * 1024;

/** News of long work, on terminals only; the last line is wiped. */
function progress(call: Call): ((bytes: number) => void) | undefined {
  const { io } = call;
  if (call.format === "json" || !io.isTerminal("stderr")) return undefined;
  let next = NEWS_EVERY_BYTES;
  return (bytes) => {
    if (bytes < next) return;
    next = bytes + NEWS_EVERY_BYTES;
    io.stderr(`\rverified ${Math.floor(bytes / 1024 / 1024)} MiB\x1b[K\r`);
  };
}
