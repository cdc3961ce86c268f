import { assert, assertEquals } from "@std/assert";
import { importTestKeys, NOW } from "../../tests/kit/test_issuer.ts";
import { watchIssuer } from "../../tests/kit/watched_issuer.ts";
import { createMemoryPinStore } from "../pins/memory_pin_store.ts";
import { IssuerName, locateIssuer } from "../read/source.ts";
import { refreshRemembered } from "./refresh_remembered.ts";

const [key] = await importTestKeys();
assert(key);

Deno.test("who has written a state into a store does not keep it", async () => {
  await using issuer = await watchIssuer(3, key);
  const policy = { allowPrivate: true };
  const location = locateIssuer(
    IssuerName.parse(issuer.server.did, policy),
    policy,
  );
  const store = createMemoryPinStore();
  const asked = { ...policy, now: NOW, report: false };
  for (const _look of ["first", "later"]) {
    const { record } = await refreshRemembered(store, location, asked);
    const { held } = record;
    assert(held);
    assertEquals(held.feed, undefined);
    const { stored, verified } = held.observation;
    assertEquals(stored?.lastSequence, 3);
    for (const { state } of [verified, verified.feed]) {
      assertEquals(state.last_sequence, 3);
      assertEquals(state.by_relationship_id.size, 0);
      assertEquals(state.history.versions.size, 0);
    }
  }
});
