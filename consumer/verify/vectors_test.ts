import {
  ERROR_CODES,
  type FeedState,
  isSigError,
  type RelationshipState,
  type Warning,
} from "@sig/core";
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { IssuerLocation } from "../read/reader.ts";
import { unpackedFeed } from "../../tests/kit/unpack_vectors.ts";
import type {
  ExpectedInvalid,
  ExpectedValid,
} from "../../tests/kit/vector_format.ts";
import { type FeedVector, readFeedVectors } from "../../tests/kit/vectors.ts";
import { openSource } from "../read/source.ts";
import { type ReportedFault, reportIssuer } from "./verify_report.ts";
import { verifyIssuer } from "./verify_feed.ts";

// promise: One bad line makes the whole feed invalid, and is reported with its
//   line.

const vectors = readFeedVectors();

for (const vector of vectors) {
  Deno.test(`feed ${vector.name}: ${vector.expected.description}`, async () => {
    await using unpacked = await unpackedFeed(vector);
    const { path } = unpacked;
    await verifyVector(vector, openSource({ kind: "directory", path }));
  });
}

Deno.test("every code and warning about files has a feed vector", () => {
  const expected = vectors.map(({ expected }) => expected);
  const codes = new Set(
    expected.flatMap((each) => each.result === "invalid" ? [each.code] : []),
  );
  // The other invalid codes are about logging in, joining, and proofs.
  const ofOthers = [
    ...["invalid_attestation", "invalid_invitation"],
    ...["invalid_checkpoint", "proof_invalid", "invalid_evidence"],
  ];
  const invalid = Object.entries(ERROR_CODES).filter(([code, { category }]) =>
    category === "invalid" && !ofOthers.includes(code)
  ).map(([code]) => code);
  const further = ["line_too_long", "recovery_contradicted"];
  assertEquals([...codes].sort(), [...invalid, ...further].sort());
  const warnings = new Set(
    expected.flatMap((each) => each.result === "valid" ? each.warnings : []),
  );
  // All warnings except those about servers and about pins.
  assertEquals([...warnings].sort(), [
    ...["did_document_missing", "effective_at_future", "event_void"],
    ...["field_over_limit", "issued_at_back", "issued_at_future"],
    ...["revoke_without_upsert", "revoked_again", "subject_changed"],
    ...["subject_not_did", "unknown_event_ignored"],
  ]);
});

async function verifyVector(
  { expected }: FeedVector,
  location: IssuerLocation,
) {
  const options = {
    unknownEvents: expected.options?.unknown_events,
    unmatchedRevoke: expected.options?.unmatched_revoke,
    now: new Date(expected.now),
  };
  const report = await reportIssuer(location, options);
  assertEquals(report.source, location.reader.kind);
  if (expected.result === "valid") {
    const verified = await verifyIssuer(location, options);
    assertEquals(verified.issuer, expected.issuer);
    assertState(verified.state, expected);
    assertWarnings(verified.warnings, expected);
    assert(report.valid);
    assertEquals(report.issuer, expected.issuer);
    assertEquals(report.last_sequence, expected.last_sequence);
    assertEquals(report.verified_events, expected.last_sequence);
    assertWarnings(report.warnings, expected);
    return;
  }
  const error = await verifyIssuer(location, options).then(
    () => undefined,
    (error: unknown) => error,
  );
  assert(isSigError(error), `not a SigError: ${error}`);
  assertMatch(error.message, /^Cannot [a-z]+ .+: .+/);
  assertFault({ ...error.context, code: error.code }, expected);
  assert(!report.valid);
  assertFault(report.errors[0] ?? {}, expected);
  assertEquals(report.errors[0]?.detail, error.message);
}

function assertState(state: FeedState, expected: ExpectedValid): void {
  assertEquals(state.issuer, expected.issuer);
  assertEquals(state.last_sequence, expected.last_sequence);
  const wanted = new Map<string, RelationshipState>(
    Object.entries(expected.by_relationship_id),
  );
  assertEquals(new Map(state.by_relationship_id), wanted);
}

function assertWarnings(
  warnings: readonly Warning[],
  expected: ExpectedValid,
): void {
  assertEquals(
    warnings.map(({ code }) => code).sort(),
    [...expected.warnings].sort(),
  );
}

/** Compares the code and the place, and the kid if the vector has one. */
function assertFault(
  found: Partial<Pick<ReportedFault, "code" | "line" | "sequence" | "kid">>,
  expected: ExpectedInvalid,
): void {
  const { code, line, sequence, kid } = found;
  assertEquals(
    { code, line, sequence, kid: expected.kid && kid },
    {
      code: expected.code,
      line: expected.line,
      sequence: expected.sequence,
      kid: expected.kid,
    },
  );
}
