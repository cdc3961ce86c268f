/** Which feed a request is about. @module */

import { quote, SigError } from "@sig/core";
import { type InlineFeed, parseSource } from "@sig/consumer";
import { object } from "./object.ts";
import { anything, text } from "./scalars.ts";
import { type JsonSchema, named, type Schema } from "./schema.ts";

/** The three ways to name a feed; exactly one of them is given. */
export interface SourceMembers {
  /** A did:web or a host. */
  readonly issuer?: string;
  /** The URL of a `sig.json`. */
  readonly sig?: string;
  /** The documents themselves. */
  readonly feed?: InlineFeed;
}

/** The members that name a source, for {@linkcode object}. */
export interface SourceSchemas {
  /** A did:web or a host. */
  readonly issuer: Schema<string>;
  /** The URL of a `sig.json`. */
  readonly sig: Schema<string>;
  /** The documents themselves. */
  readonly feed: Schema<InlineFeed>;
}

/** Their names. */
export const SOURCE_MEMBERS: readonly (keyof SourceMembers)[] = Object.freeze([
  "issuer",
  "sig",
  "feed",
]);

/** Longer ones name no host that exists. */
const MAX_SOURCE_LENGTH = 2048;

/** Texts that were found to be proper sources; forgotten when it is full. */
const MAX_REMEMBERED = 1_000;

/** The documents of an issuer, as values. */
const INLINE_FEED: Schema<InlineFeed> = named(
  "InlineFeed",
  object<InlineFeed>({
    members: {
      metadata: anything({
        description: "`sig.json` as it is published.",
      }) as Schema<NonNullable<unknown>>,
      jwks: anything({
        description: "`jwks.json` as it is published.",
      }) as Schema<NonNullable<unknown>>,
      did_document: anything({
        description:
          "`did.json` as it is published; absent where there is none.",
      }) as Schema<NonNullable<unknown>>,
      events: text({
        description:
          "The feed as it is published: NDJSON, one envelope a line, the last line ends in LF.",
      }),
    },
    required: ["metadata", "jwks", "events"],
    keywords: {
      description:
        "An issuer's documents. They prove no origin: the answer's `source` is `inline`. What is wrong in them is the issuer's fault (422), not the request's (400).",
    },
  }),
);

/**
 * Makes the schemas of what names a source. Neither `issuer` nor `sig` can name
 * a file: whoever asks could otherwise read this machine's disk.
 */
export function createSourceSchemas(
  options: { readonly allowPrivate: boolean },
): SourceSchemas {
  const { allowPrivate } = options;
  return {
    issuer: sourceText("did", allowPrivate, {
      description:
        "The issuer: a did:web, or its host name. The service's list decides which may be asked.",
      examples: ["did:web:acme.example"],
    }, "a did:web or a host name"),
    sig: sourceText("url", allowPrivate, {
      format: "uri",
      description: "The https URL of the issuer's `sig.json`.",
      examples: ["https://acme.example/.well-known/sig.json"],
    }, "the https URL of a sig.json"),
    feed: INLINE_FEED,
  };
}

function sourceText(
  kind: "did" | "url",
  allowPrivate: boolean,
  keywords: JsonSchema,
  expected: string,
): Schema<string> {
  const proper = new Set<string>();
  return text({ ...keywords, maxLength: MAX_SOURCE_LENGTH }, (value) => {
    if (proper.has(value)) return;
    if (value.length > MAX_SOURCE_LENGTH) {
      return `it must have at most ${MAX_SOURCE_LENGTH} characters`;
    }
    const found = parseSource(value, { allowPrivate }).kind;
    if (found !== kind) throw otherKind(value, found, expected);
    if (proper.size === MAX_REMEMBERED) proper.clear();
    proper.add(value);
  });
}

function otherKind(value: string, found: string, expected: string): SigError {
  const member = found === "url" ? "sig" : found === "did" ? "issuer" : null;
  return new SigError(
    "invalid_identifier",
    `Cannot use ${quote(value)}: it must be ${expected}`,
    {
      context: {
        identifier: value.slice(0, 200),
        hint: member === null
          ? "Files can't be named; send their content as `feed`."
          : `Give it as \`${member}\`.`,
      },
    },
  );
}
