/**
 * A key from a passkey, the same on each device that has the passkey: WebAuthn
 * with the PRF extension, HKDF, Ed25519 (docs/protocol.md §7.6).
 *
 * @module
 */

import { jwkToDidKey } from "@sig/jose";
import { PKCS8_PREFIX } from "@sig/jose/internal";
import type { BrowserKey } from "./key_store.ts";

const encoder = new TextEncoder();
/** Inputs of PRF and HKDF: with other texts each person would get another key. */
const PRF_INPUT = encoder.encode("sig/0.1 passkey");
const HKDF_INFO = encoder.encode("sig/0.1 ed25519");

/**
 * Why there is no key from a passkey: `cancelled`, the person cancelled or has no
 * passkey; `no_prf`, the authenticator can't derive keys.
 */
export class PasskeyError extends Error {
  /** The reason. */
  readonly why: "cancelled" | "no_prf";

  /** Makes the error for a reason. */
  constructor(why: "cancelled" | "no_prf", cause?: unknown) {
    super(`Cannot use passkey: ${why}`, { cause });
    this.name = "PasskeyError";
    this.why = why;
  }
}

/**
 * Whether passkeys can be tried here: a host name, and a browser that does not
 * say that it lacks them. The authenticator may still lack PRF.
 */
export async function mayUsePasskeys(): Promise<boolean> {
  const { PublicKeyCredential, isSecureContext, location } = browserGlobals();
  if (!PublicKeyCredential || !isSecureContext) return false;
  // An address can't have passkeys (WebAuthn §5.1.3, step 8).
  if (/^[\d.]+$|^\[/.test(location.hostname)) return false;
  const can = await PublicKeyCredential.getClientCapabilities?.();
  return can?.["extension:prf"] ?? true;
}

/**
 * Makes a passkey for this host, and the key from it.
 *
 * @param name What the person's other devices call it.
 * @throws {PasskeyError}
 */
export async function createPasskey(name: string): Promise<BrowserKey> {
  const { location } = browserGlobals();
  const made = await ask("create", {
    rp: { id: location.hostname, name: location.hostname },
    // Random: the same id again would replace a passkey, and so lose its key.
    user: { id: randomBytes(), name, displayName: name },
    // Required, but not used: the key comes from PRF.
    pubKeyCredParams: [-8, -7, -257].map((alg) => ({
      type: "public-key",
      alg,
    })),
    authenticatorSelection: {
      residentKey: "required",
      userVerification: "required",
    },
  });
  const { enabled, results } = prfOf(made);
  if (enabled !== true && results === undefined) {
    throw new PasskeyError("no_prf");
  }
  // Many authenticators derive only in a later request.
  return results === undefined
    ? await openPasskey([{ type: "public-key", id: made.rawId }])
    : await keyFromPrf(results.first);
}

/**
 * The key from a passkey that the person chooses.
 *
 * @throws {PasskeyError}
 */
export async function openPasskey(
  allowCredentials: readonly object[] = [],
): Promise<BrowserKey> {
  const { location } = browserGlobals();
  const found = await ask("get", {
    rpId: location.hostname,
    userVerification: "required",
    allowCredentials,
  });
  const { results } = prfOf(found);
  if (results === undefined) throw new PasskeyError("no_prf");
  return await keyFromPrf(results.first);
}

/**
 * The key that is derived from the PRF output of a passkey. It is extractable
 * inside of this function only, to compute the public key.
 */
export async function keyFromPrf(output: BufferSource): Promise<BrowserKey> {
  const { subtle } = crypto;
  const secret = await subtle.importKey("raw", output, "HKDF", false, [
    "deriveBits",
  ]);
  const seed = new Uint8Array(
    await subtle.deriveBits(
      {
        ...{ name: "HKDF", hash: "SHA-256", info: HKDF_INFO },
        salt: new Uint8Array(),
      },
      secret,
      256,
    ),
  );
  const pkcs8 = new Uint8Array([...PKCS8_PREFIX, ...seed]);
  try {
    const load = (extractable: boolean) =>
      subtle.importKey("pkcs8", pkcs8, "Ed25519", extractable, ["sign"]);
    const { x = "" } = await subtle.exportKey("jwk", await load(true));
    const publicJwk = { kty: "OKP", crv: "Ed25519", x } as const;
    return {
      did: jwkToDidKey(publicJwk),
      publicJwk,
      privateKey: await load(false),
      createdAt: new Date().toISOString(),
      isPasskey: true,
    };
  } finally {
    seed.fill(0);
    pkcs8.fill(0);
  }
}

async function ask(
  what: "create" | "get",
  options: object,
): Promise<Credential> {
  const { navigator } = browserGlobals();
  const publicKey = {
    ...options,
    challenge: randomBytes(),
    extensions: { prf: { eval: { first: PRF_INPUT } } },
  };
  try {
    const credential = await navigator.credentials[what]({ publicKey });
    if (credential !== null) return credential;
  } catch (error) {
    throw new PasskeyError("cancelled", error);
  }
  throw new PasskeyError("cancelled");
}

function prfOf(credential: Credential) {
  return credential.getClientExtensionResults().prf ?? {};
}

function randomBytes(): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(32));
}

// WebAuthn as types, as far as it is used: see `key_store.ts`.

interface Credential {
  readonly rawId: ArrayBuffer;
  getClientExtensionResults(): {
    readonly prf?: {
      readonly enabled?: boolean;
      readonly results?: { readonly first: BufferSource };
    };
  };
}

type AskCredentials = (options: object) => Promise<Credential | null>;

interface BrowserGlobals {
  readonly isSecureContext?: boolean;
  readonly location: { readonly hostname: string };
  readonly navigator: {
    readonly credentials: Record<"create" | "get", AskCredentials>;
  };
  readonly PublicKeyCredential?: {
    getClientCapabilities?(): Promise<{ readonly [name: string]: boolean }>;
  };
}

function browserGlobals(): BrowserGlobals {
  return globalThis as unknown as BrowserGlobals;
}
