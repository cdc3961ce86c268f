/** The type of a misuse of a login. */

import type { ErrorCode } from "@sig/core";
import type { SigningKey } from "@sig/jose";
import { encodeBase64Url } from "@std/encoding/base64url";
import type { Challenge } from "../create_challenge.ts";
import { type Changes, type LoginFixture, newKey } from "./login_fixture.ts";

/** A key that is not the subject's. */
export const OTHER_KEY: SigningKey = await newKey();

/** A misuse: the change and the expected error. */
export interface Misuse {
  readonly name: string;
  readonly claims?: Changes;
  readonly header?: Changes;
  readonly signer?: SigningKey;
  readonly expected?: object;
  /** Replaces the attestation. */
  readonly attestation?: (
    login: LoginFixture,
    challenge: Challenge,
  ) => unknown | Promise<unknown>;
  /** The request for the challenge. */
  readonly asked?: object;
  readonly code: ErrorCode;
  readonly says: string;
  /** Whether it counts against the challenge. */
  readonly counted?: true;
}

/** The code of most malformed attestations. */
export const invalid = "invalid_attestation";
/** Encodes JSON as a part of a JWT. */
export const json = (value: unknown) => encodeBase64Url(JSON.stringify(value));
/** Splits a JWT into its three parts. */
export const parts = (jwt: string) =>
  jwt.split(".") as [string, string, string];
