/** An application that people log in to. @module */

import type { PublicKeySet, SigningAlgorithm } from "./keys.ts";

/** How an application proves which one it is (OIDC Core §9). */
export type AuthMethod =
  | "client_secret_basic"
  | "client_secret_post"
  | "private_key_jwt"
  | "none";

/** An application, as the operator's file describes it. */
export interface Client {
  /** Its id. */
  readonly client_id: string;
  /** What people are told. */
  readonly client_name: string;
  /** The ways that it may prove itself; with `none` PKCE alone does. */
  readonly authMethods: readonly AuthMethod[];
  /** SHA-256 of its secret, in base64url. */
  readonly secretSha256?: string;
  /** Its public keys. */
  readonly jwks?: PublicKeySet;
  /** Where codes may be sent, each character by character. */
  readonly redirectUris: readonly string[];
  /** Where people may be sent after a logout. */
  readonly postLogoutRedirectUris: readonly string[];
  /** Where it is told that sessions are over. */
  readonly backchannelLogoutUri?: string;
  /** What ID tokens for it are signed with. */
  readonly signingAlgorithm: SigningAlgorithm;
  /** Whether it gets refresh tokens. */
  readonly refresh: boolean;
  /** What it needs beyond the server's own requirements, `key=value` each. */
  readonly require: readonly string[];
}

/** The applications by their ids. */
export type Clients = ReadonlyMap<string, Client>;
