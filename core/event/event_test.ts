import { assertEquals, assertThrows } from "@std/assert";
import { SigError } from "../errors/error.ts";
import type { ErrorCode } from "../errors/error_codes.ts";
import {
  findEventIssues,
  findEventWarnings,
  isRevoke,
  isSequence,
  isUpsert,
  validateEvent,
  type ValidateEventOptions,
} from "./event.ts";
import { DEFAULT_LIMITS } from "../text/limits.ts";
import { REASON_CODES, RELATIONSHIP_TYPES, type SigEvent } from "./types.ts";
import { assertSigError } from "../../tests/kit/sig_errors.ts";
import { revoke, upsert } from "../../tests/kit/events.ts";

type Changes = Readonly<Record<string, unknown>>;

/** A member that is taken away. */
const ABSENT = Symbol("absent");

function changed(event: SigEvent, changes: Changes): Record<string, unknown> {
  const copy: Record<string, unknown> = { ...event };
  for (const [name, value] of Object.entries(changes)) {
    if (value === ABSENT) delete copy[name];
    else copy[name] = value;
  }
  return copy;
}

/** The faults as `pointer code`. */
function faults(value: unknown, options?: ValidateEventOptions): string[] {
  return findEventIssues(value, options).map(({ pointer, code }) =>
    `${pointer} ${code}`
  );
}

interface Rule {
  readonly rule: string;
  readonly of?: "upsert" | "revoke";
  readonly good: readonly Changes[];
  readonly bad: readonly (readonly [Changes, string])[];
  readonly options?: ValidateEventOptions;
}

const NOT_IDENTIFIERS = [null, 1, "", {}, "a\nb", "\u0000", "\u007f", "\u0085"];

function identifier(name: string): Rule {
  return {
    rule: `${name} is a non-empty string without control characters`,
    good: ["x", "é", "__proto__", "constructor", "a b", "‮"].map((value) => ({
      [name]: value,
    })),
    bad: NOT_IDENTIFIERS.map((value) => [
      { [name]: value },
      `/${name} invalid_field`,
    ]),
  };
}

function oneOf(
  of: "upsert" | "revoke",
  name: string,
  list: readonly string[],
): Rule {
  return {
    rule: `${name} is one of the table's`,
    of,
    good: list.map((value) => ({ [name]: value })),
    bad: ["", "Employee", "toString", "__proto__", null, 0, [list[0]]].map((
      value,
    ) => [{ [name]: value }, `/${name} invalid_field`]),
  };
}

const TIMESTAMPS = ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.123456789Z"];
const NOT_TIMESTAMPS = [
  "",
  "2026-01-01",
  "2026-01-01T00:00:00+00:00",
  "2026-02-30T00:00:00Z",
  0,
  {},
];

function timestamp(
  of: "upsert" | "revoke",
  name: string,
  nullable: boolean,
): Rule {
  const values: unknown[] = nullable ? [...TIMESTAMPS, null] : TIMESTAMPS;
  const others: unknown[] = nullable
    ? NOT_TIMESTAMPS
    : [...NOT_TIMESTAMPS, null];
  return {
    rule: `${name} is RFC 3339 UTC${nullable ? " or null" : ""}`,
    of,
    good: values.map((value) => ({ [name]: value })),
    bad: others.map((value) => [{ [name]: value }, `/${name} invalid_field`]),
  };
}

function optionalText(of: "upsert" | "revoke", name: string): Rule {
  return {
    rule: `${name} is text, null or absent`,
    of,
    good: ["", "x", "a\nb", null, ABSENT].map((value) => ({ [name]: value })),
    bad: [1, {}, [], false].map((value) => [
      { [name]: value },
      `/${name} invalid_field`,
    ]),
  };
}

function optionalObject(of: "upsert" | "revoke", name: string): Rule {
  return {
    rule: `${name} is an object, null or absent`,
    of,
    good: [{}, { a: [1] }, null, ABSENT].map((value) => ({ [name]: value })),
    bad: [1, "x", [], true].map((value) => [
      { [name]: value },
      `/${name} invalid_field`,
    ]),
  };
}

