import { didWebOf, parseIssuerDid } from "@sig/core";
import type { SigningKey } from "@sig/jose";
import { typedCommand } from "../command_line/command.ts";
import { kid } from "../command_line/values.ts";
import { keyStoreDir } from "../issue/private_key.ts";
import { type Output, safe, writeJson } from "../output/write.ts";
import { file, folder, optional, toggle, usageError } from "@sig/api/flags";

/** The kinds of `sig export` that serve a directory. */
const EXPORTS = "nginx|caddy|deno-deploy|static";

/** `sig init` */
export const init = typedCommand({
  description:
    "Writes the DID document, key set, metadata and an empty feed to\nDIR/.well-known, and a new private key to the key store. Never overwrites a\nfile.",
  positionals: [{ name: "domain", help: "the issuer's host, or host:port" }],
  flags: {
    dir: optional(folder, "directory to create (default: ./<domain>)"),
    kid: optional(kid, "the key's identifier (default: orgsign-1)"),
    key: optional(file, "private JWK to use instead of a new key"),
    "reuse-key": toggle(
      "use the key that the key store has for this host and kid",
    ),
    "allow-insecure": toggle("accept an IP address or localhost, over http"),
  },
  examples: [
    "sig init acme.example",
    "sig init 127.0.0.1:8080 --dir demo --allow-insecure",
  ],
  async run(call) {
    const { io } = call;
    // Host names have no case, DIDs do.
    const domain = call.positionals[0]!.toLowerCase();
    const { dir = `./${domain}`, kid } = call.flags;
    const allowPrivate = call.flags["allow-insecure"];
    const did = toDid(domain, allowPrivate);
    const file = call.flags.key ?? io.env("SIG_KEY_FILE");
    const { createFileStore, initIssuer } = await import("@sig/issuer");
    const { fileKeys } = await import("../issue/open_issuer.ts");
    const store = createFileStore(dir);
    try {
      const made = await initIssuer({
        store,
        did,
        allowPrivate,
        reuseKey: call.flags["reuse-key"],
        keys: file === undefined
          ? fileKeys(call)
          : await readKeyFile(call, file, kid),
        ...(kid === undefined ? {} : { kid }),
      });
      const { origin } = parseIssuerDid(did, { allowPrivate });
      const { host } = new URL(origin);
      const keyFile = file ?? `${keyStoreDir(io)}/${host}/${made.kid}.jwk`;
      if (call.format === "json") {
        writeJson(io, { issuer: did, dir, kid: made.kid, key_file: keyFile });
      } else {
        const folder = safe(dir);
        io.stdout(
          `Created issuer ${did} in ${folder} (kid ${made.kid})\n` +
            `Private key: ${safe(keyFile)}\n` +
            `Publish ${folder}/.well-known at ${origin}/.well-known\n` +
            `Serve: sig export ${EXPORTS} --dir ${folder}\n` +
            `Next: sig upsert --dir ${folder} --subject did:web:alice.example --type employee --role deploy\n`,
        );
      }
      return 0;
    } finally {
      await store.close();
    }
  },
});

async function readKeyFile(
  call: Output,
  file: string,
  given: string | undefined,
): Promise<SigningKey> {
  const { importSigningKey } = await import("@sig/jose");
  const { readPrivateJwk } = await import("../issue/private_key.ts");
  const jwk = await readPrivateJwk(call, file);
  const kid = given ?? jwk.kid ?? "orgsign-1";
  return await importSigningKey({ ...jwk, kid });
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
  // Without the scheme's own port, which URLs leave out: a reader that asks by URL
  // would expect another issuer there.
  return didWebOf(new URL(origin));
}
