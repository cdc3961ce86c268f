/** Reads an issuer's documents and applies the tables of findings. @module */

import { isSigError } from "@sig/core";
import type {
  IssuerLocation,
  LoadedIssuer,
  Source,
  VerifiedIssuer,
  VerifyIssuerOptions,
} from "@sig/consumer";
import type { PolicyValues } from "../ask/source_flags.ts";
import type { Call } from "../command_line/command.ts";
import { groupByLines, placeOf } from "../output/write.ts";
import { askServer, Requests } from "./ask_server.ts";
import { DISK_FINDINGS, readDisk } from "./disk.ts";
import { FEED_FINDINGS, FeedNotes, warningFindings } from "./feed.ts";
import { type Finding, judge } from "./finding.ts";
import { PEOPLE_FINDINGS, readDirectoryPeople } from "./people.ts";
import { PROOF_FINDINGS, readProofs } from "./proofs.ts";
import { EventDigests } from "./published.ts";
import { REFUSED_FINDINGS, SERVED_FINDINGS } from "./served.ts";

/** Timeout of all requests together, after the feed is verified. */
const DEADLINE_MS = 30_000;

/** The result for a source; `verified` is absent if verification failed. */
export type Examined = Awaited<ReturnType<typeof examine>>;

/** Verifies a source, and examines everything else if the feed is valid. */
export async function examine(
  call: Call<PolicyValues>,
  source: Source,
  location: IssuerLocation,
  options: VerifyIssuerOptions,
) {
  const { verifyIssuer } = await import("@sig/consumer");
  const { isFault, loadIssuer } = await import("@sig/consumer/internal");
  const notes = new FeedNotes();
  const digests = new EventDigests();
  try {
    const verified = await verifyIssuer(location, {
      ...options,
      onEvent(event) {
        notes.add(event);
        digests.add(event);
      },
    });
    const loaded = await loadIssuer(location, options);
    const { keys } = loaded;
    const now = call.io.now();
    const findings = [
      ...warningFindings(verified.warnings),
      ...judge(FEED_FINDINGS, { ...verified, keys, notes, now }),
      ...await examineAround(call, source, location, loaded, verified),
    ];
    return { verified, digests, findings };
  } catch (error) {
    const unserved = isSigError(error) ? judge(REFUSED_FINDINGS, error) : [];
    if (unserved.length > 0) return { digests, findings: unserved };
    if (
      isSigError(error, "fetch_redirected") ||
      isSigError(error, "fetch_status") || isSigError(error, "fetch_media_type")
    ) {
      const finding = fault(error.code, error.message, "documents");
      return { digests, findings: [finding] };
    }
    if (!isFault(error)) throw error;
    return { digests, findings: await listFaults(location, options) };
  }
}

/** Examines proofs, permissions, the people file and the server. */
async function examineAround(
  call: Call<PolicyValues>,
  source: Source,
  location: IssuerLocation,
  loaded: LoadedIssuer,
  { feed, issuer, state }: VerifiedIssuer,
): Promise<readonly Finding[]> {
  const { probeUrl } = await import("@sig/consumer/internal");
  const { keys, metadata, recovery } = loaded;
  const requests = new Requests(call.io.deadline(DEADLINE_MS));
  const findings: Finding[] = [];
  const about = { lastSequence: state.last_sequence, now: call.io.now() };
  const proofs = await readProofs(location, loaded, about, requests);
  if (proofs !== undefined) findings.push(...judge(PROOF_FINDINGS, proofs));
  if (source.kind === "directory") {
    const kids = [...keys.keys.keys()];
    const disk = await readDisk(call.io, source.path, issuer, kids, recovery);
    findings.push(...judge(DISK_FINDINGS, disk));
    const people = await readDirectoryPeople(call.io, source.path, state);
    findings.push(...judge(PEOPLE_FINDINGS, people));
  }
  if (location.reader.kind === "remote") {
    const allowPrivate = call.flags["allow-insecure"] ?? false;
    const answers = await askServer({
      location,
      metadata,
      feedBytes: feed.bytes,
      now: call.io.now(),
      probe: (url, asked) => probeUrl(url, { ...asked, allowPrivate }),
    }, requests);
    findings.push(...judge(SERVED_FINDINGS, answers));
  }
  return findings;
}

/** Returns a finding for every fault of documents that readers refuse. */
async function listFaults(
  location: IssuerLocation,
  options: VerifyIssuerOptions,
): Promise<readonly Finding[]> {
  const { reportIssuer } = await import("@sig/consumer");
  const { valid, ...rest } = await reportIssuer(location, options);
  const faults = valid || !("errors" in rest) ? [] : rest.errors;
  return groupByLines(faults, ({ code, kid }) => `${code} ${kid ?? ""}`)
    .map(({ first, lines }) =>
      fault(
        first.code,
        first.detail,
        lines || placeOf({ ...first }) || "documents",
      )
    );
}

function fault(code: string, what: string, where: string): Finding {
  return {
    code,
    severity: "error",
    what,
    why: "Readers refuse the issuer, so that no check can be answered",
    mend: code.startsWith("fetch_")
      ? "Serve the document itself at its well-known path, without a redirect"
      : "Restore the documents from a copy; sig verify lists every fault",
    where,
  };
}
