/** One invitation from its link to its answer. @module */

import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import {
  type BrowserKey,
  hasEd25519,
  isSigError,
  SigError,
  signingKeyOf,
} from "../libraries/login.ts";
import {
  answerInvitation,
  type InvitationAnswer,
  type ParsedInvitation,
} from "../libraries/mod.ts";
import { DocumentsError, readIdentityFiles } from "../feed/documents.ts";
import type { Site } from "../site/site.ts";
import {
  judgeBy,
  judgeInvitation,
  readInvitation,
  type Standing,
} from "./read_invitation.ts";

/** Where an invitation stands. */
export type InvitationStage =
  | { readonly at: "judging" }
  | {
    readonly at: "refused";
    readonly error: SigError;
    readonly isIssuers: boolean;
  }
  | {
    readonly at: "open";
    readonly standing: Exclude<Standing, { at: "refused" }>;
    /** That the browser did not sign, if it did not. */
    readonly trouble?: string;
    /** Why the files that were opened tell nothing, if they don't. */
    readonly filesTrouble?: string;
  }
  | { readonly at: "declined" }
  | {
    readonly at: "answered";
    readonly answer: InvitationAnswer;
    readonly key: BrowserKey;
  };

/** What the view is given. */
export interface InvitationFlow {
  /** Undefined where the link holds none. */
  readonly invitation: ParsedInvitation | undefined;
  readonly stage: InvitationStage;
  readonly busy: boolean;
  /** Signs with the key of that name; makes one where none is named. */
  approve(did: string | undefined): Promise<void>;
  decline(): void;
  /** Verifies it with documents that the person got from the issuer. */
  verifyWith(files: readonly File[]): Promise<void>;
  /** Looks at it again. */
  again(): void;
}

const now = () => new Date();

/** Reads it, asks the issuer's keys, and answers when the person says so. */
export function useInvitation(
  { config, keys }: Site,
  text: string,
): InvitationFlow {
  const read = useMemo(() => parse(text), [text]);
  const [stage, setStage] = useState<InvitationStage>(
    read instanceof SigError ? refusal(read) : { at: "judging" },
  );
  const [busy, setBusy] = useState(false);
  const [round, setRound] = useState(0);

  useLayoutEffect(() => {
    if (read instanceof SigError) return;
    let gone = false;
    void (async () => {
      const standing = await judgeInvitation(read, config, now);
      if (gone) return;
      setStage(
        standing.at === "refused" ? standing : { at: "open", standing },
      );
    })();
    return () => {
      gone = true;
    };
  }, [read, round]);

  async function approve(did: string | undefined): Promise<void> {
    if (busy || stage.at !== "open" || read instanceof SigError) return;
    setBusy(true);
    try {
      const key = keys.all.find((each) => each.did === did) ??
        await keys.create();
      const answer = await answerInvitation({
        invitation: read,
        key: signingKeyOf(key),
        now,
      });
      setStage({ at: "answered", answer, key });
    } catch (error) {
      setStage(
        isSigError(error) ? refusal(error) : {
          ...stage,
          trouble: "This browser did not sign. Try again.",
        },
      );
    } finally {
      setBusy(false);
    }
  }

  async function verifyWith(files: readonly File[]): Promise<void> {
    if (stage.at !== "open" || read instanceof SigError) return;
    const fail = (filesTrouble: string) => setStage({ ...stage, filesTrouble });
    try {
      const documents = await readIdentityFiles(files);
      if (!await hasEd25519()) {
        fail("This browser can’t verify Ed25519 signatures.");
        return;
      }
      const standing = await judgeBy(read, documents, "person", now);
      setStage(
        standing.at === "refused" ? standing : { at: "open", standing },
      );
    } catch (error) {
      fail(
        error instanceof DocumentsError
          ? error.message
          : "This browser could not read the files. Try again.",
      );
    }
  }

  return {
    invitation: read instanceof SigError ? undefined : read,
    stage,
    busy,
    approve,
    verifyWith,
    decline: () => setStage({ at: "declined" }),
    again() {
      setStage({ at: "judging" });
      setRound(round + 1);
    },
  };
}

function parse(text: string): ParsedInvitation | SigError {
  try {
    return readInvitation(text);
  } catch (error) {
    if (isSigError(error)) return error;
    throw error;
  }
}

function refusal(error: SigError): InvitationStage {
  return { at: "refused", error, isIssuers: false };
}
