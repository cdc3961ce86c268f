/** The state of an invitation, from its link to its answer. @module */

import { loadIssuer } from "@sig/consumer/internal";
import { isSigError, SigError } from "@sig/core";
import {
  answerInvitation,
  type InvitationAnswer,
  type ParsedInvitation,
  parseInvitation,
  requireUnexpired,
  verifyInvitation,
} from "@sig/jose";
import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import { signingKeyOf } from "../../browser/attest.ts";
import { type BrowserKey, hasEd25519 } from "../../browser/key_store.ts";
import type { PageContext } from "../api.ts";
import type { PageConfig } from "../page_config.ts";
import {
  type Documents,
  DocumentsError,
  fetchDocuments,
  IDENTITY,
  readerOf,
  readFiles,
  requireDocuments,
  verifyDocuments,
} from "../explore/documents.ts";
import { readChanges } from "../explore/ledger.ts";

/** Whether the invitation is known to be the issuer's. */
export type Trust =
  /** Who provided the documents that verified the signature. */
  | { readonly by: "server" | "person" }
  /** Why the issuer's keys are not known here. */
  | { readonly why: string };

/** The state of an invitation. */
export type InvitationState =
  | { readonly at: "verifying" | "declined" }
  | {
    readonly at: "refused";
    readonly error: SigError;
    /**
     * Whether the issuer's documents are invalid rather than the invitation.
     */
    readonly isIssuers: boolean;
  }
  | {
    readonly at: "open";
    readonly trust: Trust;
    /**
     * The name that the issuer publishes for the person whose further key this
     * is, if it does.
     */
    readonly personName?: string | undefined;
    /** The error if the browser failed to sign. */
    readonly error?: string;
    /** Why the opened files prove nothing. */
    readonly filesError?: string;
  }
  | {
    readonly at: "answered";
    readonly answer: InvitationAnswer;
    readonly key: BrowserKey;
  };

/** An invitation with its state and actions. */
export type Invitation = ReturnType<typeof useInvitation>;

const now = () => new Date();
const NO_ED25519 = "This browser can’t verify Ed25519 signatures.";

/**
 * Parses and verifies an invitation, and answers it when the person approves.
 */
export function useInvitation({ config, keys }: PageContext, text: string) {
  const parsed = useMemo(() => parse(text), [text]);
  const [state, setState] = useState<InvitationState>(
    parsed instanceof SigError ? refused(parsed) : { at: "verifying" },
  );
  const [busy, setBusy] = useState(false);
  const [restarts, setRestarts] = useState(0);

  useLayoutEffect(() => {
    if (parsed instanceof SigError) return;
    let isGone = false;
    void verifyHere(parsed, config).then((now) => isGone || setState(now));
    return () => void (isGone = true);
  }, [parsed, restarts]);

  return {
    /** The parsed invitation; undefined if the link has none. */
    parsed: parsed instanceof SigError ? undefined : parsed,
    state,
    busy,
    /** Signs with this key; creates one if no key has that name. */
    async approve(did: string | undefined) {
      if (busy || state.at !== "open" || parsed instanceof SigError) return;
      setBusy(true);
      try {
        const key = keys.all.find((each) => each.did === did) ??
          await keys.create();
        const signer = { invitation: parsed, key: signingKeyOf(key), now };
        const answer = await answerInvitation(signer);
        setState({ at: "answered", answer, key });
      } catch (error) {
        setState(
          isSigError(error)
            ? refused(error)
            : { ...state, error: "This browser did not sign. Try again." },
        );
      } finally {
        setBusy(false);
      }
    },
    /**
     * Verifies the invitation with documents that the person got from the
     * issuer.
     */
    async verifyWith(files: readonly File[]) {
      if (state.at !== "open" || parsed instanceof SigError) return;
      try {
        const documents = await readFiles(files);
        requireDocuments(documents, IDENTITY);
        if (!await hasEd25519()) throw new DocumentsError(NO_ED25519);
        setState(await verifyBy(parsed, documents, "person"));
      } catch (error) {
        const filesError = error instanceof DocumentsError
          ? error.message
          : "This browser could not read the files. Try again.";
        setState({ ...state, filesError });
      }
    },
    decline: () => setState({ at: "declined" }),
    restart() {
      setState({ at: "verifying" });
      setRestarts(restarts + 1);
    },
  };
}

function parse(text: string): ParsedInvitation | SigError {
  try {
    return parseInvitation(text);
  } catch (error) {
    if (isSigError(error)) return error;
    throw error;
  }
}

/**
 * Verifies the invitation with the issuer's keys, if this server serves them:
 * the page's policy allows requests to its own server only. A forged invitation
 * gives an attacker nothing, since the answer is valid only for it. So an
 * unverified invitation may be answered; it is marked as unverified.
 */
async function verifyHere(
  invitation: ParsedInvitation,
  { issuers }: PageConfig,
): Promise<InvitationState> {
  try {
    // This check needs no keys, so an expired invitation is always refused.
    requireUnexpired(invitation, now());
  } catch (error) {
    return refused(error);
  }
  const unverified = (why: string): InvitationState => ({
    at: "open",
    trust: { why },
  });
  const known = issuers.find(({ did }) => did === invitation.claims.iss);
  if (known === undefined) {
    return unverified("This page does not know that issuer’s keys.");
  }
  if (!await hasEd25519()) return unverified(NO_ED25519);
  try {
    const documents = await fetchDocuments(known.base);
    return await verifyBy(invitation, documents, "server");
  } catch (error) {
    if (!(error instanceof DocumentsError)) throw error;
    return unverified("The issuer’s keys could not be read just now.");
  }
}

async function verifyBy(
  invitation: ParsedInvitation,
  documents: Documents,
  by: "server" | "person",
): Promise<InvitationState> {
  const issuer = invitation.claims.iss;
  let keys;
  try {
    ({ keys } = await loadIssuer({
      reader: readerOf(documents),
      metadataRef: "/.well-known/sig.json",
      expectedIssuer: issuer,
    }));
  } catch (error) {
    return refused(error, true);
  }
  try {
    await verifyInvitation(invitation, { issuer, keys, now });
    const personName = await requireUnused(invitation, documents);
    return { at: "open", trust: { by }, personName };
  } catch (error) {
    return refused(error);
  }
}

/**
 * Refuses an invitation that was used according to the feed (docs/protocol.md
 * §9.3). A feed that is missing or invalid is ignored. Returns the name that
 * the feed has for the person whose further key this is, if it does.
 */
async function requireUnused(
  { claims: { iss, jti, same_person_as: person } }: ParsedInvitation,
  documents: Documents,
): Promise<string | undefined> {
  const verified = await verifyDocuments(documents, { issuer: iss })
    .catch((error) => {
      if (!(error instanceof DocumentsError)) throw error;
    });
  if (!verified?.report.valid) return undefined;
  const use = verified.events.find(({ event }) =>
    event.event_id === `inv-${jti}`
  );
  if (use === undefined) {
    return readChanges(verified.events).findLast(({ name, verified }) =>
      name !== "" && verified.event.subject === person
    )?.name;
  }
  const { sequence, subject } = use.event;
  throw new SigError("invitation_used", {
    action: "answer invitation",
    reason: `event ${sequence} used it`,
    context: { sequence, subject },
  });
}

function refused(error: unknown, isIssuers = false): InvitationState {
  if (isSigError(error)) return { at: "refused", error, isIssuers };
  throw error;
}
