/** Private keys in files (docs/protocol.md §11). @module */

import { JsonError, parseJson, type PrivateJwk, SigError } from "@sig/core";
import { isObject } from "@sig/core/internal";
import { look, makeDirectory, parentOf } from "../disk/disk.ts";
import { createDurably, readWhole } from "../disk/durable_file.ts";
import {
  type KeyName,
  type KeyStore,
  requireHost,
  requireKid,
} from "./key_store.ts";

/** Options of {@linkcode createFileKeyStore}. */
export interface FileKeyStoreOptions {
  /**
   * Told when others may read a key's file or list its folder, which is then
   * used all the same. Without it such a key is refused (`invalid_key`).
   */
  readonly onWarning?: (warning: string) => void;
}

/** More than any Ed25519 JWK needs. */
const MAX_KEY_BYTES = 16 * 1024;

/**
 * Makes a key store of files `<dir>/<host>/<kid>.jwk`: one private JWK each,
 * mode 0600 in folders of mode 0700, all made when they are needed. To be kept
 * outside of every published tree.
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
  return new FileKeyStore(dir, options.onWarning);
}

class FileKeyStore implements KeyStore {
  readonly #dir: string;
  readonly #onWarning: ((warning: string) => void) | undefined;

  constructor(dir: string, onWarning?: (warning: string) => void) {
    this.#dir = dir;
    this.#onWarning = onWarning;
  }

  async has(name: KeyName): Promise<boolean> {
    return await Promise.resolve(look(this.#place(name)) !== undefined);
  }

  async read(name: KeyName): Promise<PrivateJwk | undefined> {
    const place = this.#place(name);
    const entry = look(place);
    if (entry === undefined) return undefined;
    if (entry.kind !== "file" || entry.size > MAX_KEY_BYTES) {
      throw notAKey(place);
    }
    this.#requireOwnerOnly(place);
    const bytes = readWhole(place, MAX_KEY_BYTES) ?? new Uint8Array();
    try {
      return await Promise.resolve(parseKey(place, bytes));
    } finally {
      bytes.fill(0);
    }
  }

  async write(name: KeyName, key: PrivateJwk): Promise<void> {
    const place = this.#place(name);
    makePrivateFolders(parentOf(place));
    const bytes = new TextEncoder().encode(`${JSON.stringify(key)}\n`);
    const created = createDurably(place, bytes, { mode: 0o600 });
    bytes.fill(0);
    if (!created) {
      throw new SigError(
        "kid_exists",
        `Cannot keep key: ${JSON.stringify(place)} exists already`,
        { context: { kid: name.kid, path: place } },
      );
    }
    await Promise.resolve();
  }

  #place(name: KeyName): string {
    requireHost(name.host);
    requireKid(name.kid);
    return `${this.#dir}/${name.host}/${name.kid}.jwk`;
  }

  #requireOwnerOnly(place: string): void {
    for (const path of [place, parentOf(place)]) {
      const mode = look(path)?.mode ?? 0;
      if ((mode & 0o077) === 0) continue;
      const [want, what] = path === place
        ? ["600", "the private key"]
        : ["700", "the private keys' folder"];
      const warning = `${what} ${
        JSON.stringify(path)
      } is open to others (mode ${mode.toString(8)}, expected ${want})`;
      if (this.#onWarning === undefined) {
        throw new SigError("invalid_key", `Cannot use key: ${warning}`, {
          context: { path, hint: `Run: chmod ${want} ${JSON.stringify(path)}` },
        });
      }
      this.#onWarning(warning);
    }
  }
}

/** The JWK, which the import validates further. Nothing of it is quoted. */
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

function notAKey(place: string): SigError {
  return new SigError(
    "invalid_key",
    `Cannot use key: ${
      JSON.stringify(place)
    } is not a file with a private Ed25519 JWK`,
    { context: { path: place } },
  );
}

type OpenKey = PrivateJwk & { readonly [member: string]: unknown };

function makePrivateFolders(path: string): void {
  if (look(path) !== undefined) return;
  makePrivateFolders(parentOf(path));
  makeDirectory(path, 0o700);
}
