/**
 * Different spellings with the same meaning (docs/protocol.md §2, §3). @module
 */

import { concat, reversed } from "../bytes.ts";
import { issuedOn, revoke, upsert } from "../events.ts";
import { metadata } from "../documents.ts";
import { type FeedCase, relationship, valid } from "../feed_case.ts";
import { header, line, padded, seal } from "../lines.ts";

const e = seal(upsert(1));
const twice = {
  last_sequence: 2,
  state: [relationship(2, {
    revoked_reason_code: "employment_ended",
    revoked_effective_at: issuedOn(2),
  })],
};
const once = { last_sequence: 1, state: [relationship(1)] };

const ODD_IDS = ["__proto__", "constructor", "toString", "10", "9", " ", "a/b"];
/**
 * é as one code point and as two: identifiers are compared without
 * normalisation.
 */
const COMPOSED = "caf\u00e9";
const DECOMPOSED = "cafe\u0301";

function nested(levels: number): unknown {
  return levels === 0 ? 1 : [nested(levels - 1)];
}

/** Cases about spelling. */
export const forms: readonly FeedCase[] = [
  valid("line-white-space", {
    description: "JSON white space in a line is allowed, even much of it.",
    spec: "docs/protocol.md §2",
  }, {
    lines: [
      ` \t{ "protected" :\t"${e.protected}" , "payload":  "${e.payload}",` +
      `"signature" : "${e.signature}" } \t`,
    ],
  }, once),

  valid("line-member-order", {
    description: "The members of a line may stand in any order.",
    spec: "docs/protocol.md §2",
  }, {
    lines: [JSON.stringify(reversed({ ...e })), line(revoke(2))],
  }, twice),

  valid("line-escaped", {
    description: "A line may use JSON escapes, in names and in values.",
    spec: "docs/protocol.md §2",
  }, {
    lines: [
      `{"\\u0070rotected":"\\u0065${
        e.protected.slice(1)
      }","payload":"${e.payload}","signature":"${e.signature}"}`,
    ],
  }, once),

  valid(
    "line-of-65536-bytes",
    {
      description: "A line of exactly 64 KiB, without its LF, is accepted.",
      spec: "docs/protocol.md §8",
    },
    { lines: [padded(line(upsert(1)), 65_536)] },
    once,
  ),

  valid("header-spelling", {
    description:
      "The header may have white space and any member order: its bytes are " +
      "what was signed.",
    spec: "docs/protocol.md §2",
  }, {
    lines: [
      line(upsert(1), { header: JSON.stringify(reversed(header()), null, 2) }),
      line(revoke(2), {
        header:
          '\r\n{"typ":"sig-event\\u002bjws","alg":"EdDSA","kid":"orgsign-1"}\r\n',
      }),
    ],
  }, twice),

  valid("payload-pretty-printed", {
    description: "A payload may be pretty-printed.",
    spec: "docs/protocol.md §2",
  }, {
    lines: [line(`\r\n\t${JSON.stringify(upsert(1), null, 4)}\n`)],
  }, once),

  valid("payload-member-order", {
    description: "A payload's members may stand in any order, and be escaped.",
    spec: "docs/protocol.md §2",
  }, {
    lines: [
      line(reversed(upsert(1))),
      line(JSON.stringify(revoke(2)).replace("event_id", "\\u0065vent_id")),
    ],
  }, twice),

  valid(
    "payload-depth-16",
    {
      description: "Sixteen levels of nesting, the payload itself among them.",
      spec: "docs/protocol.md §2",
    },
    { lines: [line(upsert(1, { metadata: { deep: nested(14) } }))] },
    once,
  ),

  valid("payload-numbers", {
    description:
      "Only sequence is judged by its spelling; other numbers may have any " +
      "form of RFC 8259.",
    spec: "docs/protocol.md §2",
  }, {
    lines: [line(
      JSON.stringify(upsert(1, { metadata: "NUMBERS" })).replace(
        '"NUMBERS"',
        '{"a":-0,"b":1e2,"c":1.50,"d":9007199254740991,"e":5e-324}',
      ),
    )],
  }, once),

  valid("members-null", {
    description: "Null in an optional member is read as absent.",
    spec: "docs/protocol.md §3",
  }, {
    lines: [
      line(upsert(1, { display: null, reason: null, metadata: null })),
      line(revoke(2, { reason: null, metadata: null })),
      line(upsert(3, {
        display: { title: null, department: null, label: null, colour: 7 },
      })),
    ],
  }, { last_sequence: 3, state: [relationship(3)] }),

  valid("members-unknown", {
    description:
      "Unknown members are ignored, whatever they are called; __proto__ is " +
      "one of them.",
    spec: "docs/protocol.md §3",
  }, {
    lines: [line(
      `{"__proto__":{"status":"revoked"},"constructor":[],"x":null,` +
        `"revoked_reason_code":"other",${JSON.stringify(upsert(1)).slice(1)}`,
    )],
  }, once),

  valid("identifiers-odd", {
    description:
      "Identifiers are plain strings: names of JavaScript's prototypes, digits " +
      "and a space are relationships like others.",
    spec: "docs/protocol.md §3",
  }, {
    lines: ODD_IDS.map((relationship_id, i) =>
      line(upsert(i + 1, { relationship_id, event_id: `${relationship_id}#` }))
    ),
  }, {
    last_sequence: ODD_IDS.length,
    state: ODD_IDS.map((relationship_id, i) =>
      relationship(i + 1, { relationship_id })
    ),
  }),

  valid("identifiers-unicode", {
    description:
      "Identifiers are compared code unit by code unit: NFC and NFD are two, " +
      "an escaped character is the character.",
    spec: "docs/protocol.md §3",
  }, {
    lines: [
      line(upsert(1, { relationship_id: COMPOSED })),
      line(upsert(2, { relationship_id: DECOMPOSED })),
      line(upsert(3, { relationship_id: "\u{1f511}" })),
      line(
        JSON.stringify(revoke(4, { relationship_id: "KEY" })).replaceAll(
          "KEY",
          "\\ud83d\\udd11",
        ),
      ),
    ],
  }, {
    last_sequence: 4,
    state: [
      relationship(1, { relationship_id: COMPOSED }),
      relationship(2, { relationship_id: DECOMPOSED }),
      relationship(4, {
        relationship_id: "\u{1f511}",
        revoked_reason_code: "employment_ended",
        revoked_effective_at: issuedOn(4),
      }),
    ],
  }),

  valid("texts-with-controls", {
    description:
      "Only identifiers are free of control characters; texts for people may " +
      "hold any.",
    spec: "docs/protocol.md §3",
  }, {
    lines: [line(upsert(1, {
      roles: ["", "de\nploy", "de\nploy"],
      display: { title: "\u001b[31mroot\u0000" },
      reason: "line one\r\nline two",
    }))],
  }, {
    last_sequence: 1,
    state: [relationship(1, { roles: ["", "de\nploy", "de\nploy"] })],
  }),

  valid(
    "subject-not-did",
    {
      description: "A subject that is no DID is accepted with a warning.",
      spec: "docs/protocol.md §3",
    },
    { lines: [line(upsert(1, { subject: "alice@example.org" }))] },
    {
      last_sequence: 1,
      state: [relationship(1, { subject: "alice@example.org" })],
      warnings: ["subject_not_did"],
    },
  ),

  valid("subject-any-did", {
    description: "A subject may be a DID of any method.",
    spec: "docs/protocol.md §3",
  }, {
    lines: [line(upsert(1, {
      subject: "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
    }))],
  }, {
    last_sequence: 1,
    state: [relationship(1, {
      subject: "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
    })],
  }),

  valid("fields-over-limit", {
    description:
      "What is over the limits for writing is read with a warning for each " +
      "kind; it must not brick a foreign feed.",
    spec: "docs/protocol.md §3, §8",
  }, {
    lines: [
      line(upsert(1, {
        event_id: "e".repeat(513),
        roles: ["r".repeat(129)],
        reason: "x".repeat(2001),
        metadata: { x: "y".repeat(16_384) },
      })),
      line(upsert(2, { roles: Array.from({ length: 65 }, (_, i) => `r${i}`) })),
    ],
  }, {
    last_sequence: 2,
    state: [
      relationship(2, { roles: Array.from({ length: 65 }, (_, i) => `r${i}`) }),
    ],
    warnings: Array.from({ length: 5 }, () => "field_over_limit"),
  }),

  valid("fields-at-limit", {
    description: "Exactly at the limits for writing there is no warning.",
    spec: "docs/protocol.md §8",
  }, {
    lines: [line(upsert(1, {
      event_id: "e".repeat(512),
      roles: [
        "r".repeat(128),
        ...Array.from({ length: 63 }, (_, i) => `r${i}`),
      ],
      reason: "x".repeat(2000),
      // Eight more bytes: {"x":""}
      metadata: { x: "y".repeat(16_376) },
    }))],
  }, {
    last_sequence: 1,
    state: [relationship(1, {
      roles: [
        "r".repeat(128),
        ...Array.from({ length: 63 }, (_, i) => `r${i}`),
      ],
    })],
  }),

  valid("private-event", {
    description: "A feed that is not public_only may hold private events.",
    spec: "docs/protocol.md §3",
  }, {
    metadata: metadata({ public_only: false }),
    lines: [line(upsert(1, { visibility: "private" })), line(revoke(2))],
  }, twice),

  valid("base64url-all-lengths", {
    description:
      "Payloads whose base64url leaves 0, 2 and 4 bits over are all canonical.",
    spec: "docs/protocol.md §2",
  }, {
    lines: ["", " ", "  "].map((space, i) =>
      line(concat(JSON.stringify(upsert(i + 1)), space))
    ),
  }, { last_sequence: 3, state: [relationship(3)] }),
];
