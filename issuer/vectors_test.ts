/** The issuer writes what `vectors/feed` holds, byte for byte. */

import type { PrivateJwk } from "@sig/core";
import { assert, assertEquals } from "@std/assert";
import { decodeBase64Url } from "@std/encoding/base64url";
import type { EventDraft } from "./event_draft.ts";
import { initIssuer } from "./init_issuer.ts";
import { createMemoryKeyStore } from "./memory_key_store.ts";
import { createMemoryStore } from "./memory_store.ts";
import { openIssuer } from "./open_issuer.ts";

const VECTORS = new URL("../vectors/", import.meta.url);
const DOCUMENTS = [
  "/.well-known/did.json",
  "/.well-known/jwks.json",
  "/.well-known/sig.json",
  "/.well-known/sig/events.jsonl",
];

/** Valid feeds in the issuer's own spelling, without anything to warn about. */
const CASES = [
  "feed-empty",
  "history",
  "key-rotation",
  "reactivate",
  "relationships-are-separate",
  "revoke",
  "revoke-every-reason",
  "subject-any-did",
  "time-first-and-last",
  "time-nanoseconds",
  "upsert",
  "upsert-all-members",
  "upsert-every-type",
  "upsert-replaces",
];

function readText(path: string): string {
  return Deno.readTextFileSync(new URL(path, VECTORS));
}

function testKey(index: number): PrivateJwk {
  return JSON.parse(readText("keys.json")).keys[index].jwk;
}

function parsePart(part: string): Record<string, unknown> {
  return JSON.parse(new TextDecoder().decode(decodeBase64Url(part)));
}

/** A line as what a caller of the issuer would have said, and the key. */
function toDraft(line: string): { draft: EventDraft; kid: unknown } {
  const { protected: head, payload } = JSON.parse(line);
  const {
    spec_version: _version,
    issuer: _issuer,
    sequence: _sequence,
    status: _status,
    revokes_relationship_id: _target,
    ...said
  } = parsePart(payload);
  return { draft: said as unknown as EventDraft, kid: parsePart(head).kid };
}

for (const name of CASES) {
  Deno.test(`the issuer writes feed ${name} byte for byte`, async () => {
    const store = createMemoryStore();
    const keys = createMemoryKeyStore();
    const did = "did:web:acme.example";
    await keys.write({ host: "acme.example", kid: "orgsign-1" }, testKey(0));
    const { keyReused } = await initIssuer({ store, keys, did });
    assert(keyReused);
    const { now } = JSON.parse(readText(`feed/${name}/expected.json`));
    await using issuer = await openIssuer({
      store,
      keys,
      now: () => new Date(now),
    });
    let kid: unknown = "orgsign-1";
    const feed = readText(`feed/${name}/.well-known/sig/events.jsonl`);
    for (const line of feed.split("\n").slice(0, -1)) {
      const next = toDraft(line);
      if (next.kid !== kid) {
        const key = testKey(1);
        assertEquals(key.kid, next.kid as string);
        await issuer.rotateKey({ kid: "orgsign-2", key });
        kid = next.kid;
      }
      await issuer.append(next.draft);
    }
    assertEquals([...store.files.keys()].sort(), DOCUMENTS);
    for (const path of DOCUMENTS) {
      const written = new TextDecoder().decode(store.files.get(path));
      assertEquals(written, readText(`feed/${name}${path}`), path);
    }
  });
}
