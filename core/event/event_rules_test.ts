import { assertEquals } from "@std/assert";
import type { ErrorCode } from "../errors/error_codes.ts";
import type { ValidateEventOptions } from "./event.ts";
import { REASON_CODES, RELATIONSHIP_TYPES } from "./types.ts";
import {
  ABSENT,
  changed,
  type Changes,
  faults,
} from "../testdata/faulty_events.ts";
import { revoke, upsert } from "../../tests/kit/events.ts";

interface Rule {
  readonly rule: string;
  readonly of?: "upsert" | "revoke";
  readonly good: readonly Changes[];
  readonly bad: readonly (readonly [Changes, string])[];
  readonly options?: ValidateEventOptions;
}

/** Values of a member that are faults of one code. */
function wrong(
  name: string,
  code: ErrorCode,
  values: readonly unknown[],
): [Changes, string][] {
  return values.map((value) => [{ [name]: value }, `/${name} ${code}`]);
}

const NOT_IDENTIFIERS = [null, 1, "", {}, "a\nb", "\u0000", "\u007f", "\u0085"];

function identifier(name: string): Rule {
  return {
    rule: `${name} is a non-empty string without control characters`,
    good: ["x", "é", "__proto__", "constructor", "a b", "‮"].map((value) => ({
      [name]: value,
    })),
    bad: wrong(name, "invalid_field", NOT_IDENTIFIERS),
  };
}

function oneOf(
  of: "upsert" | "revoke",
  name: string,
  list: readonly string[],
): Rule {
  return {
    rule: `${name} is one of the values in the table`,
    of,
    good: list.map((value) => ({ [name]: value })),
    bad: wrong(
      name,
      "invalid_field",
      ["", "Employee", "toString", "__proto__", null, 0, [list[0]]],
    ),
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
    bad: wrong(name, "invalid_field", others),
  };
}

function optionalText(of: "upsert" | "revoke", name: string): Rule {
  return {
    rule: `${name} is a string, null or absent`,
    of,
    good: ["", "x", "a\nb", null, ABSENT].map((value) => ({ [name]: value })),
    bad: wrong(name, "invalid_field", [1, {}, [], false]),
  };
}

function optionalObject(of: "upsert" | "revoke", name: string): Rule {
  return {
    rule: `${name} is an object, null or absent`,
    of,
    good: [{}, { a: [1] }, null, ABSENT].map((value) => ({ [name]: value })),
    bad: wrong(name, "invalid_field", [1, "x", [], true]),
  };
}

const RULES: readonly Rule[] = [
  {
    rule: "spec_version is sig/0.1",
    good: [{ spec_version: "sig/0.1" }],
    bad: [
      ...wrong(
        "spec_version",
        "unsupported_spec_version",
        ["sig/0.2", "SIG/0.1", ""],
      ),
      ...wrong("spec_version", "invalid_field", [0.1, null]),
    ],
  },
  {
    rule: "event_type is relationship.upsert or relationship.revoke",
    good: [{ event_type: "relationship.upsert" }],
    bad: [
      ...wrong(
        "event_type",
        "unknown_event_type",
        ["relationship.suspend", "", "toString"],
      ),
      ...wrong("event_type", "invalid_field", [null, 1]),
    ],
  },
  {
    rule: "an unknown event_type is accepted on request, an invalid one never",
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
    bad: wrong(
      "sequence",
      "invalid_field",
      [0, -0, -1, 1.5, 2 ** 53, NaN, Infinity, "1", null, [1], true, 1n],
    ),
  },
  {
    rule: "visibility is public or private",
    good: [{ visibility: "public" }, { visibility: "private" }],
    bad: wrong("visibility", "invalid_field", ["Public", "", null, 1]),
  },
  {
    rule: "a private event is rejected in a public_only feed",
    options: { publicOnly: true },
    good: [{ visibility: "public" }],
    bad: wrong("visibility", "private_event_in_public_feed", ["private"]),
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
      ...wrong("status", "status_not_active", ["revoked", "Active", ""]),
      ...wrong("status", "invalid_field", [null, true]),
    ],
  },
  {
    rule: "roles is an array of strings, possibly empty",
    good: [{ roles: [] }, { roles: ["a", "a", ""] }],
    bad: wrong(
      "roles",
      "invalid_field",
      [null, "deploy", {}, [1], [null], [["a"]], Array(1)],
    ),
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
    rule:
      "display's three members are strings, null or absent; others are unrestricted",
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
    rule: "revokes_relationship_id equals relationship_id",
    of: "revoke",
    good: [{ relationship_id: "r2", revokes_relationship_id: "r2" }],
    bad: [
      ...wrong(
        "revokes_relationship_id",
        "revoke_target_mismatch",
        ["r2", "R1", ""],
      ),
      ...wrong("revokes_relationship_id", "invalid_field", [null, ["r1"]]),
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
Deno.test("an inherited member counts as absent", () => {
  assertEquals(
    faults(Object.create(upsert(1))),
    ["/spec_version missing_field"]
      .concat(COMMON.slice(1).map((name) => `/${name} missing_field`)),
  );
});
