/**
 * Writes the issuer that the AuthZEN certification asks for (docs/authzen.md):
 * alice may read and write, bob may read.
 *
 * The subjects are plain names, as the certification sends them. An issuer of
 * this project appends DIDs only, so the events are signed here. The private key
 * is not kept: nothing can be added to this feed.
 *
 * @module
 */

import { createFileStore, initIssuer } from "@sig/issuer";
import { generateSigningKey, importSigningKey, signEvent } from "@sig/jose";

const [host, folder] = Deno.args;
if (host === undefined || folder === undefined) {
  console.error("Usage: fixture.ts HOST DIR");
  Deno.exit(2);
}
const key = await importSigningKey(await generateSigningKey());
const { metadata } = await initIssuer({
  store: createFileStore(folder),
  keys: key,
  did: `did:web:${host.replace(":", "%3A")}`,
  // An address of this machine, for a rehearsal.
  allowPrivate: /^(?:127\.0\.0\.1|localhost)(?::|$)/.test(host),
});
const issuedAt = `${new Date().toISOString().slice(0, 19)}Z`;
const lines = [["alice", "read", "write"], ["bob", "read"]].map(
  async ([subject, ...roles], i) =>
    JSON.stringify(
      await signEvent({
        spec_version: "sig/0.1",
        event_id: `fixture-${i + 1}`,
        event_type: "relationship.upsert",
        issuer: metadata.issuer,
        issued_at: issuedAt,
        sequence: i + 1,
        relationship_id: `${subject}-1`,
        subject,
        visibility: "public",
        relationship_type: "employee",
        status: "active",
        roles,
        valid_from: null,
        valid_until: null,
      }, key),
    ),
);
await Deno.writeTextFile(
  `${folder}/.well-known/sig/events.jsonl`,
  (await Promise.all(lines)).map((line) => `${line}\n`).join(""),
);
console.log(`Wrote ${metadata.issuer} to ${folder}`);