const RULES: readonly Rule[] = [
  {
    rule: "spec_version is sig/0.1",
    good: [{ spec_version: "sig/0.1" }],
    bad: [
      [{ spec_version: "sig/0.2" }, "/spec_version unsupported_spec_version"],
      [{ spec_version: "SIG/0.1" }, "/spec_version unsupported_spec_version"],
      [{ spec_version: "" }, "/spec_version unsupported_spec_version"],
      [{ spec_version: 0.1 }, "/spec_version invalid_field"],
      [{ spec_version: null }, "/spec_version invalid_field"],
    ],
  },
  {
    rule: "event_type is one of the two",
    good: [{ event_type: "relationship.upsert" }],
    bad: [
      [
        { event_type: "relationship.suspend" },
        "/event_type unknown_event_type",
      ],
      [{ event_type: "" }, "/event_type unknown_event_type"],
      [{ event_type: "toString" }, "/event_type unknown_event_type"],
      [{ event_type: null }, "/event_type invalid_field"],
      [{ event_type: 1 }, "/event_type invalid_field"],
    ],
  },
  {
    rule: "an unknown event_type is accepted on request, a wrong one never",
    options: { unknownEvents: "ignore" },
    good: [{ event_type: "relationship.suspend", roles: 1, status: "odd" }],
    bad: [
      [{ event_type: null }, "/event_type invalid_field"],
      [{ event_type: "x", subject: "" }, "/subject invalid_field"],
    ],
  },
  identifier("event_id"),
  identifier("issuer"),
  identifier("subject"),
  identifier("relationship_id"),
  timestamp("upsert", "issued_at", false),
  {
    rule: "sequence is an integer from 1 to 2^53-1",
    good: [{ sequence: 1 }, { sequence: 2 ** 53 - 1 }],
    bad: [0, -1, 1.5, 2 ** 53, NaN, Infinity, "1", null, [1], true].map((
      sequence,
    ) => [{ sequence }, "/sequence invalid_field"]),
  },
  {
    rule: "visibility is public or private",
    good: [{ visibility: "public" }, { visibility: "private" }],
    bad: ["Public", "", null, 1].map((visibility) => [
      { visibility },
      "/visibility invalid_field",
    ]),
  },
  {
    rule: "a public_only feed has no private event",
    options: { publicOnly: true },
    good: [{ visibility: "public" }],
    bad: [[
      { visibility: "private" },
      "/visibility private_event_in_public_feed",
    ]],
  },
  optionalText("upsert", "reason"),
  optionalText("revoke", "reason"),
  optionalObject("upsert", "metadata"),
  optionalObject("revoke", "metadata"),
  optionalObject("upsert", "display"),
  oneOf("upsert", "relationship_type", RELATIONSHIP_TYPES),
  oneOf("revoke", "reason_code", REASON_CODES),
  {
    rule: "an upsert's status is active",
    good: [{ status: "active" }],
    bad: [
      [{ status: "revoked" }, "/status status_not_active"],
      [{ status: "Active" }, "/status status_not_active"],
      [{ status: "" }, "/status status_not_active"],
      [{ status: null }, "/status invalid_field"],
      [{ status: true }, "/status invalid_field"],
    ],
  },
  {
    rule: "roles are strings, and may be none",
    good: [{ roles: [] }, { roles: ["a", "a", ""] }],
    bad: [null, "deploy", {}, [1], [null], [["a"]], Array(1)].map((roles) => [
      { roles },
      "/roles invalid_field",
    ]),
  },
  timestamp("upsert", "valid_from", true),
  timestamp("upsert", "valid_until", true),
  {
    rule: "valid_until is after valid_from, to the nanosecond",
    good: [
      {
        valid_from: "2026-01-01T00:00:00Z",
        valid_until: "2026-01-01T00:00:00.000000001Z",
      },
      {
        valid_from: "2026-01-01T00:00:00.09Z",
        valid_until: "2026-01-01T00:00:00.1Z",
      },
      { valid_from: null, valid_until: "0001-01-01T00:00:00Z" },
    ],
    bad: [
      ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"],
      ["2026-01-01T00:00:00.1Z", "2026-01-01T00:00:00.10Z"],
      ["2026-01-01T00:00:00.1Z", "2026-01-01T00:00:00.09Z"],
      ["2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"],
    ].map(([valid_from, valid_until]) => [
      { valid_from, valid_until },
      "/valid_until invalid_field",
    ]),
  },
  {
    rule: "display's three members are text, null or absent; others are free",
    good: [
      { display: { title: "CTO", department: null, label: "" } },
      { display: { icon: 1, nested: { title: 1 } } },
    ],
    bad: ["title", "department", "label"].map((name) => [
      { display: { [name]: 1 } },
      `/display/${name} invalid_field`,
    ]),
  },
  timestamp("revoke", "effective_at", false),
  {
    rule: "a revoke names its own relationship",
    of: "revoke",
    good: [{ relationship_id: "r2", revokes_relationship_id: "r2" }],
    bad: [
      [
        { revokes_relationship_id: "r2" },
        "/revokes_relationship_id revoke_target_mismatch",
      ],
      [
        { revokes_relationship_id: "R1" },
        "/revokes_relationship_id revoke_target_mismatch",
      ],
      [
        { revokes_relationship_id: "" },
        "/revokes_relationship_id revoke_target_mismatch",
      ],
      [
        { revokes_relationship_id: null },
        "/revokes_relationship_id invalid_field",
      ],
      [
        { revokes_relationship_id: ["r1"] },
        "/revokes_relationship_id invalid_field",
      ],
    ],
  },
  {
    rule: "unknown members are kept and ignored",
    good: [{ future: 1, valid_for: null }, { constructor: 1, toString: "x" }],
    bad: [],
  },
];

