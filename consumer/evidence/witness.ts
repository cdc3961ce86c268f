/** Requests a cosignature from a witness (C2SP tlog-witness; docs/protocol.md §13.6). @module */

import { SigError } from "@sig/core";
import { quote, sameBytes } from "@sig/core/internal";
import {
  encodeBase64,
  formatSignature,
  MAX_CHECKPOINT_BYTES,
  type NoteKey,
  noteKeyId,
  parseNote,
  verifyNote,
} from "@sig/jose/proofs";
import { type FetchPolicy, fetchPolicyOf } from "../fetch/fetch_options.ts";
import { postText } from "../fetch/guarded_fetch.ts";
import type { IssuerLocation } from "../read/reader.ts";
import type { LoadIssuerOptions } from "../verify/load_issuer.ts";
import { requireProofs } from "../follow/issuer_proofs.ts";

/** A witness, as published by its operator. */
export interface Witness {
  /** The submission prefix: the URL without `/add-checkpoint`. */
  readonly url: string;
  /** The key of its cosignatures. */
  readonly key: NoteKey;
}

/** Options of `requestCosignature`. */
export interface RequestCosignatureOptions
  extends LoadIssuerOptions, FetchPolicy {
  /** The clock. */
  readonly now: Date;
}

/**
 * Number of attempts: the response to the first may give the size that the
 * witness has cosigned.
 */
const ATTEMPTS = 2;

/** The meaning of a witness's HTTP status. */
const REFUSALS: Readonly<Record<number, string>> = {
  403: "it trusts none of the keys that signed the checkpoint",
  404: "it does not know this issuer",
  422: "the feed does not continue the events that it has cosigned",
};

/** Does what `requestCosignature` of `evidence.ts` says. */
export async function request(
  location: IssuerLocation,
  { url, key }: Witness,
  options: RequestCosignatureOptions,
): Promise<string> {
  const { checkpoint: { size }, files, text: note } = await requireProofs(
    location,
    options,
  );
  for (let old = 0, attempt = 1;; attempt++) {
    const proof = old > 0 ? await files.proveContinued(old, size) : [];
    const lines = [`old ${old}`, ...proof.map(encodeBase64), "", note];
    const answer = await postText(addressOf(url), lines.join("\n"), {
      ...fetchPolicyOf(options),
      maxBytes: MAX_CHECKPOINT_BYTES,
    });
    if (answer.status === 200) return await readLine(note, answer.text, key);
    const known = answer.status === 409 ? readSize(answer.text) : undefined;
    if (known === undefined) throw refused(url, answer.status);
    if (known > size) throw hasMore(url, known, size);
    if (attempt === ATTEMPTS) {
      throw known === size && old === size
        ? hasOthers(url, size)
        : refused(url, answer.status);
    }
    old = known;
  }
}

function addressOf(url: string): string {
  return `${url.replace(/\/$/, "")}/add-checkpoint`;
}

/**
 * Returns the number of events the witness has cosigned, from the body of a
 * 409.
 */
function readSize(text: string): number | undefined {
  const [, digits] = /^(0|[1-9]\d{0,15})\n$/.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** Returns the signature line by the witness's key; ignores other lines. */
async function readLine(
  note: string,
  answer: string,
  key: NoteKey,
): Promise<string> {
  const { text } = parseNote(note);
  const id = noteKeyId(key.name, key.type, key.key.publicKey);
  const line = parseNote(`${text}\n${answer}`).signatures.find((each) =>
    each.name === key.name && sameBytes(each.bytes.subarray(0, 4), id)
  );
  if (line === undefined) {
    throw new SigError("invalid_checkpoint", {
      action: "get cosignature",
      reason: `the answer has no signature by ${quote(key.name)}`,
    });
  }
  await verifyNote({ text, signatures: [line] }, [key]);
  return formatSignature(line);
}

function refused(url: string, status: number): SigError {
  const why = REFUSALS[status];
  return new SigError("fetch_status", {
    action: "get cosignature",
    reason: `${
      quote(url)
    } answered with status ${status}${(why === undefined ? "" : `: ${why}`)}`,
    context: { status },
  });
}

function hasMore(url: string, known: number, size: number): SigError {
  return new SigError("feed_rolled_back", {
    action: "get cosignature",
    reason: `${
      quote(url)
    } has cosigned ${known} events, and the checkpoint has ${size}`,
    context: { known_sequence: known },
  });
}

function hasOthers(url: string, size: number): SigError {
  return new SigError("feed_rewritten", {
    action: "get cosignature",
    reason: `the ${size} events that ${quote(url)} has cosigned are different`,
    context: { known_sequence: size },
  });
}
