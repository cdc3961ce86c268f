import { assert, assertEquals, assertRejects } from "@std/assert";
import { dumpState, isSigError } from "@sig/core";
import { day, revoke } from "../../tests/kit/events.ts";
import { importTestKeys, lineOf, NOW } from "../../tests/kit/test_issuer.ts";
import {
  type WatchedIssuer,
  watchIssuer,
} from "../../tests/kit/watched_issuer.ts";
import { createMemoryPinStore } from "../pins/memory_pin_store.ts";
import {
  type PinStore,
  pinStoreUnavailable,
  type StateRef,
} from "../pins/pin_store.ts";
import { blockKey, relationshipKey } from "../pins/row_keys.ts";
import { readWhole } from "../pins/stored_state.ts";
import { IssuerName, locateIssuer } from "../read/source.ts";
import type { RefreshOutcome } from "./refresh_issuer.ts";
import { refreshRemembered } from "./refresh_remembered.ts";

const [key] = await importTestKeys();
assert(key);

/** Events of several reads, so that some are staged while others come. */
const EVENTS = 600;

/** A first look that holds a few events. */
async function look({ server: { did } }: WatchedIssuer, store: PinStore) {
  const policy = { allowPrivate: true };
  const location = locateIssuer(IssuerName.parse(did, policy), policy);
  const options = { ...policy, now: NOW, report: false, batchEvents: 10 };
  const { outcome } = await refreshRemembered(store, location, options);
  return outcome;
}

/** A memory, and what is staged there by who does not act in between. */
function watched(act?: (store: PinStore) => Promise<void>) {
  const store = createMemoryPinStore();
  const stage = store.stage.bind(store);
  const refs = new Map<string, StateRef>();
  let times = 0;
  let isActing = false;
  store.stage = async (ref, rows) => {
    if (!isActing) {
      refs.set(ref.state, ref);
      // In the middle of it, once.
      if (++times === 10 && act !== undefined) {
        isActing = true;
        await act(store);
        isActing = false;
      }
    }
    await stage(ref, rows);
  };
  return { store, refs };
}

async function isStaged(store: PinStore, ref: StateRef): Promise<boolean> {
  const keys = [relationshipKey("rel-1"), blockKey(1)];
  const rows = await store.staged(ref, keys);
  return rows.some((each) => each !== undefined);
}

async function dumpOf(outcome: RefreshOutcome): Promise<unknown> {
  const { stored } = outcome.observation!;
  return dumpState(await readWhole(stored!), { now: NOW });
}

Deno.test("a first look that is staged in parts is that of a process that keeps all", async () => {
  await using issuer = await watchIssuer(EVENTS, key);
  const ends = ["rel-1", `rel-${EVENTS}`].map(relationshipKey);
  const seen: boolean[][] = [];
  const { store, refs } = watched(async (store) => {
    for (const ref of refs.values()) {
      const rows = await store.staged(ref, ends);
      seen.push(rows.map((each) => each !== undefined));
    }
  });
  const outcome = await look(issuer, store);
  const { state } = await issuer.consumer.verify(issuer.server.did);
  assertEquals(
    await dumpOf(outcome),
    dumpState(state, { now: NOW }),
  );
  // Not all of it was staged at once.
  assertEquals(seen, [[true, false]]);
});

Deno.test("a feed that turns out to be faulty leaves no rows, and the same error", async () => {
  await using issuer = await watchIssuer(EVENTS, key);
  const lines = [...issuer.lines];
  const last = JSON.parse(lines.at(-1)!);
  lines[EVENTS - 1] = JSON.stringify({
    ...last,
    signature: JSON.parse(lines[0]!).signature,
  });
  issuer.publish(lines);
  const { store, refs } = watched();
  const outcome = await look(issuer, store);
  const error = outcome.observation === undefined && outcome.error;
  assert(isSigError(error, "signature_invalid"));
  const plain = await assertRejects(() =>
    issuer.consumer.verify(issuer.server.did)
  );
  assertEquals(JSON.stringify(error), JSON.stringify(plain));
  assertEquals(refs.size, 1);
  for (const ref of refs.values()) {
    assertEquals(await isStaged(store, ref), false);
  }
  assertEquals(await store.list(), []);
});

Deno.test("of two first looks at once the slower one goes on from the other's", async () => {
  await using issuer = await watchIssuer(EVENTS, key);
  const { store, refs } = watched(async (store) => {
    await look(issuer, store);
  });
  const outcome = await look(issuer, store);
  const { stored } = outcome.observation!;
  assertEquals(stored!.revision, 2);
  for (const ref of refs.values()) {
    assertEquals(await isStaged(store, ref), false);
  }
  const { state } = await issuer.consumer.verify(issuer.server.did);
  assertEquals(
    await dumpOf(outcome),
    dumpState(state, { now: NOW }),
  );
});

Deno.test("a revoke whose upsert a faster look took away is no fault of the feed", async () => {
  await using issuer = await watchIssuer(EVENTS, key);
  const { did } = issuer.server;
  const revoked = revoke(EVENTS + 1, {
    relationship_id: "rel-1",
    issued_at: day(2),
    effective_at: day(2),
  });
  issuer.publish([
    ...issuer.lines,
    await lineOf({ ...revoked, issuer: did }, key),
  ]);
  const store = createMemoryPinStore();
  const staged = store.staged.bind(store);
  let isFirst = true;
  store.staged = async (ref, keys) => {
    // Only the revoke asks for what was staged of it.
    if (isFirst && keys.includes(relationshipKey("rel-1"))) {
      isFirst = false;
      await look(issuer, store);
    }
    return await staged(ref, keys);
  };
  const outcome = await look(issuer, store);
  assertEquals(isFirst, false);
  const { state } = await issuer.consumer.verify(did);
  assertEquals(
    await dumpOf(outcome),
    dumpState(state, { now: NOW }),
  );
});

Deno.test("where the faster look was forgotten again, the slower one begins anew", async () => {
  await using issuer = await watchIssuer(EVENTS, key);
  const { store, refs } = watched(async (store) => {
    await look(issuer, store);
    await store.remove(issuer.server.did);
  });
  const outcome = await look(issuer, store);
  assertEquals(refs.size, 2);
  assertEquals(outcome.observation!.stored!.revision, 1);
  const { state } = await issuer.consumer.verify(issuer.server.did);
  assertEquals(
    await dumpOf(outcome),
    dumpState(state, { now: NOW }),
  );
});

Deno.test("rows that can't be taken back don't hide what was wrong", async () => {
  await using issuer = await watchIssuer(EVENTS, key);
  issuer.publish([...issuer.lines, "{}"]);
  const { store } = watched();
  store.unstage = () =>
    Promise.reject(pinStoreUnavailable("of this test", "gone"));
  const outcome = await look(issuer, store);
  const error = outcome.observation === undefined && outcome.error;
  assert(isSigError(error) && error.category === "invalid", String(error));
});

Deno.test("of a faulty feed of a few events nothing is written or taken back", async () => {
  await using issuer = await watchIssuer(3, key);
  issuer.publish([...issuer.lines, "{}"]);
  const { store, refs } = watched();
  store.unstage = () => Promise.reject(new Error("asked"));
  const outcome = await look(issuer, store);
  const error = outcome.observation === undefined && outcome.error;
  assert(isSigError(error) && error.category === "invalid", String(error));
  assertEquals(refs.size, 0);
});