for (const { rule, of = "upsert", good, bad, options } of RULES) {
  const base = of === "upsert" ? upsert(1) : revoke(1);
  Deno.test(`${of}: ${rule}`, () => {
    for (const changes of good) {
      assertEquals(
        faults(changed(base, changes), options),
        [],
        Deno.inspect(changes),
      );
    }
    for (const [changes, expected] of bad) {
      assertEquals(
        faults(changed(base, changes), options),
        [expected],
        Deno.inspect(changes),
      );
    }
  });
}

const COMMON = [
  "spec_version",
  "event_id",
  "event_type",
  "issuer",
  "issued_at",
  "sequence",
  "relationship_id",
  "subject",
  "visibility",
];
const REQUIRED = {
  upsert: [
    ...COMMON,
    "relationship_type",
    "status",
    "roles",
    "valid_from",
    "valid_until",
  ],
  revoke: [...COMMON, "revokes_relationship_id", "reason_code", "effective_at"],
};

for (const [of, names] of Object.entries(REQUIRED)) {
  const base = of === "upsert" ? upsert(1) : revoke(1);
  Deno.test(`${of}: each required member that is absent is missing_field`, () => {
    for (const name of names) {
      for (const absent of [ABSENT, undefined]) {
        const found = faults(changed(base, { [name]: absent }));
        // A revoke without relationship_id names another one, too.
        assertEquals(found[0], `/${name} missing_field`);
        const alsoBroken = of === "revoke" && name === "relationship_id";
        assertEquals(found.length, alsoBroken ? 2 : 1, name);
      }
    }
  });
}

Deno.test("inherited members are absent", () => {
  assertEquals(
    faults(Object.create(upsert(1))),
    ["/spec_version missing_field"]
      .concat(COMMON.slice(1).map((name) => `/${name} missing_field`)),
  );
});

Deno.test("all faults are told at once, in the order of the tables", () => {
  const event = changed(upsert(1), {
    event_id: 1,
    sequence: 0,
    roles: null,
    display: { title: 1 },
  });
  const error = assertSigError(
    () => validateEvent(event),
    "invalid_field",
    "Cannot accept event: /event_id must be a non-empty string without control characters (and 3 more)",
  );
  assertEquals(error.context.errors?.map(({ pointer }) => pointer), [
    "/event_id",
    "/sequence",
    "/roles",
    "/display/title",
  ]);
});

