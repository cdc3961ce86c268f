import { DEFAULT_LIMITS, WELL_KNOWN_PATHS } from "@sig/core";
import {
  createMemoryKeyStore,
  createMemoryStore,
  initIssuer,
  openIssuer,
  type RecoveryRequest,
} from "@sig/issuer";
import { generateSigningKey, importSigningKey } from "@sig/jose";
import { assert, assertEquals } from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { DID, HOST, NOW, upsert } from "../testdata/support.ts";

/** An issuer in memory with three events of `a`, whose key is also `b`. */
async function withTwoKids() {
  const store = createMemoryStore();
  const keys = createMemoryKeyStore();
  await initIssuer({ store, keys, did: DID, kid: "a" });
  const open = (maxMetadataBytes = DEFAULT_LIMITS.maxMetadataBytes) =>
    openIssuer({
      store,
      keys,
      kid: "a",
      now: () => NOW,
      limits: { ...DEFAULT_LIMITS, maxMetadataBytes },
    });
  const recoveryKey = await importSigningKey(await generateSigningKey());
  const { x: next } = await generateSigningKey();
  {
    await using issuer = await open();
    await issuer.appendAll([1, 2, 3].map((n) => upsert({ event_id: `e${n}` })));
    const key = await keys.read({ host: HOST, kid: "a" });
    assert(key !== undefined && "d" in key);
    await issuer.rotateKey({ kid: "b", key: { ...key, kid: "b" } });
    await issuer.createRecovery(recoveryKey.publicJwk.x);
  }
  const recover = async (
    ends: Pick<RecoveryRequest, "stolen" | "lost">,
    maxMetadataBytes?: number,
  ) => {
    await using issuer = await open(maxMetadataBytes);
    return await issuer.recover({ recoveryKey, next, ...ends });
  };
  return { store, keys, recover };
}

Deno.test("a key that has two kids can't have two ends", async () => {
  const { recover, store } = await withTwoKids();
  const before = new Map(store.files);
  for (
    const ends of [
      { stolen: new Map([["a", 3], ["b", 1]]) },
      { stolen: new Map([["a", 1]]), lost: ["b"] },
    ]
  ) {
    await expectSigError(
      recover(ends),
      "invalid_request",
      'Cannot recover: "a" and "b" are one key, and must have one end',
    );
  }
  assertEquals(store.files, before);
});

Deno.test("a stolen key ends under both of its kids, also if the call is repeated", async () => {
  const { recover, store } = await withTwoKids();
  const { statement } = await recover({ stolen: new Map([["b", 1]]) });
  const after = new Map(store.files);
  for (const kids of [["b"], ["a"], ["a", "b"]]) {
    const again = await recover({ stolen: new Map(kids.map((k) => [k, 1])) });
    assertEquals(again.statement, statement);
  }
  assertEquals(
    store.files.get(WELL_KNOWN_PATHS.feed),
    after.get(WELL_KNOWN_PATHS.feed),
  );
});

Deno.test("a statement that sig.json has no room for is refused before the key is stored", async () => {
  const { keys, recover, store } = await withTwoKids();
  const before = new Map(store.files);
  const size = before.get(WELL_KNOWN_PATHS.metadata)!.length;
  await expectSigError(
    recover({ lost: ["a", "b"] }, size + 100),
    "document_too_large",
    "Cannot publish document",
  );
  assertEquals(store.files, before);
  assertEquals(await keys.has({ host: HOST, kid: "orgsign-1" }), false);
});
