/** An evidence file and its proof as a diagram. @module */

import {
  fetchTrustedKeys,
  type VerifiedEvidence,
  verifyEvidence,
} from "@sig/consumer";
import { originOf } from "@sig/consumer/internal";
import {
  isSigError,
  parseEventPayload,
  parseFeedLine,
  parseJson,
} from "@sig/core";
import { isObject } from "@sig/core/internal";
import { importVerificationKey } from "@sig/jose";
import { encodeBase64, parseVerifierKey } from "@sig/jose/proofs";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useLoading, usePage } from "../api.ts";
import { Copyable, Did } from "../copy.tsx";
import { Alert, Badge, Fold, type Kind, TextForm } from "../elements.tsx";
import type { PageConfig } from "../page_config.ts";
import { counted, hostOf, visibleText } from "../text.ts";
import { Time } from "../time.tsx";
import { Reasons } from "./answer.tsx";
import { fetchDocuments, IDENTITY, readerOf } from "./documents.ts";
import { ChangeText } from "./elements.tsx";
import { readChanges } from "./ledger.ts";

/** Returns whether a file has the format of evidence, without verifying it. */
export function isEvidence(bytes: Uint8Array): boolean {
  try {
    const value = parseJson(bytes);
    return isObject(value) && value.type === "sig-evidence/v1";
  } catch {
    return false;
  }
}

/** The source of the signing key. */
type Trust = "server" | "person" | "file";

/** What verifying shows. */
interface Verdict {
  readonly kind: Kind;
  readonly title: string;
  readonly text: ComponentChildren;
  /** What was verified, and with whose key. */
  readonly proof?: {
    readonly verified: VerifiedEvidence;
    readonly trust: Trust;
  };
}

/** Verifies evidence, and shows it from the question to the key. */
export function Evidence({ bytes }: { readonly bytes: Uint8Array }) {
  const { issuers } = usePage().config;
  const [vkey, setVkey] = useState("");
  const [verdict, setVerdict] = useState<Verdict | undefined>();
  useLoading(() => verify(bytes, issuers, vkey), setVerdict, [bytes, vkey]);
  if (verdict === undefined) {
    return <p class="quiet">Verifying the evidence…</p>;
  }
  const { kind, title, text, proof } = verdict;
  return (
    <section id="evidence" class="card" aria-live="polite">
      <Alert kind={kind} title={title} id="evidence-title" autoFocus>
        <p>{text}</p>
      </Alert>
      {kind !== "success" && (
        <TextForm
          id="evidence-key"
          label="The issuer’s key"
          placeholder="acme.example/.well-known/sig+7d1e9e5f+AQ…"
          hint={
            <>
              As <code>sig evidence verify</code>{" "}
              prints it when it fetches the issuer’s keys.
            </>
          }
          button={{ children: "Verify with this key" }}
          onText={setVkey}
        />
      )}
      {proof && <Chain {...proof} />}
    </section>
  );
}

async function verify(
  bytes: Uint8Array,
  issuers: PageConfig["issuers"],
  vkey: string,
): Promise<Verdict> {
  let trust: Trust = "person";
  try {
    const given = vkey === "" ? undefined : await parseVerifierKey(vkey);
    const verified = await verifyEvidence(bytes, async (issuer) => {
      if (given !== undefined) {
        const isTheirs = given.type === "note" &&
          given.name === originOf(issuer);
        return isTheirs ? [given.key] : [];
      }
      const known = issuers.find(({ did }) => did === issuer);
      trust = known === undefined ? "file" : "server";
      return known === undefined
        ? await keysInside(bytes)
        : await fetchTrustedKeys({
          reader: readerOf(await fetchDocuments(known.base, IDENTITY)),
          metadataRef: "/.well-known/sig.json",
          expectedIssuer: issuer,
        });
    });
    return { ...verdictOf(verified, trust), proof: { verified, trust } };
  } catch (error) {
    const text = error instanceof Error
      ? visibleText(error.message)
      : "Something went wrong in this browser. Try again.";
    return isSigError(error, "invalid_evidence")
      ? { kind: "danger", title: "Not proven", text }
      : { kind: "warning", title: "No verdict", text };
  }
}

