/** Whether this browser has what everything here rests on. @module */

/**
 * Whether WebCrypto signs and verifies with Ed25519 here. Without it a good key
 * looks like a malformed one, so nothing may be judged.
 */
export async function hasEd25519(): Promise<boolean> {
  try {
    await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
    return true;
  } catch {
    return false;
  }
}
