/** Findings about the proofs, which are recomputed from the feed. @module */

import {
  isSigError,
  isUpsert,
  parseEventPayload,
  parseFeedLine,
  SigError,
} from "@sig/core";
import { sameBytes } from "@sig/core/internal";
import type { IssuerLocation } from "@sig/consumer";
import { type loadIssuer, readAll, signingKeys } from "@sig/consumer/internal";
import {
  openCheckpoint,
  originOfProofs,
  type PlacedLine,
  proveLines,
} from "@sig/jose/proofs";
import { error, type FindingTable, info, warning } from "./finding.ts";
import type { Requests } from "./ask_server.ts";

/** Maximum number of proof files requested from a server. */
const MAX_REQUESTS = 40;
const DAY_SECONDS = 86_400;

/** The proofs of an issuer, compared with its feed. */
type ExaminedProofs = NonNullable<Awaited<ReturnType<typeof readProofs>>>;

/**
 * Reads the checkpoint and its files, and compares them with the feed. Returns
 * undefined if the issuer publishes no proofs.
 */
export async function readProofs(
  { reader }: IssuerLocation,
  { issuer, keys, metadata }: Awaited<ReturnType<typeof loadIssuer>>,
  about: { readonly lastSequence: number; readonly now: Date },
  requests: Requests,
) {
  const base = metadata.proofs_uri;
  if (base === undefined) return undefined;
  const read = async (url: string, name: "proof" | "feed") => {
    const maxBytes = Number.MAX_SAFE_INTEGER;
    const bytes = await requests.ask(url, async (signal) => {
      const opened = await reader.open(url, { name, maxBytes, signal });
      return await readAll(opened, maxBytes);
    });
    if (bytes !== undefined) return bytes;
    throw new SigError(
      "fetch_timeout",
      { reason: `Cannot read ${url} of ${issuer} in time` },
    );
  };
  /** The checkpoint, or the error with which readers refuse it. */
  const checkpoint = await read(`${base}checkpoint`, "proof").then((bytes) =>
    openCheckpoint(new TextDecoder().decode(bytes), {
      origin: originOfProofs(base),
      keys: signingKeys(keys),
    })
  ).catch((error): SigError => {
    if (isSigError(error)) return error;
    throw error;
  });
  /** Names of its numbers and hashes that differ from those of the feed. */
  const different: string[] = [];
  /** Proof files that are missing or differ from the recomputed bytes. */
  const damaged: string[] = [];
  const compared = { checkpoint, different, damaged, ...about };
  if (isSigError(checkpoint)) return { ...compared, changed: [] };
  const feed = await read(metadata.events_uri, "feed");
  const expected = hashFeed(feed.subarray(0, checkpoint.bytes));
  for (const name of ["size", "bytes"] as const) {
    if (checkpoint[name] !== expected[name]) different.push(name);
  }
  const numbers = different.length;
  for (const name of ["root", "state"] as const) {
    if (!sameBytes(checkpoint[name], expected[name])) different.push(name);
  }
  const files = [...expected.files].reverse();
  const asked = reader.kind === "remote" ? files.slice(0, MAX_REQUESTS) : files;
  for (const [path, bytes] of different.length > numbers ? [] : asked) {
    try {
      if (sameBytes(await read(base + path, "proof"), bytes)) continue;
    } catch (error) {
      if (!isSigError(error)) throw error;
    }
    damaged.push(path);
  }
  return { ...compared, changed: expected.changed };
}

/** Computes the members of a checkpoint of these lines, and its proof files. */
function hashFeed(feed: Uint8Array) {
  const lines: PlacedLine[] = [];
  const homes = new Map<string, string>();
  const changed = new Set<string>();
  for (let from = 0, to; (to = feed.indexOf(10, from)) >= 0; from = to + 1) {
    const bytes = feed.subarray(from, to);
    const event = parseEventPayload(parseFeedLine(bytes).payload);
    lines.push({ event, bytes });
    if (!isUpsert(event)) continue;
    const home = homes.get(event.relationship_id) ?? event.subject;
    homes.set(event.relationship_id, home);
    if (event.subject !== home) changed.add(home);
  }
  return {
    ...proveLines(lines),
    size: lines.length,
    bytes: feed.lastIndexOf(10) + 1,
    /** Subjects whose relationships were changed to another subject. */
    changed: [...changed],
  };
}

const REBUILD = "sig checkpoint --dir <dir> --rebuild, then publish it";
const FEED_INSTEAD =
  "Readers fetch the whole feed instead, which is more expensive";

/** Findings about an issuer that publishes proofs. */
export const PROOF_FINDINGS = {
  checkpoint_unusable: error(
    "The checkpoint is missing, or readers refuse it",
    "Readers with a pin accept no new key, and others read the whole feed",
    REBUILD,
    ({ checkpoint }) =>
      isSigError(checkpoint)
        ? [[checkpoint.message, ".well-known/sig/checkpoint"]]
        : [],
  ),
  checkpoint_differs: error(
    "The checkpoint does not match the feed",
    "Readers of the feed and readers of proofs get contradictory answers",
    "Find out whether the feed was replaced before you sign anything: sig restore",
    ({ different }) =>
      different.length === 0 ? [] : [[
        `${different.join(", ")} of the checkpoint are not those of the feed`,
        ".well-known/sig/checkpoint",
      ]],
  ),
  proofs_of_changed_subject: error(
    "An event in the checkpoint changes the subject of a relationship",
    "Proofs don't support this: by proof the new subject has no relationship, by the feed it has one",
    "Remove proofs_uri from sig.json, or end the relationship and create a new one",
    ({ changed }) =>
      changed.map((subject) => [
        `a relationship of ${subject} is given to another subject`,
        "events.jsonl",
      ]),
  ),
  checkpoint_behind: info(
    "The feed has events that the checkpoint does not have",
    "Readers fetch them after the proof; from 1 MiB on they read the whole feed",
    "sig checkpoint --dir <dir>",
    ({ checkpoint, lastSequence }) =>
      isSigError(checkpoint) || checkpoint.size >= lastSequence ? [] : [[
        `the checkpoint has ${checkpoint.size} of ${lastSequence} events`,
        ".well-known/sig/checkpoint",
      ]],
  ),
  checkpoint_old: info(
    "The checkpoint has no time, or a time more than a day ago",
    "Readers that limit its age (--max-checkpoint-age) get no answer",
    "Renew it regularly: sig checkpoint --dir <dir>",
    ({ checkpoint, now }) => {
      if (isSigError(checkpoint)) return [];
      const { time } = checkpoint;
      const age = now.getTime() / 1000 - (time ?? 0);
      if (age <= DAY_SECONDS) return [];
      return [[
        time === null
          ? "the checkpoint states no time"
          : `the checkpoint was renewed ${
            Math.floor(age / DAY_SECONDS)
          } days ago`,
        ".well-known/sig/checkpoint",
      ]];
    },
  ),
  proof_file_damaged: warning(
    "A tile or state file is missing, or does not match the feed",
    FEED_INSTEAD,
    REBUILD,
    ({ damaged }) => damaged.map((path) => `.well-known/sig/${path}`),
  ),
} as const satisfies FindingTable<ExaminedProofs>;
