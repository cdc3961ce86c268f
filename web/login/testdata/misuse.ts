/** What a misuse of a login is. */

import type { ErrorCode } from "@sig/core";
import type { SigningKey } from "@sig/jose";
import { encodeBase64Url } from "@std/encoding/base64url";
import type { Challenge } from "../create_challenge.ts";
import { type Changes, type LoginFixture, newKey } from "./login_fixture.ts";

/** A key that is not the subject's. */
export const OTHER_KEY: SigningKey = await newKey();

/** A misuse: what is changed, and what comes of it. */
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
  /** What the challenge is made from. */
  readonly asked?: object;
  readonly code: ErrorCode;
  readonly says: string;
  /** Whether it counts against the challenge. */
  readonly counted?: true;
}

/** What most malformed ones come to. */
export const invalid = "invalid_attestation";
/** JSON as a part of a JWT. */
export const json = (value: unknown) => encodeBase64Url(JSON.stringify(value));
/** The three parts of a JWT. */
export const parts = (jwt: string) =>
  jwt.split(".") as [string, string, string];