Deno.test("under another spec_version nothing else is judged", () => {
  assertEquals(faults({ spec_version: "sig/9" }), [
    "/spec_version unsupported_spec_version",
  ]);
});

Deno.test("anything but an object is invalid_envelope", () => {
  for (const value of [null, undefined, 1, "x", [], [upsert(1)]]) {
    assertSigError(
      () => validateEvent(value),
      "invalid_envelope",
      "Cannot accept event: the payload must be one JSON object",
    );
  }
});

Deno.test("a valid event is returned as it is", () => {
  const event = upsert(1);
  assertEquals(validateEvent(event) === event, true);
  assertThrows(() => validateEvent({}), SigError, "and 8 more");
});

Deno.test("a sequence is a safe integer from 1 on", () => {
  for (const value of [1, 2 ** 53 - 1]) assertEquals(isSequence(value), true);
  for (const value of [0, -0, 1.5, 2 ** 53, "1", null, 1n]) {
    assertEquals(isSequence(value), false, String(value));
  }
});

Deno.test("events are told apart by their type", () => {
  assertEquals([isUpsert(upsert(1)), isRevoke(upsert(1))], [true, false]);
  assertEquals([isUpsert(revoke(1)), isRevoke(revoke(1))], [false, true]);
});

Deno.test("limits bind writers; a reader is warned just beyond them", () => {
  const warned = (event: SigEvent) =>
    findEventWarnings(event, DEFAULT_LIMITS).map(({ pointer, code }) =>
      `${pointer} ${code as ErrorCode | string}`
    );
  const table: readonly (readonly [SigEvent, SigEvent, string])[] = [
    [
      upsert(1, { event_id: "x".repeat(512) }),
      upsert(1, { event_id: "x".repeat(513) }),
      "/event_id",
    ],
    [
      upsert(1, { issuer: "x".repeat(512) }),
      upsert(1, { issuer: "x".repeat(513) }),
      "/issuer",
    ],
    [
      revoke(1, { relationship_id: "x".repeat(512) }),
      revoke(1, { relationship_id: "x".repeat(513) }),
      "/relationship_id",
    ],
    [
      upsert(1, { subject: `did:web:${"x".repeat(504)}` }),
      upsert(1, { subject: `did:web:${"x".repeat(505)}` }),
      "/subject",
    ],
    [
      revoke(1, { reason: "x".repeat(2_000) }),
      revoke(1, { reason: "x".repeat(2_001) }),
      "/reason",
    ],
    [
      upsert(1, { metadata: { a: "x".repeat(16_384 - 8) } }),
      upsert(1, { metadata: { a: "x".repeat(16_384 - 7) } }),
      "/metadata",
    ],
    [
      upsert(1, { roles: Array(64).fill("x") }),
      upsert(1, { roles: Array(65).fill("x") }),
      "/roles",
    ],
    [
      upsert(1, { roles: ["x".repeat(128)] }),
      upsert(1, { roles: ["x".repeat(129)] }),
      "/roles",
    ],
  ];
  for (const [within, beyond, pointer] of table) {
    assertEquals(warned(within), [], pointer);
    assertEquals(warned(beyond), [`${pointer} field_over_limit`]);
  }
});

Deno.test("a subject that is not a DID is warned about", () => {
  const codes = (subject: string) =>
    findEventWarnings(upsert(1, { subject }), DEFAULT_LIMITS).map(({ code }) =>
      code
    );
  for (
    const did of ["did:web:a", "did:key:z6Mk", "did:x:a:b", "did:web:a%3A1"]
  ) assertEquals(codes(did), [], did);
  for (
    const other of ["alice", "did:", "did:web:", "DID:web:a", "did:web:a#k"]
  ) assertEquals(codes(other), ["subject_not_did"], other);
});
