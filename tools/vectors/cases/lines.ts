/** Lines that are not envelopes (docs/protocol.md §2). @module */

import { base64url, concat, type JsonObject } from "../bytes.ts";
import { revoke, upsert } from "../events.ts";
import { type CaseContent, type FeedCase, invalid } from "../feed_case.ts";
import { feed, line, padded, seal } from "../lines.ts";

const first = line(upsert(1));
const second = seal(revoke(2));
const third = line(upsert(3));
const { protected: head, payload, signature } = second;

/** Returns a case with an error in the second of three lines. */
function middle(
  name: string,
  code: string,
  description: string,
  bad: string | Uint8Array,
): FeedCase {
  return invalid(`line-${name}`, { description, spec: "docs/protocol.md §2" }, {
    lines: [first, bad, third],
  }, { code, line: 2 });
}

/** Returns a case with other members than the three strings. */
function members(
  name: string,
  description: string,
  envelope: JsonObject,
): FeedCase {
  const bad = JSON.stringify(envelope);
  return middle(name, "invalid_envelope", description, bad);
}

function whole(
  name: string,
  description: string,
  content: CaseContent,
  result: { readonly code: string; readonly line: number },
): FeedCase {
  return invalid(
    `feed-${name}`,
    { description, spec: "docs/protocol.md §2" },
    content,
    result,
  );
}

const good = JSON.stringify(second);
const LF_LINE = "invalid_line";

/** Cases about lines. */
export const lines: readonly FeedCase[] = [
  middle("blank", LF_LINE, "A blank line is no envelope.", ""),
  middle("of-white-space", LF_LINE, "Neither is one of white space.", "  \t"),
  middle("not-json", LF_LINE, "Text that is not JSON.", "# a comment"),
  middle("cut", LF_LINE, "Half an object.", good.slice(0, 100)),
  middle(
    "two-objects",
    LF_LINE,
    "One line holds one object.",
    `${good} ${good}`,
  ),
  middle("array", LF_LINE, "An array is no object.", `[${good}]`),
  middle("null", LF_LINE, "Null is no object.", "null"),
  middle(
    "bad-utf-8",
    LF_LINE,
    "A byte that is not UTF-8, where JSON would accept any character.",
    concat(
      '{"x":"',
      Uint8Array.of(0xc3, 0x28),
      `",${good.slice(1)}`,
    ),
  ),
  middle(
    "cr",
    LF_LINE,
    "A carriage return is white space to JSON, but lines end in LF alone.",
    `${good}\r`,
  ),
  middle(
    "too-long",
    "line_too_long",
    "A line of 64 KiB and one byte.",
    padded(good, 65_537),
  ),

  whole("bom", "A byte order mark is refused.", {
    feed: concat("\ufeff", feed(first, good)),
  }, { code: LF_LINE, line: 1 }),
  whole("crlf", "A feed whose lines end in CR LF.", {
    feed: `${first}\r\n${good}\r\n`,
  }, { code: LF_LINE, line: 1 }),
  whole("blank-end", "A blank line at the end is a blank line.", {
    feed: feed(first, good, ""),
  }, { code: LF_LINE, line: 3 }),
  whole("only-lf", "A feed of one LF has one line, which is blank.", {
    feed: "\n",
  }, { code: LF_LINE, line: 1 }),
  whole("no-lf", "The last line must end in LF, even when it is whole.", {
    feed: `${first}\n${good}`,
  }, { code: "incomplete_line", line: 2 }),
  whole("cut-off", "A feed that was cut off in its second line.", {
    feed: `${first}\n${good.slice(0, 40)}`,
  }, { code: "incomplete_line", line: 2 }),
  whole("json-array", "A JSON array of envelopes is no feed.", {
    feed: `[\n${first},\n${good}\n]\n`,
  }, { code: LF_LINE, line: 1 }),

  middle(
    "duplicate-member",
    "duplicate_json_member",
    "Readers differ in which of two payloads they take.",
    `{"payload":"e30",${good.slice(1)}`,
  ),
  middle(
    "duplicate-member-escaped",
    "duplicate_json_member",
    "The same name, spelled with an escape.",
    `{"p\\u0061yload":"e30",${good.slice(1)}`,
  ),
  middle(
    "duplicate-member-nested",
    "duplicate_json_member",
    "At any depth, before the surplus member itself is refused.",
    `{"x":{"a":1,"a":2},${good.slice(1)}`,
  ),
  members("without-signature", "No signature.", { protected: head, payload }),
  members("without-protected", "No protected header.", { payload, signature }),
  members(
    "unprotected-header",
    "An unprotected header is refused, even an empty one.",
    { ...second, header: {} },
  ),
  members("extra-member", "Any other member is refused.", {
    ...second,
    kid: "orgsign-1",
  }),
  members("payload-number", "The three members are strings.", {
    protected: head,
    payload: 7,
    signature,
  }),
  members("general-serialization", "JWS General Serialization is not used.", {
    payload,
    signatures: [{ protected: head, signature }],
  }),
  middle(
    "compact-serialization",
    LF_LINE,
    "JWS Compact Serialization is not used.",
    `${head}.${payload}.${signature}`,
  ),
  ...base64(),
];

/**
 * Returns cases with spellings that lenient decoders read as the same bytes.
 */
function base64(): FeedCase[] {
  const bad = (name: string, description: string, changes: JsonObject) =>
    middle(
      `base64url-${name}`,
      "invalid_base64url",
      description,
      JSON.stringify({ ...second, ...changes }),
    );
  // The last character of 64 bytes has four unused bits, which must be zero.
  const last = signature.at(-1)!;
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ" +
    "abcdefghijklmnopqrstuvwxyz0123456789-_";
  const other = alphabet[alphabet.indexOf(last) + 1]!;
  return [
    bad("padding", "Padding is refused.", { signature: `${signature}==` }),
    bad("trailing-bits", "Non-zero trailing bits are refused.", {
      signature: signature.slice(0, -1) + other,
    }),
    bad("standard-alphabet", "+ and / are of another alphabet.", {
      payload: base64url(Uint8Array.of(0xfb, 0xff)).replaceAll("-", "+")
        .replaceAll("_", "/"),
    }),
    bad("white-space", "No white space.", {
      protected: `${head.slice(0, 8)} ${head.slice(8)}`,
    }),
    bad("length", "No base64url has 4n+1 characters.", {
      payload: `${payload}${"A".repeat((5 - (payload.length % 4)) % 4)}`,
    }),
  ];
}
