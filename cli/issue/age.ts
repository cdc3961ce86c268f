/** Encryption with a passphrase, by age (age-encryption.org/v1). @module */

/** The first bytes of a file that age encrypted. */
const AGE = "age-encryption.org/";

/** Returns whether age has encrypted these bytes. */
export function isEncrypted(bytes: Uint8Array): boolean {
  return new TextDecoder().decode(bytes.subarray(0, AGE.length)) === AGE;
}

/** Encrypts bytes, so that `age -d` reads them too. */
export async function encryptWith(
  passphrase: string,
  bytes: Uint8Array,
): Promise<Uint8Array> {
  const { Encrypter } = await import("age-encryption");
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  return await encrypter.encrypt(bytes);
}

/** Decrypts bytes; undefined if the passphrase is wrong or they are damaged. */
export async function decryptWith(
  passphrase: string,
  bytes: Uint8Array,
): Promise<Uint8Array | undefined> {
  const { Decrypter } = await import("age-encryption");
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  return await decrypter.decrypt(bytes).catch(() => undefined);
}
