/**
 * Entries of the file of applications, for `sig web client add`.
 *
 * @example
 * ```ts
 * import { addClient } from "@sig/web/clients";
 * import { assertEquals } from "@std/assert";
 *
 * const { text, secret } = await addClient(undefined, {
 *   id: "grafana",
 *   redirectUris: ["https://grafana.acme.example/login/generic_oauth"],
 * });
 * assertEquals(JSON.parse(text).clients[0].client_id, "grafana");
 * assertEquals(text.includes(secret), false);
 * ```
 *
 * @module
 */

import { SigError } from "@sig/core";
import { sha256Base64Url } from "../login/digest.ts";
import { randomText } from "../sessions/sessions.ts";
import { readClients } from "./clients.ts";

/** An application to be added. */
export interface NewClient {
  /** Its id. */
  readonly id: string;
  /** Where codes may be sent. */
  readonly redirectUris: readonly string[];
  /** Display name (default: the id). */
  readonly name?: string | undefined;
}

/** What {@linkcode addClient} makes. */
export interface AddedClient {
  /** The file's new text. */
  readonly text: string;
  /** The application's secret, of 256 random bits. It is nowhere else. */
  readonly secret: string;
}

/**
 * Adds an application with a fresh secret to the text of a file, of which it
 * keeps the digest alone: enough for a secret that nobody can guess, and for no
 * other.
 *
 * @param text The file; undefined for a new one.
 * @throws {SigError} `invalid_request`, `invalid_json` for a file that is wrong,
 * before or after; the message names every fault with its pointer.
 */
export async function addClient(
  text: string | undefined,
  { id, redirectUris, name }: NewClient,
): Promise<AddedClient> {
  const before = text ?? '{"clients":[]}';
  if (readClients(before).has(id)) {
    throw new SigError(
      "invalid_request",
      `Cannot add application: there is one of the id "${id}"`,
      {
        context: {
          flag: "--id",
          hint: "Choose another id, or take the entry out of the file first.",
        },
      },
    );
  }
  const secret = randomText(32);
  const file = JSON.parse(before) as { clients: unknown[] };
  file.clients.push({
    client_id: id,
    ...(name === undefined ? {} : { client_name: name }),
    client_secret_sha256: await sha256Base64Url(secret),
    redirect_uris: redirectUris,
  });
  const added = `${JSON.stringify(file, null, 2)}\n`;
  readClients(added);
  return { text: added, secret };
}
