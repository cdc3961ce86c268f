/**
 * Prototype pollution. Only Node can show it, since Deno has no `__proto__`
 * accessor.
 *
 * @module
 */

import {
  check,
  dumpState,
  isSigError,
  parseEventPayload,
  parseFeedLine,
  parseJson,
  parseRequirement,
  replay,
  SigError,
  stringifyDump,
  toProblem,
  type UnknownEvent,
  validateEvent,
  validateMetadata,
} from "@sig/core";
import { withContext } from "@sig/core/internal";
import { type Suite, Tally } from "./suite.ts";

const NAMES = ["__proto__", "constructor", "toString", "prototype", "valueOf"];

/** Members that all objects would inherit from a polluted prototype. */
const POISON =
  '{"polluted":true,"prototype":{"polluted":true},"status":"active"}';

const PROTOTYPES: readonly object[] = [
  Object.prototype,
  Array.prototype,
  Function.prototype,
  String.prototype,
  Map.prototype,
  Set.prototype,
  Error.prototype,
];

/** Returns all members of the prototypes. */
function snapshot(): readonly unknown[] {
  return PROTOTYPES.flatMap((prototype) =>
    Reflect.ownKeys(prototype).flatMap((key) => {
      const { value, get, set } = Reflect.getOwnPropertyDescriptor(
        prototype,
        key,
      )!;
      return [key, value, get, set];
    })
  );
}

function payload(name: string, sequence: number): Uint8Array<ArrayBuffer> {
  const quoted = JSON.stringify(name);
  return new TextEncoder().encode(
    `{"spec_version":"sig/0.1","event_id":${quoted},` +
      `"event_type":"relationship.upsert","issuer":"did:web:acme.example",` +
      `"issued_at":"2026-01-01T00:00:00Z","sequence":${sequence},` +
      `"relationship_id":${quoted},"subject":${quoted},` +
      `"visibility":"public","relationship_type":"employee",` +
      `"status":"active","roles":[${quoted}],"valid_from":null,` +
      `"valid_until":null,"display":{${quoted}:${POISON}},` +
      `"metadata":{${quoted}:${POISON}},"x":{},${quoted}:${POISON}}`,
  );
}

function codeOf(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (isSigError(error)) return error.code;
    throw error;
  }
}

/** Passes hostile names to all functions of core. */
export const pollutionSuite: Suite = () => {
  const before = snapshot();
  const tally = new Tally();
  const events = NAMES.map((name, i): UnknownEvent =>
    parseEventPayload(payload(name, i + 1))
  );
  const { state } = replay(events);
  const now = new Date("2026-02-01T00:00:00Z");
  for (const name of NAMES) {
    const answer = check(state, {
      subject: name,
      require: [`role=${name}`, `relationship_id=${name}`],
      now,
      explain: true,
    });
    tally.expect(`allow ${name}`, answer.matched_relationship_id, name);
    const other = check(state, { subject: name, require: ["role=x"], now });
    tally.expect(`deny ${name}`, other.reasons[0]?.code, "role_missing");
    const none = check(state, {
      subject: `${name}_`,
      require: ["role=x"],
      now,
    });
    tally.expect(`none ${name}`, none.reasons[0]?.code, "no_relationship");
    const poison = JSON.parse(`{"${name}":${POISON}}`) as Record<
      string,
      string
    >;
    tally.expect(
      `requirement ${name}`,
      codeOf(() => parseRequirement(poison)),
      "invalid_requirement",
    );
    const missing = [
      () => validateEvent(poison),
      () => validateMetadata(poison),
    ]
      .map(codeOf).join();
    tally.expect(
      `missing ${name}`,
      missing,
      "missing_field,invalid_metadata",
    );
    const line =
      `{"protected":"","payload":"","signature":"","${name}":${POISON}}`;
    tally.expect(
      `line ${name}`,
      codeOf(() => parseFeedLine(line)),
      "invalid_envelope",
    );
    tally.expect(
      `twice ${name}`,
      codeOf(() => parseFeedLine(`{"${name}":${POISON},"${name}":${POISON}}`)),
      "duplicate_json_member",
    );
    const error = new SigError("not_found", {
      reason: "Cannot find it",
      context: { [name]: "x" },
    });
    const problem = toProblem(withContext(error, JSON.parse(POISON)));
    tally.expect(`problem ${name}`, Object.hasOwn(problem, name), true);
  }
  const dump = stringifyDump(dumpState(state, { now }));
  const again = parseJson(dump) as { by_relationship_id: object };
  const keys = Object.keys(again.by_relationship_id).join();
  tally.expect("dump", keys, [...NAMES].sort().join());
  tally.expect(
    "{}.polluted",
    ({} as { polluted?: unknown }).polluted,
    undefined,
  );
  const after = snapshot();
  const same = before.length === after.length &&
    before.every((value, i) => Object.is(value, after[i]));
  tally.expect("the prototypes are as before", same, true);
  return tally;
};
