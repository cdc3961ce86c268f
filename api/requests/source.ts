/** Which feed a request is about. @module */

import { SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import { type InlineFeed, IssuerName } from "@sig/consumer";
import { object } from "./object.ts";
import { anything, parsedText, text } from "./scalars.ts";
import { type JsonSchema, named, type Schema } from "./schema.ts";

/** The three ways to name a feed; exactly one of them is given. */
export interface SourceMembers {
  /** A did:web or a host. */
  readonly issuer?: IssuerName;
  /** The URL of a `sig.json`. */
  readonly sig?: IssuerName;
  /** The documents themselves. */
  readonly feed?: InlineFeed;
}

/** The members that name a source, for {@linkcode object}. */
interface SourceSchemas {
  /** A did:web or a host. */
  readonly issuer: Schema<IssuerName>;
  /** The URL of a `sig.json`. */
  readonly sig: Schema<IssuerName>;
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

/** Which sources may be named, and which are known beforehand. */
export interface SourceOptions {
  /** Take `http:` and loopback too. */
  readonly allowPrivate: boolean;
  /** Issuers on the service's list: the names that they go by are not read again. */
  readonly listed?: readonly IssuerName[];
}

/**
 * Makes the schemas of what names a source. Neither `issuer` nor `sig` can name
 * a file: a client could otherwise read this machine's disk.
 */
export function createSourceSchemas(options: SourceOptions): SourceSchemas {
  return {
    issuer: sourceText("did", options, {
      description:
        "The issuer: a did:web, or its host name. The service's list decides which may be asked.",
      examples: ["did:web:acme.example"],
    }, "a did:web or a host name"),
    sig: sourceText("url", options, {
      format: "uri",
      description: "The https URL of the issuer's `sig.json`.",
      examples: ["https://acme.example/.well-known/sig.json"],
    }, "the https URL of a sig.json"),
    feed: INLINE_FEED,
  };
}

function sourceText(
  kind: "did" | "url",
  { allowPrivate, listed = [] }: SourceOptions,
  keywords: JsonSchema,
  expected: string,
): Schema<IssuerName> {
  const read = (text: string) =>
    IssuerName.parse(text, { allowPrivate }, ({ kind: found }) => {
      if (found !== kind) throw otherKind(text, found, expected);
    });
  const spellings = listed.flatMap((name) => [
    ...(name.kind === kind ? [name.text] : []),
    kind === "did" ? name.expectedIssuer : name.metadataRef,
  ]);
  const known = new Map(spellings.map((text) => [text, read(text)]));
  return parsedText(
    { ...keywords, maxLength: MAX_SOURCE_LENGTH },
    (value, note) =>
      value.length > MAX_SOURCE_LENGTH
        ? note(`it must have at most ${MAX_SOURCE_LENGTH} characters`)
        : known.get(value) ?? read(value),
  );
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
