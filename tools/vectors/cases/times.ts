/** Timestamps (docs/protocol.md §3). @module */

import { revoke, upsert } from "../events.ts";
import { type FeedCase, invalid, relationship, valid } from "../feed_case.ts";
import { line } from "../lines.ts";

const once = { last_sequence: 1, state: [relationship(1)] };

/** Invalid spellings, by their error. */
const REFUSED: { readonly [name: string]: string } = {
  "offset": "2026-01-01T09:00:00+00:00",
  "lower-case": "2026-01-01t09:00:00z",
  "no-zone": "2026-01-01T09:00:00",
  "leap-second": "2016-12-31T23:59:60Z",
  "hour-24": "2026-01-01T24:00:00Z",
  "february-30": "2026-02-30T09:00:00Z",
  "year-0000": "0000-01-01T00:00:00Z",
  "ten-digits": "2026-01-01T09:00:00.0000000001Z",
};

/** Cases about timestamps. */
export const times: readonly FeedCase[] = [
  valid("time-nanoseconds", {
    description:
      "Nine digits count: valid_until one nanosecond after valid_from.",
    spec: "docs/protocol.md §3",
  }, {
    lines: [line(upsert(1, {
      valid_from: "2026-01-01T00:00:00.1Z",
      valid_until: "2026-01-01T00:00:00.100000001Z",
    }))],
  }, {
    last_sequence: 1,
    state: [relationship(1, {
      valid_from: "2026-01-01T00:00:00.1Z",
      valid_until: "2026-01-01T00:00:00.100000001Z",
    })],
  }),

  valid("time-first-and-last", {
    description: "The years 0001 to 9999, and a leap day.",
    spec: "docs/protocol.md §3",
  }, {
    lines: [
      line(upsert(1, {
        valid_from: "0001-01-01T00:00:00Z",
        valid_until: "9999-12-31T23:59:59.999999999Z",
      })),
      line(upsert(2, {
        relationship_id: "rel-2",
        valid_from: "2024-02-29T00:00:00Z",
      })),
    ],
  }, {
    last_sequence: 2,
    state: [
      relationship(1, {
        valid_from: "0001-01-01T00:00:00Z",
        valid_until: "9999-12-31T23:59:59.999999999Z",
      }),
      relationship(2, {
        relationship_id: "rel-2",
        valid_from: "2024-02-29T00:00:00Z",
      }),
    ],
  }),

  ...Object.entries(REFUSED).map(([name, issued_at]) =>
    invalid(
      `time-${name}`,
      {
        description: `issued_at ${issued_at} is no timestamp of SIG.`,
        spec: "docs/protocol.md §3",
      },
      { lines: [line(upsert(1, { issued_at }))] },
      {
        code: "invalid_field",
        line: 1,
      },
    )
  ),

  invalid("valid-until-equals-valid-from", {
    description: "An empty validity is refused, however it is spelled.",
    spec: "docs/protocol.md §3",
  }, {
    lines: [line(upsert(1, {
      valid_from: "2026-01-01T00:00:00Z",
      valid_until: "2026-01-01T00:00:00.000Z",
    }))],
  }, { code: "invalid_field", line: 1 }),

  invalid("valid-until-before-valid-from", {
    description: "Compared as instants, .09 s comes before .1 s.",
    spec: "docs/protocol.md §3",
  }, {
    lines: [line(upsert(1, {
      valid_from: "2026-01-01T00:00:00.1Z",
      valid_until: "2026-01-01T00:00:00.09Z",
    }))],
  }, { code: "invalid_field", line: 1 }),

  valid("issued-at-back-a-day", {
    description: "issued_at may go back by a day, exactly.",
    spec: "docs/protocol.md §3",
  }, {
    lines: [
      line(upsert(1, { issued_at: "2026-01-02T09:00:00Z" })),
      line(upsert(2, { issued_at: "2026-01-01T09:00:00Z" })),
    ],
  }, { last_sequence: 2, state: [relationship(2)] }),

  valid("issued-at-back-more", {
    description: "Going back further is a warning.",
    spec: "docs/protocol.md §3",
  }, {
    lines: [
      line(upsert(1, { issued_at: "2026-01-02T09:00:00Z" })),
      line(upsert(2, { issued_at: "2026-01-01T08:59:59.999999999Z" })),
    ],
  }, {
    last_sequence: 2,
    state: [relationship(2)],
    warnings: ["issued_at_back"],
  }),

  valid(
    "issued-at-now-and-skew",
    {
      description: "issued_at 60 s ahead of the clock is within the skew.",
      spec: "docs/protocol.md §3",
      now: "2026-01-01T08:59:00Z",
    },
    { lines: [line(upsert(1))] },
    once,
  ),

  valid(
    "issued-at-future",
    {
      description: "Further ahead is a warning.",
      spec: "docs/protocol.md §3",
      now: "2026-01-01T08:58:59Z",
    },
    { lines: [line(upsert(1))] },
    {
      ...once,
      warnings: ["issued_at_future"],
    },
  ),

  valid("effective-at-future", {
    description:
      "effective_at more than 60 s after issued_at is a warning, and the " +
      "revoke counts at once; at 60 s there is none.",
    spec: "docs/protocol.md §3",
  }, {
    lines: [
      line(upsert(1)),
      line(upsert(2, { relationship_id: "rel-2" })),
      line(revoke(3, {
        issued_at: "2026-01-03T09:00:00Z",
        effective_at: "2026-01-03T09:01:00Z",
      })),
      line(revoke(4, {
        relationship_id: "rel-2",
        issued_at: "2026-01-04T09:00:00Z",
        effective_at: "2026-01-04T09:01:00.000000001Z",
      })),
    ],
  }, {
    last_sequence: 4,
    state: [
      relationship(3, {
        revoked_reason_code: "employment_ended",
        revoked_effective_at: "2026-01-03T09:01:00Z",
      }),
      relationship(4, {
        relationship_id: "rel-2",
        revoked_reason_code: "employment_ended",
        revoked_effective_at: "2026-01-04T09:01:00.000000001Z",
      }),
    ],
    warnings: ["effective_at_future"],
  }),
];
