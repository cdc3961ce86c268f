/** What the documents call acme.example where TLS matters. @module */

import { createMemoryKeyStore, openIssuer } from "@sig/issuer";
import { createFileStore, initIssuer } from "@sig/issuer";
import { createIssuerSite } from "../../cli/site/issuer_site.ts";
import { makeCertificate } from "../kit/certificates.ts";

/** An issuer that is being served over https. */
export interface SecureIssuer extends AsyncDisposable {
  /** Host and port. */
  readonly host: string;
  /** The file of the authority that its certificate is from. */
  readonly authorityFile: string;
}

/** Serves an issuer with one event, of now: its key is not old. */
export async function serveSecureIssuer(dir: string): Promise<SecureIssuer> {
  const made = await makeCertificate("DNS:localhost", { days: 60 });
  await Deno.mkdir(dir, { recursive: true });
  const authorityFile = `${dir}/authority.pem`;
  await Deno.writeTextFile(authorityFile, made.authority);
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen() {},
    cert: made.cert,
    key: made.key,
  }, createIssuerSite(dir));
  const host = `localhost:${server.addr.port}`;
  const store = createFileStore(dir);
  const keys = createMemoryKeyStore();
  const did = `did:web:${host.replace(":", "%3A")}`;
  await initIssuer({ store, keys, did, allowPrivate: true });
  // Names of this machine are asked over http, unless the documents say else.
  for (const name of ["sig.json", "did.json"]) {
    const path = `${dir}/.well-known/${name}`;
    const text = await Deno.readTextFile(path);
    await Deno.writeTextFile(path, text.replaceAll("http://", "https://"));
  }
  await using issuer = await openIssuer({ store, keys, now: () => new Date() });
  await issuer.append({
    event_type: "relationship.upsert",
    subject: "did:web:alice.example",
    relationship_type: "employee",
  });
  return {
    host,
    authorityFile,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
