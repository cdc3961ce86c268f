// A model check: every state that reads of a small issuer can lead to.
import { type ErrorCode, SigError } from "@sig/core";
import { assert, assertEquals } from "@std/assert";
import { findContradiction, type Shown } from "./compare.ts";
import { canonical } from "./keeper.ts";
import {
  eventsSeen,
  type KnownPin,
  type Pin,
  type PinnedFeed,
  type PinnedProof,
  UNKNOWN,
} from "./pin.ts";
import {
  acknowledge,
  JUDGE_AGAIN,
  mayAnswer,
  mayProve,
  next,
  type Outcome,
  type VerifiedState,
} from "./transitions.ts";

// promise: A crash at any step leaves a correct pin.

const ISSUER = "did:web:acme.example";
const AT = "2026-06-01T00:00:00Z";
const NOW = new Date(AT);

/** A history: each letter is an event. */
type History = string;

/** Histories of up to three events, with forks after each. */
const HISTORIES: readonly History[] = ["", "a", "b", "aa", "ab", "aaa"];

/** Roots and digests of a history are the history itself. */
const rootOf = (history: History) => btoa(history.padEnd(3, "."));
const bytesOf = (text: string) =>
  Uint8Array.from(atob(text), (char) => char.charCodeAt(0));

function feedOf(history: History): PinnedFeed {
  return {
    ...{ sequence: history.length, bytes: history.length },
    ...{ prefix_sha256: history, last_event_id: null, keys: {} },
    ...{ etag: null, compared_at: AT, read_at: AT },
  };
}

/** A checkpoint of the first `size` events. */
function proofOf(history: History, size: number): PinnedProof {
  const root = rootOf(history.slice(0, size));
  const seen = { size: history.length, root: rootOf(history) };
  return { size, root, state: root, seen, keys: {} };
}

/** What the issuer shows: its whole feed, or checkpoint and tail. */
function show(history: History, size: number, pin: KnownPin | undefined) {
  const prefix = history.slice(0, pin?.feed?.sequence ?? 0);
  const hashesAt = (events: number) =>
    events <= history.length
      ? { root: bytesOf(rootOf(history.slice(0, events))) }
      : undefined;
  const tree: Shown = {
    keys: {
      ...{ published: new Map(), usable: new Map(), ended: new Set<string>() },
      recovery: undefined,
    },
    events: history.length,
    hashesAt: (events) => events < size ? undefined : hashesAt(events),
  };
  return { tree, whole: { ...tree, feed: { prefixSha256: prefix }, hashesAt } };
}

/** A state: the pin, the state that this process keeps, and what was seen. */
interface World {
  readonly pin: Pin;
  readonly copy: History | undefined;
  readonly part: History | undefined;
  /** The longest history that this memory has taken since it began. */
  readonly seen: History;
}

interface Step {
  readonly name: string;
  readonly to: World;
}

function copyOf(history: History): VerifiedState {
  return {
    statements: null,
    ...{ events: history.length, sha256: history, observedAt: NOW },
  };
}

function partOf(history: History): VerifiedState {
  const seen = { size: history.length, root: rootOf(history) };
  return {
    ...{ statements: null, events: history.length },
    ...{ seen, observedAt: NOW },
  };
}

const isKnown = (pin: Pin): pin is KnownPin => pin.status !== "unknown";

function contradiction(code: ErrorCode): Outcome {
  const error = new SigError(code, { reason: "r" });
  return { kind: "contradiction", at: AT, detail: code, served: null, error };
}

const DOWN = new SigError("fetch_failed", { reason: "r" });

/** Returns the outcome of a read that compares what is shown with the pin. */
function outcomesOf(pin: Pin, history: History): readonly Outcome[] {
  const known = isKnown(pin) ? pin : undefined;
  const outcomes: Outcome[] = [];
  for (let size = 1; size <= history.length; size++) {
    const { tree } = show(history, size, known);
    const { seen } = known?.proof ?? {};
    // A larger checkpoint must prove that it continues what was seen.
    const isProven = seen === undefined || size <= seen.size ||
      rootOf(history.slice(0, seen.size)) === seen.root;
    if (!mayProve(pin) || !isProven) continue;
    const error = known && findContradiction(known, tree);
    outcomes.push(
      error ? contradiction(error.code) : {
        kind: "proof",
        recovery: null,
        ...{ at: AT, issuer: ISSUER, proof: proofOf(history, size) },
      },
    );
  }
  const { whole } = show(history, history.length, known);
  const error = known && findContradiction(known, whole);
  if (error) return [...outcomes, contradiction(error.code)];
  for (let size = 0; size <= history.length; size++) {
    const before = known?.proof ?? null;
    outcomes.push({
      kind: "feed",
      ...{
        at: AT,
        issuer: ISSUER,
        feed: feedOf(history),
        recovery: null,
        addedKids: [],
      },
      proof: size > 0 ? proofOf(history, size) : before && {
        ...before,
        seen: { size: history.length, root: rootOf(history) },
      },
    });
  }
  return outcomes;
}

const taken = (outcome: Outcome) =>
  outcome.kind === "feed"
    ? outcome.feed.prefix_sha256
    : outcome.kind === "proof"
    ? atob(outcome.proof.seen.root ?? "").replaceAll(".", "")
    : undefined;

