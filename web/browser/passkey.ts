/**
 * Derives a key from a passkey; it is the same on each device that has the
 * passkey. Uses WebAuthn with the PRF extension, HKDF and Ed25519
 * (docs/protocol.md §7.6).
 *
 * @module
 */

import { PKCS8_PREFIX } from "@sig/jose/internal";
import {
  browserGlobals,
  type BrowserKey,
  type Credential,
  toBrowserKey,
} from "./key_store.ts";

const encoder = new TextEncoder();
/**
 * Inputs of PRF and HKDF. Never change them: each person would get another key.
 */
const PRF_INPUT = encoder.encode("sig/0.1 passkey");
const HKDF_INFO = encoder.encode("sig/0.1 ed25519");

/**
 * The error when no key can be derived: `cancelled`, the person cancelled or
 * has no passkey; `no_prf`, the authenticator can't derive keys.
 */
export class PasskeyError extends Error {
  /** The reason. */
  readonly why: "cancelled" | "no_prf";

  /** Creates the error for a reason. */
  constructor(why: "cancelled" | "no_prf", cause?: unknown) {
    super(`Cannot use passkey: ${why}`, { cause });
    this.name = "PasskeyError";
    this.why = why;
  }
}

/**
 * Returns whether passkeys can be tried here: the page has a host name, and the
 * browser does not report that it lacks them. The authenticator may still lack
 * PRF.
 */
export async function mayUsePasskeys(): Promise<boolean> {
  const { PublicKeyCredential, isSecureContext, location } = browserGlobals();
  if (!PublicKeyCredential || !isSecureContext) return false;
  // Passkeys need a host name rather than an address (WebAuthn §5.1.3, step 8).
  if (/^[\d.]+$|^\[/.test(location.hostname)) return false;
  const can = await PublicKeyCredential.getClientCapabilities?.();
  return can?.["extension:prf"] ?? true;
}

/**
 * Creates a passkey for this host and derives its key.
 *
 * @param name The name that the person's other devices show.
 * @throws {PasskeyError}
 */
export async function createPasskey(name: string): Promise<BrowserKey> {
  const { location } = browserGlobals();
  const made = await ask("create", {
    rp: { id: location.hostname, name: location.hostname },
    // Random: a repeated id would replace a passkey, and its key would be lost.
    user: { id: randomBytes(), name, displayName: name },
    // Required by WebAuthn, but not used: the key comes from PRF.
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
  // Many authenticators return the PRF output only in a later request.
  return results === undefined
    ? await openPasskey([{ type: "public-key", id: made.rawId }])
    : await keyFromPrf(results.first);
}

/**
 * Derives the key from a passkey that the person chooses.
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
 * Derives the key from the PRF output of a passkey. The key is extractable only
 * inside this function, to compute the public key.
 */
export async function keyFromPrf(output: BufferSource): Promise<BrowserKey> {
  const { subtle } = crypto;
  const secret = await subtle.importKey("raw", output, "HKDF", false, [
    "deriveBits",
  ]);
  const seed = new Uint8Array(
    await subtle.deriveBits(
      {
        name: "HKDF",
        hash: "SHA-256",
        info: HKDF_INFO,
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
    return { ...toBrowserKey(await load(false), x), isPasskey: true };
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