function verdictOf({ signed_at }: VerifiedEvidence, trust: Trust): Verdict {
  if (trust === "file") {
    const text =
      "The key came with the file, and anyone can make a key. Enter the issuer’s key as you know it from elsewhere.";
    return { kind: "warning", title: "Consistent, not proven", text };
  }
  const text = (
    <>
      The issuer signed this {signed_at === null ? "at some time" : (
        <>
          at <Time instant={signed_at} />
        </>
      )}. It does not show that nothing came later.
    </>
  );
  return { kind: "success", title: "Proven", text };
}

/** Keys from the file itself, which prove only that it is consistent. */
async function keysInside(bytes: Uint8Array) {
  const { keys } = parseJson(bytes) as { keys: Record<string, string> };
  return await Promise.all(
    Object.values(keys).map((x) =>
      importVerificationKey({ kty: "OKP", crv: "Ed25519", x })
    ),
  );
}

const TRUST: Readonly<Record<Trust, string>> = {
  server: "It is in the issuer’s documents that this server passed on.",
  person: "It is the key that you entered.",
  file: "It came with the file.",
};

/** The steps from the question to the key; each is proven by the next. */
function Chain({ verified, trust }: Verdict["proof"] & object) {
  const { evidence, checkpoint, kid, vkey, voids } = verified;
  const { answer, issuer, lines, other, path, question } = evidence;
  const rows = readChanges(lines.map((line, i) => {
    const { header, payload } = parseFeedLine(new TextEncoder().encode(line));
    const event = parseEventPayload(payload);
    return { event, kid: header.kid, line: i + 1, isVoid: voids[i]! };
  }));
  const isAllowed = answer.decision === "allow";
  return (
    <ol class="plain chain">
      <li>
        <h3>Question</h3>
        <p>
          Does <Did did={question.subject} /> meet{" "}
          {question.require.map((each) => (
            <>
              <code>{visibleText(each)}</code>
              {" "}
            </>
          ))}
          of <strong>{hostOf(issuer)}</strong> at{" "}
          <Time instant={question.at} />?
        </p>
      </li>
      <li>
        <h3>Answer</h3>
        <p>
          <Badge kind={isAllowed ? "success" : "danger"}>
            {isAllowed ? "Allow" : "Deny"}
          </Badge>
        </p>
        <Reasons of={answer.reasons} />
      </li>
      <li>
        <h3>Signed events about this subject</h3>
        {rows.length === 0
          ? (
            <p>
              None. {other === undefined
                ? "Its place in the tree is empty."
                : "Another subject is in its place in the tree."}
            </p>
          )
          : (
            <ul class="plain">
              {rows.map((change, i) => (
                <li key={i} class="row">
                  <span class="number">#{change.verified.event.sequence}</span>
                  <ChangeText change={change} />
                  <span class="quiet">
                    <Time instant={change.verified.event.issued_at} />
                  </span>
                </li>
              ))}
            </ul>
          )}
      </li>
      <li>
        <h3>Path</h3>
        <p>
          {path.length} hashes lead from there to the hash of all subjects.
        </p>
        <Fold title="Hashes">
          {[...path, encodeBase64(checkpoint.state)].map((hash, i) => (
            <p key={i}>
              <code>{hash}</code>
            </p>
          ))}
        </Fold>
      </li>
      <li>
        <h3>Checkpoint</h3>
        <p>
          <code>{visibleText(checkpoint.origin)}</code>,{" "}
          {counted(checkpoint.size, "event")}
        </p>
        <p>
          <code>{encodeBase64(checkpoint.root)}</code>
        </p>
      </li>
      <li>
        <h3>Key</h3>
        <p>
          <code>{visibleText(kid)}</code> signed the checkpoint. {TRUST[trust]}
        </p>
        <Copyable visible={vkey} what="the key" />
      </li>
    </ol>
  );
}
