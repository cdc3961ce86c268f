/**
 * The invitations of a list of people that are not answered yet: which person
 * each is for. Local, never published.
 *
 * @module
 */

import {
  compareInstants,
  instantOf,
  type OpenObject,
  parseTimestamp,
} from "@sig/core";
import { createFileStore } from "@sig/issuer";
import { parseObject } from "../terminal/read_input.ts";

/** Path of the file in an issuer's directory: JSON lines. */
const PATH = "/.sig/invitations.jsonl";

/** Maximum size in bytes; 100,000 invitations take about 20 MB. */
const MAX_BYTES = 64 * 1024 * 1024;

const LOCK_TIMEOUT_MS = 10_000;

/** An open invitation. */
export interface OpenInvitation {
  /** The invitation's identifier. */
  readonly jti: string;
  /** The organisation's own id of the person. */
  readonly person: string;
  /** The display name; null if unknown. */
  readonly name: string | null;
  /** When it can no longer be answered, RFC 3339. */
  readonly expires_at: string;
}

/** Returns the invitations that are neither answered nor expired. */
export async function readOpenInvitations(
  dir: string,
  now: Date,
): Promise<readonly OpenInvitation[]> {
  await using store = createFileStore(dir);
  return parse(await store.read(PATH, MAX_BYTES), now);
}

/** Adds invitations and removes answered ones, under the feed's lock. */
export async function updateOpenInvitations(
  dir: string,
  now: Date,
  { added = [], answered = [] }: {
    readonly added?: readonly OpenInvitation[];
    readonly answered?: readonly string[];
  },
): Promise<void> {
  await using store = createFileStore(dir);
  await store.exclusively({ timeoutMs: LOCK_TIMEOUT_MS }, async (writer) => {
    const before = parse(await store.read(PATH, MAX_BYTES), now);
    if (before.length === 0 && added.length === 0) return;
    const kept = [...before, ...added]
      .filter(({ jti }) => !answered.includes(jti));
    const text = kept.map((each) => `${JSON.stringify(each)}\n`).join("");
    await writer.replace(PATH, new TextEncoder().encode(text));
  });
}

/** A line that is not an invitation is skipped: the file is only a help. */
function parse(
  bytes: Uint8Array | undefined,
  now: Date,
): readonly OpenInvitation[] {
  const lines = new TextDecoder().decode(bytes).split("\n");
  return lines.map((line) => parseObject(line))
    .filter((value) => isOpen(value, now));
}

function isOpen(value: unknown, now: Date): value is OpenInvitation {
  const { expires_at, jti, name, person } = (value ?? {}) as OpenObject;
  const end = parseTimestamp(expires_at);
  return typeof jti === "string" && typeof person === "string" &&
    (name === null || typeof name === "string") &&
    end !== undefined && compareInstants(instantOf(now), end) < 0;
}