function* stepsFrom(world: World): Generator<Step> {
  const { pin, seen } = world;
  yield { name: "remove", to: { ...world, pin: UNKNOWN, seen: "" } };
  for (const kind of ["unreachable", "fault"] as const) {
    const to = next(pin, { kind, error: DOWN });
    assert(to !== JUDGE_AGAIN);
    yield { name: kind, to: { ...world, pin: to } };
  }
  for (const history of HISTORIES) {
    for (const outcome of outcomesOf(pin, history)) {
      const after = next(pin, outcome);
      if (after === JUDGE_AGAIN) continue;
      const name = `${outcome.kind} ${history}`;
      const to = { ...world, pin: after, seen: taken(outcome) ?? seen };
      if (outcome.kind === "feed") yield { name, to: { ...to, copy: history } };
      else if (outcome.kind === "proof") {
        yield { name, to: { ...to, part: history } };
      } else yield { name, to };
    }
    if (!isKnown(pin)) continue;
    const isSame = history.startsWith(seen);
    const after = acknowledge(pin, {
      ...{ at: AT, issuer: ISSUER, reason: "r", code: null },
      ...{ feed: feedOf(history), proof: null, recovery: null, addedKids: [] },
      changedFrom: isSame ? null : 1,
    });
    // The lists of what was acknowledged grow without end.
    const short = { acknowledged: [], rewrites: 0, rewritten_from: [] };
    const to = { ...world, pin: { ...after, ...short } };
    yield {
      name: `ack ${history}`,
      to: isSame ? to : { ...to, seen: history },
    };
  }
}

function requireRules(before: World, { name, to }: Step): void {
  const [what] = name.split(" ");
  const told = `${name}: ${canonical(before)} → ${canonical(to)}`;
  const isReset = what === "ack" || what === "remove";
  if (isKnown(before.pin) && isKnown(to.pin) && !isReset) {
    // What was seen never shrinks, and stays the same history.
    assert(eventsSeen(to.pin) >= eventsSeen(before.pin), told);
    assert(to.seen.startsWith(before.seen), told);
    assertEquals(to.pin.first_seen, before.pin.first_seen, told);
  }
  // Only a feed, an acknowledgement or a removal ends a fault or an incident.
  const wasBad = before.pin.status === "faulty" ||
    before.pin.status === "contradicted";
  if (wasBad && to.pin.status === "remembered") {
    assert(isReset || what === "feed", told);
  }
  if (before.pin.status === "contradicted" && to.pin.status === "faulty") {
    throw new Error(`a fault hides an incident: ${told}`);
  }
  // The warning of a contradiction lasts until it is acknowledged.
  if (
    isKnown(before.pin) && before.pin.inconsistency !== null &&
    isKnown(to.pin) && !isReset
  ) assert(to.pin.inconsistency !== null, told);
  if (to.pin.status === "contradicted") {
    assert(to.pin.inconsistency === to.pin.incident.code, told);
  }
  // No old copy answers, and none of another history.
  const demand = { askedAt: NOW, maxAgeMs: 1, minSequence: 0 };
  for (
    const [history, state] of [
      [to.copy, to.copy === undefined ? undefined : copyOf(to.copy)],
      [to.part, to.part === undefined ? undefined : partOf(to.part)],
    ] as const
  ) {
    if (state === undefined || !mayAnswer(to.pin, state, demand)) continue;
    assertEquals(to.pin.status, "remembered", told);
    assertEquals(history, to.seen, told);
  }
}

Deno.test("every state that reads lead to follows the rules of the memory", () => {
  const begin: World = {
    ...{ pin: UNKNOWN, copy: undefined, part: undefined, seen: "" },
  };
  const worlds = new Map([[canonical(begin), begin]]);
  const pins = new Set<string>();
  let steps = 0;
  for (const world of worlds.values()) {
    pins.add(world.pin.status);
    for (const step of stepsFrom(world)) {
      steps++;
      requireRules(world, step);
      worlds.set(canonical(step.to), step.to);
    }
  }
  assertEquals([...pins].sort(), [
    ...["contradicted", "faulty", "remembered", "unknown"],
  ]);
  assert(worlds.size > 1_000, `${worlds.size} states`);
  assert(steps > 20_000, `${steps} steps`);
});

Deno.test("what was served first stays in an incident that changes", () => {
  const remembered = next(UNKNOWN, {
    kind: "feed",
    ...{ at: AT, issuer: ISSUER, feed: feedOf("a"), proof: null },
    recovery: null,
    addedKids: [],
  });
  assert(remembered !== JUDGE_AGAIN);
  const served = { sequence: 0, sha256: "s", keys: "k", statements: null };
  const first = next(remembered, {
    ...contradiction("feed_rolled_back"),
    served,
  } as Outcome);
  assert(first !== JUDGE_AGAIN && first.status === "contradicted");
  const later = next(first, contradiction("key_withdrawn"));
  assert(later !== JUDGE_AGAIN && later.status === "contradicted");
  assertEquals(later.incident.code, "key_withdrawn");
  assertEquals(later.incident.seen, served);
  const same = next(later, contradiction("key_withdrawn"));
  assert(same !== JUDGE_AGAIN && same.status === "contradicted");
  assertEquals(same.incident, later.incident);
});

Deno.test("a result that was compared with another pin is judged again", () => {
  const proof = proofOf("a", 1);
  const byProof = {
    kind: "proof",
    recovery: null,
    at: AT,
    issuer: ISSUER,
    proof,
  } as const;
  const longer = next(UNKNOWN, { ...byProof, proof: proofOf("ab", 2) });
  assert(longer !== JUDGE_AGAIN);
  assertEquals(next(longer, byProof), JUDGE_AGAIN);
  assertEquals(next(UNKNOWN, contradiction("feed_rewritten")), JUDGE_AGAIN);
  for (
    const outcome of [
      { kind: "fault", error: DOWN } as const,
      contradiction("key_replaced"),
    ]
  ) {
    const bad = next(longer, outcome);
    assert(bad !== JUDGE_AGAIN);
    assertEquals(next(bad, byProof), JUDGE_AGAIN);
  }
});
