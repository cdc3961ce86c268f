/** Making a JWS whose header members stand in a fixed order. @module */

import type { FlattenedJws } from "@sig/core";
import { encodeBase64Url } from "../bytes/encode_base64_url.ts";
import { encodeSigningInput } from "./signing_input.ts";
import type { SigningKey } from "../keys/signing_key.ts";

const encoder = new TextEncoder();

/** Signs header and payload as they are spelled by `JSON.stringify`. */
export async function signJws(
  header: Readonly<Record<string, string>>,
  payload: string,
  key: SigningKey,
): Promise<FlattenedJws> {
  const parts = {
    protected: encodeBase64Url(encoder.encode(JSON.stringify(header))),
    payload: encodeBase64Url(encoder.encode(payload)),
  };
  const signature = await key.sign(encodeSigningInput(parts));
  return { ...parts, signature: encodeBase64Url(signature) };
}
