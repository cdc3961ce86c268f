import { didWebOf, isSigError, parseIssuerDid, type Warning } from "@sig/core";
import type { FeedStore, Keys, ReferencedKey } from "@sig/issuer";
import { typedCommand } from "../command_line/command.ts";
import { kid, signingKey } from "../command_line/values.ts";
import { keyStoreDir } from "../issue/private_key.ts";
import {
  givenWarnings,
  type Output,
  safe,
  writeResult,
  writeWarnings,
} from "../output/write.ts";
import { folder, optional, toggle, usageError } from "@sig/api/program";

/** The default kid of the first key. */
const FIRST_KID = "orgsign-1";

/** The `sig export` kinds for serving a directory. */
const EXPORTS = "nginx|caddy|deno-deploy|static";

/** `sig init` */
export const init = typedCommand({
  description: `
    Writes the DID document, key set, metadata, an empty feed and its proofs to
    DIR/.well-known, and a new private key to the key store. Never overwrites a
    file. Commands that append update the proofs, from which sig check answers
    without the whole feed. With a key in ssh-agent, begin them with
    sig checkpoint --init.`,
  positionals: [{ name: "domain", help: "the issuer's host, or host:port" }],
  flags: {
    dir: optional(folder, "directory to create (default: ./<domain>)"),
    kid: optional(kid, "the key's identifier (default: orgsign-1)"),
    key: optional(
      signingKey,
      "private JWK, or key in ssh-agent, to use instead of a new key",
    ),
    "reuse-key": toggle(
      "use the key that the key store has for this host and kid",
    ),
    "no-proofs": toggle("publish no proofs"),
    "allow-insecure": toggle(
      "accept an address or name of a closed network, over http",
    ),
  },
  examples: [
    "sig init acme.example",
    "sig init acme.example --no-proofs",
    "sig init 127.0.0.1:8080 --dir demo --allow-insecure",
    "sig init members.internal --allow-insecure",
  ],
  async run(call) {
    const { io } = call;
    // Host names are case-insensitive, DIDs are not.
    const domain = call.positionals[0]!.toLowerCase();
    const { dir = `./${domain}`, kid } = call.flags;
    const allowPrivate = call.flags["allow-insecure"];
    const did = toDid(domain, allowPrivate);
    const file = call.flags.key ?? io.env("SIG_KEY_FILE");
    const { createFileStore, initIssuer } = await import("@sig/issuer");
    const used = await readKeys(call, file, kid);
    const store = createFileStore(dir);
    try {
      const made = await initIssuer({
        store,
        did,
        allowPrivate,
        reuseKey: call.flags["reuse-key"],
        ...used,
        ...(kid === undefined ? {} : { kid }),
      });
      const warnings = call.flags["no-proofs"] || used.key !== undefined
        ? []
        : await makeProofs(call, store, used.keys);
      writeWarnings(call, warnings);
      const { origin } = parseIssuerDid(did, { allowPrivate });
      const { host } = new URL(origin);
      const { reference } = used.key ?? {};
      const ending = reference === undefined ? "jwk" : "agent";
      const keyFile = reference === undefined && file !== undefined
        ? file
        : `${keyStoreDir(io)}/${host}/${made.kid}.${ending}`;
      const folder = safe(dir);
      const shownKey = reference === undefined
        ? safe(keyFile)
        : `${reference} in ssh-agent; reference ${safe(keyFile)}`;
      writeResult(
        call,
        {
          issuer: did,
          dir,
          kid: made.kid,
          key_file: keyFile,
          ...givenWarnings(warnings),
        },
        `Created issuer ${did} in ${folder} (kid ${made.kid})\n` +
          `Private key: ${shownKey}\n` +
          `Publish ${folder}/.well-known at ${origin}/.well-known\n` +
          `Serve: sig export ${EXPORTS} --dir ${folder}\n` +
          `Next: list your people in people.csv (person,name,type,roles), then\n` +
          `  sig plan --dir ${folder} --from people.csv\n` +
          `  sig invite --dir ${folder} --from people.csv --out invitations\n` +
          `Before a key is stolen or lost: sig recovery create --dir ${folder}\n`,
      );
    } finally {
      await store.close();
    }
  },
});

/**
 * Begins the proofs. The issuer exists already, so a failure is a warning.
 */
async function makeProofs(
  { io }: Output,
  store: FeedStore,
  keys: Keys,
): Promise<readonly Warning[]> {
  const { openIssuer } = await import("@sig/issuer");
  try {
    await using issuer = await openIssuer({ store, keys, now: io.now });
    await issuer.checkpoint({ init: true });
    return [];
  } catch (error) {
    if (!isSigError(error)) throw error;
    const detail =
      `${error.message}; the issuer has no proofs: sig checkpoint --init`;
    return [{ code: "proofs_behind", detail }];
  }
}

/**
 * Returns the signing key: a new key, a key from a file, or a key in ssh-agent.
 */
async function readKeys(
  call: Output,
  named: string | undefined,
  kid: string | undefined,
): Promise<{ readonly keys: Keys; readonly key?: ReferencedKey }> {
  const { fileKeys } = await import("../issue/open_issuer.ts");
  if (named === undefined) return { keys: fileKeys(call) };
  const { isReferenced } = await import("@sig/issuer/internal");
  const { readNamedKey } = await import("../issue/private_key.ts");
  const found = await readNamedKey(call, named);
  // `open` refuses an invalid kid.
  const key = await found.open(kid ?? (found.kid ?? FIRST_KID) as string);
  return isReferenced(key) ? { keys: fileKeys(call), key } : { keys: key };
}

function toDid(domain: string, allowPrivate: boolean): string {
  if (domain.startsWith("did:") || domain.includes("/")) {
    const host = domain.replace(/^(?:did:web:|https?:\/\/)/i, "")
      .replace(/\/.*$/s, "").replace(/%3a/i, ":");
    throw usageError(
      "<domain> must be a host name, such as acme.example or acme.example:8443",
      /^[\w.-]+(?::\d+)?$/.test(host) ? { hint: `Did you mean ${host}?` } : {},
    );
  }
  const did = `did:web:${domain.replace(":", "%3A")}`;
  const { origin } = parseIssuerDid(did, { allowPrivate });
  // URLs omit the scheme's default port, so the DID must too: a reader that
  // starts from a URL would expect another issuer.
  return didWebOf(new URL(origin));
}
