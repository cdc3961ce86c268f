/** Runs of `sig doctor` and their findings. @module */

import {
  type IssuerLocation,
  openSource,
  parseSource,
  verifyIssuer,
} from "@sig/consumer";
import { loadIssuer, probeUrl } from "@sig/consumer/internal";
import { assertEquals } from "@std/assert";
import { askServer, Requests } from "../doctor/ask_server.ts";
import { judge } from "../doctor/finding.ts";
import { SERVED_FINDINGS } from "../doctor/served.ts";
import type { Given, Workspace } from "./workspace.ts";

interface Found {
  readonly code: string;
  readonly severity: string;
  readonly [member: string]: string;
}

/** Runs `sig doctor` and returns code and severity of each finding. */
export async function doctor(
  workspace: Workspace,
  words: readonly string[] = ["$D/acme"],
  given: Given = {},
) {
  const { code, stdout, stderr } = await workspace.sig(
    ["doctor", ...words, "--format", "json"],
    given,
  );
  assertEquals(stderr, "");
  return { code, found: shortened(stdout) };
}

/** Returns code and severity of each finding, which must be complete. */
export function shortened(stdout: string): readonly (readonly string[])[] {
  const findings: readonly Found[] = JSON.parse(stdout).findings;
  for (const found of findings) {
    assertEquals(
      Object.keys(found),
      ["code", "severity", "what", "why", "mend", "where"],
    );
    for (const text of Object.values(found)) {
      assertEquals(typeof text === "string" && text !== "", true, found.code);
    }
  }
  // Only the tests about recovery have an issuer with a recovery key.
  return findings.filter(({ code }) => code !== "no_recovery_key")
    .map(({ code, severity }) => [code, severity]);
}

/** Returns the location of an issuer on loopback, over TLS. */
export function overTls(
  host: string,
  ...caCertificates: readonly string[]
): IssuerLocation {
  const policy = { allowPrivate: true, caCertificates };
  const url = `https://${host}/.well-known/sig.json`;
  return openSource(parseSource(url, policy), policy);
}

/** Returns the codes of the findings about a server with TLS. */
export async function findServed(
  host: string,
  authority: string,
): Promise<readonly string[]> {
  const location = overTls(host, authority);
  const now = new Date();
  const { feed } = await verifyIssuer(location, { now });
  const policy = { allowPrivate: true, caCertificates: [authority] };
  const { metadata } = await loadIssuer(location);
  const answers = await askServer({
    ...{ location, metadata, now, feedBytes: feed.bytes },
    probe: (url, options) => probeUrl(url, { ...options, ...policy }),
  }, new Requests(new AbortController().signal));
  return judge(SERVED_FINDINGS, answers).map(({ code }) => code);
}
