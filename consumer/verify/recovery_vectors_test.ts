/** Issuers with statements, made by an independent implementation. @module */

import {
  type AskedRequirements,
  check,
  type FeedState,
  isSigError,
  type RelationshipState,
  SigError,
  type SigMetadata,
} from "@sig/core";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { readJsonVectors, vectorTest } from "../../tests/kit/others_vectors.ts";
import { openInlineFeed } from "../read/source.ts";
import { verifyIssuer } from "./verify_feed.ts";

// promise: Events that a stolen key signed after its last good one never have
//   an effect.

interface Decision {
  readonly subject: string;
  readonly require: AskedRequirements;
  readonly at?: string;
  readonly as_of?: number | string;
  readonly decision: string;
  readonly reasons: readonly string[];
  readonly matched_relationship_id: string | null;
  readonly last_sequence?: number;
}

interface IssuerFile {
  readonly now: string;
  readonly cases: readonly {
    readonly name: string;
    readonly metadata: SigMetadata;
    readonly jwks: { readonly keys: readonly { readonly kid: string }[] };
    readonly events: string;
    readonly expected: {
      readonly ours: {
        readonly code?: string;
        readonly last_sequence: number;
        readonly void: readonly number[];
        readonly state: { readonly [id: string]: RelationshipState };
        readonly decisions: readonly Decision[];
        readonly warnings: readonly string[];
      };
      readonly plain: {
        readonly code?: string;
        readonly decisions: readonly string[];
      };
    };
  }[];
}

function read(
  of: Pick<IssuerFile["cases"][number], "metadata" | "events" | "jwks">,
  now: Date,
) {
  const { metadata, jwks, events } = of;
  const did = metadata.issuer;
  const methods = jwks.keys.map((publicKeyJwk) => ({
    id: `${did}#${publicKeyJwk.kid}`,
    type: "JsonWebKey2020",
    controller: did,
    publicKeyJwk,
  }));
  const did_document = {
    "@context": ["https://www.w3.org/ns/did/v1"],
    id: did,
    verificationMethod: methods,
    assertionMethod: methods.map(({ id }) => id),
  };
  const voids: number[] = [];
  return verifyIssuer(
    openInlineFeed({ metadata, jwks, did_document, events }),
    {
      now,
      onEvent: ({ event, isVoid }) => {
        if (isVoid) voids.push(event.sequence);
      },
    },
  ).then((verified) => ({ ...verified, voids }));
}

function ask(state: FeedState, now: Date, question: Decision) {
  const { subject, require, at, as_of } = question;
  return check(state, {
    ...{ subject, require, now },
    ...(at === undefined ? {} : { at }),
    ...(as_of === undefined ? {} : { asOf: as_of }),
  });
}

vectorTest(
  "void events are not applied, and roots are compared, as the vectors say",
  "recovery/issuers.json",
  async (t) => {
    const file = readJsonVectors<IssuerFile>("recovery/issuers.json");
    const now = new Date(file.now);
    for (
      const { name, expected: { ours, plain }, ...documents } of file.cases
    ) {
      await t.step(name, async () => {
        if (ours.code !== undefined) {
          const error = await assertRejects(
            () => read(documents, now),
            SigError,
          );
          assertEquals(error.code, ours.code);
          return;
        }
        const { state, voids, warnings } = await read(documents, now);
        assertEquals(voids, ours.void);
        assertEquals(state.last_sequence, ours.last_sequence);
        assertEquals(Object.fromEntries(state.by_relationship_id), ours.state);
        assertEquals(warnings.map(({ code }) => code), ours.warnings);
        for (const question of ours.decisions) {
          const answer = ask(state, now, question);
          assertEquals(
            [
              answer.decision,
              answer.reasons.map(({ code }) => code),
              answer.matched_relationship_id,
            ],
            [
              question.decision,
              question.reasons,
              question.matched_relationship_id,
            ],
            JSON.stringify(question),
          );
          if (question.last_sequence !== undefined) {
            assertEquals(answer.last_sequence, question.last_sequence);
          }
        }
      });
      await t.step(`${name}: a plain reader`, async () => {
        const { recovery: _, ...metadata } = documents.metadata;
        const of = { ...documents, metadata };
        if (plain.code !== undefined) {
          const error = await assertRejects(() => read(of, now));
          assert(isSigError(error, plain.code as "sequence_gap"));
          return;
        }
        const { state } = await read(of, now);
        const asked = ours.code === undefined ? ours.decisions : [];
        const decisions = asked.map((question) =>
          ask(state, now, question).decision
        );
        assertEquals(decisions, plain.decisions);
      });
    }
  },
);
