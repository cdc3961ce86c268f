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
import { useState } from "preact/hooks";
import { signingKeyOf } from "../../browser/attest.ts";
import { type BrowserKey, hasEd25519 } from "../../browser/key_store.ts";
import { ShownError, useLoading, usePage, useWork } from "../api.ts";
import type { PageConfig } from "../page_config.ts";
import {
  type Documents,
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

/** Why an invitation can't be answered. */
export interface Refused {
  readonly at: "refused";
  readonly error: SigError;
  /** Whether the issuer's documents are invalid rather than the invitation. */
  readonly isIssuers: boolean;
}

/** The state of an invitation. */
export type InvitationState =
  | { readonly at: "verifying" | "declined" }
  | Refused
  | {
    readonly at: "open";
    readonly trust: Trust;
    /**
     * The name that the issuer publishes for the person whose further key this
     * is, if it does.
     */
    readonly personName?: string | undefined;
  }
  | {
    readonly at: "answered";
    readonly answer: InvitationAnswer;
    readonly signer: BrowserKey;
  };

/** An invitation with its state and actions. */
export type Invitation = ReturnType<typeof useInvitation>;

const now = () => new Date();
const NO_ED25519 = "This browser can’t verify Ed25519 signatures.";

/** Parses an invitation, or returns why it can't be answered. */
export function parse(text: string): ParsedInvitation | Refused {
  return attempt(() => parseInvitation(text));
}

/** Verifies an invitation, and answers it when the person approves. */
export function useInvitation(invitation: ParsedInvitation) {
  const { config, keys } = usePage();
  const [state, setState] = useState<InvitationState>({ at: "verifying" });
  const signing = useWork("This browser did not sign. Try again.");
  const reading = useWork(
    "This browser could not read the files. Try again.",
  );
  const [restarts, setRestarts] = useState(0);

  useLoading(() => verifyHere(invitation, config.issuers), setState, [
    invitation,
    restarts,
  ]);

  return {
    state,
    busy: signing.busy,
    /** Why the browser failed to sign, or "". */
    error: signing.error,
    /** Why the opened files prove nothing, or "". */
    filesError: reading.error,
    /** Signs with this key; creates one if no key has that name. */
    async approve(did: string) {
      if (signing.busy) return;
      await signing.run(async () => {
        const signer = keys.all.find((each) => each.did === did) ??
          await keys.create();
        const key = signingKeyOf(signer);
        setState(
          await answerInvitation({ invitation, key, now })
            .then((answer) => ({ at: "answered", answer, signer }), refused),
        );
      });
    },
    /**
     * Verifies the invitation with documents that the person got from the
     * issuer.
     */
    verifyWith: (files: readonly File[]) =>
      reading.run(async () => {
        const documents = await readFiles(files);
        requireDocuments(documents, IDENTITY);
        if (!await hasEd25519()) throw new ShownError(NO_ED25519);
        setState(await verifyBy(invitation, documents, "person"));
      }),
    decline: () => setState({ at: "declined" }),
    restart() {
      setState({ at: "verifying" });
      setRestarts(restarts + 1);
    },
  };
}

/** Returns what work returns, or the refusal that it throws as an error. */
function attempt<T>(work: () => T): T | Refused {
  try {
    return work();
  } catch (error) {
    return refused(error);
  }
}

function refused(error: unknown, isIssuers = false): Refused {
  if (isSigError(error)) return { at: "refused", error, isIssuers };
  throw error;
}

/**
 * Verifies the invitation with the issuer's keys, if this server serves them:
 * the page's policy allows requests to its own server only. A forged invitation
 * gives an attacker nothing, since the answer is valid only for it. So an
 * unverified invitation may be answered; it is marked as unverified.
 */
async function verifyHere(
  invitation: ParsedInvitation,
  issuers: PageConfig["issuers"],
): Promise<InvitationState> {
  // This check needs no keys, so an expired invitation is always refused.
  const expired = attempt(() => requireUnexpired(invitation, now()));
  if (expired) return expired;
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
    if (!(error instanceof ShownError)) throw error;
    return unverified("The issuer’s keys could not be read just now.");
  }
}

async function verifyBy(
  invitation: ParsedInvitation,
  documents: Documents,
  by: "server" | "person",
): Promise<InvitationState> {
  const issuer = invitation.claims.iss;
  let isIssuers = true;
  try {
    const { keys } = await loadIssuer({
      reader: readerOf(documents),
      metadataRef: "/.well-known/sig.json",
      expectedIssuer: issuer,
    });
    isIssuers = false;
    await verifyInvitation(invitation, { issuer, keys, now });
    const personName = await requireUnused(invitation, documents);
    return { at: "open", trust: { by }, personName };
  } catch (error) {
    return refused(error, isIssuers);
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
      if (!(error instanceof ShownError)) throw error;
    });
  if (!verified || !("state" in verified)) return undefined;
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
