/** What the server tells and sends this page. @module */
/// <reference lib="dom" />

/** An issuer that this server knows. */
export interface IssuerConfig {
  readonly did: string;
  /** Where its documents are, ending in a slash. */
  readonly base: string;
}

/** An application of the demo. */
export interface AppConfig {
  readonly name: string;
  readonly url: string;
  /** How it knows people, in a sentence. */
  readonly how: string;
}

/** What the page is told of its server (`/ui/config.json` says the same). */
export interface Config {
  readonly service: string;
  readonly version: string;
  readonly audiences: readonly string[];
  readonly ttl_seconds: number;
  /** What a login on the page asks for. */
  readonly scopes: readonly string[];
  readonly issuers: readonly IssuerConfig[];
  readonly require: readonly string[] | null;
  readonly issuer: string | null;
  readonly demo: boolean;
  /** What the demo leads to. */
  readonly apps: readonly AppConfig[];
}

/** What the server wrote into the page: the first picture waits for no answer. */
export function readConfig(): Config {
  const meta = document.querySelector<HTMLMetaElement>(
    'meta[name="sig-config"]',
  );
  return JSON.parse(meta?.content ?? "");
}

/** A request to sign in (PROTOCOL §7). */
export interface Challenge {
  readonly challenge_id: string;
  readonly audience: string;
  readonly nonce: string;
  readonly scopes: readonly string[];
  readonly subject: string | null;
  readonly require: readonly string[] | null;
  readonly issued_at: string;
  readonly expires_at: string;
  readonly message: string;
}

/** A login that succeeded. */
export interface Login {
  readonly verified: true;
  readonly subject: string;
  readonly audience: string;
  readonly scopes: readonly string[];
  readonly challenge_id: string;
  readonly kid: string;
  readonly verified_at: string;
  readonly relationship: Readonly<Record<string, unknown>> | null;
}

/** An application that waits for a login through OpenID Connect. */
export interface Interaction {
  readonly client: {
    readonly client_id: string;
    readonly client_name: string;
  };
  readonly challenge: Challenge;
}
