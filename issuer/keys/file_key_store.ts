// deno-lint-ignore-file require-await -- the contract's methods answer with promises
/** Private keys in files (docs/protocol.md §11). @module */

import { JsonError, parseJson, type PrivateJwk, SigError } from "@sig/core";
import { isObject } from "@sig/core/internal";
import { look, makeDirectory, parentOf, requireDeno } from "../disk/disk.ts";
import { createDurably, readWhole } from "../disk/durable_file.ts";
import {
  type KeptKey,
  type KeyName,
  type KeyStore,
  type ReferencedKey,
  requireHost,
  requireKid,
  type StoredKey,
} from "./key_store.ts";

/** Options of {@linkcode createFileKeyStore}. */
export interface FileKeyStoreOptions {
  /**
   * Called if other users may read a key's file or list its folder; the key is
   * then used. Without this function such a key is refused (`invalid_key`).
   */
  readonly onWarning?: (warning: string) => void;
  /**
   * Resolves a reference to a key that signs under that kid. Without this
   * function a reference is refused (`signing_key_not_found`).
   */
  readonly findReferenced?: (
    reference: string,
    kid: string,
  ) => Promise<ReferencedKey>;
}

/** A SHA-256 fingerprint as `ssh-add -l` prints it. */
const REFERENCE = /^SHA256:[A-Za-z0-9+/]{43}$/;

/** Maximum bytes of a key file, more than any Ed25519 JWK needs. */
const MAX_KEY_BYTES = 16 * 1024;

/**
 * Makes a key store of files `<dir>/<host>/<kid>.jwk`, each with one private
 * JWK: mode 0600 in folders of mode 0700, created when needed. Keep it outside
 * every published tree. `<kid>.agent` contains the reference to a key that is
 * kept elsewhere.
 *
 * @example
 * ```ts
 * import { createFileKeyStore } from "@sig/issuer";
 * import { generateSigningKey } from "@sig/jose";
 * import { assert } from "@std/assert";
 *
 * const dir = await Deno.makeTempDir();
 * const keys = createFileKeyStore(`${dir}/keys`);
 * const name = { host: "acme.example", kid: "orgsign-1" };
 * await keys.write(name, await generateSigningKey({ kid: name.kid }));
 * assert(await keys.has(name));
 * await Deno.remove(dir, { recursive: true });
 * ```
 */
export function createFileKeyStore(
  dir: string,
  options: FileKeyStoreOptions = {},
): KeyStore {
  requireDeno();
  return new FileKeyStore(dir, options);
}

class FileKeyStore implements KeyStore {
  readonly #dir: string;
  readonly #options: FileKeyStoreOptions;

  constructor(dir: string, options: FileKeyStoreOptions) {
    this.#dir = dir;
    this.#options = options;
  }

  async has(name: KeyName): Promise<boolean> {
    const places = [this.#place(name), this.#place(name, "agent")];
    return places.some((place) => look(place) !== undefined);
  }

  async reference(name: KeyName): Promise<string | undefined> {
    return this.#readPrivate(this.#place(name, "agent"), parseReference);
  }

  async read(name: KeyName): Promise<KeptKey | undefined> {
    // A reference has priority: if both exist, only the agent's key signs.
    const reference = await this.reference(name);
    if (reference === undefined) {
      return this.#readPrivate(this.#place(name), parseKey);
    }
    const { kid } = name;
    const found = await this.#options.findReferenced?.(reference, kid);
    if (found !== undefined) return found;
    throw new SigError("signing_key_not_found", {
      action: "use key",
      reason: `${reference} is in an agent, which is not asked here`,
      context: { kid },
    });
  }

  async write(name: KeyName, key: StoredKey): Promise<void> {
    const isKey = !("reference" in key);
    const place = this.#place(name, isKey ? "jwk" : "agent");
    makePrivateFolders(parentOf(place));
    const text = isKey ? JSON.stringify(key) : key.reference;
    const bytes = new TextEncoder().encode(`${text}\n`);
    const created = !await this.has(name) &&
      createDurably(place, bytes, { mode: 0o600 });
    bytes.fill(0);
    if (!created) {
      throw new SigError("kid_exists", {
        action: "keep key",
        reason: `${JSON.stringify(place)} exists already`,
        context: { kid: name.kid, path: place },
      });
    }
  }

  #place(name: KeyName, ending: "jwk" | "agent" = "jwk"): string {
    requireHost(name.host);
    requireKid(name.kid);
    return `${this.#dir}/${name.host}/${name.kid}.${ending}`;
  }

  #readPrivate<T>(
    place: string,
    parse: (place: string, bytes: Uint8Array) => T,
  ): T | undefined {
    const entry = look(place);
    if (entry === undefined) return undefined;
    if (entry.kind !== "file" || entry.size > MAX_KEY_BYTES) {
      throw notAKey(place);
    }
    this.#requireOwnerOnly(place);
    const bytes = readWhole(place, MAX_KEY_BYTES) ?? new Uint8Array();
    try {
      return parse(place, bytes);
    } finally {
      bytes.fill(0);
    }
  }

  #requireOwnerOnly(place: string): void {
    for (const path of [place, parentOf(place)]) {
      const mode = look(path)?.mode ?? 0;
      if ((mode & 0o077) === 0) continue;
      const name = JSON.stringify(path);
      const [want, what] = path === place
        ? ["600", "the private key"]
        : ["700", "the private keys' folder"];
      const is = `mode ${mode.toString(8)}, expected ${want}`;
      const warning = `${what} ${name} is open to others (${is})`;
      const { onWarning } = this.#options;
      if (onWarning === undefined) {
        const hint = `Run: chmod ${want} ${name}`;
        const context = { path, hint };
        throw new SigError("invalid_key", {
          action: "use key",
          reason: warning,
          context,
        });
      }
      onWarning(warning);
    }
  }
}

/** Parses a JWK, which the import validates. Never quotes its content. */
function parseKey(place: string, bytes: Uint8Array): PrivateJwk {
  let value: unknown;
  try {
    value = parseJson(bytes);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
  }
  if (
    isObject(value) && typeof value.d === "string" &&
    typeof value.x === "string" && value.kty === "OKP" &&
    value.crv === "Ed25519"
  ) return value as OpenKey;
  throw notAKey(place);
}

function parseReference(place: string, bytes: Uint8Array): string {
  const reference = new TextDecoder().decode(bytes).trimEnd();
  if (REFERENCE.test(reference)) return reference;
  throw notAKey(place);
}

function notAKey(place: string): SigError {
  return new SigError("invalid_key", {
    action: "use key",
    reason: `${
      JSON.stringify(place)
    } is not a file with a private Ed25519 JWK, or the fingerprint of a key`,
    context: { path: place },
  });
}

type OpenKey = PrivateJwk & { readonly [member: string]: unknown };

function makePrivateFolders(path: string): void {
  if (look(path) !== undefined) return;
  makePrivateFolders(parentOf(path));
  makeDirectory(path, 0o700);
}
