import { didWebOf, parseIssuerDid } from "@sig/core";
import type { SigningKey } from "@sig/jose";
import type { Call, CommandSpec } from "../command_line/command.ts";
import { keyStoreDir } from "../issue/private_key.ts";
import { safe, writeJson } from "../output/write.ts";
import { usageError } from "@sig/api/flags";

/** The kinds of `sig export` that serve a directory. */
const EXPORTS = "nginx|caddy|deno-deploy|static";

/** `sig init` */
export const init: CommandSpec = {
  description:
    "Writes the DID document, key set, metadata and an empty feed to\nDIR/.well-known, and a new private key to the key store. Never overwrites a\nfile.",
  positionals: [{ name: "domain", help: "the issuer's host, or host:port" }],
  flags: [
    {
      name: "dir",
      value: "DIR",
      help: "directory to create (default: ./<domain>)",
    },
    {
      name: "kid",
      value: "KID",
      help: "the key's identifier (default: orgsign-1)",
    },
    {
      name: "key",
      value: "FILE",
      help: "private JWK to use instead of a new key",
    },
    {
      name: "reuse-key",
      help: "use the key that the key store has for this host and kid",
    },
    {
      name: "allow-insecure",
      help: "accept an IP address or localhost, over http",
    },
  ],
  examples: [
    "sig init acme.example",
    "sig init 127.0.0.1:8080 --dir demo --allow-insecure",
  ],
  async run(call) {
    const { io } = call;
    // Host names have no case, DIDs do.
    const domain = call.positionals[0]!.toLowerCase();
    const dir = call.text("dir") ?? `./${domain}`;
    const allowPrivate = call.on("allow-insecure");
    const did = toDid(domain, allowPrivate);
    const file = call.text("key") ?? io.env("SIG_KEY_FILE");
    const { createFileStore, initIssuer } = await import("@sig/issuer");
    const { fileKeys } = await import("../issue/open_issuer.ts");
    const kid = call.text("kid");
    const store = createFileStore(dir);
    try {
      const made = await initIssuer({
        store,
        did,
        allowPrivate,
        reuseKey: call.on("reuse-key"),
        keys: file === undefined
          ? fileKeys(call)
          : await readKeyFile(call, file),
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
};

async function readKeyFile(call: Call, file: string): Promise<SigningKey> {
  const { importSigningKey } = await import("@sig/jose");
  const { readPrivateJwk } = await import("../issue/private_key.ts");
  const jwk = await readPrivateJwk(call, file);
  const kid = call.text("kid") ?? jwk.kid ?? "orgsign-1";
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
