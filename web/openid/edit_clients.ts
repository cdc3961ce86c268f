/**
 * Edits the file of applications, for `sig web client`. It is for the packages
 * of this project and is not covered by semantic versioning.
 *
 * @example
 * ```ts
 * import { addClient, removeClient } from "@sig/web/clients";
 * import { assertEquals } from "@std/assert";
 *
 * const { text, secret } = addClient(undefined, {
 *   client_id: "grafana",
 *   redirect_uris: ["https://grafana.acme.example/login/generic_oauth"],
 * });
 * assertEquals(JSON.parse(text).clients[0].client_id, "grafana");
 * assertEquals(text.includes(secret), false);
 * assertEquals(JSON.parse(removeClient(text, "grafana")).clients, []);
 * ```
 *
 * @module
 */

import { SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import { randomText, sha256Base64Url } from "../store/digest.ts";
import { type Clients, readClients } from "./clients.ts";

export { type Clients, readClients };
export type { AuthMethod, Client } from "./clients.ts";

/** An application to add: the members of its entry in the file. */
export interface NewClient {
  /** Its unique id. */
  readonly client_id: string;
  /** The allowed redirect URIs. */
  readonly redirect_uris: readonly string[];
  /** Other members of the entry; undefined members are omitted. */
  readonly [member: string]: unknown;
}

/** A changed file, and the new secret of the application. */
export interface EditedClients {
  /** The file's new text. */
  readonly text: string;
  /** The application's secret, 256 random bits. It is not stored anywhere. */
  readonly secret: string;
}

type Entries = Record<string, unknown>[];

/**
 * Adds an application with a new secret to the text of a file. The file
 * contains only the SHA-256 of the secret, which is sufficient because the
 * secret is random and long.
 *
 * @param text The text of the file; undefined for a new file.
 * @throws {SigError} `invalid_request`, `invalid_json` for a file that is
 * invalid before or after the change; the message lists every fault with its
 * pointer.
 */
export function addClient(
  text: string | undefined,
  entry: NewClient,
): EditedClients {
  const { secret, client_secret_sha256 } = newSecret();
  return {
    secret,
    text: edit(text, (entries) => {
      if (entries.some((each) => each.client_id === entry.client_id)) {
        throw refuse(
          "add application",
          `there is already a client_id ${quote(entry.client_id)}`,
          "Choose another id, or remove that application first.",
        );
      }
      entries.push({ ...entry, client_secret_sha256 });
    }),
  };
}

/**
 * Changes members of an application's entry; undefined members remain, null
 * ones are removed. Its secret remains valid.
 *
 * @throws {SigError} the codes of {@linkcode addClient}.
 */
export function setClient(
  text: string,
  id: string,
  changes: { readonly [member: string]: unknown },
): string {
  return edit(text, (entries) => {
    const entry = find(entries, id);
    for (const [member, value] of Object.entries(changes)) {
      if (value === null) delete entry[member];
      else if (value !== undefined) entry[member] = value;
    }
  });
}

/**
 * Removes an application.
 *
 * @throws {SigError} the codes of {@linkcode addClient}.
 */
export function removeClient(text: string, id: string): string {
  return edit(text, (entries) => {
    entries.splice(entries.indexOf(find(entries, id)), 1);
  });
}

/**
 * Replaces the secret of an application; the previous secret becomes invalid.
 *
 * @throws {SigError} the codes of {@linkcode addClient}; `invalid_request` for
 * an application without a secret.
 */
export function rotateSecret(text: string, id: string): EditedClients {
  const { secret, client_secret_sha256 } = newSecret();
  return {
    secret,
    text: edit(text, (entries) => {
      const entry = find(entries, id);
      if (entry.client_secret_sha256 === undefined) {
        throw refuse(
          "rotate secret",
          `${quote(id)} has none`,
          "It identifies itself by its keys, or is a public client.",
        );
      }
      entry.client_secret_sha256 = client_secret_sha256;
    }),
  };
}

function newSecret() {
  const secret = randomText(32);
  return { secret, client_secret_sha256: sha256Base64Url(secret) };
}

function edit(
  text: string | undefined,
  change: (entries: Entries) => void,
): string {
  const before = text ?? '{"clients":[]}';
  readClients(before);
  const file = JSON.parse(before) as { readonly clients: Entries };
  change(file.clients);
  const after = `${JSON.stringify(file, null, 2)}\n`;
  readClients(after);
  return after;
}

function find(entries: Entries, id: string): Entries[number] {
  const found = entries.find((each) => each.client_id === id);
  if (found !== undefined) return found;
  throw refuse(
    "find application",
    `unknown client_id ${quote(id)}`,
    "sig web client list shows all of them.",
  );
}

function refuse(action: string, reason: string, hint: string): SigError {
  return new SigError("invalid_request", {
    action,
    reason,
    context: { flag: "--id", hint },
  });
}
